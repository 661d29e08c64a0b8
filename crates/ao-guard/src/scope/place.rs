//! Where a path leads, asked of the kernel and never of the words alone.
//!
//! This module looks and writes nothing. What it finds can change afterwards: the boundary is the cell,
//! and whoever admits something looks again.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use ao_tree::{TreePath, fold};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;

use super::rule::{Refusal, Rule};

/// In a folder with more names than this nobody looks for one that is nearly the same.
const NAMES_MAX: usize = 65_536;

/// A path beneath the project, plain: names joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath(String);

impl ProjectPath {
    /// Takes a path only if it means one and the same file wherever the project is checked out.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let outside = |why: &str| Err(Refusal::new(Rule::Outside, text, why));
        if text.starts_with('/') {
            return outside("the path is absolute");
        }
        if text.split('/').any(|name| name == "..") {
            return outside("the path has a `..`");
        }
        match TreePath::parse(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(why) => Err(Refusal::new(Rule::Path, text, why)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Nothing,
    File,
    Folder,
}

/// The folder that everything is beneath, held open.
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    /// As it was named, before links were followed.
    named: PathBuf,
    folder: OwnedFd,
}

impl Project {
    pub fn open(root: &Path) -> std::io::Result<Self> {
        let named = std::path::absolute(root)?;
        let root = named.canonicalize()?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(&root, flags, Mode::empty())?;
        Ok(Self { root, named, folder })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path beneath the project that somebody means who stands in `directory`.
    pub fn path_of(&self, text: &str, directory: &Path) -> Result<ProjectPath, Refusal> {
        let outside = |why: &str| Err(Refusal::new(Rule::Outside, text, why));
        if text.starts_with('~') {
            return outside("the path is somebody's home");
        }
        let has_parent = |path: &Path| path.components().any(|part| part == Component::ParentDir);
        if has_parent(Path::new(text)) || has_parent(directory) {
            return outside("the path has a `..`");
        }
        if text.contains('\0') {
            return Err(Refusal::new(Rule::Path, text, "the path has a NUL"));
        }
        // What is written from the current folder may say so; nothing else is smoothed.
        let plain = text.strip_prefix("./").unwrap_or(text);
        let whole =
            if plain.starts_with('/') { PathBuf::from(plain) } else { directory.join(plain) };
        let beneath = [&self.named, &self.root]
            .into_iter()
            .find_map(|root| whole.strip_prefix(root).ok().map(Path::to_owned));
        let Some(beneath) = beneath else { return outside("the path is not in the project") };
        // `strip_prefix` forgets doubled slashes and dots, which are for `parse` to see.
        if plain.split('/').skip(usize::from(plain.starts_with('/'))).any(str::is_empty) {
            return Err(Refusal::new(
                Rule::Path,
                text,
                "the path has an empty name (two slashes, or one at the end)",
            ));
        }
        match beneath.to_str() {
            Some(beneath) => ProjectPath::parse(beneath),
            None => Err(Refusal::new(Rule::Path, text, "the path is not UTF-8")),
        }
    }

    /// What stands there; a refusal if the way leads elsewhere, if it is nothing that can be
    /// written, or if its name is nearly another's.
    pub fn look(&self, path: &ProjectPath) -> Result<Standing, Refusal> {
        let refuse = |rule, why: &str| Err(Refusal::new(rule, path.as_str(), why));
        match self.resolve(path.as_str()) {
            Ok(found) => match kind_of(&found) {
                Ok((FileType::RegularFile, true)) => Ok(Standing::File),
                Ok((FileType::RegularFile, false)) => {
                    refuse(Rule::Kind, "the file has a second name elsewhere (a hard link)")
                }
                Ok((FileType::Directory, _)) => Ok(Standing::Folder),
                Ok((FileType::Symlink, _)) => refuse(Rule::Kind, "it is a symlink"),
                Ok((FileType::Fifo, _)) => refuse(Rule::Kind, "it is a pipe"),
                Ok(_) => refuse(Rule::Kind, "it is a device or a socket"),
                Err(error) => refuse(Rule::Doubt, &format!("it cannot be looked at: {error}")),
            },
            Err(Errno::NOENT) => self.look_for_collision(path).map(|()| Standing::Nothing),
            Err(error) => Err(refusal_for(error, path)),
        }
    }

    fn resolve(&self, path: &str) -> Result<OwnedFd, Errno> {
        let how = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat2(self.folder.as_fd(), path, flags, Mode::empty(), how)
    }

    /// Whether the first name of a path that is not there yet is nearly one that is.
    fn look_for_collision(&self, path: &ProjectPath) -> Result<(), Refusal> {
        let refuse = |rule, why: String| Err(Refusal::new(rule, path.as_str(), why));
        let mut missing = path.as_str();
        let folder = loop {
            let (above, _) = missing.rsplit_once('/').unwrap_or(("", missing));
            let found = self.resolve(if above.is_empty() { "." } else { above });
            match found {
                Ok(_) => break above,
                Err(Errno::NOENT) => missing = above,
                Err(error) => return Err(refusal_for(error, path)),
            }
        };
        let name = missing.rsplit('/').next().unwrap_or(missing);
        let wanted = fold(name);
        let entries = match std::fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) => {
                return refuse(Rule::Doubt, format!("its folder cannot be read: {error}"));
            }
        };
        for (count, entry) in entries.enumerate() {
            if count >= NAMES_MAX {
                return refuse(Rule::Doubt, format!("its folder has more than {NAMES_MAX} names"));
            }
            let Ok(entry) = entry else { continue };
            let other = entry.file_name();
            if other.to_str().is_some_and(|other| other != name && fold(other) == wanted) {
                return refuse(
                    Rule::Collision,
                    format!("some file systems take it for `{}`", other.to_string_lossy()),
                );
            }
        }
        Ok(())
    }
}

fn refusal_for(error: Errno, path: &ProjectPath) -> Refusal {
    let (rule, why) = match error {
        Errno::LOOP => (Rule::Kind, "there is a symlink on the way".to_owned()),
        Errno::XDEV => (Rule::Outside, "another file system is mounted on the way".to_owned()),
        Errno::NOTDIR => (Rule::Kind, "something on the way is no folder".to_owned()),
        error => (Rule::Doubt, format!("the way cannot be followed: {error}")),
    };
    Refusal::new(rule, path.as_str(), why)
}

/// What it is, and whether it has one name only.
fn kind_of(found: &OwnedFd) -> Result<(FileType, bool), Errno> {
    let stat = fstat(found)?;
    Ok((FileType::from_raw_mode(stat.st_mode), stat.st_nlink == 1))
}
