//! A value that is planted anywhere, in any form and any pieces, never comes out.

use std::io::Write;

use ao_guard::cell::FILLERS;

use super::{Ansi, MARK, Redactor};
use crate::secret::{VALUE_BYTES_MIN, told_apart};

/// A generator of numbers that is the same everywhere (`xorshift64*`).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        usize::try_from(high).unwrap() % below
    }

    fn bytes(&mut self, count: usize, of: &[u8]) -> Vec<u8> {
        (0..count).map(|_| of[self.roll(of.len())]).collect()
    }
}

const ALPHABETS: [&[u8]; 4] = [
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    b"aab",
    b"ab/+\"\\%& \t<>=\x1b[m;\n",
    &[0xc3, 0xa9, b'x', 0xff, 0, b'"', b'\n', b'7'],
];

fn base64(bytes: &[u8], ends: [u8; 2]) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let digits: Vec<u8> = digits.iter().chain(&ends).copied().collect();
    let mut text = Vec::new();
    for three in bytes.chunks(3) {
        let whole =
            three.iter().chain(&[0, 0]).take(3).fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        for nth in 0..4 {
            let number = usize::try_from(whole >> (18 - 6 * nth) & 63).unwrap();
            text.push(if nth <= three.len() { digits[number] } else { b'=' });
        }
    }
    text
}

/// The value as some program would write it, and what of that must not be seen.
fn written(dice: &mut Dice, value: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let hex = |upper: bool| -> Vec<u8> {
        let one = |byte: &u8| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
        value.iter().map(one).collect::<String>().into_bytes()
    };
    let form = match dice.roll(9) {
        0 => value.to_vec(),
        1 => hex(false),
        2 => hex(true),
        3 => hex(true).chunks(2).flat_map(|pair| [b'%', pair[0], pair[1]]).collect(),
        4 => match std::str::from_utf8(value) {
            Ok(text) => {
                let quoted = serde_json::Value::from(text).to_string();
                quoted.as_bytes()[1..quoted.len() - 1].to_vec()
            }
            Err(_) => value.to_vec(),
        },
        5 => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
            let one = |byte: &u8| match byte {
                byte if is_plain(*byte) => char::from(*byte).to_string(),
                byte => format!("%{byte:02x}"),
            };
            value.iter().map(one).collect::<String>().into_bytes()
        }
        way => {
            let ends = if way == 6 { *b"-_" } else { *b"+/" };
            let count = dice.roll(7);
            let front = dice.bytes(count, b"user:name ");
            let count = dice.roll(4);
            let back = dice.bytes(count, b"\nxy");
            let text = base64(&[front.as_slice(), value, &back].concat(), ends);
            let first = (8 * front.len()).div_ceil(6);
            let last = 8 * (front.len() + value.len()) / 6;
            let secret = text[first..last].to_vec();
            return (text, secret);
        }
    };
    (form.clone(), form)
}

/// A colour and line breaks, as they are shown and as JSON has them.
const SPELT: [&[u8]; 4] = [br"\u{1b}[1;31m", br"\u001b[0m", br"\n", br"\\r\\n"];

fn without_spelt(text: &[u8]) -> Vec<u8> {
    let mut rest = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let spelt = SPELT.iter().find(|spelt| text[at..].starts_with(spelt));
        if spelt.is_none() {
            rest.push(*byte);
        }
        at += spelt.map_or(1, |spelt| spelt.len());
    }
    rest
}

/// Line breaks, colours and backslashes between the letters, as programs and terminals put them there.
fn torn(dice: &mut Dice, form: &[u8]) -> Vec<u8> {
    // A sequence within a sequence is two others.
    let way = match form {
        form if form.contains(&0x1b) => dice.roll(2),
        form if form.contains(&b'\\') => dice.roll(3),
        _ => dice.roll(5),
    };
    // Whoever puts colours into a value begins with a sequence that is over.
    let mut text = if way >= 2 { b"\n".to_vec() } else { Vec::new() };
    for (at, byte) in form.iter().enumerate() {
        match way {
            1 if at > 0 && at % 19 == 0 => text.push(b'\n'),
            2 if dice.roll(9) == 0 => text.extend_from_slice(b"\x1b[1;31m"),
            3 if dice.roll(9) == 0 => text.extend_from_slice(SPELT[dice.roll(SPELT.len())]),
            4 if byte.is_ascii_punctuation() => text.push(b'\\'),
            _ => {}
        }
        text.push(*byte);
    }
    text
}

