//! What came out of the tree, after its commit: kept for as long as somebody may write to it.
//!
//! A program can have a file open for minutes, and what it writes goes into the file that it opened, wherever
//! that is by now. So a file that came out is let go only once the kernel says that nobody has it open for
//! writing, and only if it holds nothing but what is known. Lines that were appended are carried into the
//! tree; any other late write is another version, and is kept in `conflicts/`.

use std::ffi::OsStr;
use std::io;

use ao_contract::{Conflict, Conflicts, Extra, SchemaVersion};

use crate::commit::{last, parent};
use crate::door::{CONFLICTS, Door};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind, Leased};
use crate::late::{aside, unless};
use crate::lines::FRESH;
use crate::path::{TreePath, shown};
use crate::script::{Item, SCRIPT, Script, to_json};
use crate::slot::Sight;
use crate::stage::{CONFLICT_LIST, DISPLACED};

/// More names for versions of one file than anybody has.
const ASIDE_MAX: usize = 1000;

/// What is kept of files that came out of the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Displaced {
    pub files: u64,
    pub bytes: u64,
}

/// What late writes came to.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) carried: Vec<String>,
    pub(crate) conflicts: Vec<Conflict>,
}

/// Which files may be let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letting {
    /// Those to which nobody can write any more.
    Quiet,
    /// Where nobody can tell, the old ones too.
    Old,
}

impl<F: Fs> Door<F> {
    /// How much is kept of files that came out of the tree, since somebody may still write to them.
    pub fn displaced(&self) -> Result<Displaced> {
        let look = || -> io::Result<Displaced> {
            let mut held = Displaced::default();
            for (_, dir) in self.displaced_dirs()? {
                let listed = self.fs.list(&dir)?;
                let files = listed.iter().filter(|entry| entry.name != SCRIPT);
                for entry in files.filter(|entry| entry.stat.kind == Kind::File) {
                    held.files += 1;
                    held.bytes += entry.stat.size;
                }
            }
            Ok(held)
        };
        look().map_err(Error::io(format!("look at {DISPLACED}")))
    }

    fn displaced_dirs(&self) -> io::Result<Vec<(String, F::Dir)>> {
        let path = format!("{}/{DISPLACED}", self.layout.state);
        let Some(displaced) = self.open(&path)? else { return Ok(Vec::new()) };
        let mut dirs = Vec::new();
        for entry in self.fs.names(&displaced)? {
            if let (Kind::Dir, Ok(id)) = (entry.kind, entry.name.into_string()) {
                let dir = self.fs.open_dir(&displaced, OsStr::new(&id))?;
                dirs.push((id, dir));
            }
        }
        dirs.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(dirs)
    }

    /// Looks again at what came out in earlier commits.
    pub(crate) fn revisit(&self) -> Result<Found> {
        let mut found = Found::default();
        let dirs = self.displaced_dirs().map_err(Error::io(format!("look at {DISPLACED}")))?;
        for (id, _) in dirs {
            let late = self.let_go(&id, Letting::Quiet)?;
            found.carried.extend(late.carried);
            found.conflicts.extend(late.conflicts);
        }
        if let Some(state) = self.state()? {
            let empty = self.remove_if_empty(&state, DISPLACED);
            empty.map_err(Error::io(format!("remove the empty {DISPLACED}")))?;
        }
        Ok(found)
    }

    /// Lets go of what came out in one commit, as far as nobody can miss it.
    pub(crate) fn let_go(&self, id: &str, letting: Letting) -> Result<Found> {
        let doing = || Error::io(format!("let go of what came out in {id}"));
        let path = format!("{}/{DISPLACED}", self.layout.state);
        let Some(displaced) = self.open(&path).map_err(doing())? else {
            return Ok(Found::default());
        };
        let opened = self.open_from(&displaced, id).map_err(doing())?;
        let Some(slots) = opened else { return Ok(Found::default()) };
        let Some(script) = self.script_in(&slots)? else {
            self.remove_if_empty(&displaced, id).map_err(doing())?;
            return Ok(Found::default());
        };
        let mut found = Found::default();
        let go = |found: &mut Found| -> io::Result<()> {
            for item in script.items() {
                self.let_item_go(&item, id, &slots, letting, found)?;
            }
            if found.carried.is_empty() && found.conflicts.is_empty() {
                return Ok(());
            }
            self.fs.sync_dir(&slots)
        };
        go(&mut found).map_err(doing())?;
        self.list_late_conflicts(id, &script.at, &found.conflicts)?;
        let clear = || {
            for (name, _) in script.folder_slots() {
                self.remove_empty_tree((&slots, OsStr::new(&name)))?;
            }
            // A round that was not ready to go in.
            self.remove_tree(&slots, OsStr::new(FRESH))?;
            let is_empty = self.fs.names(&slots)?.iter().all(|entry| entry.name == SCRIPT);
            if is_empty {
                // Without the script nobody could tell what a file is that came back.
                self.fs.sync_dir(&slots)?;
                self.remove_tree(&displaced, OsStr::new(id))?;
            }
            Ok(())
        };
        clear().map_err(doing())?;
        Ok(found)
    }

