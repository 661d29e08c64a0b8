//! Whether a session was made in this repository.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// A longer name of a folder is none.
const FOLDER_BYTES_MAX: usize = 4096;
/// Sessions move about in a few folders; more of them are looked up again.
const KNOWN_MAX: usize = 4096;

/// The repository, as sessions may name it.
#[derive(Debug)]
pub struct Own {
    /// As it was named, and with no symlink on the way.
    roots: Vec<PathBuf>,
    known: Mutex<HashMap<String, bool>>,
}

impl Own {
    pub fn of(root: &Path) -> Self {
        let mut roots = vec![root.to_owned()];
        if let Ok(real) = root.canonicalize()
            && real != root
        {
            roots.push(real);
        }
        Self { roots, known: Mutex::default() }
    }

    /// Whether a folder is the repository or beneath it.
    pub(super) fn holds(&self, folder: &str) -> bool {
        if folder.len() > FOLDER_BYTES_MAX {
            return false;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holds) = known.get(folder) {
            return *holds;
        }
        let holds = self.looks_at(Path::new(folder));
        if known.len() < KNOWN_MAX {
            known.insert(folder.to_owned(), holds);
        }
        holds
    }

    fn looks_at(&self, folder: &Path) -> bool {
        let is_beneath = |folder: &Path| self.roots.iter().any(|root| folder.starts_with(root));
        if !folder.is_absolute() {
            return false;
        }
        // Where it leads counts, not its name: a symlink may lead in, or out.
        if let Ok(real) = folder.canonicalize() {
            return is_beneath(&real);
        }
        // A folder that is gone was where what is left of its way leads.
        let is_plain = folder.components().all(|part| !matches!(part, Component::ParentDir));
        let left = folder.ancestors().skip(1).find_map(|above| above.canonicalize().ok());
        is_plain && left.is_some_and(|real| is_beneath(&real))
    }

    /// Whether a folder's name is what Claude Code makes of the repository's path.
    pub(super) fn is_slug(&self, slug: &str) -> bool {
        let slug_of = |root: &PathBuf| -> String {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            root.to_string_lossy().chars().map(plain).collect()
        };
        self.roots.iter().any(|root| slug_of(root) == slug)
    }

    /// Whether a hash is what Gemini CLI makes of the repository's path.
    pub(super) fn is_hash(&self, hash: &str) -> bool {
        self.roots.iter().any(|root| {
            let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
            let pairs = hash.as_bytes().chunks(2).map(|pair| {
                let text = std::str::from_utf8(pair).ok()?;
                u8::from_str_radix(text, 16).ok()
            });
            hash.len() == digest.len() * 2 && pairs.eq(digest.iter().map(|byte| Some(*byte)))
        })
    }
}
