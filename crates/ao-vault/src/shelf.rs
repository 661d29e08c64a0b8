//! The private place for messages that were replaced: small, and emptied by itself.

use std::io;
use std::path::{Path, PathBuf};

use ao_tree::own_file;
use zeroize::Zeroizing;

use crate::redact::Redacted;

/// How long a message is kept.
pub const KEPT_DAYS: u64 = 7;
const KEPT_SECONDS: u64 = KEPT_DAYS * 24 * 60 * 60;
/// How many are kept at most; the oldest make room.
pub const KEPT_MAX: usize = 100;
const NAMES_MAX: u32 = 1000;
const SEALED: &str = "age";
const PLAIN: &str = "txt";
/// More than the largest message, sealed.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A folder that nobody else can read.
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: PathBuf,
}

/// What is kept of a message.
#[derive(Debug)]
pub enum Message {
    /// All of it, which only the vault's identity opens.
    Sealed(Vec<u8>),
    /// Where nothing can seal it: what matched was taken out. A secret is written nowhere in plain.
    Without(Redacted<String>),
}

/// A message that is kept, by the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// Seconds since 1970.
    pub at: u64,
    pub name: String,
    pub is_sealed: bool,
}

impl Shelf {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Keeps a message that was replaced; gives the name of its file.
    pub fn keep(&self, now: u64, message: Message) -> io::Result<String> {
        let (bytes, ending) = match message {
            Message::Sealed(bytes) => (bytes, SEALED),
            Message::Without(text) => (text.into_inner().into_bytes(), PLAIN),
        };
        ao_tree::make_private_folder(&self.folder)?;
        is_private(&self.folder)?;
        self.expire(now, KEPT_MAX - 1)?;
        for nth in 0..NAMES_MAX {
            let name = format!("{now}-{nth}.{ending}");
            match ao_tree::write_private(&self.folder.join(&name), &bytes) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                written => return written.map(|()| name),
            }
        }
        Err(io::Error::other("too many in one second"))
    }

    /// What is kept, the oldest first. What is not named as such messages are is not listed.
    pub fn list(&self) -> io::Result<Vec<Kept>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            all.extend(Kept::parse(name));
        }
        all.sort();
        Ok(all)
    }

    pub fn read(&self, kept: &Kept) -> io::Result<Zeroizing<Vec<u8>>> {
        own_file::read(&self.folder.join(&kept.name), FILE_BYTES_MAX).map(Zeroizing::new)
    }

    /// Exchanges a message for the same one, sealed anew.
    pub(crate) fn replace(&self, kept: &Kept, sealed: &[u8]) -> io::Result<()> {
        ao_tree::replace_private(&self.folder.join(&kept.name), sealed)
    }

    /// Takes away what is over its time, and the oldest if there are more than `most`.
    pub fn expire(&self, now: u64, most: usize) -> io::Result<()> {
        let kept = self.list()?;
        let over = kept.len().saturating_sub(most);
        let is_gone = |(nth, kept): &(usize, Kept)| {
            // One that is from after now was kept under another clock, and has its time from now.
            *nth < over || now.saturating_sub(kept.at) > KEPT_SECONDS
        };
        let gone: Vec<String> =
            kept.into_iter().enumerate().filter(is_gone).map(|(_, kept)| kept.name).collect();
        if gone.is_empty() { Ok(()) } else { ao_tree::remove_all(&self.folder, &gone) }
    }
}

impl Kept {
    fn parse(name: String) -> Option<Self> {
        let (stem, ending) = name.rsplit_once('.')?;
        let (at, nth) = stem.split_once('-')?;
        nth.parse::<u32>().ok()?;
        let at = at.parse().ok()?;
        let is_sealed = ending == SEALED;
        (is_sealed || ending == PLAIN).then_some(Self { at, name, is_sealed })
    }
}

/// A folder that others can look into, or a link to one, is not used.
fn is_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const OTHERS: u32 = 0o077;
    let found = std::fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.mode() & OTHERS != 0 {
        let why = "it is open to others, or no folder";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}
