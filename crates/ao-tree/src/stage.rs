//! Staging: all that is new, built beside the tree and made durable before it counts.
//!
//! All space that the commit needs is used here, so that nothing can run out of it later.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io;

use ao_contract::{Archived, Conflicts, Extra, Fitness, Provenance, SchemaVersion};

use crate::apply::Request;
use crate::commit::{last, parent};
use crate::door::{ARCHIVE, CONFLICTS, Door, GENERATION, HISTORY, STAGING, UNDO, generation_bytes};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::path::TreePath;
use crate::plan::{Content, Plan};
use crate::script::{Origin, SCRIPT, Script, Work, history_line, to_json};

pub(crate) const RECORD: &str = "record.json";
pub(crate) const PROVENANCE: &str = "provenance.json";
pub(crate) const CONFLICT_LIST: &str = "conflicts.json";
pub(crate) const MARKER: &str = "marker";
/// What is brought into the tree, and then what came out of it.
pub(crate) const SLOTS: &str = "slots";
pub(crate) const DISPLACED: &str = "displaced";
/// Space that is let go after the commit point, for directories that grow by what comes into them.
pub(crate) const BALLAST: &str = "ballast";
const BALLAST_BYTES: u64 = 1024 * 1024;
const BALLAST_BYTES_A_FOLDER: u64 = 2 * 4096;
const PRIVATE_MODE: u32 = 0o600;
pub(crate) const PLAIN_MODE: u32 = 0o644;

/// Where the slots of a commit are, beneath the state directory: until all is done but the marker, and after that.
pub(crate) fn slots_of(id: &str) -> [String; 2] {
    [format!("{STAGING}/{id}/{SLOTS}"), format!("{DISPLACED}/{id}")]
}

/// The places of one transaction in the state directory, open.
#[derive(Debug)]
pub(crate) struct Room<D> {
    pub(crate) state: D,
    pub(crate) staging: D,
    /// `staging/ID`
    pub(crate) here: D,
    /// See [`slots_of`].
    pub(crate) slots: D,
}

impl<F: Fs> Door<F> {
    /// Makes the empty staging directory of a transaction, and the state directory if need be.
    pub(crate) fn make_room(&self, id: &str) -> Result<Room<F::Dir>> {
        let make = || {
            let state = self.make_dirs(&self.fs.top(), &self.layout.state)?;
            let staging = self.make_dirs(&state, STAGING)?;
            self.fs.make_dir(&staging, OsStr::new(id), 0o755)?;
            let here = self.fs.open_dir(&staging, OsStr::new(id))?;
            let slots = self.make_dirs(&here, SLOTS)?;
            self.make_dirs(&state, DISPLACED)?;
            Ok(Room { state, staging, here, slots })
        };
        make().map_err(|source| {
            self.unmake_room(id);
            Error::Io { doing: format!("make {}/{STAGING}/{id}", self.layout.state), source }
        })
    }

    /// Removes as much of an empty room as there is. Should this fail too, the next start does it.
    fn unmake_room(&self, id: &str) {
        let _ = self.state().map(|state| {
            let state = state?;
            let staging = self.open_from(&state, STAGING).ok()??;
            self.remove_tree(&staging, OsStr::new(id)).ok()?;
            self.remove_if_empty(&state, DISPLACED).ok()?;
            self.remove_if_empty(&state, STAGING).ok()
        });
    }

    /// Whether files can be exchanged here.
    fn probe(&self, room: &F::Dir) -> Result<()> {
        let (a, b) = (OsStr::new("probe-a"), OsStr::new("probe-b"));
        let exchange = || {
            self.fs.create(room, a, b"", PRIVATE_MODE)?;
            self.fs.create(room, b, b"", PRIVATE_MODE)?;
            let exchanged = self.fs.exchange((room, a), (room, b));
            self.fs.remove_file(room, a)?;
            self.fs.remove_file(room, b)?;
            exchanged
        };
        match exchange() {
            Ok(()) => Ok(()),
            Err(error) if is_unsupported(&error) => Err(Error::Unfit {
                path: self.layout.root_name.clone(),
                why: "its file system cannot exchange two names atomically".into(),
                remedy: "keep the repository on ext4, xfs, btrfs or tmpfs".into(),
            }),
            Err(source) => {
                Err(Error::Io { doing: "probe for an exchange of files".into(), source })
            }
        }
    }

