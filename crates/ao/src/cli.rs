//! What can be typed, and what it means.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use ao_contract::Exit;
use clap::{Args, Parser, Subcommand};

use crate::commands::{
    self, defrag, demo, flywheel, guard, harvest, knowledge, lookup, metrics, notify, overnight,
    retrieval_bench, rule, runners, schema, search, show, signals, tree, trust, vault,
};
use crate::failure::Failure;
use crate::printer::{self, Printer, STRONG, paint};
use crate::{redaction, replaced};

const EXIT_CODES: &str = "\
Exit codes:
  0   done
  1   failed; the message says what, and nothing is lost
  2   usage
  3   done but degraded or with work left (only with --strict-exit)
  4   a gate refused
  5   a guard was violated, or a check found something
  6   preflight failed: nothing was begun
  75  deferred: a lock is held; try again later";

/// The overnight operator that can be trusted.
#[derive(Debug, Parser)]
#[command(name = "ao", version, after_help = EXIT_CODES, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Taken by every command.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed by itself")]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Work in this repository instead of the one around the current directory
    #[arg(short = 'C', long = "repo", value_name = "DIR", global = true)]
    pub(crate) repo: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Only tell what would be done
    #[arg(long, global = true)]
    pub(crate) dry_run: bool,
    /// Print nothing but data and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// No colours (as with the variable `NO_COLOR`)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Exit with 3 when the work is done but something of it was refused or is in conflict
    #[arg(long, global = true)]
    pub(crate) strict_exit: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find entries of the corpus by what they say
    Search(search::Arguments),
    /// Give an agent what the corpus knows about something, and record that it was given
    Lookup(lookup::Arguments),
    /// Show an entry, by its path, its name or its id, also by one that it no longer has
    Show(show::Arguments),
    /// Measure how well entries are found
    RetrievalBench(retrieval_bench::Arguments),
    /// Merge copies, archive what is expired or superseded, and find what goes back and forth
    Defrag(defrag::Arguments),
    /// Change the knowledge under .agents/ as one, see what was changed, take it back
    #[command(subcommand)]
    Tree(tree::Command),
    /// Turn what was learned and used into knowledge
    #[command(subcommand)]
    Flywheel(flywheel::Command),
    /// Rule about entries that contradict each other
    Rule(rule::Arguments),
    /// Bring in what other repositories learned
    Harvest(harvest::Arguments),
    /// Learn from the transcripts of coding agents
    Signals(signals::Arguments),
    /// Show how far texts are trusted, what waits for a person, and vouch for one
    Trust(trust::Arguments),
    /// Consolidate the knowledge overnight, and read in the morning what became of it
    #[command(subcommand)]
    Overnight(overnight::Command),
    /// What the corpus knows about a goal
    #[command(subcommand)]
    Knowledge(knowledge::Command),
    /// Measure how the knowledge is doing
    #[command(subcommand)]
    Metrics(metrics::Command),
    /// Hold other programs to what they may do, and say what an agent may write
    #[command(subcommand)]
    Guard(guard::Command),
    /// Keep secrets, give them to nobody who need not have them, and find those that lie about
    #[command(subcommand)]
    Vault(vault::Command),
    /// Which models and agent programs can be asked, and ask one
    Runners(runners::Arguments),
    /// Tell people something, through the configured command
    Notify(notify::Arguments),
    /// List the file formats, print the JSON Schema of one, or check a file against it
    Schema(schema::Arguments),
    /// See a killed commit, a merge with its proof and a whole night, on a corpus of its own
    Demo(demo::Arguments),
}

pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    printer::tell_panics();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(printer::delivered(told(&error))),
    };
    let printer = Printer::new(&cli.global);
    let is_late = matches!(&cli.command, Command::Vault(command) if command.opens_by_itself());
    let code = match begin_redaction(&cli.command)
        .and_then(|()| dispatch(cli.command, &cli.global, &printer))
    {
        Ok(code) => code,
        Err(failure) => {
            if is_late {
                // What was typed is repeated, and may be a value. If the vault cannot be opened, that
                // is what the failure says, and the values are not known to anybody.
                let _ = redaction::begin(None);
            }
            printer.failure(&failure).code()
        }
    };
    ExitCode::from(printer::delivered(code))
}

/// Help and version are not errors, and repeat nothing that was typed; clap knows which is which.
fn told(error: &clap::Error) -> u8 {
    if error.use_stderr()
        && let Err(failure) = redaction::begin(None)
    {
        return Printer::plain().failure(&failure).code();
    }
    printer::usage(error);
    if let Some(instead) = replaced::instead(error) {
        Printer::plain().note(&format!("{} {instead}", paint(STRONG, "hint:")));
    }
    u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code())
}

/// Before anything is printed or written.
fn begin_redaction(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Vault(command) if command.opens_by_itself() => Ok(()),
        Command::Vault(vault::Command::Run(arguments)) => redaction::begin(Some(arguments.place())),
        Command::Guard(guard::Command::Run(arguments)) => redaction::begin(Some(arguments.place())),
        _ => redaction::begin(None),
    }
}

fn dispatch(command: Command, global: &Global, printer: &Printer) -> Result<u8, Failure> {
    let exit = match command {
        // The code of a command that ran in a cell is its own.
        Command::Guard(command) => return guard::run(&command, global, printer),
        Command::Vault(command) => return vault::run(&command, global, printer),
        Command::Runners(arguments) => return runners::run(&arguments, global, printer),
        Command::Search(arguments) => search::run(&arguments, global, printer),
        Command::Lookup(arguments) => lookup::run(&arguments, global, printer),
        Command::Show(arguments) => show::run(&arguments, global, printer),
        Command::RetrievalBench(arguments) => retrieval_bench::run(&arguments, global, printer),
        Command::Defrag(arguments) => defrag::run(&arguments, global, printer),
        Command::Tree(command) => tree::run(command, global, printer),
        Command::Flywheel(command) => flywheel::run(&command, global, printer),
        Command::Rule(arguments) => rule::run(&arguments, global, printer),
        Command::Harvest(arguments) => harvest::run(&arguments, global, printer),
        Command::Signals(arguments) => signals::run(&arguments, global, printer),
        Command::Trust(arguments) => trust::run(&arguments, global, printer),
        Command::Overnight(command) => overnight::run(&command, global, printer),
        Command::Knowledge(command) => knowledge::run(&command, global, printer),
        Command::Metrics(command) => metrics::run(&command, global, printer),
        Command::Notify(arguments) => notify::run(&arguments, global, printer),
        Command::Schema(arguments) => schema::run(&arguments, printer),
        Command::Demo(arguments) => commands::demo::run(&arguments, global, printer),
    }?;
    Ok(exit.code())
}
