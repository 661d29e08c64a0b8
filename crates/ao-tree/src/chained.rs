//! A program that stands in another's place, with the other beside it, such as a hook of git's.
//!
//! At every moment one of the two stands there, and the one before keeps its inode, mode and times.
#![expect(clippy::disallowed_methods, reason = "this is the room that writes")]

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::own_file::{PUBLIC, create_fresh, sync_folder};

const EXECUTABLE: u32 = 0o755;

/// Puts a program at `path`. What stood there, a link too, gets `aside` as its name, in the same folder.
pub fn put_program(path: &Path, aside: Option<&Path>, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    let write = || {
        let mut file = create_fresh(&fresh, PUBLIC)?;
        file.write_all(bytes)?;
        file.set_permissions(Permissions::from_mode(EXECUTABLE))?;
        file.sync_all()?;
        if let Some(aside) = aside {
            std::fs::hard_link(path, aside)?;
        }
        std::fs::rename(&fresh, path)?;
        sync_folder(dir)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&fresh);
    })
}

/// Takes the program at `path` away, and gives what stood there before its name again.
pub fn take_program(path: &Path, aside: Option<&Path>) -> io::Result<()> {
    match aside {
        Some(aside) => std::fs::rename(aside, path)?,
        None => std::fs::remove_file(path)?,
    }
    path.parent().map_or(Ok(()), sync_folder)
}
