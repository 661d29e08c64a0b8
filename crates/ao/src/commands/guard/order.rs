//! What was typed, and what it means.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ao_contract::Exit;
use ao_guard::cell::{Cell, Limits, PathRefusal, Refusal, Scratch, Snapshot, admit, snapshot};
use ao_vault::{Ansi, redactor};
use serde_json::json;

use super::auth::{self, Wanted};
use super::home::Homes;
use super::place::{self, CellWork};
use super::run::Options;
use crate::cli::Global;
use crate::clock;
use crate::commands::vault;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::{AGENTS, Repo};

const EXECUTABLE: u32 = 0o111;
/// Where a start that was refused leaves a mark, beneath `.agents/`.
const FAILMARK: &str = "ao/guard.failed";
const FAILMARK_DIR: &str = "ao";

/// A command and its cell.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) cell: Cell,
    /// With a secret that is added outside.
    authorized: Vec<Wanted>,
    repository: Option<PathBuf>,
    /// Granted of what is hidden.
    read: Vec<PathBuf>,
}

impl Order {
    pub(crate) fn resolve(
        arguments: &Options,
        command: &[OsString],
        global: &Global,
    ) -> Result<Self, Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::new(Exit::Preflight, format!("the current directory cannot be read: {error}"))
        })?;
        let repository = Repo::find(global).ok().map(|repo| repo.canonical());
        let directory = match &global.repo {
            Some(_) => repository.clone().unwrap_or(here),
            None => here,
        };
        let place = place::place();
        let mut writable = Vec::new();
        for path in &arguments.rw {
            writable
                .push(admit(&directory.join(path), &place).map_err(|bad| refused("--rw", &bad))?);
        }
        let of_vault = vault::place::hidden(Some(&arguments.vault));
        if let Some(path) = writable.iter().find(|path| of_vault.contains(path)) {
            let shown = ao_tree::shown(&path.to_string_lossy());
            return Err(Failure::usage(format!(
                "--rw refused (path-held): {shown} is of the vault"
            ))
            .hint("name a file of your own"));
        }
        let copied =
            arguments.cow.as_ref().map(|tree| tree_to_copy(&directory, tree)).transpose()?;
        if let Some(tree) = &copied
            && let Some(inner) =
                writable.iter().find(|path| path.starts_with(tree) || tree.starts_with(path))
        {
            return Err(Failure::usage(format!(
                "--rw {} and --cow {} overlap",
                ao_tree::shown(&inner.to_string_lossy()),
                ao_tree::shown(&tree.to_string_lossy())
            ))
            .hint("what is copied is written in the copy alone; leave one of them out"));
        }
        let mut roots = place::repositories(&directory);
        roots.extend(copied.iter().flat_map(|tree| place::repositories(tree)));
        roots.extend(writable.iter().flat_map(|path| place::repositories(path)));
        roots.sort();
        roots.dedup();
        let all_path = std::env::var_os("PATH").unwrap_or_default();
        // With no repository around nothing is left out.
        let untrusted = repository.clone().unwrap_or_else(|| PathBuf::from("/dev/null/none"));
        let path = ao_guard::trusted_path(&all_path, &untrusted);
        let (name, rest) = command
            .split_first()
            .ok_or_else(|| Failure::usage("there is no command").hint("name it after `--`"))?;
        let program = program(name, &all_path, &untrusted, &directory)?;
        let mut cell = Cell::new(program, directory.clone());
        cell.arguments = rest.to_vec();
        let named: Vec<PathBuf> = writable.iter().chain(&copied).cloned().collect();
        let read = readable(&directory, &arguments.ro, &of_vault)?;
        let standing = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        let (outside, told) =
            place::outside(&CellWork { standing, roots, named, read: read.clone() }, &path);
        cell.environment = place::environment(&arguments.env, &path, told);
        cell.outside = outside;
        cell.outside.private.extend(of_vault);
        cell.writable = writable;
        cell.copied = copied;
        cell.grants.clone_from(&arguments.net);
        cell.floor = arguments.floor;
        cell.limits = Limits {
            time: arguments.time,
            output_bytes: arguments.output,
            memory_bytes: arguments.memory,
            processes: arguments.procs,
            ..Limits::default()
        };
        place::weaken(&mut cell);
        let authorized = Wanted::all(arguments)?;
        if !global.dry_run {
            cell.authorizations = auth::resolve(arguments)?;
        }
        Ok(Self { cell, authorized, repository, read })
    }

    /// A folder outside of everything that the command sees.
    pub(super) fn scratch(&self) -> Result<Scratch, Failure> {
        Scratch::beside(&self.cell, &place::temporary(), &place::name()).map_err(|error| {
            Failure::new(Exit::Preflight, format!("no folder for the cell: {error}"))
                .hint("nothing was started; name a folder for temporary files with TMPDIR")
        })
    }

    /// All entries of the writable places before the start. These names must not be in them.
    pub(super) fn look(&self, forbidden: &[&str]) -> Result<Snapshot, Failure> {
        self.entries(forbidden).map_err(|error| {
            Failure::usage(format!("--rw refused: {}", ao_tree::shown(&error.to_string())))
                .hint("a writable folder has no repository in it, no file with a second name and nothing but files, folders and symlinks; use --cow for others")
        })
    }

    /// The same after the end.
    pub(super) fn look_again(&self) -> io::Result<Snapshot> {
        self.entries(&[])
    }

    fn entries(&self, forbidden: &[&str]) -> io::Result<Snapshot> {
        let mut all = Snapshot::new();
        for path in &self.cell.writable {
            all.extend(snapshot(path, forbidden)?);
        }
        Ok(all)
    }

    pub(super) fn leave_failmark(&self, refusal: &Refusal) {
        let is_of_the_machine = matches!(
            refusal,
            Refusal::BelowFloor { .. }
                | Refusal::CannotBuild { .. }
                | Refusal::Escaped { .. }
                | Refusal::NeedsTierA { .. }
        );
        let Some(agents) = self.repository.as_ref().map(|root| root.join(AGENTS)) else { return };
        if is_of_the_machine && agents.is_dir() {
            let line =
                format!("{} {}\n", clock::now().rfc3339(), ao_tree::shown(&refusal.to_string()));
            let line = redactor().bytes(line.as_bytes(), Ansi::Strip);
            // The refusal itself is told in any case.
            let _ = ao_tree::make_folders(&agents, FAILMARK_DIR)
                .and_then(|()| ao_vault::out::replace_file(&agents.join(FAILMARK), &line));
        }
    }

    /// A cell that held takes back the mark of one that did not.
    pub(super) fn remove_failmark(&self) {
        if let Some(root) = &self.repository {
            // It is only a mark, and says when it was made.
            let _ = ao_tree::remove_cache(&root.join(AGENTS).join(FAILMARK));
        }
    }

    pub(crate) fn tell(&self, command: &str, printer: &Printer) {
        let cell = &self.cell;
        let paths = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let names: Vec<_> =
            cell.environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        let program = cell.program.to_string_lossy();
        let (writable, hidden) = (paths(&cell.writable), paths(&cell.outside.hidden));
        let readable = paths(&self.read);
        let copied = cell.copied.as_ref().map(|tree| tree.to_string_lossy().into_owned());
        let authorized: Vec<_> = self
            .authorized
            .iter()
            .map(|one| format!("{}={}", one.grant, one.name.reference()))
            .collect();
        let text = format!(
            "Would run {} in a cell: writable {writable:?}, readable {readable:?}, copied {copied:?}, network {:?}, authorized {authorized:?}, variables {names:?}\n",
            ao_tree::shown(&program),
            cell.grants.iter().map(ToString::to_string).collect::<Vec<_>>(),
        );
        let fields = json!({
            "program": program,
            "writable": writable,
            "readable": readable,
            "copied": copied,
            "network": cell.grants.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "authorized": authorized,
            "variables": names,
            "hidden": hidden,
            "floor": cell.floor.to_string(),
        });
        printer.answer(command, fields, &text);
    }
}

