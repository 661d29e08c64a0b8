//! Writes that slipped in between the last comparison and the exchange are in the displaced tree.
//!
//! They are found by comparing it with what the commit had seen, and carried into the live tree:
//! never lost, and never in the way of a still newer one. Everything here can be done again after
//! a crash, because whether a file was carried shows in the inodes themselves.

mod append;
mod carry;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;

use ao_contract::{Conflict, Slot, SlotKind, Version};

use crate::commit::{last, parent};
use crate::door::{ARCHIVE, CONFLICTS, Door};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind, Name, Stat};
use crate::path::shown;
use crate::plan::{Content, FILE_BYTES_MAX, clash_reason};
use crate::script::{Base, Known, Planned, Work};
use crate::snapshot::join;
use crate::stage::{CARRY, Room};

use append::{Merged, added_lines};
use carry::aside;

pub(crate) struct Late<'a, F: Fs> {
    door: &'a Door<F>,
    at: &'a Room<F::Dir>,
    id: String,
    carry: F::Dir,
    /// The edits by path, with their place in the script.
    edits: HashMap<String, (usize, Planned)>,
    carried: Vec<String>,
    conflicts: Vec<Conflict>,
    /// Edits that did not come to be, because somebody else's version stays.
    dropped: HashSet<usize>,
    /// Edits that came to be with other bytes, because lines were added.
    merged: HashMap<usize, Merged>,
}

/// A name in the displaced tree, and where in the live tree it belongs.
struct Spot<'s, D> {
    path: &'s str,
    /// The displaced folder; none if somebody had removed it.
    dir: Option<&'s D>,
    name: &'s OsStr,
}

/// Where the displaced side of a path is.
fn staged_at(slots: &[Slot], path: &str) -> Option<String> {
    slots.iter().find_map(|slot| {
        let rest = path.strip_prefix(slot.live.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{}{rest}", slot.staged))
    })
}

impl<D> Spot<'_, D> {
    fn displaced(&self) -> io::Result<(&D, &OsStr)> {
        Ok((self.dir.ok_or(io::ErrorKind::NotFound)?, self.name))
    }
}

impl<'a, F: Fs> Late<'a, F> {
    /// Carries everything late, and corrects the record where an edit did not come to be.
    pub(crate) fn settle(door: &'a Door<F>, work: &mut Work, at: &'a Room<F::Dir>) -> Result<()> {
        let edits = work.script.changes.iter().cloned().enumerate();
        let carry =
            door.make_dirs(&at.here, CARRY).map_err(Error::io("open the carry directory"))?;
        let mut late = Self {
            door,
            at,
            id: work.script.id.clone(),
            carry,
            edits: edits.map(|(index, edit)| (edit.change.path.clone(), (index, edit))).collect(),
            carried: Vec::new(),
            conflicts: Vec::new(),
            dropped: HashSet::new(),
            merged: HashMap::new(),
        };
        for (slot, base) in work.script.slots.iter().zip(&work.bases) {
            let look = late.slot(&slot.live, &slot.staged, slot.kind, base);
            look.map_err(Error::io(format!("carry late changes of {}", slot.live)))?;
        }
        let slots = &work.script.slots;
        late.groups(slots).map_err(Error::io("take back what belongs together"))?;
        late.correct(work)
    }

    fn slot(&mut self, live: &str, staged: &str, kind: SlotKind, base: &Base) -> io::Result<()> {
        let door = self.door;
        match kind {
            // With nothing displaced there never was a folder, or somebody removed it.
            SlotKind::Dir => self.folder(door.open(staged)?.as_ref(), base, live),
            SlotKind::File => {
                let Some(dir) = door.open(parent(staged))? else { return Ok(()) };
                let name = OsStr::new(last(staged));
                let displaced = door.fs.stat(&dir, name)?;
                self.edited(&Spot { path: live, dir: Some(&dir), name }, displaced.as_ref())
            }
        }
    }

