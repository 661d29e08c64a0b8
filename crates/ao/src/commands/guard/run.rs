//! `ao guard run`: any command, in a cell.

use std::ffi::OsString;
use std::io::{IsTerminal, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::Exit;
use ao_guard::cell::{
    Cell, Floor, Grant, Limits, PathRefusal, Refusal, Scratch, Sink, Source, admit, between,
    snapshot, upper_writes,
};
use serde_json::json;

use super::answer::{self, Told};
use super::kept::Kept;
use super::place;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::{AGENTS, Repo};

const EXECUTABLE: u32 = 0o111;
/// Where a start that was refused leaves a mark, beneath `.agents/`.
const FAILMARK: &str = "ao/guard.failed";
const FAILMARK_DIR: &str = "ao";
/// There in every cell of tier A.
const INSIDE: &str = "/run/ao-cell";
const NAMES_IN_WRITABLE: [&str; 2] = [".git", AGENTS];

/// Run a command in a cell: it writes only where it may, and reaches nobody
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao guard run -- git log                          reads everything, writes nothing
  ao guard run --rw out -- make report             writes only in out/
  ao guard run --cow . --json -- npm test          a copy of the tree takes all writes; --json lists them
  ao guard run --net api.example.com:443 -- agent  the one host and port that it may reach

Exit code: that of the command (128 + N if signal N ended it). Otherwise 5 if it was ended at a
limit, 2 if an argument was refused, 6 if the cell cannot be built or does not hold: then nothing
was started. With --json, `ended` tells these apart.")]
pub(crate) struct Arguments {
    /// A folder or file that the command may write for real; can be given more than once
    #[arg(long, value_name = "PATH")]
    rw: Vec<PathBuf>,
    /// A folder that the command sees as its own copy: it may write all of it, and changes nothing
    #[arg(long, value_name = "DIR")]
    cow: Option<PathBuf>,
    /// A host and port that the command may reach (through a proxy; see docs/cell.md); can be given more than once
    #[arg(long, value_name = "HOST:PORT")]
    net: Vec<Grant>,
    /// A variable of the environment that the command gets; can be given more than once
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// How long it may take
    #[arg(long, value_name = "D", default_value = "10m", value_parser = ao_contract::parse_duration)]
    time: Duration,
    /// How much it may say, in bytes (K, M and G are understood)
    #[arg(long, value_name = "BYTES", default_value = "8M", value_parser = bytes)]
    output: u64,
    /// How much memory it may hold, in bytes (K, M and G are understood)
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = bytes)]
    memory: u64,
    /// How many processes it may have at once
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    procs: u32,
    /// The weakest cell that will do: A has every layer, B works without user namespaces
    #[arg(long, value_name = "A|B", default_value_t = Floor::B)]
    floor: Floor,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn bytes(text: &str) -> Result<u64, String> {
    const KIB: u64 = 1024;
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, KIB),
        Some(digits) if text.ends_with('M') => (digits, KIB * KIB),
        Some(digits) => (digits, KIB * KIB * KIB),
        None => (text, 1),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number
        .then(|| digits.parse::<u64>().ok()?.checked_mul(unit))
        .flatten()
        .filter(|count| *count > 0)
        .ok_or_else(|| "not a number of bytes, such as 8388608 or 8M".to_owned())
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<u8, Failure> {
    if is_inside() {
        return Err(Failure::new(
            Exit::Preflight,
            "this is a cell already, and a cell has none in it",
        )
        .hint("nothing was started; run the command as it is: it is held by this cell"));
    }
    let order = Order::resolve(arguments, global)?;
    if global.dry_run {
        order.tell(printer);
        return Ok(Exit::Done.code());
    }
    let scratch = order.scratch()?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in
        [signal_hook::consts::SIGHUP, signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
    {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|error| {
            Failure::new(Exit::Preflight, format!("signals cannot be caught: {error}"))
                .hint("nothing was begun; run the command again")
        })?;
    }
    let before = order.look(&NAMES_IN_WRITABLE)?;
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let is_json = global.json;
    let mut take = |source: Source, bytes: &[u8]| {
        if is_json {
            match source {
                Source::Stdout => stdout.take(bytes),
                Source::Stderr => stderr.take(bytes),
            }
        } else {
            pass_on(source, bytes);
        }
    };
    let sink: &mut Sink<'_> = &mut take;
    let report = order.cell.run(Path::new("/proc/self/exe"), &scratch, sink, &stop);
    let report = match report {
        Ok(report) => {
            order.remove_failmark();
            report
        }
        Err(refusal) => {
            order.leave_failmark(&refusal);
            return Err(answer::refused(&refusal));
        }
    };
    let mut writes = between(&before, &order.look(&[])?);
    if let Some(tree) = &order.cell.copied {
        let copied = upper_writes(&scratch.upper(), tree);
        writes.extend(copied.map_err(|error| {
            Failure::new(Exit::Failed, format!("what was written cannot be read: {error}"))
                .hint("the tree is as it was; the copy is gone")
        })?);
    }
    let limits = &order.cell.limits;
    let told = Told {
        report: &report,
        program: &order.cell.program,
        writes: &writes,
        stdout: &stdout,
        stderr: &stderr,
        limits,
    };
    Ok(answer::tell(&told, is_json, printer))
}

/// Whether this process is in a cell itself.
fn is_inside() -> bool {
    std::env::var_os("AO_CELL").is_some() || Path::new(INSIDE).exists()
}

