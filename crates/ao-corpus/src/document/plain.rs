//! Headers that are beyond doubt, read where they stand.
//!
//! Most headers are `key: value` lines, and a corpus has tens of thousands of them. Those are looked
//! at once and then left in their text: a field is found when it is asked for, which takes less time
//! and far less memory than a map for each of them. Whatever is not plain goes to the full parser.
//! Both give the same values: wherever assertions are on, every plain header is read twice.

use ao_contract::Extra;
use serde_json::{Number, Value};

/// Lists in lists in lists are not plain.
const DEPTH_MAX: usize = 4;
/// The beginning of a line that belongs to the key above it.
const INDENT: &str = "  ";
const ITEM: &str = "- ";

/// A header of which every line is beyond doubt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain<'a>(&'a str);

/// A key with what stands behind it, or under it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) key: &'a str,
    /// On the line of the key; empty if the value is a block.
    line: &'a str,
    block: &'a str,
}

impl<'a> Plain<'a> {
    /// `None` leaves it to the full parser.
    pub(super) fn of(header: &'a str) -> Option<Self> {
        let mut keys: Vec<&str> = Vec::with_capacity(16);
        let mut rest = header;
        while !rest.is_empty() {
            let field = Field::cut(&mut rest)?;
            if !is_plain_key(field.key) || keys.contains(&field.key) || !field.is_plain() {
                return None;
            }
            keys.push(field.key);
        }
        (!keys.is_empty()).then_some(Self(header))
    }

    /// A header that was plain when it was looked at first.
    pub(super) fn again(header: &'a str) -> Self {
        Self(header)
    }

    pub(super) fn fields(self) -> impl Iterator<Item = Field<'a>> {
        let mut rest = self.0;
        std::iter::from_fn(move || Field::cut(&mut rest))
    }

    pub(super) fn get(self, key: &str) -> Option<Field<'a>> {
        let mut rest = self.0;
        let first = key.as_bytes().first();
        loop {
            // Lines that belong to another key begin with a space or a dash. Most lines differ in their first
            // letter, which is cheaper to see than to compare texts.
            if rest.as_bytes().first() == first
                && rest.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
            {
                return Field::cut(&mut rest);
            }
            rest = &rest[memchr::memchr(b'\n', rest.as_bytes())? + 1..];
        }
    }

    pub(super) fn all(self) -> Extra {
        let field = |field: Field<'_>| Some((field.key.to_owned(), field.value()?));
        self.fields().filter_map(field).collect()
    }
}

impl<'a> Field<'a> {
    /// Cuts the first field off.
    fn cut(rest: &mut &'a str) -> Option<Self> {
        let line = cut_line(rest);
        let colon = memchr::memchr(b':', line.as_bytes())?;
        let (key, line) = (&line[..colon], &line[colon + 1..]);
        let from = *rest;
        while rest.starts_with(INDENT) || rest.starts_with(ITEM) {
            cut_line(rest);
        }
        Some(Self { key, line, block: &from[..from.len() - rest.len()] })
    }

    fn is_plain(&self) -> bool {
        match self.line.strip_prefix(' ') {
            Some(text) if self.block.is_empty() => {
                Scalar::of(text).is_some() || flow(text).is_some()
            }
            None if self.line.is_empty() => block(self.block).is_some(),
            _ => false,
        }
    }

    /// Of a plain header; otherwise it may be none.
    pub(super) fn value(&self) -> Option<Value> {
        if self.line.is_empty() {
            return block(self.block);
        }
        let text = self.line.strip_prefix(' ')?;
        Scalar::of(text).and_then(|scalar| scalar.value(text)).or_else(|| flow(text))
    }

    /// As it is written, if it is text and not a number.
    pub(super) fn word(&self) -> Option<&'a str> {
        let text = self.line.strip_prefix(' ')?;
        (Scalar::of(text)? == Scalar::Text).then_some(text)
    }
}

