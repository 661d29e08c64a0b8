//! `summary.json`: the one report of a run, which every other view reads.
//!
//! Version 2 only adds to version 1. The number follows from the content: see
//! [`Summary::expected_version`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::pattern::UTC;
use crate::{
    ConfigWarning, Contradictions, DreamScape, Extra, Fitness, Iteration, LongHaul, MorningPacket,
    Open, PastQuestions, ReadError, Step, Synthesis, Yield, read,
};

/// The two versions of the report.
const V1: u32 = 1;
const V2: u32 = 2;

/// What version 2 added. A report of version 1 has none of it.
const V2_FIELDS: [&str; 7] = [
    "iterations",
    "fitness_delta",
    "plateau_reason",
    "regression_reason",
    "yield",
    "long_haul",
    "morning_packets",
];

/// How the run ended, or that it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Written at the start. A run that no longer lives and left this has failed.
    Planned,
    DryRun,
    Done,
    Failed,
}

/// What keeps the machine from sleeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeepAwakeMode {
    Caffeinate,
    MissingCaffeinate,
    CaffeinateError,
    Inhibitor,
    Unsupported,
    Disabled,
}

/// How the process ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Runtime {
    /// Whether the machine was to be kept awake.
    pub keep_awake: bool,
    /// What really kept it awake.
    pub keep_awake_mode: Open<KeepAwakeMode>,
    /// What there is to say about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_awake_note: Option<String>,
    /// The time budget that was asked for.
    pub requested_timeout: String,
    /// The time budget that held.
    pub effective_timeout: String,
    /// The lock of the run.
    pub lock_path: String,
    /// The log of the run.
    pub log_path: String,
    /// The document that says how a run behaves.
    pub process_contract_doc: String,
    /// The document that says what a report holds.
    pub report_contract_doc: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The report of one overnight run, version 1 or 2. Unknown fields are kept.
///
/// The version is 2 when any of `iterations`, `fitness_delta`, `plateau_reason`,
/// `regression_reason`, `yield`, `long_haul` and `morning_packets` is present, else 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Overnight summary", extend("if" = version_1(), "then" = no_v2_field()))]
// The derived reader and writer become private functions, which the two impls below wrap: what is
// read is checked as a whole.
#[serde(remote = "Self")]
pub struct Summary {
    /// 1, or 2 when a field of version 2 is present.
    #[schemars(range(min = V1, max = V2))]
    pub schema_version: u32,
    /// The kind of run: `dream.local-bedtime`.
    pub mode: String,
    /// The run.
    pub run_id: String,
    /// What the run was for; empty when nothing was said.
    #[serde(default)]
    pub goal: String,
    /// The repository, as an absolute path.
    pub repo_root: String,
    /// The folder of the artifacts, as an absolute path.
    pub output_dir: String,
    /// How it ended, or that it has not.
    pub status: RunStatus,
    /// Whether it only told what it would do.
    pub dry_run: bool,
    /// When it began.
    #[schemars(regex(pattern = UTC))]
    pub started_at: String,
    /// When it ended; of a planned run, when this was written.
    #[serde(default)]
    #[schemars(regex(pattern = UTC))]
    pub finished_at: String,
    /// How long it took, such as `12m38s`.
    #[serde(default)]
    pub duration: String,
    /// How the process ran.
    pub runtime: Runtime,
    /// What ran, in order.
    pub steps: Vec<Step>,
    /// The files that were written, by name; absolute paths of files that exist.
    #[serde(default)]
    pub artifacts: BTreeMap<String, String>,
    /// Commands worth running next.
    #[serde(default)]
    pub recommended: Vec<String>,
    /// The one thing to do first.
    #[serde(default)]
    pub next_action: String,
    /// What the close-loop step reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_loop: Option<Extra>,
    /// The health of the corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics_health: Option<Extra>,
    /// The result of the retrieval bench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieval_live: Option<Extra>,
    /// The knowledge brief for the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub briefing: Option<Extra>,
    /// The synthesis of the council.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Synthesis>")]
    pub council: Option<Extra>,
    /// The corpus as terrain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DreamScape>")]
    pub dreamscape: Option<Extra>,
    /// What of the corpus contradicts itself, and is put to a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradictions: Option<Contradictions>,
    /// How many of the last questions have an answer, before the night and after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<PastQuestions>,
    /// What the configuration says without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_warnings: Option<Vec<ConfigWarning>>,
    /// What failed softly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<Vec<String>>,
    /// What the night was worth (version 2).
    #[serde(rename = "yield", default, skip_serializing_if = "Option::is_none")]
    pub yields: Option<Yield>,
    /// Whether the run went on past its short path (version 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_haul: Option<LongHaul>,
    /// Work for the morning, ranked (version 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub morning_packets: Option<Vec<MorningPacket>>,
    /// The turns of the loop, by index (version 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Vec<Iteration>>,
    /// Every metric and the composite, last minus first (version 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness_delta: Option<Fitness>,
    /// Present exactly when the run halted because nothing moved (version 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_reason: Option<String>,
    /// Present exactly when the run halted on a regression (version 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression_reason: Option<String>,
    /// Rescues after a reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_only_budget_initial: Option<u32>,
    /// Rescues left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_only_remaining: Option<u32>,
    /// True when the run halted because measuring kept failing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure_failure_halt: Option<bool>,
    /// True when the time ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_exhausted: Option<bool>,
    /// Why the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Summary {
    /// The version that the content calls for.
    pub fn expected_version(&self) -> u32 {
        let v2 = self.iterations.is_some()
            || self.fitness_delta.is_some()
            || self.plateau_reason.is_some() && !ao_mutant::active("REP-07/plateau-is-version-1")
            || self.regression_reason.is_some()
            || self.yields.is_some()
            || self.long_haul.is_some()
            || self.morning_packets.is_some();
        if v2 { V2 } else { V1 }
    }

    /// Existing tools write 2 from the start, before there is a field to justify it. That is let
    /// pass; a 1 that hides fields from readers of version 1 is not.
    fn check_version(&self) -> Result<(), String> {
        match (self.schema_version, self.expected_version()) {
            (V1, V1) | (V2, _) => Ok(()),
            (V1, _) => Err("schema_version is 1, but fields of version 2 are present".to_owned()),
            (other, _) => {
                Err(format!("schema_version {other} is not known, this program reads 1 and 2"))
            }
        }
    }

    /// The council's synthesis. It is kept as it was read, since older runners left fields out of
    /// their reports that are required now, and one of those must not cost the whole report.
    pub fn council(&self) -> Option<Result<Synthesis, ReadError>> {
        self.council.as_ref().map(|council| read(&council.clone().into()))
    }

    /// The landscape. It is kept as it was read, since other tools draw theirs from other data.
    pub fn dreamscape(&self) -> Option<Result<DreamScape, ReadError>> {
        self.dreamscape.as_ref().map(|scape| read(&scape.clone().into()))
    }
}

impl<'de> Deserialize<'de> for Summary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let summary = Self::deserialize(deserializer)?;
        summary.check_version().map_err(D::Error::custom)?;
        Ok(summary)
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

fn version_1() -> Value {
    json!({ "properties": { "schema_version": { "const": V1 } } })
}

fn no_v2_field() -> Value {
    let is_left =
        |field: &&&str| **field == "long_haul" && ao_mutant::active("REP-07/schema-has-six");
    let fields = V2_FIELDS.iter().filter(|field| !is_left(field));
    let unset: Extra =
        fields.map(|field| ((*field).to_owned(), json!({ "type": "null" }))).collect();
    json!({ "properties": unset })
}
