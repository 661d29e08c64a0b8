//! The configuration files: the repository's over the user's own, and both over the defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ao_contract::{Config, ConsensusPolicy, Exit, PromoteAt, RunnerConfig, Tier, Trust};
use ao_corpus::trust::PROMOTE_AT;
use ao_guard::cell::Floor;
use ao_runner::Origin;
use ao_tree::shown;

use crate::failure::Failure;

const FILE: &str = ".agentops/config.yaml";
/// Names one file instead of the user's and the repository's.
const NAMED: &str = "AGENTOPS_CONFIG";
/// Stronger than `trust.promote_at` of the user's file.
const PROMOTE_AT_VARIABLE: &str = "AGENTOPS_TRUST_PROMOTE_AT";
/// A larger file is not a configuration.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const REPORT_DIR: &str = ".agents/overnight/latest";
const UNDO_DAYS: u64 = 90;
const UNDO_MAX_MB: u64 = 1024;
const CHECKPOINT_MAX_MB: u64 = 512;

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
            undo_days: UNDO_DAYS,
            undo_max_mb: UNDO_MAX_MB,
            checkpoint_max_mb: CHECKPOINT_MAX_MB,
        };
        for path in files(root) {
            limits.take(&read(&path)?);
        }
        if let Some(value) = from_environment("AGENTOPS_DREAM_CHECKPOINT_MAX_MB")? {
            limits.checkpoint_max_mb = value;
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
}

impl Night {
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let checkpoint_max_mb = Limits::read(root)?.checkpoint_max_mb;
        let mut night = Self { checkpoint_max_mb, ..Self::default() };
        for (whose, config) in layers(root)? {
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
        night.take_environment()?;
        Ok(night)
    }

    fn take_environment(&mut self) -> Result<(), Failure> {
        if let Some(text) = said("RUN_TIMEOUT") {
            let limit = ao_contract::parse_duration(&text);
            self.run_timeout = Some(limit.map_err(|error| bad("RUN_TIMEOUT", &error))?);
        }
        if let Some(text) = said("RUNNERS") {
            self.runners = text
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(|name| (name.to_owned(), Origin::User))
                .collect();
        }
        self.keep_awake = parsed("KEEP_AWAKE")?.or(self.keep_awake);
        self.creative_lane = parsed("CREATIVE_LANE")?.unwrap_or(self.creative_lane);
        self.plateau_epsilon = parsed("PLATEAU_EPSILON")?.or(self.plateau_epsilon);
        self.plateau_window = parsed("PLATEAU_WINDOW")?.or(self.plateau_window);
        self.max_iterations = parsed("MAX_ITERATIONS")?.or(self.max_iterations);
        self.warn_only = parsed("WARN_ONLY")?.or(self.warn_only);
        self.morning_command = said("MORNING_COMMAND").or(self.morning_command.take());
        Ok(())
    }
}

/// A variable of the night, without the start of its name.
pub(crate) fn said(name: &str) -> Option<String> {
    let value = std::env::var_os(format!("AGENTOPS_DREAM_{name}"))?;
    Some(value.to_string_lossy().trim().to_owned()).filter(|text| !text.is_empty())
}

pub(crate) fn parsed<T: std::str::FromStr>(name: &str) -> Result<Option<T>, Failure>
where
    T::Err: std::fmt::Display,
{
    said(name).map(|text| text.parse().map_err(|error| bad(name, &error))).transpose()
}

pub(crate) fn bad(name: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("AGENTOPS_DREAM_{name}: {error}"))
}

/// The repositories to harvest, as they were written down: by the environment, or else by the
/// strongest file that says.
pub(crate) fn harvest_from(root: &Path) -> Result<Vec<String>, Failure> {
    if let Some(named) = std::env::var_os("AGENTOPS_DREAM_HARVEST_FROM") {
        let named = named.to_string_lossy();
        return Ok(named.split(':').filter(|one| !one.is_empty()).map(str::to_owned).collect());
    }
    let mut said = Vec::new();
    for path in files(root) {
        said = read(&path)?.dream.harvest_from.unwrap_or(said);
    }
    Ok(said)
}

/// Whether transcripts of coding agents are read: one file that says no is enough, and so is the environment.
pub(crate) fn transcripts(root: &Path) -> Result<bool, Failure> {
    let mut is_read = parsed("TRANSCRIPTS")?.unwrap_or(true);
    for path in files(root) {
        is_read &= read(&path)?.dream.transcripts.unwrap_or(true);
    }
    Ok(is_read)
}

/// Whether questions to the corpus are written down: one file that says no is enough. One that cannot be read
/// says no.
pub(crate) fn keeps_questions(root: &Path) -> bool {
    files(root)
        .iter()
        .all(|path| read(path).is_ok_and(|config| config.questions.keep.unwrap_or(true)))
}

