//! Files that are nobody else's: keys and what they lock.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::own_file::{PRIVATE, create_fresh, open_with, sync_folder};

const FOLDER: u32 = 0o700;

/// Replaces one file whole, as [`crate::replace_file`] does; the fresh one is private from its
/// first moment, and its name does not depend on the process: what one who was killed left behind
/// is overwritten by the next. Callers hold a lock.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path of a file"));
    };
    let mut fresh = std::ffi::OsString::from(".");
    fresh.push(name);
    fresh.push(".new");
    let fresh = dir.join(fresh);
    let write = || {
        let mut file = create_fresh(&fresh, PRIVATE)?;
        // A umask can only have taken away.
        file.set_permissions(Permissions::from_mode(PRIVATE))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)?;
        sync_folder(dir)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&fresh);
    })
}

/// Makes a folder and those above it that are missing, for their owner alone.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)
}

/// Writes a new file for the owner alone, durably. One of that name is not replaced.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_with(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, PRIVATE)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), sync_folder)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_whole_and_private_whatever_was_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        make_private_folder(&folder).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), FOLDER);
        let file = folder.join("key");
        std::fs::write(folder.join(".key.new"), "left by one who was killed").unwrap();
        for text in ["one", "two"] {
            replace_private(&file, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
            assert_eq!(mode(&file), PRIVATE);
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        let lock = crate::own_file::FileLock::at_once(&folder.join("lock")).unwrap();
        assert!(lock.is_some());
        assert_eq!(mode(&folder.join("lock")), PRIVATE);
    }
}