/// What the command says goes on as it is, but a terminal is not acted upon.
fn pass_on(source: Source, bytes: &[u8]) {
    // A closed pipe is the reader's way to say "enough".
    let _ = match source {
        Source::Stdout if std::io::stdout().is_terminal() => {
            std::io::stdout().write_all(plain(bytes).as_bytes())
        }
        Source::Stdout => std::io::stdout().write_all(bytes),
        Source::Stderr if std::io::stderr().is_terminal() => {
            std::io::stderr().write_all(plain(bytes).as_bytes())
        }
        Source::Stderr => std::io::stderr().write_all(bytes),
    };
    let _ = std::io::stdout().flush();
}

fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| line.split('\t').map(ao_tree::shown).collect::<Vec<_>>().join("\t"))
        .collect();
    lines.join("\n")
}

/// What was typed, and what it means.
#[derive(Debug)]
struct Order {
    cell: Cell,
    repository: Option<PathBuf>,
}

impl Order {
    fn resolve(arguments: &Arguments, global: &Global) -> Result<Self, Failure> {
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
        let (name, rest) = arguments
            .command
            .split_first()
            .ok_or_else(|| Failure::usage("there is no command").hint("name it after `--`"))?;
        let program = program(name, &all_path, &untrusted, &directory)?;
        let mut cell = Cell::new(program, directory.clone());
        cell.arguments = rest.to_vec();
        cell.environment = place::environment(&arguments.env, &path);
        cell.outside = place::outside(&roots, &directory, &path);
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
        weaken(&mut cell);
        Ok(Self { cell, repository })
    }

    /// A folder outside of everything that the command sees.
    fn scratch(&self) -> Result<Scratch, Failure> {
        let name = format!("ao-cell-{}-{}", std::process::id(), clock::now().nanoseconds());
        let covers = |folder: &Path| {
            let mut seen = self.cell.writable.iter().chain(&self.cell.copied);
            seen.any(|tree| folder.canonicalize().is_ok_and(|folder| folder.starts_with(tree)))
        };
        let folders = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
        let free = folders.iter().find(|folder| !covers(folder));
        let fail = |why: &dyn std::fmt::Display| {
            Failure::new(Exit::Preflight, format!("no folder for the cell: {why}"))
                .hint("nothing was started; name a folder for temporary files with TMPDIR")
        };
        let folder = free.ok_or_else(|| fail(&"all are writable for the command"))?;
        Scratch::make(folder, &name).map_err(|error| fail(&error))
    }

    /// All entries of the writable places. Before the start these names must not be in them.
    fn look(&self, forbidden: &[&str]) -> Result<ao_guard::cell::Snapshot, Failure> {
        let mut all = ao_guard::cell::Snapshot::new();
        for path in &self.cell.writable {
            let seen = snapshot(path, forbidden).map_err(|error| {
                Failure::usage(format!("--rw refused: {}", ao_tree::shown(&error.to_string())))
                    .hint("a writable folder has no repository in it, no file with a second name and nothing but files, folders and symlinks; use --cow for others")
            })?;
            all.extend(seen);
        }
        Ok(all)
    }

    fn leave_failmark(&self, refusal: &Refusal) {
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
            // The refusal itself is told in any case.
            let _ = ao_tree::make_folders(&agents, FAILMARK_DIR)
                .and_then(|()| ao_tree::replace_file(&agents.join(FAILMARK), line.as_bytes()));
        }
    }

    /// A cell that held takes back the mark of one that did not.
    fn remove_failmark(&self) {
        if let Some(root) = &self.repository {
            // It is only a mark, and says when it was made.
            let _ = ao_tree::remove_cache(&root.join(AGENTS).join(FAILMARK));
        }
    }

    fn tell(&self, printer: &Printer) {
        let cell = &self.cell;
        let paths = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let names: Vec<_> =
            cell.environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        let program = cell.program.to_string_lossy();
        let (writable, hidden) = (paths(&cell.writable), paths(&cell.outside.hidden));
        let copied = cell.copied.as_ref().map(|tree| tree.to_string_lossy().into_owned());
        let text = format!(
            "Would run {} in a cell: writable {writable:?}, copied {copied:?}, network {:?}, variables {names:?}\n",
            ao_tree::shown(&program),
            cell.grants.iter().map(ToString::to_string).collect::<Vec<_>>(),
        );
        let fields = json!({
            "program": program,
            "writable": writable,
            "copied": copied,
            "network": cell.grants.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "variables": names,
            "hidden": hidden,
            "floor": cell.floor.to_string(),
        });
        printer.answer("guard run", fields, &text);
    }
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
    program.canonicalize().map_err(|error| bad(error.to_string()))
}

/// Tests see that a wall is missed when it is left out, and build the weaker tiers. Not in a
/// binary that is released.
#[cfg(debug_assertions)]
fn weaken(cell: &mut Cell) {
    use ao_guard::cell::Tier;
    let value = |name: &str| std::env::var(name).ok();
    cell.broken =
        value("AO_CELL_TEST_WITHOUT").and_then(|name| ao_guard::cell::Layer::by_name(&name));
    cell.forced = match value("AO_CELL_TEST_TIER").as_deref() {
        Some("B") => Some(Tier::B),
        Some("D") => Some(Tier::D),
        _ => None,
    };
}

#[cfg(not(debug_assertions))]
fn weaken(_: &mut Cell) {}
