//! A word from a list, or another word.
//!
//! The lists of the formats are what `ao` writes. Real files hold more (`chore` as the type of a
//! work item, `significant` as a severity), and a word that `ao` does not know is no reason to
//! refuse the file: it is kept as it is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Open<T> {
    Known(T),
    Other(String),
}

impl<T> Open<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(word) => Some(word),
            Self::Other(_) => None,
        }
    }
}

impl<T> From<T> for Open<T> {
    fn from(word: T) -> Self {
        Self::Known(word)
    }
}

/// No word at all, for fields that existing tools leave out.
impl<T> Default for Open<T> {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Open<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known: StrDeserializer<'_, ValueError> = word.as_str().into_deserializer();
        Ok(T::deserialize(known).map_or(Self::Other(word), Self::Known))
    }
}

impl<T: JsonSchema> JsonSchema for Open<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Open{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let known = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [known, { "type": "string" }] })
    }
}
