//! A finding: a failure that was seen, with the question that would have caught it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Confidence, Extra, KeepsUnknown, Maybe, Open, Severity, Text, Texts};

/// The frontmatter of a promoted finding (`findings/f-YYYY-MM-DD-NNN.md`).
///
/// Every key may be absent. Null means unset. Any other key is the user's and is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Finding")]
#[serde(default)]
pub struct Finding {
    /// Its name, `f-YYYY-MM-DD-NNN`.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub id: Maybe<Text>,
    /// What sort of entry it is, usually `finding`.
    #[serde(rename = "type", skip_serializing_if = "Maybe::is_absent")]
    pub kind: Maybe<Text>,
    /// The version of the finding's own format.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub version: Maybe<Text>,
    /// The day it was found.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub date: Maybe<Text>,
    /// The skill that found it.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub source_skill: Maybe<Text>,
    /// The file it was found in.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub source_artifact: Maybe<Text>,
    /// Its title.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub title: Maybe<Text>,
    /// One sentence that stands for it.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub summary: Maybe<Text>,
    /// What went wrong, in general terms.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub pattern: Maybe<Text>,
    /// The question that would have caught it.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub detection_question: Maybe<Text>,
    /// The same as a line of a checklist.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub checklist_item: Maybe<Text>,
    /// How bad it is.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub severity: Maybe<Open<Severity>>,
    /// How easily it is seen.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub detectability: Maybe<Text>,
    /// Where it stands.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub status: Maybe<Text>,
    /// What it is compiled into.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub compiler_targets: Maybe<Texts>,
    /// Where it applies.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub scope_tags: Maybe<Texts>,
    /// Equal for two findings about one thing.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub dedup_key: Maybe<Text>,
    /// The kinds of work it applies to.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub applicable_when: Maybe<Texts>,
    /// The programming languages it applies to.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub applicable_languages: Maybe<Texts>,
    /// Where it applies: in this repo or beyond.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub tier: Maybe<Text>,
    /// How sure its author was.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub confidence: Maybe<Confidence>,
    /// Days after which it expires.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub ttl_days: Maybe<u64>,
    /// How often it was met again.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub hit_count: Maybe<u64>,
    /// When it was last cited.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub last_cited: Maybe<Text>,
    /// What made it obsolete.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub retired_by: Maybe<Text>,
    /// The bead it came from.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub source_bead: Maybe<Text>,
    /// The phase of work it came from.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub source_phase: Maybe<Text>,
    /// True when it is resolved; the text may say so instead.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub resolved: Maybe<bool>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

impl KeepsUnknown for Finding {
    fn extra_mut(&mut self) -> &mut Extra {
        &mut self.extra
    }
}
