//! The night: one bounded run over the corpus, and the report that it leaves.
//!
//! The lane knows the rooms below it and never another lane. It prints nothing and asks for no time,
//! environment or home directory: the binary hands them in.

mod columns;
pub mod dreamscape;
