//! Undo snapshots are kept for a time and up to a size; the record of a commit stays for ever.

use std::ffi::OsStr;
use std::io;

use ao_contract::HistoryLine;

use crate::displaced::Letting;
use crate::door::{Door, UNDO};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::stage::RECORD;

/// Says in a commit's snapshot that its bytes are gone, and since when.
pub(crate) const EXPIRED: &str = "expired";

impl<F: Fs> Door<F> {
    /// Drops the snapshots that `is_old` names, and all that are older than the newest `max_bytes`
    /// of them. Gives the ids of the commits that can no longer be undone.
    pub fn expire(
        &self,
        is_old: impl Fn(&HistoryLine) -> bool,
        max_bytes: u64,
        now: &str,
    ) -> Result<Vec<String>> {
        let mut expired = Vec::new();
        let mut kept_bytes: u64 = 0;
        for line in self.history()?.into_iter().rev() {
            kept_bytes = kept_bytes.saturating_add(line.stored_bytes);
            let is_over = kept_bytes > max_bytes && !ao_mutant::active("LOOP-09/size-has-no-end");
            if is_old(&line) {
                // Where nobody can tell whether somebody still writes to them, they were kept until now.
                self.let_go(&line.id, Letting::Old)?;
            }
            if (is_old(&line) || is_over) && !self.is_expired(&line.id)? {
                self.drop_snapshot(&line.id, now)?;
                if ao_mutant::active("LOOP-09/archive-goes-too")
                    && let Some(state) = self.state()?
                    && let Ok(Some(archive)) = self.open_from(&state, crate::door::ARCHIVE)
                {
                    let _ = self.remove_tree(&archive, OsStr::new(&line.id));
                }
                expired.push(line.id);
            }
        }
        expired.reverse();
        Ok(expired)
    }

    /// Whether the snapshot of a commit was let go.
    pub fn is_expired(&self, id: &str) -> Result<bool> {
        let path = format!("{}/{UNDO}", self.layout.state);
        match self.open(&path).map_err(Error::io(format!("open {path}")))? {
            Some(undo) => self.is_expired_in(&undo, id),
            None => Ok(true),
        }
    }

    /// The same, for whoever has the folder of the snapshots open.
    pub(crate) fn is_expired_in(&self, undo: &F::Dir, id: &str) -> Result<bool> {
        let look = || match self.open_from(undo, id)? {
            Some(dir) => Ok(self.fs.stat(&dir, OsStr::new(EXPIRED))?.is_some()),
            None => Ok(true),
        };
        look().map_err(Error::io(format!("look at the snapshot of {id}")))
    }

    fn drop_snapshot(&self, id: &str, now: &str) -> Result<()> {
        let drop_it = || -> io::Result<()> {
            let Some(dir) = self.open(&self.snapshot_path(id))? else { return Ok(()) };
            // First the note, then the bytes: a snapshot in pieces is never taken for a whole one.
            self.fs.create(&dir, OsStr::new(EXPIRED), format!("{now}\n").as_bytes(), 0o644)?;
            self.fs.sync_file(&dir, OsStr::new(EXPIRED))?;
            self.fs.sync_dir(&dir)?;
            for entry in self.fs.list(&dir)? {
                if entry.name != RECORD && entry.name != EXPIRED {
                    self.fs.remove_file(&dir, &entry.name)?;
                }
            }
            Ok(())
        };
        drop_it().map_err(Error::io(format!("drop the snapshot of {id}")))
    }

    fn snapshot_path(&self, id: &str) -> String {
        format!("{}/{UNDO}/{id}", self.layout.state)
    }
}
