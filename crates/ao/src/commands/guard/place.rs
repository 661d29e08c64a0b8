//! What is hidden from a program in a cell, and what it is given of the environment.
//!
//! The one place that says so, for `ao guard run` and for the programs of the night.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ao_guard::cell::{Around, Cell, Cells, Floor, Outside, Place};

use crate::clock;
use crate::commands::vault;
use crate::config;
use crate::repo::{AGENTS, STATE};

/// Given to every program, where they are set; everything else by `--env NAME`.
const VARIABLES: [&str; 9] =
    ["PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "USER", "LOGNAME"];

/// Keys, tokens, sessions and histories in a home.
const SECRETS: [&str; 38] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    ".password-store",
    ".pgpass",
    ".my.cnf",
    ".boto",
    ".s3cfg",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/ao",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".local/share/ao",
    ".local/share/keyrings",
    ".terraform.d",
    ".bash_history",
    ".zsh_history",
    ".python_history",
];
/// Held by the engine while it works: locks, caches, undo.
const OF_THE_ENGINE: [&str; 2] = [STATE, "ao"];
/// The rest of the knowledge that only the door writes.
const HELD: [&str; 7] = ["learnings", "findings", "patterns", "knowledge", "rpi", STATE, "ao"];
const RUNTIME_FOLDERS: [&str; 2] = ["/var/run", "/var/tmp"];

/// There in every cell of tier A.
const INSIDE: &str = "/run/ao-cell";
/// Where nobody says where programs are. An empty `PATH` would mean the current directory.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";

/// Cells for the programs that `ao` runs by itself in a repository.
pub(crate) fn cells(root: &Path) -> Cells {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = match ao_guard::trusted_path(&path, root) {
        none if none.is_empty() => PROGRAMS.into(),
        path => path,
    };
    let mut pattern = Cell::new("", root);
    pattern.environment = environment(&[], &path);
    pattern.outside = outside(&repositories(root), &path);
    // Of a file that nobody can read it is not known what it asks for.
    pattern.floor = config::floor(root).unwrap_or(Floor::A);
    weaken(&mut pattern);
    Cells {
        holder: "/proc/self/exe".into(),
        temporary: temporary(),
        name: name(),
        place: place(),
        pattern,
        around: around(),
    }
}

/// Where a cell may have its folder.
pub(super) fn temporary() -> Vec<PathBuf> {
    vec![std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()]
}

/// Nobody else's, at this moment.
pub(super) fn name() -> String {
    format!("{}-{}", std::process::id(), clock::now().nanoseconds())
}

/// Whether this process is in a cell itself.
pub(crate) fn around() -> Around {
    let is_inside = std::env::var_os("AO_CELL").is_some() || Path::new(INSIDE).exists();
    if is_inside { Around::Cell } else { Around::Nothing }
}

/// Where the user lives: as the environment says, and as the system does. The first may be missing, or
/// be that of somebody else; the keys are where they are.
pub(super) fn homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::home_dir().into_iter().collect();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    homes.extend(home_of(rustix::process::getuid().as_raw(), &users));
    homes.retain(|home| home.is_absolute());
    homes.dedup();
    homes
}

/// `name:password:user:group:about:home:shell`.
fn home_of(user: u32, users: &str) -> Option<PathBuf> {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let mut all = users.lines().map(fields);
    let found = all.find(|fields| fields.get(2).is_some_and(|id| *id == user.to_string()))?;
    found.get(5).map(PathBuf::from)
}

/// The rules for a path that is to be writable.
pub(super) fn place() -> Place {
    Place { homes: homes(), knowledge: AGENTS.to_owned(), held: HELD.map(str::to_owned).to_vec() }
}

/// What is hidden and what is shown, for a command that runs in these repositories.
pub(super) fn outside(roots: &[PathBuf], path: &OsStr) -> Outside {
    let mut hidden: Vec<PathBuf> = RUNTIME_FOLDERS.iter().map(PathBuf::from).collect();
    hidden.extend(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    for home in homes() {
        hidden.extend(SECRETS.iter().map(|name| home.join(name)));
    }
    for root in roots {
        hidden.extend(OF_THE_ENGINE.iter().map(|name| root.join(AGENTS).join(name)));
    }
    hidden.extend(vault::place::hidden(None));
    Outside {
        temporary: vec![std::env::temp_dir()],
        hidden,
        shown: roots.to_vec(),
        // Tools that live in a home are found through PATH.
        readable: std::env::split_paths(path).filter(|entry| entry.is_absolute()).collect(),
    }
}

/// The folders around a path that are repositories.
pub(super) fn repositories(path: &Path) -> Vec<PathBuf> {
    let is_one = |folder: &&Path| [AGENTS, ".git"].iter().any(|name| folder.join(name).exists());
    path.ancestors().filter(is_one).map(Path::to_owned).collect()
}

/// The variables that a command gets: the few harmless ones, and those that were named.
pub(super) fn environment(named: &[String], path: &OsStr) -> Vec<(OsString, OsString)> {
    let mut variables = Vec::new();
    for name in VARIABLES.iter().copied().chain(named.iter().map(String::as_str)) {
        let value = if name == "PATH" { Some(path.to_owned()) } else { std::env::var_os(name) };
        variables.extend(value.map(|value| (OsString::from(name), value)));
    }
    variables
}

/// Tests see that a wall is missed when it is left out, and build the weaker tiers. Not in a
/// binary that is released.
#[cfg(debug_assertions)]
pub(super) fn weaken(cell: &mut Cell) {
    use ao_guard::cell::Tier;
    let value = |name: &str| std::env::var(name).ok();
    cell.broken =
        value("AO_CELL_TEST_WITHOUT").and_then(|name| ao_guard::cell::Layer::by_name(&name));
    cell.landlock_max = value("AO_CELL_TEST_LANDLOCK").and_then(|version| version.parse().ok());
    cell.forced = match value("AO_CELL_TEST_TIER").as_deref() {
        Some("B") => Some(Tier::B),
        Some("D") => Some(Tier::D),
        _ => None,
    };
}

#[cfg(not(debug_assertions))]
pub(super) fn weaken(_: &mut Cell) {}
