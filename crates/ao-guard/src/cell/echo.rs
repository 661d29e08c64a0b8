//! Looks for the secret in what comes back.

use memchr::memmem;
use zeroize::Zeroizing;

use super::hidden::Hidden;

/// Not looked at: programs put line breaks into what they write where they like, and backslashes
/// before whatever means something to them (Markdown, shells, JSON in JSON).
pub const FILLERS: [u8; 3] = [b'\n', b'\r', b'\\'];

/// A stream from the host, on its way into the cell. What could be the beginning of the secret is
/// held back until it is clear that it is not.
#[derive(Debug)]
pub(super) struct Echo<'a> {
    forms: &'a [Hidden],
    held: Zeroizing<Vec<u8>>,
}

/// What may go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Clean(Vec<u8>),
    /// Nothing of this chunk, nor of what follows.
    Secret,
}

impl<'a> Echo<'a> {
    /// Of a secret as it is, and in the other ways that it may be written in, without fillers.
    pub(super) fn of(forms: &'a [Hidden]) -> Self {
        Self { forms, held: Zeroizing::default() }
    }

    pub(super) fn hear(&mut self, chunk: &[u8]) -> Heard {
        let mut all = std::mem::take(&mut *self.held);
        all.extend_from_slice(chunk);
        let is_seen = |byte: &u8| !FILLERS.contains(byte);
        let seen: Zeroizing<Vec<u8>> =
            Zeroizing::new(all.iter().copied().filter(is_seen).collect());
        let mut begun = 0;
        for form in self.forms.iter().map(Hidden::bytes) {
            if memmem::find(&seen, form).is_some() {
                return Heard::Secret;
            }
            let longest = form.len().saturating_sub(1).min(seen.len());
            let longer = (begun + 1..=longest).rev().find(|count| seen.ends_with(&form[..*count]));
            begun = longer.unwrap_or(begun);
        }
        // The same bytes, with the fillers between them.
        let last = all.iter().enumerate().rev().filter(|(_, byte)| is_seen(byte));
        let from = begun.checked_sub(1).and_then(|before| last.map(|(at, _)| at).nth(before));
        *self.held = all.split_off(from.unwrap_or(all.len()));
        Heard::Clean(all)
    }

    /// The stream has ended, so this is not the beginning of anything.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut *self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_however_it_is_cut() {
        let forms = [Hidden::new(b"aabaabaac"), Hidden::new(b"6161")];
        for text in [
            b"xx aabaab aabaabaac yy".as_slice(),
            b"xx aabaab 6161 yy",
            b"xx aabaab aab\\aab\r\naac yy",
        ] {
            for first in 0..text.len() {
                for second in first..text.len() {
                    let mut echo = Echo::of(&forms);
                    let mut out = Vec::new();
                    let mut is_found = false;
                    for part in [&text[..first], &text[first..second], &text[second..]] {
                        match echo.hear(part) {
                            Heard::Clean(bytes) if !is_found => out.extend(bytes),
                            Heard::Clean(_) => {}
                            Heard::Secret => is_found = true,
                        }
                    }
                    assert!(is_found, "{first} {second}");
                    assert!(b"xx aabaab ".starts_with(&out[..]), "{first} {second}");
                }
            }
        }
    }

    #[test]
    fn everything_else_goes_on_at_once() {
        let forms = [Hidden::new(b"secret")];
        let mut echo = Echo::of(&forms);
        assert_eq!(echo.hear(b"data: 1\n"), Heard::Clean(b"data: 1\n".to_vec()));
        assert_eq!(echo.hear(b"sec"), Heard::Clean(Vec::new()));
        assert_eq!(echo.hear(b"ond"), Heard::Clean(b"second".to_vec()));
        assert_eq!(echo.hear(b"sec"), Heard::Clean(Vec::new()));
        assert_eq!(echo.rest(), b"sec");
    }
}
