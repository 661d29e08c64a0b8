//! Whether everything the door remembers is whole, and nothing is left of what was cut off.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use ao_contract::{HistoryLine, Record, Version};

use crate::door::{Door, GENERATION, STAGING, UNDO, generation_bytes};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::path::shown;
use crate::snapshot::Left;
use crate::stage::RECORD;

/// Something that is not as the door left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub path: String,
    pub why: String,
    pub remedy: String,
}

#[derive(Debug, Clone)]
pub struct Verification {
    pub commits: usize,
    pub blobs: usize,
    pub damage: Vec<Damage>,
    /// What the door cannot hold; nothing is wrong with it.
    pub left: Vec<Left>,
}

impl<F: Fs> Door<F> {
    pub fn verify(&self) -> Result<Verification> {
        let mut found = Verification { commits: 0, blobs: 0, damage: Vec::new(), left: Vec::new() };
        self.verify_settled(&mut found)?;
        match self.history() {
            Ok(lines) => {
                found.commits = lines.len();
                for line in lines {
                    self.verify_commit(&line, &mut found)?;
                }
            }
            Err(Error::Damaged { file, why }) => {
                let remedy =
                    "restore the file from a backup, or remove the line that is named".into();
                found.damage.push(Damage { path: file, why, remedy });
            }
            Err(error) => return Err(error),
        }
        found.left = self.left_alone()?;
        Ok(found)
    }

    /// What the door does not hold and leaves as it is: links, twins, and what is no plain file.
    pub fn left_alone(&self) -> Result<Vec<Left>> {
        Ok(self.snapshot(|_| true)?.left)
    }

    /// No commit is cut off, and nothing of one lies about.
    fn verify_settled(&self, found: &mut Verification) -> Result<()> {
        let Some(state) = self.state()? else { return Ok(()) };
        let recover = || "run `ao tree recover`".to_owned();
        if let Some(id) = self.interrupted()? {
            let path = format!("{}/COMMIT-MARKER.{id}", self.layout.state);
            found.damage.push(Damage {
                path,
                why: "a commit was interrupted".into(),
                remedy: recover(),
            });
        }
        // The next writer clears finished markers of another tool away, with their staging.
        let is_another_tools = self.finished_elsewhere()? > 0;
        let staging = self.fs.stat(&state, OsStr::new(STAGING));
        let is_there = staging.map_err(Error::io("look at staging"))?.is_some();
        if is_there && !is_another_tools {
            let path = format!("{}/{STAGING}", self.layout.state);
            found.damage.push(Damage {
                path,
                why: "staging of a run that is gone".into(),
                remedy: recover(),
            });
        }
        let path = format!("{}/{GENERATION}", self.layout.state);
        let generation = self.generation()?;
        let kept = self.read_state(&state, GENERATION)?;
        if !generation.is_multiple_of(2) {
            found.damage.push(Damage { path, why: "the counter is odd".into(), remedy: recover() });
        } else if kept.is_some_and(|bytes| bytes != generation_bytes(generation).as_bytes()) {
            let remedy = "remove it; the next commit counts from there".into();
            found.damage.push(Damage { path, why: "it is no counter".into(), remedy });
        }
        Ok(())
    }

    fn verify_commit(&self, line: &HistoryLine, found: &mut Verification) -> Result<()> {
        let id = &line.id;
        let folder = format!("{}/{UNDO}/{id}", self.layout.state);
        let damage = |name: &str, why: &str| Damage {
            path: shown(&format!("{folder}/{name}")),
            why: why.to_owned(),
            remedy: format!(
                "commit {id} cannot be undone as a whole; restore the file from a backup"
            ),
        };
        let opened = self.open(&folder).map_err(Error::io(format!("open {folder}")))?;
        let Some(dir) = opened else {
            found.damage.push(damage("", "the snapshot is missing"));
            return Ok(());
        };
        let record = self.read_state(&dir, RECORD)?.unwrap_or_default();
        if blake3::hash(&record).to_hex().as_str() != line.record_hash {
            found.damage.push(damage(RECORD, "it is not the record that the history names"));
            return Ok(());
        }
        if self.is_expired(id)? {
            return Ok(());
        }
        let changes = self.record_of::<Record>(line)?.changes;
        let before = changes.iter().filter_map(|change| change.before.as_ref());
        let versions: BTreeMap<&str, &Version> =
            before.map(|version| (version.hash.as_str(), version)).collect();
        for version in versions.into_values() {
            found.blobs += 1;
            match self.blob(id, version) {
                Ok(Some(_)) => {}
                Ok(None) => found.damage.push(damage(&version.hash, "it is missing")),
                Err(Error::Damaged { why, .. }) => found.damage.push(damage(&version.hash, &why)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
