//! The summary as it is written before anything is done.

use std::collections::BTreeMap;
use std::path::Path;

use ao_contract::{
    ConfigWarning, Extra, KeepAwakeMode, RunStatus, Runtime, Step, StepName, StepStatus, Summary,
    WarnOnlyBudget, format_duration,
};
use serde_json::json;

use crate::awake::Wish;
use crate::council::Council;
use crate::output::{CONTRACT, LOG, Output};
use crate::settings::{Gate, LongHaul, Mode, Settings};

const MODE: &str = "dream.local-bedtime";
const WARN_ONLY: &str = "warn_only";

pub(super) fn planned(
    settings: &Settings,
    root: &Path,
    output: &Output,
    (run_id, now): (&str, String),
    budget: &WarnOnlyBudget,
    (recovered, left_alone): (&[String], &[String]),
) -> Summary {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let state = root.join(".agents/overnight");
    let is_dry = settings.mode == Mode::DryRun;
    let is_left_out = ao_mutant::active("REP-04/dry-run-names-what-it-did-not-write");
    let is_inside = is_dry && !is_left_out;
    let docs = if is_inside { output.told.join(CONTRACT) } else { state.join("docs") };
    let is_astray = ao_mutant::active("REP-04/document-is-not-there");
    let process = if is_astray { "process.md" } else { "run.md" };
    let is_own_lock = ao_mutant::active("REP-04/lock-of-the-report");
    let locks = if is_own_lock { &output.told } else { &state };
    let mut extra = Extra::new();
    if !recovered.is_empty() {
        extra.insert("recovered".into(), json!(recovered));
    }
    if !left_alone.is_empty() {
        extra.insert("left_alone".into(), left_alone.to_vec().into());
    }
    let is_warning = settings.gate == Gate::WarnOnly && budget.remaining > 0;
    extra.insert(WARN_ONLY.into(), is_warning.into());
    // What is measured is the tree before and after. Somebody who reads several subpaths without a
    // lock may meet one of each for an instant; such a mix is not measured.
    extra.insert("subpath_mixes_checked".into(), false.into());
    Summary {
        schema_version: 1 + u32::from(ao_mutant::active("REP-07/begins-as-2")),
        mode: MODE.into(),
        run_id: run_id.to_owned(),
        goal: goal(settings),
        repo_root: text(root),
        output_dir: text(&output.told),
        status: if ao_mutant::active("REP-03/begins-as-failed") {
            RunStatus::Failed
        } else {
            RunStatus::Planned
        },
        dry_run: is_dry,
        started_at: now.clone(),
        finished_at: Some(now)
            .filter(|_| !ao_mutant::active("REP-02/planned-has-no-end"))
            .unwrap_or_default(),
        duration: format_duration(std::time::Duration::ZERO),
        runtime: Runtime {
            keep_awake: settings.keep_awake == Wish::On,
            keep_awake_mode: KeepAwakeMode::Disabled.into(),
            keep_awake_note: None,
            requested_timeout: settings.requested_timeout.clone(),
            effective_timeout: format_duration(settings.run_timeout),
            lock_path: text(&locks.join("run.lock")),
            log_path: output.told_path(LOG),
            process_contract_doc: text(&docs.join(process)),
            report_contract_doc: text(&docs.join("report.md")),
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
        config_warnings: warnings(settings),
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

/// What the run is for; empty when nothing was said.
fn goal(settings: &Settings) -> String {
    match settings.goal.as_str() {
        "" if ao_mutant::active("REP-02/no-goal-is-a-word") => "none".into(),
        goal => goal.to_owned(),
    }
}

/// What the configuration says without effect, where it does.
fn warnings(settings: &Settings) -> Option<Vec<ConfigWarning>> {
    let warnings = settings.config_warnings.clone();
    (!warnings.is_empty() && !ao_mutant::active("RUN-46/not-in-the-report")).then_some(warnings)
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
    let is_bare = ao_mutant::active("REP-05/command-does-not-quote");
    let goal = if is_bare { settings.goal.clone() } else { quoted(&settings.goal) };
    let brief = format!("ao knowledge brief --goal {goal} --json");
    let wait = if settings.promote_after.is_zero() {
        "0h".to_owned()
    } else {
        format_duration(settings.promote_after)
    };
    let mut steps = vec![
        (StepName::CloseLoop, Some(format!("ao flywheel close-loop --threshold {wait} --json"))),
        (StepName::DefragPreview, Some("ao --dry-run --json defrag".to_owned())),
        (StepName::MetricsHealth, Some("ao metrics health --json".to_owned())),
        (StepName::RetrievalLive, Some("ao retrieval-bench --live --json".to_owned())),
    ];
    if ao_mutant::active("RUN-19/defrag-after-health") {
        steps.swap(1, 2);
    }
    if !settings.goal.is_empty() || ao_mutant::active("RUN-19/brief-without-a-goal") {
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
