//! What the council said.

use ao_contract::{RunnerReport, Synthesis};
use serde_json::Value;

use super::block::{Block, Item, Line, code, first, more, strong, text, words};
use super::facts::Facts;
use super::say;

const REPORTS_MAX: usize = 12;
const LINES_MAX: usize = 8;

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let heading = Block::Heading("Dream Council");
    match facts.summary.council() {
        None => Vec::new(),
        Some(Ok(synthesis)) => [vec![heading], told(&synthesis)].concat(),
        Some(Err(error)) => {
            let line = vec![
                words("Its record is not of a form that can be told in full ("),
                text(&error.to_string()),
                words("); it is in the summary under "),
                code("council"),
                words("."),
            ];
            let mut blocks = vec![heading, Block::Paragraph(line)];
            let first = facts.at("/council/recommended_first_action").and_then(Value::as_str);
            if let Some(first) = first.filter(|first| !first.trim().is_empty()) {
                blocks.push(Block::Paragraph(vec![strong("First move:"), words(" "), text(first)]));
            }
            blocks
        }
    }
}

fn told(synthesis: &Synthesis) -> Vec<Block> {
    let names = |runners: &[String]| {
        let names: Vec<String> = runners.iter().map(|runner| say::safe(runner)).collect();
        if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
    };
    let word = |value: Result<Value, _>| match value {
        Ok::<Value, serde_json::Error>(Value::String(word)) => word,
        _ => "nothing in common".to_owned(),
    };
    let mut items: Vec<Line> = vec![vec![
        strong("Asked:"),
        words(&format!(
            " {}; answered: {}; failed: {}",
            names(&synthesis.requested_runners),
            names(&synthesis.completed_runners),
            names(&synthesis.failed_runners)
        )),
    ]];
    if !synthesis.completed_runners.is_empty() {
        items.push(vec![
            strong("Recommends:"),
            words(&format!(
                " {} (by {})",
                word(serde_json::to_value(synthesis.consensus_kind)),
                word(serde_json::to_value(synthesis.consensus_policy))
            )),
        ]);
    }
    if !synthesis.recommended_first_action.trim().is_empty() {
        items.push(vec![
            strong("First move:"),
            words(" "),
            text(&synthesis.recommended_first_action),
        ]);
    }
    for (name, lines) in [
        ("Disagreement:", &synthesis.disagreements),
        ("Unconventional:", &synthesis.wildcard_ideas),
    ] {
        let (kept, left) = first(lines, LINES_MAX);
        items.extend(kept.iter().map(|line| vec![strong(name), words(" "), text(line)]));
        items.extend(more(left, "of these"));
    }
    let mut items: Vec<Item> = items.into_iter().map(Item::from).collect();
    let (reports, left) = first(&synthesis.reports, REPORTS_MAX);
    items.extend(reports.iter().map(report));
    items.extend(more(left, "answers").map(Item::from));
    vec![Block::List(items)]
}

fn report(report: &RunnerReport) -> Item {
    let line = vec![strong(&format!("{}:", report.runner)), words(" "), text(&report.headline)];
    let mut inner = vec![vec![words("first: "), text(&report.recommended_first_action)]];
    for (name, lines) in [("risk: ", &report.risks), ("chance: ", &report.opportunities)] {
        let (kept, left) = first(lines, LINES_MAX);
        inner.extend(kept.iter().map(|one| vec![words(name), text(one)]));
        inner.extend(more(left, "of these"));
    }
    Item { line, inner }
}
