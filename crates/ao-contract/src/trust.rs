//! How far a text is to be trusted, what speaks against it, and a person's word for it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::pattern::UTC;
use crate::{Extra, Finite, Open, SchemaVersion};

/// Who a text comes from, the least trusted first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// A model made it up.
    Model,
    /// Anybody on the web.
    Web,
    /// A program said it.
    Tool,
    /// Nothing that can be checked stands behind it.
    Unverified,
    /// It is in a commit of the repository, or a person said it through a script.
    Code,
    /// A person said it, or vouched for it.
    User,
}

impl Trust {
    /// From the most trusted down.
    pub const ALL: [Self; 6] =
        [Self::User, Self::Code, Self::Unverified, Self::Tool, Self::Web, Self::Model];

    /// What a header means by its `trust`. A word that nobody knows is worth nothing.
    pub fn of_word(word: &str) -> Self {
        let word = word.trim().to_lowercase();
        Self::ALL.into_iter().find(|one| one.name() == word).unwrap_or(Self::Model)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Web => "web",
            Self::Tool => "tool",
            Self::Unverified => "unverified",
            Self::Code => "code",
            Self::User => "user",
        }
    }

    /// What stands for it where a number is asked for.
    pub fn number(self) -> f64 {
        match self {
            Self::Model => 0.2,
            Self::Web => 0.4,
            Self::Tool => 0.6,
            Self::Unverified => 0.7,
            Self::Code => 0.8,
            Self::User => 1.0,
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Trust {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|one| one.name() == word.trim());
        known.ok_or_else(|| "is none of user, code, unverified, tool, web, model".to_owned())
    }
}

/// What a number for trust may be.
const SHARE: std::ops::RangeInclusive<f64> = 0.0..=1.0;

/// How far a text must be trusted to be promoted: one of the words, or a number from 0 to 1 that the words'
/// numbers are held against (user 1, code 0.8, unverified 0.7, tool 0.6, web 0.4, model 0.2). It is kept as it was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PromoteAt {
    Word(Trust),
    Number(Finite),
}

impl PromoteAt {
    /// The least that is enough.
    pub fn trust(&self) -> Trust {
        match self {
            Self::Word(trust) => *trust,
            Self::Number(number) => {
                let is_enough = |trust: &Trust| trust.number() >= number.get();
                Trust::ALL.into_iter().rev().find(is_enough).unwrap_or(Trust::User)
            }
        }
    }
}

/// As it stands in a variable, where a number is text like everything else.
impl std::str::FromStr for PromoteAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = serde_json::from_str::<serde_json::Number>(text.trim()).ok();
        let is_share = |number: &serde_json::Number| {
            number.as_f64().is_some_and(|number| SHARE.contains(&number))
        };
        match (text.parse(), number.filter(is_share)) {
            (Ok(trust), _) => Ok(Self::Word(trust)),
            (Err(_), Some(number)) => Ok(Self::Number(Finite::from(number))),
            (Err(why), None) => Err(format!("{why}, and no number from 0 to 1")),
        }
    }
}

impl<'de> Deserialize<'de> for PromoteAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let value = serde_json::Value::deserialize(deserializer)?;
        let number = value.as_f64().filter(|number| SHARE.contains(number));
        match (&value, number) {
            (serde_json::Value::String(word), _) => {
                let trust = word.parse().map_err(|why| D::Error::custom(format!("{word} {why}")));
                trust.map(Self::Word)
            }
            (serde_json::Value::Number(number), Some(_)) => {
                Ok(Self::Number(Finite::from(number.clone())))
            }
            _ => Err(D::Error::custom(
                "expected user, code, unverified, tool, web or model, or a number from 0 to 1",
            )),
        }
    }
}

impl JsonSchema for PromoteAt {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PromoteAt".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = Trust::ALL.into_iter().map(Trust::name).collect();
        json_schema!({ "anyOf": [
            { "type": "string", "enum": words },
            { "type": "number", "minimum": 0, "maximum": 1 },
        ] })
    }
}

/// One sign that a text was written to steer whoever reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sign {
    /// Its name in the published table.
    pub kind: String,
    /// Where it stands, such as `line 3` or `name`.
    pub place: String,
    /// The words, short, with everything made visible.
    pub seen: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A person's word for one text, `knowledge/vouched/HASH.json`. It holds for exactly these bytes. Unknown
/// fields are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Vouch")]
pub struct Vouch {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// BLAKE3 of the file that was vouched for, in hexadecimal digits.
    pub hash: String,
    /// Where it stood, relative to `.agents/`.
    pub path: String,
    /// Why, in the person's words.
    pub why: String,
    /// When.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// How it was given; absent in those of versions that did not ask, which count as a script's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Open<Manner>>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Vouch {
    /// How far the text is trusted by it.
    pub fn trust(&self) -> Trust {
        match self.given.as_ref().and_then(Open::known) {
            Some(Manner::Terminal) => Trust::User,
            Some(Manner::Script) | None => Trust::Code,
        }
    }
}

/// What of the pending texts is in the newest commit of the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommittedTexts {
    /// BLAKE3 of the file as the commit has it, in hexadecimal digits, by its path relative to `.agents/`.
    pub files: BTreeMap<String, String>,
    /// Why git could not say; absent if it could, or if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a person gave their word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Manner {
    /// At a terminal.
    Terminal,
    /// Through a script, or whatever else has no terminal.
    Script,
}
