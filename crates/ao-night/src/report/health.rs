//! Terrain and health: how the corpus is doing, and what the night did to it.

use serde_json::Value;

use super::block::{Block, Item, Line, code, strong, text, words};
use super::facts::{Facts, is_committed};
use super::say;

/// The numbers of the health, and what each means.
const NUMBERS: [(&str, &str); 6] = [
    ("sigma", "share of retrievable entries cited in the last 10 sessions"),
    ("rho", "share of those cited with evidence"),
    ("delta", "mean age in days"),
    ("retrievable", "entries that can be retrieved"),
    ("cited", "of them cited in the last 10 sessions"),
    ("sessions", "sessions that the citation log knows"),
];
const RETRIEVAL_MAX: usize = 12;
const METRICS_MAX: usize = 40;

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let parts = [fitness(facts), numbers(facts), retrieval(facts)];
    let mut told: Vec<Block> = parts.into_iter().flatten().collect();
    told.extend(super::questions::told(facts));
    if told.is_empty() { told } else { [vec![Block::Heading("Terrain and health")], told].concat() }
}

/// Every metric: what it is, how it moved, and how far it may fall.
fn fitness(facts: &Facts<'_>) -> Option<Block> {
    let map = |pointer: &str| facts.at(pointer).and_then(Value::as_object);
    let (now, floors) =
        (map("/metrics_health/fitness/metrics"), map("/metrics_health/fitness/floors"));
    let moved = map("/fitness_delta");
    let absent = map("/metrics_health/fitness/absent");
    let composite = facts.at("/metrics_health/fitness/composite");
    let mut names: Vec<&String> =
        [now, moved, absent].into_iter().flatten().flat_map(serde_json::Map::keys).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| *name != "composite");
    let number = |value: Option<&Value>| match value {
        Some(Value::Number(value)) => say::number(value),
        _ => "-".to_owned(),
    };
    let change = |name: &str| match moved.and_then(|moved| moved.get(name)) {
        Some(Value::Number(value)) => say::change(value),
        _ => "-".to_owned(),
    };
    let last = |name: &str| {
        let mut kept = facts.iterations().iter().rev().filter(|one| is_committed(one));
        kept.find_map(|one| one.fitness_after.number(name)).cloned().map(Value::Number)
    };
    let cell = |text: String| vec![words(&text)];
    let mut rows: Vec<Vec<Line>> = Vec::new();
    let composite = composite.cloned().or_else(|| last("composite"));
    if composite.is_some() || moved.is_some_and(|moved| moved.contains_key("composite")) {
        let row = [number(composite.as_ref()), change("composite"), "-".to_owned(), String::new()];
        rows.push([vec![vec![strong("composite")]], row.map(cell).to_vec()].concat());
    }
    for name in names.into_iter().take(METRICS_MAX) {
        let value = now.and_then(|now| now.get(name)).cloned().or_else(|| last(name));
        let why = absent.and_then(|absent| absent.get(name)?.as_str());
        let why = why.map_or_else(Vec::new, |why| vec![words("not known: "), text(why)]);
        let floor = number(floors.and_then(|floors| floors.get(name)));
        let mut row = vec![vec![text(name)]];
        row.extend([number(value.as_ref()), change(name), floor].map(cell));
        row.push(why);
        rows.push(row);
    }
    let head = vec!["metric", "now", "change", "may fall by", "note"];
    (!rows.is_empty()).then_some(Block::Table { head, rows })
}

fn numbers(facts: &Facts<'_>) -> Option<Block> {
    let health = facts.summary.metrics_health.as_ref()?;
    let absent = |name: &str| {
        let why = health.get("absent").and_then(|absent| absent.get(name)?.as_str());
        why.map(|why| format!("not known: {}", say::safe(why)))
    };
    let mut items = Vec::new();
    for (name, meaning) in NUMBERS {
        let value = health.get(name).and_then(say::scalar).or_else(|| absent(name));
        if let Some(value) = value {
            let line = vec![strong(&format!("{name}:")), words(&format!(" {value} ({meaning})"))];
            items.push(Item::from(line));
        }
    }
    let escape = match health.get("escape_velocity") {
        Some(Value::Bool(true)) => {
            Some("reached (sigma × rho is more than delta / 100)".to_owned())
        }
        Some(Value::Bool(false)) => {
            Some("not reached (sigma × rho is at most delta / 100)".to_owned())
        }
        _ => absent("escape_velocity"),
    };
    if let Some(escape) = escape {
        items.push(vec![strong("escape velocity:"), words(&format!(" {escape}"))].into());
    }
    if let Some(stock) = health.get("knowledge_stock").and_then(Value::as_object) {
        let kinds = stock.iter().filter_map(|(kind, count)| {
            Some(format!("{} {}", say::scalar(count)?, say::key(kind)))
        });
        let kinds: Vec<String> = kinds.collect();
        if !kinds.is_empty() {
            items.push(vec![strong("stock:"), words(&format!(" {}", kinds.join(", ")))].into());
        }
    }
    (!items.is_empty()).then_some(Block::List(items))
}

/// The bench, as far as it is numbers.
fn retrieval(facts: &Facts<'_>) -> Option<Block> {
    let bench = facts.summary.retrieval_live.as_ref()?;
    let told =
        bench.iter().filter(|(name, _)| *name != "schema_version").filter_map(|(name, value)| {
            matches!(value, Value::Number(_))
                .then(|| Some(format!("{} {}", say::key(name), say::scalar(value)?)))?
        });
    let told: Vec<String> = told.take(RETRIEVAL_MAX).collect();
    let told = if told.is_empty() { "it was run".to_owned() } else { told.join(", ") };
    let mut line = vec![strong("Retrieval bench:"), words(&format!(" {told}"))];
    line.extend([words(" ("), code("ao retrieval-bench --live"), words(")")]);
    if let Some(why) = bench.get("citation_log_unread").and_then(Value::as_str) {
        line.extend([words("; without past questions: "), text(why)]);
    }
    Some(Block::Paragraph(line))
}
