//! What the door remembers: the history, a line a commit, and each commit's record and snapshot.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;

use ao_contract::{HistoryLine, Record, Version};
use serde::de::DeserializeOwned;

use crate::commit::{last, parent};
use crate::diff::FileDiff;
use crate::door::{ARCHIVE, CONFLICTS, Door, HISTORY, STAGING, STATE_FILE_BYTES_MAX, UNDO};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::path::shown;
use crate::plan::{Content, FILE_BYTES_MAX};
use crate::stage::RECORD;

impl<F: Fs> Door<F> {
    /// All commits, oldest first; with one that was decided and cut off, as the next recovery will publish it.
    pub fn history(&self) -> Result<Vec<HistoryLine>> {
        let Some(state) = self.state()? else { return Ok(Vec::new()) };
        let cut_off =
            self.interrupted()?.filter(|_| !ao_mutant::active("RUN-45/decided-is-not-told"));
        if let Some(id) = cut_off {
            let path = format!("{STAGING}/{id}");
            let here =
                self.open_from(&state, &path).map_err(Error::io(format!("look at {path}")))?;
            // It leaves staging when it is published.
            if let Some(staged) =
                here.map(|here| self.read_state(&here, HISTORY)).transpose()?.flatten()
            {
                return self.lines_of(&staged);
            }
        }
        self.lines_of(&self.read_state(&state, HISTORY)?.unwrap_or_default())
    }

