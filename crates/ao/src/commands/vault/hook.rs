//! `ao vault install-hook` and `uninstall-hook`: the scan before each commit.
//!
//! A hook that is there already stays and goes first: it may change what is committed. Taking ours out
//! gives it its name back, the same file with the same inode.

use std::path::{Path, PathBuf};

use ao_contract::Exit;
use ao_tree::own_file;
use serde_json::json;

use super::{git, git_says, no_git};
use crate::cli::Global;
use crate::commands::guard::install::program;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

const HOOK: &str = "pre-commit";
const BEFORE: &str = "pre-commit.before-ao";
/// A larger file is no script of ours.
const SCRIPT_BYTES_MAX: u64 = 64 * 1024;
/// All of the script but its last line, which names the program.
const SCRIPT: &str = "\
#!/bin/sh
# Looks for secrets before each commit. `ao vault install-hook` put it here, and
# `ao vault uninstall-hook` takes it out again; the hook from before stands beside it and goes first.
before=\"${0%/*}/pre-commit.before-ao\"
if [ -x \"$before\" ]; then
  \"$before\" \"$@\" || exit
fi
";

/// Have git look for secrets before each commit
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A pre-commit hook that is there already is kept beside ours and goes first. A commit with a secret
in it is refused, and so is every commit if ao is no longer where it was.

Examples:
  ao vault install-hook
  ao --dry-run vault install-hook"
)]
pub(crate) struct Install {}

/// Take the hook out again
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The hook from before gets its place back as it was. A hook that was changed since, or that
somebody else put there, is left alone, and that is an error.

Examples:
  ao vault uninstall-hook"
)]
pub(crate) struct Uninstall {}

/// What stands where git looks for the hook.
enum There {
    Nothing,
    Ours(String),
    /// Begins as ours does, and is another.
    Changed,
    Others,
}

struct Place {
    hook: PathBuf,
    before: PathBuf,
    there: There,
    has_before: bool,
}

pub(crate) fn install(
    _arguments: &Install,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let place = Place::find(&repo)?;
    let script = format!("{SCRIPT}exec {} vault scan --staged\n", program(&repo.canonical())?);
    let aside = match &place.there {
        There::Ours(text) if *text == script => {
            return Ok(place.done(
                "nothing-to-do",
                "Nothing to do.\n",
                "vault install-hook",
                printer,
            ));
        }
        There::Ours(_) | There::Nothing => None,
        There::Changed => return Err(place.changed()),
        There::Others if place.has_before => {
            return Err(Failure::new(
                Exit::Preflight,
                format!("{} and {} are both there", place.hook.display(), place.before.display()),
            )
            .hint("nothing was changed; put one of them away, then run the command again"));
        }
        There::Others => Some(place.before.as_path()),
    };
    if !global.dry_run {
        let make = || {
            let folder = place.hook.parent().unwrap_or(Path::new("/"));
            if let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) {
                ao_tree::make_folders(above, &name.to_string_lossy())?;
            }
            ao_tree::put_program(&place.hook, aside, script.as_bytes())
        };
        make().map_err(|error: std::io::Error| place.failed(&error))?;
    }
    let kept =
        if aside.is_some() || place.has_before { " The hook from before goes first." } else { "" };
    let said = if global.dry_run { "Would put the hook into" } else { "The hook is in" };
    let text = format!("{said} {}.{kept}\n", place.hook.display());
    let status = if global.dry_run { "preview" } else { "installed" };
    Ok(place.done(status, &text, "vault install-hook", printer))
}

