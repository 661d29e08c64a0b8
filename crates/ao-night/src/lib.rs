//! The night: one bounded run over the corpus, and the report that it leaves.
//!
//! The lane knows the rooms below it and never another lane. It prints nothing and asks for no time,
//! environment or home directory: the binary hands them in.

pub mod awake;
pub mod beads;
mod columns;
mod docs;
pub mod dreamscape;
mod host;
pub mod report;
mod verdict;

pub use docs::DOCS;
pub use host::{Host, System};
pub use verdict::{Verdict, Verdicts};
