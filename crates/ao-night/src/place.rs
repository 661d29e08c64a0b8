//! Files of a repository, looked at by paths that others wrote.
//!
//! Such a path may be anything. It is refused unless it is relative and plain, and it is walked name by
//! name without following a symlink, so it can lead nowhere but to a file of this repository.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use ao_tree::{Disk, Fs, Kind, TreePath, shown};

use crate::outside::Outside;

/// The name of the corpus in paths that are relative to the repository.
pub(crate) const AGENTS: &str = ".agents";

/// A repository, and where its corpus is.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub root: &'a Path,
    /// Usually `.agents` beneath the root.
    pub agents: &'a Path,
    /// Keeps what is seen outside of the corpus, where that is wanted.
    pub outside: Option<&'a Outside>,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Nothing,
    Folder,
    File { bytes: u64 },
}

/// A path that was walked to its last name.
struct Walked {
    disk: Disk,
    dir: <Disk as Fs>::Dir,
    name: OsString,
    standing: Standing,
}

impl Place<'_> {
    /// What is at this path; the error says why nobody can look there.
    pub(crate) fn stands(&self, path: &str) -> Result<Standing, String> {
        let look = || Ok(self.walk(path)?.map_or(Standing::Nothing, |walked| walked.standing));
        match self.outside.filter(|_| is_outside(path)) {
            Some(outside) => outside.stands(path, look),
            None => look(),
        }
    }

    pub(crate) fn is_file(&self, path: &str) -> bool {
        matches!(self.stands(path), Ok(Standing::File { .. }))
    }

    /// A file's bytes; `None` if there is no file.
    pub(crate) fn read(&self, path: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, String> {
        let read = || self.read_whole(path, bytes_max);
        match self.outside.filter(|_| is_outside(path)) {
            Some(outside) => outside.read(path, read),
            None => read(),
        }
    }

    fn read_whole(&self, path: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, String> {
        let Some(walked) = self.walk(path)? else { return Ok(None) };
        match walked.standing {
            Standing::Nothing => Ok(None),
            Standing::Folder => Err(format!("{} is a folder", shown(path))),
            Standing::File { .. } => match walked.disk.read(&walked.dir, &walked.name, bytes_max) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    Err(format!("{} is larger than {bytes_max} bytes", shown(path)))
                }
                Err(error) => Err(format!("{} cannot be read: {error}", shown(path))),
            },
        }
    }

    /// `None` where a folder on the way is not there.
    fn walk(&self, path: &str) -> Result<Option<Walked>, String> {
        let doubt = |why: String| format!("{} is no path to look at: {why}", shown(path));
        let plain = TreePath::parse(path).map_err(doubt)?;
        let cannot = |error: io::Error| format!("{} cannot be looked at: {error}", shown(path));
        let beneath = plain.as_str().strip_prefix(AGENTS).and_then(|rest| rest.strip_prefix('/'));
        let (disk, mut rest) = if let Some(rest) = beneath {
            (Disk::open(self.agents).map_err(cannot)?, rest)
        } else {
            // The root itself may be named by a symlink; what lies beneath may not.
            let root = self.root.canonicalize().map_err(cannot)?;
            (Disk::open(&root).map_err(cannot)?, plain.as_str())
        };
        let mut dir = disk.top();
        while let Some((folder, inner)) = rest.split_once('/') {
            let folder = OsStr::new(folder);
            match disk.stat(&dir, folder).map_err(cannot)?.map(|stat| stat.kind) {
                Some(Kind::Dir) => dir = disk.open_dir(&dir, folder).map_err(cannot)?,
                Some(Kind::Symlink) => {
                    return Err(format!(
                        "{} leads over a symlink, which is not followed",
                        shown(path)
                    ));
                }
                Some(Kind::File | Kind::Special) | None => return Ok(None),
            }
            rest = inner;
        }
        let stat = disk.stat(&dir, OsStr::new(rest)).map_err(cannot)?;
        let standing = match stat.map(|stat| (stat.kind, stat.size)) {
            None => Standing::Nothing,
            Some((Kind::Dir, _)) => Standing::Folder,
            Some((Kind::File, bytes)) => Standing::File { bytes },
            Some((Kind::Symlink, _)) => {
                return Err(format!("{} is a symlink, which is not followed", shown(path)));
            }
            Some((Kind::Special, _)) => {
                return Err(format!("{} is a FIFO, socket or device", shown(path)));
            }
        };
        let name = rest.into();
        Ok(Some(Walked { disk, dir, name, standing }))
    }
}

/// Whether a path leads to something that is not of the corpus: another file of the repository, or what
/// nights write themselves.
pub(crate) fn is_outside(path: &str) -> bool {
    let beneath = path.strip_prefix(AGENTS).and_then(|rest| rest.strip_prefix('/'));
    beneath.is_none_or(|rest| rest == "overnight" || rest.starts_with("overnight/"))
}
