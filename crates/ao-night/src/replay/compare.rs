//! Two summaries side by side.

use serde_json::Value;

/// What a place has that does not have it.
const ABSENT: &str = "nothing";

/// One place in which two summaries differ.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// Such as `iterations[0].reduce.deduped`.
    pub path: String,
    pub then: String,
    pub now: String,
}

/// Every value that differs, in the order of the first summary.
pub fn compare(then: &Value, now: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    look(String::new(), Some(then), Some(now), &mut found);
    found
}

fn look(path: String, then: Option<&Value>, now: Option<&Value>, found: &mut Vec<Difference>) {
    match (then, now) {
        (Some(Value::Object(then)), Some(Value::Object(now))) => {
            for (key, value) in then {
                look(inner(&path, key), Some(value), now.get(key), found);
            }
            for (key, value) in now.iter().filter(|(key, _)| !then.contains_key(*key)) {
                look(inner(&path, key), None, Some(value), found);
            }
        }
        (Some(Value::Array(then)), Some(Value::Array(now))) => {
            for index in 0..then.len().max(now.len()) {
                look(format!("{path}[{index}]"), then.get(index), now.get(index), found);
            }
        }
        (then, now) if then == now => {}
        (then, now) => found.push(Difference { path, then: text(then), now: text(now) }),
    }
}

fn inner(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => ABSENT.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::compare;

    #[test]
    fn every_difference_is_named_and_nothing_else() {
        let then = json!({ "a": 1, "b": { "c": [1, 2, "x"] }, "gone": true, "same": { "d": [] } });
        let now = json!({ "a": 2, "b": { "c": [1, 3] }, "same": { "d": [] }, "new": null });
        let told: Vec<String> = compare(&then, &now)
            .into_iter()
            .map(|one| format!("{}: {} -> {}", one.path, one.then, one.now))
            .collect();
        let wanted = [
            "a: 1 -> 2",
            "b.c[1]: 2 -> 3",
            "b.c[2]: x -> nothing",
            "gone: true -> nothing",
            "new: nothing -> null",
        ];
        assert_eq!(told, wanted);
        assert!(compare(&then, &then).is_empty());
    }
}
