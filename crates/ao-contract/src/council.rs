//! The council: one packet goes to every runner, each answers once, the answers are put together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::only_map::only_from_map;
use crate::{ConsensusPolicy, Extra, Level};

/// The kind of work that a runner would do first. Ties go to the kind that stands first here.
#[derive(
    PartialOrd, Ord, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RecommendedKind {
    Research,
    Implement,
    Validate,
    Repair,
    Promote,
    Document,
}

/// What a runner is given, `council/packet.json`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Council packet")]
pub struct CouncilPacket {
    /// The run.
    pub run_id: String,
    /// What the run is for; absent when nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The repository.
    pub repo_root: String,
    /// How the answers will be put together.
    pub consensus_policy: ConsensusPolicy,
    /// Whether unconventional options are asked for too.
    pub creative_lane: bool,
    /// What the close-loop step reported.
    #[serde(default)]
    pub close_loop: Extra,
    /// The health of the corpus.
    #[serde(default)]
    pub metrics_health: Extra,
    /// The result of the retrieval bench; empty if it failed.
    #[serde(default)]
    pub retrieval_live: Extra,
    /// The knowledge brief, when there is a goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub briefing: Option<Extra>,
    /// The first move as it stands before the council.
    #[serde(default)]
    pub next_action_hint: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a runner answers, `council/<runner>.json`. Every field is required and no other is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Runner report")]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct RunnerReport {
    /// The runner that answers.
    pub runner: String,
    /// The answer in one line.
    pub headline: String,
    /// The kind of work to do first.
    pub recommended_kind: RecommendedKind,
    /// The one thing to do first.
    pub recommended_first_action: String,
    /// What could go wrong.
    pub risks: Vec<String>,
    /// What could be gained.
    pub opportunities: Vec<String>,
    /// How sure the runner is.
    pub confidence: Level,
    /// An unconventional option; empty if there is none.
    pub wildcard_idea: String,
}

/// What one member of the council says of the events that wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Event review")]
pub struct EventReview {
    /// The runner that answers.
    pub runner: String,
    /// One opinion for each event.
    pub events: Vec<EventOpinion>,
}

/// What is said of one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventOpinion {
    /// The event.
    pub id: String,
    /// Whether it needs more.
    pub verdict: EventVerdict,
    /// Why, in one line.
    pub reason: String,
}

/// Whether an event needs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventVerdict {
    /// It needs no more.
    Close,
    /// It still needs review.
    Keep,
}

/// The answers put together, `council/synthesis.json`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Council synthesis")]
pub struct Synthesis {
    /// The runners that were asked.
    pub requested_runners: Vec<String>,
    /// The runners whose answer counts.
    #[serde(default)]
    pub completed_runners: Vec<String>,
    /// The runners that failed, were late or gave no valid answer.
    #[serde(default)]
    pub failed_runners: Vec<String>,
    /// How the answers were put together.
    pub consensus_policy: ConsensusPolicy,
    /// The kind of work that they agree on; absent if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus_kind: Option<RecommendedKind>,
    /// The one thing to do first; empty if there is none.
    #[serde(default)]
    pub recommended_first_action: String,
    /// The answers.
    #[serde(default)]
    pub reports: Vec<RunnerReport>,
    /// Where they differ.
    #[serde(default)]
    pub disagreements: Vec<String>,
    /// The unconventional options, apart from the recommendation.
    #[serde(default)]
    pub wildcard_ideas: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

only_from_map!(RunnerReport);