/// A line without its end.
fn cut_line<'a>(rest: &mut &'a str) -> &'a str {
    let end = memchr::memchr(b'\n', rest.as_bytes());
    let (line, after) = end.map_or((*rest, ""), |end| (&rest[..end], &rest[end + 1..]));
    *rest = after;
    line.strip_suffix('\r').unwrap_or(line)
}

/// A list, or keys of their own, in lines under a key.
fn block(lines: &str) -> Option<Value> {
    let mut rest = lines;
    let first = cut_line(&mut { rest });
    let is_list = first.trim_start_matches(' ').starts_with(ITEM);
    let indent = if first.starts_with(INDENT) { INDENT } else { "" };
    let (mut items, mut fields) = (Vec::new(), Extra::new());
    while !rest.is_empty() {
        let line = cut_line(&mut rest).strip_prefix(indent)?;
        if is_list {
            let text = line.strip_prefix(ITEM)?;
            items.push(Scalar::of(text)?.value(text)?);
        } else {
            let (key, text) = line.split_once(": ")?;
            let value = Scalar::of(text)?.value(text)?;
            if !is_plain_key(key) || fields.insert(key.to_owned(), value).is_some() {
                return None;
            }
        }
    }
    match (is_list, items.is_empty() && fields.is_empty()) {
        (_, true) => None,
        (true, _) => Some(items.into()),
        (false, _) => Some(fields.into()),
    }
}

/// `[a, b]` and `{a: 1, b: [c]}`, and nothing behind.
fn flow(text: &str) -> Option<Value> {
    let mut rest = text;
    let value = cut_flow(&mut rest, 0)?;
    (rest.is_empty() && !value.is_string()).then_some(value)
}

fn cut_flow(rest: &mut &str, depth: usize) -> Option<Value> {
    let end = match rest.bytes().next()? {
        b'[' => b']',
        b'{' => b'}',
        _ => return cut_scalar(rest, &[',', ']', '}']),
    };
    if depth >= DEPTH_MAX {
        return None;
    }
    *rest = &rest[1..];
    let (mut items, mut fields) = (Vec::new(), Extra::new());
    loop {
        if end == b']' {
            items.push(cut_flow(rest, depth + 1)?);
        } else {
            let Value::String(key) = cut_scalar(rest, &[':'])? else { return None };
            *rest = rest.strip_prefix(": ")?;
            let value = cut_flow(rest, depth + 1)?;
            if fields.insert(key, value).is_some() {
                return None;
            }
        }
        let sign = rest.bytes().next()?;
        *rest = &rest[1..];
        match sign {
            b',' => *rest = rest.strip_prefix(' ').unwrap_or(rest),
            _ if sign == end => break,
            _ => return None,
        }
    }
    Some(if end == b']' { items.into() } else { fields.into() })
}

fn cut_scalar(rest: &mut &str, ends: &[char]) -> Option<Value> {
    let (text, after) = rest.split_at(rest.find(ends)?);
    *rest = after;
    Scalar::of(text)?.value(text)
}

fn is_plain_key(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !is_special_word(key)
}

/// What a text is that stands for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    /// Letters and a few signs that mean nothing in YAML; a day, with a name behind it or not.
    Text,
    Whole,
    Fraction,
    True,
    False,
}

impl Scalar {
    fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (first, last) = (*bytes.first()?, *bytes.last()?);
        if first.is_ascii_digit() {
            return number(text).or_else(|| is_day(text).then_some(Self::Text));
        }
        match text {
            "true" => return Some(Self::True),
            "false" => return Some(Self::False),
            _ => {}
        }
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-./".contains(byte);
        let is_word = first.is_ascii_alphabetic() && last != b' ' && bytes.iter().all(is_plain);
        (is_word && !is_special_word(text)).then_some(Self::Text)
    }

    fn value(self, text: &str) -> Option<Value> {
        Some(match self {
            Self::Text => text.into(),
            Self::Whole => text.parse::<u64>().ok()?.into(),
            Self::Fraction => Number::from_f64(text.parse().ok()?)?.into(),
            Self::True => true.into(),
            Self::False => false.into(),
        })
    }
}

