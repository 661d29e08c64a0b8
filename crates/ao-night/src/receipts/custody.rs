//! The key that seals receipts and the heads of their chains, in a folder of the user that no repository holds.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ao_contract::{Extra, ReceiptHead, ReceiptOpen, SchemaVersion};
use ao_tree::own_file::{self, FileLock, Sharing};

pub const KEY_BYTES: usize = 32;
const KEY: &str = "key";
const LOCK: &str = "lock";
const HEX_BYTES: usize = 2 * KEY_BYTES;
const HEAD_BYTES_MAX: u64 = 1024 * 1024;
/// So many heads are looked at for one that a repository had elsewhere.
const HEADS_MAX: usize = 10_000;
/// So many runs without a receipt are remembered.
const OPEN_MAX: usize = 100;
/// What of a hash is enough to tell keys and repositories apart.
const ID_CHARS: usize = 16;
const ID_OF: &[u8] = b"which key of ao's receipts";
const OTHERS: u32 = 0o077;

/// The key, and where the heads are.
pub struct Custody {
    folder: PathBuf,
    root: String,
    key: [u8; KEY_BYTES],
}

/// What is known of a file of receipts outside of it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) head: ReceiptHead,
    pub(super) kept: Kept,
}

/// For which place a head is kept, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Here,
    /// Its receipts are there no more: the repository was moved.
    Moved,
    /// They are still there: this is a copy or a clone.
    Copied,
}

