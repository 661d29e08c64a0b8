//! The summary as it is written before anything is done.

use std::collections::BTreeMap;
use std::path::Path;

use ao_contract::{
    Extra, KeepAwakeMode, RunStatus, Runtime, Step, StepName, StepStatus, Summary, WarnOnlyBudget,
    format_duration,
};
use serde_json::json;

use crate::awake::Wish;
use crate::council::Council;
use crate::output::{LOG, Output};
use crate::settings::{Gate, LongHaul, Mode, Settings};

const MODE: &str = "dream.local-bedtime";
const WARN_ONLY: &str = "warn_only";

pub(super) fn planned(
    settings: &Settings,
    root: &Path,
    output: &Output,
    (run_id, now): (&str, String),
    budget: &WarnOnlyBudget,
    recovered: &[String],
) -> Summary {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let state = root.join(".agents/overnight");
    let is_dry = settings.mode == Mode::DryRun;
    let mut extra = Extra::new();
    if !recovered.is_empty() {
        extra.insert("recovered".into(), json!(recovered));
    }
    let is_warning = settings.gate == Gate::WarnOnly && budget.remaining > 0;
    extra.insert(WARN_ONLY.into(), is_warning.into());
    // What is measured is the tree before and after. Somebody who reads several subpaths without a
    // lock may meet one of each for an instant; such a mix is not measured.
    extra.insert("subpath_mixes_checked".into(), false.into());
    Summary {
        schema_version: 1,
        mode: MODE.into(),
        run_id: run_id.to_owned(),
        goal: settings.goal.clone(),
        repo_root: text(root),
        output_dir: text(&output.told),
        status: RunStatus::Planned,
        dry_run: is_dry,
        started_at: now.clone(),
        finished_at: now,
        duration: format_duration(std::time::Duration::ZERO),
        runtime: Runtime {
            keep_awake: settings.keep_awake == Wish::On,
            keep_awake_mode: KeepAwakeMode::Disabled.into(),
            keep_awake_note: None,
            requested_timeout: settings.requested_timeout.clone(),
            effective_timeout: format_duration(settings.run_timeout),
            lock_path: text(&state.join("run.lock")),
            log_path: output.told_path(LOG),
            process_contract_doc: text(&state.join("docs/run.md")),
            report_contract_doc: text(&state.join("docs/report.md")),
            extra: Extra::new(),
        },
        steps: steps(settings),
        artifacts: BTreeMap::new(),
        recommended: Vec::new(),
        next_action: String::new(),
        close_loop: None,
        metrics_health: None,
        retrieval_live: None,
        briefing: None,
        council: None,
        dreamscape: None,
        contradictions: None,
        questions: None,
        degraded: None,
        yields: None,
        long_haul: None,
        morning_packets: None,
        iterations: None,
        fitness_delta: None,
        plateau_reason: None,
        regression_reason: None,
        warn_only_budget_initial: Some(budget.initial_budget),
        warn_only_remaining: Some(budget.remaining),
        measure_failure_halt: None,
        budget_exhausted: None,
        failure_reason: None,
        extra,
    }
}

/// Of a run that another process began: it keeps its beginning, and says when it was gone on with.
pub(super) fn go_on(summary: &mut Summary, before: &Summary) {
    const RESUMED: &str = "resumed_at";
    let mut times = match before.extra.get(RESUMED) {
        Some(serde_json::Value::Array(times)) => times.clone(),
        _ => Vec::new(),
    };
    times.push(summary.started_at.clone().into());
    summary.extra.insert(RESUMED.into(), times.into());
    summary.started_at.clone_from(&before.started_at);
    // Whether rescues could be spent is true of the whole run.
    if before.extra.get(WARN_ONLY).and_then(serde_json::Value::as_bool) == Some(true) {
        summary.extra.insert(WARN_ONLY.into(), true.into());
    }
}

fn steps(settings: &Settings) -> Vec<Step> {
    let brief = format!("ao knowledge brief --goal {} --json", quoted(&settings.goal));
    let mut steps = vec![
        (StepName::CloseLoop, Some("ao flywheel close-loop --threshold 24h --json".to_owned())),
        (StepName::DefragPreview, Some("ao --dry-run --json defrag".to_owned())),
        (StepName::MetricsHealth, Some("ao metrics health --json".to_owned())),
        (StepName::RetrievalLive, Some("ao retrieval-bench --live --json".to_owned())),
    ];
    if !settings.goal.is_empty() {
        steps.push((StepName::KnowledgeBrief, Some(brief)));
    }
    if settings.long_haul != LongHaul::Off {
        steps.push((StepName::KnowledgeBriefFallback, None));
        steps.push((StepName::PacketCorroboration, None));
    }
    steps.push((StepName::MorningPackets, None));
    steps.push((StepName::BeadSync, None));
    steps.into_iter().map(step).collect()
}

/// The steps of a council stand before the packets that they may say something about.
pub(super) fn add_council(summary: &mut Summary, council: &Council) {
    put_council(&mut summary.steps, council);
}

/// What comes after the loop, by name and in order.
pub(crate) fn step_names(settings: &Settings, council: Option<&Council>) -> Vec<String> {
    let mut steps = steps(settings);
    if let Some(council) = council {
        put_council(&mut steps, council);
    }
    steps.iter().map(|step| step.name.to_string()).collect()
}

fn put_council(steps: &mut Vec<Step>, council: &Council) {
    let runners = council.seats.iter().map(|seat| StepName::CouncilRunner(seat.slug.clone()));
    let names =
        [StepName::CouncilPacket].into_iter().chain(runners).chain([StepName::CouncilSynthesis]);
    let is_packets = |step: &Step| step.name == StepName::MorningPackets;
    let at = steps.iter().position(is_packets).unwrap_or(steps.len());
    let added: Vec<Step> = names.map(|name| step((name, None))).collect();
    steps.splice(at..at, added);
}

fn step((name, command): (StepName, Option<String>)) -> Step {
    let (status, extra) = (StepStatus::Pending, Extra::new());
    Step { name, status, command, artifact: None, note: None, extra }
}

/// For a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
