//! What cannot be held: one walk over the held parts that reads no file's bytes.
//!
//! Only the paths that an edit names are looked at more closely; what the walk finds is told, and no
//! edit may touch it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use crate::door::{Door, is_absent};
use crate::error::{Error, Result};
use crate::fs::{Entry, Fs, Kind, Stat};
use crate::path::{DEPTH_MAX, TreePath, fold, shown};

/// More entries than this are not one person's knowledge.
const ENTRIES_MAX: usize = 2_000_000;

/// An entry that the door cannot hold: it stays as it is, and no edit may touch it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// For people: names that are not text are shown escaped.
    pub path: String,
    pub why: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Survey {
    pub(crate) left: Vec<Left>,
    /// The paths of `left` that an edit could spell.
    blocked: BTreeMap<String, String>,
    /// Of all that is there: another one tells that somebody changed something.
    pub(crate) print: u64,
}

impl Survey {
    fn add(&mut self, entry: &Entry) {
        let stat = &entry.stat;
        let mut hasher = DefaultHasher::new();
        (&entry.name, stat.inode, stat.size, stat.modified_ns, stat.mode).hash(&mut hasher);
        // A sum: a listing has no order.
        self.print = self.print.wrapping_add(hasher.finish());
    }

    /// Why no edit may touch this path, if so.
    pub(crate) fn blocked(&self, path: &TreePath) -> Option<String> {
        let text = path.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at).chain([text.len()]);
        ends.filter_map(|end| self.blocked.get(&text[..end]).map(|why| (end, why)))
            .map(|(end, why)| format!("{} {why}", &text[..end]))
            .next()
    }

    fn leave(&mut self, label: &str, path: String, why: &str) {
        self.left.push(Left { path: label.to_owned(), why: why.to_owned() });
        self.blocked.insert(path, why.to_owned());
    }
}

impl<F: Fs> Door<F> {
    /// Walks the held parts. Where a door holds whatever is named, there is nothing to walk.
    pub(crate) fn survey(&self) -> Result<Survey> {
        let mut walk = Walk { door: self, found: Survey::default(), entries: 0 };
        for held in self.layout.parts() {
            walk.part(&held.path, held.is_dir)?;
        }
        Ok(walk.found)
    }

    /// Why an entry stays as it is, if so.
    pub(crate) fn unholdable(&self, stat: &Stat) -> Option<&'static str> {
        match stat.kind {
            _ if stat.is_mount_point => {
                Some("is a mount point, and a commit cannot reach across it")
            }
            _ if stat.device != self.device => {
                Some("is on another device, and a commit cannot reach across it")
            }
            Kind::Symlink => Some("is a symlink"),
            Kind::Special => Some("is a FIFO, socket or device"),
            Kind::File if stat.links > 1 => Some("is a hard link: it has another name"),
            _ if stat.is_fixed => Some("is immutable"),
            Kind::File if self.user.is_some_and(|user| user != stat.owner) => {
                Some("belongs to another user")
            }
            Kind::File | Kind::Dir => None,
        }
    }
}

struct Walk<'a, F: Fs> {
    door: &'a Door<F>,
    found: Survey,
    entries: usize,
}

