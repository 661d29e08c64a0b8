//! The night: one bounded run over the corpus, and the report that it leaves.
//!
//! The lane knows the rooms below it and never another lane. It prints nothing and asks for no time,
//! environment or home directory: the binary hands them in.

mod artifacts;
mod brief;
mod check;
mod command;
mod files;
mod packets;
mod place;
mod plain;
pub mod queue;
mod shelf;
mod sync;
mod verdict;
mod work_queue;
mod yields;

pub use artifacts::{Artifact, INDEX_JSON, INDEX_MARKDOWN, PACKETS_DIR, artifacts};
pub use brief::{asked, brief};
pub use check::{Checker, check, overall};
pub use command::{Template, TemplateError};
pub use packets::{Asked, Gathered, PACKETS_MAX, Sources, gather, queued};
pub use place::Place;
pub use shelf::{Shelf, Shelved, find_packet};
pub use sync::{Night, SyncError, sync};
pub use verdict::Verdict;
pub use yields::yields;
