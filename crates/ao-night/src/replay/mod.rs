//! A night run again: over the corpus as it was, with the clock and the answers that it had.
//!
//! A night that works keeps what it was told beside its cassette, and the corpus as it was before its first
//! iteration. A replay unpacks that into a scratch folder and runs every stage there; nothing of the
//! repository is written, nobody is asked and no program is started. What comes out is compared with the
//! summary that the night wrote.

mod compare;
mod corpus;
mod council;
mod keep;
mod settings;

use std::io;
use std::path::{Path, PathBuf};

use ao_contract::{NightCouncil, NightEvent, NightRecord};
use ao_runner::cassette::{Cassette, CassetteError};
use ao_tree::own_file;

use crate::clock::Clock;
use crate::council::{Council, Desk};
use crate::curator::Open;
use crate::outside::Outside;
use crate::settings::Settings;
use crate::transcripts::Transcripts;

pub use compare::{Difference, compare};
pub use corpus::{CORPUS_BYTES_MAX, Unfit};
pub(crate) use corpus::{Packed, pack};
pub(crate) use keep::{Gone, digest, expire, keep, keep_corpus};
pub(crate) use settings::told;

/// A larger one is none.
const NIGHT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// What a scratch folder has the corpus in.
const AGENTS: &str = ".agents";

/// Whether a night is kept, or is one that is run again.
#[derive(Debug)]
pub enum Memory {
    /// Nothing is kept of it.
    Nothing,
    Keep(Retention),
    Replay(Box<Past>),
}

/// How long what nights keep of themselves stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub days: u64,
    /// All of it together; the newest stays whatever its size.
    pub bytes_max: u64,
}

/// A night that is over, unpacked.
#[derive(Debug)]
pub struct Past {
    pub night: NightRecord,
    /// The corpus as it was.
    agents: PathBuf,
    /// Other corpora, by their number.
    sources: PathBuf,
}

impl Memory {
    pub(crate) fn agents(&self) -> Option<&Path> {
        match self {
            Self::Replay(past) => Some(&past.agents),
            Self::Nothing | Self::Keep(_) => None,
        }
    }

    pub(crate) fn outside(&self, clock: Clock) -> Outside {
        match self {
            Self::Nothing => Outside::unkept(clock),
            Self::Keep(_) => Outside::recording(clock),
            Self::Replay(past) => Outside::playing(clock, &past.night),
        }
    }
}

/// Why a night cannot be run again.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("{0} is no id of a run")]
    NoId(String),
    #[error("nothing is kept of run {0}")]
    NotKept(String),
    #[error("run {run} cannot be replayed: {why}")]
    NotReplayable { run: String, why: String },
    #[error("the corpus that run {0} began with is gone")]
    CorpusGone(String),
    #[error("{what} is damaged: {why}")]
    Damaged { what: String, why: String },
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

/// What a night kept of itself, as it was read and found whole.
#[derive(Debug)]
pub struct Kept {
    pub night: NightRecord,
    packed: Vec<u8>,
}

impl Kept {
    /// Reads what run `id` kept; `state` is the folder of the nights.
    pub fn open(state: &Path, id: &str) -> Result<Self, Refused> {
        let night = read_night(state, id)?;
        if let Some(why) = &night.not_replayable {
            return Err(Refused::NotReplayable { run: id.to_owned(), why: why.clone() });
        }
        let path = keep::corpus_path(state, id);
        let name = ao_tree::shown(&path.to_string_lossy());
        let damaged = |why: &str| Refused::Damaged { what: name.clone(), why: why.to_owned() };
        let Some(told) = &night.corpus else {
            return Err(Refused::CorpusGone(id.to_owned()));
        };
        let packed = match own_file::read_if_any(&path, CORPUS_BYTES_MAX) {
            Ok(Some(packed)) => packed,
            Ok(None) => return Err(Refused::CorpusGone(id.to_owned())),
            Err(source) => return Err(Refused::Io { what: name, source }),
        };
        if blake3::hash(&packed).to_hex().as_str() != told.hash {
            return Err(damaged("its hash is not the one that the night wrote down"));
        }
        Ok(Self { night, packed })
    }

    /// Who was asked, if somebody was.
    pub fn asked(&self) -> Option<&NightCouncil> {
        self.night.council.as_ref()
    }

    /// The events that the council looked at.
    pub fn desk(&self) -> Desk {
        let open = |one: &NightEvent| Open { event: one.event.clone(), calls_left: one.calls_left };
        Desk::Past(self.night.events.iter().map(open).collect())
    }

