//! Looking at a line of JSON before it is parsed.
//!
//! Most bytes of a transcript are outputs of tools, which say nothing here. A quote inside of a JSON string
//! is escaped, so a key in plain quotes is a key, wherever in the line it stands.

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

/// What stands behind each key of this name, with blanks passed over.
pub(super) fn values<'a>(line: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    memmem::find_iter(line, key).filter_map(move |at| {
        let rest = line[at + key.len()..].trim_ascii_start();
        Some(rest.strip_prefix(b":")?.trim_ascii_start())
    })
}

/// Whether the key, in its quotes, has this value anywhere in the line.
pub(super) fn has(line: &[u8], key: &[u8], value: &[u8]) -> bool {
    values(line, key).any(|rest| rest.starts_with(value))
}

/// The strings that the key has in the line, as far as they need no unescaping.
pub(super) fn strings<'a>(line: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = &'a str> {
    values(line, key).filter_map(|rest| {
        let rest = rest.strip_prefix(b"\"")?;
        let end = memchr::memchr2(b'"', b'\\', rest)?;
        (rest[end] == b'"').then(|| std::str::from_utf8(&rest[..end]).ok()).flatten()
    })
}

const FOLDER: &[u8] = b"\"cwd\"";

/// The folder that the object of a line names. A `cwd` further in, such as in what a tool gave back, is another's.
pub(super) fn folder(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Top {
        cwd: Option<Value>,
    }
    let is_key = |at: &usize| line[at + FOLDER.len()..].trim_ascii_start().first() == Some(&b':');
    let mut places = memmem::find_iter(line, FOLDER).filter(is_key);
    let at = places.next()?;
    // A line is parsed only if that is needed: most have the key once, and near one of their ends.
    if places.next().is_none() {
        if !is_at_top(line, at) {
            return None;
        }
        if let Some(plain) = strings(&line[at..], FOLDER).next() {
            return Some(plain.to_owned());
        }
    }
    let top: Top = serde_json::from_slice(line).ok()?;
    Some(top.cwd?.as_str()?.to_owned())
}

/// Whether a key at this place is one of the outermost object's. The shorter side of the line is looked at.
fn is_at_top(line: &[u8], at: usize) -> bool {
    let is_cut = line.trim_ascii_end().last() != Some(&b'}');
    if is_cut || at <= line.len() / 2 {
        braces(&line[..at]) == 1
    } else {
        braces(&line[at..]) == -1
    }
}

/// How many braces are opened and not closed, those in strings left out.
fn braces(part: &[u8]) -> i64 {
    let mut depth = 0;
    let mut rest = part;
    while let Some(at) = memchr::memchr3(b'"', b'{', b'}', rest) {
        let found = rest[at];
        rest = &rest[at + 1..];
        match found {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {
                while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
                    let is_end = rest[at] == b'"';
                    rest = rest.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
                    if is_end {
                        break;
                    }
                }
            }
        }
    }
    depth
}

pub(super) fn contains(line: &[u8], word: &[u8]) -> bool {
    memmem::find(line, word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_and_talk_of_keys_is_not() {
        let line =
            br#"{"type" : "user","cwd":"/a b","text":"\"is_error\":true","deep":{"type":"x"}}"#;
        assert!(has(line, b"\"type\"", b"\"user\""));
        assert!(!has(line, b"\"is_error\"", b"true"));
        assert_eq!(strings(line, b"\"cwd\"").next(), Some("/a b"));
        assert_eq!(strings(br#"{"cwd":"a\"b"}"#, b"\"cwd\"").next(), None);
        assert_eq!(strings(br#"{"cwd":"#, b"\"cwd\"").next(), None);
    }

    #[test]
    fn only_a_key_at_the_top_counts() {
        for (line, found) in [
            (&br#"{"cwd":"/a","message":{"content":"x"}}"#[..], Some("/a")),
            (br#"{"message":{"content":"} \" {"},"cwd":"/a"}"#, Some("/a")),
            (br#"{"message":{"cwd":"/b"}}"#, None),
            (
                br#"{"message":{"content":"long enough to be the longer side"},"m":{"cwd":"/b"}}"#,
                None,
            ),
            (br#"{"m":{"cwd":"/b"},"cwd":"/a"}"#, Some("/a")),
            (br#"{"cwd":"/a","m":[{"cwd":"/b"}]}"#, Some("/a")),
            (br#"{"m":{"cwd":"/b"},"n":{"cwd":"/c"}}"#, None),
            (br#"{"cwd":7}"#, None),
            (br#"{"cwd":"\u002fa"}"#, Some("/a")),
            (br#"{"text":"\"cwd\":\"/b\""}"#, None),
            (br#"{"cwd":"/a"#, None),
        ] {
            let text = String::from_utf8_lossy(line);
            assert_eq!(folder(line).as_deref(), found, "{text}");
        }
    }
}
