//! A fingerprint of everything that a night reads: what the file system says of each file, with
//! nothing opened.
//!
//! Folders count by their name and place only. Their times move whenever a name in them comes or
//! goes, also where it is of no interest; the names themselves are counted.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ao_corpus::in_parallel;
use ao_tree::{Disk, Fs, Kind, Stat};

/// What nights write themselves, what can be made again from the rest, and what was asked: it decides
/// nothing, and is asked in any night.
const LEFT_OUT: [&[u8]; 4] =
    [b"overnight", b"ao/index", b"ao/questions.jsonl", b"ao/questions.jsonl.1"];
/// More is not one person's knowledge, and costs more to look at than it saves.
const ENTRIES_MAX: usize = 2_000_000;
const DEPTH_MAX: usize = 64;
const SECOND_NS: i128 = 1_000_000_000;
/// Kernels stamp files with a clock that ticks; no tick is longer.
pub(super) const TICK_NS: i128 = 20_000_000;
/// Some file systems keep whole seconds only, and one of them even ones.
const COARSE_TICK_NS: i128 = 2 * SECOND_NS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Print {
    pub(crate) hash: String,
    pub(crate) entries: u64,
    /// A file that changes after this moment has another fingerprint. Before it, a second change
    /// could hide behind the time of the first.
    pub(super) settles_ns: i128,
}

/// One name and where it is.
struct Spot {
    path: Vec<u8>,
    dir: <Disk as Fs>::Dir,
    name: std::ffi::OsString,
}

impl Print {
    /// Of the tree in `agents`. An error means that it could not be looked at whole.
    pub(crate) fn take(agents: &Path) -> io::Result<Self> {
        let disk = Disk::open(agents)?;
        let mut spots = Vec::new();
        walk(&disk, &disk.top(), b"", 0, &mut spots)?;
        spots.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let stats = in_parallel(&spots, |spot| disk.stat(&spot.dir, &spot.name));
        let mut hash = blake3::Hasher::new();
        let mut settles_ns = 0;
        for (spot, stat) in spots.iter().zip(stats) {
            // It went between the two looks.
            let Some(stat) = stat? else { return Err(io::ErrorKind::NotFound.into()) };
            if stat.is_mount_point {
                return Err(io::Error::other("what is mounted there goes by a clock of its own"));
            }
            hash.update(&(spot.path.len() as u64).to_le_bytes());
            hash.update(&spot.path);
            hash.update(&[stat.kind as u8]);
            hash.update(&stat.device.to_le_bytes());
            hash.update(&stat.inode.to_le_bytes());
            if stat.kind != Kind::Dir {
                hash.update(&stat.size.to_le_bytes());
                hash.update(&stat.modified_ns.to_le_bytes());
                hash.update(&stat.changed_ns.to_le_bytes());
                settles_ns = settles(&stat).max(settles_ns);
            }
        }
        let hash = hash.finalize().to_hex().to_string();
        Ok(Self { hash, entries: spots.len() as u64, settles_ns })
    }
}

fn walk(
    disk: &Disk,
    dir: &<Disk as Fs>::Dir,
    prefix: &[u8],
    depth: usize,
    spots: &mut Vec<Spot>,
) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other(format!("folders nested deeper than {DEPTH_MAX}")));
    }
    for entry in disk.names(dir)? {
        let path = joined(prefix, &entry.name);
        if LEFT_OUT.contains(&path.as_slice()) {
            continue;
        }
        if entry.kind == Kind::Dir {
            walk(disk, &disk.open_dir(dir, &entry.name)?, &path, depth + 1, spots)?;
        }
        if spots.len() >= ENTRIES_MAX {
            return Err(io::Error::other(format!("more than {ENTRIES_MAX} files")));
        }
        spots.push(Spot { path, dir: dir.clone(), name: entry.name });
    }
    Ok(())
}

fn joined(prefix: &[u8], name: &OsStr) -> Vec<u8> {
    let mut path = Vec::with_capacity(prefix.len() + 1 + name.len());
    path.extend_from_slice(prefix);
    if !prefix.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
    path
}

/// When a file that says these times of itself can no longer be changed behind them.
fn settles(stat: &Stat) -> i128 {
    let settles =
        |time_ns: i128| time_ns + if time_ns % SECOND_NS == 0 { COARSE_TICK_NS } else { TICK_NS };
    settles(stat.modified_ns).max(settles(stat.changed_ns))
}
