//! How sure somebody was, as a word or as a number.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Finite;

/// Confidence in three steps.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Low,
    Medium,
    High,
}

impl Level {
    pub fn value(self) -> f64 {
        match self {
            Self::Low => 0.3,
            Self::Medium => 0.6,
            Self::High => 0.9,
        }
    }
}

/// A confidence as its author wrote it: `high`, `medium`, `low` or a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Confidence {
    Word(Level),
    Number(Finite),
}

impl Confidence {
    /// On the scale from 0 to 1, whatever was written.
    pub fn value(&self) -> f64 {
        match self {
            Self::Word(level) => level.value(),
            Self::Number(number) => number.get().clamp(0.0, 1.0),
        }
    }
}

/// By hand, since a derived untagged reader can only say that nothing matched.
impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            number @ Value::Number(_) => serde_json::from_value(number).map(Self::Number),
            word => serde_json::from_value(word).map(Self::Word),
        }
        .map_err(|error| D::Error::custom(format!("{error} or a number")))
    }
}

impl JsonSchema for Confidence {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Confidence".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<Level>();
        json_schema!({ "anyOf": [word, { "type": "number" }] })
    }
}
