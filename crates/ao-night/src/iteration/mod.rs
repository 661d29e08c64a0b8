//! One iteration: INGEST, REDUCE and MEASURE are thought out in memory over the tree as it is, COMMIT
//! brings the whole through the door.
//!
//! Nothing is written before COMMIT: the staged tree is an overlay of edits, and the door builds it on
//! disk only when it has been judged.

mod ingest;
mod measure;
mod propose;
mod record;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use ao_tree::{Disk, Door};

use crate::clock::Clock;
use crate::progress::Progress;
use crate::settings::Settings;

pub(crate) use measure::{Baseline, Measured, measure_live};
pub(crate) use propose::{Proposal, propose};
pub(crate) use record::{Ending, Timed, id_of, rebuilt, record, rounded};

/// Everything that an iteration works on; shared with the thread that thinks.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) door: Door<Disk>,
    /// The repository, with no symlink on the way.
    pub(crate) root: PathBuf,
    pub(crate) agents: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) progress: Progress,
    /// What before and after are both measured by; fixed when first needed.
    pub(crate) baseline: OnceLock<Arc<Baseline>>,
}

/// The stages of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Ingest,
    /// The part of REDUCE whose failure ends the run.
    CloseLoop,
    Reduce,
    Measure,
    Commit,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ingest => "INGEST",
            Self::CloseLoop | Self::Reduce => "REDUCE",
            Self::Measure => "MEASURE",
            Self::Commit => "COMMIT",
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

/// Lets a test see what a failure at a stage leads to; not in a release.
pub(crate) fn fault(stage: Stage) -> Result<(), Failed> {
    #[cfg(debug_assertions)]
    if let Some(wanted) = std::env::var_os("AO_NIGHT_FAULT") {
        let name = stage.name().to_lowercase();
        if wanted == name.as_str() {
            return Err(Failed { stage, why: format!("a fault was asked for in {name}") });
        }
        assert!(wanted != format!("panic-{name}").as_str(), "a panic was asked for in {name}");
        if wanted == format!("hang-{name}").as_str() {
            std::thread::sleep(std::time::Duration::from_mins(1));
        }
    }
    let _ = stage;
    Ok(())
}
