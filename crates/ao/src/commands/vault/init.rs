//! `ao vault init`: an identity and an empty vault.

use ao_contract::Exit;
use ao_vault::store::{Begun, Store};
use serde_json::json;

use super::failure;
use super::place::Where;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// Make an identity and an empty vault
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao vault init                                  once for this user
  ao vault init --identity ~/keys/ao.txt         with the key somewhere else; name it each time,
                                                 or in the variable AO_VAULT_IDENTITY

Keep a copy of the identity where it is safe: without it no value can be read, by nobody.
What is there already stays as it is.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Where,
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let files = arguments.place.files()?;
    let (identity, vault) = (files.identity.to_string_lossy(), files.vault.to_string_lossy());
    let (result, said) = if global.dry_run {
        ("planned", "Would make, where they are not there yet")
    } else {
        match Store::init(&files).map_err(|error| failure::of(&error))? {
            Begun::Made => ("made", "Made"),
            Begun::MadeForIdentity => ("made-for-identity", "Made for the identity that was there"),
            Begun::WasThere => ("was-there", "Nothing changed: all is there"),
        }
    };
    let text = format!(
        "{said}:\n  identity  {}\n  vault     {}\n",
        ao_tree::shown(&identity),
        ao_tree::shown(&vault)
    );
    let fields = json!({ "result": result, "identity": identity, "vault": vault });
    printer.answer("vault init", fields, &text);
    Ok(Exit::Done)
}
