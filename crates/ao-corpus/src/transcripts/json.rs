//! Looking at a line of JSON before it is parsed.
//!
//! Most bytes of a transcript are outputs of tools, which say nothing here. A quote inside of a JSON string
//! is escaped, so a key in plain quotes is a key, wherever in the line it stands.

use memchr::memmem;

/// What stands behind each key of this name, with blanks passed over.
fn values<'a>(line: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
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
}
