//! The corpus as it was, in one file.
//!
//! Blocks, each with its two lengths and packed by itself; unpacked and put together they are a first line
//! and an entry a file or folder: kind, number of the corpus, permissions, path, and the bytes of a file.
//! The record of the night has the hash of the whole. Number 0 is the repository's own corpus, all of it
//! but what nights write themselves and the index, which is made again; the others are what was harvested.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ao_corpus::harvest::{Source, SourceForm};
use ao_corpus::{SEARCHED, in_parallel};
use ao_tree::{Disk, Fs, Kind, shown};

use super::AGENTS;

const HEAD: &[u8] = b"ao corpus 1\n";
/// What nights write themselves, what can be made again from the rest, and what was asked: the record of the
/// night has it.
const LEFT_OUT: [&[u8]; 4] =
    [b"overnight", b"ao/index", b"ao/questions.jsonl", b"ao/questions.jsonl.1"];
/// Beside what is searched, a night reads these.
const ALSO_READ: [&str; 2] = ["rpi", "ao"];
/// What is read of another corpus.
const HARVESTED: [&str; 3] = ["learnings", "patterns", "findings"];
/// A larger corpus is not kept: in bytes of its files, and of the file that has it.
pub const CORPUS_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const ENTRIES_MAX: usize = 2_000_000;
const DEPTH_MAX: usize = 64;
/// So much is packed at once.
const BLOCK_BYTES: usize = 1024 * 1024;
/// So many files are read before they are packed.
const BATCH: usize = 1024;
const PATH_BYTES_MAX: usize = 4096;
const FILE: u8 = b'f';
const FOLDER: u8 = b'd';
const PERMISSIONS: u32 = 0o777;
/// Without these nobody could put anything into a folder, or take the scratch away.
const OWN_FOLDER: u32 = 0o700;

/// Why a corpus is not kept.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error("the corpus could not be kept: {0}")]
    Io(#[from] io::Error),
    #[error("the corpus could not be kept: it has more than {CORPUS_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the corpus could not be kept: {0} is a symlink, FIFO, socket or device")]
    Odd(String),
    #[error("the corpus could not be kept: {path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("the corpus could not be kept: {0} holds a value of the vault")]
    Secret(String),
}

/// A corpus in one piece.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) entries: u64,
}

/// One name, and where it is.
struct Spot {
    number: u32,
    path: Vec<u8>,
    kind: Kind,
    dir: <Disk as Fs>::Dir,
    name: OsString,
}

/// Whose corpus it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Own,
    Theirs,
}

/// The name of the folder that corpus `number` is unpacked into.
pub(super) fn folder(number: u32) -> String {
    format!("place-{number}")
}

/// The numbers of these sources: the same folder has the same one.
pub(super) fn numbers(sources: &[Source]) -> Vec<u32> {
    let mut known: Vec<&Path> = Vec::new();
    let number = |source| {
        let source: &Source = source;
        let at = known.iter().position(|path| *path == source.agents).unwrap_or_else(|| {
            known.push(&source.agents);
            known.len() - 1
        });
        u32::try_from(at + 1).unwrap_or(u32::MAX)
    };
    sources.iter().map(number).collect()
}

/// Packs the corpus in `agents`, and what these sources have to offer.
pub(crate) fn pack(agents: &Path, sources: &[Source]) -> Result<Packed, Unfit> {
    let mut packer = Packer::default();
    packer.block.extend_from_slice(HEAD);
    let disk = Disk::open(agents)?;
    let mut spots = Vec::new();
    walk(&disk, (&disk.top(), b""), (0, Whose::Own), 0, &mut spots)?;
    packer.put(&disk, &spots)?;
    let mut before = 0;
    for (source, number) in sources.iter().zip(numbers(sources)) {
        // Each folder once.
        if number <= before || source.refused.is_some() {
            continue;
        }
        before = number;
        // One that cannot be opened has nothing to offer, then as now.
        let Ok(disk) = Disk::open(&source.agents) else { continue };
        let mut spots = Vec::new();
        match &source.form {
            SourceForm::Drafts(folder) => reach(&disk, folder, number, &mut spots)?,
            SourceForm::Corpus => {
                for folder in HARVESTED {
                    reach(&disk, folder, number, &mut spots)?;
                }
            }
        }
        packer.put(&disk, &spots)?;
    }
    Ok(packer.finish())
}

