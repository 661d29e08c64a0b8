//! What a proof still says after a few entries were put back.
//!
//! Where some of a round's merges lose something, the others are tried again without them: in a corpus
//! with a few other entries, in which nearly every word is worth nearly what it was. Who was found with
//! room for those entries that come before it now, by words that are worth the same, is found in it
//! too, and does not have to hold its own against everybody once more.

use std::collections::{BTreeMap, BTreeSet};

use ao_contract::Certificate;
use jiff::civil::Date;

use crate::index::{Broken, Index, Question};
use crate::search::{Places, SLACK};
use crate::tree::Tree;
use crate::words;

/// How far the worth of a word may move. An entry's score and the others' may do so in opposite
/// directions, and half of the slack is left for what changes with the number of entries and their
/// average length.
const MOVED: f64 = SLACK / 4.0;
/// One entry in so many changes that number and the average by less than [`MOVED`].
const ENTRIES_MIN: usize = 1000;

/// The worth of the words of entries that change.
pub(super) struct Worths<'a> {
    /// Each word with its stem, and the worth of both.
    words: BTreeMap<(String, String), (f64, f64)>,
    /// These entries.
    changed: &'a [String],
    newest: Option<Date>,
}

impl<'a> Worths<'a> {
    /// Of the entries that differ between two trees, in the index of the first.
    pub(super) fn of(
        index: &Index,
        trees: [&Tree; 2],
        changed: &'a [String],
    ) -> Result<Self, Broken> {
        let mut found = BTreeSet::new();
        for entry in changed.iter().flat_map(|path| trees.map(|tree| tree.entry(path))).flatten() {
            let text = String::from_utf8_lossy(entry.document.bytes());
            words::each_word(&text, |word| {
                found.insert((word.to_owned(), words::stem(word)));
            });
        }
        let worth = |pair: (String, String)| {
            let worth = index.worth(&pair.0, &pair.1)?;
            Ok((pair, worth))
        };
        let words = found.into_iter().map(worth).collect::<Result<_, _>>()?;
        Ok(Self { words, changed, newest: index.newest() })
    }

    /// What became of them in the index of the second tree; `None` if it is too different.
    pub(super) fn drift(self, index: &Index) -> Result<Option<Drift>, Broken> {
        let is_slight = self.changed.len() * ENTRIES_MIN <= index.len();
        if !is_slight || self.newest != index.newest() {
            return Ok(None);
        }
        let mut moved = BTreeSet::new();
        for ((word, stem), old) in self.words {
            let new = index.worth(&word, &stem)?;
            let is_near = |old: f64, new: f64| (new - old).abs() <= MOVED * old.min(new);
            if !is_near(old.0, new.0) || !is_near(old.1, new.1) {
                moved.extend([word, stem]);
            }
        }
        let mut there = Vec::new();
        for path in self.changed {
            there.extend(index.find(path)?);
        }
        Ok(Some(Drift { changed: self.changed.iter().cloned().collect(), there, moved }))
    }
}

/// How a corpus differs from the one that was asked before.
pub(super) struct Drift {
    /// Entries that are new, gone or different.
    changed: BTreeSet<String>,
    /// The numbers of those that are there.
    there: Vec<usize>,
    /// Words and stems that are no longer worth the same.
    moved: BTreeSet<String>,
}

