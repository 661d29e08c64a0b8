//! What ran: the steps, the iterations, and what each changed.

use ao_contract::{Iteration, IterationStatus, Step, StepStatus};

use super::block::{Block, Item, Line, code, first, more, strong, text, words};
use super::changes;
use super::facts::{Facts, is_committed, status_name, step_status_name};
use super::say;

const STEPS_MAX: usize = 100;
const ITERATIONS_MAX: usize = 50;
const ARTIFACTS_MAX: usize = 40;

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let parts = [steps(facts), results(facts), iterations(facts), changes(facts), files(facts)];
    let told: Vec<Block> = parts.into_iter().flatten().collect();
    if told.is_empty() { told } else { [vec![Block::Heading("What ran")], told].concat() }
}

fn steps(facts: &Facts<'_>) -> Vec<Block> {
    let (kept, left) = first(&facts.summary.steps, STEPS_MAX);
    if kept.is_empty() {
        return Vec::new();
    }
    let row = |step: &Step| {
        let status = match step.status {
            StepStatus::Pending if !facts.is_running() => "never ran",
            status => step_status_name(status),
        };
        let note = step.note.as_deref().unwrap_or_default();
        vec![vec![code(&step.name.to_string())], vec![words(status)], vec![text(note)]]
    };
    let rows = kept.iter().map(row).collect();
    let table = Block::Table { head: vec!["step", "status", "note"], rows };
    [Some(table), more(left, "steps").map(Block::Paragraph)].into_iter().flatten().collect()
}

/// What two of the steps found, as far as it is numbers.
fn results(facts: &Facts<'_>) -> Vec<Block> {
    let parts =
        [("Close-loop:", &facts.summary.close_loop), ("Briefing:", &facts.summary.briefing)];
    let told = parts.iter().filter_map(|(name, record)| {
        let counts = changes::counts(record.as_ref()?);
        let told =
            if counts.is_empty() { "nothing to count".to_owned() } else { counts.join(", ") };
        Some(Item::from(vec![strong(name), words(&format!(" {told}"))]))
    });
    let told: Vec<Item> = told.collect();
    if told.is_empty() { Vec::new() } else { vec![Block::List(told)] }
}

fn iterations(facts: &Facts<'_>) -> Vec<Block> {
    let (kept, left) = first(facts.iterations(), ITERATIONS_MAX);
    if kept.is_empty() {
        return Vec::new();
    }
    let composite = |fitness: &ao_contract::Fitness| {
        fitness.number("composite").map_or_else(|| "-".to_owned(), say::number)
    };
    let row = |one: &Iteration| -> Vec<Line> {
        let kept = match is_committed(one) {
            true if changes::is_idle(one) => "no change",
            true => "yes",
            // Older histories also called so what had been committed before.
            false if one.status == IterationStatus::RolledBack => "not said",
            false => "no",
        };
        let cells = [
            one.index.to_string(),
            status_name(one.status).to_owned(),
            kept.to_owned(),
            say::safe(&one.duration),
            composite(&one.fitness_before),
            composite(&one.fitness_after),
            say::change(one.fitness_delta.number()),
        ];
        cells.iter().map(|cell| vec![words(cell)]).collect()
    };
    let rows = kept.iter().map(row).collect();
    let head = vec!["iteration", "status", "kept", "took", "before", "after", "change"];
    let table = Block::Table { head, rows };
    [Some(table), more(left, "iterations").map(Block::Paragraph)].into_iter().flatten().collect()
}

/// What each iteration did, and how to see and undo it.
fn changes(facts: &Facts<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for one in first(facts.iterations(), ITERATIONS_MAX).0 {
        let mut items = changes::told(one);
        for reason in one.error.iter().map(String::as_str) {
            items.push(vec![strong("why it ended so:"), words(" "), text(reason)].into());
        }
        if !one.degraded.is_empty() {
            let parts: Vec<String> = one.degraded.iter().map(|part| say::safe(part)).collect();
            items.push(vec![strong("degraded:"), words(&format!(" {}", parts.join(", ")))].into());
        }
        if items.is_empty() {
            items.push(Item::from(vec![words("nothing was taken in and nothing changed")]));
        }
        blocks.push(Block::Sub(vec![words(&format!("Iteration {}", one.index))]));
        blocks.push(Block::List(items));
        if let Some(commit) = changes::commit(one) {
            let id = say::safe_code(&commit);
            let commands = [format!("ao tree show {id}"), format!("ao tree undo {id}")];
            blocks.push(Block::Commands(commands.to_vec()));
        }
    }
    blocks
}

fn files(facts: &Facts<'_>) -> Vec<Block> {
    let all: Vec<(&String, &String)> = facts.summary.artifacts.iter().collect();
    let (kept, left) = first(&all, ARTIFACTS_MAX);
    if kept.is_empty() {
        return Vec::new();
    }
    let item =
        |(name, path): &(&String, &String)| Item::from(vec![text(name), words(": "), code(path)]);
    let mut items: Vec<Item> = kept.iter().map(item).collect();
    items.extend(more(left, "files").map(Item::from));
    vec![Block::Sub(vec![words("Files")]), Block::List(items)]
}
