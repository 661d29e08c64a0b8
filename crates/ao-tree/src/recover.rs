//! Recovery: what a run that was cut off left behind is finished or removed, before anything else.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use ao_contract::{Conflict, Marker, SlotKind};

use crate::apply::Stop;
use crate::disk::Disk;
use crate::door::{ARCHIVE, CONFLICTS, Door, HISTORY, STAGING, UNDO};
use crate::earlier::{Earlier, earlier_marker};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::layout::Layout;
use crate::lock::exclusive;
use crate::path::shown;
use crate::script::{MARKER_PREFIX, Origin, Script, Work, read_marker};
use crate::slot::{Ahead, StagedFile};
use crate::stage::{Room, SLOTS};

/// Where doubtful markers and their staging go when a person says so.
const QUARANTINE: &str = "quarantine";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recovery {
    /// The commit that was decided, and is finished now.
    pub finished: Option<String>,
    /// Transactions that were never decided, and are gone now.
    pub removed: Vec<String>,
    /// Finished markers of another tool, removed with what belonged to them.
    pub foreign: Vec<String>,
    /// What a person asked to be set aside.
    pub set_aside: Vec<String>,
    /// Files to which lines were appended after they had been replaced: these are in the tree now.
    pub carried: Vec<String>,
    /// Files that were written to after they had been replaced: what was written is kept.
    pub conflicts: Vec<Conflict>,
}

impl Recovery {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A marker file, and what may be thought of it.
enum Found {
    Ours(Decided),
    /// Another tool's, whose commit was complete: only its leavings are there.
    ForeignDone {
        iteration_id: String,
    },
    Doubtful(String),
}

enum Decided {
    Now(Marker),
    /// By a program that exchanged whole folders.
    Earlier(Earlier),
}

impl<F: Fs> Door<F> {
    /// Finishes a decided commit, or removes an undecided one. Doing it twice is doing it once.
    pub fn recover(&self) -> Result<Recovery> {
        let Some(state) = self.state()? else { return Ok(Recovery::default()) };
        let mut recovery = Recovery::default();
        let mut ours = Vec::new();
        let mut foreign = Vec::new();
        // All markers are looked at before anything is touched.
        for name in self.markers(&state)? {
            match self.examine(&state, &name)? {
                Found::Ours(marker) => ours.push((name, marker)),
                Found::ForeignDone { iteration_id } => foreign.push((name, iteration_id)),
                Found::Doubtful(doubt) => {
                    return Err(Error::Doubt { file: self.state_path(&name), doubt });
                }
            }
        }
        if let [(first, _), (second, _), ..] = ours.as_slice() {
            let doubt = format!("there is another marker beside it, {}", shown(second));
            return Err(Error::Doubt { file: self.state_path(first), doubt });
        }
        self.pin(&state, !ours.is_empty())?;
        self.remove_foreign(&state, &foreign)?;
        recovery.foreign = foreign.into_iter().map(|(name, _)| name).collect();
        if let Some((name, _)) = ours.first()
            && ao_mutant::active("LOOP-20/decided-is-dropped")
        {
            let dropped = self.fs.remove_file(&state, OsStr::new(name));
            dropped.map_err(Error::io("drop a marker"))?;
            ours.clear();
        }
        if let Some((name, decided)) = ours.pop() {
            let script = self.roll_forward(&state, &name, decided)?;
            recovery.carried.extend(script.carried);
            recovery.conflicts.extend(script.conflicts);
            recovery.finished = Some(script.id);
        }
        if !ao_mutant::active("LOOP-20/leftovers-stay") {
            recovery.removed = self.remove_leftovers(&state, &mut recovery.conflicts)?;
            recovery.removed.retain(|id| Some(id) != recovery.finished.as_ref());
        }
        let late = self.revisit()?;
        recovery.carried.extend(late.carried);
        let told = |one: &Conflict| recovery.conflicts.iter().any(|told| told.kept == one.kept);
        let new: Vec<Conflict> = late.conflicts.into_iter().filter(|one| !told(one)).collect();
        recovery.conflicts.extend(new);
        self.remove_empty_keepsakes(&state)?;
        if !ao_mutant::active("LOOP-21/counter-stays-odd") {
            self.settle_generation(&state)?;
        }
        Ok(recovery)
    }

    /// Makes durable what a killed run left to the kernel, before anything is built on it: else a
    /// power loss in here takes the marker back and keeps what was done because of it, or brings a
    /// removed marker back to a staging that is half gone.
    fn pin(&self, state: &F::Dir, is_decided: bool) -> Result<()> {
        let pin = || {
            if is_decided {
                self.fs.sync_tree(&self.fs.top())
            } else if self.fs.stat(state, OsStr::new(STAGING))?.is_some() {
                self.fs.sync_dir(state)
            } else {
                Ok(())
            }
        };
        pin().map_err(Error::io("make durable what the last run left"))
    }

