//! Where each top-level key of a YAML header stands, to the byte.

use std::ops::Range;

use super::fence::lines_from;

/// One key with its lines.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) key: String,
    /// From the key to the end of its value's last line. Comments that follow are the next key's.
    pub(super) span: Range<usize>,
    /// Behind the colon.
    pub(super) value: usize,
}

pub(super) fn find(header: &str) -> Vec<Lines> {
    let mut found: Vec<Lines> = Vec::new();
    for (at, line) in lines_from(header, 0) {
        let end = at + line.len();
        if let Some((key, colon)) = key_of(line) {
            found.push(Lines { key, span: at..end, value: at + colon });
        } else if let Some(last) = found.last_mut()
            && !line.trim().is_empty()
            && !line.starts_with('#')
        {
            last.span.end = end;
        }
    }
    found
}

/// The key that begins at the start of this line, and where its colon ends.
fn key_of(line: &str) -> Option<(String, usize)> {
    let first = line.chars().next()?;
    if first.is_whitespace() || "#-]}?,".contains(first) {
        return None;
    }
    let name_end = match first {
        '"' | '\'' => 1 + line[1..].find(first)? + 1,
        _ => line.match_indices(':').map(|(at, _)| at).find(|at| ends_a_key(line, *at))?,
    };
    let rest = &line[name_end..];
    let colon = name_end + rest.len() - rest.trim_start().len();
    (line[colon..].starts_with(':') && ends_a_key(line, colon)).then(|| {
        let key = line[..name_end].trim_matches(['"', '\'']).trim_end();
        (key.to_owned(), colon + 1)
    })
}

fn ends_a_key(line: &str, colon: usize) -> bool {
    line[colon + 1..].chars().next().is_none_or(char::is_whitespace)
}
