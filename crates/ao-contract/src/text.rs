//! Text in hand-written frontmatter.
//!
//! YAML reads `title: 404` as a number and `scope: yes` as a boolean in some of its versions, and
//! `tags: ci` where a list was meant is common. All of it is text to the person who wrote it. These
//! types take any scalar, keep what they read and show it as text.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// One scalar, shown as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text(Value);

impl Text {
    pub fn as_str(&self) -> Cow<'_, str> {
        match &self.0 {
            Value::String(text) => Cow::Borrowed(text),
            scalar => Cow::Owned(scalar.to_string()),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Value::from(text))
    }
}

impl TryFrom<Value> for Text {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(Self(value)),
            Value::Null => Err("expected text, found nothing"),
            Value::Array(_) => Err("expected text, found a list"),
            Value::Object(_) => Err("expected text, found a map"),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

/// A list of scalars, or one scalar that stands for a list of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Texts {
    One(Text),
    Many(Vec<Text>),
}

impl Texts {
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
        .iter()
        .map(Text::as_str)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Array(values) => {
                values.into_iter().map(Text::try_from).collect::<Result<_, _>>().map(Self::Many)
            }
            value => Text::try_from(value).map(Self::One),
        }
        .map_err(D::Error::custom)
    }
}

impl JsonSchema for Texts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = Text::json_schema(generator);
        json_schema!({ "anyOf": [text, { "type": "array", "items": text }] })
    }
}
