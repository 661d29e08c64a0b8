//! Edits, in the one form in which this room proposes them.

use ao_tree::{Action, Edit};

use crate::document::Document;

/// The file should become this document.
pub(crate) fn write(path: &str, document: &Document, reason: String, sources: &[&str]) -> Edit {
    write_bytes(path, document.bytes().to_vec(), reason, sources)
}

pub(crate) fn write_bytes(path: &str, bytes: Vec<u8>, reason: String, sources: &[&str]) -> Edit {
    edit(path, Action::Write(bytes), reason, sources)
}

pub(crate) fn delete(path: &str, reason: String, sources: &[&str]) -> Edit {
    edit(path, Action::Delete, reason, sources)
}

fn edit(path: &str, action: Action, reason: String, sources: &[&str]) -> Edit {
    let sources = sources.iter().map(|source| (*source).to_owned()).collect();
    Edit { path: path.to_owned(), action, mode: None, reason, sources }
}
