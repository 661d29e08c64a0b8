//! `ao vault`: secrets that no child holds and no file shows.

pub(crate) mod failure;
mod granted;
mod hook;
mod init;
mod input;
mod kept;
mod names;
pub(crate) mod place;
mod read;
mod run;
mod scan;
mod write;

use std::fs::File;
use std::io::Write as _;
use std::str::FromStr;

use ao_contract::Exit;
use ao_guard::cell::Around;
use ao_guard::{Git, Keeper};
use ao_vault::Name;

use crate::cli::Global;
use crate::commands::guard;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make an identity and an empty vault
    Init(init::Arguments),
    /// Keep a value under a name; it is typed without being shown, or comes from standard input
    Write(write::Arguments),
    /// Print a value, and nothing else
    Read(read::Arguments),
    /// List the names
    Refs(names::Refs),
    /// Forget a name and its value
    Rm(names::Remove),
    /// Make a new identity, encrypt everything to it, and forget the old one
    Rotate(names::Rotate),
    /// Run a command in a cell that gets values in its environment, for its life alone
    Run(run::Arguments),
    /// List the messages that a secret was found in, or print one
    Kept(kept::Arguments),
    /// Look for secrets in files, or in what is about to be committed
    Scan(scan::Arguments),
    /// Have git look for secrets before each commit
    InstallHook(hook::Install),
    /// Take the hook out again
    UninstallHook(hook::Uninstall),
}

impl Command {
    fn needs_the_vault(&self) -> bool {
        !matches!(self, Self::Scan(_) | Self::InstallHook(_) | Self::UninstallHook(_))
    }

    /// It prints names, or the one value that it was asked for: nothing is to be redacted there.
    pub(crate) fn opens_by_itself(&self) -> bool {
        self.needs_the_vault() && !matches!(self, Self::Run(_))
    }
}

/// The exit code is a number: that of a command that ran goes through as it is.
pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<u8, Failure> {
    if command.needs_the_vault() {
        if guard::place::around() == Around::Cell {
            return Err(failure::in_a_cell());
        }
        place::keep_memory_to_ourselves()?;
    }
    let exit = match command {
        Command::Run(arguments) => return run::run(arguments, global, printer),
        Command::Init(arguments) => init::run(arguments, global, printer),
        Command::Write(arguments) => write::run(arguments, global, printer),
        Command::Read(arguments) => read::run(arguments, global),
        Command::Refs(arguments) => names::refs(arguments, printer),
        Command::Rm(arguments) => names::remove(arguments, global, printer),
        Command::Rotate(arguments) => names::rotate(arguments, global, printer),
        Command::Kept(arguments) => kept::run(arguments, global, printer),
        Command::Scan(arguments) => scan::run(arguments, global, printer),
        Command::InstallHook(arguments) => hook::install(arguments, global, printer),
        Command::UninstallHook(arguments) => hook::uninstall(arguments, global, printer),
    };
    Ok(exit?.code())
}

/// What was typed is not repeated if it is no name: it may be a value.
pub(crate) fn name(text: &str) -> Result<Name, Failure> {
    Name::from_str(text).map_err(|bad| {
        Failure::usage(bad.to_string()).hint(
            "a name has letters, digits and . _ - / and begins with a letter or a digit; if it was a value that you typed, the shell's history has it now: replace it",
        )
    })
}

/// Bytes as they are and nothing else, without the buffer that the standard library would keep a copy in.
fn print_alone(bytes: &[u8]) -> Result<Exit, Failure> {
    let output = rustix::stdio::stdout().try_clone_to_owned().map(File::from);
    output.and_then(|mut output| output.write_all(bytes)).map_err(|error| {
        Failure::new(Exit::Failed, format!("it cannot be written: {error}"))
            .hint("whoever reads it has only a part of it, or nothing")
    })?;
    Ok(Exit::Done)
}

/// The git of this machine, asked about this repository; `None` where there is no git.
fn git(repo: &Repo) -> Option<Git> {
    let root = repo.canonical();
    let path = std::env::var_os("PATH")?;
    let program = ao_guard::find_program("git", &path, &root).ok()?;
    // Git names them to a hook; a commit of some files has an index of its own.
    let here = std::env::current_dir().unwrap_or_default();
    let named = |name| std::env::var_os(name).map(|path| here.join(path).into_os_string());
    let git = Git::new(Keeper::this_binary(), program, root);
    Some(git.with_index(named("GIT_INDEX_FILE"), named("GIT_DIR")))
}

fn no_git() -> Failure {
    Failure::new(Exit::Preflight, "git was not found on PATH").hint("install git, or name files")
}

fn git_says(why: &str) -> Failure {
    Failure::new(Exit::Preflight, format!("git cannot say: {}", ao_tree::shown(why)))
        .hint("run it in a repository of git's, or name files")
}
