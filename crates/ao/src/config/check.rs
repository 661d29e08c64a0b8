//! Values of the right type that cannot be used all the same.

use std::time::Duration;

use ao_contract::{Config, Tier, format_duration};
use ao_night::Template;
use ao_night::curator::ENGINE;
use ao_night::settings::{PLATEAU_WINDOW, RUN_TIMEOUT_MAX};
use ao_night::setup::At;

/// When a night starts. Only a scheduler needs it.
pub(super) const SCHEDULE_AT: &str = "schedule_at";

/// A key, and why its value is of no use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnfitValue {
    pub(super) path: Vec<String>,
    pub(super) why: String,
}

impl UnfitValue {
    fn new(path: &[&str], why: impl Into<String>) -> Self {
        Self { path: path.iter().map(|part| (*part).to_owned()).collect(), why: why.into() }
    }
}

/// Why a run cannot have this time budget.
pub(crate) fn unfit_timeout(limit: Duration) -> Option<String> {
    let is_fit = !limit.is_zero() && limit <= RUN_TIMEOUT_MAX;
    (!is_fit).then(|| format!("must be over 0 and at most {}", format_duration(RUN_TIMEOUT_MAX)))
}

/// Why a change of fitness cannot be measured against this.
pub(crate) fn unfit_epsilon(value: f64) -> Option<&'static str> {
    let is_fit = value > 0.0 || ao_mutant::active("RUN-03/epsilon-may-be-zero") && value == 0.0;
    (!value.is_finite() || !is_fit).then_some("must be over 0")
}

/// The values of a layer that cannot be used.
pub(super) fn unusable(config: &Config) -> Vec<UnfitValue> {
    let mut found = dream(config);
    found.extend(runners(config).chain(guard(config)).chain(notify(config)).chain(trust(config)));
    found
}

/// What a relative path means depends on the repository that a command is run in.
fn trust(config: &Config) -> Option<UnfitValue> {
    let is_whole = |path: &str| path.starts_with('/') || path == "~" || path.starts_with("~/");
    let is_relative = |paths: &Vec<String>| paths.iter().any(|path| !is_whole(path));
    let is_unfit = config.trust.sources.as_ref().is_some_and(is_relative);
    is_unfit.then(|| UnfitValue::new(&["trust", "sources"], "must be absolute, or begin with ~/"))
}

fn dream(config: &Config) -> Vec<UnfitValue> {
    let dream = &config.dream;
    let at = dream.schedule_at.as_deref().and_then(|text| text.parse::<At>().err());
    let is_none = |limit: &&ao_contract::DurationText| limit.get().is_zero();
    let council = dream.council_runner_timeout.as_ref().filter(is_none);
    let epsilon = dream.plateau_epsilon.as_ref().and_then(|value| unfit_epsilon(value.get()));
    let window = dream.plateau_window.filter(|window| *window < PLATEAU_WINDOW);
    let no_room = dream.checkpoint_max_mb.filter(|most| *most == 0);
    let template = dream.morning_command.as_deref().map(Template::parse).and_then(Result::err);
    let found = [
        ("run_timeout", dream.run_timeout.as_ref().and_then(|limit| unfit_timeout(limit.get()))),
        (SCHEDULE_AT, at.filter(|_| !ao_mutant::active("RUN-46/any-time-of-day"))),
        ("council_runner_timeout", council.map(|_| "must be over 0".to_owned())),
        ("plateau_epsilon", epsilon.map(str::to_owned)),
        ("plateau_window", window.map(|_| format!("must be at least {PLATEAU_WINDOW}"))),
        ("morning_command", template.map(|error| error.to_string())),
        ("checkpoint_max_mb", no_room.map(|_| "must be over 0".to_owned())),
    ];
    let bad = |(key, why): (&str, Option<String>)| Some(UnfitValue::new(&["dream", key], why?));
    let engine = dream.local_curator.engine.as_deref().filter(|engine| *engine != ENGINE);
    let engine = engine.map(|_| {
        UnfitValue::new(&["dream", "local_curator", "engine"], format!("must be `{ENGINE}`"))
    });
    found.into_iter().filter_map(bad).chain(engine).collect()
}

fn runners(config: &Config) -> impl Iterator<Item = UnfitValue> {
    config.runners.iter().filter_map(|(name, runner)| {
        let unfit = ao_runner::unfit(name, runner)?;
        Some(UnfitValue::new(&["runners", name, unfit.key], unfit.why))
    })
}

/// Weaker cells than B are not used, whatever a file says.
fn guard(config: &Config) -> Option<UnfitValue> {
    let is_weak = matches!(config.guard.floor, Some(Tier::C | Tier::D));
    is_weak.then(|| UnfitValue::new(&["guard", "floor"], "must be A or B"))
}

fn notify(config: &Config) -> Option<UnfitValue> {
    let is_none = |command: &Vec<String>| command.first().is_none_or(String::is_empty);
    let is_empty = config.notify.command.as_ref().is_some_and(is_none);
    let why = "must be a program and its arguments";
    is_empty.then(|| UnfitValue::new(&["notify", "command"], why))
}
