//! The commit: from the marker on there is only one way, forward.
//!
//! [`Door::decide`] puts the marker down; [`Door::finish`] does everything after it, in steps that
//! each look first whether they were done. Recovery is [`Door::finish`] once more.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use ao_contract::{Slot, SlotKind};

use crate::door::{ARCHIVE, CONFLICTS, Door, GENERATION, HISTORY, UNDO};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::late::Late;
use crate::script::{Origin, Work};
use crate::stage::{MARKER, Room};

/// Somebody who makes and removes one file this often in a row, each time in the instant between
/// two calls, does not exist.
const ATTEMPTS_MAX: usize = 16;

impl<F: Fs> Door<F> {
    /// The commit point. After an error the marker may or may not be there; the caller looks.
    pub(crate) fn decide(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let odd = format!("{GENERATION}.odd");
        let marker = work.marker_name();
        let decide = || {
            self.fs.rename((&at.here, OsStr::new(&odd)), (&at.state, OsStr::new(GENERATION)))?;
            self.fs.rename((&at.here, OsStr::new(MARKER)), (&at.state, OsStr::new(&marker)))?;
            self.fs.sync_dir(&at.state)?;
            self.fs.sync_dir(&at.here)
        };
        decide().map_err(Error::io(format!("put down {marker}")))
    }

    /// Everything that a decided commit still has to do. After it the commit is done, and what is
    /// left in staging is rubbish.
    pub(crate) fn finish(&self, work: &mut Work, at: &Room<F::Dir>, grace: Duration) -> Result<()> {
        self.announce(at)?;
        self.exchange_slots(work)?;
        self.drop_folders(work)?;
        if self.is_unrecorded(at)? {
            self.fs.pause(grace);
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

    fn exchange_slots(&self, work: &Work) -> Result<()> {
        let slots = &work.script.slots;
        let mut parents = BTreeSet::new();
        for slot in slots {
            parents.extend(self.make_folder_of(slot)?);
        }
        self.sync_folders(&parents)?;
        for slot in slots {
            self.exchange_slot(slot, work)?;
        }
        parents =
            slots.iter().flat_map(|slot| [parent(&slot.live), parent(&slot.staged)]).collect();
        self.sync_folders(&parents)
    }

    /// Makes the folder that a slot's live side goes into, if the tree does not have it. Its name
    /// must last before anything is moved there; gives the folders to sync for that.
    fn make_folder_of<'s>(&self, slot: &'s Slot) -> Result<Vec<&'s str>> {
        let folder = parent(&slot.live);
        let doing = || Error::io(format!("make {folder}"));
        if self.open(folder).map_err(doing())?.is_some() {
            return Ok(Vec::new());
        }
        self.make_dirs(&self.fs.top(), folder).map_err(doing())?;
        let above = |path: &&'s str| (!path.is_empty()).then(|| parent(path));
        Ok(std::iter::successors(above(&folder), above).collect())
    }

    fn sync_folders(&self, paths: &BTreeSet<&str>) -> Result<()> {
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
        // A folder's name sorts before those of its inner folders.
        for path in work.script.drop_folders.iter().rev() {
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

    /// Brings one slot's staged side into the tree, unless that was done before: what stands in
    /// the staging slot tells, because nobody else moves anything there.
    fn exchange_slot(&self, slot: &Slot, work: &Work) -> Result<()> {
        let doing = || Error::io(format!("exchange {}", slot.live));
        let live_dir = self.make_dirs(&self.fs.top(), parent(&slot.live)).map_err(doing())?;
        let staged_dir = self.make_dirs(&self.fs.top(), parent(&slot.staged)).map_err(doing())?;
        let live = (&live_dir, OsStr::new(last(&slot.live)));
        let staged = (&staged_dir, OsStr::new(last(&slot.staged)));
        let in_staging = self.fs.stat(staged.0, staged.1).map_err(doing())?;
        let in_tree = self.fs.stat(live.0, live.1).map_err(doing())?;
        let is_done = in_staging.as_ref().map(|stat| stat.inode) != slot.new_inode;
        if is_done {
            return Ok(());
        }
        // A directory that is neither the old one nor the new one was put there by somebody in
        // between. What it holds is carried like any late change, but a commit that was left
        // behind, who knows when, is not made on top of it. One that is gone is in nobody's way.
        if slot.kind == SlotKind::Dir
            && let Some(stat) = &in_tree
            && Some(stat.inode) != slot.old_inode
        {
            let is_fresh = slot.old_inode.is_none() || work.origin == Origin::Staged;
            if stat.kind != Kind::Dir || !is_fresh {
                return Err(Error::Doubt {
                    file: work.marker_name(),
                    doubt: format!(
                        "{} is neither the directory before this commit nor the one after it",
                        slot.live
                    ),
                });
            }
        }
        match (in_staging, in_tree) {
            (Some(_), in_tree) => self.bring_in(staged, live, in_tree.is_some()),
            (None, Some(_)) => match self.fs.rename_new(live, staged) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                done => done,
            },
            (None, None) => Ok(()),
        }
        .map_err(doing())
    }

    /// Puts the staged side into its place, and whatever stands there into staging. Others may
    /// remove or make it in this very moment, and do so again in the next.
    fn bring_in(
        &self,
        staged: (&F::Dir, &OsStr),
        live: (&F::Dir, &OsStr),
        is_there: bool,
    ) -> io::Result<()> {
        let mut is_there = is_there;
        for _ in 1..ATTEMPTS_MAX {
            let done = if is_there {
                self.fs.exchange(staged, live)
            } else {
                self.fs.rename_new(staged, live)
            };
            match done.as_ref().map_err(io::Error::kind) {
                Err(io::ErrorKind::NotFound) if is_there => is_there = false,
                Err(io::ErrorKind::AlreadyExists) if !is_there => is_there = true,
                _ => return done,
            }
        }
        self.fs.exchange(staged, live)
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
            self.fs.sync_dir(&at.here)
        };
        publish().map_err(Error::io(format!("record commit {id}")))
    }

    fn drop_marker(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let marker = work.marker_name();
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
