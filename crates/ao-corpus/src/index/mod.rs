//! The index: which entries have which words, and the ranking over it.
//!
//! An index is one run of bytes ([`image`]) that is searched in memory or in a file by ranges. It is
//! made from [`draft`]s, which each thread collects by itself, and depends on nothing but the
//! entries: not on their order, not on the number of threads, not on the machine.

mod assemble;
mod build;
mod bytes;
mod cache;
mod compare;
mod contest;
mod draft;
mod entry;
mod facts;
mod formula;
mod image;
mod interner;
mod known;
mod lanes;
mod old;
mod postings;
mod question;
mod rank;
mod reader;
mod shelf;
mod source;
mod vocabulary;

pub use cache::{Keep, Opened, Place, State};
pub use contest::{Contest, Rows, Wanted};
pub use draft::Text;
pub use entry::{facts_of, is_shown};
pub use facts::{Facts, Sight};
pub use formula::RERANKED;
pub use question::{QUESTION_WORDS_MAX, Question};
pub use rank::{Part, PartKind, Ranked};
pub use shelf::{Shelf, make_folder};
pub use source::Broken;

use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;

use crate::corpus::{Entry, Kind};
use crate::tree::Tree;
use draft::{Batch, BatchWriter, Stamp};
use reader::Reader;

/// Entries in the order of their keys, ready to be asked.
#[derive(Debug)]
pub struct Index {
    reader: Reader,
}

impl Index {
    /// An index of texts that are in memory. The keys must differ.
    pub fn of_texts<'a>(
        entries: impl IntoIterator<Item = (String, Facts, Text<'a>)>,
    ) -> Result<Self, Broken> {
        let mut batch = BatchWriter::default();
        for (key, facts, text) in entries {
            batch.add(key, Stamp::default(), facts, text);
        }
        Ok(Self { reader: Reader::new(assemble::assemble(vec![batch.finish()], 0)?)? })
    }

    /// An index of entries that are in memory.
    pub fn of_entries(entries: &[Arc<Entry>]) -> Result<Self, Broken> {
        Ok(Self { reader: Reader::new(assemble::assemble(build::batches(entries), 0)?)? })
    }

    /// As [`Index::of_entries`], with what the cache beneath `.agents/` knows of them.
    pub fn of_known(agents: &Path, entries: &[Arc<Entry>]) -> Result<Self, Broken> {
        match known::known(agents, entries) {
            Ok(reader) => Ok(Self { reader }),
            Err(Broken) => Self::of_entries(entries),
        }
    }

    /// An index of a tree as it would be; entries are read one by one.
    pub fn of_tree(tree: &Tree) -> Result<Self, Broken> {
        let batches = build::tree_batches(tree, &tree.paths());
        Ok(Self { reader: Reader::new(assemble::assemble(batches, 0)?)? })
    }

    /// The index of a tree that differs from the one of this index in these entries. There is never
    /// more than one of the two in memory.
    pub fn into_after(self, tree: &Tree, changed: &[String]) -> Result<Self, Broken> {
        self.without(changed, build::tree_batches(tree, changed))
    }

    /// The index of entries of which these are new or another one than before, and these are gone.
    pub fn into_next(self, new: &[Arc<Entry>], gone: &[String]) -> Result<Self, Broken> {
        let replaced = new.iter().map(|entry| &entry.path);
        let gone: Vec<String> = replaced.chain(gone).cloned().collect();
        self.without(&gone, build::batches(new))
    }

    /// What is left of this index, and these.
    fn without(self, paths: &[String], mut batches: Vec<Batch>) -> Result<Self, Broken> {
        let mut gone = vec![false; self.len()];
        for path in paths {
            if let Some(entry) = self.find(path)? {
                gone[entry] = true;
            }
        }
        let keep = |entry: usize| (!gone[entry]).then(Stamp::default);
        batches.push(old::batch_of(&self.reader, keep)?);
        drop(self);
        Ok(Self { reader: Reader::new(assemble::assemble(batches, 0)?)? })
    }

