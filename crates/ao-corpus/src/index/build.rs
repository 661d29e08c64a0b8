//! Entries become drafts, on several threads.

use std::sync::Arc;

use super::draft::{Batch, BatchWriter, Stamp};
use super::entry::{facts_of, with_text};
use super::facts::{Facts, Sight};
use crate::corpus::Entry;
use crate::files::{File, Files};
use crate::tree::Tree;

const THREADS_MAX: usize = 8;
/// Fewer items than this are done sooner than a thread is started.
const ITEMS_A_THREAD: usize = 64;

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX)
}

/// A batch a thread. Which thread does what makes no difference to the index.
pub(super) fn in_batches<I: Sync>(
    items: &[I],
    threads: usize,
    put: impl Fn(&mut BatchWriter, &I) + Sync,
) -> Vec<Batch> {
    let threads = threads.min(items.len() / ITEMS_A_THREAD).max(1);
    let work = |part: &[I]| {
        let mut batch = BatchWriter::default();
        for item in part {
            put(&mut batch, item);
        }
        batch.finish()
    };
    if threads == 1 {
        return vec![work(items)];
    }
    let (chunk, work) = (items.len().div_ceil(threads), &work);
    std::thread::scope(|scope| {
        let started: Vec<_> =
            items.chunks(chunk).map(|part| scope.spawn(move || work(part))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Batch>| match thread.join() {
            Ok(batch) => batch,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        started.into_iter().map(join).collect()
    })
}

pub(super) fn batches(entries: &[Arc<Entry>]) -> Vec<Batch> {
    in_batches(entries, threads(), |batch, entry| put_entry(batch, entry, Stamp::default()))
}

/// As [`batches`], of those of a tree's entries that are there; they are read one by one.
pub(super) fn tree_batches(tree: &Tree, paths: &[String]) -> Vec<Batch> {
    in_batches(paths, threads(), |batch, path| {
        if let Some(entry) = tree.entry(path) {
            put_entry(batch, &entry, Stamp::default());
        }
    })
}

fn put_entry(batch: &mut BatchWriter, entry: &Entry, stamp: Stamp) {
    with_text(entry, |text| batch.add(entry.path.clone(), stamp, facts_of(entry), text));
}

/// Reads files and takes their words.
pub(super) fn read(files: &Files, wanted: &[&File]) -> Vec<Batch> {
    in_batches(wanted, threads(), |batch, file| {
        let mut stamp = None;
        let parsed = Entry::parse(&file.path, || {
            let (bytes, stat) = files.read_with_stat(file)?;
            stamp = Some(Stamp { hash: hash_of(&bytes), ..Stamp::of(&stat) });
            Ok(bytes)
        });
        match (parsed, stamp) {
            (Some(Ok(entry)), Some(stamp)) => put_entry(batch, &entry, stamp),
            (Some(_), stamp) => {
                // What could not be opened has a stamp that no file has, and is tried again.
                let facts = Facts { sight: Sight::Unreadable, ..Facts::default() };
                let stamp = stamp.unwrap_or_default();
                batch.add(file.path.clone(), stamp, facts, super::Text::default());
            }
            (None, _) => {}
        }
    })
}

/// Tells two versions of a file apart. Not against malice: who can write the file can make search
/// find whatever they like.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    const KEY: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |left: u64, right: u64| super::interner::fold(left ^ KEY, right | 1);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let start = fold(bytes.len() as u64, KEY);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(start, |hash, word| fold(hash.rotate_left(29) ^ word, hash.wrapping_add(KEY)))
}
