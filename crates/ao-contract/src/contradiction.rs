//! Entries that contradict each other, as cards, and what a person ruled about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{DAY, UTC};
use crate::{Extra, Manner, Open, SchemaVersion};

/// How the claims of two entries part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContradictionKind {
    /// One says that it is so, the other that it is not.
    Denied,
    /// Another number for the same thing.
    Value,
    /// The opposite word.
    Opposite,
    /// What comes first, or is put first, is the other way round.
    Order,
    /// Another choice for the same purpose.
    Choice,
}

/// Two entries that contradict each other. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Contradiction")]
pub struct Contradiction {
    /// The card, such as `c-1a2b3c4d5e6f`: the same as long as the two claims stand.
    pub id: String,
    /// How the claims part.
    pub kind: Open<ContradictionKind>,
    /// What differs, such as `30 seconds / 5 minutes`; A first.
    pub differs: String,
    /// The older side.
    pub a: ContradictionSide,
    /// The newer side.
    pub b: ContradictionSide,
    /// A ruling about the same two entries, made when one of them said something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_ruling: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One side of a contradiction. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContradictionSide {
    /// The entry, relative to `.agents/`.
    pub path: String,
    /// The id that the entry gives itself, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is called.
    pub title: String,
    /// The sentence that claims it.
    pub quote: String,
    /// Where that sentence begins in the file, from 1, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The hash of the words of that sentence.
    pub claim: String,
    /// The day that the entry is from, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DAY))]
    pub date: Option<String>,
    /// How far the entry is trusted, where its header says so or names a source that bears on it. It is computed: what
    /// a header says can only lower it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// Where the entry comes from, where it says; the source that lowers the trust in it, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What of the corpus contradicts itself. Unknown fields are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Contradictions")]
pub struct Contradictions {
    /// How many cards nobody has ruled about.
    pub open: u64,
    /// How many contradictions stand that somebody ruled about.
    pub ruled: u64,
    /// Whether there may be more than `open`, since a limit of the search was reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_capped: bool,
    /// The open cards, by id; the first of them where there are very many.
    pub cards: Vec<Contradiction>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which side of a card holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The older one; the other is superseded by it.
    A,
    /// The newer one; the other is superseded by it.
    B,
    /// Both hold, and the card was a mistake or is accepted.
    Both,
}

/// What a person ruled about a card, `.agents/knowledge/rulings/CARD.json`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Ruling")]
pub struct Ruling {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The card.
    pub card: String,
    /// Which side holds.
    pub keep: Keep,
    /// Why.
    pub why: String,
    /// When it was ruled.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// How it was given; absent in those of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Open<Manner>>,
    /// What differed.
    pub differs: String,
    /// The side A as it was.
    pub a: ContradictionSide,
    /// The side B as it was.
    pub b: ContradictionSide,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