    /// Builds everything that the commit will move into place, and makes it durable.
    pub(crate) fn stage(
        &self,
        request: &Request,
        plan: &Plan,
        fitness: Option<Fitness>,
        at: &Room<F::Dir>,
    ) -> Result<Work> {
        self.probe(&at.here)?;
        let folders = self.made_folders(plan)?;
        let mut script = Script::begin(request, plan);
        script.changes = plan.touched.iter().map(|(path, touched)| touched.change(path)).collect();
        script.carried = plan.carried.iter().cloned().collect();
        script.fitness = fitness;
        script.fill_slots(outermost(&folders));
        script.folders = folders;
        let mut work = Work { origin: Origin::Staged, script };
        self.stage_files(request, plan, &work.script, at)?;
        self.stage_keepsakes(plan, &mut work, at)?;
        self.stage_state(plan, &work, at)?;
        self.make_durable(&work, at)?;
        Ok(work)
    }

    /// Writes the new files into their slots.
    fn stage_files(
        &self,
        request: &Request,
        plan: &Plan,
        script: &Script,
        at: &Room<F::Dir>,
    ) -> Result<()> {
        let is_plain = ao_mutant::active("LOOP-08/modes-are-the-usual");
        for item in script.items() {
            request.stop.check()?;
            let path = item.path();
            let touched = TreePath::parse(path).ok().and_then(|path| plan.touched.get(&path));
            let Some(after) = touched.and_then(|touched| touched.after.as_ref()) else { continue };
            let staged = item.in_folder.as_deref().unwrap_or(&item.name);
            let name = OsStr::new(last(staged));
            let stage = || -> io::Result<()> {
                if ao_mutant::active("LOOP-02/new-folders-come-early") {
                    self.make_dirs(&self.fs.top(), parent(path))?;
                }
                let dir = self.make_dirs(&at.slots, parent(staged))?;
                let mode = if is_plain { PLAIN_MODE } else { after.mode };
                self.fs.create(&dir, name, &after.bytes, mode)?;
                if item.change.before.is_some()
                    && !is_plain
                    && let Some(live) = self.open(parent(path))?
                {
                    let live = (&live, OsStr::new(last(path)));
                    if self.fs.stat(live.0, live.1)?.is_some_and(|stat| stat.kind == Kind::File) {
                        unless_gone(self.fs.copy_attributes(live, (&dir, name)))?;
                    }
                }
                Ok(())
            };
            stage().map_err(Error::io(format!("stage {path}")))?;
        }
        Ok(())
    }

    /// The folders on the way to an edited file that are not there yet.
    fn made_folders(&self, plan: &Plan) -> Result<Vec<String>> {
        let mut made = BTreeSet::new();
        let mut there = HashSet::new();
        for path in
            plan.touched.iter().filter(|(_, new)| new.before.is_none()).map(|(path, _)| path)
        {
            for (end, _) in path.as_str().match_indices('/') {
                let folder = &path.as_str()[..end];
                if there.contains(folder) || made.contains(folder) {
                    continue;
                }
                let is_there = self.open(folder).map_err(Error::io(format!("look at {folder}")))?;
                if is_there.is_some() {
                    there.insert(folder);
                } else {
                    made.insert(folder.to_owned());
                }
            }
        }
        Ok(made.into_iter().collect())
    }

    /// What outlives the commit: bytes copied, never links.
    fn stage_keepsakes(&self, plan: &Plan, work: &mut Work, at: &Room<F::Dir>) -> Result<()> {
        let id = work.script.id.clone();
        let mut kept = HashSet::new();
        let undo = self.keepsake_dir(at, UNDO, &id)?;
        for (path, touched) in &plan.touched {
            let is_left_out = touched.after.is_some()
                && ao_mutant::active("LOOP-01/checkpoint-of-deletions-only");
            if let Some(before) = &touched.before
                && !is_left_out
                && kept.insert(&before.hash)
            {
                self.fs
                    .create(&undo, OsStr::new(&before.hash), &before.bytes, PRIVATE_MODE)
                    .map_err(Error::io(format!("keep what {path} was")))?;
            }
        }
        self.stage_archive(plan, work, at)?;
        self.stage_clashes(plan, work, at)
    }

