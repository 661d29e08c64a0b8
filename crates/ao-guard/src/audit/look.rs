//! One entry of a tree, looked at without being followed, and without waiting.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use ao_contract::{EntryKind, ManifestEntry};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, open, readlinkat, statat};

/// A larger file is known by its size and the time of its last change.
const HASHED_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const CHUNK_BYTES: usize = 128 * 1024;
const ATTRIBUTE_BYTES_MAX: usize = 64 * 1024;
/// Attributes that grant something, or that anybody can set.
const ATTRIBUTES: [&str; 4] =
    ["security.capability", "system.posix_acl_access", "system.posix_acl_default", "user."];

/// What an overlay writes down about its own files.
const OVERLAY: &str = "user.overlay.";

/// What an entry of an overlay's upper directory says about what is beneath it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    None,
    /// It is gone.
    Removed,
    /// All that was in the folder is gone.
    Hidden,
}

/// The mark of an entry of an upper directory.
pub(super) fn mark(path: &Path, entry: &ManifestEntry) -> Mark {
    let has = |name: &str| {
        let mut value = [0; 8];
        rustix::fs::lgetxattr(path, format!("{OVERLAY}{name}"), &mut value[..]).is_ok()
    };
    let is_numberless =
        || statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|s| s.st_rdev == 0);
    match entry.kind {
        EntryKind::Device if is_numberless() => Mark::Removed,
        EntryKind::File if entry.size == 0 && has("whiteout") => Mark::Removed,
        EntryKind::Folder if has("opaque") => Mark::Hidden,
        _ => Mark::None,
    }
}

/// Reads everything about one path. A file that changes under the reader is read once more.
pub(super) fn entry(path: &Path, name: String) -> io::Result<ManifestEntry> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = kind(&stat);
    let is_folder = kind == EntryKind::Folder;
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    let mut entry = ManifestEntry {
        path: name,
        kind,
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        size: if is_folder { 0 } else { size },
        links: if is_folder { 1 } else { links(&stat) },
        hash: None,
        changed_at: None,
        target: None,
        attributes: BTreeMap::new(),
    };
    match kind {
        EntryKind::File if size > HASHED_BYTES_MAX => entry.changed_at = Some(changed_at(&stat)),
        EntryKind::File => entry.hash = Some(hash_steadily(path, &stat)?),
        EntryKind::Link => {
            entry.target = Some(escaped(readlinkat(CWD, path, Vec::new())?.as_bytes()));
        }
        _ => {}
    }
    if matches!(kind, EntryKind::File | EntryKind::Folder) {
        entry.attributes = attributes(path);
    }
    Ok(entry)
}

/// The hash of the first bytes of a file, for one that only grows.
pub(super) fn hash_of_first(path: &Path, bytes: u64) -> io::Result<String> {
    hash(open_still(path)?.0.take(bytes))
}

/// A path as text that can be turned back.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// How a manifest names a path.
pub fn name_of(path: &Path) -> String {
    escaped(path.as_os_str().as_bytes())
}

/// The path that a manifest names. What was not escaped here means itself.
pub(super) fn path_of(name: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.strip_prefix('x').and_then(|after| after.get(..2));
        let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'\\'));
        rest = match byte {
            Some(_) => &after[3..],
            None => after.strip_prefix('\\').unwrap_or(after),
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    OsString::from_vec(bytes).into()
}

fn kind(stat: &Stat) -> EntryKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo => EntryKind::Pipe,
        FileType::Socket => EntryKind::Socket,
        _ => EntryKind::Device,
    }
}

#[allow(clippy::useless_conversion, reason = "the width of a link count differs by platform")]
fn links(stat: &Stat) -> u64 {
    u64::from(stat.st_nlink)
}

fn changed_at(stat: &Stat) -> String {
    format!("{}.{:09}", stat.st_ctime, stat.st_ctime_nsec)
}

/// Opens a file that cannot be a link, a pipe or a device by the time it is open.
fn open_still(path: &Path) -> io::Result<(File, Stat)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    if kind(&stat) != EntryKind::File {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it became something else"));
    }
    Ok((File::from(file), stat))
}

fn hash_steadily(path: &Path, seen: &Stat) -> io::Result<String> {
    let is_same = |one: &Stat, other: &Stat| {
        (one.st_ino, one.st_size, one.st_ctime, one.st_ctime_nsec)
            == (other.st_ino, other.st_size, other.st_ctime, other.st_ctime_nsec)
    };
    for _ in 0..2 {
        let (file, before) = open_still(path)?;
        let hash = hash(&file)?;
        if is_same(&before, &fstat(&file)?) && before.st_dev == seen.st_dev {
            return Ok(hash);
        }
    }
    Err(io::Error::other("it changes while it is read"))
}

fn hash(mut file: impl Read) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            count => drop(hasher.update(&chunk[..count])),
        }
    }
}

/// A file system without attributes has none.
fn attributes(path: &Path) -> BTreeMap<String, String> {
    let mut names = vec![0; ATTRIBUTE_BYTES_MAX];
    let Ok(length) = rustix::fs::llistxattr(path, &mut names[..]) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        if name.starts_with(OVERLAY) || !ATTRIBUTES.iter().any(|wanted| name.starts_with(wanted)) {
            continue;
        }
        let mut value = vec![0; ATTRIBUTE_BYTES_MAX];
        let value = match rustix::fs::lgetxattr(path, name, &mut value[..]) {
            Ok(length) => blake3::hash(&value[..length]).to_hex().to_string(),
            Err(error) => format!("unread: {error}"),
        };
        found.insert(name.to_owned(), value);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_turned_back() {
        for bytes in
            [&b"plain/a b"[..], b"a\\b", b"\\x41", b"\\\\x", b"\xff\\\xfe/\\", "é\\".as_bytes()]
        {
            let name = escaped(bytes);
            assert_eq!(path_of(&name).as_os_str().as_bytes(), bytes, "{name}");
        }
        for odd in ["\\", "\\x4", "\\xé", "\\q"] {
            assert_eq!(path_of(odd), Path::new(odd));
        }
    }
}
