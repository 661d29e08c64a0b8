//! Looks for the secret in what comes back, and holds back as much as a secret is long.
//!
//! The program may choose what the host sends back, so whatever it sees of this search is a question
//! that it can ask about the secret. Two rules leave it only one question, "is this the whole
//! secret?":
//!
//! - How much is held back is one number for a connection. It does not depend on what the bytes
//!   say, on when they come, or on how much of them agrees with the secret.
//! - Bytes are never compared with the secret one after the other. Every window of its length has a
//!   fingerprint, which takes the same work whatever is in it, and whole fingerprints are compared.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use super::hidden::Hidden;

/// Not looked at: programs put line breaks into what they write where they like, and backslashes
/// before whatever means something to them (Markdown, shells, JSON in JSON).
pub const FILLERS: [u8; 3] = [b'\n', b'\r', b'\\'];

/// The least that is held back, fillers not counted. More is held back only for longer secrets, and
/// then a power of two, so that the amount does not tell how long the secret is.
const HELD_BYTES_MIN: usize = 512;
/// Longest run of fillers that is held back with it.
const HELD_FILLERS_MAX: usize = 64 * 1024;

/// A prime, so that two texts have one fingerprint by chance only (2^-61 a window).
const MODULUS: u64 = (1 << 61) - 1;
/// Of the polynomial that is the fingerprint. Any large number would do.
const BASE: u64 = 0x0b5c_91d3_4e6f_a287;

/// A stream from the host, on its way into the cell.
#[derive(Debug)]
pub(super) struct Echo<'a> {
    forms: &'a [Hidden],
    windows: Vec<FormWindow>,
    /// The last bytes that are not fillers, at their number modulo its length.
    last: Zeroizing<Vec<u8>>,
    count: usize,
    held: Zeroizing<Vec<u8>>,
    /// Of those held, how many are not fillers.
    held_seen: usize,
}

/// All forms of one length.
struct FormWindow {
    length: usize,
    /// What the byte that leaves the window stands for.
    leaving: u64,
    forms: Vec<u64>,
    now: u64,
}

/// The whole secret is in the stream: nothing that was not let through yet may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SecretSeen;

impl<'a> Echo<'a> {
    /// Of a secret as it is, and in the other ways that it may be written in, without fillers.
    pub(super) fn of(forms: &'a [Hidden]) -> Self {
        let mut of_length: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for form in forms.iter().map(Hidden::bytes).filter(|form| !form.is_empty()) {
            let whole = form.iter().fold(0, |sum, byte| add(sum, *byte));
            of_length.entry(form.len()).or_default().push(whole);
        }
        let longest = of_length.keys().next_back().copied().unwrap_or(0);
        let windows = of_length.into_iter().map(|(length, forms)| {
            let leaving = (0..length).fold(1, |power, _| times(power, BASE));
            FormWindow { length, leaving, forms, now: 0 }
        });
        let room = longest.next_power_of_two().max(HELD_BYTES_MIN);
        Self {
            forms,
            windows: windows.collect(),
            last: Zeroizing::new(vec![0; room]),
            count: 0,
            held: Zeroizing::default(),
            held_seen: 0,
        }
    }

    /// Takes in what came. Nothing is let through by that.
    pub(super) fn hear(&mut self, chunk: &[u8]) -> Result<(), SecretSeen> {
        let mut is_found = false;
        for &byte in chunk {
            self.held.push(byte);
            if FILLERS.contains(&byte) {
                continue;
            }
            self.held_seen += 1;
            let mask = self.last.len() - 1;
            for window in &mut self.windows {
                // Before there are enough bytes a zero leaves, which counts for nothing.
                let gone = self.last[self.count.wrapping_sub(window.length) & mask];
                let less = MODULUS - times(window.leaving, u64::from(gone));
                window.now = reduced(add(window.now, byte) + less);
                // All of them are compared, also after one was found.
                is_found |= window.forms.iter().filter(|form| **form == window.now).count() > 0;
            }
            self.last[self.count & mask] = byte;
            self.count = self.count.wrapping_add(1);
        }
        if is_found { Err(SecretSeen) } else { Ok(()) }
    }

    /// Lets everything through but the last of it: always as many bytes, fillers not counted.
    pub(super) fn pass(&mut self) -> Vec<u8> {
        let room = if ao_mutant::active("SCO-08/hold-only-what-may-begin-the-secret") {
            self.begun()
        } else {
            self.last.len()
        };
        let mut free = self.held_seen.saturating_sub(room);
        let mut end = 0;
        for byte in self.held.iter() {
            let is_seen = !FILLERS.contains(byte);
            let is_over = self.held.len() - end > room + HELD_FILLERS_MAX;
            if is_seen && free == 0 && !is_over {
                break;
            }
            free = free.saturating_sub(usize::from(is_seen));
            self.held_seen -= usize::from(is_seen);
            end += 1;
        }
        let rest = self.held.split_off(end);
        std::mem::replace(&mut *self.held, rest)
    }

