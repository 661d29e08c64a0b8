//! Every file format as a type with its schema. No I/O, no clock, no environment.
//!
//! People and other tools already have these files, so the types follow three rules.
//!
//! *Readers keep what they do not know.* A type ends in an `extra` map that takes the unknown fields
//! and writes them back, after the known ones. Edits, the commit marker and a runner's report are
//! closed instead: there a field nobody knows is a mistake and not somebody else's data. The
//! configuration is never written from its type, so it holds no `extra` (see [`known_keys`]).
//!
//! *Readers take more than writers give.* Existing tools leave out what is empty and write words of
//! their own where a list is given. Such a file is read; what is written is whole. The published
//! schemas say what `ao` writes, so a schema may refuse an old file that its reader accepts. The
//! other way round happens only where a schema has no words for it: `1.0` for a whole number, or a
//! duration of a thousand years.
//!
//! *Nothing is rounded on the way through.* Numbers and words are kept as they were read, and in the
//! corpus, which others write too, so are nulls.

mod brief;
mod briefing_fallback;
mod budget;
mod cassette;
mod certificate;
mod citation;
mod closing;
mod confidence;
mod config;
mod config_keys;
mod conflict;
mod contradiction;
mod corroboration;
mod council;
mod curator;
mod curator_answer;
mod curator_work;
mod cycle;
mod deferred;
mod defrag;
mod dreamscape;
mod duration;
mod edits;
mod exit;
mod finding;
mod guard_log;
mod guard_manifest;
mod health;
mod history;
mod id;
mod iteration;
mod learning;
mod ledger;
mod lenient;
mod long_haul;
mod marker;
mod maybe;
mod next_work;
mod night;
mod night_files;
mod notification;
mod number;
mod only_map;
mod open;
mod packet;
mod pattern;
mod provenance;
mod question;
mod receipt;
mod record;
mod retrieval_bench;
mod run_now;
mod sacred;
mod schema;
mod settled;
mod step;
mod still_true;
mod summary;
mod text;
mod transcripts;
mod trust;
mod version;
mod work;
mod yields;

pub use brief::{BriefLine, BriefSource, KnowledgeBrief};
pub use briefing_fallback::BriefingFallback;
pub use budget::{LastRescue, WarnOnlyBudget};
pub use cassette::{
    CassetteBudget, CassetteFailure, CassetteForm, CassetteLine, CassetteRefusal, CassetteUsage,
    FailureKind,
};
pub use certificate::{Basis, Certificate, CertificateVerdict, Probe, ProbeKind};
pub use citation::{Citation, CitationType};
pub use closing::{
    ChangeStatus, CloseLoop, FeedbackVerdict, Harvest, HarvestSource, Harvested, LeftAlone,
    PendingVerdict, Poisoned, Promotion, Signal, Taken, TakenFrom,
};
pub use confidence::{Confidence, Level};
pub use config::{
    Config, ConsensusPolicy, CuratorConfig, DreamConfig, FlywheelConfig, GuardConfig, NotifyConfig,
    PathsConfig, RpiConfig, RunnerConfig, SchedulerMode, Tier, TrustConfig, UndoConfig,
};
pub use config_keys::{ANY_NAME, ConfigWarning, KnownKey, known_keys};
pub use conflict::{Conflict, Conflicts};
pub use contradiction::{
    Contradiction, ContradictionKind, ContradictionSide, Contradictions, Keep, Ruling,
};
pub use corroboration::{
    Corroboration, NotCounted, PacketCorroboration, PacketProbe, Support, SupportKind,
};
pub use council::{
    CouncilPacket, EventOpinion, EventReview, EventVerdict, RecommendedKind, RunnerReport,
    Synthesis,
};
pub use curator::{
    CuratorEvent, CuratorJob, EventLine, EventSeverity, EventStatus, EventStep, JobKind,
    JobOutcome, JobSource, JobStatus,
};
pub use curator_answer::{CuratorLearnings, CuratorSeeds, DraftedLearning, DraftedSeed};
pub use curator_work::{
    Compacting, CompactingEntry, CuratorLint, CuratorWorker, LintFault, LintRule,
};
pub use cycle::Cycle;
pub use deferred::{DeferredRunner, DeferredRunners};
pub use defrag::{
    Defrag, DefragKept, DefragMember, DefragMerge, DefragPair, DefragPattern, DefragPrune,
    DefragStatus, DefragWithdrawn, Oscillation, PatternChange, PruneRule,
};
pub use dreamscape::{Connection, DreamScape, NamedBy, Reading, Sky, Topic, Weather, Wind};
pub use duration::{DurationError, DurationText, format_duration, parse_duration};
pub use edits::{Edit, Edits};
pub use exit::Exit;
pub use finding::Finding;
pub use guard_log::{GuardDecision, GuardLine};
pub use guard_manifest::{EntryKind, GuardManifest, ManifestEntry};
pub use health::{FitnessReport, LoopDominance, MetricsHealth};
pub use history::{Author, HistoryLine, Method};
pub use id::{IdError, check_id};
pub use iteration::{Iteration, IterationStatus};
pub use learning::{Learning, Maturity};
pub use ledger::{LedgerEvent, LedgerLine, Money, Settlement};
pub use lenient::{KeepsUnknown, read_leniently};
pub use long_haul::{HaulProbe, HaulProbeKind, LongHaul};
pub use marker::{Marker, MarkerFormat, MarkerState, Slot, SlotKind};
pub use maybe::Maybe;
pub use next_work::{ClaimStatus, NextWork, ProofRef, WorkItem};
pub use night::{
    CommandVerdict, KeptCorpus, LookFound, NightAwake, NightBeads, NightCommand, NightCouncil,
    NightEvent, NightLogin, NightLook, NightQueue, NightReading, NightRecord, NightSeat,
    NightSettings, NightSource, NightWish,
};
pub use night_files::{NightFile, NightFiles};
pub use notification::{Notification, NotificationStatus};
pub use number::{Finite, Fitness, Unit};
pub use open::Open;
pub use packet::{DroppedPacket, MorningPacket, PacketIndex, PacketSource};
pub use provenance::{Archived, Provenance};
pub use question::{AskedBy, AskedQuestion, NightQuestions, PastQuestions, SettledQuestion};
pub use receipt::{
    Receipt, ReceiptCommit, ReceiptEnd, ReceiptHead, ReceiptInputs, ReceiptOpen, ReceiptWork,
    ReceiptWriter,
};
pub use record::{Change, ChangeOp, Record, Version};
pub use retrieval_bench::{
    BenchAsked, BenchExpected, BenchMode, BenchQuestion, BenchSource, QuestionSource,
    RetrievalBench,
};
pub use run_now::{RunNow, RunStage};
pub use sacred::SacredScopes;
pub use schema::{NamedSchema, ReadError, check, read, schema, schemas};
pub use settled::Settled;
pub use step::{Step, StepName, StepStatus};
pub use still_true::Check;
pub use summary::{KeepAwakeMode, RunStatus, Runtime, Summary};
pub use text::{Text, Texts};
pub use transcripts::{
    Lesson, LessonKind, Maker, NightTranscripts, Signals, TakenLesson, TranscriptSource,
};
pub use trust::{CommittedTexts, Manner, PromoteAt, Sign, Trust, Vouch};
pub use version::SchemaVersion;
pub use work::{Severity, WorkType};
pub use yields::Yield;

/// The fields of an object that `ao` does not know, in the order in which they were read.
pub type Extra = serde_json::Map<String, serde_json::Value>;
