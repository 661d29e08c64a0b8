//! Why the curator did not do what it was asked.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the local curator is switched off")]
    Off,
    #[error("no worker directory is configured")]
    NoWorkerDir,
    #[error("the worker directory {} is not there", ao_tree::shown(&.0.to_string_lossy()))]
    MissingWorkerDir(PathBuf),
    #[error("no vault folder is configured")]
    NoVault,
    #[error("the vault folder {} is not there", ao_tree::shown(&.0.to_string_lossy()))]
    MissingVault(PathBuf),
    #[error("another process holds {}", ao_tree::shown(&.0.to_string_lossy()))]
    Locked(PathBuf),
    #[error("another worker is at work here: {0}")]
    AtWork(String),
    #[error("jobs of the kind {0} are not allowed here")]
    NotAllowed(&'static str),
    #[error("the hourly cap is reached: {count} jobs within the last hour, and {cap} are allowed")]
    OverCap { count: u64, cap: u32 },
    #[error("{0}")]
    BadSource(String),
    #[error("an event needs {0}")]
    Missing(&'static str),
    #[error("{0}")]
    BadEvent(String),
    #[error("the budget of this escalation is spent: {spent} of {budget}")]
    PastBudget { spent: u64, budget: u32 },
    #[error("there is no pending event {0}")]
    NoSuchEvent(String),
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
}

pub(super) type Result<T> = std::result::Result<T, Error>;

/// For `map_err`: what was being done.
pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let doing = doing.into();
    move |source| Error::Io { doing, source }
}