impl std::fmt::Debug for Custody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Custody").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Custody {
    /// For the repository at `root`, which has no symlink on the way. A key is made where there is none.
    pub fn open(
        folder: &Path,
        root: &Path,
        fresh: impl FnOnce() -> io::Result<[u8; KEY_BYTES]>,
    ) -> io::Result<Self> {
        ao_tree::make_private_folder(folder)?;
        is_private(folder)?;
        // Nights of two repositories may come here at once.
        let lock = FileLock::wait(&folder.join(LOCK), Sharing::Alone)?;
        let _lock = lock.ok_or_else(|| io::Error::other("another run holds its lock"))?;
        if let Some(custody) = Self::look(folder, root)? {
            return Ok(custody);
        }
        let key = fresh()?;
        let text = format!("{}\n", hex(&key));
        ao_tree::replace_private(&folder.join(KEY), text.as_bytes())?;
        Ok(Self::with(folder, root, key))
    }

    /// The same, and nothing is made: `None` where there is no key.
    pub fn look(folder: &Path, root: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(KEY);
        match std::fs::symlink_metadata(&path) {
            // Where a folder is there that is not private, no key is made.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return if folder.exists() { is_private(folder).map(|()| None) } else { Ok(None) };
            }
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        is_private(folder)?;
        let found = std::fs::symlink_metadata(&path)?;
        if !found.is_file() || found.mode() & OTHERS != 0 {
            let why = "the key of the receipts is open to others, or no file";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let bad = || io::Error::new(io::ErrorKind::InvalidData, "the key of the receipts is none");
        let bytes = own_file::read(&path, HEX_BYTES as u64 + 1).map_err(|_| bad())?;
        let key = unhex(bytes.trim_ascii_end());
        Ok(Some(Self::with(folder, root, key.ok_or_else(bad)?)))
    }

    fn with(folder: &Path, root: &Path, key: [u8; KEY_BYTES]) -> Self {
        Self { folder: folder.to_owned(), root: root.to_string_lossy().into_owned(), key }
    }

    /// What a line is sealed with.
    pub(super) fn seal(&self, body: &[u8]) -> String {
        blake3::keyed_hash(&self.key, body).to_hex().to_string()
    }

    /// Compared in the same time wherever they differ.
    pub(super) fn is_seal(&self, body: &[u8], seal: &str) -> bool {
        blake3::Hash::from_hex(seal).is_ok_and(|seal| blake3::keyed_hash(&self.key, body) == seal)
    }

    /// Tells this key from others, and nothing of it.
    pub(super) fn id(&self) -> String {
        self.seal(ID_OF).chars().take(ID_CHARS).collect()
    }

    pub(super) fn path(&self) -> PathBuf {
        let name: String = super::hash(self.root.as_bytes()).chars().take(ID_CHARS).collect();
        self.folder.join(format!("{name}.json"))
    }

    /// What is known of this repository's receipts.
    pub(crate) fn head(&self) -> io::Result<Option<ReceiptHead>> {
        let head = read_head(&self.path())?;
        Ok(head.filter(|head| head.repo_root == self.root))
    }

    /// A head of another place that ends as this file does.
    pub(super) fn elsewhere(&self, count: u64, last: &str) -> Option<Known> {
        let entries = std::fs::read_dir(&self.folder).ok()?;
        let heads = entries.take(HEADS_MAX).filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_head = path.extension().is_some_and(|ending| ending == "json");
            is_head.then(|| read_head(&path).ok().flatten()).flatten()
        });
        let is_same = |head: &ReceiptHead| {
            let is_other = head.repo_root != self.root;
            is_other && head.count == count && head.last.as_deref() == Some(last)
        };
        let mut copied = None;
        for head in heads.filter(is_same) {
            let file = Path::new(&head.repo_root).join(super::STATE).join(super::FILE);
            if std::fs::symlink_metadata(file).is_err() {
                return Some(Known { head, kept: Kept::Moved });
            }
            copied = Some(Known { head, kept: Kept::Copied });
        }
        copied
    }

    /// Makes the head of a repository that was moved here this one's. Its old place may be another's one day.
    pub(super) fn adopt(&self, mut head: ReceiptHead) -> io::Result<()> {
        let old = Self { folder: self.folder.clone(), root: head.repo_root.clone(), key: self.key };
        for open in &mut head.open {
            if let Ok(inner) = Path::new(&open.output_dir).strip_prefix(&head.repo_root) {
                open.output_dir = Path::new(&self.root).join(inner).to_string_lossy().into_owned();
            }
        }
        head.repo_root.clone_from(&self.root);
        self.set_head(&head)?;
        ao_tree::remove_cache(&old.path())
    }

    pub(super) fn set_head(&self, head: &ReceiptHead) -> io::Result<()> {
        let bytes = ao_vault::redactor().json(head)?;
        ao_tree::replace_private(&self.path(), bytes.get())
    }

    /// Says that a run began, before it does anything: it has no receipt until it is over.
    pub(crate) fn begin(&self, open: ReceiptOpen) -> io::Result<()> {
        let mut head = self.head()?.unwrap_or_else(|| self.empty());
        head.open.retain(|other| other.run_id != open.run_id);
        head.open.push(open);
        let over = head.open.len().saturating_sub(OPEN_MAX);
        head.open.drain(..over);
        self.set_head(&head)
    }

    /// Which list of files of nights is the one that was written, and which one is about to be.
    pub(super) fn set_files(&self, files: Option<&str>, next: Option<&str>) -> io::Result<()> {
        let mut head = self.head()?.unwrap_or_else(|| self.empty());
        if let Some(files) = files {
            head.files = Some(files.to_owned());
        }
        head.files_next = next.map(str::to_owned);
        self.set_head(&head)
    }

    /// Of a run that came to its end and has no receipt: why, as far as that can be written down.
    pub(crate) fn ended(&self, run_id: &str, cause: &str) -> io::Result<()> {
        let Some(mut head) = self.head()? else { return Ok(()) };
        for open in head.open.iter_mut().filter(|open| open.run_id == run_id) {
            open.cause = Some(cause.to_owned());
        }
        self.set_head(&head)
    }

    /// Of a run that was not begun after all: it has left nothing.
    pub(crate) fn forget(&self, run_id: &str) -> io::Result<()> {
        let Some(mut head) = self.head()? else { return Ok(()) };
        head.open.retain(|open| open.run_id != run_id);
        self.set_head(&head)
    }

    pub(super) fn empty(&self) -> ReceiptHead {
        ReceiptHead {
            schema_version: SchemaVersion,
            repo_root: self.root.clone(),
            count: 0,
            last: None,
            files: None,
            files_next: None,
            since: 1,
            open: Vec::new(),
            extra: Extra::new(),
        }
    }
}

fn read_head(path: &Path) -> io::Result<Option<ReceiptHead>> {
    let Some(bytes) = own_file::read_if_any(path, HEAD_BYTES_MAX)? else { return Ok(None) };
    let value: serde_json::Value = serde_json::from_slice(&bytes)?;
    ao_contract::read(&value).map(Some).map_err(io::Error::other)
}

/// A folder that others can look into, or a link to one, is not used.
fn is_private(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.mode() & OTHERS != 0 {
        let why = "the folder of the receipts' key is open to others, or no folder";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

fn hex(key: &[u8; KEY_BYTES]) -> String {
    blake3::Hash::from_bytes(*key).to_hex().to_string()
}

fn unhex(text: &[u8]) -> Option<[u8; KEY_BYTES]> {
    blake3::Hash::from_hex(text).ok().map(|hash| *hash.as_bytes())
}
