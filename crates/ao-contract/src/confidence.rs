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

/// A confidence as its author wrote it: `high`, `medium`, `low`, a number, or another text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Confidence {
    Word(Level),
    Number(Finite),
    Text(String),
}

impl Confidence {
    /// On the scale from 0 to 1. `None` of a text that is neither a level nor a number, however it is written.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Word(level) => Some(level.value()),
            Self::Number(number) => Some(number.get().clamp(0.0, 1.0)),
            Self::Text(text) => {
                let text = text.trim().to_lowercase();
                let level: Option<Level> = serde_json::from_value(text.as_str().into()).ok();
                let number = || text.parse::<f64>().ok().filter(|number| number.is_finite());
                level.map(Level::value).or_else(|| Some(number()?.clamp(0.0, 1.0)))
            }
        }
    }
}

/// By hand, since a derived untagged reader can only say that nothing matched.
impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            number @ Value::Number(_) => serde_json::from_value(number).map(Self::Number),
            Value::String(text) => {
                let word = serde_json::from_value(text.as_str().into()).map(Self::Word);
                Ok(word.unwrap_or(Self::Text(text)))
            }
            other => serde_json::from_value::<Level>(other).map(Self::Word),
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
        json_schema!({ "anyOf": [word, { "type": "number" }, { "type": "string" }] })
    }
}
