//! The configuration: the environment over the repository's file over the user's own, and all over the
//! defaults.

mod check;
mod environment;
mod layer;
mod place;
mod warnings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ao_contract::{Config, ConfigWarning, ConsensusPolicy, Tier, Trust};
use ao_corpus::trust::PROMOTE_AT;
use ao_guard::cell::Floor;
use ao_night::settings::PROMOTE_AFTER;
use ao_runner::{Origin, RunnerTable};

use crate::failure::Failure;
use crate::printer::{DOUBT, Printer, paint};
use check::SCHEDULE_AT;
pub(crate) use check::{unfit_epsilon, unfit_timeout};
pub(crate) use layer::ConfigLayer;
pub(crate) use warnings::told;

const FILE: &str = ".agentops/config.yaml";
/// Names one file instead of the user's and the repository's.
const NAMED: &str = "AGENTOPS_CONFIG";
const REPORT_DIR: &str = ".agents/overnight/latest";
const UNDO_DAYS: u64 = 90;
const UNDO_MAX_MB: u64 = 1024;
const CHECKPOINT_MAX_MB: u64 = 512;
/// How old a pending learning must be for `ao flywheel close-loop`.
const THRESHOLD: Duration = Duration::from_hours(24);
/// The program for beads.
pub(super) const BEADS: &str = "bd";

/// What the door is told, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) undo_days: u64,
    pub(crate) undo_max_mb: u64,
    pub(crate) checkpoint_max_mb: u64,
}

impl Limits {
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let mut limits = Self {
            undo_days: if ao_mutant::active("LOOP-09/a-month-is-enough") {
                UNDO_DAYS / 3
            } else {
                UNDO_DAYS
            },
            undo_max_mb: UNDO_MAX_MB,
            checkpoint_max_mb: CHECKPOINT_MAX_MB,
        };
        for layer in layers(root)? {
            limits.take(&layer.config);
        }
        Ok(limits)
    }

    fn take(&mut self, config: &Config) {
        self.undo_days = config.undo.days.map_or(self.undo_days, u64::from);
        self.undo_max_mb = config.undo.max_mb.unwrap_or(self.undo_max_mb);
        self.checkpoint_max_mb = config.dream.checkpoint_max_mb.unwrap_or(self.checkpoint_max_mb);
    }
}

/// What the files and the environment say about a night; flags are stronger.
#[derive(Debug, Default)]
pub(crate) struct Night {
    pub(crate) run_timeout: Option<Duration>,
    pub(crate) keep_awake: Option<bool>,
    /// With who named them.
    pub(crate) runners: Vec<(String, Origin)>,
    pub(crate) creative_lane: bool,
    pub(crate) consensus_policy: Option<ConsensusPolicy>,
    pub(crate) council_runner_timeout: Option<Duration>,
    pub(crate) plateau_epsilon: Option<f64>,
    pub(crate) plateau_window: Option<u32>,
    pub(crate) max_iterations: Option<u32>,
    pub(crate) warn_only: Option<bool>,
    pub(crate) checkpoint_max_mb: u64,
    pub(crate) morning_command: Option<String>,
    /// What is said without effect.
    pub(crate) warnings: Vec<ConfigWarning>,
}

impl Night {
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        Self::vetted(root, vet(root)?)
    }

    /// The same, whatever the files say of when it starts.
    pub(crate) fn read_at_any_time(root: &Path) -> Result<Self, Failure> {
        Self::vetted(root, vet_at_any_time(root)?)
    }

    fn vetted(root: &Path, warnings: Vec<ConfigWarning>) -> Result<Self, Failure> {
        let checkpoint_max_mb = Limits::read(root)?.checkpoint_max_mb;
        let mut night = Self { checkpoint_max_mb, warnings, ..Self::default() };
        for ConfigLayer { whose, config, .. } in layers(root)? {
            let dream = config.dream;
            night.run_timeout = dream.run_timeout.map(|limit| limit.get()).or(night.run_timeout);
            night.keep_awake = dream.keep_awake.or(night.keep_awake);
            if let Some(names) = dream.runners {
                let origin = match whose {
                    Whose::User => Origin::User,
                    Whose::Repository => Origin::Repository,
                };
                night.runners = names.into_iter().map(|name| (name, origin)).collect();
            }
            night.consensus_policy = dream.consensus_policy.or(night.consensus_policy);
            let timeout = dream.council_runner_timeout.map(|limit| limit.get());
            night.council_runner_timeout = timeout.or(night.council_runner_timeout);
            night.creative_lane = dream.creative_lane.unwrap_or(night.creative_lane);
            let epsilon = dream.plateau_epsilon.map(|epsilon| epsilon.get());
            night.plateau_epsilon = epsilon.or(night.plateau_epsilon);
            night.plateau_window = dream.plateau_window.or(night.plateau_window);
            night.max_iterations = dream.max_iterations.or(night.max_iterations);
            night.warn_only = dream.warn_only.or(night.warn_only);
            night.morning_command = dream.morning_command.or(night.morning_command);
        }
        Ok(night)
    }

    /// Says what has no effect, before anything is begun.
    pub(crate) fn warn(&self, printer: &Printer) {
        let said = if ao_mutant::active("RUN-46/silent") { &[][..] } else { &self.warnings };
        for warning in said {
            printer.note(&format!("{} {}", paint(DOUBT, "warning:"), told(warning)));
        }
    }
}

