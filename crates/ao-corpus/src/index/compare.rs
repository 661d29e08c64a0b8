//! A cached index beside what the file system says now: which entries are still what they were.

use super::draft::Stamp;
use super::image::Section;
use super::reader::{Reader, stamps};
use super::source::Broken;
use crate::files::{File, Files};

/// Kernels stamp files with a clock that ticks; no tick is longer.
const TICK_NS: i64 = 20_000_000;
/// Some file systems keep whole seconds only, and one of them even ones.
const COARSE_TICK_NS: i64 = 2_000_000_000;
pub(super) const SECOND_NS: i64 = 1_000_000_000;

/// What becomes of each file, by what the file system says of it now.
pub(super) fn compare(
    files: &Files,
    now: &[Option<Stamp>],
    cached: Cached,
) -> Result<Compared, Broken> {
    let old = Old::read(&cached.reader)?;
    let mut fates = Vec::with_capacity(files.found.len());
    let mut entry = 0;
    let mut is_same = true;
    for (file, now) in files.found.iter().zip(now) {
        while old.key(entry).is_some_and(|key| key < file.path.as_bytes()) {
            // It is gone.
            is_same = false;
            entry += 1;
        }
        let is_known = old.key(entry) == Some(file.path.as_bytes());
        let fate = match now {
            // It went between the two looks.
            None => Fate::Gone,
            Some(now) if is_known => fate(&old.stamps[entry], now, entry, cached.settled_ns),
            Some(_) => Fate::Read,
        };
        is_same &= matches!(fate, Fate::Keep(..));
        entry += usize::from(is_known);
        fates.push(fate);
    }
    if is_same && entry == cached.reader.entries {
        return Ok(Compared::Same(cached.reader));
    }
    Ok(Compared::Changed(Change { reader: cached.reader, fates }))
}

fn fate(old: &Stamp, now: &Stamp, entry: usize, settled_ns: i64) -> Fate {
    let with_hash = Stamp { hash: old.hash, ..*now };
    let is_same_file = Stamp { changed_ns: old.changed_ns, ..with_hash } == *old;
    if !is_same_file {
        return Fate::Read;
    }
    let latest = settles_ns(now.modified_ns).max(settles_ns(now.changed_ns));
    if now.changed_ns == old.changed_ns && latest < settled_ns {
        return Fate::Keep(entry, with_hash);
    }
    Fate::Look(entry, with_hash)
}

/// When a file that says this time of itself can no longer be changed behind it.
pub(super) fn settles_ns(time_ns: i64) -> i64 {
    let tick = if time_ns % SECOND_NS == 0 { COARSE_TICK_NS } else { TICK_NS };
    time_ns.saturating_add(tick)
}

pub(super) struct Cached {
    pub(super) reader: Reader,
    /// Files that changed before this can be trusted to have changed no more.
    pub(super) settled_ns: i64,
}

pub(super) enum Compared {
    Same(Reader),
    Changed(Change),
}

pub(super) struct Change {
    pub(super) reader: Reader,
    /// For each file.
    fates: Vec<Fate>,
}

impl Change {
    pub(super) fn fates_with<'a>(&'a self, files: &'a Files) -> Vec<(&'a File, &'a Fate)> {
        files.found.iter().zip(&self.fates).collect()
    }
}

/// What becomes of a file's place in the index.
pub(super) enum Fate {
    /// As the cache has it.
    Keep(usize, Stamp),
    /// As the cache has it, if its bytes are the same.
    Look(usize, Stamp),
    Read,
    Gone,
}

/// Paths and stamps of a cached index.
struct Old {
    ends: Vec<u8>,
    paths: Vec<u8>,
    stamps: Vec<Stamp>,
}

impl Old {
    fn read(reader: &Reader) -> Result<Self, Broken> {
        let ends = reader.image.whole(Section::PathEnds)?.into_owned();
        let paths = reader.image.whole(Section::Paths)?.into_owned();
        let stamps = stamps(&reader.image)?;
        if stamps.len() != reader.entries {
            return Err(Broken);
        }
        Ok(Self { ends, paths, stamps })
    }

    fn key(&self, entry: usize) -> Option<&[u8]> {
        let ends = self.ends.as_chunks::<4>().0;
        let end = u32::from_le_bytes(*ends.get(entry)?) as usize;
        let start = if entry == 0 { 0 } else { u32::from_le_bytes(ends[entry - 1]) as usize };
        self.paths.get(start..end)
    }
}
