//! Every file format as a type with its schema. No I/O.
