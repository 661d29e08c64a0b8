//! What somebody else does to the tree: by path, and in one go.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::world::World;

/// Each names a path beneath `.agents/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Opened, overwritten, closed: the inode stays.
    Edit(&'static str),
    /// A new file, renamed over the old one, or put where there was none.
    Replace(&'static str),
    Delete(&'static str),
    /// One line at the end.
    Append(&'static str),
    Rename(&'static str, &'static str),
    /// A new folder with a file in it, named here.
    AddFolder(&'static str),
    /// `rm -r`.
    DeleteFolder(&'static str),
    /// The folder is moved away, and a new one of its name made, with [`FRESH`] in it.
    ReplaceFolder(&'static str),
}

/// The file in a folder that took another one's place.
pub(crate) const FRESH: &str = "fresh.md";
/// Where things go that are moved away; nothing that a commit holds.
const ASIDE: &str = "moved-away";

impl Act {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Edit(path)
            | Self::Replace(path)
            | Self::Delete(path)
            | Self::Append(path)
            | Self::Rename(path, _)
            | Self::AddFolder(path)
            | Self::DeleteFolder(path)
            | Self::ReplaceFolder(path) => path,
        }
    }

    /// Whether the act is about this path beneath `.agents/`.
    pub(crate) fn concerns(self, path: &str) -> bool {
        let is_at = |top: &str| {
            path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let also = match self {
            Self::Rename(_, to) => to,
            Self::AddFolder(file) => file.rsplit_once('/').unwrap().0,
            _ => ASIDE,
        };
        is_at(self.path()) || is_at(also)
    }

    /// A text that tells one act from another.
    pub(crate) fn text(self, number: usize) -> String {
        if Path::new(self.path()).extension().is_some_and(|kind| kind == "jsonl") {
            format!("{{\"theirs\":{number}}}\n")
        } else {
            format!("Theirs, {number}.\n")
        }
    }

    /// Does it. What it needs may be gone by then; that is its own failure, and nothing that
    /// `ao` could lose.
    pub(crate) fn perform(self, world: &World, text: &str) -> io::Result<()> {
        let path = world.agents(self.path());
        match self {
            Self::Edit(_) => {
                let mut file = File::options().write(true).truncate(true).open(path)?;
                file.write_all(text.as_bytes())
            }
            Self::Replace(_) => {
                let fresh = world.agents(ASIDE);
                fs::write(&fresh, text)?;
                fs::rename(fresh, path)
            }
            Self::Delete(_) => fs::remove_file(path),
            Self::Append(_) => File::options().append(true).open(path)?.write_all(text.as_bytes()),
            Self::Rename(_, to) => fs::rename(path, world.agents(to)),
            Self::AddFolder(_) => {
                fs::create_dir(path.parent().unwrap())?;
                fs::write(path, text)
            }
            Self::DeleteFolder(_) => fs::remove_dir_all(path),
            Self::ReplaceFolder(_) => {
                fs::rename(&path, world.agents(ASIDE))?;
                fs::create_dir(&path)?;
                fs::write(path.join(FRESH), text)
            }
        }
    }
}