    fn script_in(&self, slots: &F::Dir) -> Result<Option<Script>> {
        let bytes = self.read_state(slots, SCRIPT)?;
        // One that cannot be read says nothing of what is here: all of it stays.
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn let_item_go(
        &self,
        item: &Item,
        id: &str,
        slots: &F::Dir,
        letting: Letting,
        found: &mut Found,
    ) -> io::Result<()> {
        let staged = match &item.in_folder {
            Some(staged) => match self.open_from(slots, parent(staged))? {
                Some(dir) => Some((dir, last(staged))),
                None => None,
            },
            None => None,
        };
        // Ours, that could not come in.
        if let Some((dir, name)) = staged {
            self.let_file_go((&dir, OsStr::new(name)), |sight| sight.is(item.new()), letting)?;
        }
        let is_line_file = TreePath::parse(item.path()).is_ok_and(|path| path.is_line_file());
        let ours = self.slot_sight(item, slots)?;
        let is_ours = ours.is(item.new());
        if is_line_file && !is_ours && item.base().is_some() && item.new().is_some() {
            let before: u64 = self.came_out(item, slots)?.iter().map(|file| file.carried()).sum();
            self.carry_lines(item, slots, Some(letting))?;
            let files = self.came_out(item, slots)?;
            if files.iter().map(|file| file.carried()).sum::<u64>() > before {
                found.carried.push(shown(item.path()));
            }
            let mut there = Vec::new();
            for file in files {
                let at = (slots, OsStr::new(&file.name));
                // It tells how far another one is carried.
                if file.source().is_some_and(|source| there.contains(&source)) {
                    there.push(file.number);
                } else if file.is_known() {
                    let is_done = |sight: &Sight| {
                        sight.content().is_some_and(|now| file.is_all_of(&now.bytes))
                    };
                    if file.source().is_some() {
                        // That one must not come back without what tells how far it is carried.
                        self.fs.sync_dir(slots)?;
                    }
                    self.let_file_go(at, is_done, letting)?;
                    if self.fs.stat(at.0, at.1)?.is_some() {
                        there.push(file.number);
                    }
                } else {
                    found.conflicts.push(self.set_version_aside(item, id, at)?);
                }
            }
            return Ok(());
        }
        let at = (slots, OsStr::new(&item.name));
        let is_unseen = ao_mutant::active("LOOP-07/displaced-is-dropped-unseen");
        let is_known = |sight: &Sight| sight.is(item.base()) || sight.is(item.new()) || is_unseen;
        match self.sight(at)? {
            Sight::Nothing => Ok(()),
            sight if is_known(&sight) => self.let_file_go(at, is_known, letting),
            _ => {
                found.conflicts.push(self.set_version_aside(item, id, at)?);
                Ok(())
            }
        }
    }

    /// Removes a file to which nobody can write any more, if it is then still what is known.
    fn let_file_go(
        &self,
        file: (&F::Dir, &OsStr),
        is_known: impl Fn(&Sight) -> bool,
        letting: Letting,
    ) -> io::Result<()> {
        if self.fs.stat(file.0, file.1)?.is_none() {
            return Ok(());
        }
        let Some(lease) = self.may_go(file, letting)? else { return Ok(()) };
        if is_known(&self.sight(file)?) {
            self.fs.remove_file(file.0, file.1)?;
        }
        drop(lease);
        Ok(())
    }

    /// Whether nobody can write to a file any more, for as long as what it gives lives.
    pub(crate) fn may_go(
        &self,
        file: (&F::Dir, &OsStr),
        letting: Letting,
    ) -> io::Result<Option<Option<F::Lease>>> {
        Ok(match self.fs.lease(file.0, file.1)? {
            Leased::Held(lease) => Some(Some(lease)),
            Leased::Unknown if letting == Letting::Old => Some(None),
            Leased::Refused if ao_mutant::active("LOOP-07/open-files-are-let-go") => Some(None),
            Leased::Refused | Leased::Unknown => None,
        })
    }

    /// Moves another version to where versions are kept. Whoever has it open goes on writing to it there.
    fn set_version_aside(
        &self,
        item: &Item,
        id: &str,
        file: (&F::Dir, &OsStr),
    ) -> io::Result<Conflict> {
        let state = self.make_dirs(&self.fs.top(), &self.layout.state)?;
        let folder =
            self.make_dirs(&state, &format!("{CONFLICTS}/{id}/{}", parent(item.path())))?;
        let name = aside(last(item.path()));
        let numbered = (2..ASIDE_MAX).map(|number| format!("{name}.{number}"));
        let mut kept = None;
        for name in std::iter::once(name.clone()).chain(numbered) {
            let to = (&folder, OsStr::new(&name));
            if unless(io::ErrorKind::AlreadyExists, self.fs.rename_new(file, to))? {
                kept = Some(name);
                break;
            }
        }
        let mut above = parent(item.path());
        self.fs.sync_dir(&folder)?;
        while !above.is_empty() {
            above = parent(above);
            if let Some(dir) = self.open_from(&state, &format!("{CONFLICTS}/{id}/{above}"))? {
                self.fs.sync_dir(&dir)?;
            }
        }
        if let Some(conflicts) = self.open_from(&state, CONFLICTS)? {
            self.fs.sync_dir(&conflicts)?;
        }
        self.fs.sync_dir(&state)?;
        self.fs.sync_dir(file.0)?;
        let place = format!("{CONFLICTS}/{id}/{}", parent(item.path()));
        let kept = kept.map(|name| shown(&format!("{}/{name}", place.trim_end_matches('/'))));
        Ok(Conflict {
            path: shown(item.path()),
            why: "it was written to after it was replaced".to_owned(),
            kept,
            ours: None,
            live: None,
            extra: Extra::default(),
        })
    }

    /// Adds what came late to the list of a commit's conflicts.
    fn list_late_conflicts(&self, id: &str, at: &str, late: &[Conflict]) -> Result<()> {
        if late.is_empty() {
            return Ok(());
        }
        let doing = || Error::io("list the conflicts");
        let path = format!("{}/{CONFLICTS}/{id}", self.layout.state);
        let Some(dir) = self.open(&path).map_err(doing())? else { return Ok(()) };
        let listed = self.read_state(&dir, CONFLICT_LIST)?;
        let listed = listed.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut list = listed.unwrap_or_else(|| Conflicts {
            schema_version: SchemaVersion,
            id: id.to_owned(),
            at: at.to_owned(),
            conflicts: Vec::new(),
            extra: Extra::default(),
        });
        // The commit may have told of it before it was moved here.
        let is_new = |one: &&Conflict| !list.conflicts.iter().any(|told| told.kept == one.kept);
        let new: Vec<Conflict> = late.iter().filter(is_new).cloned().collect();
        list.conflicts.extend(new);
        let bytes = to_json(&list)?;
        let write = || {
            self.rewrite(&dir, CONFLICT_LIST, &bytes, crate::stage::PLAIN_MODE)?;
            self.fs.sync_dir(&dir)
        };
        write().map_err(doing())
    }

    fn remove_empty_tree(&self, (dir, name): (&F::Dir, &OsStr)) -> io::Result<()> {
        let Some(stat) = self.fs.stat(dir, name)? else { return Ok(()) };
        if stat.kind != Kind::Dir {
            return Ok(());
        }
        let inner = self.fs.open_dir(dir, name)?;
        for entry in self.fs.names(&inner)? {
            self.remove_empty_tree((&inner, &entry.name))?;
        }
        self.remove_if_empty(dir, &name.to_string_lossy())
    }

    /// Of slots whose marker is gone, keeps what came out of the tree and is not in it.
    pub(crate) fn rescue(&self, id: &str, slots: &F::Dir) -> Result<Found> {
        let mut found = Found::default();
        let Some(script) = self.script_in(slots)? else { return Ok(found) };
        let rescue = |item: &Item, found: &mut Found| -> io::Result<()> {
            let at = (slots, OsStr::new(&item.name));
            let slot = self.sight(at)?;
            let hash = slot.content().map(|content| content.hash.as_str());
            let is_safe = slot.is_nothing() || slot.is(item.new());
            if !is_safe && (hash.is_none() || !self.live_sight(item.path())?.is(hash)) {
                found.conflicts.push(self.set_version_aside(item, id, at)?);
            }
            Ok(())
        };
        let items = script.items();
        let came_out = |item: &Item| {
            Ok(item.base().is_some() && self.slot_sight(item, slots)?.is(item.base()))
        };
        let seen: io::Result<Vec<bool>> = items.iter().map(came_out).collect();
        // Where nothing came out, what is not as it was staged was torn by a power loss.
        if !seen.map_err(Error::io("look at what came out"))?.contains(&true) {
            return Ok(found);
        }
        for item in items {
            rescue(&item, &mut found)
                .map_err(Error::io(format!("keep what came out of {}", item.path())))?;
        }
        self.list_late_conflicts(id, &script.at, &found.conflicts)?;
        Ok(found)
    }
}
