//! The index: which entries have which words, and the ranking over it.
//!
//! An index is one run of bytes ([`image`]) that is searched in memory or in a file by ranges. It is
//! made from [`draft`]s, which each thread collects by itself, and depends on nothing but the
//! entries: not on their order, not on the number of threads, not on the machine.

mod assemble;
mod build;
mod bytes;
mod cache;
mod draft;
mod entry;
mod facts;
mod formula;
mod image;
mod interner;
mod old;
mod question;
mod rank;
mod reader;
mod source;

pub use cache::{Keep, Opened, Place, State};
pub use draft::Text;
pub use entry::facts_of;
pub use facts::{Facts, Sight};
pub use formula::RERANKED;
pub use question::{QUESTION_WORDS_MAX, Question};
pub use rank::{Part, PartKind, Ranked};
pub use source::Broken;

use std::sync::Arc;

use jiff::civil::Date;

use crate::corpus::Entry;
use crate::tree::Tree;
use draft::{BatchWriter, Stamp};
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

    /// An index of a tree as it would be; entries are read one by one.
    pub fn of_tree(tree: &Tree) -> Result<Self, Broken> {
        let batches = build::tree_batches(tree);
        Ok(Self { reader: Reader::new(assemble::assemble(batches, 0)?)? })
    }

    /// How many entries that can be found have a word of this stem.
    pub fn entries_with(&self, stem: &str) -> Result<u32, Broken> {
        match self.reader.find_stem(stem)? {
            Some(id) => Ok(self.reader.stem(id)?.df),
            None => Ok(0),
        }
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

    /// What makes up the relevance of an entry; added up in this order it is the relevance, for an
    /// entry among the first [`RERANKED`].
    pub fn explain(&self, question: &Question, entry: usize) -> Result<Vec<Part>, Broken> {
        rank::explain(&self.reader, question, entry)
    }
}
