//! `ao overnight curator status`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_night::curator::{self, Depth, Health, Pulse, Settings, Worker};
use ao_tree::shown;
use serde_json::{Value, json};

use super::{engine, settings, surroundings};
use crate::cli::Global;
use crate::clock;
use crate::commands::runners::list::{self, Row};
use crate::failure::Failure;
use crate::printer::{BAD, DOUBT, GOOD, Printer, paint};
use crate::repo::Repo;

pub(super) fn run(global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let settings::Resolved { settings, left_out } = settings::resolve(&repo)?;
    let health = engine::health(&settings.url);
    let worker = settings.worker_dir.as_deref().and_then(Worker::at);
    let depth = worker
        .as_ref()
        .map(|worker| curator::depth(worker, clock::timestamp()))
        .transpose()
        .map_err(|error| super::failure::of(&error))?;
    let pulse = worker.as_ref().map_or(Pulse::None, curator::pulse);
    let pending =
        worker.as_ref().map(|worker| curator::pending_events(worker).map(|all| all.len()));
    let runners = list::rows(global, printer)?;
    let bridges = surroundings::bridges(&repo);
    let fields = json!({
        "is_configured": settings.is_configured(),
        "is_enabled": settings.is_enabled,
        "settings": said(&settings),
        "left_out": left_out,
        "engine": told(&health),
        "model": {
            "name": settings.model,
            "is_available": match health.has_model(settings.model.as_deref()) {
                Some(_) if ao_mutant::active("CUR-02/every-model-is-there") => Some(true),
                is_available => is_available,
            },
        },
        "queue": depth.map(queue),
        "worker": status(&pulse),
        "pending_events": pending.and_then(Result::ok),
        "runners": runners.iter().map(Row::fields).collect::<Vec<_>>(),
        "bridge": {
            "is_supported": bridges.iter().any(|bridge| bridge.path.is_some())
                || ao_mutant::active("CUR-08/bridge-is-always-there"),
            "commands": bridges,
        },
    });
    let mut text = text(&settings, &health, depth, &runners, &fields);
    for left in left_out.iter().filter(|_| !ao_mutant::active("CUR-02/refusal-unsaid")) {
        let _ = writeln!(text, "{}  {left}; {}", paint(DOUBT, "left out"), settings::REMEDY);
    }
    printer.answer("overnight curator status", fields, &text);
    Ok(Exit::Done)
}

fn said(settings: &Settings) -> Value {
    let allowed: Vec<&str> = settings.allowed.iter().map(|kind| kind.name()).collect();
    json!({
        "engine": settings.engine,
        "ollama_url": settings.url,
        "model": settings.model,
        "worker_dir": settings.worker_dir,
        "vault_dir": settings.vault_dir,
        "hourly_cap": settings.hourly_cap,
        "allowed_job_kinds": allowed,
    })
}

fn told(health: &Health) -> Value {
    match health {
        Health::Answers { models } => json!({ "is_healthy": true, "models": models }),
        Health::BadUrl(why) | Health::Silent(why) => {
            json!({ "is_healthy": false, "why": why, "models": [] })
        }
    }
}

fn queue(depth: Depth) -> Value {
    let Depth { queued, processing, done, failed, within_hour } = depth;
    json!({
        "depth": queued, "processing": processing, "done": done, "failed": failed,
        "queued_within_hour": within_hour,
    })
}

fn status(pulse: &Pulse) -> Value {
    match pulse {
        Pulse::None => json!({ "state": "none", "status": null }),
        Pulse::Unreadable(why) => json!({ "state": "unreadable", "why": why, "status": null }),
        Pulse::Ended(status) => json!({ "state": "ended", "status": status }),
        Pulse::Alive(status) => json!({ "state": "alive", "status": status }),
        Pulse::Stale { status, .. } => json!({ "state": "stale", "status": status }),
    }
}

fn text(
    settings: &Settings,
    health: &Health,
    depth: Option<Depth>,
    runners: &[Row],
    fields: &Value,
) -> String {
    let mut text = String::new();
    let state = match (settings.is_configured(), settings.is_enabled) {
        (_, false) => paint(DOUBT, "switched off"),
        (false, true) => paint(DOUBT, "not configured"),
        (true, true) => paint(GOOD, "configured"),
    };
    let _ = writeln!(text, "curator   {state}");
    let answers = match health {
        Health::Answers { models } => {
            format!("{} with {} models", paint(GOOD, "answers"), models.len())
        }
        Health::BadUrl(why) | Health::Silent(why) => {
            format!("{}: {}", paint(BAD, "does not answer"), shown(why))
        }
    };
    let _ = writeln!(
        text,
        "engine    {} at {} {answers}",
        shown(&settings.engine),
        shown(&settings.url)
    );
    let model = match (&settings.model, health.has_model(settings.model.as_deref())) {
        (None, _) => "none is configured".to_owned(),
        (Some(model), Some(true)) => format!("{} {}", shown(model), paint(GOOD, "is there")),
        (Some(model), Some(false)) => format!("{} {}", shown(model), paint(BAD, "is not there")),
        (Some(model), None) => shown(model),
    };
    let _ = writeln!(text, "model     {model}");
    if let Some(Depth { queued, processing, done, failed, within_hour }) = depth {
        let cap = settings.hourly_cap;
        let _ = writeln!(
            text,
            "queue     {queued} wait, {processing} in work, {done} done, {failed} failed; {within_hour} of {cap} this hour"
        );
    }
    let _ = writeln!(text, "worker    {}", fields["worker"]["state"].as_str().unwrap_or_default());
    let usable: Vec<String> = runners
        .iter()
        .filter(|runner| runner.is_usable == Some(true))
        .map(|runner| shown(&runner.name))
        .collect();
    let usable = if usable.is_empty() { "none usable".to_owned() } else { usable.join(", ") };
    let _ = writeln!(text, "runners   {usable}; `ao runners` tells of each");
    let bridge = fields["bridge"]["is_supported"] == true;
    let _ = writeln!(text, "bridge    {}", if bridge { "found" } else { "unsupported" });
    text
}
