//! A citation: that an entry of the corpus was shown or used, `ao/citations.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, Finite, Maybe, Open};

/// How the entry was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CitationType {
    Retrieved,
    Reference,
    Applied,
    Bypass,
}

/// One line of `ao/citations.jsonl`. Null means unset. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Citation line")]
pub struct Citation {
    /// The entry that was cited.
    pub artifact_path: String,
    /// The session that cited it.
    pub session_id: String,
    /// When it was cited.
    pub cited_at: String,
    /// How it was used.
    pub citation_type: Open<CitationType>,
    /// The workspace of the session.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub workspace_path: Maybe<String>,
    /// Whose model it was.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub model_vendor: Maybe<String>,
    /// What was asked.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub query: Maybe<String>,
    /// The set of metrics it counts in.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub metric_namespace: Maybe<String>,
    /// How well the entry matched.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub match_confidence: Maybe<Finite>,
    /// Why it matched.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub match_provenance: Maybe<String>,
    /// The heading of the section that was shown.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub section_heading: Maybe<String>,
    /// Where that section is.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub section_locator: Maybe<String>,
    /// Whether a judgement followed.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub feedback_given: Maybe<bool>,
    /// The judgement.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub feedback_reward: Maybe<Finite>,
    /// The entry's utility before the judgement.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub utility_before: Maybe<Finite>,
    /// The entry's utility after it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub utility_after: Maybe<Finite>,
    /// When the judgement was made.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub feedback_at: Maybe<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
