//! One line of a file of lines, with nothing of the vault in it.

use std::io;
use std::path::Path;

use ao_vault::{Ansi, Redacted, out, redactor};
use serde::Serialize;
use serde_json::Value;

/// Appends a value as one line of JSON, durably.
pub(crate) fn append(path: &Path, value: &impl Serialize) -> io::Result<()> {
    out::append_line(path, &line(value)?)
}

/// Each string is looked through by itself, so that the line can be read, and then the whole.
fn line(value: &impl Serialize) -> io::Result<Redacted<String>> {
    let looked_through = redactor().json(value)?;
    let value: Value = serde_json::from_slice(looked_through.get())?;
    Ok(redactor().text(&value.to_string(), Ansi::Keep))
}

/// A name as it stands in the file.
pub(crate) fn plain(text: &str) -> String {
    redactor().text(text, Ansi::Keep).into_inner()
}
