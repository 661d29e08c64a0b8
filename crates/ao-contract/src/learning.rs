//! A learning: one lesson, in the frontmatter of a Markdown file or as the first line of a JSONL file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Confidence, Extra, Finite, KeepsUnknown, Maybe, Text, Texts, Unit};

/// The utility of an entry that does not say.
const UTILITY_UNSAID: f64 = 0.5;

/// How far an entry has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Maturity {
    Provisional,
    Candidate,
    Established,
    AntiPattern,
}

/// The frontmatter of a learning (`learnings/**/*.md`), or the first line of a learning in JSONL.
///
/// Every key may be absent. Null means unset. Any other key is the user's and is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Learning")]
#[serde(default)]
pub struct Learning {
    /// Its name in references from other entries.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub id: Maybe<Text>,
    /// What sort of entry it is, usually `learning`.
    #[serde(rename = "type", skip_serializing_if = "Maybe::is_absent")]
    pub kind: Maybe<Text>,
    /// The area it belongs to.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub category: Maybe<Text>,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub tags: Maybe<Texts>,
    /// The day it was learned, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub date: Maybe<Text>,
    /// Where it stands in its author's process.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub status: Maybe<Text>,
    /// Where it applies.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub scope: Maybe<Text>,
    /// Its tier in the promotion ladder of its author.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub tier: Maybe<Text>,
    /// The session it was learned in.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub source_session: Maybe<Text>,
    /// Its title, where the body has none.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub title: Maybe<Text>,
    /// One sentence that stands for it.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub summary: Maybe<Text>,
    /// The body, in JSONL only.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub content: Maybe<Text>,
    /// How much it helped so far, from 0 to 1. Unset means 0.5.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub utility: Maybe<Unit>,
    /// How sure its author was: a number, or `high` (0.9), `medium` (0.6), `low` (0.3).
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub confidence: Maybe<Confidence>,
    /// How far it has come.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub maturity: Maybe<Maturity>,
    /// How often it was judged after use.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub reward_count: Maybe<u64>,
    /// How often it helped.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub helpful_count: Maybe<u64>,
    /// How often it did harm.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub harmful_count: Maybe<u64>,
    /// The latest judgement.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub last_reward: Maybe<Finite>,
    /// When it was last judged.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub last_reward_at: Maybe<Text>,
    /// When its utility last decayed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub last_decay_at: Maybe<Text>,
    /// How often its utility decayed.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub decay_count: Maybe<u64>,
    /// The bead it came from.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub source_bead: Maybe<Text>,
    /// The bead it came from, in the other spelling.
    #[serde(rename = "source-bead", skip_serializing_if = "Maybe::is_absent")]
    pub source_bead_hyphen: Maybe<Text>,
    /// The phase of work it came from.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub source_phase: Maybe<Text>,
    /// The phase of work it came from, in the other spelling.
    #[serde(rename = "source-phase", skip_serializing_if = "Maybe::is_absent")]
    pub source_phase_hyphen: Maybe<Text>,
    /// `experimental` when it is not yet to be relied on.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub stability: Maybe<Text>,
    /// The entry that replaced it; hides it from retrieval.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub superseded_by: Maybe<Text>,
    /// What it was promoted to; hides it from retrieval.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub promoted_to: Maybe<Text>,
    /// True hides it from retrieval.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub superseded: Maybe<bool>,
    /// The file it was promoted from.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub promoted_from: Maybe<Text>,
    /// When it was promoted.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub promoted_at: Maybe<Text>,
    /// Where it stood before it was moved.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub original_path: Maybe<Text>,
    /// How far it is trusted: `user`, `code`, `unverified`, `tool`, `web` or `model`. Any other word is worth nothing.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub trust: Maybe<Text>,
    /// How sure the harvest was that this is a learning.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub harvest_confidence: Maybe<Confidence>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Learning {
    pub fn utility(&self) -> f64 {
        self.utility.get().map_or(UTILITY_UNSAID, Unit::get)
    }

    /// Whether another entry, a promotion or its author took it out of retrieval.
    pub fn is_hidden(&self) -> bool {
        is_set(&self.superseded_by)
            || is_set(&self.promoted_to)
            || self.superseded.get() == Some(&true)
    }

    pub fn source_bead(&self) -> Option<&Text> {
        self.source_bead.get().or(self.source_bead_hyphen.get())
    }

    pub fn source_phase(&self) -> Option<&Text> {
        self.source_phase.get().or(self.source_phase_hyphen.get())
    }
}

/// Some writers quote the words by which YAML says that there is nothing.
fn is_set(field: &Maybe<Text>) -> bool {
    field.get().is_some_and(|text| !matches!(text.as_str().trim(), "" | "null" | "~"))
}

impl KeepsUnknown for Learning {
    fn extra_mut(&mut self) -> &mut Extra {
        &mut self.extra
    }
}
