//! The held parts as they were after some of the commits, from what later ones kept.
//!
//! Each commit keeps what it replaced. So a file was what the first later commit that touched it
//! found, and one that no later commit touched is what it is now. What others changed outside of the
//! door in between is not in the history: a file that was not left by the last commit before is named
//! as a doubt.

use std::collections::BTreeMap;

use ao_contract::HistoryLine;
use serde::{Deserialize, Serialize};

use crate::door::{Door, UNDO};
use crate::error::{Error, Result};
use crate::fs::Fs;

/// A version of a file that a commit replaced and kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The commit that replaced it.
    pub commit: String,
    /// The BLAKE3 hash of its bytes.
    pub hash: String,
}

/// As much of a record as an earlier state needs. A night's records are read whenever a question is
/// asked as of then, and what else they hold is most of them.
#[derive(Debug, Deserialize)]
struct Touched {
    changes: Vec<TouchedFile>,
}

#[derive(Debug, Deserialize)]
struct TouchedFile {
    path: String,
    #[serde(default)]
    before: Option<Hashed>,
    #[serde(default)]
    after: Option<Hashed>,
}

#[derive(Debug, Deserialize)]
struct Hashed {
    hash: String,
}

/// Something that cannot be known of an earlier state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncertain {
    pub path: String,
    pub why: String,
}

/// The held parts after some of the commits, told by how they differ from now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// What each file was that later commits touched; `None` if it was not there.
    pub files: BTreeMap<String, Option<Kept>>,
    /// What others changed between two commits that both touched it.
    pub uncertain: Vec<Uncertain>,
    /// What the last commit up to then left of each file that no later one touched, and its id.
    left: BTreeMap<String, (String, Option<String>)>,
    /// Some record from before could not be read, so that there may be more doubts.
    is_partial: bool,
}

impl Past {
    /// Whether all records were read that it rests on. Then it follows from [`Past::key`] alone.
    pub fn is_whole(&self) -> bool {
        !self.is_partial
    }

    /// Names what the state after the first `count` commits follows from. The history names every
    /// record by its hash, so nothing that a record says can change behind the same key; a commit
    /// or an undo that came since gives another one. Whether the bytes are still kept is no part of it.
    pub fn key(history: &[HistoryLine], count: usize) -> String {
        let mut hash = blake3::Hasher::new();
        for line in history {
            for text in [&line.id, &line.record_hash] {
                hash.update(&(text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
        }
        hash.update(&(count as u64).to_le_bytes());
        hash.finalize().to_hex().to_string()
    }

    /// What a commit up to then left of a file that no later one touched: its id, and the hash of
    /// what it wrote if it did not delete it.
    pub fn left(&self, path: &str) -> Option<(&str, Option<&str>)> {
        self.left.get(path).map(|(id, hash)| (id.as_str(), hash.as_deref()))
    }

    /// The files that commits up to then wrote and no later one touched.
    pub fn written(&self) -> impl Iterator<Item = (&str, &str)> {
        let there = self.left.iter().filter(|(_, (_, hash))| hash.is_some());
        there.map(|(path, (id, _))| (path.as_str(), id.as_str()))
    }
}

impl<F: Fs> Door<F> {
    /// The state after the first `count` commits of `history`, which is [`Door::history`].
    pub fn past(&self, history: &[HistoryLine], count: usize) -> Result<Past> {
        let (before, after) = history.split_at(count.min(history.len()));
        self.check_kept(history, before.len())?;
        let mut past = Past::default();
        for line in before {
            // Only doubts rest on it: they can do without.
            let Ok(record) = self.record_of::<Touched>(line) else {
                past.is_partial = true;
                continue;
            };
            for change in record.changes {
                let hash = change.after.map(|version| version.hash);
                past.left.insert(change.path, (line.id.clone(), hash));
            }
        }
        for line in after {
            for change in self.record_of::<Touched>(line)?.changes {
                if past.files.contains_key(&change.path) {
                    continue;
                }
                if let Some((id, left)) = past.left.remove(&change.path)
                    && left.as_deref() != change.before.as_ref().map(|found| found.hash.as_str())
                {
                    let why = format!(
                        "somebody changed it between commits {id} and {}, perhaps later than this; \
                         it is what the second found",
                        line.id
                    );
                    past.uncertain.push(Uncertain { path: change.path.clone(), why });
                }
                let kept = |found: Hashed| Kept { commit: line.id.clone(), hash: found.hash };
                past.files.insert(change.path, change.before.map(kept));
            }
        }
        Ok(past)
    }

    /// How many commits the oldest state has that can still be told.
    pub fn reach(&self, history: &[HistoryLine]) -> Result<usize> {
        Ok(self.newest_gone(history, 0)?.map_or(0, |last| last + 1))
    }

    /// The newest commit, not before this one, that replaced something and no longer has it.
    fn newest_gone(&self, history: &[HistoryLine], from: usize) -> Result<Option<usize>> {
        // Opened once: there is a folder a night.
        let path = format!("{}/{UNDO}", self.layout.state);
        let undo = self.open(&path).map_err(Error::io(format!("open {path}")))?;
        for (index, line) in history.iter().enumerate().skip(from).rev() {
            if line.changed + line.deleted == 0 {
                continue;
            }
            let is_gone = match &undo {
                Some(undo) => self.is_expired_in(undo, &line.id)?,
                None => true,
            };
            if is_gone {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Refuses a state that needs bytes that were let go.
    pub fn check_kept(&self, history: &[HistoryLine], count: usize) -> Result<()> {
        match self.newest_gone(history, count)?.map(|last| &history[last]) {
            Some(gone) => Err(Error::PastGone {
                asked: match count.checked_sub(1).and_then(|last| history.get(last)) {
                    Some(line) => format!("after commit {} of {}", line.id, line.at),
                    None => "before the first commit".into(),
                },
                id: gone.id.clone(),
                at: gone.at.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The bytes of a kept version, checked.
    pub fn kept(&self, kept: &Kept) -> Result<Vec<u8>> {
        self.blob_of(&kept.commit, &kept.hash)?
            .ok_or_else(|| Error::Damaged { file: self.kept_at(kept), why: "it is missing".into() })
    }

    /// Where a kept version lies beneath the root.
    pub fn kept_at(&self, kept: &Kept) -> String {
        format!("{}/{UNDO}/{}", self.layout.state, kept.name())
    }

    /// The hash of a file as it is now, if it is there.
    pub fn hash_now(&self, path: &str) -> Result<Option<String>> {
        Ok(self.live(path)?.map(|content| content.hash))
    }
}

impl Kept {
    /// Where kept versions lie beneath the door's own folder.
    pub const FOLDER: &'static str = UNDO;

    /// Its name beneath that.
    pub fn name(&self) -> String {
        format!("{}/{}", self.commit, self.hash)
    }
}
