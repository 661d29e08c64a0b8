//! A directory as a value: read it, compare it, put it back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A difference longer than this says nothing more.
const DIFFERENCES_MAX: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    File(Vec<u8>),
    Dir,
    /// Symlinks and special files: none of them is ever expected.
    Other,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) modified: SystemTime,
}

/// Everything beneath a directory, by its path relative to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree(pub(crate) BTreeMap<String, Node>);

impl Tree {
    /// Reads all of it, but not what is beneath the relative path `except`.
    pub(crate) fn read(root: &Path, except: Option<&str>) -> Self {
        let mut tree = Self::default();
        tree.read_dir(root, "", except);
        tree
    }

    fn read_dir(&mut self, dir: &Path, prefix: &str, except: Option<&str>) {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if Some(path.as_str()) == except {
                continue;
            }
            let stat = entry.metadata().unwrap();
            let kind = if stat.is_file() {
                Kind::File(fs::read(entry.path()).unwrap())
            } else if stat.is_dir() {
                self.read_dir(&entry.path(), &format!("{path}/"), except);
                Kind::Dir
            } else {
                Kind::Other
            };
            let node = Node {
                kind,
                mode: stat.mode() & 0o7777,
                inode: stat.ino(),
                links: stat.nlink(),
                modified: stat.modified().unwrap(),
            };
            self.0.insert(path, node);
        }
    }

    /// Makes the tree in an empty directory, modes and modification times as they were read.
    pub(crate) fn write(&self, root: &Path) {
        for (path, node) in &self.0 {
            let path = root.join(path);
            match &node.kind {
                Kind::File(bytes) => {
                    fs::write(&path, bytes).unwrap();
                    set_facts(&path, node);
                }
                Kind::Dir => fs::create_dir(&path).unwrap(),
                Kind::Other => panic!("{} cannot be written", path.display()),
            }
        }
        // Last and bottom-up: filling a directory changes its time, and a mode may forbid it.
        for (path, node) in self.0.iter().rev().filter(|(_, node)| node.kind == Kind::Dir) {
            set_facts(&root.join(path), node);
        }
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<&[u8]> {
        match self.0.get(path).map(|node| &node.kind) {
            Some(Kind::File(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The part beneath (and at) a relative path.
    pub(crate) fn beneath(&self, path: &str) -> Self {
        let inside = |name: &str| {
            name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let part = self.0.iter().filter(|(name, _)| inside(name));
        Self(part.map(|(name, node)| (name.clone(), node.clone())).collect())
    }

    /// Without directories that hold no file.
    pub(crate) fn without_empty_dirs(&self) -> Self {
        let files: Vec<_> = self.0.iter().filter(|(_, node)| node.kind != Kind::Dir).collect();
        let holds = |dir: &str| {
            let prefix = format!("{dir}/");
            files.iter().any(|(path, _)| path.starts_with(&prefix))
        };
        let kept = self.0.iter().filter(|(path, node)| node.kind != Kind::Dir || holds(path));
        Self(kept.map(|(path, node)| (path.clone(), node.clone())).collect())
    }

    /// What differs in names, kinds, bytes and modes; empty when nothing does.
    pub(crate) fn difference(&self, actual: &Self) -> String {
        let mut lines = Vec::new();
        for (path, node) in &self.0 {
            match actual.0.get(path) {
                None => lines.push(format!("missing {path}")),
                Some(other) if other.kind != node.kind => lines.push(format!(
                    "content of {path}: expected {}, found {}",
                    brief(&node.kind),
                    brief(&other.kind)
                )),
                Some(other) if other.mode != node.mode => lines.push(format!(
                    "mode of {path}: expected {:o}, found {:o}",
                    node.mode, other.mode
                )),
                Some(_) => {}
            }
        }
        for path in actual.0.keys().filter(|path| !self.0.contains_key(*path)) {
            lines.push(format!("unexpected {path}"));
        }
        shorten(lines)
    }

    /// Files whose inode or modification time is not the one they had, of those `kept` names.
    pub(crate) fn disturbed(&self, actual: &Self, kept: impl Fn(&str) -> bool) -> String {
        let mut lines = Vec::new();
        for (path, node) in &self.0 {
            let Some(other) = actual.0.get(path) else { continue };
            if matches!(node.kind, Kind::File(_)) && kept(path) {
                if node.inode != other.inode {
                    lines.push(format!("inode of {path}: {} became {}", node.inode, other.inode));
                }
                if node.modified != other.modified {
                    lines.push(format!("modification time of {path} changed"));
                }
            }
        }
        shorten(lines)
    }

    /// Regular files with more than one name.
    pub(crate) fn linked(&self) -> String {
        let several =
            self.0.iter().filter(|(_, node)| matches!(node.kind, Kind::File(_)) && node.links != 1);
        shorten(several.map(|(path, node)| format!("{path} has {} links", node.links)).collect())
    }
}

fn set_facts(path: &Path, node: &Node) {
    fs::set_permissions(path, Permissions::from_mode(node.mode)).unwrap();
    let times = FileTimes::new().set_accessed(node.modified).set_modified(node.modified);
    File::open(path).unwrap().set_times(times).unwrap();
}

/// A fixed moment, long ago: a file that is touched no longer has it.
pub(crate) fn long_ago(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000 + seconds)
}

fn brief(kind: &Kind) -> String {
    const SHOWN_MAX: usize = 60;
    match kind {
        Kind::File(bytes) => {
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_MAX)]);
            format!("{} bytes {shown:?}", bytes.len())
        }
        other => format!("{other:?}"),
    }
}

fn shorten(lines: Vec<String>) -> String {
    let count = lines.len();
    let mut text = String::new();
    for line in lines.into_iter().take(DIFFERENCES_MAX) {
        let _ = writeln!(text, "  {line}");
    }
    if count > DIFFERENCES_MAX {
        let _ = writeln!(text, "  and {} more", count - DIFFERENCES_MAX);
    }
    text
}