fn is_repository(folder: &Path) -> bool {
    place::repositories(folder).first().is_some_and(|root| root == folder)
}

fn refused(option: &str, bad: &PathRefusal) -> Failure {
    let message = ao_tree::shown(&bad.to_string());
    let hint = match bad {
        PathRefusal::Missing { .. } => "make it first",
        PathRefusal::Symlink(_) => "name the folder that it leads to",
        PathRefusal::Git(_)
        | PathRefusal::Held(_)
        | PathRefusal::Home(_)
        | PathRefusal::Root(_) => {
            "name a folder inside it, or use --cow to give the command a copy"
        }
        PathRefusal::System(_) | PathRefusal::Kind(_) => "name a folder of your own",
    };
    Failure::usage(format!("{option} refused ({}): {message}", bad.rule())).hint(hint)
}

/// What may be read of what is hidden: where it really is.
fn readable(
    directory: &Path,
    paths: &[PathBuf],
    of_vault: &[PathBuf],
) -> Result<Vec<PathBuf>, Failure> {
    let homes = Homes::new(&place::homes());
    let real = |path: &PathBuf| {
        let shown = ao_tree::shown(&path.to_string_lossy());
        let bad = |why: &str, hint: &str| {
            Failure::usage(format!("--ro refused: {shown}: {why}")).hint(hint.to_owned())
        };
        let real = directory
            .join(path)
            .canonicalize()
            .map_err(|error| bad(&error.to_string(), "name a file or folder that is there"))?;
        let inner = "name the folder in it that the command needs";
        if homes.is_above(&real) {
            return Err(bad("it is your home, or above it", inner));
        }
        if let Some(place) = homes.secret_place(&real) {
            let place = ao_tree::shown(&place.to_string_lossy());
            return Err(bad(&format!("{place} is a place of keys or histories"), inner));
        }
        if of_vault.iter().any(|path| path.starts_with(&real) || real.starts_with(path)) {
            return Err(bad("it is of the vault", inner));
        }
        Ok(real)
    };
    paths.iter().map(real).collect()
}