pub(crate) fn uninstall(
    _arguments: &Uninstall,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let place = Place::find(&repo)?;
    match &place.there {
        There::Ours(_) => {}
        There::Changed => return Err(place.changed()),
        There::Nothing | There::Others => {
            let text = "Nothing to do.\n";
            return Ok(place.done("nothing-to-do", text, "vault uninstall-hook", printer));
        }
    }
    if !global.dry_run {
        let aside = place.has_before.then_some(place.before.as_path());
        ao_tree::take_program(&place.hook, aside).map_err(|error| place.failed(&error))?;
    }
    let said = if global.dry_run { "Would take the hook out of" } else { "The hook is out of" };
    let text = format!("{said} {}.\n", place.hook.display());
    let status = if global.dry_run { "preview" } else { "uninstalled" };
    Ok(place.done(status, &text, "vault uninstall-hook", printer))
}

impl Place {
    fn find(repo: &Repo) -> Result<Self, Failure> {
        let home = absolute("HOME");
        let (folder, is_chosen) = git(repo)
            .ok_or_else(no_git)?
            .hooks_folder(home.as_deref(), &settings(home.as_deref()))
            .map_err(|why| git_says(&why))?;
        let root = repo.canonical();
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        if is_chosen && !real.starts_with(&root) {
            return Err(Failure::new(
                Exit::Preflight,
                format!("core.hooksPath leads out of this repository, to {}", folder.display()),
            )
            .hint("hooks there are run for other repositories too; add `ao vault scan --staged` by hand"));
        }
        let (hook, before) = (folder.join(HOOK), folder.join(BEFORE));
        let has_before = std::fs::symlink_metadata(&before).is_ok();
        let there = look(&hook).map_err(|error| {
            Failure::new(Exit::Preflight, format!("{}: {error}", hook.display()))
                .hint("nothing was changed")
        })?;
        Ok(Self { hook, before, there, has_before })
    }

    fn changed(&self) -> Failure {
        let message = format!("{} was changed since it was put there", self.hook.display());
        Failure::new(Exit::Preflight, message)
            .hint("nothing was changed; take out of it by hand what ao put there")
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::new(Exit::Failed, format!("{}: {error}", self.hook.display()))
            .hint("put right what is named, then run the command again")
    }

    fn done(&self, status: &str, text: &str, command: &str, printer: &Printer) -> Exit {
        let fields = json!({ "hook": self.hook.to_string_lossy(), "status": status });
        printer.answer(command, fields, text);
        Exit::Done
    }
}

/// The files that git itself would read here, after those of the repository.
fn settings(home: Option<&Path>) -> Vec<PathBuf> {
    const OF_THE_MACHINE: &str = "/etc/gitconfig";
    let mut files = Vec::new();
    if let Some(named) = absolute("GIT_CONFIG_GLOBAL") {
        files.push(named);
    } else {
        files.extend(home.map(|home| home.join(".gitconfig")));
        let folder = absolute("XDG_CONFIG_HOME").or_else(|| home.map(|home| home.join(".config")));
        files.extend(folder.map(|folder| folder.join("git/config")));
    }
    if std::env::var_os("GIT_CONFIG_NOSYSTEM").is_none() {
        files.push(absolute("GIT_CONFIG_SYSTEM").unwrap_or_else(|| OF_THE_MACHINE.into()));
    }
    files
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn look(hook: &Path) -> std::io::Result<There> {
    let found = match std::fs::symlink_metadata(hook) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(There::Nothing),
        found => found?,
    };
    if !found.is_file() || found.len() > SCRIPT_BYTES_MAX {
        return Ok(There::Others);
    }
    let bytes = own_file::read(hook, SCRIPT_BYTES_MAX)?;
    let Ok(text) = String::from_utf8(bytes) else { return Ok(There::Others) };
    let marked: Vec<&str> = SCRIPT.lines().take(2).collect();
    let last = text.strip_prefix(SCRIPT);
    let is_ours = last.is_some_and(|last| {
        last.starts_with("exec ")
            && last.ends_with(" vault scan --staged\n")
            && last.lines().count() == 1
    });
    Ok(match is_ours {
        true => There::Ours(text),
        false if text.contains(marked[1]) => There::Changed,
        false => There::Others,
    })
}
