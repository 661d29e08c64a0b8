//! Something that is no file stands where a file of ours is expected: no command hangs, none eats
//! the memory of the machine, and each says what it met.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::corpus::{NIGHT, pending, settle};
use crate::dice::Dice;
use crate::tally::Tally;
use crate::tree::{Kind, Tree};
use crate::whole::{ao, home, must, program};
use crate::world::{Arena, World};

const CASES_MIN: usize = 300;
/// Locks, budgets and markers that block or never end, and everything else.
const WORST_SAMPLE: usize = 16;
const OTHERS_SAMPLE: usize = 6;
/// No command takes so long, on any machine.
const HANGS: Duration = Duration::from_mins(1);
/// Some hundred times of what any of them needs here.
const MEMORY_BYTES_MAX: u64 = 2 << 30;
/// What the program says when it has a bug.
const PANICKED: i32 = 101;

/// Names that are there only for a while, or only for some people.
const PASSING: [&str; 16] = [
    ".agents/overnight/run.lock",
    ".agents/overnight/run.alive",
    ".agents/overnight/commit.lock",
    ".agents/overnight/generation",
    ".agents/overnight/status.json",
    ".agents/overnight/settled.json",
    ".agents/overnight/warn-only-budget.json",
    ".agents/overnight/deferred-runners.json",
    ".agents/overnight/notifications.jsonl",
    ".agents/overnight/COMMIT-MARKER.20260415T020000Z",
    ".agents/overnight/.gitignore",
    ".agents/overnight/staging",
    ".agents/overnight/displaced",
    ".agents/ao/citations.jsonl",
    ".agents/ao/questions.jsonl",
    ".agentops/config.yaml",
];

/// The reading ones first: the writing ones may put the name right.
const COMMANDS: [&[&str]; 14] = [
    &["search", "what fails"],
    &["show", "2026-05-01-l0"],
    &["tree", "log"],
    &["tree", "verify"],
    &["overnight", "status"],
    &["overnight", "last"],
    &["overnight", "report"],
    &["overnight", "log"],
    &["overnight", "verify"],
    &["overnight", "plan"],
    &["lookup", "what fails"],
    &["tree", "recover"],
    &NIGHT,
    &["tree", "undo"],
];

#[derive(Debug, Clone, Copy)]
enum Odd {
    Fifo,
    /// A link to `/dev/zero`, which never ends.
    Endless,
    Socket,
    Folder,
}

const ODD: [Odd; 4] = [Odd::Fifo, Odd::Endless, Odd::Socket, Odd::Folder];

struct Case {
    name: String,
    odd: Odd,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}", self.odd, self.name)
    }
}

#[test]
fn odd_files_hang_nothing() {
    let arena = Arena::new();
    let world = arena.world(&Tree::default());
    let mut dice = Dice::new(9);
    settle(&world, &mut dice);
    must(&world, &NIGHT).unwrap();
    must(&world, &["tree", "undo"]).unwrap();
    must(&world, &NIGHT).unwrap();
    pending(&world, &mut dice, 300);
    let names = names(&world);
    let mut tally = Tally::new("odd files", "odd_files_hang_nothing", CASES_MIN);
    let cases = names.iter().flat_map(|name| ODD.map(|odd| Case { name: name.clone(), odd }));
    let is_worst = |case: &Case| {
        PASSING.contains(&case.name.as_str()) && matches!(case.odd, Odd::Fifo | Odd::Endless)
    };
    let (worst, others) = cases.partition(is_worst);
    let mut cases = tally.sample(worst, WORST_SAMPLE);
    cases.extend(tally.sample(others, OTHERS_SAMPLE));
    tally.run(&cases, |case| attack(&arena, &world, case));
    tally.finish();
}

/// Every file of ours that two nights left, and those that pass.
fn names(world: &World) -> BTreeSet<String> {
    let tree = Tree::read(&world.root, None);
    let files = tree.0.iter().filter(|(_, node)| matches!(node.kind, Kind::File(_)));
    let is_ours = |path: &&String| {
        [".agents/overnight/", ".agents/ao/", ".agents/rpi/"]
            .iter()
            .any(|top| path.starts_with(top))
    };
    let ours = files.map(|(path, _)| path).filter(is_ours).cloned();
    ours.chain(PASSING.map(str::to_owned)).collect()
}

fn attack(arena: &Arena, start: &World, case: &Case) -> Result<(), String> {
    let world = World { root: arena.fresh("world") };
    for (from, to) in [(start.root.clone(), world.root.clone()), (home(start), home(&world))] {
        program(std::process::Command::new("cp").arg("-a").arg(from).arg(to))?;
    }
    put(case.odd, &world.root.join(&case.name));
    let mut bad = Vec::new();
    for args in COMMANDS {
        bad.extend(bounded(&world, args).err());
    }
    if bad.is_empty() { Ok(()) } else { Err(bad.join("\n")) }
}

fn put(odd: Odd, at: &Path) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    // There may be none of this name.
    let _ = fs::remove_file(at);
    let _ = fs::remove_dir_all(at);
    match odd {
        Odd::Fifo => mkfifo(at, Mode::from_bits_truncate(0o644)).unwrap(),
        Odd::Endless => symlink("/dev/zero", at).unwrap(),
        Odd::Folder => fs::create_dir(at).unwrap(),
        Odd::Socket => {
            // A socket's name is bounded; its folder's is not.
            let short = tempfile::TempDir::new_in("/tmp").unwrap();
            let socket = short.path().join("s");
            drop(UnixListener::bind(&socket).unwrap());
            program(std::process::Command::new("mv").arg(socket).arg(at)).unwrap();
        }
    }
}

/// Runs a command that must end by itself, within its memory, and say why if it failed.
fn bounded(world: &World, args: &[&str]) -> Result<(), String> {
    let [mut stdout, mut stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    let mut command = ao(world, args);
    command.stdin(Stdio::null());
    command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    #[expect(unsafe_code, reason = "only the new process itself can bound itself")]
    // SAFETY: between fork and exec only one system call is made, and nothing is allocated.
    unsafe {
        command
            .pre_exec(|| Ok(setrlimit(Resource::RLIMIT_DATA, MEMORY_BYTES_MAX, MEMORY_BYTES_MAX)?));
    }
    let name = args.join(" ");
    let mut child = command.spawn().unwrap();
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if since.elapsed() > HANGS {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(format!("`ao {name}` hangs"));
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let [said, complained] = [text(&mut stdout), text(&mut stderr)];
    if let Some(signal) = status.signal() {
        return Err(format!("`ao {name}` died of signal {signal}: {complained}"));
    }
    match status.code() {
        Some(PANICKED) => Err(format!("`ao {name}` panicked: {complained}")),
        Some(code) if code != 0 && said.trim().is_empty() && complained.trim().is_empty() => {
            Err(format!("`ao {name}` failed with {code} and no word"))
        }
        _ => Ok(()),
    }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
