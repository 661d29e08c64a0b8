//! The header's YAML, read within bounds.

use ao_contract::Extra;
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use super::plain::Plain;

/// Larger headers are not read: they are data, not a header.
const HEADER_BYTES_MAX: usize = 64 * 1024;
const EVENTS_MAX: usize = 20_000;
const DEPTH_MAX: usize = 64;

pub(super) struct Read {
    pub(super) fields: Extra,
    pub(super) doubt: Option<String>,
}

/// How the fields of a header are known.
pub(super) enum Header {
    /// They are read where they stand.
    Plain,
    Read(Read),
}

pub(super) fn read(header: &str) -> Header {
    if header.len() > HEADER_BYTES_MAX {
        let doubt = format!("its header is larger than {HEADER_BYTES_MAX} bytes");
        return Header::Read(Read { fields: Extra::new(), doubt: Some(doubt) });
    }
    let Some(plain) = Plain::of(header) else { return Header::Read(full(header)) };
    debug_assert_eq!(full(header).fields, plain.all(), "both readers must agree");
    Header::Plain
}

pub(super) fn full(header: &str) -> Read {
    if header.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Read { fields: Extra::new(), doubt: None };
    }
    match parse(header, DuplicateKeyPolicy::Error) {
        Ok(fields) => Read { doubt: odd_key(&fields), fields },
        Err(why) => {
            // What a person can read of it is shown; which of two values is meant stays open.
            let fields = parse(header, DuplicateKeyPolicy::FirstWins).unwrap_or_default();
            Read { fields, doubt: Some(format!("its header cannot be read: {why}")) }
        }
    }
}

fn parse(header: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Extra, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: EVENTS_MAX,
            max_depth: DEPTH_MAX,
            max_documents: 1,
            flow_nesting_limit: DEPTH_MAX,
        },
        duplicate_keys: duplicate_keys,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: EVENTS_MAX },
    };
    let value: Value = serde_saphyr::from_str_with_options(header, options)
        .map_err(|error| first_line(&error.to_string()))?;
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Extra::new()),
        _ => Err("it is not a list of keys".into()),
    }
}

fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// Signs that nobody sees can make two keys look like one.
fn odd_key(fields: &Extra) -> Option<String> {
    let is_odd = |key: &&String| key.chars().any(is_invisible);
    let key = fields.keys().find(is_odd)?;
    Some(format!("its header has a key with invisible characters: `{}`", key.escape_unicode()))
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2069 | 0xFEFF)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn doubts() {
        for header in [
            "a: 1\na: 2\n",
            "a: [1\n",
            "a: .nan\n",
            "- a\n",
            "x: &a {k: 1}\ny:\n  <<: *a\n",
            "a\u{200b}b: 1\n",
            "just text\n",
        ] {
            assert!(full(header).doubt.is_some(), "{header:?} {:?}", full(header).fields);
        }
        let mut bomb = String::new();
        for (n, m) in (1..30).zip(0..) {
            let _ = writeln!(bomb, "a{n}: &a{n} [*a{m}, *a{m}]");
        }
        assert!(full(&format!("a0: &a0 [x, x]\n{bomb}")).doubt.is_some());
        assert!(full(&format!("a: {}\n", "[".repeat(50_000))).doubt.is_some());
        assert_eq!(full("a: no\n").fields["a"], "no");
        assert!(full("# c\n\n").doubt.is_none());
    }
}
