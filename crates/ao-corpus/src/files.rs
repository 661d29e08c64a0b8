//! The files of a corpus, found and read without following or waiting for anything.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use ao_tree::{Disk, Fs, Kind, Stat, shown};

use crate::document::DOCUMENT_BYTES_MAX;
use crate::past::Past;

/// Deeper folders are not somebody's notes.
const DEPTH_MAX: usize = 64;
/// More files than this are not one person's knowledge.
const FILES_MAX: usize = 2_000_000;
const THREADS_MAX: usize = 8;
/// Fewer files than this are read sooner than a thread is started.
const FILES_A_THREAD: usize = 64;

/// Where the door keeps its state beneath the root; other roots have none.
const STATE: &str = "overnight";

/// Something in the corpus that is left alone, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// For people: names that are not text are shown escaped.
    pub path: String,
    pub why: String,
}

/// A file by its name in an open directory.
#[derive(Debug, Clone)]
pub struct File {
    /// From the root, with `/` between names.
    pub path: String,
    dir: <Disk as Fs>::Dir,
    name: OsString,
    /// What its bytes must hash to, if it lies elsewhere than its path says.
    kept_as: Option<String>,
}

impl File {
    /// Whether it is what an earlier state had in this place, and not what lies there now.
    pub fn is_kept(&self) -> bool {
        self.kept_as.is_some()
    }

    fn checked(&self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        match &self.kept_as {
            Some(hash) if blake3::hash(&bytes).to_hex().as_str() != hash => {
                Err("is damaged: its bytes are not those that were kept".into())
            }
            _ => Ok(bytes),
        }
    }
}

/// The regular files beneath some folders, in the order of their paths.
#[derive(Debug)]
pub struct Files {
    disk: Disk,
    pub found: Vec<File>,
    pub left: Vec<Left>,
}

impl Files {
    /// Lists the folders of `root` that are there. Nothing but names is read.
    pub fn list(root: &Path, folders: &[&str]) -> io::Result<Self> {
        let disk = Disk::open(root)?;
        let mut files = Self { disk, found: Vec::new(), left: Vec::new() };
        for folder in folders {
            let top = files.disk.top();
            match files.disk.open_dir(&top, OsStr::new(folder)) {
                Ok(dir) => files.walk(&dir, folder, 0)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => files.leave(folder, format!("cannot be opened: {error}")),
            }
        }
        files.as_decided(root, |path| folders.contains(&first_name(path)))
    }

    /// With what a commit that was cut off decided and did not bring in yet; sorted.
    fn as_decided(mut self, root: &Path, is_listed: impl Fn(&str) -> bool) -> io::Result<Self> {
        let decided = ao_tree::not_yet_in(root, STATE).map_err(io::Error::other)?;
        self.found.retain(|file| !decided.contains_key(&file.path));
        for (path, staged) in decided.into_iter().filter(|(path, _)| is_listed(path)) {
            let Some(staged) = staged else { continue };
            let (folder, name) = staged.at.rsplit_once('/').unwrap_or(("", &staged.at));
            let dir = self.open_beneath(folder)?;
            self.found.push(File { path, dir, name: name.into(), kept_as: Some(staged.hash) });
        }
        self.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(self)
    }

    /// As [`Files::list`], of the tree as it was.
    pub fn list_past(root: &Path, folders: &[&str], past: &Past) -> io::Result<Self> {
        let files = Self::list(root, folders)?;
        files.turned_back(past, |path| folders.contains(&first_name(path)))
    }

    /// As [`Files::list_all`], of the tree as it was.
    pub fn list_all_past(root: &Path, past: &Past) -> io::Result<Self> {
        Self::list_all(root)?.turned_back(past, |_| true)
    }

    fn turned_back(mut self, past: &Past, is_listed: impl Fn(&str) -> bool) -> io::Result<Self> {
        let files = &mut self;
        let known = &past.known.files;
        files.found.retain(|file| !known.contains_key(&file.path));
        // A repository without a commit has no such folder, and needs none.
        if !known.values().any(Option::is_some) {
            return Ok(self);
        }
        let dir = files.open_beneath(&past.folder)?;
        for (path, kept) in known {
            let Some(kept) = kept.as_ref().filter(|_| is_listed(path)) else { continue };
            let (name, kept_as) = (OsString::from(kept.name()), Some(kept.hash.clone()));
            files.found.push(File { path: path.clone(), dir: dir.clone(), name, kept_as });
        }
        files.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(self)
    }

    /// Lists one folder of `root` by its path; none if it is not there.
    pub fn list_beneath(root: &Path, path: &str) -> io::Result<Self> {
        let mut files = Self { disk: Disk::open(root)?, found: Vec::new(), left: Vec::new() };
        match files.open_beneath(path) {
            Ok(dir) => files.walk(&dir, path, 0)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => files.leave(path, format!("cannot be opened: {error}")),
        }
        let is_beneath =
            |found: &str| found.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        files.as_decided(root, is_beneath)
    }

    fn open_beneath(&self, path: &str) -> io::Result<<Disk as Fs>::Dir> {
        let names = path.split('/').filter(|name| !name.is_empty());
        names
            .into_iter()
            .try_fold(self.disk.top(), |dir, name| self.disk.open_dir(&dir, OsStr::new(name)))
    }