    /// The council, with its answers from the cassette.
    pub fn council(&self, state: &Path) -> Result<Option<Council>, Refused> {
        let Some(told) = &self.night.council else { return Ok(None) };
        let what = format!("{}.jsonl", self.night.run_id);
        let path = ao_runner::cassette::path(state, &self.night.run_id)
            .map_err(|source| Refused::Io { what: what.clone(), source })?;
        let cassette = match Cassette::open(&path) {
            Ok(cassette) => Some(cassette),
            Err(CassetteError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                None
            }
            Err(CassetteError::Io { source, .. }) => return Err(Refused::Io { what, source }),
            Err(CassetteError::Damaged { line, why, .. }) => {
                return Err(Refused::Damaged { what, why: format!("line {line}: {why}") });
            }
        };
        Ok(Some(council::council(told, cassette, self.desk())))
    }

    /// Puts the corpus into `scratch`, an empty folder.
    pub fn unpack(self, scratch: &Path) -> Result<Past, Refused> {
        let name = format!("{}.corpus", self.night.run_id);
        corpus::unpack(&self.packed, scratch).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => {
                Refused::Damaged { what: name.clone(), why: error.to_string() }
            }
            _ => Refused::Io { what: format!("unpack {name}"), source: error },
        })?;
        let past = Past {
            night: self.night,
            agents: scratch.join(corpus::folder(0)).join(AGENTS),
            sources: scratch.to_owned(),
        };
        let fail = |source| Refused::Io { what: "the scratch folder".into(), source };
        ao_tree::make_folders(scratch, &format!("{}/{AGENTS}/overnight", corpus::folder(0)))
            .map_err(fail)?;
        // The rescues that were left then.
        crate::budget::write(&past.agents.join("overnight"), &past.night.warn_only_budget)
            .map_err(fail)?;
        Ok(past)
    }
}

impl Past {
    /// Where the corpus is, for a door to be opened on.
    pub fn agents(&self) -> &Path {
        &self.agents
    }

    /// What the night was told to do, with its report in the scratch folder.
    pub fn settings(&self) -> Result<Settings, Refused> {
        let place = |number: u32| self.sources.join(corpus::folder(number)).join(AGENTS);
        let output = self.agents.join("overnight/latest");
        let told = settings::settings(&self.night.settings, output, place);
        let mut settings = told.map_err(|why| Refused::Damaged {
            what: format!("{}.night.json", self.night.run_id),
            why,
        })?;
        // What they offered then is told again; they are not looked at.
        settings.transcripts = self.night.transcripts.as_ref().map(|_| Transcripts::default());
        Ok(settings)
    }
}

fn read_night(state: &Path, id: &str) -> Result<NightRecord, Refused> {
    ao_contract::check_id(id).map_err(|_| Refused::NoId(ao_tree::shown(id)))?;
    let path = keep::night_path(state, id);
    let name = ao_tree::shown(&path.to_string_lossy());
    let damaged = |why: String| Refused::Damaged { what: name.clone(), why };
    let bytes = match own_file::read_if_any(&path, NIGHT_BYTES_MAX) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(Refused::NotKept(id.to_owned())),
        Err(source) => return Err(Refused::Io { what: name, source }),
    };
    let value: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let night: NightRecord =
        ao_contract::read(&value).map_err(|error| damaged(error.to_string()))?;
    if digest(&value).as_deref() != Some(night.digest.as_str()) {
        return Err(damaged("its digest is another one".into()));
    }
    if night.run_id != id {
        return Err(damaged("it is the record of another run".into()));
    }
    if let Some(name) = leading_out(&night) {
        return Err(damaged(format!("{} is no name of a file", ao_tree::shown(name))));
    }
    Ok(night)
}

/// What would be the name of a file in the scratch folder and leads somewhere else. Anybody can write a digest.
fn leading_out(night: &NightRecord) -> Option<&str> {
    let mut slugs = night.council.iter().flat_map(|council| &council.seats).map(|seat| &*seat.slug);
    let mut folders = night.settings.harvest.iter().filter_map(|source| source.drafts.as_deref());
    let is_odd = |name: &&str| ao_contract::check_id(name).is_err();
    slugs.find(is_odd).or_else(|| folders.find(|path| path.split('/').any(|name| is_odd(&name))))
}

/// The hash of a summary's file, as the record of a night has it.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
