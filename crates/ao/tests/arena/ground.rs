//! A place to be attacked: files, a repository, a home, listeners, and a process.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::attack::Site;
use crate::outside::Listeners;
use crate::raw::{self, Queue, Shared};

const ORDINARY: u32 = 1000;
const SET_ID: u32 = 0o6000;
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
const SETTLED_IN: Duration = Duration::from_mins(1);
/// What an attacker puts where it may write, and should not be able to.
const PLANTED: &str = "work/out/planted";

/// What holds the secret.
const SECRETS: [&str; 8] = [
    "home/.ssh/id",
    "home/.claude.json",
    "home/.of-nobody/token",
    "home/.config/opencode/auth.json",
    "home/.local/share/opencode/auth.json",
    "work/.agents/overnight/run.lock",
    "work/.env",
    "work/src/server.pem",
];

/// Whose everything is, and who attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Ordinary,
    This,
}

pub(crate) type Seen = BTreeMap<String, String>;

pub(crate) struct Ground {
    root: PathBuf,
    owner: Owner,
    pub(crate) secret: String,
    listeners: Listeners,
    shared: Shared,
    queue: Queue,
    victim: Child,
    /// Where the victim has its secret: address and length.
    memory: (String, String),
    left_open: File,
    mark: String,
    nap: String,
    left: Cell<usize>,
}

