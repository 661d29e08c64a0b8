//! What the curator asks an engine for. The answer comes from a model, so the types are closed and bounded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::only_map::only_from_map;

/// As many learnings or seeds as one answer may hold.
const DRAFTED_MAX: usize = 8;

/// What is asked for of a session: what was learned in it. Every field is required and no other is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator learnings")]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct CuratorLearnings {
    /// At most eight; none if nothing was learned.
    #[schemars(length(max = DRAFTED_MAX))]
    pub learnings: Vec<DraftedLearning>,
}

/// One thing that was learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct DraftedLearning {
    /// In a few words; at most 120 characters.
    #[schemars(length(min = 1, max = 120))]
    pub title: String,
    /// What was learned; at most 2000 characters.
    #[schemars(length(min = 1, max = 2000))]
    pub learned: String,
    /// Why it matters; at most 1000 characters.
    #[schemars(length(max = 1000))]
    pub why: String,
    /// How to apply it; at most 1000 characters.
    #[schemars(length(max = 1000))]
    pub apply: String,
    /// The words of the session that show it, as they stand there; at most 500 characters.
    #[schemars(length(max = 500))]
    pub quote: String,
}

/// What is asked for of some notes: questions to dream about. Every field is required and no other is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator seeds")]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct CuratorSeeds {
    /// At least one, at most eight.
    #[schemars(length(min = 1, max = DRAFTED_MAX))]
    pub seeds: Vec<DraftedSeed>,
}

/// One question to dream about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct DraftedSeed {
    /// In a few words; at most 120 characters.
    #[schemars(length(min = 1, max = 120))]
    pub title: String,
    /// The question; at most 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    pub question: String,
    /// Why it is worth asking; at most 1000 characters.
    #[schemars(length(max = 1000))]
    pub why: String,
}

only_from_map!(CuratorLearnings, DraftedLearning, CuratorSeeds, DraftedSeed);

impl CuratorLearnings {
    /// What the types do not say: how many, and how long.
    pub fn check_bounds(&self) -> Result<(), String> {
        count("learnings", self.learnings.len(), 0)?;
        for learning in &self.learnings {
            length("title", &learning.title, 1, 120)?;
            length("learned", &learning.learned, 1, 2000)?;
            length("why", &learning.why, 0, 1000)?;
            length("apply", &learning.apply, 0, 1000)?;
            length("quote", &learning.quote, 0, 500)?;
        }
        Ok(())
    }
}

impl CuratorSeeds {
    /// What the types do not say: how many, and how long.
    pub fn check_bounds(&self) -> Result<(), String> {
        count("seeds", self.seeds.len(), 1)?;
        for seed in &self.seeds {
            length("title", &seed.title, 1, 120)?;
            length("question", &seed.question, 1, 1000)?;
            length("why", &seed.why, 0, 1000)?;
        }
        Ok(())
    }
}

fn count(what: &str, count: usize, min: usize) -> Result<(), String> {
    if (min..=DRAFTED_MAX).contains(&count) {
        return Ok(());
    }
    Err(format!("{what}: there are {count}, and {min} to {DRAFTED_MAX} are asked for"))
}

fn length(what: &str, text: &str, min: usize, max: usize) -> Result<(), String> {
    let count = text.trim().chars().count();
    if (min..=max).contains(&count) {
        return Ok(());
    }
    Err(format!("{what}: it has {count} characters, and {min} to {max} are asked for"))
}
