//! An error as the user meets it: what happened, what to do, and the exit code.

use ao_contract::Exit;
use ao_tree::Error;

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// What to do about it; a sentence each.
    pub(crate) hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = exit_of(&error);
        Self { exit, message: message_of(&error), hints: vec![hint_of(&error)] }
    }
}

fn exit_of(error: &Error) -> Exit {
    match error {
        Error::Unfit { .. }
        | Error::Doubt { .. }
        | Error::OverBudget { .. }
        | Error::PastGone { .. } => Exit::Preflight,
        Error::Locked { .. } if ao_mutant::active("RUN-15/refused-as-a-failure") => Exit::Failed,
        Error::Contended { .. } | Error::Locked { .. } | Error::ReadersStay { .. } => {
            Exit::Deferred
        }
        Error::BadId { .. } | Error::NoSuchCommit { .. } => Exit::Usage,
        Error::Damaged { .. } => Exit::Found,
        Error::NotAdmitted { .. } => Exit::Refused,
        Error::Io { .. }
        | Error::Stopped
        | Error::Unfinished { .. }
        | Error::EmptyHistory
        | Error::SnapshotGone { .. } => Exit::Failed,
    }
}

fn message_of(error: &Error) -> String {
    match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
            format!("{error}; the disk is full")
        }
        _ => error.to_string(),
    }
}

/// The wording of every hint, in one place.
fn hint_of(error: &Error) -> String {
    match error {
        Error::Io { .. } => {
            "the tree is as it was; put right what is named, then run the command again".into()
        }
        Error::Stopped | Error::NotAdmitted { .. } => {
            "nothing was changed; run the command again".into()
        }
        Error::Unfinished { .. } => {
            "nothing is lost: put right what is named, then run `ao tree recover` to finish it"
                .into()
        }
        Error::Unfit { remedy, .. } => remedy.clone(),
        Error::Doubt { .. } => {
            "nothing was touched; look at the file, and if its commit is not wanted run \
             `ao tree recover --set-aside`, which keeps it in overnight/quarantine/"
                .into()
        }
        Error::OverBudget { .. } => {
            "make fewer or smaller edits, or raise --checkpoint-max-mb".into()
        }
        Error::Contended { .. } => {
            "the tree is as it was; run the command again when nobody edits these files".into()
        }
        Error::Locked { .. } => {
            "nothing was touched; wait for it to end, then run the command again".into()
        }
        Error::ReadersStay { .. } => {
            "the tree is as it was; end the reader, then run the command again".into()
        }
        Error::BadId { .. } => "choose another id, or leave it out".into(),
        Error::NoSuchCommit { .. } => "`ao tree log` lists the commits".into(),
        Error::EmptyHistory => "`ao tree apply` makes the first commit".into(),
        Error::SnapshotGone { .. } => {
            "`undo.days` and `undo.max_mb` in .agentops/config.yaml say how long snapshots are kept"
                .into()
        }
        Error::PastGone { id, .. } => format!(
            "ask as of {id} or later; `undo.days` and `undo.max_mb` in .agentops/config.yaml say how long \
             states are kept"
        ),
        Error::Damaged { .. } => "`ao tree verify` lists everything that is damaged".into(),
    }
}
