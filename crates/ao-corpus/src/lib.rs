//! Knowledge: what the corpus says, how it is found, and what could be better about it.
//!
//! This room reads a tree and proposes edits; it never writes one. It knows no clock and no
//! environment: the day that freshness is measured against is handed in or taken from the corpus.

pub mod day;
pub mod index;
pub mod words;