    /// Moves doubtful markers and all staging out of the way, at a person's word: the tree stays
    /// as it is, and nothing is thrown away.
    pub fn set_aside(&self, id: &str) -> Result<Recovery> {
        self.check_new_id(id)?;
        let Some(state) = self.state()? else { return Ok(Recovery::default()) };
        let mut moved = Vec::new();
        let doing = || Error::io("set the marker aside");
        let (mut names, mut ours) = (Vec::new(), Vec::new());
        for name in self.markers(&state)? {
            match self.examine(&state, &name)? {
                Found::Doubtful(_) => names.push(name),
                Found::Ours(_) => ours.push(name),
                Found::ForeignDone { .. } => {}
            }
        }
        // Two markers cannot both be followed.
        if ours.len() > 1 {
            names.append(&mut ours);
        }
        if names.is_empty() {
            return self.recover();
        }
        let place = self.make_dirs(&state, &format!("{QUARANTINE}/{id}")).map_err(doing())?;
        names.push(STAGING.to_owned());
        for name in names {
            if self.fs.stat(&state, OsStr::new(&name)).map_err(doing())?.is_some() {
                let to = OsStr::new(&name);
                self.fs.rename_new((&state, to), (&place, to)).map_err(doing())?;
                moved.push(format!("{} -> {QUARANTINE}/{id}/", shown(&name)));
            }
        }
        self.fs.sync_dir(&place).map_err(doing())?;
        self.fs.sync_dir(&state).map_err(doing())?;
        let mut recovery = self.recover()?;
        recovery.set_aside = moved;
        Ok(recovery)
    }

    /// The commit that a reader finds cut off, if there is one. A finished marker of another tool
    /// is none: its tree is whole.
    pub fn interrupted(&self) -> Result<Option<String>> {
        let Some(state) = self.state()? else { return Ok(None) };
        let is_finished = |name: &String| {
            self.is_finished_elsewhere(&state, name) && !ao_mutant::active("RUN-47/readers-stop")
        };
        let cut_off = self.markers(&state)?.into_iter().find(|name| !is_finished(name));
        Ok(cut_off.map(|name| shown(name.trim_start_matches(MARKER_PREFIX))))
    }

    /// How many finished markers of another tool there are, for the next writer to clear.
    pub fn finished_elsewhere(&self) -> Result<usize> {
        let Some(state) = self.state()? else { return Ok(0) };
        let markers = self.markers(&state)?;
        Ok(markers.iter().filter(|name| self.is_finished_elsewhere(&state, name)).count())
    }

    /// A marker that is gone by now was cleared by a writer: only finished ones go like that while a
    /// reader looks.
    fn is_finished_elsewhere(&self, state: &F::Dir, name: &str) -> bool {
        match self.read_state(state, name) {
            Ok(Some(bytes)) => matches!(foreign(&bytes), Some(Found::ForeignDone { .. })),
            Ok(None) => true,
            Err(_) => false,
        }
    }

    fn markers(&self, state: &F::Dir) -> Result<Vec<String>> {
        let listed =
            self.fs.list(state).map_err(Error::io(format!("list {}", self.layout.state)))?;
        let names = listed.into_iter().map(|entry| entry.name.to_string_lossy().into_owned());
        let mut markers: Vec<String> =
            names.filter(|name| name.starts_with(MARKER_PREFIX)).collect();
        markers.sort_unstable();
        Ok(markers)
    }

    fn state_path(&self, name: &str) -> String {
        format!("{}/{}/{}", self.layout.root_name, self.layout.state, shown(name))
    }

    fn examine(&self, state: &F::Dir, name: &str) -> Result<Found> {
        let bytes = match self.read_state(state, name) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => return Ok(Found::Doubtful(error.to_string())),
        };
        if let Some(found) = foreign(&bytes) {
            return Ok(found);
        }
        if let Some(marker) = earlier_marker(&bytes) {
            return Ok(match self.load_earlier(&marker, name, state)? {
                Ok(earlier) => Found::Ours(Decided::Earlier(earlier)),
                Err(doubt) => Found::Doubtful(doubt),
            });
        }
        let marker = match read_marker(&bytes) {
            Ok(marker) => marker,
            Err(doubt) => return Ok(Found::Doubtful(doubt)),
        };
        Ok(match self.doubt(state, name, &marker)? {
            Some(doubt) => Found::Doubtful(doubt),
            None => Found::Ours(Decided::Now(marker)),
        })
    }

