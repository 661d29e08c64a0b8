//! The files in `tests/samples`: `<format>.json`, or `<format>.<which>.json` where there are several.

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::Value;

pub(crate) struct Sample {
    pub(crate) file: String,
    pub(crate) format: String,
    pub(crate) value: Value,
}

pub(crate) fn all() -> Vec<Sample> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| load(path)).collect()
}

pub(crate) fn named(file: &str) -> Sample {
    load(&dir().join(file))
}

pub(crate) fn validator(format: &str) -> Validator {
    let schemas = ao_contract::schemas();
    let named = schemas.iter().find(|schema| schema.name == format).unwrap();
    jsonschema::validator_for(&named.schema).unwrap()
}

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

fn load(path: &Path) -> Sample {
    let file = path.file_name().unwrap().to_str().unwrap().to_owned();
    let format = file.split('.').next().unwrap().to_owned();
    let value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    Sample { file, format, value }
}
