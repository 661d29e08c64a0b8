//! One layer of the configuration: a file or the environment, and the words for what is wrong with it.

use std::path::Path;

use ao_contract::{ANY_NAME, Config, KnownKey, known_keys};
use ao_tree::{own_file, shown};

use super::check::UnfitValue;
use super::place::{self, KeyPlace};
use super::{NAMED, Whose};
use crate::failure::Failure;
use crate::printer::excerpt;

/// A larger file is not a configuration.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// So much of a value is repeated.
const VALUE_CHARS_MAX: usize = 80;
/// What stands there may be the secret itself, so it is not repeated.
const SECRET_KEYS: [&str; 2] = ["auth", "endpoint"];
pub(super) const ENVIRONMENT: &str = "the environment";

/// What one place says, and where in it.
#[derive(Debug)]
pub(crate) struct ConfigLayer {
    pub(crate) whose: Whose,
    pub(crate) config: Config,
    /// The file, or that it is the environment.
    pub(super) file: String,
    pub(super) keys: Vec<KeyPlace>,
}

impl ConfigLayer {
    /// Reads a file. An error names the line, the key, its value and what would do.
    pub(super) fn read(path: &Path, whose: Whose) -> Result<Self, Failure> {
        let file = shown(&path.to_string_lossy());
        let text = text(path).map_err(|why| refuse(format!("{file}: {why}")))?;
        let keys = place::keys(&text);
        if text.trim().is_empty() {
            return Ok(Self { whose, config: Config::default(), file, keys });
        }
        let mut at = String::new();
        let read = serde_saphyr::with_deserializer_from_str(&text, |deserializer| {
            serde_path_to_error::deserialize::<_, Config>(deserializer).map_err(|error| {
                at = error.path().to_string();
                error.into_inner()
            })
        });
        match read {
            Ok(config) => Ok(Self { whose, config, file, keys }),
            Err(error) => {
                let broken = Self { whose, config: Config::default(), file, keys };
                Err(broken.mistyped(&at, &error))
            }
        }
    }

    /// A value that cannot be used.
    pub(super) fn refuse(&self, bad: &UnfitValue) -> Failure {
        let place = self.keys.iter().find(|place| place.path == bad.path);
        refuse(self.message(place, &bad.path, &bad.why))
    }

    /// A value of the wrong type, or a file that is no YAML.
    fn mistyped(&self, at: &str, error: &serde_saphyr::Error) -> Failure {
        let line = error.location().map(|location| location.line());
        let why = error.without_snippet().to_string();
        // `dream.runners[0]` is an item of a key; the key alone is in the list.
        let name = at.split('[').next().unwrap_or_default();
        let place = self.keys.iter().filter(|place| place.name() == name);
        let place =
            place.min_by_key(|place| line.map(|line| place.line.unwrap_or(0).abs_diff(line)));
        match (place, expected(name)) {
            (Some(place), Some(expected)) => {
                let why = format!("{why}; expected {expected}");
                refuse(self.message(Some(place), &place.path, &why))
            }
            _ => refuse(format!("{}: {why}", self.file)),
        }
    }

    fn message(&self, place: Option<&KeyPlace>, path: &[String], why: &str) -> String {
        let line = place.and_then(|place| place.line);
        let line = line.map_or_else(String::new, |line| format!(", line {line}"));
        let subject = match place.and_then(|place| place.variable.as_deref()) {
            Some(variable) => variable.to_owned(),
            None => format!("{}{line}: {}", self.file, shown(&path.join("."))),
        };
        let is_secret = path.last().is_some_and(|key| SECRET_KEYS.contains(&key.as_str()));
        let value = place.and_then(|place| place.value.as_deref()).filter(|_| !is_secret);
        let is = value
            .map_or_else(String::new, |value| format!(" is `{}`", excerpt(value, VALUE_CHARS_MAX)));
        format!("{subject}{is}: {why}")
    }
}

fn refuse(message: String) -> Failure {
    Failure::usage(message).hint("`ao schema config` says what the file may hold")
}

/// What the value of a key may be; `None` if it is no key with a value.
pub(super) fn expected(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('.').collect();
    let is_it = |key: &KnownKey| {
        let known: Vec<&str> = key.name.split('.').collect();
        known.len() == parts.len()
            && known.iter().zip(&parts).all(|(known, part)| *known == ANY_NAME || known == part)
    };
    known_keys().iter().find(|key| is_it(key)).map(|key| key.expected.clone())
}

fn text(path: &Path) -> std::io::Result<String> {
    if std::env::var_os(NAMED).is_some() {
        return own_file::read_named_text(path, FILE_BYTES_MAX);
    }
    // It may be a link to a file, and a repository may come with one to anything else.
    own_file::read_text(&path.canonicalize()?, FILE_BYTES_MAX)
}
