//! Knowledge: what the corpus says, how it is found, and what could be better about it.
//!
//! This room reads a tree and proposes edits; it never writes one. It knows no clock and no
//! environment: the day that terms and waits are judged by is handed in, and the day that freshness is
//! measured against is handed in or taken from the corpus.

mod anew;
pub mod bench;
pub mod brief;
mod calendar;
pub mod certificate;
mod check;
mod closing;
mod confided;
pub mod contradictions;
mod corpus;
pub mod defrag;
mod document;
pub mod duplicates;
mod feedback;
mod files;
pub mod fitness;
pub mod harvest;
pub mod health;
pub mod index;
mod language;
pub mod lineage;
mod logs;
pub mod lookup;
pub mod merge;
mod names;
mod own_work;
pub mod passage;
mod past;
pub mod patterns;
mod pending;
mod pieces;
mod promote;
mod propose;
pub mod prune;
pub mod questions;
pub mod references;
pub mod reward;
pub mod search;
mod secrets;
pub mod signals;
mod specific;
mod spoken;
pub mod sweep;
mod taken;
pub mod transcripts;
mod tree;
pub mod trust;
mod whereabouts;
pub mod words;

pub use calendar::next_change;
pub use check::{Bound, Check, Side};
pub use closing::{CLOSED, Closing, Settings, asked_of_pending, close_loop};
pub use confided::tells_secret;
pub use corpus::{Corpus, Entry, Kind, SEARCHED, latest_day};
pub use document::{DOCUMENT_BYTES_MAX, Document, Draft, EditError, Form, Section, day, sections};
pub use files::{File, Files, Left, in_parallel, read_one};
pub use logs::{CitationLog, Logs, Mention, Outcome};
pub use own_work::{OWN_SOURCE, is_night_item, is_own_work};
pub use past::Past;
pub use secrets::looks_secret;
pub use taken::{Ledger, LedgerError};
pub use tree::Tree;
pub use whereabouts::Whereabouts;
