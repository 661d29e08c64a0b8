//! Writes that slipped in between the last comparison and the exchange are in the displaced tree.
//!
//! They are found by comparing it with what the commit had seen, and carried into the live tree:
//! never lost, and never in the way of a still newer one. Everything here can be done again after
//! a crash, because whether a file was carried shows in the inodes themselves.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;

use ao_contract::{Conflict, SlotKind, Version};

use crate::commit::{last, parent};
use crate::compare::{clash_reason, with_lines};
use crate::door::{ARCHIVE, CONFLICTS, Door, is_absent};
use crate::error::{Error, Result};
use crate::fs::{Entry, Fs, Kind, Stat};
use crate::path::{TreePath, shown};
use crate::plan::{Content, FILE_BYTES_MAX};
use crate::script::{Base, Known, Planned, Work};
use crate::snapshot::join;
use crate::stage::{CARRY, Room, unless_gone};

/// How often an appender may catch us while its lines are being carried.
const APPEND_ROUNDS_MAX: usize = 16;

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

/// An edit to which lines of others were added. They belong to both sides of it: taking the edit
/// back must leave them.
struct Merged {
    before: Content,
    after: Version,
}

/// A file that is to replace a live one, with lines added. Its name in the carry directory tells
/// all there is to know of it, so that a round is known to be done after a crash.
struct Round {
    file: String,
    inode: u64,
    /// How much of the live file had been read, and its hash.
    read_len: usize,
    read_hash: String,
}

impl Round {
    fn new(prefix: &str, inode: u64, current: &[u8]) -> Self {
        let (read_len, read_hash) = (current.len(), blake3::hash(current).to_hex().to_string());
        let file = format!("{prefix}{inode}.{read_len}.{read_hash}");
        Self { file, inode, read_len, read_hash }
    }

    fn parse(file: String, prefix: &str) -> Option<Self> {
        let mut parts = file.strip_prefix(prefix)?.splitn(3, '.');
        let inode = parts.next()?.parse().ok()?;
        let read_len = parts.next()?.parse().ok()?;
        let read_hash = parts.next()?.to_owned();
        Some(Self { file, inode, read_len, read_hash })
    }

    /// What the round replaced is what it was made of, or that with more behind it.
    fn was_made_of(&self, replaced: &[u8]) -> bool {
        let start = replaced.get(..self.read_len);
        start.is_some_and(|start| blake3::hash(start).to_hex().as_str() == self.read_hash)
    }
}