impl Drift {
    /// Whether a certificate that passed before, with this room, holds in the corpus of `places`.
    pub(super) fn spares(
        &self,
        places: &Places<'_>,
        certificate: &Certificate,
        successor: &str,
        room: usize,
    ) -> Result<bool, Broken> {
        if self.changed.contains(successor) {
            return Ok(false);
        }
        for probe in certificate.probes.iter().filter(|probe| probe.before.is_some()) {
            let question = Question::new(&probe.query);
            let is_moved = |word: &str| self.moved.contains(word);
            if question.words().any(|(word, stem)| is_moved(word) || is_moved(stem))
                || places.before_among(&question, successor, &self.there)? > room
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ao_contract::{Basis, CertificateVerdict, Extra, Probe, ProbeKind, SchemaVersion};

    use super::*;
    use crate::certificate::{self, FOUND_WITHIN};
    use crate::corpus::{Corpus, Entry};

    /// So many entries have each of them that a few more make no difference to what it is worth.
    fn word(at: usize) -> String {
        format!("w{}", at % 409)
    }

    fn words_of(entry: usize) -> Vec<String> {
        let at = |at: usize| word(entry * 7919 + at * at * 31 + at * 1013);
        // Each text has eight near copies, so that places are contested.
        let entry = entry / 9;
        (0..12).map(|nth| word(entry * 7919 + nth * nth * 31)).chain((12..20).map(at)).collect()
    }

    fn entry(number: usize, words: &[String]) -> Arc<Entry> {
        let text = format!("---\ntitle: {}\n---\n{}\n", words[0], words.join(" "));
        let path = format!("learnings/{number:05}.md");
        Arc::new(Entry::parse(&path, || Ok(text.into_bytes())).unwrap().unwrap())
    }

    fn certificate(words: &[String], from: usize) -> Certificate {
        let probe = |nth: usize| {
            let query = words[nth..].iter().take(6).cloned().collect::<Vec<_>>().join(" ");
            Probe { kind: ProbeKind::Rare, query, before: Some(1), after: None }
        };
        Certificate {
            schema_version: SchemaVersion,
            entry: String::new(),
            successor: None,
            basis: Basis::Found,
            verdict: CertificateVerdict::Refused,
            why: String::new(),
            counted: 8,
            probes: (from..from + 8).map(probe).collect(),
            extra: Extra::default(),
        }
    }

    /// Whoever is spared must pass when it is asked all the same.
    #[test]
    fn who_is_spared_would_pass() {
        let entries: Vec<Arc<Entry>> = (0..12_000).map(|nth| entry(nth, &words_of(nth))).collect();
        let base = Tree::of(Arc::new(Corpus { entries, left: Vec::new() }));
        let index = Index::of_tree(&base).unwrap();
        let (mut spared, mut asked, mut full) = (0, 0, 0);
        for turn in 0..4 {
            // New ones that are much like an entry that is asked for, and one that goes.
            let mut after = base.clone();
            let like = words_of(turn * 297);
            for new in 0..3 {
                after.write(entry(90_000 + new, &[&like[new..], &[word(new)][..]].concat()));
            }
            after.delete(&format!("learnings/{:05}.md", turn * 301 + 7));
            let changed = after.differing(&base);
            let worths = Worths::of(&index, [&base, &after], &changed).unwrap();
            let new = Index::of_tree(&after).unwrap();
            let drift = worths.drift(&new).unwrap().unwrap();
            let (old, new) = (Places::of(&index).unwrap(), Places::of(&new).unwrap());
            for nth in (0..12_000).step_by(37).chain(turn * 297..turn * 297 + 9) {
                let mut one = certificate(&words_of(nth), nth % 5);
                let successor = format!("learnings/{nth:05}.md");
                let room = certificate::ask_after(&old, &mut one, &successor).unwrap();
                if one.verdict != CertificateVerdict::Passed {
                    continue;
                }
                full += usize::from(room + 1 < FOUND_WITHIN);
                let is_spared = drift.spares(&new, &one, &successor, room).unwrap();
                certificate::ask_after(&new, &mut one, &successor).unwrap();
                let holds = one.verdict == CertificateVerdict::Passed;
                assert!(holds || !is_spared, "{successor} {}", one.why);
                *if is_spared { &mut spared } else { &mut asked } += 1;
            }
        }
        assert!(spared > 50 && asked > 10 && full > 10, "{spared} {asked} {full}");
        // A corpus that becomes another one spares nobody.
        let mut after = base.clone();
        (0..13).for_each(|new| after.write(entry(90_000 + new, &words_of(new))));
        let changed = after.differing(&base);
        let worths = Worths::of(&index, [&base, &after], &changed).unwrap();
        assert!(worths.drift(&Index::of_tree(&after).unwrap()).unwrap().is_none());
    }
}
