//! The cell attacks itself.
//!
//! The process that will be the program has its walls around it and tries what a hostile program
//! would try first. Each attack is stopped by one wall and by no other, as far as that can be had:
//! a wall that is missing lets at least one of them through, and then nothing is started.
#![expect(clippy::disallowed_methods, reason = "attacks on files that were put there for them")]

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use super::confine;
use super::layer::Layer;
use super::policy::{CANARY_DIR, CANARY_FILE, OPEN_DIR, OUTSIDE_DIR, Policy, Spot};
use super::sys::{self, attempt};
use super::tier::Tier;

/// Loopback answers at once or not at all.
const CONNECT_TIME: Duration = Duration::from_millis(200);
/// Of each project.
const SECRETS_TRIED: usize = 32;
const CHANGED_MODE: u32 = 0o777;

/// One attack: the wall that must stop it, what it is called, and whether it came through.
struct Attack {
    layer: Layer,
    name: &'static str,
    came_through: fn(&Policy) -> bool,
}

macro_rules! attacks {
    ($($layer:ident $name:literal $body:expr),* $(,)?) => {
        [$(Attack { layer: Layer::$layer, name: $name, came_through: $body }),*]
    };
}

/// In every tier.
const EVERYWHERE: [Attack; 12] = attacks![
    Landlock "writing a file outside" |policy| {
        came(write(&outside(policy).join("written")))
    },
    Landlock "overwriting a file through /proc/self/root" |policy| {
        let path = outside(policy).join(CANARY_FILE);
        came(overwrite(&Path::new("/proc/self/root").join(path.strip_prefix("/").unwrap_or(&path))))
    },
    Landlock "removing a file outside" |policy| came(remove(&outside(policy).join(CANARY_FILE))),
    Seccomp "mounting" |_| came(attempt::mount(Path::new("/"))),
    Seccomp "a user namespace" |_| came(attempt::new_user_namespace()),
    Seccomp "tracing the parent" |_| came(attempt::trace(parent())),
    Seccomp "being traced" |_| came(attempt::be_traced()),
    Seccomp "io_uring" |_| came(attempt::io_uring()),
    Seccomp "a keyring" |_| came(attempt::new_keyring()),
    NoNewPrivileges "more rights by exec" |_| !matches!(rustix::thread::no_new_privs(), Ok(true)),
    Descriptors "a file that was left open" |_| has_open_file(),
    Limits "more than one process may have" |policy| {
        confine::bounds(policy).into_iter().any(|(resource, bound)| may_exceed(resource, bound))
    },
];

const TIER_A: [Attack; 14] = attacks![
    Landlock "writing where only Landlock stands" |_| came(write(&Path::new(OPEN_DIR).join("written"))),
    ReadOnly "changing a mode outside" |policy| came(change_mode(&outside(policy).join(CANARY_FILE))),
    Masks "reading what is hidden" |policy| {
        fs::read(policy.scratch.path().join(CANARY_DIR).join(CANARY_FILE)).is_ok()
    },
    Masks "looking into what is hidden" |policy| has_unmasked(policy),
    Masks "reading a secret of a project" |policy| has_uncovered(policy),
    Processes "a signal to a process outside" |policy| {
        // Even a refusal would show that there is such a process.
        attempt::signal(policy.targets.process).err().and_then(|error| error.raw_os_error())
            != Some(libc::ESRCH)
    },
    Network "a connection to a port outside" |policy| connects(policy.targets.port),
    Network "being in the network outside" |policy| shares(policy, Layer::Network),
    Ipc "shared memory of the outside" |policy| shares(policy, Layer::Ipc),
    Hostname "sharing the host name" |policy| shares(policy, Layer::Hostname),
    Capabilities "changing the root" |_| came(attempt::change_root(Path::new("/"))),
    Capabilities "changing the host name" |_| came(attempt::rename_host()),
    Overlay "a work tree that is the real one" |policy| policy.copied.as_ref().is_some_and(|copied| {
        !sys::is_overlay(copied.tree.path()).unwrap_or(false)
    }),
    Limits "more processes than allowed" |policy| {
        may_exceed(Resource::Nproc, policy.limits.processes.into())
    },
];

const TIER_B: [Attack; 6] = attacks![
    Landlock "reading what is not listed" |policy| fs::read(outside(policy).join(CANARY_FILE)).is_ok(),
    Landlock "looking into what is hidden" |policy| has_unmasked(policy),
    Landlock "an abstract socket outside" |policy| came(attempt::connect_abstract(&policy.targets.name)),
    Seccomp "changing a mode outside" |policy| came(change_mode(&outside(policy).join(CANARY_FILE))),
    Seccomp "a connection to a port outside" |policy| connects(policy.targets.port),
    Limits "processes without end" |_| getrlimit(Resource::Nproc).maximum.is_none(),
];