impl Ground {
    pub(crate) fn make(owner: Owner, site: Site) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mark = format!("arena-{}-{number}", std::process::id());
        let root = match site {
            Site::Open => base(),
            Site::Temporary => PathBuf::from("/tmp"),
        };
        let root = root.join(format!("ground-{mark}"));
        let secret = format!("s3cr3t-{mark}");
        furnish(&root, &secret);
        let victim_dir = root.join("victim");
        let listeners = Listeners::open(
            victim_dir.to_str().unwrap(),
            root.join("work").to_str().unwrap(),
            &mark,
        );
        let shared = Shared::make();
        let queue = Queue::make(&format!("/{mark}"));
        if owner == Owner::Ordinary && nix::unistd::geteuid().is_root() {
            give(&root);
            if let Some(path) = listeners.terminal() {
                lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
            }
        }
        let left_open = File::options().append(true).open(victim_dir.join("left-open")).unwrap();
        raw::leave_open(left_open.as_raw_fd());
        let mut command = Command::new(arena());
        command
            .arg("victim")
            .env_clear()
            .env("ARENA_SECRET", &secret)
            .env("ARENA_KEY", root.join("home/.ssh/id"))
            .env("ARENA_HELD", victim_dir.join("held"))
            .current_dir(&victim_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        become_owner(owner, &mut command);
        let mut victim = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(victim.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (at, length) = line.trim().split_once(' ').unwrap();
        let memory = (at.to_owned(), length.to_owned());
        let nap = format!("{}.{number:06}", 100_000 + std::process::id() % 100_000);
        let left = Cell::new(0);
        Self {
            root,
            owner,
            secret,
            listeners,
            shared,
            queue,
            victim,
            memory,
            left_open,
            mark,
            nap,
            left,
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn as_owner(&self, command: &mut Command) {
        become_owner(self.owner, command);
    }

    /// What an attacker is told. The secret is not among it.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let mut variables: Vec<(String, String)> = [
            ("V", self.path("victim")),
            ("W", self.path("work")),
            ("OUT", self.path("work/out")),
            ("SYNC", self.path("sync")),
            ("REAL_HOME", self.path("home")),
            ("VICTIM", self.victim.id().to_string()),
            ("MEMORY", self.memory.0.clone()),
            ("LENGTH", self.memory.1.clone()),
            ("MARK", self.mark.clone()),
            ("NAP", self.nap.clone()),
            ("TERMINAL", self.listeners.terminal().unwrap_or("/nowhere").to_owned()),
            ("SHARED", self.shared.memory.to_string()),
            ("MESSAGES", self.shared.messages.to_string()),
            ("SEMAPHORES", self.shared.semaphores.to_string()),
            ("QUEUE", self.queue.name.clone()),
            ("LEFT_OPEN", self.left_open.as_raw_fd().to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        variables.extend(self.listeners.ports());
        variables
    }

    /// Everything that can be seen of it from outside.
    pub(crate) fn observe(&mut self) -> Seen {
        let mut seen = Seen::new();
        look(&self.root, &self.root, &mut seen);
        for folder in PRIVATE {
            let found = Path::new(folder).join(&self.mark).exists();
            seen.insert(format!("{folder}/MARK"), found.to_string());
        }
        for (name, count) in self.listeners.seen() {
            seen.insert(name, count.to_string());
        }
        seen.insert("System V objects".to_owned(), self.shared.seen());
        seen.insert("message queue".to_owned(), self.queue.seen());
        self.settle();
        let id = self.victim.id();
        let read =
            |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
        let stat = read("stat");
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default().to_owned();
        let state = field(0);
        let is_up = ["S", "R", "D"].contains(&state.as_str());
        seen.insert("process: state".to_owned(), if is_up { "up".to_owned() } else { state });
        seen.insert("process: nice".to_owned(), field(16));
        seen.insert("process: policy".to_owned(), field(38));
        seen.insert("process: bounds".to_owned(), read("limits"));
        seen.insert("process: oom".to_owned(), read("oom_score_adj"));
        let status = read("status");
        let processors = status.lines().find(|line| line.starts_with("Cpus_allowed:"));
        seen.insert("process: processors".to_owned(), processors.unwrap_or_default().to_owned());
        let io = raw::call(libc::SYS_ioprio_get, [1, id as usize, 0, 0, 0, 0]).unwrap_or(0);
        seen.insert("process: io priority".to_owned(), io.to_string());
        seen
    }

    /// Waits until it shows what became of the victim: a signal that was sent is first pending and
    /// then acted upon, both of which take time on a busy machine. One that nothing happened to sleeps.
    fn settle(&self) {
        let since = Instant::now();
        while since.elapsed() < SETTLED_IN {
            let file = format!("/proc/{}/status", self.victim.id());
            let status = fs::read_to_string(file).unwrap_or_default();
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_default().trim().to_owned()
            };
            let is_pending = ["SigPnd:", "ShdPnd:"]
                .iter()
                .any(|name| field(name).contains(|digit: char| digit != '0'));
            let is_moving = ["R", "D"].iter().any(|state| field("State:").starts_with(state));
            if !is_pending && !is_moving || field("State:").starts_with(['Z', 'X', 'T', 't']) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn differences(&self, before: &Seen, after: &Seen) -> Vec<String> {
        let mut changes: Vec<String> = before
            .iter()
            .filter(|(name, value)| after.get(*name) != Some(value))
            .map(|(name, _)| name.clone())
            .collect();
        changes.extend(after.keys().filter(|name| !before.contains_key(*name)).cloned());
        if self.left.get() > 0 {
            changes.push(format!("{} processes left", self.left.get()));
        }
        changes
    }

    fn nappers(&self) -> Vec<i32> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let is_ours = String::from_utf8_lossy(&line).split('\0').any(|word| word == self.nap);
            let id = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            found.extend(id.filter(|_| is_ours));
        }
        found
    }

    /// Counts what an attacker left running.
    pub(crate) fn note_left(&self) {
        self.left.set(self.nappers().len());
    }

    pub(crate) fn end_left(&self) {
        for id in self.nappers() {
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.end_left();
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        for folder in PRIVATE {
            let _ = fs::remove_file(Path::new(folder).join(&self.mark));
        }
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn furnish(root: &Path, secret: &str) {
    let folders = [
        "victim/empty",
        "victim/deep/er",
        "work/out",
        "work/src",
        "work/.git/hooks",
        "work/.git/refs/heads",
        "work/.git/info",
        "work/.agents/learnings",
        "work/.agents/overnight",
        "home/.ssh",
        "home/.of-nobody",
        "home/.cargo/registry",
        "home/.config/opencode",
        "home/.local/share/opencode",
        "sync",
    ];
    for folder in folders {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let files = [
        ("victim/file", "victim\n"),
        ("victim/held", "held\n"),
        ("victim/left-open", "open\n"),
        ("victim/deep/er/file", "deep\n"),
        ("victim/twin", "twin\n"),
        ("work/src/main.c", "int main;\n"),
        ("work/.git/HEAD", "ref: refs/heads/main\n"),
        ("work/.git/config", "[core]\n\tbare = false\n"),
        ("work/.git/refs/heads/main", "1111111111111111111111111111111111111111\n"),
        ("work/.git/info/exclude", "out\n"),
        ("work/.agents/learnings/a.md", "# a\n"),
        ("home/.profile", "\n"),
    ];
    for (name, text) in files {
        fs::write(root.join(name), text).unwrap();
    }
    for name in SECRETS {
        fs::write(root.join(name), format!("{secret}\n")).unwrap();
    }
    fs::hard_link(root.join("victim/twin"), root.join("work/second")).unwrap();
    for name in ["victim/fifo", "work/pipe"] {
        nix::unistd::mkfifo(&root.join(name), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    symlink(root.join("victim/file"), root.join("work/out/to-file")).unwrap();
    symlink(root.join("victim"), root.join("work/out/to-folder")).unwrap();
    put_device(&root.join("work/device"));
    raw::set_attribute(root.join("victim/file").to_str().unwrap(), "user.keep", "1").unwrap();
}

/// One that takes everything and gives nothing, where devices can be made and used at all.
fn put_device(path: &Path) {
    use nix::sys::stat::{Mode, SFlag, makedev, mknod};
    let is_made = mknod(path, SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 5)).is_ok();
    if is_made && File::options().write(true).open(path).is_err() {
        fs::remove_file(path).unwrap();
    }
}

/// All there is to see of every file, but for what lies where an attacker may write. There only a
/// file that lends its owner's rights counts.
fn look(root: &Path, path: &Path, seen: &mut Seen) {
    let found = fs::symlink_metadata(path).unwrap();
    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
    if name.starts_with("sync") {
        return;
    }
    if name.starts_with("work/out") && name != PLANTED {
        if found.is_file() && found.mode() & SET_ID != 0 {
            seen.insert(format!("{name} lends rights"), String::new());
        }
    } else {
        let bytes = if found.is_file() { fs::read(path).unwrap() } else { Vec::new() };
        let text = format!(
            "{:o} {} {} {} {}.{} {}.{} {:?} {:?} {:?}",
            found.mode(),
            found.uid(),
            found.gid(),
            found.nlink(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
            String::from_utf8_lossy(&bytes),
            fs::read_link(path).ok(),
            raw::attributes(path.to_str().unwrap()),
        );
        seen.insert(name, text);
    }
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            look(root, &entry.unwrap().path(), seen);
        }
    }
}

fn give(path: &Path) {
    lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
    if fs::symlink_metadata(path).unwrap().is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

/// Everybody may read it: it is what an attacker without a cell could read.
pub(crate) fn open_to_all(path: &Path) {
    if nix::unistd::geteuid().is_root()
        && fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink())
    {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        if fs::metadata(path).is_ok_and(|found| found.uid() == 0) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            open_to_all(&entry.path());
        }
    }
}

fn become_owner(owner: Owner, command: &mut Command) {
    if owner == Owner::Ordinary && nix::unistd::geteuid().is_root() {
        command.uid(ORDINARY).gid(ORDINARY);
    }
}

/// A folder that every user can reach and that no cell hides.
fn base() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let is_hidden = PRIVATE.iter().any(|private| built.starts_with(private));
    if is_for_all(&built) && !is_hidden || !nix::unistd::geteuid().is_root() {
        return built;
    }
    let base = PathBuf::from("/var/lib/ao-arena");
    fs::create_dir_all(&base).unwrap();
    base
}

fn is_for_all(path: &Path) -> bool {
    let is_open = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o5 == 0o5;
    path.ancestors().all(is_open)
}

static AO: OnceLock<PathBuf> = OnceLock::new();
static ARENA: OnceLock<PathBuf> = OnceLock::new();

pub(crate) fn arena() -> &'static Path {
    for_all(std::env::current_exe().unwrap().to_str().unwrap(), &ARENA)
}

pub(crate) fn ao() -> &'static Path {
    for_all(env!("CARGO_BIN_EXE_ao"), &AO)
}

/// A binary at a place that every user can reach.
fn for_all(built: &str, cell: &'static OnceLock<PathBuf>) -> &'static Path {
    cell.get_or_init(|| {
        let built = PathBuf::from(built);
        if is_for_all(&built) || !nix::unistd::geteuid().is_root() {
            return built;
        }
        // The same binary is copied once.
        let found = fs::metadata(&built).unwrap();
        let copy = base().join(format!(
            "{}-{}-{}",
            built.file_name().unwrap().display(),
            found.ino(),
            found.mtime()
        ));
        if !copy.exists() {
            let fresh = base().join(format!("fresh-{}", std::process::id()));
            fs::copy(&built, &fresh).unwrap();
            fs::rename(&fresh, &copy).unwrap();
        }
        copy
    })
}
