//! Lines that somebody appended to a file while our version of it was on its way.

use std::ffi::OsStr;
use std::io;

use ao_contract::Version;

use super::carry::{aside, unless};
use super::{Late, Spot};
use crate::commit::parent;
use crate::compare::with_lines;
use crate::fs::{Fs, Kind};
use crate::path::{TreePath, shown};
use crate::plan::{Content, FILE_BYTES_MAX};
use crate::script::Planned;
use crate::stage::unless_gone;

/// How often an appender may catch us while its lines are being carried.
const APPEND_ROUNDS_MAX: usize = 16;

/// An edit to which lines of others were added. They belong to both sides of it: taking the edit
/// back must leave them.
pub(super) struct Merged {
    pub(super) before: Content,
    pub(super) after: Version,
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

impl<F: Fs> Late<'_, F> {
    /// Puts lines that somebody appended to the displaced file behind ours. Each round exchanges a
    /// whole new file in; what comes out tells what was written to it meanwhile.
    pub(super) fn append(
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
    pub(super) fn bytes(&self, (dir, name): (&F::Dir, &OsStr)) -> io::Result<Vec<u8>> {
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
}

/// What was added to a line file since `was`, if nothing else changed in it.
pub(super) fn added_lines(path: &str, theirs: &[u8], was: &Version) -> Option<Vec<u8>> {
    if !TreePath::parse(path).is_ok_and(|path| path.is_line_file()) {
        return None;
    }
    let (start, added) = theirs.split_at_checked(usize::try_from(was.size).ok()?)?;
    (blake3::hash(start).to_hex().as_str() == was.hash).then(|| added.to_vec())
}
