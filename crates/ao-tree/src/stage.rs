//! Staging: the whole new state, built beside the old one and made durable before it counts.
//!
//! A new part holds every unchanged file of the old one as a link to the same inode, and every
//! edited file as a new one. All space that the commit needs is used here, so that nothing can
//! run out of it later.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::io;

use ao_contract::{
    Archived, Conflicts, Extra, Fitness, Method, Provenance, SchemaVersion, Slot, SlotKind,
};

use crate::apply::{Request, Stop};
use crate::door::{ARCHIVE, CONFLICTS, Door, GENERATION, HISTORY, STAGING, UNDO, generation_bytes};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::path::{TreePath, shown};
use crate::plan::{Content, Plan};
use crate::script::{BASE, Base, Origin, Planned, SCRIPT, Script, Work, history_line, to_json};
use crate::snapshot::{Folder, Part, Snapshot, Standing, join};

pub(crate) const RECORD: &str = "record.json";
pub(crate) const PROVENANCE: &str = "provenance.json";
pub(crate) const CONFLICT_LIST: &str = "conflicts.json";
pub(crate) const MARKER: &str = "marker";
pub(crate) const CARRY: &str = "carry";
const PRIVATE_MODE: u32 = 0o600;
const PLAIN_MODE: u32 = 0o644;

/// The places of one transaction in the state directory, open.
#[derive(Debug)]
pub(crate) struct Room<D> {
    pub(crate) state: D,
    pub(crate) staging: D,
    /// `staging/ID`
    pub(crate) here: D,
}

