//! Where the two files are, and whether they are private.

use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ao_tree::own_file;
use zeroize::Zeroizing;

use super::Result;
use super::error::Error;

const BY_OTHERS: u32 = 0o077;
const WRITABLE_BY_OTHERS: u32 = 0o022;
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;
/// Of the identity; a few lines.
const IDENTITY_BYTES_MAX: u64 = 16 * 1024;
/// Of the vault; more than all values that fit, and what encryption adds.
const VAULT_BYTES_MAX: u64 = 10 * 1024 * 1024;
const GIT: &str = ".git";

/// Where the identity and the vault are. The binary knows; a library does not ask for a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    pub identity: PathBuf,
    pub vault: PathBuf,
    /// The folder of messages that were sealed: see [`crate::shelf`].
    pub kept: PathBuf,
    /// Who has to own them.
    pub user: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Identity,
    Vault,
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "identity",
            Self::Vault => "vault",
        })
    }
}

impl Files {
    pub(super) fn path(&self, which: Which) -> &Path {
        match which {
            Which::Identity => &self.identity,
            Which::Vault => &self.vault,
        }
    }

    pub(super) fn lock(&self) -> PathBuf {
        let mut name = self.vault.clone().into_os_string();
        name.push(".lock");
        name.into()
    }

    /// The lock is opened before all else, and must not be what somebody put in its place: a link leads
    /// to any file, and a pipe is waited for.
    pub(super) fn private_lock(&self) -> Result<()> {
        self.private_folder(folder(&self.vault)?)?;
        let path = self.lock();
        match fs::symlink_metadata(&path) {
            Ok(seen) if !seen.is_file() => Err(exposed(&path, "it is no plain file")),
            _ => Ok(()),
        }
    }

    /// Makes the folders, and looks whether they are private.
    pub(super) fn prepare(&self) -> Result<()> {
        outside_of_repositories(&self.identity)?;
        for path in [&self.identity, &self.vault] {
            let folder = folder(path)?;
            ao_tree::make_private_folder(folder).map_err(at(folder))?;
            self.private_folder(folder)?;
        }
        Ok(())
    }

    /// Whether one of the two files is there. One that this user cannot even look for is not ours.
    pub fn is_begun(&self) -> bool {
        [&self.identity, &self.vault].into_iter().any(|path| path.symlink_metadata().is_ok())
    }

    pub(super) fn is_there(&self, which: Which) -> Result<bool> {
        let path = self.path(which);
        match fs::symlink_metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(at(path)(error)),
        }
    }

    pub(super) fn missing(&self, which: Which) -> Error {
        Error::Missing { which, path: self.path(which).to_owned() }
    }

    /// All of a file that nobody else can read or exchange.
    pub(super) fn read(&self, which: Which) -> Result<Zeroizing<Vec<u8>>> {
        let path = self.path(which);
        if !self.is_there(which)? {
            return Err(self.missing(which));
        }
        if which == Which::Identity {
            outside_of_repositories(path)?;
        }
        self.private_folder(folder(path)?)?;
        let seen = fs::symlink_metadata(path).map_err(at(path))?;
        self.private_file(path, &seen)?;
        let file = own_file::open(path).map_err(at(path))?;
        let opened = file.metadata().map_err(at(path))?;
        if (seen.dev(), seen.ino()) != (opened.dev(), opened.ino()) {
            return Err(exposed(path, "it was exchanged while it was opened"));
        }
        self.private_file(path, &opened)?;
        let most = match which {
            Which::Identity => IDENTITY_BYTES_MAX,
            Which::Vault => VAULT_BYTES_MAX,
        };
        if opened.len() > most {
            return Err(Error::Damaged { path: path.to_owned(), why: "it is too large" });
        }
        own_file::read_all(file, opened.len()).map(Zeroizing::new).map_err(at(path))
    }

    fn private_file(&self, path: &Path, seen: &Metadata) -> Result<()> {
        if !seen.is_file() {
            return Err(exposed(path, "it is no plain file"));
        }
        if seen.uid() != self.user {
            return Err(exposed(path, "it belongs to another user"));
        }
        let mode = seen.permissions().mode();
        if mode & BY_OTHERS != 0 {
            let why = format!(
                "its mode is {:04o}, and others may do nothing with it (0600)",
                mode & 0o7777
            );
            return Err(exposed(path, &why));
        }
        if seen.nlink() != 1 {
            return Err(exposed(path, "it has a second name"));
        }
        Ok(())
    }

    /// Whoever can write a folder can exchange what is in it.
    fn private_folder(&self, folder: &Path) -> Result<()> {
        let real = folder.canonicalize().map_err(at(folder))?;
        for (above, path) in real.ancestors().enumerate() {
            let seen = fs::metadata(path).map_err(at(path))?;
            let mode = seen.permissions().mode();
            let is_shared = mode & STICKY != 0;
            if above == 0 && mode & WRITABLE_BY_OTHERS != 0 {
                return Err(exposed(path, "others can write the folder"));
            }
            if mode & WRITABLE_BY_ALL != 0 && !is_shared {
                return Err(exposed(path, "everybody can write the folder"));
            }
            if seen.uid() != self.user && seen.uid() != 0 {
                return Err(exposed(path, "the folder belongs to another user"));
            }
        }
        Ok(())
    }
}

/// A key in a work tree is one `git add` away from everybody.
fn outside_of_repositories(identity: &Path) -> Result<()> {
    let folder = folder(identity)?;
    // Where the folder is not there yet, what is above it is.
    let real = folder.ancestors().find_map(|path| path.canonicalize().ok());
    let found = real.and_then(|real| {
        let mut above = real.ancestors();
        above.find(|path| fs::symlink_metadata(path.join(GIT)).is_ok()).map(Path::to_owned)
    });
    match found {
        Some(repository) => Err(Error::InRepository { path: identity.to_owned(), repository }),
        None => Ok(()),
    }
}

fn folder(path: &Path) -> Result<&Path> {
    let is_whole = path.is_absolute() && path.file_name().is_some();
    path.parent().filter(|_| is_whole).ok_or_else(|| {
        at(path)(io::Error::new(io::ErrorKind::InvalidInput, "not an absolute path of a file"))
    })
}

fn exposed(path: &Path, why: &str) -> Error {
    Error::Exposed { path: path.to_owned(), why: why.to_owned() }
}

pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    |source| Error::Io { path, source }
}
