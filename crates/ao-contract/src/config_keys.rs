//! The keys of a configuration: which `ao` knows, and what it says of one that it does not use.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Config, Extra};

/// Stands in [`known_keys`] for any name, such as that of a runner.
pub const ANY_NAME: &str = "*";

/// Something in the configuration that has no effect. The run goes on. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigWarning {
    /// The file, as an absolute path, or `the environment`.
    pub file: String,
    /// The line of the key, from 1; absent for a variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The key, dotted, or the variable.
    pub key: String,
    /// The known key that is spelled most like it; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// Why it has no effect, and what to do.
    pub why: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A key that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKey {
    /// Dotted, with [`ANY_NAME`] for a name: `dream.run_timeout`, `runners.*.kind`.
    pub name: String,
    /// What its value may be, in a few words.
    pub expected: String,
}

/// Every key that is read.
///
/// They are taken from the schema, so that a new field cannot be forgotten here.
pub fn known_keys() -> &'static [KnownKey] {
    static KEYS: LazyLock<Vec<KnownKey>> = LazyLock::new(keys_of_the_schema);
    &KEYS
}

fn keys_of_the_schema() -> Vec<KnownKey> {
    let inlined = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = inlined.into_generator().into_root_schema_for::<Config>();
    let mut keys = Vec::new();
    collect("", schema.as_value(), &mut keys);
    keys
}

fn collect(at: &str, schema: &Value, keys: &mut Vec<KnownKey>) {
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    // A section may be null, and then its schema is one of two.
    let parts = schema["anyOf"].as_array().into_iter().flatten();
    let section = parts.chain([schema]).find(|part| part["properties"].is_object());
    if let Some(properties) = section.and_then(|section| section["properties"].as_object()) {
        properties.iter().for_each(|(name, part)| collect(&below(name), part, keys));
    } else if schema["additionalProperties"].is_object() {
        collect(&below(ANY_NAME), &schema["additionalProperties"], keys);
    } else {
        keys.push(KnownKey { name: at.to_owned(), expected: forms(schema).join(" or ") });
    }
}

/// The forms that a value may have, in words.
fn forms(schema: &Value) -> Vec<String> {
    let words = |list: &Value| -> Vec<String> {
        let all = list.as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (named, examples) = (words(&schema["enum"]), words(&schema["examples"]));
    if !named.is_empty() {
        return vec![format!("one of {}", named.join(", "))];
    }
    if !examples.is_empty() {
        return vec![format!("a text such as {}", examples.join(", "))];
    }
    let either = ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    let mut found: Vec<String> = either.flat_map(forms).collect();
    let kinds = words(&schema["type"]);
    let kinds = kinds.iter().map(String::as_str).chain(schema["type"].as_str());
    found.extend(kinds.filter_map(|kind| match kind {
        "boolean" => Some("true or false".to_owned()),
        "integer" => Some("a whole number".to_owned()),
        "number" => Some("a number".to_owned()),
        "string" => Some("a text".to_owned()),
        "array" => Some(format!("a list of {}", forms(&schema["items"]).join(" or "))),
        _ => None,
    }));
    found.extend(schema["const"].as_str().map(|word| format!("`{word}`")));
    found
}
