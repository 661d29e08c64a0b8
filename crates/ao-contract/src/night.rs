//! What a night keeps of itself, so that it can be run again: `overnight/cassettes/RUN.night.json`.
//!
//! The corpus as it was lies beside it, `RUN.corpus`, and what runners answered, `RUN.jsonl`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::UTC;
use crate::{
    CassetteBudget, CommittedTexts, ConfigWarning, ConsensusPolicy, CuratorEvent, Extra, Finite,
    KeepAwakeMode, NightQuestions, NightTranscripts, Open, SchemaVersion, Severity, StepStatus,
    Trust, WarnOnlyBudget,
};

/// Everything that a night was told or learned from outside of the corpus, and the summary that it
/// wrote. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Night")]
pub struct NightRecord {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// BLAKE3 of this file with nothing here, in hexadecimal digits.
    pub digest: String,
    /// The run.
    pub run_id: String,
    /// The program that ran it; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The name of the repository.
    pub repo: String,
    /// The repository, as an absolute path.
    pub repo_root: String,
    /// The folder of the report, as an absolute path.
    pub output_dir: String,
    /// Why it cannot be run again; absent if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_replayable: Option<String>,
    /// The corpus as it was before the first iteration; absent if it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<KeptCorpus>,
    /// What the run was told to do.
    pub settings: NightSettings,
    /// What was recovered before it, a line each.
    pub recovered: Vec<String>,
    /// What the door left alone before it, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<String>,
    /// The rescues that were left at its beginning.
    pub warn_only_budget: WarnOnlyBudget,
    /// Who was asked, if somebody was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub council: Option<NightCouncil>,
    /// Every look at the clock that an artifact or a decision depends on, in order.
    pub readings: Vec<NightReading>,
    /// The corpus as each attempt of an iteration read it: BLAKE3 of its entries.
    pub corpora: Vec<String>,
    /// What was looked at in the repository outside of the corpus.
    pub looks: Vec<NightLook>,
    /// What the commands of checks said.
    pub commands: Vec<NightCommand>,
    /// What kept the machine awake; absent if the run did not come as far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_awake: Option<NightAwake>,
    /// What came of the beads; absent if the run did not come as far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beads: Option<NightBeads>,
    /// Why runners were not asked, by their names.
    pub deferred: BTreeMap<String, String>,
    /// The events of the curator that the council looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<NightEvent>,
    /// What it was told of the transcripts of coding agents; absent if they were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<NightTranscripts>,
    /// What it was told of the log of questions; absent if it did not come as far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<NightQuestions>,
    /// What it was told of the commits of the repository; absent if it did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<CommittedTexts>,
    /// Each time that the clock was set while the run went on.
    pub clock_set: Vec<String>,
    /// BLAKE3 of the summary's file, in hexadecimal digits.
    pub summary_hash: String,
    /// The summary.
    pub summary: Extra,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An event as it was when the council looked at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightEvent {
    /// The event.
    pub event: CuratorEvent,
    /// How many calls of its budget were left.
    pub calls_left: u32,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The file with the corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptCorpus {
    /// BLAKE3 of the file, in hexadecimal digits.
    pub hash: String,
    /// How large the file is.
    pub bytes: u64,
    /// How many files and folders it has.
    pub entries: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the run was told to do, with every default resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightSettings {
    /// What the night is for; empty if nothing was named.
    pub goal: String,
    /// The time budget, in milliseconds.
    pub run_timeout_ms: u64,
    /// The time budget as it was asked for.
    pub requested_timeout: String,
    /// Whether the machine was to be kept awake.
    pub keep_awake: bool,
    /// The operator's own priorities; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<NightQueue>,
    /// At most so many iterations; 0 is no limit.
    pub max_iterations: u32,
    /// A smaller change of fitness is none.
    pub plateau_epsilon: Finite,
    /// So many such changes in a row end the run.
    pub plateau_window: u32,
    /// Whether a regression halts the run also while rescues are left.
    pub strict: bool,
    /// The most that the checkpoints of the run may store.
    pub checkpoint_max_bytes: u64,
    /// The template of the command of a packet.
    pub morning_command: String,
    /// Other corpora that were asked for what is new.
    pub harvest: Vec<NightSource>,
    /// How old a pending learning must be to be promoted, in milliseconds.
    pub promote_after_ms: u64,
    /// How far a text must be trusted to be promoted; absent if that was not asked yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust_promote_at: Option<Trust>,
    /// Whether everything was read and measured, changed or not.
    pub full: bool,
    /// How long the long haul might last, in milliseconds; absent if none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_haul_ms: Option<u64>,
    /// What the configuration said without effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub config_warnings: Vec<ConfigWarning>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The operator's own priorities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightQueue {
    /// The file, relative to the repository; absent if it lies elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// In file order.
    pub items: Vec<NightWish>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One item of the operator's queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightWish {
    /// The number of its line, from 1.
    pub line: u64,
    /// In one line.
    pub title: String,
    /// The lines beneath it.
    pub description: String,
    /// How severe it is, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Open<Severity>>,
    /// The files that it names.
    pub files: Vec<String>,
    /// The id that its line begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The first other word of its line in backquotes, if it could be an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mentioned: Option<String>,
    /// The ids of what blocks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<String>,
    /// A piece of its line that tells it from others; empty if there is none.
    pub mark: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Another corpus. What was read of it is in the file with the corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightSource {
    /// The name of its repository.
    pub repo: String,
    /// Where it was, as it was asked for.
    pub path: String,
    /// The folder of drafts in it; absent for the corpus of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafts: Option<String>,
    /// Why it was not looked at; absent if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether the person named it as their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// Which of the corpora in the file it is; several that are the same folder have the same.
    pub place: u32,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Who was asked, and how the answers were put together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightCouncil {
    /// In the order in which they were asked.
    pub seats: Vec<NightSeat>,
    /// How the answers were put together.
    pub policy: ConsensusPolicy,
    /// Whether unconventional options were asked for.
    pub creative_lane: bool,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One runner in the council.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightSeat {
    /// For the step and the file.
    pub slug: String,
    /// Its name, as the cassette has it.
    pub runner: String,
    /// Its model, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it was known to its API.
    pub login: NightLogin,
    /// Whether it may have taken turns before it gave up.
    pub agent: bool,
    /// How far one question might go.
    pub budget: CassetteBudget,
    /// The most calls of the run; absent if nothing bounded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// The most tokens of the run; absent if nothing bounded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The most money of the run, in millionths of a US dollar; absent if nothing bounded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_usd_micros: Option<u64>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a runner was known to its API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NightLogin {
    /// It needs nothing.
    None,
    /// A key that the program does not have.
    ApiKey,
    /// The token of a subscription.
    Subscription,
}

/// One look at the clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightReading {
    /// What for.
    pub what: String,
    /// What the clock showed that people read.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// What the clock showed that never jumps, in nanoseconds.
    pub uptime_ns: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One look at a path of the repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightLook {
    /// Relative to the repository.
    pub path: String,
    /// What was there.
    pub found: LookFound,
    /// How large the file was; absent if there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Why nobody could look; absent if somebody could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// BLAKE3 of the file; absent if it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What was at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LookFound {
    /// Nothing.
    Nothing,
    /// A folder.
    Folder,
    /// A file.
    File,
    /// Nobody could look.
    Refused,
}

/// What the command of a check said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightCommand {
    /// The command.
    pub command: String,
    /// Whether it said yes, no, or nothing.
    pub verdict: CommandVerdict,
    /// Why not; absent if it said yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Whether a command said yes, no, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommandVerdict {
    /// What it checks is so.
    True,
    /// It no longer is.
    Done,
    /// Nobody knows.
    NotChecked,
}

/// What kept the machine awake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightAwake {
    /// By what.
    pub mode: KeepAwakeMode,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it should have been and may not have been.
    pub degraded: bool,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What came of the beads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightBeads {
    /// How the step ended.
    pub status: StepStatus,
    /// All of it in one line.
    pub note: String,
    /// How many packets have a bead.
    pub linked: u64,
    /// The bead of a packet, by the packet's id.
    pub beads: BTreeMap<String, String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
