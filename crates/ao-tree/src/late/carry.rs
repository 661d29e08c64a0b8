//! The moves: a file takes the place of another one, or is kept aside, and whoever is faster wins.

use std::ffi::OsStr;
use std::io;

use ao_contract::Conflict;

use super::{Late, Spot};
use crate::commit::{last, parent};
use crate::door::{CONFLICTS, is_absent};
use crate::fs::{Fs, Kind, Stat};
use crate::path::shown;
use crate::script::Known;

impl<F: Fs> Late<'_, F> {
    pub(super) fn live_stat(&self, path: &str, name: &OsStr) -> io::Result<Option<Stat>> {
        match self.door.open(parent(path))? {
            Some(dir) => self.door.fs.stat(&dir, name),
            None => Ok(None),
        }
    }

    /// The live folder of this path, made if it is missing.
    pub(super) fn live_folder(&self, path: &str) -> io::Result<F::Dir> {
        self.door.make_dirs(&self.door.fs.top(), path)
    }

    /// Keeps what stands in the live tree aside at `path`, and gives its place to the displaced
    /// file. Gives `false`, and changes nothing, when somebody was faster.
    pub(super) fn replace_live(
        &self,
        spot: &Spot<'_, F::Dir>,
        live: &Stat,
        path: &str,
    ) -> io::Result<bool> {
        if !self.keep_live(spot, live, path)? {
            return Ok(false);
        }
        let is_done = self.carry_into_live(spot, Some(Known::of(live)))?;
        if !is_done {
            self.keep_no_more(path)?;
        }
        Ok(is_done)
    }

    /// As [`Self::replace_live`], with nothing in its place.
    pub(super) fn remove_live(&self, spot: &Spot<'_, F::Dir>, live: &Stat) -> io::Result<bool> {
        if !self.keep_live(spot, live, spot.path)? {
            return Ok(false);
        }
        let is_done = self.take_from_live(spot.path, spot.name, Known::of(live))?;
        if !is_done {
            self.keep_no_more(spot.path)?;
        }
        Ok(is_done)
    }

    /// The displaced file takes the place of `expected` in the live tree, under its own inode.
    /// Gives `false` when something else stands there by now, which stays.
    pub(super) fn carry_into_live(
        &self,
        spot: &Spot<'_, F::Dir>,
        expected: Option<Known>,
    ) -> io::Result<bool> {
        let fs = &self.door.fs;
        let folder = match self.live_folder(parent(spot.path)) {
            // A folder of its path has become a file.
            Err(error) if is_absent(&error) => return Ok(false),
            folder => folder?,
        };
        let (link, live) = ((&self.carry, OsStr::new("link")), (&folder, spot.name));
        let displaced = spot.displaced()?;
        if fs.stat(displaced.0, displaced.1)?.is_some_and(|stat| stat.kind == Kind::Dir) {
            // A folder has no second name, so it is moved; to where nothing stands.
            let is_free = match expected {
                Some(expected) => self.take_from_live(spot.path, spot.name, expected)?,
                None => true,
            };
            return Ok(
                is_free && unless(io::ErrorKind::AlreadyExists, fs.rename_new(displaced, live))?
            );
        }
        self.door.remove_tree(link.0, link.1)?;
        fs.link(displaced, link)?;
        let is_done = match expected {
            None => unless(io::ErrorKind::AlreadyExists, fs.rename_new(link, live))?,
            Some(expected) => self.swap(link, live, expected, spot.path)?,
        };
        self.door.remove_tree(link.0, link.1)?;
        Ok(is_done)
    }

    fn swap(
        &self,
        link: (&F::Dir, &OsStr),
        live: (&F::Dir, &OsStr),
        expected: Known,
        path: &str,
    ) -> io::Result<bool> {
        let fs = &self.door.fs;
        if !unless(io::ErrorKind::NotFound, fs.exchange(link, live))? {
            return Ok(false);
        }
        if fs.stat(link.0, link.1)?.is_some_and(|out| expected.is_still(&out)) {
            return Ok(true);
        }
        // Somebody was faster, and gets their place back.
        if !unless(io::ErrorKind::NotFound, fs.exchange(link, live))? {
            self.give_back(link, live, path)?;
        }
        Ok(false)
    }

    /// Puts a file back to where it was taken from; aside, if yet another one stands there.
    fn give_back(
        &self,
        taken: (&F::Dir, &OsStr),
        live: (&F::Dir, &OsStr),
        path: &str,
    ) -> io::Result<()> {
        if !unless(io::ErrorKind::AlreadyExists, self.door.fs.rename_new(taken, live))? {
            self.keep(taken, None, &aside(path))?;
        }
        Ok(())
    }

    /// Takes `expected` out of the live tree. Gives `false` when something else stands there by
    /// now, which stays.
    pub(super) fn take_from_live(
        &self,
        path: &str,
        name: &OsStr,
        expected: Known,
    ) -> io::Result<bool> {
        let fs = &self.door.fs;
        let Some(folder) = self.door.open(parent(path))? else { return Ok(true) };
        let (taken, live) = ((&self.carry, OsStr::new("taken")), (&folder, name));
        self.door.remove_tree(taken.0, taken.1)?;
        if !unless(io::ErrorKind::NotFound, fs.rename_new(live, taken))? {
            return Ok(true);
        }
        let is_expected = fs.stat(taken.0, taken.1)?.is_some_and(|out| expected.is_still(&out));
        if is_expected {
            fs.remove_file(taken.0, taken.1)?;
        } else {
            self.give_back(taken, live, path)?;
        }
        Ok(is_expected)
    }

    /// Keeps what stands in the live tree aside, before it is replaced. Gives `false` when it is
    /// another file by now.
    fn keep_live(&self, spot: &Spot<'_, F::Dir>, live: &Stat, path: &str) -> io::Result<bool> {
        match self.door.open(parent(spot.path))? {
            Some(dir) => self.keep((&dir, spot.name), Some(live.inode), path),
            None => Ok(false),
        }
    }

    fn keep_no_more(&self, path: &str) -> io::Result<()> {
        let folder = format!("{CONFLICTS}/{}", parent(path));
        match self.door.open_from(&self.at.here, &folder)? {
            Some(folder) => self.door.remove_tree(&folder, OsStr::new(last(path))),
            None => Ok(()),
        }
    }

    pub(super) fn keep_displaced(&mut self, spot: &Spot<'_, F::Dir>) -> io::Result<()> {
        let path = aside(spot.path);
        self.keep(spot.displaced()?, None, &path)?;
        self.two_versions(spot, &path);
        Ok(())
    }

    pub(super) fn two_versions(&mut self, spot: &Spot<'_, F::Dir>, path: &str) {
        self.conflicts.push(Conflict {
            path: shown(spot.path),
            why: "two versions by others met; the newer one stays".to_owned(),
            kept: Some(format!("{CONFLICTS}/{}/{}", self.id, shown(path))),
            ours: None,
            live: None,
            extra: ao_contract::Extra::default(),
        });
    }

    /// Puts a file into the staged conflicts, and makes that durable: its place in the tree is
    /// given to another next. Gives `false`, and keeps nothing, when it is not `expected`.
    pub(super) fn keep(
        &self,
        file: (&F::Dir, &OsStr),
        expected: Option<u64>,
        path: &str,
    ) -> io::Result<bool> {
        let fs = &self.door.fs;
        let conflicts = self.door.make_dirs(&self.at.here, CONFLICTS)?;
        let folder = self.door.make_dirs(&conflicts, parent(path))?;
        let kept = (&folder, OsStr::new(last(path)));
        let is_folder = fs.stat(file.0, file.1)?.is_some_and(|stat| stat.kind == Kind::Dir);
        let put = if is_folder { fs.rename_new(file, kept) } else { fs.link(file, kept) };
        match put {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let inode = fs.stat(kept.0, kept.1)?.map(|stat| stat.inode);
        if expected.is_some() && inode != expected {
            fs.remove_file(kept.0, kept.1)?;
            return Ok(false);
        }
        fs.sync_tree(&conflicts)?;
        fs.sync_dir(&self.at.here)?;
        Ok(true)
    }

    pub(super) fn is_kept(&self, path: &str) -> io::Result<bool> {
        let folder = format!("{CONFLICTS}/{}", parent(path));
        match self.door.open_from(&self.at.here, &folder)? {
            Some(dir) => Ok(self.door.fs.stat(&dir, OsStr::new(last(path)))?.is_some()),
            None => Ok(false),
        }
    }
}

/// Where the other one of two versions goes.
pub(super) fn aside(path: &str) -> String {
    format!("{path}.displaced")
}

/// `false` for an error of this kind.
pub(super) fn unless(kind: io::ErrorKind, done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == kind => Ok(false),
        Err(error) => Err(error),
    }
}
