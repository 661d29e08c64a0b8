//! A value in memory.

use std::fmt;

use ao_guard::cell::FILLERS;
use zeroize::Zeroizing;

/// Shorter ones cannot be told from ordinary text: they would be redacted everywhere, or nowhere.
pub const VALUE_BYTES_MIN: usize = 8;
pub const VALUE_BYTES_MAX: usize = 1024 * 1024;

/// Bytes that are never printed, and overwritten when they are no longer needed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    #[error("the value is empty")]
    Empty,
    #[error(
        "the value has {0} bytes (line breaks, backslashes and blanks at the end not counted), and fewer than 8 cannot be kept apart from ordinary text: they could not be redacted"
    )]
    Short(usize),
    #[error("the value has more than 1 MiB")]
    Long,
}

impl Secret {
    /// Takes a value that may be kept.
    pub fn new(bytes: Zeroizing<Vec<u8>>) -> Result<Self, BadValue> {
        match bytes.len() {
            0 => Err(BadValue::Empty),
            _ if told_apart(&bytes) < VALUE_BYTES_MIN => Err(BadValue::Short(told_apart(&bytes))),
            count if count > VALUE_BYTES_MAX => Err(BadValue::Long),
            _ => Ok(Self(bytes)),
        }
    }

    /// The value itself. Whoever calls this answers for where it goes.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

/// How many bytes of a value there are to tell it by: those that are looked at in other texts.
pub(crate) fn told_apart(value: &[u8]) -> usize {
    let value = value.trim_ascii_end();
    value.iter().filter(|byte| !FILLERS.contains(byte)).count()
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_bounded_and_not_shown() {
        let of = |count: usize| Secret::new(Zeroizing::new(vec![b'x'; count]));
        assert_eq!(of(0), Err(BadValue::Empty));
        assert_eq!(of(7), Err(BadValue::Short(7)));
        for (text, count) in [
            ("1234567 \n", 7),
            ("12\\345\n67\\", 7),
            ("123456 \\\n \n", 7),
            ("\r\n\n\n\nx\n\n\n\ny", 2),
        ] {
            let made = Secret::new(Zeroizing::new(text.as_bytes().to_vec()));
            assert_eq!(made, Err(BadValue::Short(count)), "{text:?}");
        }
        assert_eq!(of(VALUE_BYTES_MAX + 1), Err(BadValue::Long));
        assert!(of(8).is_ok() && of(VALUE_BYTES_MAX).is_ok());
        assert_eq!(format!("{:?}", of(8).unwrap()), "Secret(***)");
    }
}
