//! `ao vault refs|rm|rotate`: what shows no value.

use ao_contract::Exit;
use ao_vault::store::{self, Store};
use serde_json::json;

use super::place::Where;
use super::{failure, name};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// List the names
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao vault refs                                  a name a line, never a value
  ao --json vault refs                           with what stands for each in prompts and settings")]
pub(crate) struct Refs {
    #[command(flatten)]
    place: Where,
}

/// Forget a name and its value
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao vault rm STRIPE_KEY                         gone from the vault; copies of the vault still have it
  ao --dry-run vault rm STRIPE_KEY               only tells whether it is there")]
pub(crate) struct Remove {
    /// What it is called
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    place: Where,
}

/// Make a new identity, encrypt everything to it, and forget the old one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao vault rotate                                then keep a copy of the new identity where it is safe

An older copy of the vault is still read with an older copy of the identity: if one of these got into other hands,
replace the values themselves.")]
pub(crate) struct Rotate {
    #[command(flatten)]
    place: Where,
}

pub(super) fn refs(arguments: &Refs, printer: &Printer) -> Result<Exit, Failure> {
    let files = arguments.place.files()?;
    let store = Store::open(&files).map_err(|error| failure::of(&error))?;
    let text: String = store.names().flat_map(|name| [name.as_str(), "\n"]).collect();
    let names: Vec<_> = store
        .names()
        .map(|name| json!({ "name": name.as_str(), "reference": name.reference() }))
        .collect();
    printer.answer("vault refs", json!({ "names": names }), &text);
    Ok(Exit::Done)
}

pub(super) fn remove(
    arguments: &Remove,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let name = name(&arguments.name)?;
    let files = arguments.place.files()?;
    let (result, said) = if global.dry_run {
        let store = Store::open(&files).map_err(|error| failure::of(&error))?;
        store.get(&name).map_err(|error| failure::of(&error))?;
        ("planned", "Would forget")
    } else {
        store::remove(&files, &name).map_err(|error| failure::of(&error))?;
        ("removed", "Forgot")
    };
    let fields = json!({ "result": result, "name": name.as_str() });
    printer.answer("vault rm", fields, &format!("{said} {}\n", name.reference()));
    Ok(Exit::Done)
}

pub(super) fn rotate(
    arguments: &Rotate,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let files = arguments.place.files()?;
    let (result, said, count) = if global.dry_run {
        let store = Store::open(&files).map_err(|error| failure::of(&error))?;
        ("planned", "Would make a new identity for", store.names().count())
    } else {
        let count = store::rotate(&files).map_err(|error| failure::of(&error))?;
        ("rotated", "Made a new identity for", count)
    };
    let identity = files.identity.to_string_lossy();
    let values = if count == 1 { "value" } else { "values" };
    let text = format!("{said} {count} {values}: {}\n", ao_tree::shown(&identity));
    let fields = json!({ "result": result, "values": count, "identity": identity });
    printer.answer("vault rotate", fields, &text);
    Ok(Exit::Done)
}