impl<F: Fs> Walk<'_, F> {
    fn part(&mut self, path: &TreePath, is_dir: bool) -> Result<()> {
        let fs = &self.door.fs;
        let mut dir = fs.top();
        let mut walked = String::new();
        let mut names = path.names().peekable();
        while let Some(name) = names.next() {
            if !walked.is_empty() {
                walked.push('/');
            }
            walked.push_str(name);
            let looked =
                fs.stat(&dir, OsStr::new(name)).map_err(Error::io(format!("look at {walked}")))?;
            let Some(stat) = looked else { return Ok(()) };
            let is_dir = is_dir || names.peek().is_some();
            let why = match self.door.unholdable(&stat) {
                Some(why) if is_dir && stat.kind != Kind::Dir => format!("{why}, not a directory"),
                Some(why) => why.to_owned(),
                None if is_dir && stat.kind != Kind::Dir => "is a file, not a directory".to_owned(),
                None if !is_dir && stat.kind == Kind::Dir => {
                    "is a directory, not a file".to_owned()
                }
                None if !is_dir => return Ok(()),
                None => {
                    dir = match fs.open_dir(&dir, OsStr::new(name)) {
                        Err(error) if is_absent(&error) => return Ok(()),
                        opened => opened.map_err(Error::io(format!("open {walked}")))?,
                    };
                    continue;
                }
            };
            self.found.leave(&walked, walked.clone(), &why);
            return Ok(());
        }
        self.folder(&dir, path.as_str(), 0)
    }

    fn folder(&mut self, dir: &F::Dir, path: &str, depth: usize) -> Result<()> {
        let listed = self.door.fs.list(dir).map_err(Error::io(format!("list {}", shown(path))))?;
        self.count(listed.len(), path)?;
        self.look_for_collisions(&listed, path);
        for entry in listed {
            if entry.stat.kind != Kind::Dir {
                self.found.add(&entry);
            }
            if !self.holds(&entry, path, depth) || entry.stat.kind != Kind::Dir {
                continue;
            }
            let inner_path = join(path, &entry.name);
            match self.door.fs.open_dir(dir, &entry.name) {
                // It went since the listing was read: as if it had gone before.
                Err(error) if is_absent(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.found.leave(&shown(&inner_path), inner_path, "may not be read");
                }
                opened => {
                    let inner =
                        opened.map_err(Error::io(format!("open {}", shown(&inner_path))))?;
                    self.folder(&inner, &inner_path, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, more: usize, path: &str) -> Result<()> {
        self.entries += more;
        if self.entries <= ENTRIES_MAX {
            return Ok(());
        }
        Err(Error::Unfit {
            path: shown(path),
            why: format!("more than {ENTRIES_MAX} entries"),
            remedy: "keep generated files out of the held folders".into(),
        })
    }

    /// Whether an entry can be held. Most can; a path is built only when there is something to say.
    fn holds(&mut self, entry: &Entry, folder: &str, depth: usize) -> bool {
        let is_too_deep = entry.stat.kind == Kind::Dir && depth >= DEPTH_MAX;
        let why = match self.door.unholdable(&entry.stat) {
            None if is_too_deep => "is nested too deep to be looked into",
            None if entry.name.to_str().is_some() => return true,
            None => "its name is not UTF-8",
            Some(why) => why,
        };
        let path = join(folder, &entry.name);
        if entry.name.to_str().is_none() {
            self.found.left.push(Left { path: shown(&path), why: "its name is not UTF-8".into() });
        } else {
            self.found.leave(&shown(&path), path, why);
        }
        false
    }

    fn look_for_collisions(&mut self, listed: &[Entry], folder: &str) {
        let is_unfolded = |name: &OsStr| {
            name.as_encoded_bytes().iter().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii())
        };
        if !listed.iter().any(|entry| is_unfolded(&entry.name)) {
            return;
        }
        let mut by_key: HashMap<String, Vec<&str>> = HashMap::new();
        for name in listed.iter().filter_map(|entry| entry.name.to_str()) {
            by_key.entry(fold(name)).or_default().push(name);
        }
        let mut groups: Vec<_> = by_key.into_values().filter(|names| names.len() > 1).collect();
        groups.sort_unstable();
        for name in groups.into_iter().flatten() {
            let path = join(folder, OsStr::new(name));
            self.found.leave(
                &shown(&path),
                path,
                "has a name that differs from a neighbour's only in case or normal form",
            );
        }
    }
}

/// For lookups and messages; a name that is not text is shown with its odd bytes replaced.
pub(crate) fn join(folder: &str, name: &OsStr) -> String {
    format!("{folder}/{}", name.to_string_lossy())
}
