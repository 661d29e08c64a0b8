//! The certificate of a merge or a prune: what was asked before and after, and what was found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, SchemaVersion};

/// What a certificate rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Every question that found the entry finds its successor.
    Found,
    /// No question found the entry: another one had replaced it. Its name leads to that one.
    Hidden,
    /// The entry says itself until when it holds, and nothing refers to it. Questions that found it
    /// find it no more.
    Expired,
}

/// Whether the change was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CertificateVerdict {
    Passed,
    Refused,
}

/// What a probe is made of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// The rarest words of one sentence.
    Rare,
    Heading,
    /// A command or another piece of code.
    Code,
    /// A name that is no word.
    Symbol,
    /// A number, and the words around it.
    Number,
}

/// One question, asked before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// What it is made of.
    pub kind: ProbeKind,
    /// The question; no word of it is from the title.
    pub query: String,
    /// At which place the entry that goes was found before, if among the first ten.
    pub before: Option<u32>,
    /// At which place its successor is found after, if among the first ten.
    pub after: Option<u32>,
}

/// The proof that a merge or a prune loses nothing that could be found. It is stored with the change,
/// as the last source of the deleted file in the commit's record and in the archive's provenance, after
/// the word `certificate:`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "No-loss certificate")]
pub struct Certificate {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The file that goes.
    pub entry: String,
    /// The file that stands for it; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// What it rests on.
    pub basis: Basis,
    /// Whether the change was let through.
    pub verdict: CertificateVerdict,
    /// Why, in words.
    pub why: String,
    /// How many probes count: those that found the entry before.
    pub counted: u32,
    /// The questions.
    pub probes: Vec<Probe>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
