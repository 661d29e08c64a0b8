//! What fitness asks of search and of the search for copies.

use std::path::Path;
use std::sync::Arc;

use ao_contract::RetrievalBench;

use crate::bench::{self, Questions};
use crate::corpus::{Corpus, Entry, Kind};
use crate::duplicates::{Cluster, Finder};
use crate::index::Index;
use crate::logs::CitationLog;
use crate::questions::Asked;
use crate::tree::Tree;

const NOTHING: &str = "there is nothing to ask for";

/// The questions that were asked of the learnings, and probes.
pub fn questions(corpus: &Corpus, citation_log: &CitationLog) -> Questions {
    let citations = bench::citations(&citation_log.text);
    let log_unread = citation_log.unread.clone();
    Questions { log_unread, ..bench::live_questions(&learnings(corpus), &citations) }
}

/// What was asked of the learnings.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieved {
    /// How well they answer; `Err` says why nothing could be asked.
    pub bench: Result<RetrievalBench, String>,
    /// Which of the past questions they answer, held out from the bench; `None` if that could not be asked.
    pub answered: Option<Vec<bool>>,
}

impl Retrieved {
    fn nothing(why: &str) -> Self {
        Self { bench: Err(why.into()), answered: None }
    }
}

/// How well the learnings answer them; `Err` says why nothing could be asked.
pub fn retrieval(corpus: &Corpus, questions: &Questions) -> Result<RetrievalBench, String> {
    retrieved(corpus, questions, &Asked::default()).bench
}

/// The same, with past questions beside them.
pub fn retrieved(corpus: &Corpus, questions: &Questions, past: &Asked) -> Retrieved {
    if questions.list.is_empty() && past.is_empty() {
        return Retrieved::nothing(NOTHING);
    }
    match Index::of_entries(&learnings(corpus).entries) {
        Ok(index) => asked(&index, questions, past),
        Err(error) => Retrieved::nothing(&error.to_string()),
    }
}

/// The same of a corpus and of what it is to become: what stays is not read again, nor what an index beneath `agents`
/// knows already.
pub fn retrievals(
    agents: &Path,
    [before, after]: [&Corpus; 2],
    questions: &Questions,
    past: &Asked,
) -> [Retrieved; 2] {
    let both = || {
        let [before, after] = [learnings(before), learnings(after)];
        let index = Index::of_known(agents, &before.entries).map_err(|error| error.to_string())?;
        let then = asked(&index, questions, past);
        let is_new = |entry: &&Arc<Entry>| {
            before.get(&entry.path).is_none_or(|known| !Arc::ptr_eq(known, entry))
        };
        let new: Vec<Arc<Entry>> = after.entries.iter().filter(is_new).cloned().collect();
        let is_gone = |path: &&String| after.get(path).is_none();
        let paths = before.entries.iter().map(|entry| &entry.path);
        let gone: Vec<String> = paths.filter(is_gone).cloned().collect();
        let index = index.into_next(&new, &gone).map_err(|error| error.to_string())?;
        Ok([then, asked(&index, questions, past)])
    };
    if questions.list.is_empty() && past.is_empty() {
        return [NOTHING, NOTHING].map(Retrieved::nothing);
    }
    both().unwrap_or_else(|why: String| [Retrieved::nothing(&why), Retrieved::nothing(&why)])
}

fn asked(index: &Index, questions: &Questions, past: &Asked) -> Retrieved {
    let bench = || {
        if questions.list.is_empty() {
            return Err(NOTHING.into());
        }
        let scores = bench::score(index, questions).map_err(|error| error.to_string())?;
        Ok(bench::live_report("learnings", index, questions, &scores))
    };
    Retrieved { bench: bench(), answered: past.answered(index).ok() }
}

/// Those of a corpus.
pub(crate) fn learnings(corpus: &Corpus) -> Corpus {
    let is_learning = |entry: &&Arc<Entry>| entry.kind == Kind::Learning;
    let entries = corpus.entries.iter().filter(is_learning).cloned().collect();
    Corpus { entries, left: Vec::new() }
}

/// The clusters of copies in a tree.
pub fn copies(tree: &Tree) -> Vec<Vec<String>> {
    let found = Finder::new(tree).find(tree, None);
    found.clusters.into_iter().map(Cluster::into_paths).collect()
}

#[cfg(test)]
mod tests {
    use super::{Asked, CitationLog, Corpus, Entry, questions, retrievals, retrieved};
    use std::path::Path;
    use std::sync::Arc;

    fn corpus(texts: impl Iterator<Item = (usize, String)>) -> Corpus {
        let parse = |(number, text): (usize, String)| {
            let path = format!("learnings/2026-03-01-case-{number:03}.md");
            Arc::new(Entry::parse(&path, || Ok(text.into_bytes())).unwrap().unwrap())
        };
        Corpus { entries: texts.map(parse).collect(), left: Vec::new() }
    }

    fn text(number: usize) -> String {
        let (a, b) = (number % 7, number % 11);
        format!(
            "---\ntype: learning\n---\n# Case {number}\n\nThe worker {a} waits for queue {b} \
             whenever the cache of shard {number} is cold and the timeout of region {a} is low.\n"
        )
    }

    #[test]
    fn both_at_once_are_each_by_itself() {
        let before = corpus((0..60).map(|number| (number, text(number))));
        let mut after = before.clone();
        // One goes, one is another, one is new, and the rest are the very same.
        after.entries.remove(5);
        after.entries[20] = corpus([(21, text(500))].into_iter()).entries.remove(0);
        after.entries.extend(corpus([(90, text(90))].into_iter()).entries);
        let asked = questions(&before, &CitationLog::default());
        assert!(!asked.list.is_empty());
        let past = ["queue 90 shard 90".to_owned(), "worker of shard 4".to_owned()];
        let past = Asked::of(&past, &[]);
        let apart = [&before, &after].map(|one| retrieved(one, &asked, &past));
        assert_eq!(retrievals(Path::new("none"), [&before, &after], &asked, &past), apart);
        assert_ne!(apart[0], apart[1], "the change can be seen");
    }
}
