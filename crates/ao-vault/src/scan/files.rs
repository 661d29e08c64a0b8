//! The files of a folder, one after the other.

use std::io;
use std::path::{Path, PathBuf};

/// A larger file is not read, and that is said.
pub const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
const FILES_MAX: usize = 2_000_000;
/// What git keeps is not what stands in the files.
const LEFT_OUT: &str = ".git";

/// What was found to be looked at.
#[derive(Debug, Default)]
pub struct Found {
    pub files: Vec<PathBuf>,
    pub unread: Vec<Unread>,
}

/// What was not looked at, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub path: PathBuf,
    pub why: String,
}

/// A file, or all files beneath a folder, in order. Links are not followed.
pub fn walk(path: &Path) -> io::Result<Found> {
    let mut found = Found::default();
    if !std::fs::metadata(path)?.is_dir() {
        found.files.push(path.to_owned());
        return Ok(found);
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut inner = match entries(&folder) {
            Ok(inner) => inner,
            Err(error) => {
                found.unread.push(Unread { path: folder, why: error.to_string() });
                continue;
            }
        };
        inner.sort();
        for (path, kind) in inner {
            if kind.is_dir() && path.file_name().is_none_or(|name| name != LEFT_OUT) {
                folders.push(path);
            } else if kind.is_file() {
                if found.files.len() == FILES_MAX {
                    return Err(io::Error::other(format!("more than {FILES_MAX} files")));
                }
                found.files.push(path);
            }
        }
    }
    found.files.sort();
    Ok(found)
}

fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, Kind)>> {
    let of = |entry: std::fs::DirEntry| Ok((entry.path(), Kind::of(entry.file_type()?)));
    std::fs::read_dir(folder)?.map(|entry| entry.and_then(of)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Folder,
    File,
    Other,
}

impl Kind {
    fn of(kind: std::fs::FileType) -> Self {
        if kind.is_dir() {
            Self::Folder
        } else if kind.is_file() {
            Self::File
        } else {
            Self::Other
        }
    }

    fn is_dir(self) -> bool {
        self == Self::Folder
    }

    fn is_file(self) -> bool {
        self == Self::File
    }
}
