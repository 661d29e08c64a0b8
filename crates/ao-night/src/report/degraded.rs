//! What degraded, failed or was not done.

use ao_contract::StepStatus;

use super::block::{Block, Item, Line, code, first, more, strong, text, words};
use super::facts::{Facts, status_name};

const LINES_MAX: usize = 60;

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let mut lines: Vec<Line> = Vec::new();
    let said = facts.summary.degraded.as_deref().unwrap_or_default();
    lines.extend(said.iter().map(|one| vec![text(one)]));
    for status in
        [StepStatus::Failed, StepStatus::SoftFail, StepStatus::Pending, StepStatus::Skipped]
    {
        if status == StepStatus::Pending && facts.is_running() {
            continue;
        }
        for step in facts.steps(status) {
            let name = step.name.to_string();
            let is_said = said.iter().any(|one| one.starts_with(&name));
            if is_said && status == StepStatus::SoftFail {
                continue;
            }
            let how = match status {
                StepStatus::Failed => "failed",
                StepStatus::SoftFail => "failed, and the run went on",
                StepStatus::Skipped => "skipped",
                StepStatus::Pending | StepStatus::Done => "never ran",
            };
            let mut line =
                vec![strong("Step"), words(" "), code(&name), words(&format!(": {how}"))];
            if let Some(note) = step.note.as_deref().filter(|note| !note.trim().is_empty()) {
                line.extend([words(" ("), text(note), words(")")]);
            }
            lines.push(line);
        }
    }
    for one in facts.iterations() {
        let is_bad = one.error.is_some()
            || !one.degraded.is_empty()
            || one.status != ao_contract::IterationStatus::Done;
        if is_bad {
            let mut line = vec![
                strong(&format!("Iteration {}:", one.index)),
                words(&format!(" {}", status_name(one.status))),
            ];
            if let Some(error) = &one.error {
                line.extend([words(" ("), text(error), words(")")]);
            }
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return Vec::new();
    }
    let (kept, left) = first(&lines, LINES_MAX);
    let mut items: Vec<Item> = kept.iter().cloned().map(Item::from).collect();
    items.extend(more(left, "lines of this kind").map(Item::from));
    vec![Block::Heading("Degraded"), Block::List(items)]
}
