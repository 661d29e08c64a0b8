//! The variables as a layer of the configuration: `AGENTOPS_DREAM_RUN_TIMEOUT` is `dream.run_timeout`.
//!
//! Which ones there are follows from the keys that are known, and a text is read as the type of its key
//! asks for. So a key of a night cannot be without its variable.

use std::collections::BTreeMap;

use ao_contract::{Config, known_keys};
use ao_tree::shown;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::Whose;
use super::layer::{ConfigLayer, ENVIRONMENT, expected};
use super::place::KeyPlace;
use crate::failure::Failure;

/// With which the name of each begins.
const ALL: &str = "AGENTOPS_";
pub(super) const PREFIX: &str = "AGENTOPS_DREAM_";
const SECTION: &str = "dream.";
const CURATOR: &str = "LOCAL_CURATOR_";
/// The name that the existing `ao` has for the same.
const CURATOR_BEFORE: &str = "CURATOR_";
/// Keys of other sections that have a variable.
const OTHERS: [(&str, &str); 3] = [
    ("trust.promote_at", "AGENTOPS_TRUST_PROMOTE_AT"),
    ("flywheel.auto_promote_threshold", "AGENTOPS_FLYWHEEL_AUTO_PROMOTE_THRESHOLD"),
    ("rpi.bd_command", "AGENTOPS_RPI_BD_COMMAND"),
];
const POLICY: &str = "dream.consensus_policy";
/// Paths are separated as in `PATH`, and an empty list of them is one.
const PATHS: &str = "dream.harvest_from";

/// The variables of a key, the stronger one first.
fn variables(key: &str) -> Vec<String> {
    if let Some((_, variable)) = OTHERS.iter().find(|(other, _)| *other == key) {
        return vec![(*variable).to_owned()];
    }
    let Some(name) = key.strip_prefix(SECTION) else { return Vec::new() };
    let name = name.replace('.', "_").to_uppercase();
    let before = name.strip_prefix(CURATOR).map(|rest| format!("{PREFIX}{CURATOR_BEFORE}{rest}"));
    [Some(format!("{PREFIX}{name}")), before].into_iter().flatten().collect()
}

/// Every variable of a night.
pub(super) fn known() -> Vec<String> {
    known_keys().iter().flat_map(|key| variables(&key.name)).collect()
}

/// What the variables say. An error names the variable, its value and what would do.
pub(super) fn read() -> Result<ConfigLayer, Failure> {
    let mut root = VariableTree::Map(BTreeMap::new());
    let mut keys = Vec::new();
    let is_said = std::env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with(ALL));
    for key in known_keys().iter().filter(|_| is_said) {
        if key.name == POLICY && ao_mutant::active("RUN-46/a-variable-is-not-read") {
            continue;
        }
        if key.name == "dream.local_curator.model"
            && ao_mutant::active("CUR-01/environment-is-ignored")
        {
            continue;
        }
        let set = variables(&key.name).into_iter().find_map(|variable| {
            let text = std::env::var_os(&variable)?.to_string_lossy().trim().to_owned();
            (!text.is_empty() || key.name == PATHS).then_some((variable, text))
        });
        let Some((variable, text)) = set else { continue };
        let path: Vec<String> = key.name.split('.').map(str::to_owned).collect();
        let separator = if key.name == PATHS { ':' } else { ',' };
        root.put(&path, VariableTree::Text { text: text.clone(), separator });
        keys.push(KeyPlace { path, line: None, variable: Some(variable), value: Some(text) });
    }
    let config = serde_path_to_error::deserialize::<_, Config>(root).map_err(|error| {
        let name = error.path().to_string();
        let name = name.split('[').next().unwrap_or_default();
        let place = keys.iter().find(|place| place.name() == name);
        let value = place.and_then(|place| place.value.as_deref()).unwrap_or_default();
        let variable = place.and_then(|place| place.variable.as_deref()).unwrap_or(ENVIRONMENT);
        let expected = expected(name).map_or_else(String::new, |form| format!("; expected {form}"));
        Failure::usage(format!("{variable} is `{}`: {}{expected}", shown(value), error.inner()))
            .hint("set it to something else, or unset it")
    })?;
    let file = ENVIRONMENT.to_owned();
    Ok(ConfigLayer { whose: Whose::User, config, file, keys })
}

/// A text, or texts by name, to be read as whatever is asked for.
#[derive(Debug)]
enum VariableTree {
    Text { text: String, separator: char },
    Map(BTreeMap<String, VariableTree>),
}

impl VariableTree {
    fn put(&mut self, path: &[String], word: Self) {
        let (Self::Map(map), [first, rest @ ..]) = (self, path) else { return };
        if rest.is_empty() {
            map.insert(first.clone(), word);
        } else {
            let below = map.entry(first.clone()).or_insert_with(|| Self::Map(BTreeMap::new()));
            below.put(rest, word);
        }
    }

    fn text(&self) -> Result<&str, Error> {
        match self {
            Self::Text { text, .. } => Ok(text),
            Self::Map(_) => Err(Error::custom("it is a section")),
        }
    }
}

impl IntoDeserializer<'_, Error> for VariableTree {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn truth(text: &str) -> Result<bool, Error> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(Error::custom("neither yes nor no")),
    }
}

impl<'de> Deserializer<'de> for VariableTree {
    type Error = Error;

    /// A number, where the text is one.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if let Self::Map(map) = self {
            return visitor.visit_map(MapDeserializer::new(map.into_iter()));
        }
        let text = self.text()?;
        if let Ok(number) = text.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => visitor.visit_f64(number),
            _ => visitor.visit_str(text),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(truth(self.text()?)?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self::Text { text, separator } = &self else {
            return self.deserialize_any(visitor);
        };
        let items = text.split(*separator).map(str::trim).filter(|item| !item.is_empty());
        visitor.visit_seq(SeqDeserializer::new(items.map(str::to_owned)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct map struct identifier ignored_any
    }
}
