//! The private place for messages that were replaced: small, and emptied by itself.

use std::io;
use std::path::PathBuf;

use crate::redact::Redacted;

/// How long a message is kept.
pub const KEPT_DAYS: u64 = 7;
const KEPT_SECONDS: u64 = KEPT_DAYS * 24 * 60 * 60;
/// How many are kept at most; the oldest make room.
pub const KEPT_MAX: usize = 100;
const NAMES_MAX: u32 = 1000;

/// Makes something unreadable to all but the vault's owner.
pub trait Seal {
    /// How the name of what it sealed ends.
    fn ending(&self) -> &'static str;
    fn seal(&self, plain: &[u8]) -> Result<Vec<u8>, String>;
}

/// A folder that nobody else can read.
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Keeps a message that was replaced; gives the name of its file. Sealed it is kept whole. Where
    /// nothing can seal it, what matched has been taken out of it: a secret is written nowhere in plain.
    pub fn keep(
        &self,
        now: u64,
        whole: &str,
        without: &Redacted<String>,
        seal: Option<&dyn Seal>,
    ) -> io::Result<String> {
        let (bytes, ending) = match seal {
            Some(seal) => (seal.seal(whole.as_bytes()).map_err(io::Error::other)?, seal.ending()),
            None => (without.get().clone().into_bytes(), "txt"),
        };
        ao_tree::make_private_folder(&self.folder)?;
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

    /// Takes away what is over its time, and the oldest if there are more than `most`. What is not named
    /// as such messages are is left alone.
    pub fn expire(&self, now: u64, most: usize) -> io::Result<()> {
        let mut kept = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy().into_owned();
            let at = name.split_once('-').and_then(|(at, _)| at.parse::<u64>().ok());
            kept.extend(at.map(|at| (at, name)));
        }
        kept.sort();
        let over = kept.len().saturating_sub(most);
        let is_gone = |(nth, (at, _)): &(usize, (u64, String))| {
            // One that is from after now was kept under another clock, and has its time from now.
            *nth < over || now.saturating_sub(*at) > KEPT_SECONDS
        };
        let gone: Vec<String> =
            kept.into_iter().enumerate().filter(is_gone).map(|(_, (_, name))| name).collect();
        if gone.is_empty() { Ok(()) } else { ao_tree::remove_all(&self.folder, &gone) }
    }
}
