//! Entries on their way into an index: their words as numbers of a vocabulary that only this batch
//! knows.
//!
//! Each thread fills a batch of its own. What the numbers are depends on which thread read what;
//! [`super::assemble`] gives every word the number that its place in the alphabet has, and then
//! nothing depends on it any more.

use ao_tree::Stat;

use super::bytes::put_varint;
use super::facts::{Facts, Sight};
use super::interner::Interner;
use crate::words;

/// What the file system said of a file when it was read, and what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified_ns: i64,
    pub(super) changed_ns: i64,
    pub(super) inode: u64,
    /// Of the bytes.
    pub(super) hash: u64,
}

impl Stamp {
    /// Without the hash.
    pub(super) fn of(stat: &Stat) -> Self {
        let time = |ns: i128| i64::try_from(ns).unwrap_or(i64::MAX);
        Self {
            size: stat.size,
            modified_ns: time(stat.modified_ns),
            changed_ns: time(stat.changed_ns),
            inode: stat.inode,
            hash: 0,
        }
    }
}

/// The parts of an entry that have words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Text<'a> {
    pub title: &'a str,
    pub tags: &'a str,
    /// One piece after the other.
    pub body: &'a [&'a str],
}

#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) key: String,
    pub(super) stamp: Stamp,
    pub(super) facts: Facts,
    /// Words of the title, then tags, then all of them.
    pub(super) title: u32,
    pub(super) tags: u32,
    pub(super) words: u32,
    /// Where they are in the batch.
    pub(super) span: std::ops::Range<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) vocabulary: Vec<Box<str>>,
    pub(super) words: Vec<u8>,
    pub(super) drafts: Vec<Draft>,
    /// Every word of the vocabulary is a word of one of the drafts.
    pub(super) is_whole: bool,
}

#[derive(Debug, Default)]
pub(super) struct BatchWriter {
    interner: Interner,
    words: Vec<u8>,
    drafts: Vec<Draft>,
}

impl BatchWriter {
    /// A hidden entry keeps its name and loses its words.
    pub(super) fn add(&mut self, key: String, stamp: Stamp, facts: Facts, text: Text<'_>) {
        let start = self.words.len();
        let (mut title, mut tags, mut body) = (0, 0, 0);
        if facts.sight == Sight::Shown {
            title = self.put(text.title);
            tags = self.put(text.tags);
            body = text.body.iter().map(|piece| self.put(piece)).sum();
        }
        let words = title + tags + body;
        let span = start..self.words.len();
        self.drafts.push(Draft { key, stamp, facts, title, tags, words, span });
    }

    fn put(&mut self, text: &str) -> u32 {
        let mut count = 0;
        words::each_word(text, |word| {
            if let Some(id) = self.interner.id(word) {
                put_varint(&mut self.words, id);
                count += 1;
            }
        });
        count
    }

    pub(super) fn finish(self) -> Batch {
        let vocabulary = self.interner.into_words();
        Batch { vocabulary, words: self.words, drafts: self.drafts, is_whole: true }
    }
}
