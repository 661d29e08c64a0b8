//! What the held parts look like: one walk that reads no file's bytes.
//!
//! The walk is all that an unchanged night costs. Contents are read only for the paths that an
//! edit names: an untouched file goes into the new tree as a link to the same inode, so what it
//! says never has to be known.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;

use crate::door::Door;
use crate::error::{Error, Result};
use crate::fs::{Entry, Fs, Kind, Stat};
use crate::path::{DEPTH_MAX, TreePath, fold, shown};

/// More entries than this are not one person's knowledge.
const ENTRIES_MAX: usize = 2_000_000;

/// A directory and what it held, each list sorted by name.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) stat: Stat,
    /// Everything that is not a directory.
    pub(crate) files: Vec<Entry>,
    pub(crate) folders: Vec<(OsString, Folder)>,
}

impl Folder {
    pub(crate) fn file(&self, name: &OsStr) -> Option<&Entry> {
        let at = self.files.binary_search_by(|entry| entry.name.as_os_str().cmp(name)).ok()?;
        Some(&self.files[at])
    }

    pub(crate) fn folder(&self, name: &OsStr) -> Option<&Folder> {
        let at = self.folders.binary_search_by(|entry| entry.0.as_os_str().cmp(name)).ok()?;
        Some(&self.folders[at].1)
    }
}

/// One held part as it was found.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Absent,
    Dir(Folder),
    File(Stat),
    /// Something else stands there; see [`Snapshot::left`].
    Blocked,
}

/// An entry that the door cannot hold: it stays as it is, and no edit may touch it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// For people: names that are not text are shown escaped.
    pub path: String,
    pub why: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// In the order of the layout.
    pub(crate) parts: Vec<Part>,
    pub(crate) left: Vec<Left>,
    /// The paths of `left` that an edit could spell.
    blocked: BTreeMap<String, String>,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Standing<'a> {
    Nothing,
    File(&'a Stat),
    Folder,
    /// A directory on the way is a file.
    BeneathFile,
}

impl Snapshot {
    /// Why no edit may touch this path, if so.
    pub(crate) fn blocked(&self, path: &TreePath) -> Option<String> {
        let text = path.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at).chain([text.len()]);
        ends.filter_map(|end| self.blocked.get(&text[..end]).map(|why| (end, why)))
            .map(|(end, why)| format!("{} {why}", &text[..end]))
            .next()
    }

    /// What stands at `rest` in this part; `rest` is empty for a held file.
    pub(crate) fn standing(&self, part: usize, rest: &str) -> Standing<'_> {
        match &self.parts[part] {
            Part::Absent | Part::Blocked => Standing::Nothing,
            Part::File(stat) => Standing::File(stat),
            Part::Dir(folder) => standing_in(folder, rest),
        }
    }
}

fn standing_in<'a>(folder: &'a Folder, rest: &str) -> Standing<'a> {
    let mut folder = folder;
    let mut names = rest.split('/').map(OsStr::new).peekable();
    while let Some(name) = names.next() {
        let is_last = names.peek().is_none();
        match (folder.folder(name), folder.file(name)) {
            (Some(_), _) if is_last => return Standing::Folder,
            (Some(inner), _) => folder = inner,
            (None, Some(entry)) if is_last => return Standing::File(&entry.stat),
            (None, Some(_)) => return Standing::BeneathFile,
            (None, None) => return Standing::Nothing,
        }
    }
    Standing::Folder
}

impl<F: Fs> Door<F> {
    /// Walks the parts for which `wanted` says so; the others count as absent.
    pub(crate) fn snapshot(&self, wanted: impl Fn(usize) -> bool) -> Result<Snapshot> {
        let mut walk = Walk { door: self, left: Vec::new(), blocked: BTreeMap::new(), entries: 0 };
        let mut parts = Vec::new();
        for (index, held) in self.layout.held.iter().enumerate() {
            let part =
                if wanted(index) { walk.part(&held.path, held.is_dir)? } else { Part::Absent };
            parts.push(part);
        }
        Ok(Snapshot { parts, left: walk.left, blocked: walk.blocked })
    }
}

struct Walk<'a, F: Fs> {
    door: &'a Door<F>,
    left: Vec<Left>,
    blocked: BTreeMap<String, String>,
    entries: usize,
}

