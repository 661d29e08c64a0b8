//! The night: one bounded run over the corpus, and the report that it leaves.
//!
//! The lane knows the rooms below it and never another lane. It prints nothing and asks for no time,
//! environment or home directory: the binary hands them in.

mod columns;
mod docs;
pub mod dreamscape;
pub mod report;
mod verdict;

pub use docs::DOCS;
pub use verdict::{Verdict, Verdicts};
