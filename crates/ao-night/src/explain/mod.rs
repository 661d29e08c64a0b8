//! Why a night did with an entry what it did, and what would have made it do otherwise.
//!
//! Nothing is judged here: the rules of the night are asked again, over the corpus that it read, and their
//! signals are handed on. A change that is said to turn a verdict was made, in memory, and the rule asked once more.

mod alter;
mod certificates;
mod feedback;
mod merging;
mod patterns;
mod pending;
mod pruning;
mod scene;
mod search;

use ao_contract::{Certificate, Signal};
use ao_corpus::Check;

pub use alter::Alteration;
pub use scene::{Scene, Source};

use scene::Thought;

/// The rules of a night.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Promotion,
    Feedback,
    Merge,
    Prune,
    Pattern,
}

impl Rule {
    pub fn name(self) -> &'static str {
        match self {
            Self::Promotion => "promotion",
            Self::Feedback => "feedback",
            Self::Merge => "merge",
            Self::Prune => "prune",
            Self::Pattern => "pattern",
        }
    }
}

/// What one rule says of the entry.
#[derive(Debug, Clone)]
pub struct Ruling {
    pub rule: Rule,
    /// What becomes of the entry by it.
    pub verdict: String,
    pub why: String,
    /// Whether it changes anything.
    pub acts: bool,
    pub checks: Vec<Check>,
    /// What speaks for and against a pending learning.
    pub signals: Vec<Signal>,
    /// The nearest others, each with what was asked.
    pub beside: Vec<Neighbour>,
    pub certificate: Option<Certificate>,
    pub flips: Vec<Flip>,
    /// Why there is none, where none was found.
    pub no_flip: Option<String>,
}

/// Another entry that this one was held against.
#[derive(Debug, Clone)]
pub struct Neighbour {
    pub path: String,
    pub checks: Vec<Check>,
    /// What decides which of the two stays: its name, and the value of each.
    pub rank: Vec<(&'static str, String, String)>,
}

/// Changes that turn a verdict, all of them together; one wherever one is enough.
#[derive(Debug, Clone)]
pub struct Flip {
    pub changes: Vec<Alteration>,
    /// What would become of the entry.
    pub verdict: String,
    pub checked: Checked,
}

/// What was asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// All rules, over the corpus with the file changed.
    Night,
    /// The one rule, with the value changed.
    Rule,
}

impl Ruling {
    fn new(rule: Rule, verdict: &str) -> Self {
        Self {
            rule,
            verdict: verdict.to_owned(),
            why: String::new(),
            acts: false,
            checks: Vec::new(),
            signals: Vec::new(),
            beside: Vec::new(),
            certificate: None,
            flips: Vec::new(),
            no_flip: None,
        }
    }
}

/// What the night does with an entry, as an edit of it would say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// Whether the file goes.
    pub is_delete: bool,
    pub reason: String,
}

/// Everything that the night decides about one entry.
#[derive(Debug)]
pub struct Explained {
    pub rulings: Vec<Ruling>,
    /// What it does, if anything.
    pub deed: Option<Deed>,
    /// Why the door would not let the file be changed, if it would not.
    pub refused: Option<String>,
}

/// Asks every rule about the entry at `path`, which is in the scene. What is done is told of the file `told`: the
/// same, or what is made of it.
pub fn explain(scene: &Scene, path: &str, told: &str) -> Result<Explained, String> {
    let thought = scene.think(&[])?;
    let mut rulings = Vec::new();
    rulings.extend(pending::ruling(scene, path)?);
    rulings.extend(feedback::ruling(scene, &thought, path));
    rulings.push(merging::ruling(scene, &thought, path)?);
    rulings.push(pruning::ruling(scene, &thought, path)?);
    rulings.extend(patterns::ruling(scene, &thought, path)?);
    Ok(Explained { rulings, deed: thought.deed(told), refused: thought.fixed.get(path).cloned() })
}