/// Looks through all that is said: a value that cannot be used is refused, and what has no effect is given.
pub(crate) fn vet(root: &Path) -> Result<Vec<ConfigWarning>, Failure> {
    vet_but(root, |_| false)
}

/// The same, for whoever says anew when a night starts.
pub(crate) fn vet_at_any_time(root: &Path) -> Result<Vec<ConfigWarning>, Failure> {
    vet_but(root, |path| path.last().is_some_and(|key| key == SCHEDULE_AT))
}

fn vet_but(
    root: &Path,
    is_excepted: impl Fn(&[String]) -> bool,
) -> Result<Vec<ConfigWarning>, Failure> {
    let layers = layers(root)?;
    for layer in &layers {
        let mut unfit = check::unusable(&layer.config).into_iter();
        if let Some(unfit) = unfit.find(|unfit| !is_excepted(&unfit.path)) {
            return Err(layer.refuse(&unfit));
        }
    }
    Ok(warnings::of(&layers, home().as_deref()))
}

/// The repositories to harvest, as they were written down: by the strongest layer that says. Where none does,
/// the folders of repositories that the existing `ao` goes through.
pub(crate) fn harvest_from(root: &Path) -> Result<Vec<String>, Failure> {
    let (mut said, mut roots) = (None, Vec::new());
    for ConfigLayer { config, .. } in layers(root)? {
        said = config.dream.harvest_from.or(said);
        roots = config.paths.harvest_roots.filter(|roots| !roots.is_empty()).unwrap_or(roots);
    }
    Ok(said.unwrap_or(roots))
}

/// Whether transcripts of coding agents are read: one layer that says no is enough.
pub(crate) fn transcripts(root: &Path) -> Result<bool, Failure> {
    Ok(layers(root)?.iter().all(|layer| layer.config.dream.transcripts.unwrap_or(true)))
}

/// How old a pending learning must be for `ao flywheel close-loop`, where no flag says.
pub(crate) fn threshold(root: &Path) -> Result<Duration, Failure> {
    let mut said = None;
    for layer in layers(root)? {
        said = layer.config.flywheel.auto_promote_threshold.or(said);
    }
    Ok(said.map_or(THRESHOLD, |said| said.get()))
}

/// How old a pending learning must be for a night to promote it.
pub(crate) fn promote_after(root: &Path) -> Result<Duration, Failure> {
    let mut said = None;
    for layer in layers(root)? {
        said = layer.config.dream.promote_after.or(said);
    }
    if ao_mutant::active("RUN-44/waits-a-day") {
        return Ok(said.map_or(Duration::from_hours(24), |said| said.get()));
    }
    let said = said.filter(|_| !ao_mutant::active("RUN-44/nothing-waits"));
    Ok(said.map_or(PROMOTE_AFTER, |said| said.get()))
}

/// The program for beads: only the user says what is started.
pub(crate) fn beads(root: &Path) -> Result<String, Failure> {
    let mut said = None;
    for ConfigLayer { whose, config, .. } in layers(root)? {
        if whose == Whose::User || ao_mutant::active("RUN-47/a-repository-names-bd") {
            said = config.rpi.bd_command.or(said);
        }
    }
    Ok(said.unwrap_or_else(|| BEADS.to_owned()))
}

/// Whether questions to the corpus are written down: one file that says no is enough. One that cannot be read
/// says no.
pub(crate) fn keeps_questions(root: &Path) -> bool {
    layers(root)
        .is_ok_and(|layers| layers.iter().all(|layer| layer.config.questions.keep.unwrap_or(true)))
}