fn without(text: &[u8], is_left_out: impl Fn(u8) -> bool) -> Vec<u8> {
    text.iter().copied().filter(|byte| !is_left_out(*byte)).collect()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

// proves: SCO-08
#[test]
fn a_planted_value_never_comes_out_and_pieces_make_no_difference() {
    let cases: u64 = if std::env::var_os("AO_SWEEP").is_some() { 200_000 } else { 2_000 };
    for seed in 1..=cases {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let values: Vec<Vec<u8>> = (0..=dice.roll(3))
            .map(|_| {
                let alphabet = ALPHABETS[dice.roll(ALPHABETS.len())];
                let count = [8, 9, 20, 63, 64, 65, 150, 400][dice.roll(8)];
                let mut value = dice.bytes(count, alphabet);
                value[count - 1] = b'!';
                // Of one that is nearly too short every byte has to count.
                if told_apart(&value) < VALUE_BYTES_MIN {
                    for byte in &mut value {
                        *byte = if FILLERS.contains(byte) { b'x' } else { (*byte).max(b'!') };
                    }
                }
                value
            })
            .collect();
        let redactor = Redactor::new(&values).unwrap();
        let (mut text, mut secrets) = (Vec::new(), Vec::new());
        for _ in 0..=dice.roll(3) {
            let alphabet = ALPHABETS[dice.roll(ALPHABETS.len())];
            let count = dice.roll(90);
            text.extend(dice.bytes(count, alphabet));
            let value = &values[dice.roll(values.len())];
            let (form, secret) = written(&mut dice, value);
            text.extend(torn(&mut dice, &form));
            secrets.push(secret);
        }
        let ansi = if dice.roll(2) == 0 { Ansi::Strip } else { Ansi::Keep };
        let whole = redactor.bytes(&text, ansi).into_inner();
        let mut writer = redactor.writer(Vec::new(), ansi);
        let size = [1, 2, 7, 64, 200][dice.roll(5)];
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(1 + dice.roll(size)));
            writer.write_all(piece).unwrap();
            rest = after;
        }
        let pieces = writer.finish().unwrap();
        let told =
            || format!("seed {seed}: {} from {}", pieces.escape_ascii(), text.escape_ascii());
        assert_eq!(
            whole.escape_ascii().to_string(),
            pieces.escape_ascii().to_string(),
            "seed {seed}"
        );
        let is_break = |byte: u8| FILLERS.contains(&byte);
        for secret in &secrets {
            assert!(!contains(&pieces, secret), "{}", told());
            assert!(!contains(&without_spelt(&pieces), secret), "{}", told());
            assert!(
                !contains(&without(&pieces, is_break), &without(secret, is_break)),
                "{}",
                told()
            );
        }
        assert!(contains(&pieces, MARK.as_bytes()), "{}", told());
    }
}

fn redacted(values: &[&str], text: &str) -> String {
    Redactor::new(values).unwrap().text(text, Ansi::Strip).into_inner()
}

#[test]
fn what_is_no_value_stays() {
    let text = "a line\r\nanother, with hunter2 and hunter2-hunter\tand ünïcode\n";
    assert_eq!(redacted(&["hunter2-hunter2"], text), text);
    assert_eq!(redacted(&["hunter2-hunter2"], "is hunter2-hunter2."), format!("is {MARK}."));
}

#[test]
fn a_letter_that_ends_a_sequence_is_still_of_the_value() {
    assert_eq!(redacted(&["s3cr3t-value"], "x\u{1b}[s3cr3t-value y"), format!("x{MARK} y"));
    assert_eq!(redacted(&["s3cr3t-value"], "x s3c\u{1b}[0mr3t-value y"), format!("x {MARK} y"));
    assert_eq!(redacted(&["s3cr3t-value"], "\u{1b}]0;s3cr3t-value\u{7}y"), format!("{MARK}y"));
}

