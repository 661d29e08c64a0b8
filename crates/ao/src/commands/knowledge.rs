//! `ao knowledge`

use ao_contract::{AskedBy, Exit, KnowledgeBrief};
use ao_corpus::brief::brief;

use super::library::Library;
use super::questions::{self, Logging};
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;

const TOKENS_DEFAULT: usize = 1500;
const TOKENS: std::ops::RangeInclusive<usize> = 100..=200_000;
const ENTRIES: usize = 8;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// What the corpus knows about a goal, for whoever starts on it
    Brief(Arguments),
}

/// What the corpus knows about a goal, for whoever starts on it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The brief quotes the lines that bear on the goal, each with its file and line, names what of it
is disputed, and the words of the goal that no entry has. The goal is written down in .agents/ao/questions.jsonl, not with
--no-log, --dry-run, or `questions.keep: false`; no entry is recorded as handed out, which `ao lookup` does.

Examples:
  ao knowledge brief --goal 'fewer flaky tests'
  ao --json knowledge brief --goal 'fewer flaky tests' --tokens 800"
)]
pub(crate) struct Arguments {
    /// What is to be reached
    #[arg(long, value_name = "TEXT")]
    goal: String,
    /// No more than N tokens, of four bytes each
    #[arg(long, value_name = "N", default_value_t = TOKENS_DEFAULT)]
    tokens: usize,
    #[command(flatten)]
    logging: Logging,
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let Command::Brief(arguments) = command;
    if !TOKENS.contains(&arguments.tokens) {
        let (least, most) = (TOKENS.start(), TOKENS.end());
        return Err(Failure::usage(format!("--tokens is from {least} to {most}")));
    }
    let library = Library::open(global)?;
    let bounds = (arguments.tokens, ENTRIES);
    let made: KnowledgeBrief =
        brief(library.place(), arguments.goal.trim(), bounds, clock::now().day()).map_err(
            |why| {
                Failure::new(Exit::Failed, format!("no brief could be made: {why}"))
                    .hint("name a goal with words that entries could have")
            },
        )?;
    let fields = serde_json::to_value(&made).unwrap_or_default();
    printer.answer("knowledge brief", fields, &made.markdown);
    let paths: Vec<&str> = made.sources.iter().map(|source| source.path.as_str()).collect();
    let goal = arguments.goal.trim();
    questions::log(&arguments.logging, (&library, global), (AskedBy::Brief, goal), &paths);
    Ok(Exit::Done)
}
