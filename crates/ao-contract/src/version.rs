//! A `schema_version` that can only have one value.
//!
//! A reader that meets a newer version stops: it cannot know what the file now means.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchemaVersion<const N: u32>;

impl<const N: u32> Serialize for SchemaVersion<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(N)
    }
}

impl<'de, const N: u32> Deserialize<'de> for SchemaVersion<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            version if version == N => Ok(Self),
            version => Err(D::Error::custom(format!(
                "schema_version {version} is not known, this program reads {N}"
            ))),
        }
    }
}

impl<const N: u32> JsonSchema for SchemaVersion<N> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("SchemaVersion{N}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "const": N })
    }
}