/// Everything in one folder of another corpus.
fn reach(disk: &Disk, folder: &str, number: u32, spots: &mut Vec<Spot>) -> Result<(), Unfit> {
    let (mut dir, mut path) = (disk.top(), Vec::new());
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        let Ok(inner) = disk.open_dir(&dir, OsStr::new(name)) else { return Ok(()) };
        path = joined(&path, OsStr::new(name));
        let (kind, name) = (Kind::Dir, name.into());
        spots.push(Spot { number, path: path.clone(), kind, dir, name });
        dir = inner;
    }
    walk(disk, (&dir, &path), (number, Whose::Theirs), 0, spots)
}

fn walk(
    disk: &Disk,
    (dir, prefix): (&<Disk as Fs>::Dir, &[u8]),
    (number, whose): (u32, Whose),
    depth: usize,
    spots: &mut Vec<Spot>,
) -> Result<(), Unfit> {
    if depth > DEPTH_MAX || spots.len() > ENTRIES_MAX {
        return Err(Unfit::TooLarge);
    }
    let mut names = disk.names(dir)?;
    names.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    for entry in names {
        let path = joined(prefix, &entry.name);
        if whose == Whose::Own && LEFT_OUT.contains(&path.as_slice()) {
            continue;
        }
        match entry.kind {
            Kind::Symlink | Kind::Special => {
                // Of others only what can be read is looked at.
                if whose == Whose::Own && is_read(&path) {
                    return Err(Unfit::Odd(told(&path)));
                }
            }
            Kind::File | Kind::Dir => {
                let (kind, name) = (entry.kind, entry.name);
                let inner = match kind {
                    Kind::Dir => match disk.open_dir(dir, &name) {
                        Ok(inner) => Some(inner),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        Err(_) if !is_needed(whose, &path) => continue,
                        Err(error) => return Err(unreadable(&path, &error)),
                    },
                    _ => None,
                };
                spots.push(Spot { number, path: path.clone(), kind, dir: dir.clone(), name });
                if let Some(inner) = inner {
                    walk(disk, (&inner, &path), (number, whose), depth + 1, spots)?;
                }
            }
        }
    }
    Ok(())
}

/// Whether a night reads what lies there, or only that it is there.
fn is_read(path: &[u8]) -> bool {
    let first = path.split(|byte| *byte == b'/').next().unwrap_or_default();
    SEARCHED.iter().chain(&ALSO_READ).any(|folder| folder.as_bytes() == first)
}

fn is_needed(whose: Whose, path: &[u8]) -> bool {
    whose == Whose::Own && is_read(path)
}

fn told(path: &[u8]) -> String {
    shown(&String::from_utf8_lossy(path))
}

fn unreadable(path: &[u8], error: &io::Error) -> Unfit {
    Unfit::Unreadable { path: told(path), why: error.to_string() }
}

fn joined(prefix: &[u8], name: &OsStr) -> Vec<u8> {
    let mut path = prefix.to_vec();
    if !prefix.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
    path
}

#[derive(Default)]
struct Packer {
    block: Vec<u8>,
    packed: Vec<u8>,
    entries: u64,
    bytes: u64,
}

impl Packer {
    fn put(&mut self, disk: &Disk, spots: &[Spot]) -> Result<(), Unfit> {
        let redactor = ao_vault::redactor();
        for batch in spots.chunks(BATCH) {
            let left = CORPUS_BYTES_MAX.saturating_sub(self.bytes);
            let read = in_parallel(batch, |spot| match spot.kind {
                Kind::Dir => disk
                    .stat(&spot.dir, &spot.name)
                    .map(|stat| stat.map(|stat| (stat.mode, Vec::new()))),
                _ => match disk.read_with_stat(&spot.dir, &spot.name, left) {
                    Ok((bytes, stat)) => Ok(Some((stat.mode, bytes))),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(error),
                },
            });
            for (spot, read) in batch.iter().zip(read) {
                let (mode, bytes) = match read {
                    Ok(Some(read)) => read,
                    // It went meanwhile.
                    Ok(None) => continue,
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                        return Err(Unfit::TooLarge);
                    }
                    Err(_) if spot.number > 0 || !is_read(&spot.path) => continue,
                    Err(error) => return Err(unreadable(&spot.path, &error)),
                };
                if redactor.is_in(&bytes) || redactor.is_in(&spot.path) {
                    return Err(Unfit::Secret(ao_vault::said(told(&spot.path).as_bytes())));
                }
                self.bytes = self.bytes.saturating_add(bytes.len() as u64);
                if self.bytes > CORPUS_BYTES_MAX {
                    return Err(Unfit::TooLarge);
                }
                self.entry(spot, mode & PERMISSIONS, &bytes);
            }
        }
        Ok(())
    }

    fn entry(&mut self, spot: &Spot, mode: u32, bytes: &[u8]) {
        let is_file = spot.kind == Kind::File;
        self.block.push(if is_file { FILE } else { FOLDER });
        self.block.extend_from_slice(&spot.number.to_le_bytes());
        self.block.extend_from_slice(&mode.to_le_bytes());
        let length = u32::try_from(spot.path.len()).unwrap_or(u32::MAX);
        self.block.extend_from_slice(&length.to_le_bytes());
        self.block.extend_from_slice(&spot.path);
        if is_file {
            self.block.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            self.block.extend_from_slice(bytes);
        }
        self.entries += 1;
        while self.block.len() >= BLOCK_BYTES {
            let rest = self.block.split_off(BLOCK_BYTES);
            self.flush();
            self.block = rest;
        }
    }

    fn flush(&mut self) {
        let packed = lz4_flex::block::compress(&self.block);
        for length in [self.block.len(), packed.len()] {
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            self.packed.extend_from_slice(&length.to_le_bytes());
        }
        self.packed.extend_from_slice(&packed);
        self.block.clear();
    }

    fn finish(mut self) -> Packed {
        self.flush();
        Packed { bytes: self.packed, entries: self.entries }
    }
}

