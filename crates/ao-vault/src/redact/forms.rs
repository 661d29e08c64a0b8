//! The forms in which a value may come out: as it is, and as programs write it down.

use std::collections::HashSet;
use std::fmt::Write as _;

use ao_guard::cell::FILLERS;

use super::escapes::Escapes;
use crate::secret::{VALUE_BYTES_MIN, told_apart};

const HEX: [&[u8; 16]; 2] = [b"0123456789abcdef", b"0123456789ABCDEF"];
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The last two digits of base64: the usual ones, and those for addresses.
const BASE64_ENDS: [[u8; 2]; 2] = [*b"+/", *b"-_"];
/// Beside letters and digits, what stays as it is in an address: by the standard, in a browser's
/// component, in a browser's form, in a path, in a whole address.
const STAYS: [&[u8]; 5] = [b"-_.~", b"-_.!~*'()", b"-_.*", b"-_.~/", b";,/?:@&=+$-_.!~*'()#"];

/// Every form of a value, without line breaks and backslashes, each once.
pub fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    add(value, &mut forms);
    // A value that was read from a file may end in a line break that no program repeats.
    let trimmed = value.trim_ascii_end();
    if trimmed.len() < value.len() {
        add(trimmed, &mut forms);
    }
    // What is left of it where sequences are left out.
    let found = Escapes::find(value, true);
    for ranges in [&found.real, &found.whole] {
        let mut rest = value.to_vec();
        for range in ranges.iter().rev() {
            rest.drain(range.clone());
        }
        if rest.len() < value.len() && told_apart(&rest) >= VALUE_BYTES_MIN {
            forms.push(rest);
        }
    }
    let mut seen = HashSet::new();
    for form in &mut forms {
        form.retain(|byte| !FILLERS.contains(byte));
    }
    forms.retain(|form| seen.insert(form.clone()));
    forms
}

