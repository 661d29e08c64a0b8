//! Every part of every sample, replaced by every kind of value.
//!
//! Two promises hold for all of it: what a schema accepts its reader accepts too, and what a reader
//! accepts it does not lose.

use ao_contract::check;
use serde_json::{Value, json};

use crate::samples;

fn replacements() -> [Value; 11] {
    [
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::from(u32::MAX) + 1),
        json!(1e300),
        json!(""),
        json!("some word"),
        json!([]),
        json!({}),
    ]
}

#[test]
fn a_reader_accepts_what_its_schema_accepts_and_loses_nothing() {
    for sample in samples::all() {
        let validator = samples::validator(&sample.format);
        for mutated in mutations(&sample.value) {
            match check(&sample.format, &mutated) {
                Ok(written) => assert_kept(&sample.file, &mutated, &written),
                Err(error) => {
                    assert!(!validator.is_valid(&mutated), "{}: {error}\n{mutated}", sample.file);
                }
            }
        }
    }
}

fn mutations(sample: &Value) -> impl Iterator<Item = Value> {
    let mut pointers = Vec::new();
    collect_pointers(String::new(), sample, &mut pointers);
    pointers.into_iter().flat_map(move |pointer| mutations_at(sample, &pointer))
}

fn mutations_at(sample: &Value, pointer: &str) -> Vec<Value> {
    let replaced = replacements().into_iter().map(|new| {
        let mut mutated = sample.clone();
        *mutated.pointer_mut(pointer).unwrap() = new;
        mutated
    });
    replaced.chain(removed(sample, pointer)).collect()
}

fn removed(sample: &Value, pointer: &str) -> Option<Value> {
    let (parent, key) = pointer.rsplit_once('/')?;
    let mut mutated = sample.clone();
    let key = key.replace("~1", "/").replace("~0", "~");
    mutated.pointer_mut(parent)?.as_object_mut()?.shift_remove(&key)?;
    Some(mutated)
}

fn collect_pointers(at: String, value: &Value, pointers: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect_pointers(format!("{at}/{key}"), value, pointers);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect_pointers(format!("{at}/{index}"), value, pointers);
            }
        }
        _ => {}
    }
    pointers.push(at);
}

/// A null or an empty list may become an absent field, and an absent field a default; so may an empty
/// word of the configuration, which says nothing. Nothing else may change.
fn assert_kept(file: &str, read: &Value, written: &Value) {
    match (read, written) {
        (Value::Null, _) => {}
        (Value::Array(read), Value::Null) if read.is_empty() => {}
        (Value::String(read), Value::Null) if read.is_empty() && file.starts_with("config.") => {}
        (Value::Object(read), Value::Object(written)) => {
            for (key, value) in read {
                assert_kept(
                    &format!("{file}.{key}"),
                    value,
                    written.get(key).unwrap_or(&Value::Null),
                );
            }
        }
        (Value::Array(read), Value::Array(written)) => {
            assert_eq!(read.len(), written.len(), "{file}");
            read.iter().zip(written).for_each(|(read, written)| assert_kept(file, read, written));
        }
        _ => assert_eq!(read, written, "{file}"),
    }
}