fn tree_to_copy(directory: &Path, tree: &Path) -> Result<PathBuf, Failure> {
    let shown = ao_tree::shown(&tree.to_string_lossy());
    let bad = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("--cow refused: {shown}: {why}")).hint("name a folder that is there")
    };
    let path = directory.join(tree);
    let found = std::fs::symlink_metadata(&path).map_err(|error| bad(&error))?;
    if found.is_symlink() {
        return Err(bad(&"it is a symlink"));
    }
    if !found.is_dir() {
        return Err(bad(&"it is no folder"));
    }
    let real = path.canonicalize().map_err(|error| bad(&error))?;
    let homes = Homes::new(&place::homes());
    if homes.is_above(&real) && !homes.may_work_in(&real, &real, is_repository(&real)) {
        return Err(bad(&"it is your home, or above it"));
    }
    // A copy is read. Standing in a place of keys, as with `--cow .`, does not show it.
    if !homes.is_above(&real)
        && let Some(place) = homes.secret_place(&real)
    {
        let place = ao_tree::shown(&place.to_string_lossy());
        return Err(bad(&format!("{place} is a place of keys or histories")));
    }
    let is_system = ["/proc", "/sys", "/dev", "/run"].iter().any(|system| real.starts_with(system));
    if real == Path::new("/") || is_system {
        return Err(bad(&"it belongs to the system"));
    }
    Ok(real)
}

/// The absolute path of the command: found on PATH by its name, or taken as a path.
fn program(
    name: &OsString,
    path: &OsString,
    repository: &Path,
    directory: &Path,
) -> Result<PathBuf, Failure> {
    let shown = ao_tree::shown(&name.to_string_lossy());
    let bad = |why: String| {
        Failure::usage(format!("cannot run {shown}: {why}"))
            .hint("name a program on PATH, or the path of one")
    };
    let is_path = Path::new(name).components().count() != 1 || Path::new(name).is_absolute();
    if !is_path {
        let text = name.to_str().ok_or_else(|| bad("its name is no text".to_owned()))?;
        return ao_guard::find_program(text, path, repository)
            .map_err(|error| bad(ao_tree::shown(&error.to_string())));
    }
    let program = directory.join(name);
    let found = std::fs::metadata(&program).map_err(|error| bad(error.to_string()))?;
    if !found.is_file() {
        return Err(bad("it is no file".to_owned()));
    }
    if found.permissions().mode() & EXECUTABLE == 0 {
        return Err(bad("it cannot be executed".to_owned()));
    }
    // Under the name that was typed: a program may look at what lies beside that.
    std::path::absolute(&program).map_err(|error| bad(error.to_string()))
}