impl<F: Fs> Walk<'_, F> {
    fn part(&mut self, path: &TreePath, is_dir: bool) -> Result<Part> {
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
            let Some(stat) = looked else { return Ok(Part::Absent) };
            self.check_device(&walked, &stat)?;
            let is_last = names.peek().is_none();
            if is_last && !is_dir {
                return Ok(self.held_file(&walked, stat));
            }
            if stat.kind != Kind::Dir {
                self.leave(
                    &walked,
                    walked.clone(),
                    &format!("is {}, not a directory", kind_name(stat.kind)),
                );
                return Ok(Part::Blocked);
            }
            dir = match fs.open_dir(&dir, OsStr::new(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Part::Absent),
                opened => opened.map_err(Error::io(format!("open {walked}")))?,
            };
        }
        let stat = fs.stat_dir(&dir).map_err(Error::io(format!("look at {path}")))?;
        Ok(Part::Dir(self.folder(&dir, stat, path.as_str(), 0)?))
    }

    fn held_file(&mut self, path: &str, stat: Stat) -> Part {
        let why = if stat.kind == Kind::Dir {
            Some("is a directory, not a file")
        } else {
            unholdable(&stat)
        };
        match why {
            None => Part::File(stat),
            Some(why) => {
                self.leave(path, path.to_owned(), why);
                Part::Blocked
            }
        }
    }

    fn folder(&mut self, dir: &F::Dir, stat: Stat, path: &str, depth: usize) -> Result<Folder> {
        if depth > DEPTH_MAX {
            return Err(Error::Unfit {
                path: shown(path),
                why: format!("directories are nested deeper than {DEPTH_MAX}"),
                remedy: "move them out of the held folders".into(),
            });
        }
        let listed = self.door.fs.list(dir).map_err(Error::io(format!("list {}", shown(path))))?;
        self.count(listed.len(), path)?;
        self.look_for_collisions(&listed, path);
        let mut files = Vec::with_capacity(listed.len());
        let mut folders = Vec::new();
        for entry in listed {
            self.look_at(&entry, path)?;
            if entry.stat.kind == Kind::Dir {
                let inner_path = join(path, &entry.name);
                let inner = match self.door.fs.open_dir(dir, &entry.name) {
                    // It went since the listing was read: as if it had gone before.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    opened => opened.map_err(Error::io(format!("open {}", shown(&inner_path))))?,
                };
                folders
                    .push((entry.name, self.folder(&inner, entry.stat, &inner_path, depth + 1)?));
            } else {
                files.push(entry);
            }
        }
        files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        folders.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Folder { stat, files, folders })
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

    fn look_at(&mut self, entry: &Entry, folder: &str) -> Result<()> {
        // Most entries are plain; their path is built only when there is something to say.
        let is_plain = unholdable(&entry.stat).is_none()
            && !entry.stat.is_mount_point
            && entry.stat.device == self.door.device
            && entry.name.to_str().is_some();
        if is_plain {
            return Ok(());
        }
        let path = join(folder, &entry.name);
        self.check_device(&path, &entry.stat)?;
        if entry.name.to_str().is_none() {
            self.left.push(Left { path: shown(&path), why: "its name is not UTF-8".into() });
        } else if let Some(why) = unholdable(&entry.stat) {
            self.leave(&shown(&path), path, why);
        }
        Ok(())
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
            self.leave(
                &shown(&path),
                path,
                "has a name that differs from a neighbour's only in case or normal form",
            );
        }
    }

    fn leave(&mut self, label: &str, path: String, why: &str) {
        self.left.push(Left { path: label.to_owned(), why: why.to_owned() });
        self.blocked.insert(path, why.to_owned());
    }

    fn check_device(&self, path: &str, stat: &Stat) -> Result<()> {
        let why = if stat.is_mount_point {
            "is a mount point, and a commit cannot reach across it"
        } else if stat.device != self.door.device {
            "is on another device, and a commit cannot reach across it"
        } else {
            return Ok(());
        };
        Err(Error::Unfit {
            path: shown(path),
            why: why.into(),
            remedy: "unmount it, or keep it outside the held folders".into(),
        })
    }
}

fn unholdable(stat: &Stat) -> Option<&'static str> {
    match stat.kind {
        Kind::Symlink => Some("is a symlink"),
        Kind::Special => Some("is a FIFO, socket or device"),
        Kind::File if stat.links > 1 => Some("is a hard link: it has another name"),
        Kind::File | Kind::Dir => None,
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "a file",
        Kind::Dir => "a directory",
        Kind::Symlink => "a symlink",
        Kind::Special => "a FIFO, socket or device",
    }
}

/// For lookups and messages; a name that is not text is shown with its odd bytes replaced.
pub(crate) fn join(folder: &str, name: &OsStr) -> String {
    format!("{folder}/{}", name.to_string_lossy())
}
