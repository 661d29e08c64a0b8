//! The commit: from the marker on there is only one way, forward.
//!
//! [`Door::decide`] puts the marker down; [`Door::finish`] does everything after it, in steps that
//! each look first whether they were done. Recovery is [`Door::finish`] once more.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;

use crate::door::{ARCHIVE, CONFLICTS, Door, GENERATION, HISTORY, UNDO};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::late::Late;
use crate::script::{Origin, Work};
use crate::stage::{BALLAST, DISPLACED, MARKER, Room, SLOTS};

impl<F: Fs> Door<F> {
    /// The commit point. After an error the marker may or may not be there; the caller looks.
    pub(crate) fn decide(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let odd = format!("{GENERATION}.odd");
        let marker = work.script.marker_name();
        let decide = || {
            self.fs.rename((&at.here, OsStr::new(&odd)), (&at.state, OsStr::new(GENERATION)))?;
            self.fs.rename((&at.here, OsStr::new(MARKER)), (&at.state, OsStr::new(&marker)))?;
            self.fs.sync_dir(&at.state)?;
            self.fs.sync_dir(&at.here)
        };
        if ao_mutant::active("LOOP-21/exchange-comes-before-the-marker") {
            self.bring_all_in(work, at)?;
        }
        decide().map_err(Error::io(format!("put down {marker}")))
    }

    /// Everything that a decided commit still has to do. After it the commit is done, and what came out of the
    /// tree is in `displaced/ID`.
    pub(crate) fn finish(&self, work: &mut Work, at: &Room<F::Dir>) -> Result<()> {
        self.announce(at)?;
        if self.is_unrecorded(at)? {
            self.let_ballast_go(at)?;
            self.bring_all_in(work, at)?;
            self.drop_folders(work)?;
            Late::settle(self, work, at)?;
        }
        let is_early = ao_mutant::active("LOOP-21/marker-goes-before-the-record");
        if is_early {
            self.drop_marker(work, at)?;
        }
        self.publish(work, at)?;
        if !is_early {
            self.drop_marker(work, at)?;
        }
        self.let_readers_in(at)
    }

    /// A crash may have kept the marker and lost the odd counter. Readers who look at nothing else
    /// must see it before anything moves.
    fn announce(&self, at: &Room<F::Dir>) -> Result<()> {
        let odd = format!("{GENERATION}.odd");
        let odd = OsStr::new(&odd);
        let announce = || {
            if self.fs.stat(&at.here, odd)?.is_none() {
                return Ok(());
            }
            self.fs.rename((&at.here, odd), (&at.state, OsStr::new(GENERATION)))?;
            self.fs.sync_dir(&at.state)?;
            self.fs.sync_dir(&at.here)
        };
        announce().map_err(Error::io("announce the commit to readers"))
    }

    fn let_ballast_go(&self, at: &Room<F::Dir>) -> Result<()> {
        match self.fs.remove_file(&at.here, OsStr::new(BALLAST)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(Error::io("let the reserved space go")),
        }
    }

    fn bring_all_in(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        for (name, path) in work.script.folder_slots() {
            let bring = self.bring_folder_in((&at.slots, OsStr::new(&name)), path);
            bring.map_err(Error::io(format!("bring in {path}/")))?;
        }
        for item in work.script.items() {
            let bring = match work.origin {
                Origin::Staged => self.bring_in(&item, at),
                Origin::Left => self.bring_in_again(&item, at),
            };
            bring.map_err(Error::io(format!("bring in {}", item.path())))?;
        }
        let items = work.script.changes.iter().map(|change| parent(&change.path));
        let folders = work.script.folder_slots().map(|(_, path)| parent(path));
        self.sync_folders(&items.chain(folders).collect())?;
        self.fs.sync_dir(&at.slots).map_err(Error::io("make what came out durable"))
    }

    pub(crate) fn sync_folders(&self, paths: &BTreeSet<&str>) -> Result<()> {
        for path in paths {
            let sync = || match self.open(path)? {
                Some(dir) => self.fs.sync_dir(&dir),
                None => Ok(()),
            };
            sync().map_err(Error::io(format!("make the exchange in {path} durable")))?;
        }
        Ok(())
    }

