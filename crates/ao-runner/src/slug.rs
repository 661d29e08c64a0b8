//! What a runner is called in the names of files and steps.

use crate::line;
use crate::settings::COMMAND;

const CHARS_MAX: usize = 48;
/// Files and steps of the council that are no runner's.
const OURS: [&str; 2] = ["packet", "synthesis"];

/// One that none of these has.
pub(crate) fn of(name: &str, taken: &[String]) -> String {
    // In small letters nobody would know a value of the vault again.
    unique(&plain(&line::plain(name)), taken)
}

/// Small letters, digits and hyphens. Of a path its last part is enough.
fn plain(name: &str) -> String {
    let short = match name.strip_prefix(COMMAND) {
        Some(path) => format!("command-{}", path.rsplit('/').next().unwrap_or(path)),
        None => name.to_owned(),
    };
    let mut slug = String::new();
    for c in short.chars().flat_map(char::to_lowercase).take(CHARS_MAX) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "runner".to_owned() } else { slug.to_owned() }
}

/// With a number, if somebody has it already.
fn unique(slug: &str, taken: &[String]) -> String {
    let is_free = |slug: &String| !taken.contains(slug) && !OURS.contains(&slug.as_str());
    let numbered = (2..=taken.len() + 3).map(|number| format!("{slug}-{number}"));
    let mut all = std::iter::once(slug.to_owned()).chain(numbered);
    // There are more numbers than there are names.
    all.find(is_free).unwrap_or_else(|| slug.to_owned())
}
