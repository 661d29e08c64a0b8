//! The schemas that the binary publishes, and the readers behind them.
//!
//! `ao schema NAME` prints one, `ao schema NAME --check FILE` reads a file with the very reader that
//! the lanes use. Both work from the one list below.

use std::fmt;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    AskedQuestion, BriefingFallback, CassetteLine, Certificate, Citation, CloseLoop, Compacting,
    Config, Conflicts, Contradictions, CouncilPacket, CuratorEvent, CuratorJob, CuratorLearnings,
    CuratorLint, CuratorSeeds, CuratorWorker, Cycle, DeferredRunners, Defrag, DreamScape, Edits,
    EventLine, EventReview, Extra, Finding, GuardLine, GuardManifest, Harvest, HistoryLine,
    Iteration, KnowledgeBrief, Learning, LedgerLine, Marker, MetricsHealth, MorningPacket,
    NextWork, NightFiles, NightRecord, Notification, PacketCorroboration, PacketIndex, Provenance,
    Receipt, ReceiptHead, Record, RetrievalBench, Ruling, RunNow, RunnerReport, SacredScopes,
    Settled, Signals, Summary, Synthesis, Taken, Vouch, WarnOnlyBudget,
};

/// One published schema.
#[derive(Debug, Clone)]
pub struct NamedSchema {
    /// What `ao schema` knows it by, in kebab case.
    pub name: &'static str,
    /// One paragraph for a list of schemas.
    pub about: String,
    /// The schema, draft 2020-12.
    pub schema: Value,
    /// The reader that decides.
    pub read: fn(&Value) -> Result<(), String>,
}

/// A value that a reader refused: where in it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Such as `steps[0].status`; empty for the value as a whole.
    pub path: String,
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for ReadError {}

impl<E: fmt::Display> From<serde_path_to_error::Error<E>> for ReadError {
    fn from(error: serde_path_to_error::Error<E>) -> Self {
        let path = match error.path().to_string().as_str() {
            "." => String::new(),
            path => path.to_owned(),
        };
        Self { path, message: error.into_inner().to_string() }
    }
}

/// Who writes the file decides what its schema requires.
#[derive(Clone, Copy)]
enum Writer {
    /// All that `ao` writes, also where its reader would do with less.
    Ao,
    /// What the reader needs.
    Others,
}

struct Format {
    name: &'static str,
    schema: fn() -> Value,
    check: fn(&Value) -> Result<Value, ReadError>,
    read: fn(&Value) -> Result<(), String>,
}

macro_rules! format {
    ($name:literal, $type:ty, $writer:ident) => {
        Format {
            name: $name,
            schema: || schema_of::<$type>($name, Writer::$writer),
            check: read_and_write_back::<$type>,
            read: |value| read::<$type>(value).map(drop).map_err(|error| error.to_string()),
        }
    };
}

const FORMATS: [Format; 58] = [
    format!("summary", Summary, Ao),
    format!("dreamscape", DreamScape, Ao),
    format!("run-status", RunNow, Ao),
    format!("settled", Settled, Ao),
    format!("contradictions", Contradictions, Ao),
    format!("ruling", Ruling, Ao),
    format!("knowledge-brief", KnowledgeBrief, Ao),
    format!("briefing-fallback", BriefingFallback, Ao),
    format!("iteration", Iteration, Ao),
    format!("morning-packet", MorningPacket, Ao),
    format!("morning-packets", PacketIndex, Ao),
    format!("packet-corroboration", PacketCorroboration, Ao),
    format!("council-packet", CouncilPacket, Ao),
    format!("runner-report", RunnerReport, Others),
    format!("event-review", EventReview, Others),
    format!("council-synthesis", Synthesis, Ao),
    format!("learning", Learning, Others),
    format!("finding", Finding, Others),
    format!("next-work", NextWork, Ao),
    format!("citation", Citation, Ao),
    format!("question", AskedQuestion, Ao),
    format!("close-loop", CloseLoop, Ao),
    format!("harvest", Harvest, Ao),
    format!("signals", Signals, Ao),
    format!("taken", Taken, Ao),
    format!("vouch", Vouch, Ao),
    format!("metrics-health", MetricsHealth, Ao),
    format!("cycle-history", Cycle, Others),
    format!("edits", Edits, Others),
    format!("marker", Marker, Ao),
    format!("record", Record, Ao),
    format!("history", HistoryLine, Ao),
    format!("receipt", Receipt, Ao),
    format!("receipt-head", ReceiptHead, Ao),
    format!("night-files", NightFiles, Ao),
    format!("archive-provenance", Provenance, Ao),
    format!("retrieval-bench", RetrievalBench, Ao),
    format!("conflicts", Conflicts, Ao),
    format!("certificate", Certificate, Ao),
    format!("defrag", Defrag, Ao),
    format!("warn-only-budget", WarnOnlyBudget, Ao),
    format!("config", Config, Others),
    format!("curator-job", CuratorJob, Ao),
    format!("curator-event", CuratorEvent, Ao),
    format!("curator-ledger", EventLine, Ao),
    format!("curator-worker", CuratorWorker, Others),
    format!("curator-lint", CuratorLint, Ao),
    format!("curator-compaction", Compacting, Ao),
    format!("curator-learnings", CuratorLearnings, Others),
    format!("curator-seeds", CuratorSeeds, Others),
    format!("sacred-scopes", SacredScopes, Others),
    format!("guard-log", GuardLine, Ao),
    format!("notification", Notification, Ao),
    format!("guard-manifest", GuardManifest, Ao),
    format!("ledger", LedgerLine, Ao),
    format!("cassette", CassetteLine, Ao),
    format!("night", NightRecord, Ao),
    format!("deferred-runners", DeferredRunners, Ao),
];