    /// Why a whole marker of ours must still not be followed.
    fn doubt(&self, state: &F::Dir, name: &str, marker: &Marker) -> Result<Option<String>> {
        let id = &marker.iteration_id;
        let paths = marker.slots.iter().map(|slot| (slot.path.as_str(), slot.kind));
        if let Some(doubt) = self.misplaced(name, id, paths) {
            return Ok(Some(doubt));
        }
        let loaded = self.load(marker, state)?;
        let (script, slots) = match loaded {
            Ok(loaded) => loaded,
            Err(doubt) => return Ok(Some(doubt)),
        };
        if !self.is_staged(state, id)? {
            return Ok(None);
        }
        let lost = self.lost_path(&script, &slots).map_err(Error::io("look at what is staged"))?;
        Ok(lost.map(|path| format!("the staged {} is gone or was changed", shown(&path))))
    }

    /// Why a marker of this name cannot be of this id, or names what it must not.
    pub(crate) fn misplaced<'s>(
        &self,
        name: &str,
        id: &str,
        paths: impl Iterator<Item = (&'s str, SlotKind)>,
    ) -> Option<String> {
        if ao_contract::check_id(id).is_err() || name != format!("{MARKER_PREFIX}{id}") {
            return Some(format!("it says that it belongs to {}", shown(id)));
        }
        let is_allowed = |(path, kind): &(&str, SlotKind)| {
            // Of a folder that is new, any file in it would do.
            let inside =
                if *kind == SlotKind::Dir { format!("{path}/x") } else { (*path).to_owned() };
            let parsed = crate::path::TreePath::parse(&inside);
            parsed.is_ok_and(|path| self.layout.refuses(&path).is_none())
                || ao_mutant::active("LOOP-23/any-path-is-followed")
        };
        let mut paths = paths.filter(|path| !is_allowed(path));
        let (path, _) = paths.next()?;
        Some(format!("it names {}, which lies outside of what may change", shown(path)))
    }

    /// Whether a decided commit is not in the history yet.
    fn is_staged(&self, state: &F::Dir, id: &str) -> Result<bool> {
        let looked = || match self.open_from(state, &format!("{STAGING}/{id}"))? {
            Some(room) => Ok(self.fs.stat(&room, OsStr::new(HISTORY))?.is_some()),
            None => Ok(false),
        };
        looked().map_err(Error::io("look at the staging"))
    }

    /// The door as a reader needs it who finds a commit decided and cut off: what of it is not in the tree yet is
    /// seen as if it were. Nothing is written.
    pub fn ahead(self) -> Result<Self> {
        let ahead = self.not_yet()?.into_iter().map(|one| (one.path.clone(), one)).collect();
        Ok(Self { ahead, ..self })
    }

    fn not_yet(&self) -> Result<Vec<Ahead>> {
        let Some(state) = self.state()? else { return Ok(Vec::new()) };
        let mut ahead = Vec::new();
        for name in self.markers(&state)? {
            let marker = match self.examine(&state, &name)? {
                // One that is gone by now was cleared by a writer while a reader looked.
                Found::ForeignDone { .. } => continue,
                Found::Doubtful(_) if self.is_finished_elsewhere(&state, &name) => continue,
                Found::Doubtful(doubt) => {
                    return Err(Error::Doubt { file: self.state_path(&name), doubt });
                }
                Found::Ours(Decided::Earlier(earlier)) => {
                    ahead.extend(self.earlier_to_do(&earlier, &state)?);
                    continue;
                }
                Found::Ours(Decided::Now(marker)) => marker,
            };
            if self.is_staged(&state, &marker.iteration_id)?
                && !ao_mutant::active("LOOP-04/half-a-commit-is-read")
                && let Ok((script, slots)) = self.load(&marker, &state)?
            {
                let [place, _] = crate::stage::slots_of(&marker.iteration_id);
                let to_do = self.still_to_do(script.items(), &slots, &place);
                ahead.extend(to_do.map_err(Error::io("read what a commit decided"))?);
            }
        }
        Ok(ahead)
    }

    fn roll_forward(&self, state: &F::Dir, name: &str, decided: Decided) -> Result<Script> {
        let missing = |doubt: String| Error::Doubt { file: self.state_path(name), doubt };
        let marker = match decided {
            Decided::Now(marker) => marker,
            Decided::Earlier(earlier) => self.convert(earlier, state)?,
        };
        let (script, slots) = self.load(&marker, state)?.map_err(missing)?;
        let id = script.id.clone();
        let staging = self.make_dirs(state, STAGING).map_err(Error::io("open the staging"))?;
        // All that it had may have been moved to its place already.
        let here = self.make_dirs(&staging, &id).map_err(Error::io("open the staging"))?;
        let at = Room { state: state.clone(), staging, here, slots };
        let lock = self.commit_lock.as_deref();
        let readers = lock.map(|lock| exclusive(lock, &Stop::default())).transpose()?;
        let mut work = Work { origin: Origin::Left, script };
        let finished = self.finish(&mut work, &at);
        drop(readers);
        match finished {
            // What is left of it in staging goes with all other leftovers.
            Ok(()) => Ok(work.script),
            Err(error) => Err(Error::Unfinished { id, source: Box::new(error) }),
        }
    }