/// A name in the displaced tree, and where in the live tree it belongs.
struct Spot<'s, D> {
    path: &'s str,
    /// The displaced folder; none if somebody had removed it.
    dir: Option<&'s D>,
    name: &'s OsStr,
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
        let entries = displaced.map_or(Ok(Vec::new()), |dir| door.fs.list(dir))?;
        let mut by_name: HashMap<&OsStr, &Entry> = HashMap::with_capacity(entries.len());
        by_name.extend(entries.iter().map(|entry| (entry.name.as_os_str(), entry)));
        let is_file = |name: &OsString| {
            by_name.get(name.as_os_str()).is_some_and(|e| e.stat.kind != Kind::Dir)
        };
        let is_folder = |name: &OsString| {
            by_name.get(name.as_os_str()).is_some_and(|e| e.stat.kind == Kind::Dir)
        };
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
            if entry.stat.kind == Kind::Dir {
                self.inner_folder(dir, entry, base.folder(&entry.name), &path)?;
            } else if self.edits.contains_key(&path) {
                self.edited(
                    &Spot { path: &path, dir: displaced, name: &entry.name },
                    Some(&entry.stat),
                )?;
            } else {
                let was = base.file(&entry.name);
                self.untouched(
                    &Spot { path: &path, dir: displaced, name: &entry.name },
                    &entry.stat,
                    was,
                )?;
            }
        }
        Ok(())
    }

    fn inner_folder(
        &mut self,
        dir: &F::Dir,
        entry: &Entry,
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
        if was.is_some_and(|was| was.inode == displaced.inode) {
            // The same inode stands in the live tree: an edit in place is there already.
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
            why: clash_reason(edit.change.after.is_some(), displaced.is_some()).to_owned(),
            kept: is_kept.then_some(kept),
            ours: edit.change.after.clone(),
            live: theirs,
            extra: ao_contract::Extra::default(),
        });
        self.dropped.insert(index);
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

    /// Puts lines that somebody appended to the displaced file behind ours. Each round exchanges a
    /// whole new file in; what comes out tells what was written to it meanwhile.
    fn append(
        &mut self,
        spot: &Spot<'_, F::Dir>,
        (index, edit): (usize, &Planned),
        theirs: &Content,
        added: Vec<u8>,
    ) -> io::Result<()> {
        let fs = &self.door.fs;
        let live_dir = self.live_folder(parent(spot.path))?;
        let live = (&live_dir, spot.name);
        let mut before = theirs.bytes.clone();
        let mut after = None;
        let mut pending = added;
        let mut is_rewritten = false;
        for number in 0..APPEND_ROUNDS_MAX {
            if pending.is_empty() {
                break;
            }
            let prefix = format!("{index}-{number}.");
            let round = match self.round(&prefix)? {
                Some(round) => round,
                None => self.make_round(&prefix, &self.bytes(live)?, &pending, live)?,
            };
            let carry = (&self.carry, OsStr::new(&round.file));
            let is_todo = fs.stat(carry.0, carry.1)?.is_some_and(|stat| stat.inode == round.inode);
            if is_todo {
                if !unless(io::ErrorKind::NotFound, fs.exchange(carry, live))? {
                    fs.rename_new(carry, live)?;
                }
                fs.sync_dir(&live_dir)?;
                fs.sync_dir(&self.carry)?;
            }
            let mut replaced = self.bytes(carry)?;
            if !round.was_made_of(&replaced) {
                // Somebody wrote it anew in between. Theirs gets its place back, and the lines go
                // behind it.
                is_rewritten = true;
                if self.take_back(carry, live, &round, spot.path)? {
                    continue;
                }
                break;
            }
            let since = replaced.split_off(round.read_len);
            if !is_rewritten {
                if let (0, Some(ours)) = (number, &edit.change.after) {
                    // Lines that came after the exchange belong to both sides as well.
                    let more = added_lines(spot.path, &replaced, ours).unwrap_or_default();
                    before = with_lines(&before, &more);
                }
                after = Some(with_lines(&replaced, &pending));
                before = with_lines(&before, &since);
            }
            pending = since;
        }
        self.carried.push(shown(spot.path));
        if let Some(after) = after {
            let mode = fs.stat(live.0, live.1)?.map_or(theirs.mode, |stat| stat.mode);
            let (before, after) = (Content::new(before, theirs.mode), Content::new(after, mode));
            self.merged.insert(index, Merged { before, after: after.version() });
        }
        Ok(())
    }

    /// A file's bytes; none if it is not there.
    fn bytes(&self, (dir, name): (&F::Dir, &OsStr)) -> io::Result<Vec<u8>> {
        match self.door.fs.read(dir, name, FILE_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        }
    }

    fn round(&self, prefix: &str) -> io::Result<Option<Round>> {
        let listed = self.door.fs.list(&self.carry)?;
        let mut names = listed.into_iter().filter_map(|entry| entry.name.into_string().ok());
        Ok(names.find_map(|name| Round::parse(name, prefix)))
    }

    fn make_round(
        &self,
        prefix: &str,
        current: &[u8],
        added: &[u8],
        live: (&F::Dir, &OsStr),
    ) -> io::Result<Round> {
        let fs = &self.door.fs;
        let fresh = OsStr::new("fresh");
        self.door.remove_tree(&self.carry, fresh)?;
        let mode = fs.stat(live.0, live.1)?.map_or(0o644, |stat| stat.mode);
        fs.create(&self.carry, fresh, &with_lines(current, added), mode)?;
        if fs.stat(live.0, live.1)?.is_some_and(|stat| stat.kind == Kind::File) {
            unless_gone(fs.copy_attributes(live, (&self.carry, fresh)))?;
        }
        fs.sync_file(&self.carry, fresh)?;
        let inode = fs.stat(&self.carry, fresh)?.ok_or(io::ErrorKind::NotFound)?.inode;
        let round = Round::new(prefix, inode, current);
        fs.rename((&self.carry, fresh), (&self.carry, OsStr::new(&round.file)))?;
        fs.sync_dir(&self.carry)?;
        Ok(round)
    }

    /// Gives what a round replaced its place back. Gives `false` when there is nothing to give
    /// back, or when somebody has replaced the round's file too: then theirs is the newest, and
    /// what the round replaced is kept aside.
    fn take_back(
        &self,
        carry: (&F::Dir, &OsStr),
        live: (&F::Dir, &OsStr),
        round: &Round,
        path: &str,
    ) -> io::Result<bool> {
        let fs = &self.door.fs;
        let is_round = |place: (&F::Dir, &OsStr)| -> io::Result<bool> {
            Ok(fs.stat(place.0, place.1)?.is_some_and(|stat| stat.inode == round.inode))
        };
        if fs.stat(carry.0, carry.1)?.is_none() {
            return Ok(false);
        }
        if is_round(live)? && unless(io::ErrorKind::NotFound, fs.exchange(carry, live))? {
            if is_round(carry)? {
                fs.remove_file(carry.0, carry.1)?;
                return Ok(true);
            }
            // Replaced in this very moment.
            fs.exchange(carry, live)?;
        }
        self.keep(carry, None, &aside(path))?;
        Ok(false)
    }

    fn live_stat(&self, path: &str, name: &OsStr) -> io::Result<Option<Stat>> {
        match self.door.open(parent(path))? {
            Some(dir) => self.door.fs.stat(&dir, name),
            None => Ok(None),
        }
    }

    /// The live folder of this path, made if it is missing.
    fn live_folder(&self, path: &str) -> io::Result<F::Dir> {
        self.door.make_dirs(&self.door.fs.top(), path)
    }

    /// Keeps what stands in the live tree aside at `path`, and gives its place to the displaced
    /// file. Gives `false`, and changes nothing, when somebody was faster.
    fn replace_live(&self, spot: &Spot<'_, F::Dir>, live: &Stat, path: &str) -> io::Result<bool> {
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
    fn remove_live(&self, spot: &Spot<'_, F::Dir>, live: &Stat) -> io::Result<bool> {
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
    fn carry_into_live(
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
    fn take_from_live(&self, path: &str, name: &OsStr, expected: Known) -> io::Result<bool> {
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

    fn keep_displaced(&mut self, spot: &Spot<'_, F::Dir>) -> io::Result<()> {
        let path = aside(spot.path);
        self.keep(spot.displaced()?, None, &path)?;
        self.two_versions(spot, &path);
        Ok(())
    }

    fn two_versions(&mut self, spot: &Spot<'_, F::Dir>, path: &str) {
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
    fn keep(&self, file: (&F::Dir, &OsStr), expected: Option<u64>, path: &str) -> io::Result<bool> {
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

    fn is_kept(&self, path: &str) -> io::Result<bool> {
        let folder = format!("{CONFLICTS}/{}", parent(path));
        match self.door.open_from(&self.at.here, &folder)? {
            Some(dir) => Ok(self.door.fs.stat(&dir, OsStr::new(last(path)))?.is_some()),
            None => Ok(false),
        }
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

/// Where the other one of two versions goes.
fn aside(path: &str) -> String {
    format!("{path}.displaced")
}

/// `false` for an error of this kind.
fn unless(kind: io::ErrorKind, done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == kind => Ok(false),
        Err(error) => Err(error),
    }
}

/// What was added to a line file since `was`, if nothing else changed in it.
fn added_lines(path: &str, theirs: &[u8], was: &Version) -> Option<Vec<u8>> {
    if !TreePath::parse(path).is_ok_and(|path| path.is_line_file()) {
        return None;
    }
    let (start, added) = theirs.split_at_checked(usize::try_from(was.size).ok()?)?;
    (blake3::hash(start).to_hex().as_str() == was.hash).then(|| added.to_vec())
}
