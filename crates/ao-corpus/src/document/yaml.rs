//! The header's YAML, read within bounds.
//!
//! Most headers are plain `key: value` lines, and a corpus has tens of thousands of them: those are
//! read here directly. Whatever is not plain beyond doubt goes to the full parser. Both give the
//! same values: wherever assertions are on, in tests and in fuzzing, every plain header is read twice.

use ao_contract::Extra;
use serde_json::{Number, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// Larger headers are not read: they are data, not a header.
const HEADER_BYTES_MAX: usize = 64 * 1024;
const EVENTS_MAX: usize = 20_000;
const DEPTH_MAX: usize = 64;

pub(super) struct Read {
    pub(super) fields: Extra,
    pub(super) doubt: Option<String>,
}

pub(super) fn read(header: &str) -> Read {
    if header.len() > HEADER_BYTES_MAX {
        let doubt = format!("its header is larger than {HEADER_BYTES_MAX} bytes");
        return Read { fields: Extra::new(), doubt: Some(doubt) };
    }
    let Some(fields) = plain(header) else { return full(header) };
    debug_assert_eq!(full(header).fields, fields, "both readers must agree");
    Read { fields, doubt: None }
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

/// Reads a header in which every line is beyond doubt; `None` leaves it to the full parser.
pub(super) fn plain(header: &str) -> Option<Extra> {
    let mut fields = Extra::new();
    for line in header.split_inclusive('\n') {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let (key, value) = line.split_once(':')?;
        if !is_plain_key(key) || fields.contains_key(key) {
            return None;
        }
        let value = plain_value(value.strip_prefix(' ')?)?;
        fields.insert(key.to_owned(), value);
    }
    (!fields.is_empty()).then_some(fields)
}

fn is_plain_key(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !is_special_word(key)
}

fn plain_value(text: &str) -> Option<Value> {
    if let Some(items) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items =
            items.split(',').map(|item| plain_scalar(item.strip_prefix(' ').unwrap_or(item)));
        return items.collect::<Option<Vec<_>>>().map(Value::Array);
    }
    plain_scalar(text)
}

/// Letters and a few signs that mean nothing in YAML; or a plain number.
fn plain_scalar(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    let (first, last) = (*bytes.first()?, *bytes.last()?);
    if first.is_ascii_digit() {
        return plain_number(text).or_else(|| plain_date(text));
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-./".contains(byte);
    let is_word = first.is_ascii_alphabetic() && last != b' ' && bytes.iter().all(is_plain);
    (is_word && !is_special_word(text)).then(|| Value::String(text.to_owned()))
}

/// Words that some version of YAML reads as something else.
fn is_special_word(text: &str) -> bool {
    const SPECIAL: [&str; 12] =
        ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];
    SPECIAL.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn plain_number(text: &str) -> Option<Value> {
    let (whole, part) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
    let is_digits = |text: &str| {
        !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    match part {
        None => Some(Value::Number(whole.parse::<u64>().ok()?.into())),
        Some(part) if is_digits(part) => Number::from_f64(text.parse().ok()?).map(Value::Number),
        Some(_) => None,
    }
}

/// `2026-04-01` and nothing after it.
fn plain_date(text: &str) -> Option<Value> {
    let is_date = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
        });
    is_date.then(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn plain_headers_are_read_as_the_full_parser_reads_them() {
        let headers = [
            "id: learning-2026-04-15-003130\ntype: learning\ndate: 2026-04-15\n",
            "utility: 0.72\nreward_count: 0\nconfidence: 1.50\r\ntags: [arch, session]\n",
            "tags: [1, 2.5, a b]\npath: a/b.md\n",
        ];
        for header in headers {
            let fast = plain(header).unwrap();
            assert_eq!(fast, full(header).fields, "{header}");
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_full_parser() {
        for header in [
            "a: no\n",
            "a: yes # really\n",
            "a: 'x'\n",
            "a:\n  b: 1\n",
            "a: 1\na: 2\n",
            "a: .nan\n",
            "a: 010\n",
            "a: &x y\n",
            "- a\n",
            "",
            "# only\n",
            "a: [x, [y]]\n",
            "a: [ x ]\n",
            "a: 1e3\n",
            "a: b: c\n",
            "a: x \n",
            "a: []\n",
            "true: x\n",
            "a: 12345678901\n",
        ] {
            assert_eq!(plain(header), None, "{header}");
        }
    }

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