/// The folder of a run's artifacts: by the environment, by the strongest file that says, or the usual
/// one. A relative one is relative to the repository.
pub(crate) fn report_dir(root: &Path) -> Result<PathBuf, Failure> {
    let mut said = REPORT_DIR.to_owned();
    for path in files(root) {
        said = read(&path)?.dream.report_dir.unwrap_or(said);
    }
    let named = std::env::var_os("AGENTOPS_DREAM_REPORT_DIR").filter(|named| !named.is_empty());
    Ok(root.join(named.map_or_else(|| PathBuf::from(said), PathBuf::from)))
}

/// The command that tells people something: a repository cannot say what is run on this machine, so only
/// the user's own file counts, or the one that was named.
pub(crate) fn notify_command(root: &Path) -> Result<Option<Vec<String>>, Failure> {
    let mut said = None;
    for (whose, config) in layers(root)? {
        if whose == Whose::User {
            said = config.notify.command.or(said);
        }
    }
    Ok(said)
}

pub(crate) fn repository_names_a_notifier(root: &Path) -> bool {
    let own = root.join(FILE);
    own.exists() && read(&own).is_ok_and(|config| config.notify.command.is_some())
}

/// The runners of the user, as far as the repository may say something of them, and what of that is left out.
pub(crate) fn runners(
    root: &Path,
) -> Result<(BTreeMap<String, RunnerConfig>, Vec<String>), Failure> {
    let (mut user, mut repository) = (BTreeMap::new(), BTreeMap::new());
    for (whose, config) in layers(root)? {
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
    let said = layers(root)?.into_iter().filter_map(|(_, config)| config.guard.floor);
    Ok(if said.into_iter().any(|tier| tier == Tier::A) { Floor::A } else { Floor::B })
}

/// How far a text must be trusted to be promoted without a person. A repository can ask for more than its user
/// does and not for less: whoever can write there could let themselves in.
pub(crate) fn promote_at(root: &Path) -> Result<Trust, Failure> {
    let (mut user, mut repository) = (None, None);
    for (whose, config) in layers(root)? {
        let said = config.trust.promote_at.map(|said| said.trust());
        match whose {
            Whose::User => user = said.or(user),
            Whose::Repository => repository = said.or(repository),
        }
    }
    if let Some(word) = std::env::var_os(PROMOTE_AT_VARIABLE).filter(|word| !word.is_empty()) {
        let word = word.to_string_lossy();
        let refuse = |why| Failure::usage(format!("{PROMOTE_AT_VARIABLE}: {} {why}", shown(&word)));
        user = Some(word.parse::<PromoteAt>().map_err(refuse)?.trust());
    }
    let user = user.unwrap_or(PROMOTE_AT);
    Ok(repository.map_or(user, |repository| repository.max(user)))
}

/// Who wrote a configuration file: only the user decides where this machine's secrets and texts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    User,
    Repository,
}

/// The files, each with who wrote it; the weaker one first.
pub(crate) fn layers(root: &Path) -> Result<Vec<(Whose, Config)>, Failure> {
    let own = root.join(FILE);
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(FILE));
    let is_named = std::env::var_os(NAMED).is_some();
    let mut layers = Vec::new();
    for path in files(root) {
        // In a repository that is the home folder there is one file, and it is the user's.
        let is_users = is_named || path != own || home.as_ref() == Some(&own);
        let whose = if is_users { Whose::User } else { Whose::Repository };
        layers.push((whose, read(&path)?));
    }
    Ok(layers)
}

/// The weaker file first.
fn files(root: &Path) -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(NAMED) {
        return vec![PathBuf::from(named)];
    }
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(FILE));
    home.into_iter().chain([root.join(FILE)]).filter(|path| path.exists()).collect()
}

fn read(path: &Path) -> Result<Config, Failure> {
    let refuse = |why: String| {
        Failure::new(Exit::Usage, format!("{}: {why}", path.display()))
            .hint("`ao schema config` says what the file may hold")
    };
    let found = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    // A repository may come with a pipe there; what the user names may be one.
    if !found.is_file() && std::env::var_os(NAMED).is_none() {
        return Err(refuse("it is no plain file".to_owned()));
    }
    if found.len() > FILE_BYTES_MAX {
        return Err(refuse(format!("larger than {FILE_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    if text.trim().is_empty() {
        return Ok(Config::default());
    }
    serde_saphyr::from_str(&text)
        .map_err(|error| refuse(error.to_string().trim_start_matches("error: ").to_owned()))
}

fn from_environment(name: &str) -> Result<Option<u64>, Failure> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    let number = value.to_str().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| {
        Failure::usage(format!("{name} must be a whole number, and is {}", value.display()))
    })
}
