//! Undo snapshots are kept for a time and up to a size; the record of a commit stays for ever.

use std::ffi::OsStr;
use std::io;

use ao_contract::HistoryLine;

use crate::door::{Door, UNDO};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::stage::RECORD;

/// Says in a commit's snapshot that its bytes are gone, and since when.
pub(crate) const EXPIRED: &str = "expired";

impl<F: Fs> Door<F> {
    /// Drops the snapshots that `is_old` names, and then the oldest ones until the rest takes no
    /// more than `max_bytes`. Gives the ids of the commits that can no longer be undone.
    pub fn expire(
        &self,
        is_old: impl Fn(&HistoryLine) -> bool,
        max_bytes: u64,
        now: &str,
    ) -> Result<Vec<String>> {
        let mut kept = Vec::new();
        for line in self.history()? {
            if let Some(bytes) = self.snapshot_bytes(&line.id)? {
                kept.push((line, bytes));
            }
        }
        let mut total: u64 = kept.iter().map(|(_, bytes)| bytes).sum();
        let mut expired = Vec::new();
        for (line, bytes) in kept {
            if is_old(&line) || total > max_bytes {
                self.drop_snapshot(&line.id, now)?;
                total -= bytes;
                expired.push(line.id);
            }
        }
        Ok(expired)
    }

    /// What a commit's snapshot takes; `None` if it went before.
    fn snapshot_bytes(&self, id: &str) -> Result<Option<u64>> {
        let look = || -> io::Result<Option<u64>> {
            let Some(dir) = self.open(&self.snapshot_path(id))? else { return Ok(None) };
            if self.fs.stat(&dir, OsStr::new(EXPIRED))?.is_some() {
                return Ok(None);
            }
            let blobs = self.fs.list(&dir)?.into_iter().filter(|entry| entry.name != RECORD);
            Ok(Some(blobs.map(|entry| entry.stat.size).sum()))
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