/// Tries them all. Gives how many there were, and which came through.
pub(super) fn attack(policy: &Policy) -> (u32, Vec<(Layer, String)>) {
    let of_tier: &[Attack] = if policy.tier == Tier::A { &TIER_A } else { &TIER_B };
    let mut tried = 0;
    let mut through = Vec::new();
    if !has_targets(policy) {
        // An attack on nothing fails, whatever stands or does not stand in its way.
        through.push((
            Layer::Masks,
            "nothing to attack: every attack would fail, and none".to_owned(),
        ));
    }
    for attack in EVERYWHERE.iter().chain(of_tier) {
        tried += 1;
        if (attack.came_through)(policy) {
            through.push((attack.layer, attack.name.to_owned()));
        }
    }
    (tried, through)
}

#[expect(clippy::needless_pass_by_value, reason = "what came of an attack is looked at once")]
fn came<T>(result: io::Result<T>) -> bool {
    result.is_ok()
}

/// Tier A: what is attacked can be seen. (In tier B it cannot, and the engine made it just now.)
fn has_targets(policy: &Policy) -> bool {
    policy.tier != Tier::A
        || (fs::read(Path::new(OUTSIDE_DIR).join(CANARY_FILE)).is_ok()
            && Path::new(OPEN_DIR).is_dir())
}

/// The folder outside that belongs to this cell and to nobody in it.
fn outside(policy: &Policy) -> std::path::PathBuf {
    match policy.tier {
        Tier::A => OUTSIDE_DIR.into(),
        _ => policy.scratch.path().join(CANARY_DIR),
    }
}

fn parent() -> i32 {
    rustix::process::getppid().map_or(1, |parent| parent.as_raw_nonzero().get())
}

fn write(path: &Path) -> io::Result<()> {
    fs::write(path, "escaped")
}

fn overwrite(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(path).map(drop)
}

fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

fn change_mode(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(CHANGED_MODE))
}

fn connects(port: u16) -> bool {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    TcpStream::connect_timeout(&address.into(), CONNECT_TIME).is_ok()
}

fn shares(policy: &Policy, layer: Layer) -> bool {
    policy.targets.namespaces.iter().any(|(named, outer)| {
        *named == layer && super::start::namespace(layer).is_none_or(|inner| inner == *outer)
    })
}

/// A hidden folder has nothing in it but the way to what is shown, and a hidden file no bytes.
fn has_unmasked(policy: &Policy) -> bool {
    let copied = || policy.copied.iter().map(|copied| &copied.tree);
    let folders = || policy.toolchains.iter().map(|chain| &chain.folder);
    let trees = || policy.covers.iter().map(|cover| &cover.tree).chain(copied()).chain(folders());
    let links = || policy.links.iter().map(|(link, _)| link);
    let named = || policy.shown.iter().chain(&policy.writable).chain(trees()).chain(links());
    let shown = || named().map(Spot::path).chain([policy.directory.path()]);
    let is_a_way = |path: &Path| shown().any(|shown| shown.starts_with(path));
    policy.masks.iter().map(Spot::path).any(|mask| {
        let mut entries = fs::read_dir(mask).into_iter().flatten().flatten();
        entries.any(|entry| !is_a_way(&entry.path()))
            || fs::read(mask).is_ok_and(|bytes| !bytes.is_empty())
    })
}

/// The first names that are hidden in each project. Where no cover can be laid, an empty file stands for
/// each that was there.
fn has_uncovered(policy: &Policy) -> bool {
    let can_be_read = |path: &Path| {
        fs::read(path).is_ok_and(|bytes| !bytes.is_empty())
            || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
    };
    policy
        .covers
        .iter()
        .any(|cover| cover.found().take(SECRETS_TRIED).any(|path| can_be_read(&path)))
}

fn may_exceed(resource: Resource, bound: u64) -> bool {
    getrlimit(resource).maximum.is_none_or(|most| most > bound)
}

/// Any descriptor that a program would get, beyond its three streams.
fn has_open_file() -> bool {
    let Ok(entries) = fs::read_dir("/proc/self/fdinfo") else { return true };
    let numbers =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2).collect::<Vec<_>>() {
        let Ok(info) = fs::read_to_string(format!("/proc/self/fdinfo/{number}")) else { continue };
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok()).unwrap_or(0);
        if flags & libc::O_CLOEXEC == 0 {
            return true;
        }
    }
    false
}
