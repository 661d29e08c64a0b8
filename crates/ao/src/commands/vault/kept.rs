//! `ao vault kept`: messages that a secret was found in.

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_vault::shelf::{KEPT_DAYS, Shelf};
use ao_vault::store;
use serde_json::json;

use super::place::Where;
use super::{failure, print_alone};
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;

/// List the messages that a secret was found in, or print one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`ao notify` replaces a message that a secret is found in, and keeps the message itself for 7 days, sealed for the
vault's identity. Where there was no vault, what matched was taken out of it.

Examples:
  ao vault kept                                  a name and a time a line
  ao vault kept 1790000000-0.age                 the message as it was, with the secret in it")]
pub(crate) struct Arguments {
    /// Which one
    #[arg(value_name = "MESSAGE")]
    message: Option<String>,
    #[command(flatten)]
    place: Where,
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let files = arguments.place.files()?;
    let shelf = Shelf::new(&files.kept);
    let cannot = |error: std::io::Error| {
        let folder = ao_tree::shown(&files.kept.to_string_lossy());
        Failure::new(Exit::Failed, format!("{folder} cannot be read: {error}"))
            .hint("put right what is named, then run the command again")
    };
    let all = shelf.list().map_err(cannot)?;
    let Some(name) = &arguments.message else {
        let time = |at| clock::at_second(at).map(clock::Moment::rfc3339).unwrap_or_default();
        let messages: Vec<_> = all
            .iter()
            .map(|kept| json!({ "name": kept.name, "at": time(kept.at), "sealed": kept.is_sealed }))
            .collect();
        let mut text = String::new();
        for kept in &all {
            let _ = writeln!(text, "{}  {}", kept.name, time(kept.at));
        }
        printer.answer("vault kept", json!({ "messages": messages }), &text);
        return Ok(Exit::Done);
    };
    if global.json {
        return Err(Failure::usage("a message is printed by itself, never as JSON")
            .hint("leave --json out; `ao --json vault kept` lists the messages"));
    }
    let Some(kept) = all.iter().find(|kept| kept.name == *name) else {
        return Err(Failure::usage("there is no such message")
            .hint("`ao vault kept` lists them; they are kept for 7 days"));
    };
    let message = if kept.is_sealed {
        store::unseal_message(&files, kept).map_err(|error| failure::of(&error))?
    } else {
        shelf.read(kept).map_err(cannot)?
    };
    print_alone(&message)
}

const _: () = assert!(KEPT_DAYS == 7, "the help says 7 days");
