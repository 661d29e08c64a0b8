//! Which value goes into which variable.

use std::ffi::OsString;

use ao_guard::cell::Hidden;
use ao_vault::{Name, Store};

use super::{failure, name};
use crate::failure::Failure;

/// Set by the cell, or how programs are found and loaded.
const RESERVED: [&str; 8] =
    ["HOME", "TMPDIR", "PATH", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "IFS"];
const RESERVED_PREFIXES: [&str; 2] = ["AO_", "LD_"];
/// What the kernel takes for one variable, its name and two more bytes included.
const VARIABLE_BYTES_MAX: usize = 128 * 1024;
/// As many as a cell takes.
const GRANTS_MAX: usize = 64;

/// `NAME`, or `NAME=VARIABLE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Granted {
    pub(super) name: Name,
    pub(super) variable: String,
}

impl Granted {
    /// What stands behind the sign is not repeated: it may be a value that was typed by mistake.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let (left, right) = match text.split_once('=') {
            Some((left, right)) => (left, Some(right)),
            None => (text, None),
        };
        let name = name(left)?;
        let variable = right.unwrap_or(name.as_str());
        let is_one = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let is_variable = variable.chars().all(is_one)
            && variable.starts_with(|letter: char| !letter.is_ascii_digit());
        if !is_variable {
            let message = match right {
                Some(_) => format!("what stands behind {name}= is no name of a variable"),
                None => format!("{name} is no name of a variable"),
            };
            return Err(Failure::usage(message).hint(format!(
                "name the variable, such as {name}=API_KEY; the value is taken from the vault"
            )));
        }
        let is_reserved = RESERVED.contains(&variable)
            || RESERVED_PREFIXES.iter().any(|prefix| variable.starts_with(prefix));
        if is_reserved {
            return Err(Failure::usage(format!("the variable {variable} is not for a secret"))
                .hint(format!("name another, such as {name}=API_KEY")));
        }
        Ok(Self { variable: variable.to_owned(), name })
    }

    pub(super) fn all(texts: &[String]) -> Result<Vec<Self>, Failure> {
        let mut all: Vec<Self> = Vec::new();
        for granted in texts.iter().map(|text| Self::parse(text)) {
            let granted = granted?;
            if all.iter().any(|other| other.variable == granted.variable) {
                return Err(Failure::usage(format!("{} is granted twice", granted.variable))
                    .hint("name each variable once"));
            }
            all.push(granted);
        }
        if all.len() > GRANTS_MAX {
            return Err(Failure::usage("more than 64 values for one command")
                .hint("run the command with the ones that it needs"));
        }
        Ok(all)
    }

    /// The variable with its value.
    pub(super) fn take(&self, store: &Store) -> Result<(OsString, Hidden), Failure> {
        let secret = store.get(&self.name).map_err(|error| failure::of(&error))?;
        let value = secret.expose();
        let why = if value.contains(&0) {
            "it has a byte 0 in it, which no variable can have"
        } else if self.variable.len() + value.len() + 2 > VARIABLE_BYTES_MAX {
            "it has more than 128 KiB, which no variable can have"
        } else {
            return Ok((OsString::from(&self.variable), Hidden::new(value)));
        };
        Err(Failure::usage(format!(
            "{} cannot be put into a variable: {why}",
            self.name.reference()
        ))
        .hint("nothing was started; a value like this can only be read with `ao vault read`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_named_or_is_the_name() {
        let of =
            |text: &str| Granted::parse(text).map(|one| one.variable).map_err(|bad| bad.message);
        assert_eq!(of("KEY").unwrap(), "KEY");
        assert_eq!(of("stripe/live=KEY_2").unwrap(), "KEY_2");
        for bad in [
            "stripe/live",
            "a.b",
            "KEY=",
            "KEY=1x",
            "KEY=sk-live-123",
            "HOME",
            "K=LD_PRELOAD",
            "K=AO_CELL",
            "K=PATH",
        ] {
            let message = of(bad).unwrap_err();
            assert!(!message.contains("sk-live"), "{message}");
        }
        assert!(Granted::all(&["A=X".into(), "B=X".into()]).is_err());
    }
}
