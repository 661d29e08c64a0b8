//! Paths that an edit may name: relative, plain, and the same on every file system.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

/// Longer paths do not fit into a system call.
const PATH_BYTES_MAX: usize = 4000;
const NAME_BYTES_MAX: usize = 255;
/// Directories nested deeper than this are not walked: nobody files knowledge there, and every
/// level costs an open directory.
pub(crate) const DEPTH_MAX: usize = 64;

/// A path beneath the root, as edits and records spell it: names joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

impl TreePath {
    /// Accepts a path only if it means one and the same file wherever the tree is checked out.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the path is empty".into());
        }
        if text.len() > PATH_BYTES_MAX {
            return Err(format!("the path is longer than {PATH_BYTES_MAX} bytes"));
        }
        if text.starts_with('/') {
            return Err("the path is absolute; it must be relative to the tree".into());
        }
        if text.split('/').count() > DEPTH_MAX {
            return Err(format!("the path is nested deeper than {DEPTH_MAX} directories"));
        }
        for name in text.split('/') {
            check_name(name)?;
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// The directory part (empty for a single name) and the last name.
    pub(crate) fn split_last(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or(("", &self.0))
    }

    /// What is left of this path beneath `above`, if it lies there.
    pub(crate) fn beneath(&self, above: &TreePath) -> Option<&str> {
        self.0.strip_prefix(above.as_str())?.strip_prefix('/')
    }

    /// Lines can be added to such a file by several writers without meeting each other.
    pub(crate) fn is_line_file(&self) -> bool {
        self.split_last().1.rsplit_once('.').is_some_and(|(_, kind)| kind == "jsonl")
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let bytes = name.as_bytes();
    let has_drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    let doubt = if name.is_empty() {
        "it has an empty name (two slashes, or one at the end)"
    } else if name == "." || name == ".." {
        "it has a `.` or `..`"
    } else if name.len() > NAME_BYTES_MAX {
        "a name is longer than 255 bytes"
    } else if name.chars().any(|c| c.is_control() || is_invisible(c)) {
        "a name has a control or invisible character"
    } else if name.contains('\\') {
        "a name has a backslash, which separates directories on Windows"
    } else if has_drive || name.contains("::") {
        "a name reads as a drive or a stream on Windows"
    } else if name.ends_with(['.', ' ']) {
        "a name ends with a dot or a space, which Windows drops"
    } else {
        return Ok(());
    };
    Err(doubt.to_owned())
}

/// Characters that make one name look like another, or turn the text after it around.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// Two names with the same key are one file where names fold case or normal form.
pub fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// The text with every character that could act on a terminal made visible.
pub fn shown(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !is_invisible(c);
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| if is_plain(c) { c.to_string() } else { c.escape_default().to_string() })
        .collect()
}
