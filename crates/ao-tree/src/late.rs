//! Writes that slipped in between the last comparison and the exchange have come out of the tree.
//!
//! They are found by comparing what came out with what the commit was made against, and given their place
//! back: never lost, and never in the way of a still newer one. Everything here can be done again
//! after a crash, because it only looks at what stands there and what came out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::io;

use ao_contract::{Conflict, Extra, Version};

use crate::commit::{last, parent};
use crate::door::{ARCHIVE, CONFLICTS, Door, is_absent};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::lines::Merged;
use crate::path::shown;
use crate::plan::{Content, clash_reason};
use crate::script::{Item, Work};
use crate::slot::{At, Sight, added_lines};
use crate::stage::Room;

pub(crate) struct Late<'a, F: Fs> {
    door: &'a Door<F>,
    at: &'a Room<F::Dir>,
    id: String,
    carried: Vec<String>,
    conflicts: Vec<Conflict>,
    /// Edits that did not come to be, because somebody else's version stays.
    dropped: HashSet<usize>,
    /// Edits that came to be with other bytes, because lines were added.
    merged: HashMap<usize, Merged>,
}

impl<'a, F: Fs> Late<'a, F> {
    /// Carries everything late, and corrects the record where an edit did not come to be.
    pub(crate) fn settle(door: &'a Door<F>, work: &mut Work, at: &'a Room<F::Dir>) -> Result<()> {
        let mut late = Self {
            door,
            at,
            id: work.script.id.clone(),
            carried: Vec::new(),
            conflicts: Vec::new(),
            dropped: HashSet::new(),
            merged: HashMap::new(),
        };
        let items = work.script.items();
        for item in &items {
            let look = late.look(item);
            look.map_err(Error::io(format!("carry late changes of {}", item.path())))?;
        }
        late.groups(&items).map_err(Error::io("take back what belongs together"))?;
        late.correct(work)
    }

    fn look(&mut self, item: &Item) -> io::Result<()> {
        let slot = self.door.slot_sight(item, &self.at.slots)?;
        let is_in = match item.new() {
            // It came in, or went out, and what came out is what was known.
            _ if item.base().is_some() && slot.is(item.base()) => true,
            Some(_) => item.base().is_none() && slot.is_nothing(),
            None => false,
        };
        if is_in || ao_mutant::active("LOOP-07/late-file-is-lost") {
            return Ok(());
        }
        // Nothing came in, or nothing went out.
        let is_outside = match item.new() {
            Some(_) => slot.is(item.new()),
            None => slot.is_nothing(),
        };
        if is_outside {
            let live = self.door.live_sight(item.path())?;
            if !live.is(item.new()) {
                self.stays_theirs(item, &live)?;
            }
            return Ok(());
        }
        if added_lines(item, &slot).is_some() && item.new().is_some() {
            return self.append(item);
        }
        self.give_back(item)
    }

    fn append(&mut self, item: &Item) -> io::Result<()> {
        let merged = self.door.carry_lines(item, &self.at.slots, None)?;
        if let Some(merged) = merged {
            self.carried.push(shown(item.path()));
            self.merged.insert(item.index, merged);
        }
        Ok(())
    }

    /// What came out is somebody's: it gets its place back, and ours is kept aside.
    fn give_back(&mut self, item: &Item) -> io::Result<()> {
        let live = self.door.live_sight(item.path())?;
        if live.is(item.new()) {
            self.put_back(item)?;
        }
        let live = self.door.live_sight(item.path())?;
        let slot = self.door.slot_sight(item, &self.at.slots)?;
        if !slot.is_nothing() && !slot.is(item.new()) {
            // What is still in the slot is kept aside as soon as the commit is done.
            self.conflicts.push(two_versions(&self.id, item.path()));
        }
        self.stays_theirs(item, &live)
    }

    fn stays_theirs(&mut self, item: &Item, live: &Sight) -> io::Result<()> {
        let why = clash_reason(item.new().is_some(), !live.is_nothing()).to_owned();
        self.drop_edit(item, live.content().map(Content::version), why)
    }

    /// The edit did not come to be: ours is kept aside.
    fn drop_edit(&mut self, item: &Item, live: Option<Version>, why: String) -> io::Result<()> {
        let is_kept = self.keep_ours(item)?;
        self.conflicts.push(Conflict {
            path: item.path().to_owned(),
            why,
            kept: is_kept.then(|| format!("{CONFLICTS}/{}/{}", self.id, item.path())),
            ours: item.change.after.clone(),
            live,
            extra: Extra::default(),
        });
        self.dropped.insert(item.index);
        Ok(())
    }

