//! Entries become drafts, on several threads.

use std::sync::Arc;

use super::draft::{Batch, BatchWriter, Stamp};
use super::entry::{facts_of, with_text};
use super::facts::{Facts, Sight};
use crate::corpus::Entry;
use crate::files::{File, Files};

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

fn put_entry(batch: &mut BatchWriter, entry: &Entry, stamp: Stamp) {
    with_text(entry, |text| batch.add(entry.path.clone(), stamp, facts_of(entry), text));
}

/// A file that must be read, with what the file system says of it.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) file: &'a File,
    pub(super) stamp: Stamp,
}

/// Reads files and takes their words.
pub(super) fn read(files: &Files, wanted: &[Wanted<'_>]) -> Vec<Batch> {
    in_batches(wanted, threads(), |batch, Wanted { file, stamp }| {
        let mut stamp = *stamp;
        let parsed = Entry::parse(&file.path, || {
            files.read(file).inspect(|bytes| stamp.hash = hash_of(bytes))
        });
        match parsed {
            Some(Ok(entry)) => put_entry(batch, &entry, stamp),
            Some(Err(_)) => {
                let facts = Facts { sight: Sight::Unreadable, ..Facts::default() };
                batch.add(file.path.clone(), stamp, facts, super::Text::default());
            }
            None => {}
        }
    })
}

/// Tells two versions of a file apart.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(super::source::check_of(bytes))
}
