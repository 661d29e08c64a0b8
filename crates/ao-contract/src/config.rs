//! The configuration, `.agentops/config.yaml`.
//!
//! People write it, so nothing here is flattened or untagged: an error says which key is wrong and
//! what it should be. Unknown keys are not held by the types, because the file is never written
//! from them; an edit changes the keys it means and leaves the rest of the text alone. What is
//! typed here is what was said; defaults, flags and the environment are resolved elsewhere.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::only_map::only_from_map;
use crate::{DurationText, Finite, JobKind, PromoteAt};

/// The configuration of `ao`. Every key may be absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Configuration")]
#[serde(remote = "Self", default)]
pub struct Config {
    /// The overnight run.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<DreamConfig>")]
    pub dream: DreamConfig,
    /// Models and agent programs, by name.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<BTreeMap<String, RunnerConfig>>")]
    pub runners: BTreeMap<String, RunnerConfig>,
    /// What holds a runner in.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<GuardConfig>")]
    pub guard: GuardConfig,
    /// Who is told.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<NotifyConfig>")]
    pub notify: NotifyConfig,
    /// How far texts are trusted.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<TrustConfig>")]
    pub trust: TrustConfig,
    /// What is kept of questions to the corpus.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<QuestionsConfig>")]
    pub questions: QuestionsConfig,
    /// How long a commit can be taken back.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<UndoConfig>")]
    pub undo: UndoConfig,
    /// Turning what was learned into knowledge.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<FlywheelConfig>")]
    pub flywheel: FlywheelConfig,
    /// Places. Only `harvest_roots` is read; docs/switching.md says what took the place of the others.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<PathsConfig>")]
    pub paths: PathsConfig,
    /// Other programs. Only `bd_command` is read.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<RpiConfig>")]
    pub rpi: RpiConfig,
}

/// The overnight run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct DreamConfig {
    /// The folder of the report; `.agents/overnight/latest`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub report_dir: Option<String>,
    /// The time budget; `8h`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub run_timeout: Option<DurationText>,
    /// Whether the machine is kept awake; true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_awake: Option<bool>,
    /// The runners of the council; none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runners: Option<Vec<String>>,
    /// The scheduler that `setup` writes files for; `manual`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub scheduler_mode: Option<SchedulerMode>,
    /// When it should start, `HH:MM`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    #[schemars(example = "03:00", regex(pattern = r"^([01]\d|2[0-3]):[0-5]\d$"))]
    pub schedule_at: Option<String>,
    /// How the answers of the council are put together; `majority`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub consensus_policy: Option<ConsensusPolicy>,
    /// The time that one runner has; `180s`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub council_runner_timeout: Option<DurationText>,
    /// Whether unconventional options are asked for; false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creative_lane: Option<bool>,
    /// A change smaller than this is none; 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau_epsilon: Option<Finite>,
    /// How many such changes in a row end the run; 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau_window: Option<u32>,
    /// How many iterations at most; 0, which is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Whether a regression only warns while there are rescues left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warn_only: Option<bool>,
    /// How much the checkpoints of a run may store, in MB; 512.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_max_mb: Option<u64>,
    /// A template for the command of a morning packet.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub morning_command: Option<String>,
    /// Other repositories to harvest; none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harvest_from: Option<Vec<String>>,
    /// How old a pending learning must be before a night promotes it; `0h`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub promote_after: Option<DurationText>,
    /// Whether the transcripts of coding agents are read; true. One file that says no is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<bool>,
    /// The local curator.
    #[serde(deserialize_with = "empty_if_null")]
    #[schemars(with = "Option<CuratorConfig>")]
    pub local_curator: CuratorConfig,
}

/// The local curator. All of it may be absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct CuratorConfig {
    /// Whether it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What runs the model; `ollama`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Where Ollama listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ollama_url: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The folder of the worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_dir: Option<String>,
    /// The folder of the notes that it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault_dir: Option<String>,
    /// How many jobs an hour at most; 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hourly_cap: Option<u32>,
    /// The jobs it may be given; all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_job_kinds: Option<Vec<JobKind>>,
}

/// One model or agent program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct RunnerConfig {
    /// What it is: `claude`, `codex`, `gemini`, `opencode`, `ollama`, an OpenAI-compatible endpoint or a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where it listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The program and its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The secret that it needs, as `vault://NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<String>,
    /// The hosts that it may connect to, as `HOST:PORT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net: Option<Vec<String>>,
    /// The time that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<DurationText>,
    /// How many tokens it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How much it may cost, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_usd: Option<Finite>,
}

/// What holds a runner in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct GuardConfig {
    /// The weakest cell that is still used; `B`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Tier>,
}

/// Who is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct NotifyConfig {
    /// The program that is started with the news, and its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
}

/// How far texts are trusted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct TrustConfig {
    /// How far a text must be trusted to be promoted without a person; `unverified`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promote_at: Option<PromoteAt>,
    /// Repositories that are the person's own: what is harvested there does not wait for a word. Absolute paths, or such
    /// that begin with `~/`; only the user's own file counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
}

/// What is kept of questions to the corpus.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct QuestionsConfig {
    /// Whether what is asked is written down; true. One file that says no is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<bool>,
}

/// How long a commit can be taken back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct UndoConfig {
    /// For how many days; 90.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// How much the snapshots may store, in MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_mb: Option<u64>,
}

/// Turning what was learned into knowledge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct FlywheelConfig {
    /// How old a pending learning must be for `ao flywheel close-loop` to promote it; `24h`.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub auto_promote_threshold: Option<DurationText>,
}

/// Places.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct PathsConfig {
    /// Folders of repositories to harvest, where `dream.harvest_from` is silent; none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harvest_roots: Option<Vec<String>>,
}

/// Other programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct RpiConfig {
    /// The program for beads; `bd`. Only the user's own file says which program is started.
    #[serde(deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
    pub bd_command: Option<String>,
}

only_from_map!(
    Config,
    DreamConfig,
    CuratorConfig,
    RunnerConfig,
    GuardConfig,
    NotifyConfig,
    TrustConfig,
    QuestionsConfig,
    UndoConfig,
    FlywheelConfig,
    PathsConfig,
    RpiConfig,
);

/// A scheduler that `setup` can write files for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerMode {
    Manual,
    Launchd,
    Cron,
    Systemd,
    TaskScheduler,
    Auto,
}

/// How the answers of the council are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConsensusPolicy {
    Majority,
    Weighted,
    Unanimous,
}

/// How strong a cell is, from all that the kernel offers down to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Tier {
    A,
    B,
    C,
    D,
}

/// `dream:` with every line under it commented out is a null to YAML, and nothing to its author.
fn empty_if_null<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// An empty word says nothing: existing tools write `run_timeout: ""` for a key that nobody set.
fn unless_empty<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    let text = text.filter(|text| !text.trim().is_empty());
    text.map(|text| T::deserialize(text.into_deserializer())).transpose()
}