    /// The end of a message or of an event: what was held back goes on. A secret that is torn by it
    /// is still found when it is whole.
    pub(super) fn flush(&mut self) -> Vec<u8> {
        self.held_seen = 0;
        std::mem::take(&mut *self.held)
    }

    /// How many of the last bytes begin a form. For the mutant alone: nobody else may know.
    fn begun(&self) -> usize {
        let mask = self.last.len() - 1;
        let ends_in = |count: usize, form: &[u8]| {
            (1..=count)
                .all(|back| self.last[self.count.wrapping_sub(back) & mask] == form[count - back])
        };
        let longest = |form: &&[u8]| {
            (1..form.len()).rev().find(|count| *count <= self.count && ends_in(*count, form))
        };
        let forms = self.forms.iter().map(Hidden::bytes);
        forms.filter_map(|form| longest(&form)).max().unwrap_or(0)
    }
}

impl fmt::Debug for FormWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FormWindow").finish_non_exhaustive()
    }
}

fn add(sum: u64, byte: u8) -> u64 {
    reduced(times(sum, BASE) + u64::from(byte))
}

fn times(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    #[expect(clippy::cast_possible_truncation, reason = "both halves have 61 bits")]
    let (low, high) = (product as u64 & MODULUS, (product >> 61) as u64);
    reduced(low + high)
}

fn reduced(number: u64) -> u64 {
    // With no branch: what is in the number must not show in the time it takes.
    let folded = (number & MODULUS) + (number >> 61);
    let is_over = u64::from(folded >= MODULUS);
    folded - is_over * MODULUS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(forms: &[&[u8]]) -> Vec<Hidden> {
        forms.iter().map(|form| Hidden::new(form)).collect()
    }

    #[test]
    fn a_secret_is_found_however_it_is_cut() {
        let forms = hidden(&[b"aabaabaac", b"6161"]);
        for text in [
            b"xx aabaab aabaabaac yy".as_slice(),
            b"xx aabaab 6161 yy",
            b"xx aabaab aab\\aab\r\naac yy",
        ] {
            for first in 0..text.len() {
                for second in first..text.len() {
                    let mut echo = Echo::of(&forms);
                    let mut out = Vec::new();
                    let parts = [&text[..first], &text[first..second], &text[second..]];
                    let all = parts.iter().try_for_each(|part| {
                        echo.hear(part)?;
                        out.extend(echo.pass());
                        Ok(())
                    });
                    assert_eq!(all, Err(SecretSeen), "{first} {second}");
                    assert!(out.is_empty(), "{first} {second}");
                }
            }
        }
    }

    #[test]
    fn fingerprints_are_those_of_the_window_and_of_nothing_before_it() {
        let form: Vec<u8> = (0..700_u32).map(|nth| b'!' + (nth * 7 % 58) as u8).collect();
        for form in [&form[..], &form[..1], &form[..512], &form[..513]] {
            let forms = hidden(&[form]);
            for before in [0, 1, 511, 512, 2000] {
                let mut echo = Echo::of(&forms);
                // One byte short of it is not it.
                let near = [&vec![b'~'; before][..], &form[..form.len() - 1], b"~"].concat();
                assert_eq!(echo.hear(&near), Ok(()), "{before}");
                assert_eq!(echo.hear(form), Err(SecretSeen), "{before}");
            }
        }
    }

    /// The amount is the same whatever came and however much of it is the secret's beginning.
    #[test]
    fn what_is_held_back_is_one_number() {
        let secret = b"tok_live_9fQ2xVbR7mKpW4zLhT8c";
        let forms = hidden(&[secret]);
        for guessed in 0..secret.len() {
            for piece in [1, 7, 600] {
                let mut echo = Echo::of(&forms);
                let text = [&vec![b'x'; 1000][..], &secret[..guessed]].concat();
                let mut passed = 0;
                for chunk in text.chunks(piece) {
                    echo.hear(chunk).unwrap();
                    passed += echo.pass().len();
                }
                assert_eq!(text.len() - passed, HELD_BYTES_MIN, "{guessed} {piece}");
                assert_eq!(echo.flush().len(), HELD_BYTES_MIN);
            }
        }
    }

    #[test]
    fn fillers_are_held_with_the_rest_and_not_without_end() {
        let forms = hidden(&[b"secret"]);
        let mut echo = Echo::of(&forms);
        echo.hear(b"sec").unwrap();
        assert!(echo.pass().is_empty());
        let mut held = 3;
        for _ in 0..100 {
            echo.hear(&[b'\n'; 1024]).unwrap();
            held = held + 1024 - echo.pass().len();
            assert!(held <= HELD_FILLERS_MAX + HELD_BYTES_MIN, "{held}");
        }
        // What went on meanwhile is known all the same.
        assert_eq!(echo.hear(b"ret"), Err(SecretSeen));
    }

    #[test]
    fn an_end_lets_everything_go_on_and_forgets_nothing() {
        let forms = hidden(&[b"secret"]);
        let mut echo = Echo::of(&forms);
        echo.hear(b"sec").unwrap();
        assert_eq!(echo.flush(), b"sec");
        assert_eq!(echo.hear(b"ret"), Err(SecretSeen));
    }
}
