//! Why there is no value.

use std::io;
use std::path::PathBuf;

use super::files::Which;
use crate::name::Name;

/// None of these says anything about a value.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no {which} at {}", path.display())]
    Missing { which: Which, path: PathBuf },
    /// Others could read or exchange it.
    #[error("{} is not private: {why}", path.display())]
    Exposed { path: PathBuf, why: String },
    #[error("{} is damaged: {why}", path.display())]
    Damaged { path: PathBuf, why: &'static str },
    /// The file is whole as far as can be seen, and for somebody else.
    #[error("{} is not for the identity {}", vault.display(), identity.display())]
    Foreign { vault: PathBuf, identity: PathBuf },
    #[error("{} lies in the repository {}", path.display(), repository.display())]
    InRepository { path: PathBuf, repository: PathBuf },
    #[error("there is no secret named {0}")]
    NoSuchName(Name),
    #[error("the vault is full: {0}")]
    Full(&'static str),
    #[error("another process holds the vault: {}", .0.display())]
    Locked(PathBuf),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}