    /// What is kept of a commit: of one that was cut off it is still in staging.
    pub(crate) fn kept_of(&self, id: &str, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>> {
        for folder in [format!("{STAGING}/{id}/{UNDO}"), format!("{UNDO}/{id}")] {
            let read = || {
                let path = format!("{}/{folder}", self.layout.state);
                let Some(dir) = self.open(&path)? else { return Ok(None) };
                match self.fs.read(&dir, OsStr::new(name), max_bytes) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                    bytes => bytes.map(Some),
                }
            };
            let found = read().map_err(Error::io(format!("read {folder}/{name}")))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn lines_of(&self, bytes: &[u8]) -> Result<Vec<HistoryLine>> {
        let lines =
            bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        lines
            .map(|(index, line)| {
                serde_json::from_slice(line).map_err(|error| Error::Damaged {
                    file: format!("{}/{HISTORY}", self.layout.state),
                    why: format!("line {}: {error}", index + 1),
                })
            })
            .collect()
    }

    /// An id that no commit has: `wanted`, or that with a number after it.
    pub fn unique_id(&self, wanted: &str) -> Result<String> {
        let ids: HashSet<String> = self.history()?.into_iter().map(|line| line.id).collect();
        let numbered = (2_u64..).map(|number| format!("{wanted}-{number}"));
        let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
        loop {
            match candidates.next() {
                Some(id) if !ids.contains(&id) && !self.has_keepsakes(&id)? => return Ok(id),
                _ => {}
            }
        }
    }

    /// Whether something is kept under this id: conflicts outlive a transaction that came to
    /// nothing.
    fn has_keepsakes(&self, id: &str) -> Result<bool> {
        for name in [UNDO, ARCHIVE, CONFLICTS] {
            let path = format!("{}/{name}/{id}", self.layout.state);
            if self.open(&path).map_err(Error::io(format!("look at {path}")))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Refuses an id that cannot name files, or that is taken.
    pub(crate) fn check_new_id(&self, id: &str) -> Result<()> {
        let bad = |doubt: String| Error::BadId { id: shown(id), doubt };
        ao_contract::check_id(id).map_err(|error| bad(error.to_string()))?;
        if self.has_keepsakes(id)? || self.history()?.iter().any(|line| line.id == id) {
            return Err(bad("this id is taken".into()));
        }
        Ok(())
    }

    /// The commit of this id, or the newest one.
    pub fn line(&self, id: Option<&str>) -> Result<HistoryLine> {
        let mut lines = self.history()?;
        match id {
            None => lines.pop().ok_or(Error::EmptyHistory),
            Some(id) => {
                let found = lines.into_iter().find(|line| line.id == id);
                found.ok_or_else(|| Error::NoSuchCommit { id: shown(id) })
            }
        }
    }

    /// What exactly a commit changed.
    pub fn record(&self, id: &str) -> Result<Record> {
        self.record_of(&self.line(Some(id))?)
    }

    /// The record that a line of the history names, or the part of it that `T` has. Another one
    /// in its place would take back, or show as the past, what was never there.
    pub fn record_of<T: DeserializeOwned>(&self, line: &HistoryLine) -> Result<T> {
        let id = &line.id;
        let file = format!("{UNDO}/{}/{RECORD}", shown(id));
        let damaged =
            |why: String| Error::Damaged { file: format!("{}/{file}", self.layout.state), why };
        ao_contract::check_id(id).map_err(|error| damaged(error.to_string()))?;
        let bytes = self.kept_of(id, RECORD, STATE_FILE_BYTES_MAX)?;
        let bytes = bytes.ok_or_else(|| damaged("it is missing".into()))?;
        if blake3::hash(&bytes).to_hex().as_str() != line.record_hash {
            return Err(damaged("it is not the record that the history names".into()));
        }
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))
    }

    /// The bytes of a version that a commit replaced, checked against their name.
    pub(crate) fn blob(&self, id: &str, version: &Version) -> Result<Option<Vec<u8>>> {
        self.blob_of(id, &version.hash)
    }

    pub(crate) fn blob_of(&self, id: &str, hash: &str) -> Result<Option<Vec<u8>>> {
        let max_bytes = FILE_BYTES_MAX.min(STATE_FILE_BYTES_MAX);
        let Some(bytes) = self.kept_of(id, hash, max_bytes)? else { return Ok(None) };
        if blake3::hash(&bytes).to_hex().as_str() != hash {
            return Err(Error::Damaged {
                file: format!("{}/{UNDO}/{id}/{hash}", self.layout.state),
                why: "its bytes are not the ones it is named after".into(),
            });
        }
        Ok(Some(bytes))
    }

    /// Both sides of each file that a commit changed. A side that is no longer kept is empty, and
    /// its file is named in the second list.
    pub fn diff(&self, id: &str) -> Result<(Vec<FileDiff>, Vec<String>)> {
        let lines = self.history()?;
        let at = lines.iter().position(|line| line.id == id);
        let at = at.ok_or_else(|| Error::NoSuchCommit { id: shown(id) })?;
        let record: Record = self.record_of(&lines[at])?;
        let later = Later { ids: lines[at + 1..].iter().map(|line| line.id.clone()).collect() };
        let (mut diffs, mut gone) = (Vec::new(), Vec::new());
        for change in record.changes {
            let before = match &change.before {
                Some(version) => self.blob(id, version)?,
                None => None,
            };
            let after = match &change.after {
                Some(version) => later.find(self, &change.path, version)?,
                None => None,
            };
            let is_whole = before.is_some() == change.before.is_some()
                && after.is_some() == change.after.is_some();
            if is_whole {
                diffs.push(FileDiff { path: change.path, op: change.op, before, after });
            } else {
                gone.push(change.path);
            }
        }
        Ok((diffs, gone))
    }
}

/// Where the version that a commit wrote can be found: still in the tree, or in the snapshot of
/// the commit that replaced it.
struct Later {
    ids: Vec<String>,
}

impl Later {
    fn find<F: Fs>(
        &self,
        door: &Door<F>,
        path: &str,
        version: &Version,
    ) -> Result<Option<Vec<u8>>> {
        for id in &self.ids {
            if let Some(bytes) = door.blob(id, version)? {
                return Ok(Some(bytes));
            }
        }
        let live = door.live(path)?;
        Ok(live.filter(|content| content.hash == version.hash).map(|content| content.bytes))
    }
}

impl<F: Fs> Door<F> {
    /// A file in the tree, if it is there.
    pub(crate) fn live(&self, path: &str) -> Result<Option<Content>> {
        if let Some(ahead) = self.ahead.get(path) {
            return Ok(ahead.becomes.clone());
        }
        let look = || -> io::Result<Option<Content>> {
            let Some(dir) = self.open(parent(path))? else { return Ok(None) };
            let name = OsStr::new(last(path));
            let Some(stat) = self.fs.stat(&dir, name)? else { return Ok(None) };
            Ok(Some(Content::new(self.fs.read(&dir, name, FILE_BYTES_MAX)?, stat.mode)))
        };
        look().map_err(Error::io(format!("read {}", shown(path))))
    }
}
