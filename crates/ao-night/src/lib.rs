//! The night: one bounded run over the corpus, and the report that it leaves.
//!
//! The lane knows the rooms below it and never another lane. It prints nothing and asks for no time,
//! environment or home directory: the binary hands them in.

mod artifacts;
pub mod awake;
pub mod beads;
mod brief;
pub mod budget;
mod check;
mod clock;
mod columns;
mod command;
pub mod council;
pub mod curator;
mod docs;
pub mod dreamscape;
pub mod explain;
mod files;
mod held;
mod host;
mod iteration;
mod judge;
mod long_haul;
mod output;
mod outside;
mod packets;
mod place;
mod plain;
mod progress;
pub mod queue;
pub mod receipts;
pub mod replay;
pub mod report;
mod run;
pub mod settings;
mod settled;
pub mod setup;
mod shelf;
mod shell;
mod sync;
pub mod tonight;
mod verdict;
mod work_queue;
mod yields;

pub use artifacts::{Artifact, INDEX_JSON, INDEX_MARKDOWN, PACKETS_DIR, artifacts};
pub use awake::Wish;
pub use brief::{asked, brief};
pub use check::{Checker, check, overall};
pub use clock::Clock;
pub use command::{Template, TemplateError};
pub use docs::DOCS;
pub use host::{Host, System};
pub use output::{BadOutput, Unfit, check_output};
pub use outside::Outside;
pub use packets::{Asked, Gathered, PACKETS_MAX, Sources, gather, queued};
pub use place::Place;
pub use plain::counted;
pub use progress::{STATUS, Watch};
pub use run::{Ended, Order, Resume, StartError, start};
pub use settings::Settings;
pub use shelf::{Shelf, Shelved, find_packet};
pub use shell::Shell;
pub use sync::{Night, SyncError, sync};
pub use verdict::{Verdict, Verdicts};
pub use yields::yields;
