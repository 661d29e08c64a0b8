//! Numbers that a report can be trusted with.
//!
//! JSON has no NaN and no infinity, and serializers turn them into `null` without a word. These
//! types cannot hold them. They keep the number as it was written, so that `1` does not come back
//! as `1.0`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::Extra;

/// A number that is neither NaN nor infinite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Finite(Number);

impl Finite {
    pub fn new(value: f64) -> Option<Self> {
        Number::from_f64(value).map(Self)
    }

    pub fn get(&self) -> f64 {
        self.0.as_f64().unwrap_or_default()
    }

    /// As it was written, digit by digit.
    pub fn number(&self) -> &Number {
        &self.0
    }
}

impl From<Number> for Finite {
    fn from(number: Number) -> Self {
        Self(number)
    }
}

impl Default for Finite {
    fn default() -> Self {
        Self(Number::from(0))
    }
}

impl JsonSchema for Finite {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Finite".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// A number from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Finite")]
pub struct Unit(Finite);

impl Unit {
    pub fn new(value: f64) -> Option<Self> {
        Self::try_from(Finite::new(value)?).ok()
    }

    /// The nearest number from 0 to 1; what is no number is 0.
    pub fn nearest(value: f64) -> Self {
        Self(Finite::new(value.clamp(0.0, 1.0)).unwrap_or_default())
    }

    pub fn get(&self) -> f64 {
        self.0.get()
    }

    /// As it was written, digit by digit.
    pub fn number(&self) -> &Number {
        self.0.number()
    }
}

impl TryFrom<Finite> for Unit {
    type Error = String;

    fn try_from(value: Finite) -> Result<Self, Self::Error> {
        match value.get() {
            0.0..=1.0 => Ok(Self(value)),
            out => Err(format!("{out} is not from 0 to 1")),
        }
    }
}

impl JsonSchema for Unit {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Unit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

/// Named metrics, each a number, with the composite among them.
///
/// Existing tools keep more than numbers in this map. It is kept, and is no metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fitness(Extra);

impl Fitness {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, metric: &str) -> Option<f64> {
        self.0.get(metric).and_then(Value::as_f64)
    }

    /// As it was written, digit by digit.
    pub fn number(&self, metric: &str) -> Option<&Number> {
        self.0.get(metric).and_then(Value::as_number)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().filter_map(|(metric, value)| Some((metric.as_str(), value.as_f64()?)))
    }
}

impl FromIterator<(String, Finite)> for Fitness {
    fn from_iter<I: IntoIterator<Item = (String, Finite)>>(metrics: I) -> Self {
        Self(metrics.into_iter().map(|(metric, value)| (metric, value.0.into())).collect())
    }
}

impl JsonSchema for Fitness {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fitness".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": { "type": "number" } })
    }
}
