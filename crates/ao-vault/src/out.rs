//! The files that `ao` writes about its work: reports, logs, states.
//!
//! They take what a redactor has looked through and nothing else. The lint keeps others from the writes
//! of `ao-tree` that lie beneath.
#![expect(clippy::disallowed_methods, reason = "this is the room that lets out what was redacted")]

use std::io;
use std::path::Path;

use crate::redact::Redacted;

/// Replaces one file whole and durably, as [`ao_tree::replace_file`] does.
pub fn replace_file(path: &Path, bytes: &Redacted<Vec<u8>>) -> io::Result<()> {
    ao_tree::replace_file(path, bytes.get())
}

/// Replaces a file that can be made again, as [`ao_tree::replace_cache`] does.
pub fn replace_cache(path: &Path, bytes: &Redacted<Vec<u8>>) -> io::Result<()> {
    ao_tree::replace_cache(path, bytes.get())
}

/// Appends one line durably, as [`ao_tree::append_line`] does.
pub fn append_line(path: &Path, line: &Redacted<String>) -> io::Result<()> {
    ao_tree::append_line(path, line.get())
}

/// Appends one line to a bounded log, as [`ao_tree::append_note`] does.
pub fn append_note(path: &Path, line: &Redacted<String>, bytes_max: u64) -> io::Result<()> {
    ao_tree::append_note(path, line.get(), bytes_max)
}
