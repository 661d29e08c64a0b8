//! What was asked before, and whether the corpus has an answer to it.
//!
//! The log is read from its end, and what cannot be read of it is passed over: other tools may write to it too.
//! Nothing that changes the corpus or judges a change reads these questions. They are held out, so that a
//! night cannot be made to look good by them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::AskedQuestion;

use crate::bench::CitedFor;
use crate::corpus::Corpus;
use crate::files::in_parallel;
use crate::fitness::learnings;
use crate::index::{Broken, Index, Question};
use crate::lineage::{Found, Lineage};
use crate::logs::read_file;
use crate::search::{Asking, scored};

/// Beneath `.agents/`; what it was before it had grown too large has `.1` behind its name.
pub const LOG: &str = "ao/questions.jsonl";
const OLDER: &str = "ao/questions.jsonl.1";
/// A log of this size is put aside.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// A longer question is a document.
pub const QUESTION_BYTES_MAX: usize = 500;
/// The last so many questions that differ.
pub const ASKED_MAX: usize = 200;
/// Others may let the log grow; a larger one is not read.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
const LINE_BYTES_MAX: usize = 16 * 1024;
/// No more lines are looked at, however often the same was asked.
const LINES_MAX: usize = 20_000;
/// An answer is among the first so many.
pub const ANSWER_WITHIN: usize = 10;
/// An answer has so much of what the words of the question are worth, or more.
pub const ANSWER_SHARE: f64 = 0.8;

/// The last questions, the newest first, each once: those with the same stems are the same.
pub fn last_asked(agents: &Path) -> Vec<String> {
    let (mut seen, mut asked) = (BTreeSet::new(), Vec::new());
    let mut left = LINES_MAX;
    for path in [LOG, OLDER] {
        let Ok(Ok(Some(bytes))) = read_file(agents, path, FILE_BYTES_MAX) else { continue };
        for line in bytes.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            if asked.len() == ASKED_MAX || left == 0 {
                return asked;
            }
            left -= 1;
            let Some(question) = question_of(line) else { continue };
            let stems: Vec<String> = Question::new(&question).stems().map(str::to_owned).collect();
            if !stems.is_empty() && seen.insert(stems) {
                asked.push(question);
            }
        }
    }
    asked
}

fn question_of(line: &[u8]) -> Option<String> {
    if line.len() > LINE_BYTES_MAX {
        return None;
    }
    let line: AskedQuestion = serde_json::from_slice(line).ok()?;
    let question = line.question.trim();
    (question.len() <= QUESTION_BYTES_MAX).then(|| question.to_owned())
}

/// Questions that are fixed, so that before and after are asked the same ones.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    list: Vec<One>,
}

#[derive(Debug, Clone)]
struct One {
    text: String,
    question: Question,
    /// What somebody applied or referred to for it.
    cited: Vec<String>,
}

impl Asked {
    /// These questions, with what was cited for them.
    pub fn of(questions: &[String], citations: &[CitedFor]) -> Self {
        let mut cited: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for one in citations {
            cited.entry(&one.query).or_default().insert(&one.path);
        }
        let one = |text: &String| One {
            text: text.clone(),
            question: Question::new(text),
            cited: cited
                .get(text.as_str())
                .map(|paths| paths.iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
        };
        Self { list: questions.iter().map(one).collect() }
    }

    /// Those of them with these texts.
    #[must_use]
    pub fn only(&self, texts: &[String]) -> Self {
        let is_wanted = |one: &&One| texts.contains(&one.text);
        Self { list: self.list.iter().filter(is_wanted).cloned().collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many of them are among the questions of the bench too, because somebody applied or referred to an answer.
    pub fn judged(&self) -> usize {
        self.list.iter().filter(|one| !one.cited.is_empty()).count()
    }

    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|one| one.text.as_str())
    }

    /// Of each question, whether it has an answer: among the first [`ANSWER_WITHIN`] is an entry with
    /// [`ANSWER_SHARE`] of what its words are worth, or one that was cited for it.
    pub fn answered(&self, index: &Index) -> Result<Vec<bool>, Broken> {
        let is_cited = self.list.iter().any(|one| !one.cited.is_empty());
        let lineage = if is_cited { Some(Lineage::of(index)?) } else { None };
        let answered = in_parallel(&self.list, |one| one.is_answered(index, lineage.as_ref()));
        answered.into_iter().collect()
    }

    /// The same of the learnings beneath `.agents/` as they are.
    pub fn answered_now(&self, agents: &Path) -> Result<Vec<bool>, String> {
        let corpus = Corpus::read(agents, &["learnings"]).map_err(|error| error.to_string())?;
        let index = Index::of_known(agents, &learnings(&corpus).entries);
        index.and_then(|index| self.answered(&index)).map_err(|error| error.to_string())
    }
}

impl One {
    fn is_answered(&self, index: &Index, lineage: Option<&Lineage>) -> Result<bool, Broken> {
        let asking = Asking { limit: ANSWER_WITHIN, as_of: None };
        let entries = scored(index, &self.question, asking)?;
        for (_, ranked, _) in &entries {
            if index.coverage(&self.question, ranked.entry)? >= ANSWER_SHARE {
                return Ok(true);
            }
        }
        let Some(lineage) = lineage.filter(|_| !self.cited.is_empty()) else { return Ok(false) };
        let right = |path: &String| match lineage.find(path) {
            Found::Entry { path, .. } => Some(path),
            _ => None,
        };
        let right: BTreeSet<String> = self.cited.iter().filter_map(right).collect();
        for (_, ranked, _) in &entries {
            if right.contains(&index.key(ranked.entry)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
