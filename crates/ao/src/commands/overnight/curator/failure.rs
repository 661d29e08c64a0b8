//! What the curator could not do, as the user meets it. The wording of every hint is here.

use ao_contract::Exit;
use ao_night::curator::Error;

use crate::failure::Failure;

pub(super) fn of(error: &Error) -> Failure {
    let (exit, hint) = match error {
        Error::Off => (
            Exit::Preflight,
            "nothing was written; set `dream.local_curator.enabled: true` to use it",
        ),
        Error::NoWorkerDir => (
            Exit::Preflight,
            "nothing was written; name a folder as `dream.local_curator.worker_dir` in ~/.agentops/config.yaml",
        ),
        Error::MissingWorkerDir(_) => {
            (Exit::Preflight, "nothing was written; make the folder, or mount what it is on")
        }
        Error::NoVault | Error::MissingVault(_) => {
            (Exit::Preflight, "`dream.local_curator.vault_dir` names the folder of the notes")
        }
        Error::Locked(_) => (Exit::Deferred, "nothing was changed; run the command again"),
        Error::AtWork(_) => (
            Exit::Deferred,
            "one worker is enough; `ao overnight curator status` shows what it does",
        ),
        Error::NotAllowed(_) => {
            (Exit::Refused, "`dream.local_curator.allowed_job_kinds` names the kinds that are")
        }
        Error::OverCap { .. } => (
            Exit::Deferred,
            "try again later, or raise `dream.local_curator.hourly_cap` in ~/.agentops/config.yaml",
        ),
        Error::BadSource(_) => {
            (Exit::Usage, "`ao overnight curator enqueue --help` has examples; nothing was queued")
        }
        Error::Missing(_) | Error::BadEvent(_) => {
            (Exit::Usage, "`ao overnight curator event --help` has examples; nothing was written")
        }
        Error::PastBudget { .. } => (
            Exit::Refused,
            "nothing was written; look at what is pending of it in events/pending.jsonl",
        ),
        Error::NoSuchEvent(_) => (Exit::Usage, "events/pending.jsonl holds those that wait"),
        Error::Io { .. } => (Exit::Failed, "put right what is named, then run the command again"),
    };
    Failure::new(exit, error.to_string()).hint(hint)
}