    /// Our side of what others changed at the same time.
    pub(crate) fn stage_clashes(
        &self,
        plan: &Plan,
        work: &mut Work,
        at: &Room<F::Dir>,
    ) -> Result<()> {
        if plan.clashes.is_empty() {
            return Ok(());
        }
        let id = work.script.id.clone();
        let conflicts = self.keepsake_dir(at, CONFLICTS, &id)?;
        for (clash, conflict) in plan.clashes.iter().zip(&mut work.script.conflicts) {
            if let Some(ours) = &clash.ours
                && !ao_mutant::active("LOOP-07/our-side-is-lost")
            {
                conflict.kept = Some(format!("{CONFLICTS}/{id}/{}", conflict.path));
                self.keep(&conflicts, &conflict.path, ours)?;
            }
        }
        Ok(())
    }

    /// Deleted files go into the archive, until a person empties it. What an undo takes away came
    /// from `ao`, and the undo of the undo has it.
    fn stage_archive(&self, plan: &Plan, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let deleted = plan.touched.iter().filter(|(_, touched)| touched.after.is_none());
        let deleted: Vec<_> = deleted.collect();
        if deleted.is_empty() || !work.script.undo_of.is_empty() {
            return Ok(());
        }
        let archive = self.keepsake_dir(at, ARCHIVE, &work.script.id)?;
        for (path, touched) in deleted {
            if let Some(before) = &touched.before {
                self.keep(&archive, path.as_str(), before)?;
            }
        }
        Ok(())
    }

    /// The staged directory that will become `NAME/ID`; that one is made empty now, so that the
    /// rename over it needs no space.
    fn keepsake_dir(&self, at: &Room<F::Dir>, name: &str, id: &str) -> Result<F::Dir> {
        let make = || {
            let outer = self.make_dirs(&at.state, name)?;
            self.make_dirs(&outer, id)?;
            self.make_dirs(&at.here, name)
        };
        make().map_err(Error::io(format!("make {name}/{id}")))
    }

