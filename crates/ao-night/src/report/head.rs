//! The first lines: what state one wakes up to, and what the rest is worth.

use std::fmt::Write as _;

use ao_contract::{ConfigWarning, KeepAwakeMode, RunStatus, StepStatus};
use serde_json::Value;

use super::block::{Block, Item, Line, code, first, more, strong, text, words};
use super::changes::is_idle;
use super::facts::{Facts, Gate, is_committed};
use super::say;

/// So many settings without effect are named; the summary has all of them.
const WARNINGS_MAX: usize = 20;

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Title(vec![words(title(facts))])];
    blocks.extend(alerts(facts).into_iter().map(Block::Alert));
    blocks.push(Block::List(about(facts).into_iter().map(Item::from).collect()));
    blocks
}

fn title(facts: &Facts<'_>) -> &'static str {
    match facts.status() {
        RunStatus::Planned => "Overnight report: still running",
        RunStatus::DryRun => "Overnight report: dry run",
        RunStatus::Failed => "Overnight report: FAILED",
        RunStatus::Done if facts.summary.dry_run => "Overnight report: dry run",
        RunStatus::Done => "Overnight report: done",
    }
}

fn alerts(facts: &Facts<'_>) -> Vec<Line> {
    let summary = facts.summary;
    let mut alerts = Vec::new();
    match facts.status() {
        RunStatus::Failed => failed(facts, &mut alerts),
        RunStatus::Planned => alerts.push(vec![
            strong("The run is at work."),
            words(" What follows is what it has written so far."),
        ]),
        RunStatus::Done | RunStatus::DryRun => {}
    }
    if let Some(line) = gate(facts) {
        alerts.push(line);
    }
    if summary.dry_run || summary.status == RunStatus::DryRun {
        alerts.push(vec![strong("Dry run:"), words(" nothing was committed.")]);
    }
    if let Some(reason) = &summary.regression_reason {
        alerts.push(vec![strong("Halted on a regression:"), words(" "), text(reason)]);
    }
    if summary.measure_failure_halt == Some(true) {
        alerts.push(vec![
            strong("Halted:"),
            words(" the corpus could not be measured, three times in a row."),
        ]);
    }
    if summary.budget_exhausted == Some(true) {
        let budget = say::safe(&summary.runtime.effective_timeout);
        alerts.push(vec![
            strong("The time ended"),
            words(&format!(" before the work did (budget {budget}).")),
        ]);
    }
    if let Some(since) = facts.at("/unchanged_since/run_id").and_then(Value::as_str) {
        let day = facts.at("/unchanged_since/looked_at").and_then(Value::as_str);
        alerts.push(vec![
            strong("Nothing changed"),
            words(" since run "),
            code(since),
            words(&format!(
                " looked at the corpus ({}). It was not read again: its measures are those of that run, carried over. ",
                say::safe(day.unwrap_or("when is not said"))
            )),
            code("ao overnight start --full"),
            words(" makes all of them again."),
        ]);
    }
    for set in facts.texts("/clock") {
        alerts.push(vec![
            strong("The clock was"),
            words(" "),
            text(set),
            words(". Durations and the time budget go by one that cannot be set."),
        ]);
    }
    if let Some(why) = facts.at("/not_replayable").and_then(Value::as_str) {
        alerts.push(vec![strong("It cannot be replayed:"), words(" "), text(why)]);
    }
    alerts.extend(ineffective(facts));
    for recovered in facts.texts("/recovered") {
        alerts.push(vec![strong("Recovered:"), words(" "), text(recovered)]);
    }
    alerts.extend(left_alone(facts));
    let never: Vec<String> =
        facts.steps(StepStatus::Pending).map(|step| say::safe(&step.name.to_string())).collect();
    if !never.is_empty() && !facts.is_running() {
        alerts.push(vec![strong("Never ran:"), words(&format!(" {}.", never.join(", ")))]);
    }
    alerts
}

/// What no night changes, such as two names of one file.
fn left_alone(facts: &Facts<'_>) -> Vec<Line> {
    let all = facts.texts("/left_alone");
    let (kept, left) = first(&all, WARNINGS_MAX);
    let told = |one: &&str| vec![strong("Left alone:"), words(" "), text(one), words(".")];
    kept.iter().map(told).chain(more(left, "files left alone")).collect()
}

/// What the configuration says without effect: the night was not what its author meant it to be.
fn ineffective(facts: &Facts<'_>) -> Vec<Line> {
    let all = facts.summary.config_warnings.as_deref().unwrap_or_default();
    let (kept, left) = first(all, WARNINGS_MAX);
    let told = |one: &ConfigWarning| {
        let place = one.line.map_or_else(String::new, |line| format!(", line {line}"));
        let mut line = vec![
            strong("Setting without effect:"),
            words(" "),
            code(&one.key),
            words(" in "),
            code(&one.file),
            words(&format!("{place}: ")),
            text(&one.why),
        ];
        if let Some(nearest) = &one.nearest {
            line.extend([words("; the nearest known one is "), code(nearest)]);
        }
        line.push(words("."));
        line
    };
    kept.iter().map(told).chain(more(left, "settings without effect")).collect()
}

fn failed(facts: &Facts<'_>, alerts: &mut Vec<Line>) {
    let summary = facts.summary;
    let reason = match summary.failure_reason.as_deref().map(str::trim) {
        Some(reason) if !reason.is_empty() && !ao_mutant::active("REP-13/reason-is-not-said") => {
            text(reason)
        }
        _ => words("the summary gives no reason."),
    };
    alerts.push(vec![strong("The run failed:"), words(" "), reason]);
    let step = match facts.last_completed() {
        Some(step) if !ao_mutant::active("RUN-24/last-step-is-not-named") => {
            code(&step.name.to_string())
        }
        _ => words("none"),
    };
    alerts.push(vec![strong("Last completed step:"), words(" "), step]);
    if !ao_mutant::active("REP-13/log-is-not-named") {
        alerts.push(vec![strong("Log:"), words(" "), code(&summary.runtime.log_path)]);
    }
}

/// That the gate did not enforce stands among the first lines.
fn gate(facts: &Facts<'_>) -> Option<Line> {
    if facts.gate() != Gate::WarnOnly || ao_mutant::active("RUN-03/gate-is-silent") {
        return None;
    }
    let summary = facts.summary;
    let left = match (summary.warn_only_remaining, summary.warn_only_budget_initial) {
        (Some(left), Some(all)) => format!("; {left} of {all} rescues are left"),
        (Some(left), None) => format!("; {left} rescues are left"),
        (None, _) => String::new(),
    };
    let mut line = vec![
        strong("The gate did not enforce:"),
        words(&format!(" warn-only, so a regression is told and not refused{left}.")),
    ];
    for rescued in facts.texts("/rescues") {
        line.extend([words(" Let through: "), text(rescued), words(".")]);
    }
    Some(line)
}

/// What the run was.
fn about(facts: &Facts<'_>) -> Vec<Line> {
    let summary = facts.summary;
    let mut lines =
        vec![vec![strong("Run:"), words(" "), code(&summary.run_id), words(&when(facts))]];
    if !summary.goal.trim().is_empty() {
        lines.push(vec![strong("Goal:"), words(" "), text(&summary.goal)]);
    }
    lines.push(vec![strong("Repository:"), words(" "), code(&summary.repo_root)]);
    if let Some(line) = outcome(facts) {
        lines.push(line);
    }
    if let Some(reason) = &summary.plateau_reason {
        lines.push(vec![strong("Halted:"), words(" "), text(reason)]);
    }
    match facts.gate() {
        Gate::Enforced => {
            let mixes = match facts.at("/subpath_mixes_checked").and_then(Value::as_bool) {
                Some(true) => "; mixes of old and new subpaths were checked too",
                Some(false) => "; mixes of old and new subpaths were not checked",
                None => "",
            };
            let told = format!(" strict; a regression is rolled back{mixes}");
            lines.push(vec![strong("Gate:"), words(&told)]);
        }
        Gate::Unsaid if summary.iterations.is_some() => {
            lines.push(vec![
                strong("Gate:"),
                words(" the summary does not say whether it was enforced"),
            ]);
        }
        Gate::Unsaid | Gate::WarnOnly => {}
    }
    lines.push(budget(facts));
    lines.push(awake(facts));
    lines
}

fn when(facts: &Facts<'_>) -> String {
    let summary = facts.summary;
    let from = say::safe(&summary.started_at);
    if facts.is_running() {
        return format!(", begun {from}");
    }
    let (to, took) = (say::safe(&summary.finished_at), say::safe(&summary.duration));
    let took = if took.is_empty() { String::new() } else { format!(" ({took})") };
    if to.is_empty() { format!(", begun {from}{took}") } else { format!(", {from} to {to}{took}") }
}

fn outcome(facts: &Facts<'_>) -> Option<Line> {
    let iterations = facts.summary.iterations.as_ref()?;
    let committed = iterations.iter().filter(|one| is_committed(one) && !is_idle(one)).count();
    let plural = if iterations.len() == 1 { "iteration" } else { "iterations" };
    let mut told = format!(" {} {plural}, {committed} kept", iterations.len());
    if let Some(Value::Number(moved)) = facts.at("/fitness_delta/composite") {
        let _ = write!(told, "; composite fitness {}", say::change(moved));
    }
    Some(vec![strong("Outcome:"), words(&told)])
}

fn budget(facts: &Facts<'_>) -> Line {
    let runtime = &facts.summary.runtime;
    let (asked, held) =
        (say::safe(&runtime.requested_timeout), say::safe(&runtime.effective_timeout));
    let told =
        if asked == held { format!(" {held}") } else { format!(" {held} (asked for {asked})") };
    vec![strong("Time budget:"), words(&told)]
}

fn awake(facts: &Facts<'_>) -> Line {
    let runtime = &facts.summary.runtime;
    let told = match runtime.keep_awake_mode.known() {
        Some(KeepAwakeMode::Caffeinate) => "by caffeinate".to_owned(),
        Some(KeepAwakeMode::Inhibitor) => "by an inhibitor lock".to_owned(),
        Some(KeepAwakeMode::Disabled) => "no, it was switched off".to_owned(),
        Some(KeepAwakeMode::MissingCaffeinate) => "no: caffeinate was not found".to_owned(),
        Some(KeepAwakeMode::CaffeinateError) => "no: caffeinate failed".to_owned(),
        Some(KeepAwakeMode::Unsupported) => {
            "no: nothing here can hold the machine awake".to_owned()
        }
        None => match serde_json::to_value(&runtime.keep_awake_mode) {
            Ok(Value::String(mode)) if !mode.is_empty() => say::safe(&mode),
            _ => "not said".to_owned(),
        },
    };
    let mut line = vec![strong("Kept awake:"), words(&format!(" {told}"))];
    if let Some(note) = runtime.keep_awake_note.as_deref().filter(|note| !note.trim().is_empty()) {
        line.extend([words(" ("), text(note), words(")")]);
    }
    line
}
