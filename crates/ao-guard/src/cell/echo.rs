//! Looks for the secret in what comes back.

use super::hidden::Hidden;

/// A stream from the host, on its way into the cell. What could be the beginning of the secret is
/// held back until it is clear that it is not.
#[derive(Debug)]
pub(super) struct Echo {
    secret: Hidden,
    held: Vec<u8>,
}

/// What may go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Clean(Vec<u8>),
    /// Nothing of this chunk, nor of what follows.
    Secret,
}

impl Echo {
    pub(super) fn of(secret: &Hidden) -> Self {
        Self { secret: secret.clone(), held: Vec::new() }
    }

    pub(super) fn hear(&mut self, chunk: &[u8]) -> Heard {
        let secret = self.secret.bytes();
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(chunk);
        if all.windows(secret.len()).any(|window| window == secret) {
            return Heard::Secret;
        }
        let longest = secret.len().saturating_sub(1).min(all.len());
        let kept = (1..=longest).rev().find(|count| all.ends_with(&secret[..*count]));
        self.held = all.split_off(all.len() - kept.unwrap_or(0));
        Heard::Clean(all)
    }

    /// The stream has ended, so this is not the beginning of anything.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_however_it_is_cut() {
        let secret = Hidden::new(b"aabaabaac");
        let text = b"xx aabaab aabaabaac yy";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut echo = Echo::of(&secret);
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

    #[test]
    fn everything_else_goes_on_at_once() {
        let mut echo = Echo::of(&Hidden::new(b"secret"));
        assert_eq!(echo.hear(b"data: 1\n"), Heard::Clean(b"data: 1\n".to_vec()));
        assert_eq!(echo.hear(b"sec"), Heard::Clean(Vec::new()));
        assert_eq!(echo.hear(b"ond"), Heard::Clean(b"second".to_vec()));
        assert_eq!(echo.hear(b"sec"), Heard::Clean(Vec::new()));
        assert_eq!(echo.rest(), b"sec");
    }
}
