//! What a secret is called.

use std::fmt;
use std::str::FromStr;

/// Of a name that is written where a secret is meant: `vault://NAME`.
pub const SCHEME: &str = "vault://";
pub const NAME_BYTES_MAX: usize = 128;

/// Letters, digits, `.`, `_`, `-` and `/`, beginning with a letter or a digit. Such a name needs no
/// quotes in a shell, is the same in a URL, and looks like no option and no way out of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// What was taken for a name is not repeated: it may be a value that was typed in the wrong place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no name of a secret: {why}")]
pub struct BadName {
    pub why: &'static str,
}

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How the secret is named in a prompt, a log or a message.
    pub fn reference(&self) -> String {
        format!("{SCHEME}{}", self.0)
    }
}

impl FromStr for Name {
    type Err = BadName;

    /// Takes a name, and a reference to it too.
    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = |why| Err(BadName { why });
        let name = text.strip_prefix(SCHEME).unwrap_or(text);
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
        if name.is_empty() {
            return bad("it is empty");
        }
        if name.len() > NAME_BYTES_MAX {
            return bad("it is longer than 128 bytes");
        }
        if !name.bytes().all(is_plain) {
            return bad("only letters and digits of ASCII and . _ - / may be in it");
        }
        if !name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) {
            return bad("it does not begin with a letter or a digit");
        }
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return bad("a part between slashes is empty, . or ..");
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_or_none() {
        for good in ["STRIPE_KEY", "a", "0", "stripe/live.key-2", &"x".repeat(NAME_BYTES_MAX)] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        assert_eq!("vault://a/b".parse::<Name>().unwrap().reference(), "vault://a/b");
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        for bad in [
            "",
            "vault://",
            "-x",
            ".x",
            "_x",
            "a b",
            "a\nb",
            "a\0b",
            "é",
            "a=b",
            "a//b",
            "/a",
            "a/",
            "a/../b",
            "a/.",
            "a\u{1b}[0m",
            "vault://vault://a",
            &long,
        ] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
    }
}
