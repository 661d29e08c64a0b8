//! The packets that runs left on disk, found by an id or the beginning of one.

use std::io;
use std::path::{Path, PathBuf};

use ao_contract::{MorningPacket, PacketIndex};
use ao_corpus::Files;

use crate::artifacts::PACKETS_DIR;

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const FILES_MAX: usize = 200;
/// Earlier runs that are looked through for an id that the newest does not have.
const RUNS_MAX: usize = 50;
const INDEX: &str = "index.json";
const PREFIX: &str = "dream-";

/// What an id leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Shelved {
    /// A packet of the newest run, or of the earlier one that is named.
    Packet { packet: Box<MorningPacket>, run: Option<String> },
    /// The beginning of several ids.
    Several(Vec<String>),
    /// No packet; these are the ids of the newest run that has any.
    Nothing(Vec<String>),
}

/// The packets of one run, by rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shelf {
    pub packets: Vec<MorningPacket>,
    /// Files that are no packets, and why.
    pub unread: Vec<(String, String)>,
}

impl Shelf {
    /// Reads the packets in a run's folder. A file that cannot be read costs the others nothing.
    pub fn read(run_dir: &Path) -> io::Result<Self> {
        let mut shelf = Self::default();
        let files = Files::list(run_dir, &[PACKETS_DIR])?;
        let is_json = |path: &str| Path::new(path).extension().is_some_and(|kind| kind == "json");
        for file in files.found.iter().filter(|file| is_json(&file.path)).take(FILES_MAX) {
            let read = files.read_up_to(file, FILE_BYTES_MAX).and_then(|bytes| {
                if file.path.ends_with(INDEX) { of_index(&bytes) } else { of_packet(&bytes) }
            });
            match read {
                Ok(packets) => shelf.take(packets),
                Err(why) => shelf.unread.push((file.path.clone(), why)),
            }
        }
        shelf.packets.sort_by(|a, b| (a.rank, &a.id).cmp(&(b.rank, &b.id)));
        Ok(shelf)
    }

    fn take(&mut self, packets: Vec<MorningPacket>) {
        for packet in packets {
            if !self.packets.iter().any(|other| other.id == packet.id) {
                self.packets.push(packet);
            }
        }
    }

    fn ids(&self) -> Vec<String> {
        self.packets.iter().map(|packet| packet.id.clone()).collect()
    }

    fn called(&self, name: &str) -> Vec<&MorningPacket> {
        let own = self.packets.iter().find(|packet| packet.id == name);
        let begins = |packet: &&MorningPacket| {
            let digits = packet.id.strip_prefix(PREFIX).unwrap_or(&packet.id);
            packet.id.starts_with(name) || digits.starts_with(name)
        };
        own.map_or_else(|| self.packets.iter().filter(begins).collect(), |packet| vec![packet])
    }
}

fn of_packet(bytes: &[u8]) -> Result<Vec<MorningPacket>, String> {
    serde_json::from_slice(bytes).map(|packet| vec![packet]).map_err(|error| error.to_string())
}

fn of_index(bytes: &[u8]) -> Result<Vec<MorningPacket>, String> {
    let index: PacketIndex = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok(index.packets)
}

/// Looks for a packet: among those of the newest run, and then among earlier ones, newest first.
pub fn find_packet(output_dir: &Path, name: &str) -> io::Result<Shelved> {
    let newest = Shelf::read(output_dir)?;
    if let Some(found) = among(&newest, name, None) {
        return Ok(found);
    }
    let mut ids = newest.ids();
    for run in earlier_runs(output_dir)? {
        let shelf = Shelf::read(&output_dir.join(&run))?;
        let run = run.to_string_lossy().into_owned();
        if let Some(found) = among(&shelf, name, Some(run)) {
            return Ok(found);
        }
        if ids.is_empty() {
            ids = shelf.ids();
        }
    }
    Ok(Shelved::Nothing(ids))
}

fn among(shelf: &Shelf, name: &str, run: Option<String>) -> Option<Shelved> {
    match &shelf.called(name)[..] {
        [] => None,
        [packet] => Some(Shelved::Packet { packet: Box::new((*packet).clone()), run }),
        several => Some(Shelved::Several(several.iter().map(|packet| packet.id.clone()).collect())),
    }
}

/// Earlier runs lie in folders of their own, named by when they began.
fn earlier_runs(output_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(output_dir)? {
        let entry = entry?;
        let begins_with_a_year = entry.file_name().to_string_lossy().starts_with(char::is_numeric);
        if begins_with_a_year && entry.file_type()?.is_dir() {
            runs.push(PathBuf::from(entry.file_name()));
        }
    }
    runs.sort_unstable_by(|a, b| b.cmp(a));
    runs.truncate(RUNS_MAX);
    Ok(runs)
}
