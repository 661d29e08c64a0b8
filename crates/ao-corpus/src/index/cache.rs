//! The index of a tree, kept beside it so that only what changed is read again.
//!
//! A cache never decides what is found. An entry is taken from it only if the file system still
//! says the same of its file (size, inode, both times), and said so long enough after the file's
//! last change that a second change cannot hide behind the same time. Everything else is read.
//! A cache that is missing, cut, flipped, of another version or not writable costs time only.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ao_tree::own_file;

use super::Index;
use super::assemble::assemble;
use super::build::{self, hash_of};
use super::compare::{Cached, Change, Compared, Fate, SECOND_NS, compare, settles_ns};
use super::draft::Stamp;
use super::image::Image;
use super::old;
use super::reader::Reader;
use super::shelf::{self, Shelf};
use super::source::Broken;
use crate::corpus::Kind;
use crate::files::{File, Files, Left};
use crate::past::Past;

/// Where the cache lies beneath `.agents/`.
pub(super) const FOLDER: &str = "ao/index";
const FILE: &str = "search.idx";

/// Whether a changed index is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    Yes,
    No,
}

/// A tree whose entries are searched.
#[derive(Debug, Clone)]
pub struct Place {
    pub agents: PathBuf,
    pub folders: Vec<String>,
    /// The time, as the caller knows it; nanoseconds since the epoch.
    pub now_ns: i64,
    pub keep: Keep,
}

/// What the cache was good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing was read but names and the ranges that were asked for.
    Warm,
    /// This many files were read.
    Updated { read: usize },
    /// Everything was read.
    Cold,
}

/// An index that is ready, and what there is to say about how it came to be.
#[derive(Debug)]
pub struct Opened {
    pub index: Index,
    pub state: State,
    /// What lies in the tree and is no entry.
    pub left: Vec<Left>,
    /// Why the cache could not be written, if so.
    pub unwritten: Option<String>,
    /// Of an earlier state: files that were changed since, and are read as they are now.
    pub later: Vec<String>,
    /// Of an earlier state: files whose bytes should be kept and are not.
    pub missing: Vec<String>,
}

impl Place {
    /// Asks the index. Should the cache turn out to be damaged on the way, everything is read anew
    /// and asked again.
    pub fn ask<T>(&self, ask: impl Fn(&Index) -> Result<T, Broken>) -> io::Result<(T, Opened)> {
        View { place: self, past: None }.ask(ask)
    }

    /// As [`Place::ask`], of the tree as it was.
    pub fn ask_past<T>(
        &self,
        past: &Past,
        ask: impl Fn(&Index) -> Result<T, Broken>,
    ) -> io::Result<(T, Opened)> {
        View { place: self, past: Some(past) }.ask(ask)
    }

    /// The earlier states that are at hand.
    pub fn shelf(&self) -> Shelf {
        Shelf::new(&self.agents, self.keep)
    }

    /// The index of the tree as it is now.
    pub fn open(&self) -> io::Result<Opened> {
        View { place: self, past: None }.open()
    }
}

/// A tree as it is, or as it was.
struct View<'a> {
    place: &'a Place,
    past: Option<&'a Past>,
}

