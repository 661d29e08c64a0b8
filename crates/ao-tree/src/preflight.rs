//! Whether a directory can be a root at all, before anything in it is looked at.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::layout::{Layout, Reach};

/// The root must be a plain directory of this user's own.
pub(crate) fn check_root(root: &Path, layout: &Layout) -> Result<()> {
    let unfit = |why: &str, remedy: &str| Error::Unfit {
        path: crate::path::shown(&root.to_string_lossy()),
        why: why.into(),
        remedy: remedy.into(),
    };
    let found = match std::fs::symlink_metadata(root) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(unfit(
                "there is no such directory",
                "make it, or name the repository with -C DIR",
            ));
        }
        Err(source) => {
            return Err(Error::Io { doing: format!("look at {}", root.display()), source });
        }
    };
    if found.is_symlink() {
        return Err(unfit(
            "is a symlink",
            "put the directory itself there, or work where it points to",
        ));
    }
    if !found.is_dir() {
        return Err(unfit("is not a directory", "move it away and make a directory of that name"));
    }
    let user = rustix::process::geteuid().as_raw();
    if found.uid() != user {
        let why = format!("belongs to user {}, and this is user {user}", found.uid());
        return Err(unfit(&why, "run ao as its owner"));
    }
    // What a submodule holds is committed elsewhere.
    let is_whole = matches!(layout.reach, Reach::AllBut(_));
    if !is_whole && std::fs::symlink_metadata(root.join(".git")).is_ok() {
        return Err(unfit(
            "is a repository or submodule of its own",
            "run ao inside that repository",
        ));
    }
    Ok(())
}
