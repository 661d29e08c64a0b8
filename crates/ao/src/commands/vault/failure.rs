//! What the store refuses, as the user meets it.

use ao_contract::Exit;
use ao_vault::{BadValue, Error, store::Which};

use crate::failure::Failure;

pub(crate) fn of(error: &Error) -> Failure {
    let message = ao_tree::shown(&error.to_string());
    let (exit, hint) = match error {
        Error::Missing { which: Which::Identity, .. } => (
            Exit::Preflight,
            "nothing can be read without the identity; put it back from where you keep a copy, or name it with --identity (`ao vault init` makes one where there is no vault yet)",
        ),
        Error::Missing { which: Which::Vault, .. } => {
            (Exit::Preflight, "`ao vault init` makes an empty one")
        }
        Error::Exposed { .. } => (
            Exit::Found,
            "nothing was read; take the rights of others away (chmod 600 for the file, 700 for its folder), then `ao vault rotate`, and replace values that others may have seen",
        ),
        Error::Damaged { .. } | Error::Foreign { .. } => (
            Exit::Found,
            "nothing was read; put back both files from where you keep a copy: only as a whole can they be trusted",
        ),
        Error::InRepository { .. } => {
            (Exit::Found, "move it out of the repository, and name its place with --identity")
        }
        Error::NoSuchName(_) => (Exit::Usage, "`ao vault refs` lists the names"),
        Error::Full(_) => (Exit::Failed, "nothing was changed; `ao vault rm` makes room"),
        Error::Locked(_) => (Exit::Deferred, "nothing was changed; run the command again"),
        Error::Io { .. } => (Exit::Failed, "put right what is named, then run the command again"),
    };
    Failure::new(exit, message).hint(hint)
}

pub(super) fn bad_value(bad: BadValue) -> Failure {
    let hint = match bad {
        BadValue::Empty => "nothing was written; `ao vault rm NAME` forgets a value",
        BadValue::Short(_) => "nothing was written; take a longer value",
        BadValue::Long => {
            "nothing was written; keep the file encrypted by itself, and its key here"
        }
    };
    Failure::usage(bad.to_string()).hint(hint)
}

pub(super) fn is_a_value() -> Failure {
    Failure::usage("this is no name of a secret: it is a value that the vault holds")
        .hint("nothing was written; the shell's history has it now: replace it where it comes from")
}

pub(super) fn in_a_cell() -> Failure {
    Failure::new(Exit::Preflight, "this is a cell, and the vault is not opened in one")
        .hint("outside, `ao vault run NAME -- COMMAND` gives a command one value, and `ao guard run --auth HOST:PORT=vault://NAME` none at all")
}