    /// Ours may be gone: somebody wrote into it, or replaced it, and had seen it.
    fn keep_ours(&self, item: &Item) -> io::Result<bool> {
        let door = self.door;
        let is_lost = ao_mutant::active("LOOP-07/late-side-is-lost");
        if item.new().is_none() || is_lost {
            return Ok(false);
        }
        let staged = match &item.in_folder {
            Some(staged) if door.fs.stat(&self.at.slots, OsStr::new(&item.name))?.is_none() => {
                staged
            }
            _ => &item.name,
        };
        let Some(dir) = door.open_from(&self.at.slots, parent(staged))? else { return Ok(false) };
        let ours = (&dir, OsStr::new(last(staged)));
        if !door.sight(ours)?.is(item.new()) {
            return Ok(false);
        }
        let conflicts = door.make_dirs(&self.at.here, CONFLICTS)?;
        let folder = door.make_dirs(&conflicts, parent(item.path()))?;
        match door.fs.link(ours, (&folder, OsStr::new(last(item.path())))) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(true),
            done => done.map(|()| true),
        }
    }

    /// Takes an edit that came in out again. What others made of it meanwhile stays.
    fn put_back(&self, item: &Item) -> io::Result<()> {
        let fs = &self.door.fs;
        let folder = match self.door.make_dirs(&fs.top(), parent(item.path())) {
            Err(error) if is_absent(&error) => return Ok(()),
            made => made?,
        };
        let live = (&folder, OsStr::new(last(item.path())));
        let slot = (&self.at.slots, OsStr::new(&item.name));
        match (item.base(), item.new()) {
            (_, None) => unless(io::ErrorKind::AlreadyExists, fs.rename_new(slot, live)),
            (None, Some(_)) => {
                if unless(io::ErrorKind::NotFound, fs.rename_new(live, slot))?
                    && !self.door.sight(slot)?.is(item.new())
                {
                    return unless(io::ErrorKind::AlreadyExists, fs.rename_new(slot, live))
                        .map(drop);
                }
                return Ok(());
            }
            (Some(_), Some(_)) => self.put_back_replaced(item, slot, live),
        }
        .map(drop)
    }

    fn put_back_replaced(
        &self,
        item: &Item,
        slot: At<'_, F::Dir>,
        live: At<'_, F::Dir>,
    ) -> io::Result<bool> {
        let fs = &self.door.fs;
        let is_done = unless(io::ErrorKind::NotFound, fs.exchange(slot, live))?;
        if is_done && !self.door.sight(slot)?.is(item.new()) {
            // Somebody was faster, and gets their place back; what comes out now stays in the slot.
            return unless(io::ErrorKind::NotFound, fs.exchange(slot, live));
        }
        Ok(is_done)
    }

    /// An edit that did not come to be takes back those that belong together with it.
    fn groups(&mut self, items: &[Item]) -> io::Result<()> {
        let mut broken: BTreeMap<&str, &str> = BTreeMap::new();
        for item in items.iter().filter(|item| self.dropped.contains(&item.index)) {
            broken.extend(item.change.group.as_deref().map(|group| (group, item.path())));
        }
        for item in items.iter().rev().filter(|_| !ao_mutant::active("LOOP-07/half-a-late-group")) {
            let because = item.change.group.as_deref().and_then(|group| broken.get(group));
            let (Some(because), false) = (because, self.dropped.contains(&item.index)) else {
                continue;
            };
            if self.door.live_sight(item.path())?.is(item.new()) {
                self.put_back(item)?;
            }
            let why =
                format!("it belongs together with {because}, which someone else changed meanwhile");
            let live = self.door.live_sight(item.path())?;
            self.drop_edit(item, live.content().map(Content::version), why)?;
        }
        Ok(())
    }

    /// Makes what was carried durable, and the record true.
    fn correct(self, work: &mut Work) -> Result<()> {
        if self.carried.is_empty() && self.conflicts.is_empty() {
            return Ok(());
        }
        let door = self.door;
        let script = &mut work.script;
        for (index, merged) in self.merged {
            let change = &mut script.changes[index];
            let keep = door.stage_blob(&merged.before, self.at);
            keep.map_err(Error::io(format!("keep what {} was", change.path)))?;
            change.before = Some(merged.before.version());
            change.after = Some(merged.after);
        }
        for index in &self.dropped {
            let change = &script.changes[*index];
            let archived = || match door.open_from(&self.at.here, ARCHIVE)? {
                Some(archive) => door.open_from(&archive, parent(&change.path)),
                None => Ok(None),
            };
            let doing = || Error::io("correct the archive");
            if change.after.is_none()
                && let Some(dir) = archived().map_err(doing())?
            {
                door.remove_tree(&dir, OsStr::new(last(&change.path))).map_err(doing())?;
            }
        }
        let paths: Vec<String> = script.changes.iter().map(|change| change.path.clone()).collect();
        let mut index = 0;
        script.changes.retain(|_| {
            index += 1;
            !self.dropped.contains(&(index - 1))
        });
        if !self.dropped.is_empty() {
            door.remove_empty_folders(&script.folders)?;
        }
        script.carried.extend(self.carried);
        script.carried.sort_unstable();
        script.carried.dedup();
        script.conflicts.extend(self.conflicts);
        // It was measured without what came late.
        script.fitness =
            if ao_mutant::active("LOOP-12/late-fitness") { script.fitness.take() } else { None };
        door.stage_record(work, self.at)?;
        door.sync_folders(&paths.iter().map(|path| parent(path)).collect())?;
        door.fs.sync_tree(&self.at.here).map_err(Error::io("make late changes durable"))
    }
}

/// Two versions of others met.
pub(crate) fn two_versions(id: &str, path: &str) -> Conflict {
    let path = shown(path);
    Conflict {
        kept: Some(format!("{CONFLICTS}/{id}/{}", aside(&path))),
        path,
        why: "two versions by others met; the newer one stays".to_owned(),
        ours: None,
        live: None,
        extra: Extra::default(),
    }
}

/// Where the other one of two versions goes.
pub(crate) fn aside(path: &str) -> String {
    format!("{path}.displaced")
}

/// `false` for an error of this kind.
pub(crate) fn unless(kind: io::ErrorKind, done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == kind => Ok(false),
        Err(error) => Err(error),
    }
}
