//! `ao vault`: secrets, and finding those that lie about.

mod hook;
mod scan;

use ao_contract::Exit;
use ao_guard::{Git, Keeper};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Look for secrets in files, or in what is about to be committed
    Scan(scan::Arguments),
    /// Have git look for secrets before each commit
    InstallHook(hook::Install),
    /// Take the hook out again
    UninstallHook(hook::Uninstall),
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Scan(arguments) => scan::run(arguments, global, printer),
        Command::InstallHook(arguments) => hook::install(arguments, global, printer),
        Command::UninstallHook(arguments) => hook::uninstall(arguments, global, printer),
    }
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
