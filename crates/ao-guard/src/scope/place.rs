//! Where a path leads, asked of the kernel and never of the words alone.
//!
//! This module looks and writes nothing. What it finds can change afterwards: the boundary is the cell,
//! and whoever admits something looks again.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;

use super::glob::fold;
use super::rule::{Refusal, Rule};

const PATH_BYTES_MAX: usize = 4000;
const NAME_BYTES_MAX: usize = 255;
const DEPTH_MAX: usize = 64;
/// In a folder with more names than this nobody looks for one that is nearly the same.
const NAMES_MAX: usize = 65_536;

/// A path beneath the project, plain: names joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath(String);

impl ProjectPath {
    /// Takes a path only if it means one and the same file wherever the project is checked out.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let refuse = |rule, why: &str| Err(Refusal::new(rule, text, why));
        if text.is_empty() {
            return refuse(Rule::Path, "the path is empty");
        }
        if text.len() > PATH_BYTES_MAX || text.split('/').count() > DEPTH_MAX {
            return refuse(Rule::Path, "the path is too long");
        }
        if text.starts_with('/') {
            return refuse(Rule::Outside, "the path is absolute");
        }
        for name in text.split('/') {
            if name == ".." {
                return refuse(Rule::Outside, "the path has a `..`");
            }
            if let Some(why) = doubt_about(name) {
                return refuse(Rule::Path, why);
            }
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

fn doubt_about(name: &str) -> Option<&'static str> {
    let bytes = name.as_bytes();
    let is_drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if name.is_empty() {
        Some("the path has an empty name (two slashes, or one at the end)")
    } else if name == "." {
        Some("the path has a `.`")
    } else if name.len() > NAME_BYTES_MAX {
        Some("a name is longer than 255 bytes")
    } else if name.chars().any(|letter| letter.is_control() || is_invisible(letter)) {
        Some("a name has a control or invisible character")
    } else if name.contains('\\') || is_drive || name.contains("::") {
        Some("a name reads as a folder, a drive or a stream on Windows")
    } else if name.ends_with(['.', ' ']) {
        Some("a name ends with a dot or a space, which Windows drops")
    } else {
        None
    }
}

/// Characters that make one name look like another, or turn the text after it around.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
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
                Ok((FileType::RegularFile, 1)) => Ok(Standing::File),
                Ok((FileType::RegularFile, _)) => {
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

fn kind_of(found: &OwnedFd) -> Result<(FileType, u64), Errno> {
    let stat = fstat(found)?;
    #[allow(clippy::useless_conversion, reason = "the width of a link count differs by platform")]
    let links = u64::from(stat.st_nlink);
    Ok((FileType::from_raw_mode(stat.st_mode), links))
}
