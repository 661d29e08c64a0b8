//! The indexes of earlier states, and what was found out about each of them.
//!
//! What later commits replaced stands in their records, and to read all of these costs as much as a
//! search. So what was found out lies beside the index, under the key that it follows from, with a
//! hash of its own. A file that is missing, damaged or of another key costs time only.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ao_tree::{Past as Known, own_file};

use super::cache::{FOLDER, Keep};

/// The index of an earlier state, by its name.
const PREFIX: &str = "as-of-";
const INDEX_SUFFIX: &str = ".idx";
const KNOWN_SUFFIX: &str = ".known";
/// So many earlier states are kept; the index of each is about as large as that of today.
const KEPT_MAX: usize = 4;
/// A larger file is not ours.
const KNOWN_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The earlier states of a tree that are at hand.
#[derive(Debug, Clone)]
pub struct Shelf {
    agents: PathBuf,
    keep: Keep,
}

impl Shelf {
    pub fn new(agents: &Path, keep: Keep) -> Self {
        Self { agents: agents.to_owned(), keep }
    }

    /// What is known of a state: as it was found out before under this key, or else now.
    pub fn known<E>(
        &self,
        name: &str,
        key: &str,
        find_out: impl FnOnce() -> Result<Known, E>,
    ) -> Result<Known, E> {
        if let Some(known) = self.read(name, key) {
            return Ok(known);
        }
        let known = find_out()?;
        if known.is_whole() && self.keep == Keep::Yes {
            // The index is written to the same place next, and says why if it cannot be.
            let _ = self.write(name, key, &known);
        }
        Ok(known)
    }

    fn read(&self, name: &str, key: &str) -> Option<Known> {
        let bytes = own_file::read(&self.known_path(name), KNOWN_BYTES_MAX).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (head, body) = (&bytes[..end], &bytes[end + 1..]);
        (head == heading(key, body).as_bytes()).then(|| serde_json::from_slice(body).ok())?
    }

    fn write(&self, name: &str, key: &str, known: &Known) -> io::Result<()> {
        let body = serde_json::to_vec(known)?;
        let mut bytes = heading(key, &body).into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&body);
        make_folder(&self.agents)?;
        replace(&self.known_path(name), &bytes)
    }

    fn known_path(&self, name: &str) -> PathBuf {
        self.agents.join(FOLDER).join(format!("{PREFIX}{name}{KNOWN_SUFFIX}"))
    }

    pub(super) fn index_path(&self, name: &str) -> PathBuf {
        self.agents.join(FOLDER).join(format!("{PREFIX}{name}{INDEX_SUFFIX}"))
    }

    /// Removes all states but this one and those whose index was written last.
    pub(super) fn forget(&self, current: &str) -> io::Result<()> {
        let (mut indexes, mut all) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(self.agents.join(FOLDER))? {
            let entry = entry?;
            let Ok(file) = entry.file_name().into_string() else { continue };
            let Some(rest) = file.strip_prefix(PREFIX) else { continue };
            if let Some(name) = rest.strip_suffix(INDEX_SUFFIX) {
                if let Ok(found) = entry.metadata() {
                    indexes.push((found.mtime(), found.mtime_nsec(), name.to_owned()));
                }
                all.push((name.to_owned(), entry.path()));
            } else if let Some(name) = rest.strip_suffix(KNOWN_SUFFIX) {
                all.push((name.to_owned(), entry.path()));
            }
        }
        indexes.sort_unstable();
        let others = indexes.iter().rev().map(|(_, _, name)| name.as_str());
        let others = others.filter(|name| *name != current).take(KEPT_MAX - 1);
        let stay: Vec<&str> = others.chain([current]).collect();
        let goes = all.iter().filter(|(name, _)| !stay.contains(&name.as_str()));
        goes.map(|(_, path)| path).try_for_each(|path| ao_tree::remove_cache(path))
    }
}

/// What the first line must be.
fn heading(key: &str, body: &[u8]) -> String {
    format!("1 {key} {}", blake3::hash(body).to_hex())
}

/// Makes the folder of the caches, which no repository should keep.
pub fn make_folder(agents: &Path) -> io::Result<()> {
    ao_tree::make_folders(agents, FOLDER)?;
    let ignore = agents.join(FOLDER).join(".gitignore");
    if std::fs::symlink_metadata(&ignore).is_err() {
        replace(&ignore, b"# A cache; delete it at any time.\n*\n")?;
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the words of the corpus and where they stand, for nobody but ao"
)]
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    ao_tree::replace_cache(path, bytes)
}