    fn keep(&self, dir: &F::Dir, path: &str, content: &Content) -> Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let keep = || {
            let dir = self.make_dirs(dir, folder)?;
            self.fs.create(&dir, OsStr::new(name), &content.bytes, PLAIN_MODE)
        };
        keep().map_err(Error::io(format!("keep {path}")))
    }

    /// The record, the history as it will be, the counter, and what recovery needs.
    fn stage_state(&self, plan: &Plan, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        self.stage_record(work, at)?;
        let generation = self.generation()? & !1;
        let write = |dir: &F::Dir, name: &str, bytes: &[u8]| {
            self.fs
                .create(dir, OsStr::new(name), bytes, PLAIN_MODE)
                .map_err(Error::io(format!("stage {name}")))
        };
        write(&at.here, &format!("{GENERATION}.odd"), generation_bytes(generation + 1).as_bytes())?;
        write(
            &at.here,
            &format!("{GENERATION}.even"),
            generation_bytes(generation + 2).as_bytes(),
        )?;
        self.fs
            .reserve(&at.here, OsStr::new(BALLAST), ballast_bytes(plan))
            .map_err(Error::io("reserve the space that directories may need"))?;
        let script = to_json(&work.script)?;
        write(&at.slots, SCRIPT, &script)?;
        write(&at.here, MARKER, &work.script.marker(&script)?)
    }

    /// Writes what will be remembered of this commit; again when late changes altered it.
    pub(crate) fn stage_record(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let record = work.script.record();
        let mut history = self.read_state(&at.state, HISTORY)?.unwrap_or_default();
        history.extend(to_json(&history_line(&record)?)?);
        let doing = || Error::io("stage the record");
        let undo = self.make_dirs(&at.here, UNDO).map_err(doing())?;
        self.rewrite(&undo, RECORD, &to_json(&record)?, PLAIN_MODE).map_err(doing())?;
        self.rewrite(&at.here, HISTORY, &history, PLAIN_MODE).map_err(doing())?;
        if let Some(archive) = self.open_from(&at.here, ARCHIVE).map_err(doing())? {
            self.rewrite(&archive, PROVENANCE, &to_json(&provenance(work))?, PLAIN_MODE)
                .map_err(doing())?;
        }
        self.stage_conflict_list(work, at)
    }

    pub(crate) fn stage_conflict_list(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        if work.script.conflicts.is_empty() {
            return Ok(());
        }
        let list = Conflicts {
            schema_version: SchemaVersion,
            id: work.script.id.clone(),
            at: work.script.at.clone(),
            conflicts: work.script.conflicts.clone(),
            extra: Extra::default(),
        };
        let write = |bytes: &[u8]| {
            let conflicts = self.make_dirs(&at.here, CONFLICTS)?;
            self.rewrite(&conflicts, CONFLICT_LIST, bytes, PLAIN_MODE)
        };
        write(&to_json(&list)?).map_err(Error::io("list the conflicts"))
    }

    /// Adds a version to the staged undo snapshot.
    pub(crate) fn stage_blob(&self, content: &Content, at: &Room<F::Dir>) -> io::Result<()> {
        let undo = self.make_dirs(&at.here, UNDO)?;
        self.rewrite(&undo, &content.hash, &content.bytes, PRIVATE_MODE)
    }

    /// Writes a staged file, or replaces it whole: by then the commit is decided, and recovery
    /// must find the one or the other.
    pub(crate) fn rewrite(
        &self,
        dir: &F::Dir,
        name: &str,
        bytes: &[u8],
        mode: u32,
    ) -> io::Result<()> {
        let name = OsStr::new(name);
        if self.fs.stat(dir, name)?.is_none() {
            return self.fs.create(dir, name, bytes, mode);
        }
        let fresh = OsStr::new("fresh");
        self.remove_tree(dir, fresh)?;
        self.fs.create(dir, fresh, bytes, mode)?;
        self.fs.sync_file(dir, fresh)?;
        self.fs.rename((dir, fresh), (dir, name))
    }

    /// Everything staged, and every name on the way to it.
    fn make_durable(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let sync = || {
            self.fs.sync_tree(&at.here)?;
            self.fs.sync_dir(&at.staging)?;
            for name in [UNDO, ARCHIVE, CONFLICTS] {
                if let Some(dir) = self.open_from(&at.state, name)? {
                    self.fs.sync_dir(&dir)?;
                }
            }
            self.fs.sync_dir(&at.state)?;
            self.fs.sync_dir(&self.fs.top())
        };
        sync().map_err(Error::io(format!("make the staging of {} durable", work.script.id)))
    }
}

fn provenance(work: &Work) -> Provenance {
    let deleted = work.script.changes.iter().filter(|change| change.after.is_none());
    let entries = deleted.filter_map(|change| {
        let before = change.before.as_ref()?;
        Some(Archived {
            path: change.path.clone(),
            hash: before.hash.clone(),
            reason: change.reason.clone(),
            sources: if ao_mutant::active("LOOP-09/archive-without-sources") {
                Vec::new()
            } else {
                change.sources.clone()
            },
            extra: Extra::default(),
        })
    });
    Provenance {
        schema_version: SchemaVersion,
        id: work.script.id.clone(),
        at: work.script.at.clone(),
        entries: entries.collect(),
        extra: Extra::default(),
    }
}

pub(crate) fn ballast_bytes(plan: &Plan) -> u64 {
    BALLAST_BYTES + BALLAST_BYTES_A_FOLDER * plan.folders().len() as u64
}

/// The folders that lie in no other of them.
fn outermost(folders: &[String]) -> Vec<String> {
    let all: HashSet<&str> = folders.iter().map(String::as_str).collect();
    folders.iter().filter(|folder| !all.contains(parent(folder))).cloned().collect()
}

fn is_unsupported(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, InvalidInput, Unsupported};
    matches!(error.kind(), CrossesDevices | InvalidInput | Unsupported)
}

/// What somebody removed since the last look has no attributes to keep.
pub(crate) fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