impl View<'_> {
    fn ask<T>(&self, ask: impl Fn(&Index) -> Result<T, Broken>) -> io::Result<(T, Opened)> {
        let opened = self.open()?;
        if let Ok(answer) = ask(&opened.index) {
            return Ok((answer, opened));
        }
        let Opened { later, missing, .. } = opened;
        let opened = Opened { later, missing, ..self.cold(self.files()?)? };
        let answer = ask(&opened.index).map_err(io::Error::other)?;
        Ok((answer, opened))
    }

    fn open(&self) -> io::Result<Opened> {
        let files = self.files()?;
        let cached = self.cached();
        if self.past.is_none() && cached.is_err() {
            return self.cold(files);
        }
        let now: Vec<Option<Stamp>> = files.map(|file| stamp_of(&files, file));
        let (later, missing) = self.doubts(&files, &now);
        let opened = match cached.and_then(|cached| compare(&files, &now, cached)) {
            Ok(Compared::Same(reader)) => Opened {
                index: Index { reader },
                state: State::Warm,
                left: files.left,
                unwritten: None,
                later: Vec::new(),
                missing: Vec::new(),
            },
            Ok(Compared::Changed(change)) => self.update(files, &change)?,
            Err(Broken) => self.cold(files)?,
        };
        Ok(Opened { later, missing, ..opened })
    }

    /// The files that were changed after the state that is asked for, and those of it that are gone.
    fn doubts(&self, files: &Files, now: &[Option<Stamp>]) -> (Vec<String>, Vec<String>) {
        let (mut later, mut missing) = (Vec::new(), Vec::new());
        let Some(past) = self.past else { return (later, missing) };
        for (file, stamp) in files.found.iter().zip(now) {
            match stamp {
                None if file.is_kept() => missing.push(file.path.clone()),
                Some(stamp) if !file.is_kept() && stamp.modified_ns > past.until_ns => {
                    later.push(file.path.clone());
                }
                _ => {}
            }
        }
        (later, missing)
    }

    fn files(&self) -> io::Result<Files> {
        let Place { agents, folders, .. } = self.place;
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        let mut files = match self.past {
            Some(past) => Files::list_past(agents, &folders, past)?,
            None => Files::list(agents, &folders)?,
        };
        files.found.retain(|file| Kind::of(&file.path).is_some());
        Ok(files)
    }

    fn path(&self) -> PathBuf {
        match self.past {
            Some(past) => self.place.shelf().index_path(&past.name),
            None => path_in(&self.place.agents),
        }
    }

    fn cached(&self) -> Result<Cached, Broken> {
        let (image, written_ns) = image_of(&self.path())?;
        let reader = Reader::new(image)?;
        // Neither clock alone: ours may be wrong, and the file's is from after the walk.
        let settled_ns = written_ns.min(reader.whole.walked_ns);
        Ok(Cached { reader, settled_ns })
    }

    /// Reads what changed, and looks at what may have.
    fn update(&self, files: Files, change: &Change) -> io::Result<Opened> {
        let mut kept: Vec<Option<Stamp>> = vec![None; change.reader.entries];
        let mut wanted = Vec::new();
        let looked = crate::files::in_parallel(
            &change.fates_with(&files),
            |(file, fate)| matches!(fate, Fate::Look(_, stamp) if files.read(file).is_ok_and(|bytes| hash_of(&bytes) == stamp.hash)),
        );
        let mut read = 0;
        let mut is_worth_writing = change.reader.entries != files.found.len();
        for ((file, fate), is_unchanged) in change.fates_with(&files).into_iter().zip(looked) {
            match fate {
                Fate::Keep(entry, stamp) => kept[*entry] = Some(*stamp),
                Fate::Look(entry, stamp) if is_unchanged => {
                    kept[*entry] = Some(*stamp);
                    let latest = settles_ns(stamp.modified_ns).max(settles_ns(stamp.changed_ns));
                    // From a time to come: it would be looked at the next time all the same.
                    is_worth_writing |= latest < self.place.now_ns;
                }
                Fate::Look(..) | Fate::Read => {
                    read += 1;
                    is_worth_writing = true;
                    wanted.push(file);
                }
                Fate::Gone => {}
            }
        }
        let Ok(batch) = old::batch_of(&change.reader, |entry| kept[entry]) else {
            return self.cold(files);
        };
        let mut batches = build::read(&files, &wanted);
        batches.push(batch);
        let Ok(image) = assemble(batches, self.place.now_ns) else { return self.cold(files) };
        let state = State::Updated { read };
        let keep = if is_worth_writing { self.place.keep } else { Keep::No };
        self.finish(image, state, files.left, keep)
    }

    fn cold(&self, mut files: Files) -> io::Result<Opened> {
        let batches = build::read(&files, &files.found.iter().collect::<Vec<_>>());
        // The names are not needed any more, and there may be half a million of them.
        let left = std::mem::take(&mut files.left);
        drop(files);
        let image = assemble(batches, self.place.now_ns).map_err(io::Error::other)?;
        self.finish(image, State::Cold, left, self.place.keep)
    }

    fn finish(
        &self,
        mut image: Image,
        state: State,
        left: Vec<Left>,
        keep: Keep,
    ) -> io::Result<Opened> {
        let unwritten = match keep {
            Keep::Yes => self.write(&mut image).err().map(|error| error.to_string()),
            Keep::No => None,
        };
        let reader = Reader::new(image).map_err(io::Error::other)?;
        let (later, missing) = (Vec::new(), Vec::new());
        Ok(Opened { index: Index { reader }, state, left, unwritten, later, missing })
    }

    fn write(&self, image: &mut Image) -> io::Result<()> {
        shelf::make_folder(&self.place.agents)?;
        match image.as_file() {
            Some(bytes) => shelf::replace(&self.path(), bytes)?,
            None => return Ok(()),
        }
        match self.past {
            Some(past) => self.place.shelf().forget(&past.name),
            None => Ok(()),
        }
    }
}

/// Where the index of the tree as it is now is kept.
pub(super) fn path_in(agents: &Path) -> PathBuf {
    agents.join(FOLDER).join(FILE)
}

/// A kept index, and when its file was written.
pub(super) fn image_of(path: &Path) -> Result<(Image, i64), Broken> {
    let file = own_file::open(path).map_err(|_| Broken)?;
    let found = file.metadata().map_err(|_| Broken)?;
    let written_ns = found.mtime().saturating_mul(SECOND_NS).saturating_add(found.mtime_nsec());
    Ok((Image::open(file)?, written_ns))
}

/// `None` if it went meanwhile. What cannot be asked is read, and then says so itself.
fn stamp_of(files: &Files, file: &File) -> Option<Stamp> {
    match files.stat(file) {
        Ok(found) => found.as_ref().map(Stamp::of),
        Err(_) => Some(Stamp { modified_ns: i64::MAX, ..Stamp::default() }),
    }
}
