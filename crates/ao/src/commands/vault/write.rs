//! `ao vault write`: a value from a terminal or from standard input.

use std::ffi::OsString;

use ao_contract::Exit;
use ao_vault::Secret;
use ao_vault::store::{self, Change};
use serde_json::json;

use super::input::{self, End};
use super::place::Where;
use super::{failure, name};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// Keep a value under a name; it is typed without being shown, or comes from standard input
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao vault write STRIPE_KEY                      asks, and shows nothing of what is typed
  pass show stripe | ao vault write STRIPE_KEY   from standard input, without its last line end
  ao vault write --exact tls/key < key.pem       every byte, the last line end too

A name has letters, digits and . _ - / (ASCII, 128 at most), and begins with a letter or a digit; other names are
refused. A value has 8 bytes to 1 MiB: shorter ones could not be told from ordinary text, and so not be redacted.
A value is never taken from the command line, where every process and the history of the shell would have it.")]
pub(crate) struct Arguments {
    /// What it is called
    #[arg(value_name = "NAME")]
    name: String,
    /// Keep a line end at the end of standard input
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    place: Where,
    #[arg(hide = true)]
    rest: Vec<OsString>,
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if !arguments.rest.is_empty() {
        return Err(Failure::usage("a value is not taken from the command line").hint(
            "nothing was written. If that was the value, other processes and the history of the shell have it now: replace it where it comes from",
        ));
    }
    let name = name(&arguments.name)?;
    let files = arguments.place.files()?;
    {
        // Before anybody types something in vain.
        let store = store::Store::open(&files).map_err(|error| failure::of(&error))?;
        if store.has_value(name.as_str().as_bytes()) {
            return Err(failure::is_a_value());
        }
    }
    let (result, said) = if global.dry_run {
        ("planned", "Would keep")
    } else {
        let end = if arguments.exact { End::Kept } else { End::Cut };
        let bytes = input::value(&name, end)?;
        let secret = Secret::new(bytes).map_err(failure::bad_value)?;
        match store::write(&files, &name, secret).map_err(|error| failure::of(&error))? {
            Change::Created | Change::Removed => ("created", "Kept"),
            Change::Replaced => ("replaced", "Replaced"),
            Change::Same => ("same", "Nothing changed:"),
        }
    };
    let fields = json!({ "result": result, "name": name.as_str(), "reference": name.reference() });
    printer.answer("vault write", fields, &format!("{said} {}\n", name.reference()));
    Ok(Exit::Done)
}
