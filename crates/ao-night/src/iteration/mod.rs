//! One iteration: INGEST, REDUCE and MEASURE are thought out in memory over the tree as it is, COMMIT
//! brings the whole through the door.
//!
//! Nothing is written before COMMIT: the staged tree is an overlay of edits, and the door builds it on
//! disk only when it has been judged.

mod fault;
mod ingest;
mod measure;
mod propose;
mod record;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use ao_contract::{CommittedTexts, NightTranscripts};
use ao_corpus::latest_day;
use ao_corpus::transcripts::Memo;
use ao_tree::{Disk, Door};
use jiff::civil::Date;

use crate::clock::Clock;
use crate::outside::Outside;
use crate::place::Place;
use crate::progress::Progress;
use crate::settings::Settings;

pub(crate) use fault::fault;
pub(crate) use ingest::HARVESTED_MAX;
pub(crate) use measure::{Baseline, Measured, measure_live, past};
pub(crate) use propose::{PARTS, Proposal, TURNS_MAX, measure_again, propose, refused};
pub(crate) use record::{Ending, RESCUE, Timed, id_of, in_milliseconds, record, rounded};

/// What the run's day is recorded as. Nights that were recorded before have it under this name, too.
const DAY: &str = "latest-day";

/// Everything that an iteration works on; shared with the thread that thinks.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) door: Door<Disk>,
    /// The repository, with no symlink on the way.
    pub(crate) root: PathBuf,
    pub(crate) agents: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    /// The way to all that is not in the corpus.
    pub(crate) outside: Arc<Outside>,
    pub(crate) progress: Progress,
    /// What before and after are both measured by; fixed when first needed.
    pub(crate) baseline: OnceLock<Baseline>,
    /// What the transcripts offer; read when first needed.
    pub(crate) offered: OnceLock<NightTranscripts>,
    /// What is to be remembered of the transcripts, once an iteration has ended.
    pub(crate) memo: Mutex<Option<Memo>>,
    /// What of the pending texts is in a commit; asked when first needed.
    pub(crate) committed: OnceLock<CommittedTexts>,
    /// What the first iteration found when it began.
    pub(crate) began: OnceLock<Began>,
    /// The run's own day; one for the whole run, also over midnight.
    today: OnceLock<Date>,
}

/// How much there is to work on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Began {
    pub(crate) entries: u64,
    pub(crate) pending: u64,
    pub(crate) harvest_entries: u64,
    pub(crate) drafts: u64,
    /// Transcripts of this repository.
    pub(crate) transcripts: u64,
    /// The hash of the corpus, where it was needed.
    pub(crate) corpus: Option<String>,
    /// The first day on which the same corpus is judged otherwise, if there is one.
    pub(crate) next_change: Option<Date>,
}

impl Work {
    /// With nothing found out yet.
    pub(crate) fn new(
        (door, root, agents): (Door<Disk>, PathBuf, PathBuf),
        settings: Settings,
        (clock, outside, progress): (Clock, Arc<Outside>, Progress),
    ) -> Self {
        let (baseline, offered, began) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let memo = Mutex::default();
        Self {
            door,
            root,
            agents,
            settings,
            clock,
            outside,
            progress,
            baseline,
            offered,
            memo,
            committed: OnceLock::new(),
            began,
            today: OnceLock::new(),
        }
    }

    /// The run's own day: terms end and waits are over by it.
    pub(crate) fn today(&self) -> Date {
        let read = || self.outside.reading(DAY).day();
        if ao_mutant::active("RUN-44/another-day-after-midnight") {
            return read();
        }
        if ao_mutant::active("RUN-44/replayed-by-the-clock") {
            return self.clock.day();
        }
        *self.today.get_or_init(read)
    }

    /// What of the pending texts is in a commit: the same for the whole run.
    pub(crate) fn committed(&self) -> &CommittedTexts {
        let ask = || self.outside.committed(|| self.settings.commits.texts());
        self.committed.get_or_init(ask)
    }

    /// Entries that are dated later make no others old.
    pub(crate) fn latest(&self) -> Option<Date> {
        latest_day(self.today())
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { root: &self.root, agents: &self.agents, outside: Some(&self.outside) }
    }
}

/// The stages of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Ingest,
    /// The part of REDUCE whose failure ends the run.
    CloseLoop,
    Reduce,
    Measure,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ingest => "INGEST",
            Self::CloseLoop | Self::Reduce => "REDUCE",
            Self::Measure => "MEASURE",
        }
    }
}

/// A stage that did not get through.
#[derive(Debug, Clone)]
pub(crate) struct Failed {
    pub(crate) stage: Stage,
    pub(crate) why: String,
}

impl Failed {
    pub(crate) fn at(stage: Stage) -> impl Fn(String) -> Self {
        move |why| Self { stage, why }
    }
}