    /// Lists everything beneath `root`. Nothing but names is read.
    pub fn list_all(root: &Path) -> io::Result<Self> {
        let disk = Disk::open(root)?;
        let mut files = Self { disk, found: Vec::new(), left: Vec::new() };
        let top = files.disk.top();
        files.walk(&top, "", 0)?;
        files.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    fn walk(&mut self, dir: &<Disk as Fs>::Dir, path: &str, depth: usize) -> io::Result<()> {
        if depth > DEPTH_MAX {
            self.leave(path, format!("is nested deeper than {DEPTH_MAX} folders"));
            return Ok(());
        }
        let within = |name: &str| match path {
            "" => name.to_owned(),
            _ => format!("{path}/{name}"),
        };
        for entry in self.disk.names(dir)? {
            let Some(name) = entry.name.to_str() else {
                let path = within(&entry.name.to_string_lossy());
                self.leave(&path, "has a name that is not UTF-8".into());
                continue;
            };
            let path = within(name);
            match entry.kind {
                Kind::Dir => match self.disk.open_dir(dir, &entry.name) {
                    Ok(inner) => self.walk(&inner, &path, depth + 1)?,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => self.leave(&path, format!("cannot be opened: {error}")),
                },
                Kind::File if self.found.len() >= FILES_MAX => {
                    return Err(io::Error::other(format!("more than {FILES_MAX} files")));
                }
                Kind::File => {
                    let name = entry.name;
                    self.found.push(File { path, dir: dir.clone(), name, kept_as: None });
                }
                Kind::Symlink => self.leave(&path, "is a symlink, and is not followed".into()),
                Kind::Special => self.leave(&path, "is a FIFO, socket or device".into()),
            }
        }
        Ok(())
    }

    fn leave(&mut self, path: &str, why: String) {
        self.left.push(Left { path: shown(path), why });
    }

    /// What the file system says of a file; `None` if it went meanwhile.
    pub fn stat(&self, file: &File) -> io::Result<Option<Stat>> {
        self.disk.stat(&file.dir, &file.name)
    }

    /// A file's bytes; the error says why it is left alone.
    pub fn read(&self, file: &File) -> Result<Vec<u8>, String> {
        let read = self.disk.read(&file.dir, &file.name, DOCUMENT_BYTES_MAX).map_err(why);
        file.checked(read?)
    }

    /// As [`Files::read`], of a file that is no document.
    pub fn read_up_to(&self, file: &File, max_bytes: u64) -> Result<Vec<u8>, String> {
        let read = self.disk.read(&file.dir, &file.name, max_bytes);
        let bytes = read.map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => format!("is larger than {max_bytes} bytes"),
            _ => format!("cannot be read: {error}"),
        });
        file.checked(bytes?)
    }

    /// A file's bytes, with what the file system said of it just then.
    pub fn read_with_stat(&self, file: &File) -> Result<(Vec<u8>, Stat), String> {
        let (bytes, stat) =
            self.disk.read_with_stat(&file.dir, &file.name, DOCUMENT_BYTES_MAX).map_err(why)?;
        Ok((file.checked(bytes)?, stat))
    }

    /// Applies `make` to every file, on several threads; the results are in the files' order.
    pub fn map<T: Send>(&self, make: impl Fn(&File) -> T + Sync) -> Vec<T> {
        in_parallel(&self.found, make)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn why(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::FileTooLarge => format!("is larger than {DOCUMENT_BYTES_MAX} bytes"),
        _ => format!("cannot be read: {error}"),
    }
}

fn first_name(path: &str) -> &str {
    path.split_once('/').map_or(path, |(first, _)| first)
}

/// One file beneath `root` by its path, with no symlink followed; the error says why it is left
/// alone.
pub fn read_one(root: &Path, path: &str) -> Result<Vec<u8>, String> {
    let open = || {
        let decided = ao_tree::not_yet_in(root, STATE).map_err(io::Error::other)?;
        let (at, kept_as) = match decided.get(path) {
            Some(None) => return Err(io::ErrorKind::NotFound.into()),
            Some(Some(staged)) => (staged.at.as_str(), Some(staged.hash.clone())),
            None => (path, None),
        };
        let disk = Disk::open(root)?;
        let (mut dir, mut rest) = (disk.top(), at);
        while let Some((folder, inner)) = rest.split_once('/') {
            dir = disk.open_dir(&dir, OsStr::new(folder))?;
            rest = inner;
        }
        let file = File { path: path.to_owned(), dir, name: rest.into(), kept_as };
        Ok((Files { disk, found: Vec::new(), left: Vec::new() }, file))
    };
    let (files, file) = open().map_err(|error: io::Error| format!("cannot be opened: {error}"))?;
    files.read(&file)
}

/// As [`read_one`], of the tree as it was; `None` where it was not there or cannot be read.
pub(crate) fn read_one_past(root: &Path, path: &str, past: &Past) -> Option<Vec<u8>> {
    match past.known.files.get(path) {
        None => read_one(root, path).ok(),
        Some(kept) => {
            let kept = kept.as_ref()?;
            let bytes = read_one(root, &format!("{}/{}", past.folder, kept.name())).ok()?;
            (blake3::hash(&bytes).to_hex().as_str() == kept.hash).then_some(bytes)
        }
    }
}

/// Asked once: the answer is in several files.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// As `items.iter().map(make).collect()`, on several threads.
pub fn in_parallel<I: Sync, T: Send>(items: &[I], make: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let threads = cores().min(THREADS_MAX).min(items.len() / FILES_A_THREAD).max(1);
    if threads == 1 {
        return items.iter().map(make).collect();
    }
    let (first, rest) = items.split_at(items.len().div_ceil(threads));
    let make = &make;
    std::thread::scope(|scope| {
        let work =
            |part| scope.spawn(move || Iterator::map(<[I]>::iter(part), make).collect::<Vec<T>>());
        let threads: Vec<_> = rest.chunks(first.len()).map(work).collect();
        // A part is for this thread, which remembers words from earlier work, and has memory that it used before.
        let mut all: Vec<T> = Iterator::map(<[I]>::iter(first), make).collect();
        for thread in threads {
            match thread.join() {
                Ok(part) => all.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}
