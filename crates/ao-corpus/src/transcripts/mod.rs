//! The transcripts of coding agents: what people told them, what was decided, what failed and then worked.
//!
//! They are read by rules alone. A transcript belongs to a repository if it says that it was made in it or
//! beneath it; others are not read. What was read of a file is remembered in a cache, so that one that
//! grew is read from where it ended, and one that did not is only looked at. What a transcript gives is a
//! lesson with the file and the line that it comes from; [`take`] makes pending learnings of those that
//! were not taken before.

mod calls;
mod claude;
mod codex;
mod gemini;
mod json;
mod lines;
mod list;
mod memo;
mod memory;
mod one;
mod others;
mod own_words;
mod read;
mod rules;
mod sentence;
mod take;
mod turn;
mod watch;
mod whose;

pub use list::Root;
pub use memo::{MEMO, Memo};
pub use read::{Asked, Found, fingerprint, read};
pub(crate) use take::HASH;
pub use take::{Settings, Taking, take};
pub use whose::Own;

/// A longer transcript is left alone.
pub const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// A transcript that is one JSON object is held as a whole.
pub const OBJECT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A longer line is passed over: it is the output of a tool, or no transcript.
pub const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// So many transcripts of one maker are looked at, the newest names last.
pub const FILES_MAX: usize = 50_000;
/// A longer memory file is left alone.
pub const MEMORY_BYTES_MAX: u64 = 1024 * 1024;
/// No file gives more lessons.
pub const LESSONS_A_FILE_MAX: usize = 500;