impl<F: Fs> Door<F> {
    /// Makes the empty staging directory of a transaction, and the state directory if need be.
    pub(crate) fn make_room(&self, id: &str) -> Result<Room<F::Dir>> {
        let make = || {
            let state = self.make_dirs(&self.fs.top(), &self.layout.state)?;
            let staging = self.make_dirs(&state, STAGING)?;
            self.fs.make_dir(&staging, OsStr::new(id), 0o755)?;
            let room = self.fs.open_dir(&staging, OsStr::new(id))?;
            Ok(Room { state, staging, here: room })
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
            self.remove_if_empty(&staging, id).ok()?;
            self.remove_if_empty(&state, STAGING).ok()
        });
    }

    /// Whether directories can be exchanged here, or only files one by one.
    pub(crate) fn probe(&self, room: &F::Dir) -> Result<Method> {
        let (a, b) = (OsStr::new("probe-a"), OsStr::new("probe-b"));
        let exchange_dirs = || {
            self.fs.make_dir(room, a, 0o700)?;
            self.fs.make_dir(room, b, 0o700)?;
            let exchanged = self.fs.exchange((room, a), (room, b));
            self.fs.remove_dir(room, a)?;
            self.fs.remove_dir(room, b)?;
            exchanged
        };
        match exchange_dirs() {
            Ok(()) => return Ok(Method::Exchange),
            Err(error) if is_unsupported(&error) => {}
            Err(source) => {
                return Err(Error::Io {
                    doing: "probe for an exchange of directories".into(),
                    source,
                });
            }
        }
        let exchange_files = || {
            self.fs.create(room, a, b"", PRIVATE_MODE)?;
            self.fs.create(room, b, b"", PRIVATE_MODE)?;
            let exchanged = self.fs.exchange((room, a), (room, b));
            self.fs.remove_file(room, a)?;
            self.fs.remove_file(room, b)?;
            exchanged
        };
        match exchange_files() {
            Ok(()) => Ok(Method::FileByFile),
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
        snapshot: &Snapshot,
        (carried, fitness): (Vec<String>, Option<Fitness>),
        at: &Room<F::Dir>,
    ) -> Result<Work> {
        let method = self.probe(&at.here)?;
        let tree = self
            .make_dirs(&at.here, &self.layout.root_name)
            .map_err(Error::io("stage the tree"))?;
        let parts = match method {
            Method::Exchange => self.stage_parts(request, plan, snapshot, &tree)?,
            Method::FileByFile => Vec::new(),
        };
        let inodes = self.stage_files(request, plan, &tree)?;
        let changes = plan.touched.iter().map(|(path, touched)| Planned {
            change: touched.change(path),
            inode: inodes.get(path).copied(),
            group: touched.group.clone(),
        });
        let changes = changes.collect();
        let mut work = Work {
            origin: Origin::Staged,
            script: Script {
                changes,
                folders: self.made_folders(plan, snapshot)?,
                carried,
                fitness,
                ..Script::begin(request, plan, method)
            },
            bases: Vec::new(),
        };
        match method {
            Method::Exchange => self.part_slots(&parts, snapshot, &tree, &mut work)?,
            Method::FileByFile => self.file_slots(&mut work),
        }
        self.stage_keepsakes(plan, &mut work, at)?;
        self.stage_state(&work, at)?;
        self.make_durable(&work, at)?;
        Ok(work)
    }

    /// Builds the new parts out of links to what does not change. Gives the parts that change.
    fn stage_parts(
        &self,
        request: &Request,
        plan: &Plan,
        snapshot: &Snapshot,
        tree: &F::Dir,
    ) -> Result<Vec<usize>> {
        let mut touched: HashMap<&str, HashSet<&str>> = HashMap::new();
        for path in plan.touched.keys() {
            let (folder, name) = path.split_last();
            touched.entry(folder).or_default().insert(name);
        }
        let mut parts: Vec<usize> = plan.parts().into_iter().collect();
        parts.sort_unstable();
        for &part in &parts {
            let path = &self.layout.held[part].path;
            let Part::Dir(folder) = &snapshot.parts[part] else { continue };
            let links = Links { door: self, touched: &touched, stop: &request.stop };
            links.part(path, folder, tree)?;
        }
        Ok(parts)
    }

    /// Writes the edited files into the staged tree; gives their inodes.
    fn stage_files(
        &self,
        request: &Request,
        plan: &Plan,
        tree: &F::Dir,
    ) -> Result<HashMap<TreePath, u64>> {
        let mut inodes = HashMap::new();
        for (path, touched) in &plan.touched {
            request.stop.check()?;
            let (folder, name) = path.split_last();
            let name = OsStr::new(name);
            let is_plain = ao_mutant::active("LOOP-08/modes-are-the-usual");
            let stage = || -> io::Result<Option<u64>> {
                if ao_mutant::active("LOOP-02/new-folders-come-early") {
                    self.make_dirs(&self.fs.top(), folder)?;
                }
                let dir = self.make_dirs(tree, folder)?;
                let Some(after) = &touched.after else { return Ok(None) };
                let mode = if is_plain { PLAIN_MODE } else { after.mode };
                self.fs.create(&dir, name, &after.bytes, mode)?;
                if touched.before.is_some()
                    && !is_plain
                    && let Some(live) = self.open(folder)?
                    && self.fs.stat(&live, name)?.is_some_and(|stat| stat.kind == Kind::File)
                {
                    unless_gone(self.fs.copy_attributes((&live, name), (&dir, name)))?;
                }
                Ok(self.fs.stat(&dir, name)?.map(|stat| stat.inode))
            };
            if let Some(inode) = stage().map_err(Error::io(format!("stage {path}")))? {
                inodes.insert(path.clone(), inode);
            }
        }
        Ok(inodes)
    }

    /// The folders on the way to an edited file that are not there yet.
    fn made_folders(&self, plan: &Plan, snapshot: &Snapshot) -> Result<Vec<String>> {
        let mut made = BTreeSet::new();
        for (path, touched) in plan.touched.iter().filter(|(_, touched)| touched.before.is_none()) {
            let held = self.layout.held[touched.part].path.as_str();
            for (end, _) in path.as_str().match_indices('/') {
                let folder = &path.as_str()[..end];
                let is_there = match folder
                    .strip_prefix(held)
                    .map(|rest| rest.trim_start_matches('/'))
                {
                    Some("") => matches!(snapshot.parts[touched.part], Part::Dir(_)),
                    Some(rest) => matches!(snapshot.standing(touched.part, rest), Standing::Folder),
                    // Above a held part, which the snapshot does not reach.
                    None => {
                        self.open(folder).map_err(Error::io(format!("look at {folder}")))?.is_some()
                    }
                };
                if !is_there {
                    made.insert(folder.to_owned());
                }
            }
        }
        Ok(made.into_iter().collect())
    }

    fn part_slots(
        &self,
        parts: &[usize],
        snapshot: &Snapshot,
        tree: &F::Dir,
        work: &mut Work,
    ) -> Result<()> {
        for &part in parts {
            let held = &self.layout.held[part];
            let (folder, name) = held.path.split_last();
            let look = || -> io::Result<Option<u64>> {
                let Some(dir) = self.open_from(tree, folder)? else { return Ok(None) };
                Ok(self.fs.stat(&dir, OsStr::new(name))?.map(|stat| stat.inode))
            };
            let new_inode = look().map_err(Error::io(format!("look at staged {}", held.path)))?;
            let (old_inode, base) = match &snapshot.parts[part] {
                Part::Dir(folder) => (Some(folder.stat.inode), Base::of(folder)),
                Part::File(stat) => (Some(stat.inode), Base::default()),
                Part::Absent | Part::Blocked => (None, Base::default()),
            };
            work.script.slots.push(Slot {
                live: held.path.to_string(),
                staged: self.staged_path(&work.script.id, held.path.as_str()),
                kind: if held.is_dir { SlotKind::Dir } else { SlotKind::File },
                old_inode,
                new_inode,
            });
            work.bases.push(base);
        }
        Ok(())
    }

    fn file_slots(&self, work: &mut Work) {
        for planned in &work.script.changes {
            work.script.slots.push(Slot {
                live: planned.change.path.clone(),
                staged: self.staged_path(&work.script.id, &planned.change.path),
                kind: SlotKind::File,
                old_inode: None,
                new_inode: planned.inode,
            });
            work.bases.push(Base::default());
        }
    }

    fn staged_path(&self, id: &str, path: &str) -> String {
        format!("{}/{STAGING}/{id}/{}/{path}", self.layout.state, self.layout.root_name)
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
    fn stage_state(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        self.stage_record(work, at)?;
        let generation = self.generation()? & !1;
        let write = |name: &str, bytes: &[u8]| {
            self.fs
                .create(&at.here, OsStr::new(name), bytes, PLAIN_MODE)
                .map_err(Error::io(format!("stage {name}")))
        };
        write(&format!("{GENERATION}.odd"), generation_bytes(generation + 1).as_bytes())?;
        write(&format!("{GENERATION}.even"), generation_bytes(generation + 2).as_bytes())?;
        let (script, bases) = work.bytes()?;
        write(SCRIPT, &script)?;
        write(BASE, &bases)?;
        write(MARKER, &work.marker(&script, &bases)?)?;
        self.make_dirs(&at.here, CARRY).map_err(Error::io("make carry"))?;
        Ok(())
    }

    /// Writes what will be remembered of this commit; again when late changes altered it.
    pub(crate) fn stage_record(&self, work: &Work, at: &Room<F::Dir>) -> Result<()> {
        let record = work.script.record();
        let mut history = self.read_state(&at.state, HISTORY)?.unwrap_or_default();
        history.extend(to_json(&history_line(&record, work.script.method)?)?);
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
    fn rewrite(&self, dir: &F::Dir, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
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
    let deleted = work.script.changes.iter().filter(|planned| planned.change.after.is_none());
    let entries = deleted.filter_map(|planned| {
        let before = planned.change.before.as_ref()?;
        Some(Archived {
            path: planned.change.path.clone(),
            hash: before.hash.clone(),
            reason: planned.change.reason.clone(),
            sources: if ao_mutant::active("LOOP-09/archive-without-sources") {
                Vec::new()
            } else {
                planned.change.sources.clone()
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

pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, InvalidInput, Unsupported};
    matches!(error.kind(), CrossesDevices | InvalidInput | Unsupported)
}

/// What somebody removed since the last look need not be staged: the displaced tree will show it.
pub(crate) fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Links what does not change into the new tree.
struct Links<'a, F: Fs> {
    door: &'a Door<F>,
    /// For each folder: the names in it that an edit touches.
    touched: &'a HashMap<&'a str, HashSet<&'a str>>,
    stop: &'a Stop,
}

impl<F: Fs> Links<'_, F> {
    fn part(&self, path: &TreePath, folder: &Folder, tree: &F::Dir) -> Result<()> {
        let (above, name) = path.split_last();
        let open = || {
            let live = self.door.open(above)?.ok_or(io::ErrorKind::NotFound)?;
            Ok((live, self.door.make_dirs(tree, above)?))
        };
        let (live, staged) = open().map_err(Error::io(format!("stage {path}")))?;
        self.folder(&live, &staged, OsStr::new(name), folder, path.as_str())
    }

    fn folder(
        &self,
        live: &F::Dir,
        staged: &F::Dir,
        name: &OsStr,
        folder: &Folder,
        path: &str,
    ) -> Result<()> {
        let fs = &self.door.fs;
        let doing = || Error::io(format!("stage {}", shown(path)));
        fs.make_dir(staged, name, 0o700).map_err(doing())?;
        let from = match fs.open_dir(live, name) {
            // Removed since the last look; the displaced tree will show it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            from => from.map_err(doing())?,
        };
        let to = fs.open_dir(staged, name).map_err(doing())?;
        let touched = self.touched.get(path);
        // A folder that changes gets a new modification time by being filled after its
        // attributes; one that does not keeps the old one.
        if touched.is_some() {
            unless_gone(fs.copy_attributes((live, name), (staged, name))).map_err(doing())?;
        }
        for entry in &folder.files {
            self.stop.check()?;
            let is_touched = touched
                .is_some_and(|names| entry.name.to_str().is_some_and(|name| names.contains(name)));
            if is_touched {
                continue;
            }
            // A kernel that protects hard links refuses files of other users: this one is named.
            unless_gone(fs.link((&from, &entry.name), (&to, &entry.name))).map_err(|source| {
                Error::io(format!("link {}", shown(&join(path, &entry.name))))(source)
            })?;
        }
        for (inner_name, inner) in &folder.folders {
            self.folder(&from, &to, inner_name, inner, &join(path, inner_name))?;
        }
        if touched.is_none() {
            unless_gone(fs.copy_attributes((live, name), (staged, name))).map_err(doing())?;
        }
        Ok(())
    }
}
