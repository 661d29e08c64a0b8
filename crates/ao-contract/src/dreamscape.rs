//! The corpus as a landscape, inside `summary.json`: what the picture of a report is drawn from.
//!
//! The numbers of the weather are not measured again. The legend repeats them from the same summary
//! and says where in it each stands, so that anybody can check that the two agree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::DAY;
use crate::{Extra, Finite, SchemaVersion, Unit};

/// The corpus as a landscape: topics, how they are connected, and the weather over them. Unknown
/// fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "DreamScape")]
pub struct DreamScape {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The newest day in the corpus, which freshness is measured against; null if nothing has a date.
    #[serde(default)]
    #[schemars(regex(pattern = DAY))]
    pub as_of: Option<String>,
    /// An entry of at most so many days before is fresh.
    pub fresh_days: u32,
    /// How many entries the landscape is made of.
    pub entries: u64,
    /// How many more there are that retrieval hides; they are in no topic.
    pub hidden: u64,
    /// The topics, from the left to the right.
    pub topics: Vec<Topic>,
    /// The weather.
    pub weather: Weather,
    /// The numbers that the weather follows from.
    pub legend: Vec<Reading>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One topic of the corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topic {
    /// What it is called.
    pub name: String,
    /// Its place from the left, from 1.
    pub place: u32,
    /// Where its name comes from.
    pub named_by: NamedBy,
    /// How many entries belong to it. An entry can belong to several topics.
    pub entries: u64,
    /// Those entries over all entries of the landscape.
    pub share: Unit,
    /// How many of its entries have a date.
    pub dated: u64,
    /// How many of those are fresh.
    pub fresh: u64,
    /// Fresh entries over dated ones; null if none has a date.
    #[serde(default)]
    pub freshness: Option<Unit>,
    /// Which other topics it is connected to.
    pub connections: Vec<Connection>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where the name of a topic comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// Tags that entries carry.
    Tags,
    /// The category of entries without tags.
    Category,
    /// The scope of entries without tags and category.
    Scope,
    /// A word that the titles of entries share which say nothing of that kind.
    Titles,
    /// Nothing: these are the entries of no other topic.
    Rest,
}

/// That two topics have to do with each other. It is told at both of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// The other topic.
    pub to: String,
    /// How many entries belong to both.
    pub shared: u64,
    /// How often an entry of one refers to an entry of the other.
    pub references: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The weather over the landscape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weather {
    /// How good the corpus is.
    pub sky: Sky,
    /// Where it is going.
    pub wind: Wind,
    /// Why the sky is not better, or what is missing.
    pub why: Vec<String>,
    /// Whether more is used than ages, as the health of the corpus says; null if it is not known.
    #[serde(default)]
    pub escape_velocity: Option<bool>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How good the corpus is, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sky {
    Clear,
    Fair,
    Mixed,
    Overcast,
    Storm,
    /// Nothing is known.
    Fog,
}

/// Where the fitness is going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wind {
    Rising,
    Steady,
    Falling,
    /// Nothing is known.
    Unknown,
}

/// One number of the summary, repeated digit by digit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// What it is called.
    pub name: String,
    /// The number; null if it is not known.
    #[serde(default)]
    pub value: Option<Finite>,
    /// Where it stands in the summary, as a JSON pointer.
    pub at: String,
    /// Why it is not known; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
