//! The two small writes that every room needs outside of a transaction.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use rustix::fs::{Access, OFlags, access};

use crate::own_file::{PUBLIC, create_fresh, open_with, sync_folder};

/// Replaces one file whole: whoever reads it sees the old bytes or the new ones, and so does
/// whoever comes after a crash.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Durable::Yes)
}

/// Replaces a file that can be made again at any time and that says itself whether it is whole.
/// After a crash it may be neither the old one nor the new one, so nobody waits for the disk.
pub fn replace_cache(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Durable::No)
}

/// Replaces a file of somebody else's settings whole, and lets it keep its permissions.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn replace_settings(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let before = match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
        }
        Ok(found) => Some(found.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    replace_with(path, bytes, Durable::Yes, |fresh| match before {
        Some(permissions) => std::fs::set_permissions(fresh, permissions),
        None => Ok(()),
    })
}

const APPEND: OFlags = OFlags::APPEND.union(OFlags::CREATE);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Durable {
    Yes,
    No,
}

fn replace(path: &Path, bytes: &[u8], durable: Durable) -> io::Result<()> {
    replace_with(path, bytes, durable, |_| Ok(()))
}

#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
fn replace_with(
    path: &Path,
    bytes: &[u8],
    durable: Durable,
    prepare: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path of a file"));
    };
    let fresh = if ao_mutant::active("RUN-30/written-in-place") {
        path.to_owned()
    } else {
        dir.join(format!(".{}.{}.new", name.to_string_lossy(), std::process::id()))
    };
    let write = || {
        let mut file = create_fresh(&fresh, PUBLIC)?;
        // Held until it has its name: whoever sweeps leaves it alone.
        let _ = file.try_lock();
        file.write_all(bytes)?;
        prepare(&fresh)?;
        if durable == Durable::Yes && !ao_mutant::active("LOOP-13/file-is-not-synced") {
            file.sync_all()?;
        }
        std::fs::rename(&fresh, path)?;
        match durable {
            Durable::Yes if ao_mutant::active("LOOP-13/folder-is-not-synced") => Ok(()),
            Durable::Yes => sync_folder(dir),
            Durable::No => Ok(()),
        }
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&fresh);
    })
}

/// Removes a file that [`replace_cache`] made; one that is not there is fine.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn remove_cache(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes files, and folders that are empty by then, durably and in this order. One that is not
/// there is fine, and so is a folder that is not empty: it stays.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn remove_all(dir: &Path, names: &[String]) -> io::Result<()> {
    for name in names {
        let path = dir.join(name);
        let removed = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => std::fs::remove_dir(&path),
            Ok(_) => std::fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed.map_err(|error| (error.kind(), error)) {
            Ok(()) | Err((io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty, _)) => {}
            Err((_, error)) => return Err(error),
        }
    }
    sync_folder(dir)
}

/// Removes a file, and the folder that it stood in if nothing else is there.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn remove_settings(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)?;
    if let Some(dir) = path.parent() {
        // Only an empty folder can be removed, and one that is not stays.
        let _ = std::fs::remove_dir(dir);
    }
    Ok(())
}

/// Gives a file or a folder another place on the same file system, durably. What stands there is
/// not replaced.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn move_aside(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)?;
    for dir in [from.parent(), to.parent()].into_iter().flatten() {
        sync_folder(dir)?;
    }
    Ok(())
}

/// Appends one line, durably. A last line that somebody left without its end is closed first, so
/// that two records never run into one.
pub fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let is_new = !path.exists();
    let mut file = open_with(path, OFlags::RDWR | APPEND, PUBLIC)?;
    let mut text = String::with_capacity(line.len() + 2);
    if !ends_with_newline(&mut file)? {
        text.push('\n');
    }
    text.push_str(line.trim_end_matches('\n'));
    text.push('\n');
    // One write: appenders of the same file do not come between.
    file.write_all(text.as_bytes())?;
    file.sync_data()?;
    match path.parent() {
        Some(dir) if is_new => sync_folder(dir),
        _ => Ok(()),
    }
}

/// Takes away what a file has after so many bytes, durably: what a crash left of a line.
pub fn cut_end(path: &Path, length: u64) -> io::Result<()> {
    let file = open_with(path, OFlags::WRONLY, 0)?;
    if file.metadata()?.len() < length {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the file is shorter than that"));
    }
    file.set_len(length)?;
    file.sync_all()
}

/// Appends one line to a log without waiting for the disk: it is written often, and what a crash takes
/// of it is the last moment. A log that grew to `bytes_max` is put aside first, over the one before it.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn append_note(path: &Path, line: &str, bytes_max: u64) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
        }
        Ok(found) if found.len() >= bytes_max => {
            let mut old = path.as_os_str().to_owned();
            old.push(".1");
            std::fs::rename(path, old)?;
        }
        _ => {}
    }
    let mut file = open_with(path, OFlags::WRONLY | APPEND, PUBLIC)?;
    file.write_all(format!("{}\n", line.trim_end_matches('\n')).as_bytes())
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(io::SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

/// Whether a file could be made in a folder, or in what it would be made in. Only a look.
pub fn may_be_written(folder: &Path) -> io::Result<()> {
    let found = folder.ancestors().find(|above| above.symlink_metadata().is_ok());
    let found = found.ok_or(io::ErrorKind::NotFound)?;
    if !found.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(access(found, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Makes the folders of `path` that are missing beneath `root`. A symlink on the way is refused, and so is `..`:
/// they could lead out of the tree.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn make_folders(root: &Path, path: &str) -> io::Result<()> {
    let mut folder = root.to_owned();
    for name in path.split('/') {
        if name == ".." {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path leads up"));
        }
        folder.push(name);
        match std::fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if ao_mutant::active("RUN-33/makes-a-symlink") {
                    let _ = std::os::unix::fs::symlink(root, folder.with_extension("link"));
                }
                match std::fs::create_dir(&folder) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => sync_name(&folder)?,
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Makes the name of a new folder durable: what is written into it later must not go with it.
fn sync_name(folder: &Path) -> io::Result<()> {
    match folder.parent() {
        Some(above) if !ao_mutant::active("LOOP-13/new-folder-is-not-synced") => sync_folder(above),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::{append_note, make_folders, remove_settings, replace_settings};

    #[test]
    fn folders_are_made_beneath_and_nowhere_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir(&root).unwrap();
        make_folders(&root, "a/b").unwrap();
        assert!(root.join("a/b").is_dir());
        for path in ["../out", "a/../../out", "a/b/.."] {
            assert!(make_folders(&root, path).is_err(), "{path}");
        }
        assert!(!place.path().join("out").exists());
    }

    #[test]
    fn a_log_that_has_grown_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log.jsonl");
        for line in ["one", "two", "three\n"] {
            append_note(&log, line, 8).unwrap();
        }
        assert_eq!(fs::read_to_string(&log).unwrap(), "three\n");
        assert_eq!(fs::read_to_string(dir.path().join("log.jsonl.1")).unwrap(), "one\ntwo\n");
        fs::remove_file(&log).unwrap();
        std::os::unix::fs::symlink("elsewhere", &log).unwrap();
        assert!(append_note(&log, "four", 8).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }

    #[test]
    fn settings_keep_their_permissions_and_go_with_their_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".host");
        fs::create_dir(&folder).unwrap();
        let file = folder.join("settings.json");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        replace_settings(&file, b"new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        remove_settings(&file).unwrap();
        assert!(!folder.exists());
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink("elsewhere", &file).unwrap();
        assert!(replace_settings(&file, b"new").is_err());
    }
}