    /// Compares one displaced folder (or its absence) with what it held before.
    fn folder(&mut self, displaced: Option<&F::Dir>, base: &Base, path: &str) -> io::Result<()> {
        let door = self.door;
        let entries = displaced.map_or(Ok(Vec::new()), |dir| door.fs.names(dir))?;
        let mut by_name: HashMap<&OsStr, &Name> = HashMap::with_capacity(entries.len());
        by_name.extend(entries.iter().map(|entry| (entry.name.as_os_str(), entry)));
        let is_file =
            |name: &OsString| by_name.get(name.as_os_str()).is_some_and(|e| e.kind != Kind::Dir);
        let is_folder =
            |name: &OsString| by_name.get(name.as_os_str()).is_some_and(|e| e.kind == Kind::Dir);
        // What went comes first: a file may have made room for a folder of its name.
        for (name, was) in base.files.iter().filter(|file| !is_file(&file.0)) {
            let path = join(path, name);
            if self.edits.contains_key(&path) {
                self.edited(&Spot { path: &path, dir: displaced, name }, None)?;
            } else {
                self.deleted(&path, name, *was)?;
            }
        }
        for (name, inner) in base.folders.iter().filter(|folder| !is_folder(&folder.0)) {
            let path = join(path, name);
            self.folder(None, inner, &path)?;
            self.folder_deleted(&path)?;
        }
        let Some(dir) = displaced else { return Ok(()) };
        for entry in &entries {
            let path = join(path, &entry.name);
            if entry.kind == Kind::Dir {
                self.inner_folder(dir, entry, base.folder(&entry.name), &path)?;
                continue;
            }
            let was = base.file(&entry.name);
            let is_edited = self.edits.contains_key(&path);
            if !is_edited && was.is_some_and(|was| was.inode == entry.inode) {
                // The same inode stands in the live tree: an edit in place is there already.
                continue;
            }
            let spot = Spot { path: &path, dir: displaced, name: &entry.name };
            match (is_edited, door.fs.stat(dir, &entry.name)?, was) {
                (true, stat, _) => self.edited(&spot, stat.as_ref())?,
                (false, Some(stat), was) => self.untouched(&spot, &stat, was)?,
                // Removed since the listing.
                (false, None, Some(was)) => self.deleted(&path, &entry.name, was)?,
                (false, None, None) => {}
            }
        }
        Ok(())
    }

    fn inner_folder(
        &mut self,
        dir: &F::Dir,
        entry: &Name,
        base: Option<&Base>,
        path: &str,
    ) -> io::Result<()> {
        let inner = self.door.fs.open_dir(dir, &entry.name)?;
        if base.is_none() {
            self.live_folder(path)?;
        }
        self.folder(Some(&inner), base.unwrap_or(&Base::default()), path)
    }

    /// A file that no edit names: carried if somebody added or replaced it.
    fn untouched(
        &mut self,
        spot: &Spot<'_, F::Dir>,
        displaced: &Stat,
        was: Option<Known>,
    ) -> io::Result<()> {
        if was.is_some_and(|was| was.inode == displaced.inode)
            || ao_mutant::active("LOOP-07/late-file-is-lost")
        {
            return Ok(());
        }
        let live = self.live_stat(spot.path, spot.name)?;
        let is_done = match live {
            // Carried before a crash; the record is told again.
            Some(live) if live.inode == displaced.inode => true,
            // Written since, in place or anew. The newer one stays.
            Some(live) if !was.is_some_and(|was| was.is_still(&live)) => {
                return self.meet(spot, displaced, &live);
            }
            Some(live) => self.carry_into_live(spot, Some(Known::of(&live)))?,
            None => self.carry_into_live(spot, None)?,
        };
        if !is_done {
            return self.keep_displaced(spot);
        }
        self.carried.push(shown(spot.path));
        Ok(())
    }

    /// Two versions by others: the newer one stays in the tree, the other one is kept aside.
    fn meet(&mut self, spot: &Spot<'_, F::Dir>, displaced: &Stat, live: &Stat) -> io::Result<()> {
        if live.modified_ns >= displaced.modified_ns {
            return self.keep_displaced(spot);
        }
        let path = aside(spot.path);
        if !self.replace_live(spot, live, &path)? {
            return self.keep_displaced(spot);
        }
        self.two_versions(spot, &path);
        Ok(())
    }

