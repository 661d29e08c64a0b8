//! No line panics a reader; a learning in JSON is edited without touching its neighbours.

#![no_main]

use ao_contract::{Citation, Cycle, NextWork};
use ao_corpus::{Document, Form};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|byte| *byte == b'\n') {
        read::<Citation>(line);
        read::<NextWork>(line);
        read::<Cycle>(line);
    }
    let Ok(document) = Document::parse(Form::JsonLine, bytes.to_vec()) else { return };
    assert_eq!(document.bytes(), bytes);
    let edited = document.draft().set("utility", 0.25).finish().expect("JSON can always be edited");
    assert_eq!(edited.fields().get("utility"), Some(&Value::from(0.25)));
    let rest =
        |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n').map(|at| bytes[at..].to_vec());
    assert_eq!(rest(edited.bytes()), rest(bytes));
    let less = edited.draft().remove("utility").finish().expect("JSON can always be edited");
    let fields = document.fields();
    let was = fields.iter().filter(|(key, _)| *key != "utility");
    assert!(less.fields().iter().eq(was));
});

/// What is read is written back so that it reads the same.
fn read<T: serde::de::DeserializeOwned + serde::Serialize + PartialEq + std::fmt::Debug>(
    line: &[u8],
) {
    let Ok(value) = serde_json::from_slice::<T>(line) else { return };
    let text = serde_json::to_string(&value).expect("what was read can be written");
    let again: T = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(value, again);
}
