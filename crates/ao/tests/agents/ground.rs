//! The ground that an agent stands on: a repository with a scope, and beside it what is none of its
//! business. All of it can be seen by the agent, so that only the cell keeps it from writing there.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::user::User;

/// A cell has these to itself.
const HIDDEN: [&str; 2] = ["/tmp", "/var/tmp"];

pub(crate) struct Ground {
    dir: TempDir,
    home: TempDir,
    pub(crate) user: User,
    /// Somebody on this machine who was not granted.
    elsewhere: TcpListener,
}

/// What can be seen of one file, folder or link from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) content: String,
    pub(crate) links: u64,
    mode: u32,
    owner: u32,
    inode: u64,
    modified: (i64, i64),
}

impl Ground {
    pub(crate) fn new(user: User) -> Self {
        // Not in the folder for temporary files: a cell hides that, and so would prove less.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let dir = tempfile::Builder::new().prefix("agents-").tempdir_in(folder).unwrap();
        // A checkout in a folder that a cell hides is shown to whoever works in it, unless it holds a home.
        let is_hidden = HIDDEN.iter().any(|hidden| folder.starts_with(hidden));
        let beside = if is_hidden { Path::new(HIDDEN[1]) } else { folder };
        let home = tempfile::Builder::new().prefix("agents-home-").tempdir_in(beside).unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let elsewhere = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let ground = Self { dir, home, user, elsewhere };
        for folder in ["repo/scope", "outside"] {
            fs::create_dir_all(ground.path(folder)).unwrap();
        }
        fs::write(ground.path("repo/kept.txt"), "kept\n").unwrap();
        fs::write(ground.path("outside/there.txt"), "there\n").unwrap();
        fs::write(ground.path("home/.profile"), "profile\n").unwrap();
        symlink("../../outside", ground.path("repo/scope/old-link")).unwrap();
        ground.git(&["init", "-q"]);
        ground.git(&["config", "user.name", "somebody"]);
        ground.git(&["config", "user.email", "somebody@example.com"]);
        ground.git(&["add", "kept.txt"]);
        ground.git(&["commit", "-q", "-m", "first"]);
        fs::create_dir_all(ground.path("repo/.git/hooks")).unwrap();
        user.owns(ground.dir.path());
        user.owns(ground.home.path());
        ground
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match Path::new(name).strip_prefix("home") {
            Ok(inner) if inner.as_os_str().is_empty() => self.home.path().to_owned(),
            Ok(inner) => self.home.path().join(inner),
            Err(_) => self.dir.path().join(name),
        }
    }

    /// No other ground has it.
    pub(crate) fn name(&self) -> &str {
        self.dir.path().file_name().unwrap().to_str().unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.elsewhere.local_addr().unwrap().port()
    }

    pub(crate) fn was_connected_to(&self) -> bool {
        self.elsewhere.accept().is_ok()
    }

    /// All files, folders and links with everything but the times of folders.
    pub(crate) fn everything(&self) -> BTreeMap<String, Entry> {
        let mut found = BTreeMap::new();
        walk(self.dir.path(), "", &mut found);
        let mut home = BTreeMap::new();
        walk(self.home.path(), "", &mut home);
        // An agent without a cell has its own files here.
        let profile = home.remove(".profile").map(|entry| ("home/.profile".to_owned(), entry));
        found.extend(profile);
        found
    }

    pub(crate) fn commits(&self) -> usize {
        self.git(&["log", "--oneline"]).lines().count()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.path("repo")).args(["-c", "safe.directory=*"]).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_OPTIONAL_LOCKS", "0");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What runs here or was started from here.
    pub(crate) fn processes(&self) -> Vec<String> {
        self.pids().into_iter().map(|(_, what)| what).collect()
    }

    fn pids(&self) -> Vec<(i32, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let Ok(pid) = name.parse() else { continue };
            let line = fs::read(folder.join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let is_here =
                fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd.starts_with(self.dir.path()));
            if is_here || line.contains(self.name()) {
                found.push((pid, line));
            }
        }
        found
    }

    /// After a run without a cell.
    pub(crate) fn end_what_is_left(&self) {
        for (pid, _) in self.pids() {
            // It may have ended by itself.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

fn walk(root: &Path, under: &str, found: &mut BTreeMap<String, Entry>) {
    for entry in fs::read_dir(root.join(under)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        // An agent that ends removes its own temporary files while this looks.
        let Ok(seen) = fs::symlink_metadata(&path) else { continue };
        let content = if seen.is_symlink() {
            fs::read_link(&path).unwrap().to_str().unwrap().to_owned()
        } else if seen.is_file() {
            let Ok(bytes) = fs::read(&path) else { continue };
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            String::new()
        };
        // A folder has a link for each folder in it, and the time of its last entry.
        let (links, modified) = if seen.is_dir() {
            (0, (0, 0))
        } else {
            (seen.nlink(), (seen.mtime(), seen.mtime_nsec()))
        };
        let (mode, owner, inode) = (seen.mode(), seen.uid(), seen.ino());
        if seen.is_dir() {
            walk(root, &name, found);
        }
        found.insert(name, Entry { content, links, mode, owner, inode, modified });
    }
}