    /// A file that somebody removed from the displaced tree goes from the live one too, unless it
    /// was written to since.
    fn deleted(&mut self, path: &str, name: &OsStr, was: Known) -> io::Result<()> {
        match self.live_stat(path, name)? {
            Some(live) if !was.is_still(&live) => return Ok(()),
            Some(_) if !self.take_from_live(path, name, was)? => return Ok(()),
            // Removed now, or before a crash; the record is told either way.
            _ => {}
        }
        self.carried.push(shown(path));
        Ok(())
    }

    fn folder_deleted(&mut self, path: &str) -> io::Result<()> {
        match self.door.open(parent(path))? {
            Some(dir) => self.door.remove_if_empty(&dir, last(path)),
            None => Ok(()),
        }
    }

    /// A file that an edit names: if somebody changed it too, theirs stays and ours is kept aside.
    fn edited(&mut self, spot: &Spot<'_, F::Dir>, displaced: Option<&Stat>) -> io::Result<()> {
        let Some((index, edit)) = self.edits.get(spot.path).cloned() else { return Ok(()) };
        let theirs = match displaced {
            Some(stat) if stat.kind == Kind::File => {
                let (dir, name) = spot.displaced()?;
                match self.door.fs.read(dir, name, FILE_BYTES_MAX) {
                    Ok(bytes) => Some(Content::new(bytes, stat.mode)),
                    // Grown beyond all measure: somebody's, in any case.
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                        return self.stays_theirs(spot, index, &edit, None, displaced);
                    }
                    Err(error) => return Err(error),
                }
            }
            Some(_) => return self.stays_theirs(spot, index, &edit, None, displaced),
            None => None,
        };
        let was = edit.change.before.as_ref();
        let hash = theirs.as_ref().map(|content| &content.hash);
        let is_as_before = hash == was.map(|version| &version.hash);
        let is_as_ours = hash == edit.change.after.as_ref().map(|version| &version.hash);
        if is_as_before || is_as_ours {
            return Ok(());
        }
        if let (Some(theirs), Some(was)) = (&theirs, was)
            && let Some(added) = added_lines(spot.path, &theirs.bytes, was)
            && edit.inode.is_some()
        {
            return self.append(spot, (index, &edit), theirs, added);
        }
        let version = theirs.as_ref().map(Content::version);
        self.stays_theirs(spot, index, &edit, version, displaced)
    }

    fn stays_theirs(
        &mut self,
        spot: &Spot<'_, F::Dir>,
        index: usize,
        edit: &Planned,
        theirs: Option<Version>,
        displaced: Option<&Stat>,
    ) -> io::Result<()> {
        let why = clash_reason(edit.change.after.is_some(), displaced.is_some()).to_owned();
        self.put_back(spot, (index, edit), theirs, displaced, why)
    }

    /// Gives the place of an edit back to what was displaced by it, and keeps ours aside.
    fn put_back(
        &mut self,
        spot: &Spot<'_, F::Dir>,
        (index, edit): (usize, &Planned),
        theirs: Option<Version>,
        displaced: Option<&Stat>,
        why: String,
    ) -> io::Result<()> {
        let live = self.live_stat(spot.path, spot.name)?;
        let displaced = displaced.map(|stat| stat.inode);
        let is_ours = self.is_ours(spot, live.as_ref(), edit)?;
        let is_settled = match (is_ours, &live, displaced) {
            // Our edit was to delete it: there is nothing of ours to keep.
            (true, None, Some(_)) => self.carry_into_live(spot, None)?,
            (true, None, None) => true,
            (true, Some(live), Some(_)) => self.replace_live(spot, live, spot.path)?,
            (true, Some(live), None) => self.remove_live(spot, live)?,
            (false, live, displaced) => {
                displaced.is_none() || live.as_ref().map(|stat| stat.inode) == displaced
            }
        };
        if !is_settled && displaced.is_some() {
            self.keep_displaced(spot)?;
        }
        // Ours may be gone: replaced once more by somebody who had seen it.
        let kept = format!("{CONFLICTS}/{}/{}", self.id, spot.path);
        let is_kept = self.is_kept(spot.path)?;
        self.conflicts.push(Conflict {
            path: spot.path.to_owned(),
            why,
            kept: is_kept.then_some(kept),
            ours: edit.change.after.clone(),
            live: theirs,
            extra: ao_contract::Extra::default(),
        });
        self.dropped.insert(index);
        Ok(())
    }

    /// An edit that did not come to be takes back those that belong together with it.
    fn groups(&mut self, slots: &[Slot]) -> io::Result<()> {
        let mut broken: BTreeMap<String, String> = BTreeMap::new();
        let mut whole = Vec::new();
        for (path, (index, edit)) in &self.edits {
            match (&edit.group, self.dropped.contains(index)) {
                (Some(group), true) => drop(broken.insert(group.clone(), path.clone())),
                (Some(_), false) => whole.push(path.clone()),
                (None, _) => {}
            }
        }
        whole.sort_unstable();
        for path in whole {
            let Some((index, edit)) = self.edits.get(&path).cloned() else { continue };
            let because = edit.group.as_ref().and_then(|group| broken.get(group));
            let (Some(because), Some(staged)) = (because, staged_at(slots, &path)) else {
                continue;
            };
            let why =
                format!("it belongs together with {because}, which someone else changed meanwhile");
            let dir = self.door.open(parent(&staged))?;
            let name = OsStr::new(last(&path));
            let spot = Spot { path: &path, dir: dir.as_ref(), name };
            let displaced = match &dir {
                Some(dir) => self.door.fs.stat(dir, name)?,
                None => None,
            };
            let before = edit.change.before.clone();
            self.put_back(&spot, (index, &edit), before, displaced.as_ref(), why)?;
        }
        Ok(())
    }

    /// Whether the live tree has our side of an edit still as we put it there.
    fn is_ours(
        &self,
        spot: &Spot<'_, F::Dir>,
        live: Option<&Stat>,
        edit: &Planned,
    ) -> io::Result<bool> {
        if live.map(|stat| stat.inode) != edit.inode {
            return Ok(false);
        }
        let (Some(_), Some(after)) = (live, &edit.change.after) else { return Ok(true) };
        let Some(dir) = self.door.open(parent(spot.path))? else { return Ok(false) };
        let bytes = self.bytes((&dir, spot.name))?;
        Ok(blake3::hash(&bytes).to_hex().as_str() == after.hash)
    }

    /// Makes the carried files durable, and the record true.
    fn correct(self, work: &mut Work) -> Result<()> {
        if self.carried.is_empty() && self.conflicts.is_empty() {
            return Ok(());
        }
        let door = self.door;
        let script = &mut work.script;
        for (index, merged) in self.merged {
            let change = &mut script.changes[index].change;
            let keep = door.stage_blob(&merged.before, self.at);
            keep.map_err(Error::io(format!("keep what {} was", change.path)))?;
            change.before = Some(merged.before.version());
            change.after = Some(merged.after);
        }
        for index in &self.dropped {
            let change = &script.changes[*index].change;
            if change.after.is_none()
                && let Some(archive) =
                    door.open_from(&self.at.here, ARCHIVE).map_err(Error::io("open the archive"))?
                && let Some(dir) = door
                    .open_from(&archive, parent(&change.path))
                    .map_err(Error::io("open the archive"))?
            {
                door.remove_tree(&dir, OsStr::new(last(&change.path)))
                    .map_err(Error::io("correct the archive"))?;
            }
        }
        let mut index = 0;
        script.changes.retain(|_| {
            index += 1;
            !self.dropped.contains(&(index - 1))
        });
        script.carried.extend(self.carried);
        script.carried.sort_unstable();
        script.carried.dedup();
        script.conflicts.extend(self.conflicts);
        // It was measured without what came late.
        script.fitness =
            if ao_mutant::active("LOOP-12/late-fitness") { script.fitness.take() } else { None };
        door.stage_record(work, self.at)?;
        let sync = || {
            for held in &door.layout.held {
                let path =
                    if held.is_dir { held.path.as_str() } else { parent(held.path.as_str()) };
                if let Some(dir) = door.open(path)? {
                    door.fs.sync_tree(&dir)?;
                }
            }
            door.fs.sync_tree(&self.at.here)
        };
        sync().map_err(Error::io("make late changes durable"))
    }
}
