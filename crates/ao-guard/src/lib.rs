//! The only room that starts another program.
