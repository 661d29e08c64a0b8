//! Secrets that somebody makes, renames or swaps outside while an attacker waits for them.
//!
//! The attacker says that it is there in a folder that it may write (`$SYNC`); then the change is made outside,
//! and it is told so.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::attack::{Attack, Means, Place, Proof, Site};

/// What happens outside, on the ground of the attack.
pub(crate) type Change = fn(&Path, &str);
type Row = (&'static str, Change, &'static str);

/// Longer than an attacker takes to be there.
const PATIENCE: Duration = Duration::from_mins(1);
const OFTEN: Duration = Duration::from_millis(2);

/// What each attacker does before and after.
const READY: &str = "echo x > $SYNC/ready; while [ ! -e $SYNC/go ]; do sleep 0.01; done; ";

const HOME: [Row; 9] = [
    (
        "a login of git that comes",
        |g, s| make(g, "home/.git-credentials", s),
        "cat $REAL_HOME/.git-credentials",
    ),
    ("a .netrc that comes", |g, s| make(g, "home/.netrc", s), "cat $REAL_HOME/.netrc"),
    (
        "a folder of keys that comes",
        |g, s| make(g, "home/.aws/credentials", s),
        "cat $REAL_HOME/.aws/credentials",
    ),
    (
        "a token beside a cache",
        |g, s| make(g, "home/.cargo/credentials.toml", s),
        "cat $REAL_HOME/.cargo/credentials.toml",
    ),
    (
        "a token of an unknown program",
        |g, s| make(g, "home/.unknown/token", s),
        "cat $REAL_HOME/.unknown/token",
    ),
    (
        "a login that is swapped",
        |g, s| swap(g, "home/.claude.json", s),
        "cat $REAL_HOME/.claude.json",
    ),
    ("a folder of keys that is swapped", swap_keys, "cat $REAL_HOME/.ssh/id"),
    ("a folder of keys that is renamed", rename_keys, "cat $REAL_HOME/keys/id"),
    (
        "the identity of a vault that comes",
        |g, s| make(g, "home/.config/ao/identity.txt", s),
        "cat $REAL_HOME/.config/ao/identity.txt",
    ),
];

const PROJECT: [Row; 5] = [
    ("an environment that comes", |g, s| make(g, "work/.env.local", s), "cat $W/.env.local"),
    ("an environment that is swapped", |g, s| swap(g, "work/.env", s), "cat $W/.env"),
    ("an environment that is renamed", rename_environment, "cat $W/.env.production"),
    ("an environment in a deeper folder", |g, s| make(g, "work/src/.env", s), "cat $W/src/.env"),
    (
        "a key of the project that is swapped",
        |g, s| swap(g, "work/src/server.pem", s),
        "cat $W/src/server.pem",
    ),
];

const IN_TMP: [Row; 2] = [
    (
        "in /tmp: an environment that comes",
        |g, s| make(g, "work/.env.local", s),
        "cat $W/.env.local",
    ),
    ("in /tmp: an environment that is swapped", |g, s| swap(g, "work/.env", s), "cat $W/.env"),
];

const COPIED: [Row; 3] = [
    ("copy: an environment that comes", |g, s| make(g, "work/.env.local", s), "cat $W/.env.local"),
    ("copy: an environment that is swapped", |g, s| swap(g, "work/.env", s), "cat $W/.env"),
    ("copy: a login that comes", |g, s| make(g, "home/.netrc", s), "cat $REAL_HOME/.netrc"),
];

fn make(ground: &Path, name: &str, secret: &str) {
    let path = ground.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{secret}\n")).unwrap();
}

fn swap(ground: &Path, name: &str, secret: &str) {
    make(ground, "fresh", secret);
    fs::rename(ground.join("fresh"), ground.join(name)).unwrap();
}

fn swap_keys(ground: &Path, secret: &str) {
    fs::rename(ground.join("home/.ssh"), ground.join("home/.ssh-old")).unwrap();
    make(ground, "home/.ssh/id", secret);
}

fn rename_keys(ground: &Path, _: &str) {
    fs::rename(ground.join("home/.ssh"), ground.join("home/keys")).unwrap();
}

fn rename_environment(ground: &Path, _: &str) {
    fs::rename(ground.join("work/.env"), ground.join("work/.env.production")).unwrap();
}

fn rows(rows: &'static [Row], place: Place, site: Site) -> impl Iterator<Item = Attack> {
    rows.iter().map(move |(name, change, script)| Attack {
        group: "secrets that come",
        name,
        means: Means::Shell(script),
        place,
        site,
        proof: Proof::Said,
        options: &[],
        meanwhile: Some(*change),
    })
}

pub(crate) fn attacks() -> Vec<Attack> {
    let mut all: Vec<Attack> = rows(&HOME, Place::Pass, Site::Open).collect();
    all.extend(rows(&PROJECT, Place::Pass, Site::Open));
    all.extend(rows(&IN_TMP, Place::Pass, Site::Temporary));
    all.extend(rows(&COPIED, Place::Worker, Site::Open));
    all
}

/// The attacker's script with the waiting in it.
pub(crate) fn waiting(script: &str) -> String {
    format!("{READY}{script}")
}

/// Makes the change when the attacker is there, and tells it so.
pub(crate) fn act(ground: &Path, secret: &str, change: Change) {
    let since = Instant::now();
    while !ground.join("sync/ready").exists() {
        if since.elapsed() > PATIENCE {
            return;
        }
        std::thread::sleep(OFTEN);
    }
    change(ground, secret);
    // All that is new belongs to whoever is attacked.
    crate::ground::open_to_all(&ground.join("home"));
    crate::ground::open_to_all(&ground.join("work"));
    fs::write(ground.join("sync/go"), "").unwrap();
}