    /// How many entries that can be found have a word of this stem.
    pub fn entries_with(&self, stem: &str) -> Result<u32, Broken> {
        match self.reader.find_stem(stem)? {
            Some(id) => Ok(self.reader.stem(id)?.df),
            None => Ok(0),
        }
    }

    /// What a word is worth as one of its stem, and as this form of it.
    pub fn worth(&self, word: &str, stem: &str) -> Result<(f64, f64), Broken> {
        let totals = &self.reader.whole.totals;
        let of_stem = match self.reader.find_stem(stem)? {
            Some(id) => {
                let record = self.reader.stem(id)?;
                totals.worth(u64::from(record.df), u64::from(record.title_df))
            }
            None => 0.0,
        };
        let form = self.reader.find_form(word)?;
        Ok((of_stem, form.map_or(0.0, |(_, df)| totals.rarity(u64::from(df)))))
    }

    /// All entries, hidden ones among them.
    pub fn len(&self) -> usize {
        self.reader.entries
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries that can be found.
    pub fn shown(&self) -> u64 {
        self.reader.whole.totals.entries
    }

    /// Files that should be entries and cannot be read as such.
    pub fn unreadable(&self) -> u64 {
        self.reader.whole.unreadable
    }

    /// The newest day that a shown entry says.
    pub fn newest(&self) -> Option<Date> {
        self.reader.whole.newest
    }

    pub fn key(&self, entry: usize) -> Result<String, Broken> {
        self.reader.key(entry)
    }

    pub fn facts(&self, entry: usize) -> Result<Facts, Broken> {
        self.reader.facts(entry)
    }

    /// The part of [`Index::facts`] that a score needs; the names are left out.
    pub fn weights(&self, entry: usize) -> Result<Facts, Broken> {
        self.reader.weights(entry)
    }

    /// How much of a question's worth an entry has: 1 if it has every word.
    pub fn coverage(&self, question: &Question, entry: usize) -> Result<f64, Broken> {
        rank::coverage(&self.reader, question, entry)
    }

    /// The best `depth` entries by their words alone; none that is dated after `as_of`.
    pub fn rank(
        &self,
        question: &Question,
        depth: usize,
        as_of: Option<Date>,
    ) -> Result<Vec<Ranked>, Broken> {
        match as_of {
            None => rank::rank(&self.reader, question, depth, |_| Ok(true)),
            Some(as_of) => rank::rank(&self.reader, question, depth, |entry| {
                Ok(self.reader.weighed(entry)?.day.is_none_or(|day| day <= as_of))
            }),
        }
    }

    /// As [`Index::rank`], of what is knowledge: nothing that waits to be promoted.
    pub fn rank_promoted(&self, question: &Question, depth: usize) -> Result<Vec<Ranked>, Broken> {
        rank::rank(&self.reader, question, depth, |entry| {
            Ok(Kind::of(&self.reader.key(entry)?) != Some(Kind::Pending))
        })
    }

    /// How an entry stands among all others, where a score is the relevance times the factor of its
    /// entry and no factor is greater than `factor_max`.
    pub fn contest(
        &self,
        rows: &Rows,
        question: &Question,
        wanted: Wanted,
        factors: &[f64],
        factor_max: f64,
    ) -> Result<Contest, Broken> {
        contest::contest(&self.reader, rows, question, wanted, factors, factor_max)
    }

    /// How many of these others come before an entry at most; see [`Index::contest`].
    pub fn before_among(
        &self,
        question: &Question,
        entry: usize,
        others: &[usize],
        factors: &[f64],
    ) -> Result<usize, Broken> {
        contest::before_among(&self.reader, question, entry, others, factors)
    }

    /// What [`Index::contest`] needs, made as words are asked for.
    pub fn rows(&self) -> Result<Rows, Broken> {
        Ok(Rows::new(self.reader.prepare()?))
    }

    /// The number of an entry.
    pub fn find(&self, key: &str) -> Result<Option<usize>, Broken> {
        self.reader.find_entry(key)
    }

    /// What makes up the relevance of an entry; added up in this order it is the relevance, for an
    /// entry among the first [`RERANKED`].
    pub fn explain(&self, question: &Question, entry: usize) -> Result<Vec<Part>, Broken> {
        rank::explain(&self.reader, question, entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A corpus of a few hundred entries with words that many share.
    fn entries() -> Vec<(String, String, String)> {
        let word = |n: usize| format!("w{}ing", n * n % 97);
        (0..300)
            .map(|entry| {
                let body: Vec<String> = (0..40).map(|at| word(entry * 7 + at * 3)).collect();
                (format!("learnings/{entry:04}.md"), word(entry), body.join(" "))
            })
            .collect()
    }

    fn bytes(batches: Vec<Batch>) -> Vec<u8> {
        assemble::assemble(batches, 7).unwrap().as_file().unwrap().to_vec()
    }

    fn put(batch: &mut BatchWriter, (key, title, body): &(String, String, String)) {
        let text = Text { title, tags: "", body: &[body] };
        batch.add(key.clone(), Stamp::default(), Facts::default(), text);
    }

    #[test]
    fn neither_threads_nor_order_make_a_difference() {
        let mut all = entries();
        let one = bytes(build::in_batches(&all, 1, put));
        for threads in 2..5 {
            assert_eq!(bytes(build::in_batches(&all, threads, put)), one, "{threads} threads");
        }
        all.reverse();
        assert_eq!(bytes(build::in_batches(&all, 2, put)), one, "reversed");
    }

    #[test]
    fn an_updated_index_is_the_bytes_of_a_fresh_one() {
        let all = entries();
        let some: Vec<_> = all.iter().filter(|one| !one.0.ends_with("7.md")).cloned().collect();
        let old = assemble::assemble(build::in_batches(&all, 2, put), 0).unwrap();
        let old = Reader::new(old).unwrap();
        // Some go.
        let keep = |entry: usize| (entry % 10 != 7).then(Stamp::default);
        let kept = old::batch_of(&old, keep).unwrap();
        assert_eq!(bytes(vec![kept]), bytes(build::in_batches(&some, 1, put)));
        // Some come back.
        let back: Vec<_> = all.iter().filter(|one| one.0.ends_with("7.md")).cloned().collect();
        let mut batches = build::in_batches(&back, 1, put);
        batches.push(old::batch_of(&old, keep).unwrap());
        assert_eq!(bytes(batches), bytes(build::in_batches(&all, 1, put)));
    }

    #[test]
    fn the_best_come_first_and_equals_by_their_paths() {
        let body = ["alpha beta"];
        let text = |title| Text { title, tags: "", body: &body };
        let entry = |key: &str, title| (key.to_owned(), Facts::default(), text(title));
        let index = Index::of_texts([entry("c", ""), entry("a", ""), entry("b", "beta")]).unwrap();
        let ranked = index.rank(&Question::new("Beta"), 10, None).unwrap();
        let keys: Vec<String> = ranked.iter().map(|one| index.key(one.entry).unwrap()).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert_eq!(index.rank(&Question::new("beta"), 2, None).unwrap().len(), 2);
        assert!(index.rank(&Question::new("nobody"), 10, None).unwrap().is_empty());
        let none = Index::of_texts([]).unwrap().rank(&Question::new("beta"), 10, None);
        assert!(none.unwrap().is_empty());
    }

    /// Far more entries than are looked at twice: the selection of the best is exact.
    #[test]
    fn the_selection_of_the_best_is_the_same_as_sorting_them_all() {
        let all = entries();
        let image = assemble::assemble(build::in_batches(&all, 1, put), 0).unwrap();
        let index = Index { reader: Reader::new(image).unwrap() };
        let question = Question::new("w0ing w1ing w4ing w9ing");
        let whole = index.rank(&question, 1000, None).unwrap();
        assert!(whole.len() > 150);
        for depth in [1, 7, 99, 100, 101, 150] {
            let some = index.rank(&question, depth, None).unwrap();
            assert_eq!(some, whole[..depth], "{depth}");
        }
        for ranked in &whole[..RERANKED] {
            let parts = index.explain(&question, ranked.entry).unwrap();
            let sum = parts.iter().fold(0.0, |sum, part| sum + part.adds);
            assert_eq!(sum.to_bits(), ranked.relevance.to_bits());
        }
    }
}
