//! One path of a decided commit: what stands in the tree, what is in its slot, and what that means.
//!
//! The two contents tell all there is to know. Nothing is remembered of inodes, so a tree that was copied,
//! restored or moved in the middle of a commit is finished like any other.

use std::ffi::OsStr;
use std::io;

use crate::commit::{last, parent};
use crate::compare::with_lines;
use crate::door::{Door, is_absent};
use crate::fs::{Fs, Kind};
use crate::path::TreePath;
use crate::plan::{Content, FILE_BYTES_MAX};
use crate::script::{Item, Script};
use crate::stage::Room;

/// What stands at a name.
#[derive(Debug)]
pub(crate) enum Sight {
    Nothing,
    File(Content),
    /// A folder, a symlink, or a file beyond all measure: somebody's, in any case.
    Other,
}

impl Sight {
    pub(crate) fn is(&self, hash: Option<&str>) -> bool {
        match (self, hash) {
            (Self::Nothing, None) => true,
            (Self::File(content), Some(hash)) => content.hash == hash,
            _ => false,
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    pub(crate) fn content(&self) -> Option<&Content> {
        match self {
            Self::File(content) => Some(content),
            Self::Nothing | Self::Other => None,
        }
    }
}

/// A name in an open directory.
pub(crate) type At<'a, D> = (&'a D, &'a OsStr);

impl<F: Fs> Door<F> {
    pub(crate) fn sight(&self, (dir, name): At<'_, F::Dir>) -> io::Result<Sight> {
        let Some(stat) = self.fs.stat(dir, name)? else { return Ok(Sight::Nothing) };
        if stat.kind != Kind::File {
            return Ok(Sight::Other);
        }
        match self.fs.read(dir, name, FILE_BYTES_MAX) {
            Ok(bytes) => Ok(Sight::File(Content::new(bytes, stat.mode))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Sight::Nothing),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(Sight::Other),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn live_sight(&self, path: &str) -> io::Result<Sight> {
        match self.open(parent(path))? {
            Some(dir) => self.sight((&dir, OsStr::new(last(path)))),
            None => Ok(Sight::Nothing),
        }
    }

    /// The other side of an item, wherever in the slots it is.
    pub(crate) fn slot_sight(&self, item: &Item, slots: &F::Dir) -> io::Result<Sight> {
        let sight = match self.open_from(slots, parent(&item.name))? {
            Some(dir) => self.sight((&dir, OsStr::new(last(&item.name))))?,
            None => Sight::Nothing,
        };
        match &item.in_folder {
            Some(staged) if sight.is_nothing() => match self.open_from(slots, parent(staged))? {
                Some(dir) => self.sight((&dir, OsStr::new(last(staged)))),
                None => Ok(Sight::Nothing),
            },
            _ => Ok(sight),
        }
    }

    /// Whether an item is still to be brought in: what is to come is staged, and what it was made against stands
    /// there, or that with lines behind it.
    pub(crate) fn is_to_do(item: &Item, live: &Sight, slot: &Sight) -> bool {
        let is_base = live.is(item.base());
        match item.new() {
            Some(_) => slot.is(item.new()) && (is_base || added_lines(item, live).is_some()),
            None => slot.is_nothing() && is_base,
        }
    }

    /// Moves one item into the tree, and whatever stood there into its slot. Who made or removed it since the
    /// last look finds it as they left it.
    pub(crate) fn bring_in(&self, item: &Item, at: &Room<F::Dir>) -> io::Result<()> {
        let slot = (&at.slots, OsStr::new(&item.name));
        if item.in_folder.is_some() && self.fs.stat(slot.0, slot.1)?.is_none() {
            return Ok(());
        }
        let folder = match item.change.before {
            // Its folder may have gone with all that was in it.
            None => match self.make_dirs(&self.fs.top(), parent(item.path())) {
                Err(error) if is_absent(&error) => None,
                made => Some(made?),
            },
            Some(_) => self.open(parent(item.path()))?,
        };
        let Some(folder) = folder else { return Ok(()) };
        let live = (&folder, OsStr::new(last(item.path())));
        let moved = match (item.base(), item.new()) {
            (None, _) => self.fs.rename_new(slot, live),
            (Some(_), Some(_)) => self.fs.exchange(slot, live),
            (Some(_), None) => self.fs.rename_new(live, slot),
        };
        match moved {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && self.fs.stat(live.0, live.1)?.is_none()
                    && item.base().is_some() =>
            {
                Ok(())
            }
            moved => moved,
        }
    }

    /// As [`Door::bring_in`], of a commit that was cut off: who knows what was done to the tree since.
    pub(crate) fn bring_in_again(&self, item: &Item, at: &Room<F::Dir>) -> io::Result<()> {
        let (live, slot) = (self.live_sight(item.path())?, self.slot_sight(item, &at.slots)?);
        if Self::is_to_do(item, &live, &slot) { self.bring_in(item, at) } else { Ok(()) }
    }

    /// A path of a commit that was cut off whose staged file is gone, or is not what it was.
    pub(crate) fn lost_path(&self, script: &Script, slots: &F::Dir) -> io::Result<Option<String>> {
        for item in script.items().iter().filter(|item| item.base().is_some()) {
            if item.new().is_none() || ao_mutant::active("LOOP-23/staging-is-believed") {
                continue;
            }
            let slot = self.slot_sight(item, slots)?;
            if slot.is(item.base()) || slot.is(item.new()) {
                continue;
            }
            if slot.is_nothing() || self.live_sight(item.path())?.is(item.base()) {
                return Ok(Some(item.path().to_owned()));
            }
        }
        Ok(None)
    }

    /// Moves a folder that is new into the tree with all that is in it; where somebody made one of its name,
    /// what is in it.
    pub(crate) fn bring_folder_in(&self, slot: At<'_, F::Dir>, path: &str) -> io::Result<()> {
        if self.fs.stat(slot.0, slot.1)?.is_none() {
            return Ok(());
        }
        let above = match self.make_dirs(&self.fs.top(), parent(path)) {
            Err(error) if is_absent(&error) => return Ok(()),
            made => made?,
        };
        match self.fs.rename_new(slot, (&above, OsStr::new(last(path)))) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done,
        }
        let Some(live) = self.open(path)? else { return Ok(()) };
        let staged = self.fs.open_dir(slot.0, slot.1)?;
        for entry in self.fs.names(&staged)? {
            let Some(name) = entry.name.to_str() else { continue };
            if entry.kind == Kind::Dir {
                self.bring_folder_in((&staged, &entry.name), &format!("{path}/{name}"))?;
                continue;
            }
            match self.fs.rename_new((&staged, &entry.name), (&live, &entry.name)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => done?,
            }
        }
        self.fs.sync_dir(&live)?;
        self.fs.sync_dir(&staged)
    }

    /// What of a decided commit is not in the tree yet. The slots are at `place` beneath the state directory.
    pub(crate) fn still_to_do(
        &self,
        items: impl IntoIterator<Item = Item>,
        slots: &F::Dir,
        place: &str,
    ) -> io::Result<Vec<Ahead>> {
        let mut ahead = Vec::new();
        for item in items {
            let (live, slot) = (self.live_sight(item.path())?, self.slot_sight(&item, slots)?);
            if !Self::is_to_do(&item, &live, &slot) {
                continue;
            }
            let name = item.in_folder.as_ref().unwrap_or(&item.name);
            let at = format!("{}/{place}/{name}", self.layout.state);
            let becomes = match slot {
                Sight::File(new) => {
                    let lines = added_lines(&item, &live).unwrap_or_default();
                    Some(Content::new(with_lines(&new.bytes, lines), new.mode))
                }
                Sight::Nothing | Sight::Other => None,
            };
            let hash = item.new().map(str::to_owned);
            let staged = hash.map(|hash| StagedFile { at, hash });
            ahead.push(Ahead { path: item.change.path, staged, becomes });
        }
        Ok(ahead)
    }
}

/// A file of a decided commit that is not in the tree yet.
#[derive(Debug, Clone)]
pub(crate) struct Ahead {
    pub(crate) path: String,
    pub(crate) staged: Option<StagedFile>,
    pub(crate) becomes: Option<Content>,
}

/// Where a file is that a commit decided on and did not bring in yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFile {
    /// Beneath the root.
    pub at: String,
    /// The BLAKE3 hash of its bytes.
    pub hash: String,
}

/// What was added to a line file since the commit looked at it, if nothing else changed in it.
pub(crate) fn added_lines<'s>(item: &Item, seen: &'s Sight) -> Option<&'s [u8]> {
    let base = item.change.before.as_ref()?;
    let content = seen.content()?;
    if !TreePath::parse(item.path()).is_ok_and(|path| path.is_line_file()) {
        return None;
    }
    lines_behind(&content.bytes, base.size, &base.hash)
}

/// What stands behind a beginning of this length and hash, of which the first digits are enough.
pub(crate) fn lines_behind<'b>(bytes: &'b [u8], length: u64, hash: &str) -> Option<&'b [u8]> {
    let (start, added) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    blake3::hash(start).to_hex().starts_with(hash).then_some(added)
}