    /// Removes what the commits that are taken back had made, where nothing is in it.
    fn drop_folders(&self, work: &Work) -> Result<()> {
        self.remove_empty_folders(&work.script.drop_folders)
    }

    /// Of these folders, in the order of their names, removes the empty ones.
    pub(crate) fn remove_empty_folders(&self, folders: &[String]) -> Result<()> {
        // A folder's name sorts before those of its inner folders.
        for path in folders.iter().rev() {
            let drop_it = || match self.open(parent(path))? {
                Some(dir) => {
                    self.remove_if_empty(&dir, last(path))?;
                    self.fs.sync_dir(&dir)
                }
                None => Ok(()),
            };
            drop_it().map_err(Error::io(format!("remove the empty folder {path}")))?;
        }
        Ok(())
    }

    /// The history goes out before everything else that is remembered. Once it has, late changes
    /// are settled: what they did to the record is moving into place and must not be made anew.
    fn is_unrecorded(&self, at: &Room<F::Dir>) -> Result<bool> {
        let staged = self.fs.stat(&at.here, OsStr::new(HISTORY));
        Ok(staged.map_err(Error::io("look at the record"))?.is_some())
    }

    /// Moves what is remembered of this commit to where it is looked for.
    fn publish(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let id = &work.script.id;
        let is_unrecorded = self.is_unrecorded(at)?;
        let publish = || {
            let mut keepsakes = Vec::new();
            for name in [UNDO, ARCHIVE, CONFLICTS] {
                if self.fs.stat(&at.here, OsStr::new(name))?.is_some() {
                    keepsakes.push((OsStr::new(name), self.make_dirs(&at.state, name)?));
                }
            }
            if is_unrecorded {
                let history = OsStr::new(HISTORY);
                self.fs.rename((&at.here, history), (&at.state, history))?;
            }
            // The history, and the folders that the rest goes into.
            self.fs.sync_dir(&at.here)?;
            self.fs.sync_dir(&at.state)?;
            for (name, kept) in keepsakes {
                self.fs.rename((&at.here, name), (&kept, OsStr::new(id)))?;
                self.fs.sync_dir(&kept)?;
            }
            self.displace(id, at)?;
            self.fs.sync_dir(&at.here)
        };
        publish().map_err(Error::io(format!("record commit {id}")))
    }

    /// Moves what came out of the tree to where it is kept for as long as somebody may write to it.
    fn displace(&self, id: &str, at: &Room<F::Dir>) -> io::Result<()> {
        let slots = OsStr::new(SLOTS);
        if self.fs.stat(&at.here, slots)?.is_none() {
            return Ok(());
        }
        let displaced = self.make_dirs(&at.state, DISPLACED)?;
        self.fs.rename((&at.here, slots), (&displaced, OsStr::new(id)))?;
        self.fs.sync_dir(&displaced)
    }

    fn drop_marker(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let marker = work.script.marker_name();
        let drop_it = || {
            self.fs.remove_file(&at.state, OsStr::new(&marker))?;
            self.fs.sync_dir(&at.state)
        };
        drop_it().map_err(Error::io(format!("remove {marker}")))
    }

    fn let_readers_in(&self, at: &Room<F::Dir>) -> Result<()> {
        let even = format!("{GENERATION}.even");
        let to = (&at.state, OsStr::new(GENERATION));
        let settled = self.fs.rename((&at.here, OsStr::new(&even)), to);
        settled.map_err(Error::io("settle the generation counter"))
    }

    /// Removes a staging directory, and the empty places that were made for it.
    pub(crate) fn clear_staging(&self, id: &str, staging: &F::Dir, state: &F::Dir) -> Result<()> {
        let clear = || {
            for name in [UNDO, ARCHIVE, CONFLICTS] {
                if let Some(kept) = self.open_from(state, name)? {
                    self.remove_if_empty(&kept, id)?;
                }
            }
            self.remove_tree(staging, OsStr::new(id))?;
            self.remove_if_empty(state, DISPLACED)?;
            self.remove_if_empty(state, crate::door::STAGING)
        };
        clear().map_err(Error::io(format!("remove the staging of {id}")))
    }
}

pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(above, _)| above)
}

pub(crate) fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