/// Puts a packed corpus into `scratch`, an empty folder. What is no such corpus is `InvalidData`.
pub(super) fn unpack(packed: &[u8], scratch: &Path) -> io::Result<()> {
    let bytes = blocks(packed)?;
    let mut rest = bytes.strip_prefix(HEAD).ok_or_else(|| bad("it does not begin as one"))?;
    ao_tree::make_folders(scratch, &format!("{}/{AGENTS}", folder(0)))?;
    let disk = Disk::open(scratch)?;
    // Entries come in the order of a walk: the last folder is usually the one.
    let mut last: Option<(Vec<u8>, <Disk as Fs>::Dir)> = None;
    while !rest.is_empty() {
        let kind = take(&mut rest, 1)?[0];
        let number = number(&mut rest)?;
        let mode = self::number(&mut rest)? & PERMISSIONS;
        let length = self::number(&mut rest)? as usize;
        if length > PATH_BYTES_MAX {
            return Err(bad("a path is too long"));
        }
        let path = take(&mut rest, length)?;
        let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
        if !path.split(|byte| *byte == b'/').all(is_plain) {
            return Err(bad("a path is none"));
        }
        let at = path.iter().rposition(|byte| *byte == b'/');
        let (parent, name) = at.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
        let whole = [folder(number).as_bytes(), b"/", AGENTS.as_bytes(), b"/", parent].concat();
        let dir = match &last {
            Some((known, dir)) if *known == whole => dir.clone(),
            _ => opened(&disk, &whole)?,
        };
        let name = OsStr::from_bytes(name);
        match kind {
            FILE => {
                let size = u64::from_le_bytes(
                    take(&mut rest, 8)?.try_into().map_err(|_| bad("it is cut"))?,
                );
                let size = usize::try_from(size).map_err(|_| bad("a file is too large"))?;
                disk.create(&dir, name, take(&mut rest, size)?, mode)?;
            }
            FOLDER => disk.make_dir(&dir, name, mode | OWN_FOLDER)?,
            _ => return Err(bad("an entry is neither a file nor a folder")),
        }
        last = Some((whole, dir));
    }
    Ok(())
}

/// The folder at this path; what is missing of it is made.
fn opened(disk: &Disk, path: &[u8]) -> io::Result<<Disk as Fs>::Dir> {
    let mut dir = disk.top();
    for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        let name = OsStr::from_bytes(name);
        dir = match disk.open_dir(&dir, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                disk.make_dir(&dir, name, OWN_FOLDER)?;
                disk.open_dir(&dir, name)?
            }
            opened => opened?,
        };
    }
    Ok(dir)
}

fn blocks(mut packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while !packed.is_empty() {
        let size = number(&mut packed)? as usize;
        let length = number(&mut packed)? as usize;
        if size > BLOCK_BYTES || (bytes.len() + size) as u64 > 2 * CORPUS_BYTES_MAX {
            return Err(bad("it is too large"));
        }
        let block = take(&mut packed, length)?;
        let block = lz4_flex::block::decompress(block, size)
            .map_err(|error| bad(&format!("a block cannot be unpacked: {error}")))?;
        bytes.extend_from_slice(&block);
    }
    Ok(bytes)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> io::Result<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length).ok_or_else(|| bad("it is cut"))?;
    *rest = left;
    Ok(taken)
}

fn number(rest: &mut &[u8]) -> io::Result<u32> {
    let bytes = take(rest, 4)?.try_into().map_err(|_| bad("it is cut"))?;
    Ok(u32::from_le_bytes(bytes))
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}