    fn remove_leftovers(
        &self,
        state: &F::Dir,
        conflicts: &mut Vec<Conflict>,
    ) -> Result<Vec<String>> {
        let doing = || Error::io("remove leftover staging");
        let Some(staging) = self.open_from(state, STAGING).map_err(doing())? else {
            return Ok(Vec::new());
        };
        let known = self.known_ids();
        let mut removed = Vec::new();
        for entry in self.fs.list(&staging).map_err(doing())? {
            let name = entry.name.to_string_lossy().into_owned();
            if entry.name.to_str().is_some() && entry.stat.kind == Kind::Dir {
                let slots = self.open_from(&staging, &format!("{name}/{SLOTS}")).map_err(doing())?;
                if let Some(slots) = slots.filter(|_| !known.contains(&name)) {
                    conflicts.extend(self.rescue(&name, &slots)?.conflicts);
                }
                self.clear_staging(&name, &staging, state)?;
            } else {
                self.remove_tree(&staging, &entry.name).map_err(doing())?;
            }
            removed.push(shown(&name));
        }
        self.remove_if_empty(state, STAGING).map_err(doing())?;
        removed.sort_unstable();
        Ok(removed)
    }

    /// The empty places that a transaction makes for what it will keep are names of their own: one
    /// may outlast the staging that would tell whose it was.
    fn remove_empty_keepsakes(&self, state: &F::Dir) -> Result<()> {
        let doing = || Error::io("remove empty folders of a transaction that was cut off");
        // A damaged history names nothing; then every folder is tried, and only empty ones go.
        let known = self.known_ids();
        for name in [UNDO, ARCHIVE, CONFLICTS] {
            let Some(kept) = self.open_from(state, name).map_err(doing())? else { continue };
            for entry in self.fs.list(&kept).map_err(doing())? {
                if let Some(id) = entry.name.to_str()
                    && entry.stat.kind == Kind::Dir
                    && !known.contains(id)
                {
                    self.remove_if_empty(&kept, id).map_err(doing())?;
                }
            }
        }
        Ok(())
    }

    fn known_ids(&self) -> HashSet<String> {
        self.history().unwrap_or_default().into_iter().map(|line| line.id).collect()
    }

    /// Removes finished markers of another tool, and before that what belonged to each. The disk is
    /// waited for twice, however many there are: a single run left ten thousand.
    fn remove_foreign(&self, state: &F::Dir, markers: &[(String, String)]) -> Result<()> {
        if markers.is_empty() {
            return Ok(());
        }
        let remove = || {
            if let Some(staging) = self.open_from(state, STAGING)? {
                for (_, id) in markers {
                    self.remove_tree(&staging, OsStr::new(id))?;
                }
            }
            for (_, id) in markers.iter().filter(|_| !ao_mutant::active("LOOP-23/prev-stays")) {
                self.remove_tree(state, OsStr::new(&format!("prev.{id}")))?;
            }
            self.fs.sync_dir(state)?;
            for (name, _) in markers {
                self.fs.remove_file(state, OsStr::new(name))?;
            }
            self.fs.sync_dir(state)
        };
        remove().map_err(Error::io("remove finished markers of another tool"))
    }
}

/// What a commit beneath `root` decided and did not bring in yet, by path: `None` for a file that goes. For readers
/// of the files themselves; they share the lock meanwhile.
pub fn not_yet_in(root: &Path, state: &str) -> Result<BTreeMap<String, Option<StagedFile>>> {
    let name =
        root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let disk = match Disk::open(root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        disk => disk.map_err(Error::io(format!("open {}", root.display())))?,
    };
    let door = Door::new(disk, Layout::all_but(&name, state, &[]))?;
    Ok(door.not_yet()?.into_iter().map(|one| (one.path, one.staged)).collect())
}

/// Markers of another tool have no `format`. Only a finished one can be dealt with: an unfinished
/// one says neither which side of a swap is where, nor whether it is all there.
fn foreign(bytes: &[u8]) -> Option<Found> {
    let marker: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    if marker.get("format").is_some() {
        return None;
    }
    let state = marker.get("state")?.as_str()?;
    let iteration_id = marker.get("iteration_id")?.as_str()?.to_owned();
    if ao_contract::check_id(&iteration_id).is_err() {
        return Some(Found::Doubtful(
            "another tool left it, and its id is not one that a file may have".into(),
        ));
    }
    if state == "DONE" || state == "READY" && ao_mutant::active("LOOP-23/ready-is-done") {
        return Some(Found::ForeignDone { iteration_id });
    }
    Some(Found::Doubtful(format!(
        "another tool left it in the middle of a commit (state {})",
        shown(state)
    )))
}
