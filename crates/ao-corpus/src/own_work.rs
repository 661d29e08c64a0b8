//! Items of the work queue that a night put there.

use std::borrow::Cow;

use serde_json::Value;

/// What such an item says of its source; what its packet came from follows.
pub const OWN_SOURCE: &str = "ao-overnight:";
/// The operator asked for it, and the night only wrote it down.
const ASKED: &str = "operator-queue";

/// Whether a night wrote an item with this source: its fields are the night's to keep up to date.
pub fn is_night_item(source: &str) -> bool {
    source.starts_with(OWN_SOURCE)
}

/// Whether an item with this source is a night's own: what it is about is seen anew, or it is no longer so.
pub fn is_own_work(source: &str) -> bool {
    source.strip_prefix(OWN_SOURCE).is_some_and(|from| from != ASKED)
}

/// The work queue without a night's own items: that a night asks what becomes of an entry must not keep the entry.
/// Lines that cannot be read stay as they are.
pub(crate) fn without_own_work(queue: &str) -> Cow<'_, str> {
    if !queue.contains(OWN_SOURCE) {
        return Cow::Borrowed(queue);
    }
    let lines: Vec<Cow<'_, str>> = queue.lines().map(without_own_items).collect();
    Cow::Owned(lines.join("\n"))
}

fn without_own_items(line: &str) -> Cow<'_, str> {
    if !line.contains(OWN_SOURCE) {
        return Cow::Borrowed(line);
    }
    let Ok(mut batch) = serde_json::from_str::<Value>(line) else { return Cow::Borrowed(line) };
    let Some(Value::Array(items)) = batch.get_mut("items") else { return Cow::Borrowed(line) };
    let is_own = |item: &Value| item["source"].as_str().is_some_and(is_own_work);
    items.retain(|item| !is_own(item));
    Cow::Owned(batch.to_string())
}
