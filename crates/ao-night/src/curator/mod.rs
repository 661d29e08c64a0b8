//! The local curator: a small worker with a model of this machine, which drafts and lints and never edits
//! knowledge.
//!
//! It is given jobs ([`enqueue`]), takes them one at a time ([`work`]), and leaves drafts, lint findings
//! and log entries in a directory of its own ([`Worker`]). Drafts reach the corpus through INGEST alone. What
//! somebody should look at is an event ([`raise`]), which goes to the council as data; the curator's engine
//! is no member of the council.
//!
//! All of it is configured by `dream.local_curator` ([`Settings`]), and all of that may be absent.

mod compact;
mod draft;
mod error;
mod events;
mod jobs;
mod ledger;
mod lint;
mod prompts;
mod queue;
mod settings;
mod status;
mod tasks;
mod transcript;
mod troubles;
mod vault;
mod work;
mod worker;

pub use compact::{Compaction, compact, preview};
pub use draft::DRAFTS;
pub use error::Error;
pub use events::{
    Closing, EVENT_BUDGET_MAX, Open, Raise, Verdict, close_event, pending_events, raise, spend,
};
pub use lint::lint;
pub use queue::{Depth, Enqueue, Write, depth, enqueue};
pub use settings::{ENGINE, HOURLY_CAP, Settings, URL};
pub use status::{Process, Pulse, pulse};
pub use transcript::CHUNK_BYTES_MAX;
pub use troubles::{Bridge, Health, Level, Look, Trouble, troubles};
pub use work::{Engine, Hands, Worked, waiting, work};
pub use worker::Worker;

#[cfg(test)]
mod tests;
