//! Recovery: what a run that was cut off left behind is finished or removed, before anything else.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::time::Duration;

use ao_contract::Marker;

use crate::apply::Stop;
use crate::door::{ARCHIVE, CONFLICTS, Door, STAGING, UNDO};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::lock::exclusive;
use crate::path::shown;
use crate::script::{MARKER_PREFIX, read_marker};
use crate::stage::Room;

/// Where doubtful markers and their staging go when a person says so.
const QUARANTINE: &str = "quarantine";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The commit that was decided, and is finished now.
    pub finished: Option<String>,
    /// Transactions that were never decided, and are gone now.
    pub removed: Vec<String>,
    /// Finished markers of another tool, removed with what belonged to them.
    pub foreign: Vec<String>,
    /// What a person asked to be set aside.
    pub set_aside: Vec<String>,
}

impl Recovery {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A marker file, and what may be thought of it.
enum Found {
    Ours(Marker),
    /// Another tool's, whose commit was complete: only its leavings are there.
    ForeignDone {
        iteration_id: String,
    },
    Doubtful(String),
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
        if let Some((_, marker)) = ours.pop() {
            recovery.finished = Some(self.roll_forward(&state, &marker)?);
        }
        if !ao_mutant::active("LOOP-20/leftovers-stay") {
            recovery.removed = self.remove_leftovers(&state)?;
        }
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
            match self.examine_or_stuck(&state, &name)? {
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
                || ao_mutant::active("LOOP-04/half-a-commit-is-read")
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
        let marker = match read_marker(&bytes) {
            Ok(marker) => marker,
            Err(doubt) => return Ok(Found::Doubtful(doubt)),
        };
        Ok(match self.doubt(state, name, &marker)? {
            Some(doubt) => Found::Doubtful(doubt),
            None => Found::Ours(marker),
        })
    }

    /// As [`Door::examine`], and a marker whose directories cannot be told apart counts as
    /// doubtful too.
    fn examine_or_stuck(&self, state: &F::Dir, name: &str) -> Result<Found> {
        match self.examine(state, name)? {
            Found::Ours(marker) => Ok(match self.stuck_slot(&marker)? {
                Some(slot) => Found::Doubtful(format!("{slot} is not what the marker says")),
                None => Found::Ours(marker),
            }),
            found => Ok(found),
        }
    }

    /// Why a whole marker of ours must still not be followed.
    fn doubt(&self, state: &F::Dir, name: &str, marker: &Marker) -> Result<Option<String>> {
        let id = &marker.iteration_id;
        if ao_contract::check_id(id).is_err() || name != format!("{MARKER_PREFIX}{id}") {
            return Ok(Some(format!("it says that it belongs to {}", shown(id))));
        }
        for slot in &marker.slots {
            let held = crate::path::TreePath::parse(&slot.live).ok();
            let is_held = held.is_some_and(|path| {
                self.layout.part_of(&path).is_some()
                    || self.layout.held.iter().any(|held| held.path == path)
            });
            let staged = format!(
                "{}/{STAGING}/{id}/{}/{}",
                self.layout.state, self.layout.root_name, slot.live
            );
            let is_held = is_held || ao_mutant::active("LOOP-23/any-path-is-followed");
            if !is_held || slot.staged != staged {
                return Ok(Some(format!(
                    "it names {}, which lies outside of what may change",
                    shown(&slot.live)
                )));
            }
        }
        let Some(room) = self.open_room(state, id)? else {
            return Ok(Some("its staging is missing".into()));
        };
        Ok(self.load(marker, &room)?.err())
    }

    fn open_room(&self, state: &F::Dir, id: &str) -> Result<Option<F::Dir>> {
        self.open_from(state, &format!("{STAGING}/{id}")).map_err(Error::io("open the staging"))
    }

    fn roll_forward(&self, state: &F::Dir, marker: &Marker) -> Result<String> {
        let id = &marker.iteration_id;
        let missing = |doubt: String| Error::Doubt {
            file: self.state_path(&format!("{MARKER_PREFIX}{id}")),
            doubt,
        };
        let room =
            self.open_room(state, id)?.ok_or_else(|| missing("its staging is missing".into()))?;
        let mut work = self.load(marker, &room)?.map_err(missing)?;
        let staging = self.open_from(state, STAGING).map_err(Error::io("open the staging"))?;
        let staging = staging.ok_or_else(|| missing("its staging is missing".into()))?;
        let at = Room { state: state.clone(), staging, here: room };
        let lock = self.commit_lock.as_deref();
        let readers = lock.map(|lock| exclusive(lock, &Stop::default())).transpose()?;
        let finished = self.finish(&mut work, &at, Duration::ZERO);
        drop(readers);
        match finished {
            // What is left of it in staging goes with all other leftovers.
            Ok(()) => Ok(id.clone()),
            Err(doubt @ Error::Doubt { .. }) => Err(doubt),
            Err(error) => Err(Error::Unfinished { id: id.clone(), source: Box::new(error) }),
        }
    }

    fn remove_leftovers(&self, state: &F::Dir) -> Result<Vec<String>> {
        let doing = || Error::io("remove leftover staging");
        let Some(staging) = self.open_from(state, STAGING).map_err(doing())? else {
            return Ok(Vec::new());
        };
        let mut removed = Vec::new();
        for entry in self.fs.list(&staging).map_err(doing())? {
            let name = entry.name.to_string_lossy().into_owned();
            if entry.name.to_str().is_some() && entry.stat.kind == Kind::Dir {
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
        let lines = self.history().unwrap_or_default();
        let known: HashSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
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

    /// A slot that is neither before nor after.
    fn stuck_slot(&self, marker: &Marker) -> Result<Option<String>> {
        use crate::commit::{last, parent};
        for slot in marker.slots.iter().filter(|slot| slot.kind == ao_contract::SlotKind::Dir) {
            let inode = |path: &str| -> std::io::Result<Option<u64>> {
                let Some(dir) = self.open(parent(path))? else { return Ok(None) };
                Ok(self.fs.stat(&dir, OsStr::new(last(path)))?.map(|stat| stat.inode))
            };
            let doing = || Error::io(format!("look at {}", slot.live));
            let is_todo = inode(&slot.staged).map_err(doing())? == slot.new_inode;
            let in_tree = inode(&slot.live).map_err(doing())?;
            if is_todo && in_tree.is_some() && in_tree != slot.old_inode {
                return Ok(Some(slot.live.clone()));
            }
        }
        Ok(None)
    }
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