/// Words that some version of YAML reads as something else.
fn is_special_word(text: &str) -> bool {
    const SPECIAL: [&str; 12] =
        ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];
    const LONGEST: usize = 8;
    text.len() <= LONGEST && SPECIAL.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn number(text: &str) -> Option<Scalar> {
    let (whole, part) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
    let is_digits = |text: &str| {
        !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    match part {
        None => Some(Scalar::Whole),
        Some(part) => is_digits(part).then_some(Scalar::Fraction),
    }
}

/// `2026-04-01`, or `2026-04-01-some-name`, which no version of YAML reads as a day.
fn is_day(text: &str) -> bool {
    const DAY_BYTES: usize = 10;
    let bytes = text.as_bytes();
    let is_date = bytes.len() >= DAY_BYTES
        && bytes[..DAY_BYTES].iter().enumerate().all(|(at, byte)| {
            if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() }
        });
    if !is_date || bytes.len() == DAY_BYTES {
        return is_date;
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let name = &bytes[DAY_BYTES..];
    name[0] == b'-' && name.get(1).is_some_and(u8::is_ascii_alphabetic) && name.iter().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::super::yaml::full;
    use super::*;

    fn plain(header: &str) -> Option<Extra> {
        Plain::of(header).map(Plain::all)
    }

    #[test]
    fn plain_headers_are_read_as_the_full_parser_reads_them() {
        let headers = [
            "id: learning-2026-04-15-003130\ntype: learning\ndate: 2026-04-15\n",
            "utility: 0.72\nreward_count: 0\nconfidence: 1.50\r\ntags: [arch, session]\n",
            "tags: [1, 2.5, a b]\npath: a/b.md\n",
            "x_custom:\n  owner: team-7\n  ticket: T-12\nz: 1\n",
            "x_custom:\r\n  owner: team-7\r\n  count: 12\r\n",
            "tags:\n  - one\n  - 2026-04-01-two.b\nlist:\n- 1\n- true\nlast: x",
            "resolved: true\nopen: false\n",
            "merged_from: [2026-04-22-dup-048783, a]\n",
            "merged_fields: {a-1: {tags: [x,z], utility: 0.5}, b: {c: true}}\n",
        ];
        for header in headers {
            let fast = plain(header).unwrap_or_else(|| panic!("{header}"));
            assert_eq!(fast, full(header).fields, "{header}");
            assert!(fast.keys().eq(full(header).fields.keys()), "{header}");
            for (key, value) in &fast {
                assert_eq!(Plain(header).get(key).unwrap().value().as_ref(), Some(value));
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_full_parser() {
        for header in [
            "a: no\n",
            "a: True\n",
            "a: yes # really\n",
            "a: 'x'\n",
            "a:\n  b:\n    c: 1\n",
            "a:\n  b: 1\n   c: 2\n",
            "a:\n  b: 1\n  b: 2\n",
            "a:\n  - b: 1\n",
            "a:\n  - b\n  c: 1\n",
            "a:\n   - b\n",
            "a:\n- b\n  - c\n",
            "a:\n",
            "a: \n",
            "a: x\n  y\n",
            "a: x\n- y\n",
            "a:\nb: 1\n",
            "a: 1\na: 2\n",
            "a: .nan\n",
            "a: 010\n",
            "a: &x y\n",
            "- a\n",
            "  a: 1\n",
            "",
            "# only\n",
            "a: 1\n\nb: 2\n",
            "a: [ x ]\n",
            "a: [x, ]\n",
            "a: [x}\n",
            "a: {x}\n",
            "a: {x: 1, x: 2}\n",
            "a: {1: x}\n",
            "a: {x:1}\n",
            "a: [x] y\n",
            "a: [[[[[x]]]]]\n",
            "a: 1e3\n",
            "a: b: c\n",
            "a: x \n",
            "a: []\n",
            "true: x\n",
            "a: 12345678901\n",
            "a: 2026-04-01T10\n",
            "a: 2026-04-01-\n",
            "a: 2026-04-01-10\n",
        ] {
            assert_eq!(plain(header), None, "{header}");
        }
    }
}
