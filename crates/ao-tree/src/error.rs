//! What can go wrong at the door, each with what was touched and what to do.

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation failed before anything counted; the tree is as it was.
    #[error("could not {doing}: {source}")]
    Io { doing: String, source: io::Error },

    /// The commit is decided and durable, but could not be finished; recovery finishes it.
    #[error("commit {id} is decided but not finished: {source}")]
    Unfinished { id: String, source: Box<Error> },

    /// The tree is not one that the door can work on.
    #[error("{path}: {why}")]
    Unfit { path: String, why: String, remedy: String },

    /// A marker that cannot be trusted; nothing was touched.
    #[error("{file}: {doubt}")]
    Doubt { file: String, doubt: String },

    #[error("{what} would be stored, more than the {limit_bytes} bytes allowed")]
    OverBudget { what: String, limit_bytes: u64 },

    /// Every comparison met files that others had just changed.
    #[error(
        "the edited files kept changing: {comparisons} comparisons in a row found {path} changed"
    )]
    Contended { comparisons: usize, path: String },

    /// Whoever asked for the commit took that back before it was decided; the tree is as it was.
    #[error("the commit was given up before it was decided")]
    Stopped,

    /// The judge did not admit the edits; the tree is as it was.
    #[error("the edits were measured and not admitted: {why}")]
    NotAdmitted { why: String },

    #[error("another run holds the lock: {holder}")]
    Locked { holder: String },

    /// Readers share `commit.lock`; a commit waits for them, but not for ever.
    #[error("readers held commit.lock for {seconds} s")]
    ReadersStay { seconds: u64 },

    #[error("{id}: {doubt}")]
    BadId { id: String, doubt: String },

    #[error("there is no commit {id} in the history")]
    NoSuchCommit { id: String },

    #[error("nothing to undo: the history is empty")]
    EmptyHistory,

    #[error("commit {id} can no longer be undone: {why}")]
    SnapshotGone { id: String, why: String },

    /// The state that was asked for is older than what is kept.
    #[error(
        "the corpus {asked} is no longer kept: the snapshot of commit {id} was let go, and it goes back \
         to that commit, of {at}"
    )]
    PastGone { asked: String, id: String, at: String },

    #[error("{file} is damaged: {why}")]
    Damaged { file: String, why: String },
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let doing = doing.into();
        move |source| Error::Io { doing, source }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
