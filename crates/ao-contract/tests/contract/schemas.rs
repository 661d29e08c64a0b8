use std::path::{Path, PathBuf};

use serde_json::Value;

const HINT: &str =
    "the committed schemas are out of date; run UPDATE_SCHEMAS=1 cargo test -p ao-contract";

#[test]
fn committed_schemas_are_current() {
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for schema in ao_contract::schemas() {
        let path = dir().join(format!("{}.json", schema.name));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema.schema).unwrap());
        if update {
            write(&path, &text);
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{}: {HINT}", path.display());
    }
}

#[test]
fn no_schema_is_left_over() {
    let schemas = ao_contract::schemas();
    for entry in std::fs::read_dir(dir()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(schemas.iter().any(|schema| schema.name == name), "{}: {HINT}", path.display());
    }
}

#[test]
fn schemas_are_valid_and_say_what_they_are() {
    for schema in ao_contract::schemas() {
        assert!(jsonschema::meta::is_valid(&schema.schema), "{}", schema.name);
        assert_eq!(schema.schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema.schema["$id"], format!("ao:{}", schema.name));
        assert!(schema.schema["title"].is_string(), "{}", schema.name);
        assert!(!schema.about.is_empty(), "{}", schema.name);
    }
}

/// The descriptions are what users read, so each field has one.
#[test]
fn every_field_is_described() {
    for schema in ao_contract::schemas() {
        assert_described(schema.name, &schema.schema);
    }
}

/// Properties under `if` and `then` are conditions on fields that are described above them.
fn assert_described(at: &str, schema: &Value) {
    for (key, part) in schema.as_object().into_iter().flatten() {
        match key.as_str() {
            "properties" => assert_properties_described(at, part),
            "if" | "then" => {}
            _ => assert_described(&format!("{at}.{key}"), part),
        }
    }
    for part in schema.as_array().into_iter().flatten() {
        assert_described(at, part);
    }
}

fn assert_properties_described(at: &str, properties: &Value) {
    for (name, property) in properties.as_object().unwrap() {
        let described = property["description"].is_string() || property["const"].is_string();
        assert!(described, "{at}: {name}");
        assert_described(&format!("{at}.{name}"), property);
    }
}

#[test]
fn an_unknown_format_is_refused_with_the_list() {
    let error = ao_contract::check("sumary", &Value::Null).unwrap_err();
    assert!(error.message.contains("\"sumary\"") && error.message.contains("runner-report"));
}

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(dir()).unwrap();
    std::fs::write(path, text).unwrap();
}
