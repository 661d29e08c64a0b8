//! No header panics, nothing is lost on the way through, and an edit changes only what it means.

#![no_main]

use ao_corpus::{Document, Form, sections};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = Document::parse(Form::Markdown, bytes.to_vec()) else { return };
    assert_eq!(document.bytes(), bytes);
    let _ = (document.title(), document.utility(), document.maturity(), document.confidence());
    let _ = (
        document.is_hidden(),
        document.is_resolved(),
        document.day("date"),
        sections(document.body()),
    );
    edit(&document, "utility", Value::from(0.25));
    edit(&document, "merged_from", Value::from(vec!["a: b", "2026-04-01-c", "no"]));
    edit(&document, "x_note", Value::from("it's \"quoted\" # and more"));
    let fields = document.fields();
    if let Some(key) = fields.keys().next() {
        edit(&document, key, Value::from("other"));
        let removed = document.draft().remove(key).finish();
        assert!(removed.is_err() || removed.is_ok_and(|less| !less.fields().contains_key(key)));
    }
});

fn edit(document: &Document, key: &str, value: Value) {
    match document.draft().set(key, value.clone()).finish() {
        Err(_) => {}
        Ok(edited) => {
            assert!(document.doubt().is_none(), "what is in doubt was edited");
            assert_eq!(edited.body(), document.body());
            assert_eq!(edited.fields().get(key), Some(&value));
            for (name, was) in document.fields().iter().filter(|(name, _)| *name != key) {
                assert_eq!(edited.fields().get(name), Some(was), "{name}");
            }
            let again = edited.draft().set(key, value).finish().map(|same| same.bytes().to_vec());
            assert_eq!(again.as_deref(), Ok(edited.bytes()));
        }
    }
}