/// The folder of a run's artifacts: by the strongest layer that says, or the usual one. A relative one is
/// relative to the repository.
pub(crate) fn report_dir(root: &Path) -> Result<PathBuf, Failure> {
    let mut said = None;
    for layer in layers(root)? {
        said = layer.config.dream.report_dir.or(said);
    }
    let usual =
        if ao_mutant::active("RUN-13/default-folder-is-another") { "latest" } else { REPORT_DIR };
    Ok(root.join(said.as_deref().unwrap_or(usual)))
}

/// The command that tells people something: a repository cannot say what is run on this machine, so only
/// the user's own file counts, or the one that was named.
pub(crate) fn notify_command(root: &Path) -> Result<Option<Vec<String>>, Failure> {
    let mut said = None;
    for ConfigLayer { whose, config, .. } in layers(root)? {
        if whose == Whose::User {
            said = config.notify.command.or(said);
        }
    }
    Ok(said)
}

pub(crate) fn repository_names_a_notifier(root: &Path) -> bool {
    let own = root.join(FILE);
    let read = ConfigLayer::read(&own, Whose::Repository);
    own.exists() && read.is_ok_and(|layer| layer.config.notify.command.is_some())
}

/// The runners of the user, as far as the repository may say something of them.
pub(crate) fn runners(root: &Path) -> Result<RunnerTable, Failure> {
    let (mut user, mut repository) = (BTreeMap::new(), BTreeMap::new());
    for ConfigLayer { whose, config, .. } in layers(root)? {
        match whose {
            Whose::User => user.extend(config.runners),
            Whose::Repository => repository.extend(config.runners),
        }
    }
    Ok(ao_runner::merged(&user, &repository))
}

/// The weakest cell that will do: the strictest that any file says, so that a repository can ask for more
/// than its user does and not for less.
pub(crate) fn floor(root: &Path) -> Result<Floor, Failure> {
    let said = layers(root)?.into_iter().filter_map(|layer| layer.config.guard.floor);
    Ok(if said.into_iter().any(|tier| tier == Tier::A) { Floor::A } else { Floor::B })
}

/// How far a text must be trusted to be promoted without a person. A repository can ask for more than its user
/// does and not for less: whoever can write there could let themselves in.
pub(crate) fn promote_at(root: &Path) -> Result<Trust, Failure> {
    let (mut user, mut repository) = (None, None);
    for ConfigLayer { whose, config, .. } in layers(root)? {
        let said = config.trust.promote_at.map(|said| said.trust());
        match whose {
            Whose::User => user = said.or(user),
            Whose::Repository => repository = said.or(repository),
        }
    }
    let user = user.unwrap_or(PROMOTE_AT);
    Ok(repository.map_or(user, |repository| repository.max(user)))
}

/// The repositories that the user named as their own. A repository cannot name itself, or another one.
pub(crate) fn own_sources(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut said = None;
    for ConfigLayer { whose, config, .. } in layers(root)? {
        if whose == Whose::User || ao_mutant::active("GRD-07/a-repository-names-sources") {
            said = config.trust.sources.or(said);
        }
    }
    let home = home();
    let whole = |name: String| match (name.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => Some(home.join(rest)),
        (None, Some(home)) if name == "~" => Some(home.clone()),
        _ => Some(PathBuf::from(name)).filter(|path| path.is_absolute()),
    };
    Ok(said.into_iter().flatten().filter_map(whole).collect())
}

/// Who wrote a configuration file: only the user decides where this machine's secrets and texts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    User,
    Repository,
}

/// The files with who wrote each, the weaker one first, and then the environment.
pub(crate) fn layers(root: &Path) -> Result<Vec<ConfigLayer>, Failure> {
    let own = root.join(FILE);
    let at_home = home().map(|home| home.join(FILE));
    let is_named = std::env::var_os(NAMED).is_some();
    let mut layers = Vec::new();
    for path in files(root) {
        // In a repository that is the home folder there is one file, and it is the user's.
        let is_users = is_named || path != own || at_home.as_ref() == Some(&own);
        let whose = if is_users { Whose::User } else { Whose::Repository };
        layers.push(ConfigLayer::read(&path, whose)?);
    }
    layers.push(environment::read()?);
    Ok(layers)
}

/// The weaker file first.
fn files(root: &Path) -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(NAMED) {
        return vec![PathBuf::from(named)];
    }
    let at_home = home().map(|home| home.join(FILE));
    let mut files: Vec<PathBuf> = at_home.into_iter().chain([root.join(FILE)]).collect();
    files.dedup();
    files.retain(|path| path.exists());
    files
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from)
}