#[test]
fn backslashes_do_not_hide_a_value() {
    let values = ["my_secret_key_1", "C:\\keys\\mine", "{\"a\":[\"b\"]}"];
    for text in
        ["my\\_secret\\_key\\_1", "C:\\keys\\mine", "C:\\\\keys\\\\mine", "{\\\"a\\\":[\\\"b\\\"]}"]
    {
        let rest = redacted(&values, &format!("a {text} b"));
        assert_eq!(rest, format!("a {MARK} b"), "{text}");
    }
}

#[test]
fn what_is_spelt_out_within_a_value_does_not_hide_it_and_stays_elsewhere() {
    for torn in [r"s3c\u{1b}[0mr3t-value", r"s3c\nr3t-value", r"s3c\u001b[1mr3t\\n-value"] {
        let text = format!(r"x\n {torn} \u{{1b}}[31m\r y");
        assert_eq!(
            redacted(&["s3cr3t-value"], &text),
            format!(r"x\n {MARK} \u{{1b}}[31m\r y"),
            "{torn}"
        );
    }
    assert_eq!(redacted(&[r"s3cr3t\nvalue"], r"x s3cr3t\nvalue y"), format!("x {MARK} y"));
}

#[test]
fn values_that_overlap_are_both_taken_out() {
    assert_eq!(redacted(&["abcdefgh", "efghijkl"], "-abcdefghijkl-"), format!("-{MARK}-"));
    assert_eq!(redacted(&["abcdefgh", "abcdefghijkl"], "-abcdefghij-"), format!("-{MARK}ij-"));
}

#[test]
fn a_value_of_a_megabyte_goes_too_also_when_it_is_cut_off() {
    let mut dice = Dice(7);
    let value = dice.bytes(1 << 20, ALPHABETS[0]);
    let redactor = Redactor::new([&value]).unwrap();
    let text = [b"before ".as_slice(), &value, b" after"].concat();
    let mut writer = redactor.writer(Vec::new(), Ansi::Strip);
    for piece in text.chunks(1000) {
        writer.write_all(piece).unwrap();
    }
    let out = writer.finish().unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), format!("before {MARK} after"));
    let cut = redactor.bytes(&text[..5000], Ansi::Strip).into_inner();
    assert_eq!(String::from_utf8(cut).unwrap(), format!("before {MARK}"));
}

#[test]
fn only_what_may_become_a_value_is_held_back() {
    let redactor = Redactor::new(["s3cr3t-value"]).unwrap();
    let mut writer = redactor.writer(Vec::new(), Ansi::Strip);
    writer.write_all(b"ready? s3c").unwrap();
    assert_eq!(writer.sink, b"ready? ");
    writer.write_all(b"ond\n").unwrap();
    assert_eq!(writer.sink, b"ready? s3cond\n");
}

#[test]
fn json_stays_json() {
    let value = serde_json::json!({ "a \"quoted\" key": ["x \"quoted\" key y", 7], "b": null });
    let redactor = Redactor::new(["\"quoted\" key"]).unwrap();
    let bytes = redactor.json(&value).unwrap().into_inner();
    let read: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let expected =
        serde_json::json!({ format!("a {MARK}"): [format!("x {MARK} y"), 7], "b": null });
    assert_eq!(read, expected);
}

#[test]
fn short_values_are_refused_and_nothing_says_what_they_are() {
    let refused = Redactor::new(["long enough", "short77"]).unwrap_err().to_string();
    assert!(refused.contains("value 2") && !refused.contains("short77"), "{refused}");
    let redactor = Redactor::new(["s3cr3t-value"]).unwrap();
    let shown = format!("{redactor:?} {:?}", redactor.writer(Vec::new(), Ansi::Keep));
    assert!(!shown.contains("s3cr3t"), "{shown}");
}
