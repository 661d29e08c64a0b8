//! What writers left who were killed in the middle of a file.

use std::ffi::OsStr;
use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::own_file;

/// Takes away what writers left in a folder who were killed in the middle of a file: `.NAME.PROCESS.new`, of this user,
/// of a process that is gone. One that lives in another container holds the lock of its file.
#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
pub fn sweep(folder: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let user = rustix::process::geteuid().as_raw();
    for entry in entries {
        let entry = entry?;
        let is_left = is_of_the_dead(&entry.file_name()) && entry.metadata()?.uid() == user;
        if !is_left || ao_mutant::active("RUN-30/leftovers-stay") {
            continue;
        }
        let Ok(file) = own_file::open(&entry.path()) else { continue };
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn is_of_the_dead(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let process = name.strip_suffix(".new").and_then(|rest| rest.rsplit_once('.'));
    name.starts_with('.')
        && process.is_some_and(|(_, id)| {
            id.parse::<u32>().is_ok() && !Path::new("/proc").join(id).exists()
        })
}
