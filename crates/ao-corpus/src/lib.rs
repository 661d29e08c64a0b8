//! Knowledge: what the corpus says, how it is found, and what could be better about it.
//!
//! This room reads a tree and proposes edits; it never writes one. It knows no clock and no
//! environment: the day that freshness is measured against is handed in or taken from the corpus.

pub mod bench;
pub mod certificate;
mod corpus;
pub mod defrag;
mod document;
pub mod duplicates;
mod files;
pub mod index;
pub mod lineage;
pub mod lookup;
pub mod merge;
pub mod passage;
mod pieces;
pub mod prune;
pub mod references;
pub mod search;
pub mod sweep;
mod tree;
pub mod words;

pub use corpus::{Corpus, Entry, Kind, SEARCHED};
pub use document::{DOCUMENT_BYTES_MAX, Document, Draft, EditError, Form, Section, day, sections};
pub use files::{File, Files, Left, in_parallel, read_one};
pub use tree::Tree;