/// All published schemas, in the order in which a list should show them.
pub fn schemas() -> Vec<NamedSchema> {
    let is_left = |format: &Format| {
        format.name == "council-packet" && ao_mutant::active("REP-17/schema-does-not-ship")
    };
    FORMATS.iter().filter(|format| !is_left(format)).map(named).collect()
}

/// One of them, by its name.
pub fn schema(name: &str) -> Option<NamedSchema> {
    FORMATS.iter().find(|format| format.name == name).map(named)
}

/// Reads a value with the typed reader of a format and writes it back. The configuration comes back
/// without the keys that `ao` does not know; everything else comes back whole.
pub fn check(name: &str, value: &Value) -> Result<Value, ReadError> {
    match FORMATS.iter().find(|format| format.name == name) {
        Some(format) => (format.check)(value),
        None => Err(unknown_format(name)),
    }
}

/// Reads a value, and says where in it the trouble is if there is any.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ReadError> {
    serde_path_to_error::deserialize(value).map_err(ReadError::from)
}

fn read_and_write_back<T>(value: &Value) -> Result<Value, ReadError>
where
    T: DeserializeOwned + Serialize,
{
    serde_path_to_error::serialize(&read::<T>(value)?, serde_json::value::Serializer)
        .map_err(ReadError::from)
}

fn unknown_format(name: &str) -> ReadError {
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    let message = std::format!("there is no format {name:?}; there are {}", names.join(", "));
    ReadError { path: String::new(), message }
}

fn named(format: &Format) -> NamedSchema {
    let schema = (format.schema)();
    let description = schema["description"].as_str().unwrap_or_default();
    let about = description.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    NamedSchema { name: format.name, about, schema, read: format.read }
}

fn schema_of<T: JsonSchema>(name: &str, writer: Writer) -> Value {
    let settings = SchemaSettings::draft2020_12();
    let settings = match writer {
        Writer::Ao => settings.for_serialize(),
        Writer::Others => settings.for_deserialize(),
    };
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(drop_default).transform(&mut schema);
    RecursiveTransform(bound_integer).transform(&mut schema);
    if let Some(Value::Object(fields)) = schema.get("properties")
        && ao_mutant::active("REP-17/schema-asks-for-everything")
    {
        let names: Vec<String> = fields.keys().cloned().collect();
        schema.insert("required".to_owned(), names.into());
    }
    in_reading_order(name, schema.to_value())
}

/// What a reader assumes in place of an absent field is not what the format says it means.
fn drop_default(schema: &mut Schema) {
    schema.remove("default");
}

/// A format is only a comment to most validators; the reader means it.
fn bound_integer(schema: &mut Schema) {
    let max: u64 = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => u32::MAX.into(),
        Some("uint64") => u64::MAX,
        _ => return,
    };
    if schema.get("maximum").is_none() {
        schema.insert("maximum".to_owned(), max.into());
    }
}

/// Puts first what a person looks for first.
fn in_reading_order(name: &str, mut schema: Value) -> Value {
    schema["$id"] = std::format!("ao:{name}").into();
    let Value::Object(mut rest) = schema else { return schema };
    let mut ordered = Extra::new();
    for key in ["$schema", "$id", "title", "description"] {
        ordered.extend(rest.shift_remove_entry(key));
    }
    ordered.extend(rest);
    ordered.into()
}
