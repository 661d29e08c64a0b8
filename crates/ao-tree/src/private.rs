//! Files that nobody but their owner may read.
#![expect(clippy::disallowed_methods, reason = "this is the room that writes")]

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
const OTHERS: u32 = 0o077;

/// Makes a folder, and those above it that are missing, for the owner alone. One that is there and is
/// open to others, or is a link, is refused.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)?;
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_dir() || found.mode() & OTHERS != 0 {
        let why = "it is open to others, or no folder";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// Writes a new file for the owner alone, durably. One of that name is not replaced.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(FILE).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}
