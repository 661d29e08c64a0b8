//! What the transcripts of coding agents teach: lessons, each with the file and the line that it comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ChangeStatus, Extra, LeftAlone, SchemaVersion, Trust};

/// Whose program wrote a transcript.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Maker {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl Maker {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

/// What sort of lesson it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LessonKind {
    /// A person told the agent what to do instead.
    Correction,
    /// Something was decided.
    Decision,
    /// A command failed again and again, and then no more.
    Fix,
    /// Variants of a command failed, and then one worked.
    Command,
    /// The agent's program wrote it down for itself.
    Memory,
}

impl LessonKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::Decision => "decision",
            Self::Fix => "fix",
            Self::Command => "command",
            Self::Memory => "memory",
        }
    }
}

/// One lesson of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lesson {
    /// A hash of its kind and its claim, by which it is taken once.
    pub key: String,
    /// What sort of lesson it is.
    pub kind: LessonKind,
    /// Whose word it is.
    pub trust: Trust,
    /// Whose program wrote the transcript.
    pub maker: Maker,
    /// In one line.
    pub title: String,
    /// What it says.
    pub claim: String,
    /// What came before it; absent if nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The day, `YYYY-MM-DD`; absent if the transcript does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The session; absent if the transcript does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The transcript, as a person would find it.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Lesson {
    /// The file and the line.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// What there is of one maker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptSource {
    /// Whose program wrote them.
    pub maker: Maker,
    /// Where they lie.
    pub folder: String,
    /// How many transcripts and memory files there are.
    pub files: u64,
    /// How many of them are this repository's.
    pub own: u64,
    /// How many of those were read: they were new, or had grown.
    pub read: u64,
    /// How many bytes of them were read.
    pub bytes: u64,
    /// How many are not this repository's; they are not read.
    pub elsewhere: u64,
    /// How many lessons this repository's have.
    pub lessons: u64,
    /// How many lessons were dropped because they seemed to hold a secret.
    pub secret: u64,
    /// How many lines could not be read.
    pub bad_lines: u64,
    /// What could not be read, and why.
    pub left: Vec<LeftAlone>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the transcripts gave. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Signals")]
pub struct Signals {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// Whether the corpus was changed.
    pub status: ChangeStatus,
    /// The commit, if there is one.
    #[serde(default)]
    pub id: Option<String>,
    /// The makers whose transcripts were looked at.
    pub sources: Vec<TranscriptSource>,
    /// What was taken, as pending learnings.
    pub taken: Vec<TakenLesson>,
    /// What was not taken, and why.
    pub skipped: Vec<LeftAlone>,
    /// How many lessons wait for the next time.
    pub waiting: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A lesson that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TakenLesson {
    /// The pending learning that it became.
    pub path: String,
    /// The lesson.
    pub lesson: Lesson,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a night was told of the transcripts. The transcripts themselves are not kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightTranscripts {
    /// The makers whose transcripts were looked at.
    pub sources: Vec<TranscriptSource>,
    /// What the night was offered: lessons that were not taken before, the newest first.
    pub lessons: Vec<Lesson>,
    /// How many more there were.
    pub waiting: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