fn add(value: &[u8], forms: &mut Vec<Vec<u8>>) {
    forms.push(value.to_vec());
    json(value, forms);
    for digits in HEX {
        forms.push(value.iter().flat_map(|byte| hex(*byte, digits)).collect());
        for stays in STAYS {
            forms.push(percent(value, digits, |byte| is_letter(byte) || stays.contains(&byte)));
        }
        forms.push(percent(value, digits, |_| false));
    }
    // In a form a space is a plus.
    let form = |byte: u8| is_letter(byte) || b"-_.* ".contains(&byte);
    for digits in HEX {
        let mut plus = percent(value, digits, form);
        plus.iter_mut().filter(|byte| **byte == b' ').for_each(|byte| *byte = b'+');
        forms.push(plus);
    }
    for ends in BASE64_ENDS {
        for before in 0..3 {
            forms.push(base64(value, before, ends));
        }
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn hex(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}

fn percent(value: &[u8], digits: &[u8; 16], stays: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.len());
    for &byte in value {
        if stays(byte) {
            text.push(byte);
        } else {
            text.push(b'%');
            text.extend(hex(byte, digits));
        }
    }
    text
}

/// As the inside of a JSON string, in the ways of those who write JSON: plainly, with nothing but
/// ASCII, with escaped slashes, safe in HTML to various degrees; and in a JSON text that is itself a
/// string of one.
fn json(value: &[u8], forms: &mut Vec<Vec<u8>>) {
    let text = String::from_utf8_lossy(value);
    let inside = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let slashes = |text: &str| text.replace('/', "\\/");
    let plain = inside(&text);
    let ascii = numbered(&plain, Case::Lower, |letter| !letter.is_ascii());
    let all = [
        slashes(&plain),
        slashes(&ascii),
        inside(&plain),
        inside(&ascii),
        numbered(&plain, Case::Upper, |letter| !letter.is_ascii()),
        numbered(&plain, Case::Lower, |letter| "<>&".contains(letter)),
        numbered(&plain, Case::Lower, |letter| "<>&='".contains(letter)),
        numbered(&plain.replace("\\\"", "\\u0022"), Case::Upper, |letter| {
            !letter.is_ascii() || "<>&+'`".contains(letter)
        }),
        ascii,
        plain,
    ];
    forms.extend(all.into_iter().map(String::into_bytes));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

/// With some letters as `\uXXXX`.
fn numbered(text: &str, case: Case, is_one: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if !is_one(letter) {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = match case {
                Case::Lower => write!(out, "\\u{unit:04x}"),
                Case::Upper => write!(out, "\\u{unit:04X}"),
            };
        }
    }
    out
}

/// The digits of base64 that stand for nothing but the value, where `before` bytes (modulo three) of
/// something else are encoded in front of it.
fn base64(value: &[u8], before: usize, ends: [u8; 2]) -> Vec<u8> {
    let bits = 8 * (before + value.len());
    let byte_at = |at: usize| match at.checked_sub(before) {
        Some(at) => value.get(at).copied().unwrap_or(0),
        None => 0,
    };
    let digit = |nth: usize| {
        let (at, shift) = (nth * 6 / 8, nth * 6 % 8);
        let pair = u16::from_be_bytes([byte_at(at), byte_at(at + 1)]);
        let number = usize::from((pair << shift) >> 10);
        LETTERS.get(number).copied().unwrap_or_else(|| ends[number - LETTERS.len()])
    };
    ((8 * before).div_ceil(6)..bits / 6).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(value: &[u8], form: &str) -> bool {
        let form: Vec<u8> = form.bytes().filter(|byte| !FILLERS.contains(byte)).collect();
        forms(value).contains(&form)
    }

    #[test]
    fn a_value_is_known_as_programs_write_it() {
        assert!(has(b"a b/c\"d+e", "a b/c\"d+e"));
        assert!(has(b"a b/c\"d+e", "a b/c\\\"d+e"));
        assert!(has(b"a b/c\"d+e", "a b\\/c\\\"d+e"));
        assert!(has(b"a b/c\"d+e", "a b/c\\\\\\\"d+e"));
        assert!(has(b"a b/c\"d+e", "a%20b%2Fc%22d%2Be"));
        assert!(has(b"a b/c\"d+e", "a%20b%2fc%22d%2be"));
        assert!(has(b"a b/c\"d+e", "a+b%2Fc%22d%2Be"));
        assert!(has(b"a b/c\"d+e", "a%20b/c%22d+e"));
        assert!(has(b"a b/c\"d+e", "a%20b/c%22d%2Be"));
        assert!(has(b"a b/c\"d+e", "a b/c\\u0022d\\u002Be"));
        assert!(has("é/<key>='".as_bytes(), "\\u00e9\\/<key>='"));
        assert!(has("é/<key>='".as_bytes(), "é/\\u003ckey\\u003e='"));
        assert!(has("é/<key>='".as_bytes(), "é/\\u003ckey\\u003e\\u003d\\u0027"));
        assert!(has("é/<key>='".as_bytes(), "\\\\u00e9/<key>='"));
        assert!(has(b"\xffz~", "ff7a7e") && has(b"\xffz~", "FF7A7E"));
        assert!(has("é-key-é!".as_bytes(), "\\u00e9-key-\\u00e9!"));
        assert!(has("é-key-é!".as_bytes(), "\\u00E9-key-\\u00E9!"));
    }

    #[test]
    fn base64_is_known_wherever_the_value_stands_in_it() {
        // `printf 'secret>>?' | base64`, and with `x` and `xy` in front.
        assert!(has(b"secret>>?", "c2VjcmV0Pj4/"));
        assert!(has(b"secret>>?", "c2VjcmV0Pj4_"));
        assert!("eHNlY3JldD4+Pw==".contains("NlY3JldD4+P") && has(b"secret>>?", "NlY3JldD4+P"));
        assert!("eHlzZWNyZXQ+Pj8=".contains("zZWNyZXQ+Pj") && has(b"secret>>?", "zZWNyZXQ+Pj"));
    }

    #[test]
    fn line_breaks_are_left_out_and_a_last_one_does_not_count() {
        assert!(has(b"line one\nline two\n", "line oneline two"));
        assert!(has(b"line one\nline two\n", "6c696e65206f6e650a6c696e652074776f"));
    }
}
