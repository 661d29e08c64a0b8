//! Which values must not come out.

use ao_contract::Exit;
use ao_guard::cell::Around;
use ao_vault::{Name, Redactor, Secret, Store, set_redactor};

use crate::commands::guard;
use crate::commands::vault::{failure, place, place::Where};
use crate::failure::Failure;

/// Has everything that this process writes looked through for the values of the vault, and of one
/// that was named on the command line. A vault that is there and cannot be opened is an error: what
/// it holds could not be kept out.
pub(crate) fn begin(named: Option<&Where>) -> Result<(), Failure> {
    let values = values_of(named)?;
    let redactor =
        Redactor::new(values.iter().map(|(_, value)| value.expose())).map_err(|error| {
            Failure::new(
                Exit::Preflight,
                format!("the vault cannot be kept out of what is written: {error}"),
            )
            .hint("nothing was begun")
        })?;
    set_redactor(redactor);
    Ok(())
}

/// The values of the usual vault by their names; none where there is no vault.
pub(crate) fn values() -> Result<Vec<(Name, Secret)>, Failure> {
    values_of(None)
}

fn values_of(named: Option<&Where>) -> Result<Vec<(Name, Secret)>, Failure> {
    // In a cell a vault cannot be opened: whoever started the cell looks through what comes out of it.
    // Where it can be opened all the same a variable says that this is a cell, and it is none.
    let is_cell = guard::place::around() == Around::Cell;
    let all = match place::all(named) {
        Err(_) if is_cell => Vec::new(),
        all => all?,
    };
    let mut values = Vec::new();
    for files in all.into_iter().filter(ao_vault::Files::is_begun) {
        place::keep_memory_to_ourselves()?;
        match Store::open(&files) {
            Ok(store) => values.extend(store.into_values()),
            Err(_) if is_cell => {}
            Err(error) => {
                let failure = failure::of(&error);
                let message =
                    format!("{}; so nothing is run that could show its values", failure.message);
                return Err(Failure { message, ..failure });
            }
        }
    }
    Ok(values)
}
