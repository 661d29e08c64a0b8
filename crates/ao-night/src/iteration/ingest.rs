//! INGEST: new signal from other repositories. Pending learnings and feedback are in the corpus
//! already; they are judged in REDUCE.

use ao_contract::{ChangeStatus, Harvest, LeftAlone};
use ao_corpus::harvest::{self, Harvesting, MIN_CONFIDENCE};
use ao_corpus::{Corpus, Ledger};
use ao_tree::Edit;

use super::{Failed, Stage, Work, fault};
use crate::held::Fixed;

/// An iteration takes at most so many, so that each step of the corpus is measured by itself.
pub(crate) const HARVESTED_MAX: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct Ingested {
    harvesting: Option<Harvesting>,
}

pub(crate) fn ingest(work: &Work, corpus: &Corpus, fixed: &Fixed) -> Result<Ingested, Failed> {
    let fail = Failed::at(Stage::Ingest);
    fault("ingest").map_err(&fail)?;
    if work.settings.harvest.is_empty() {
        return Ok(Ingested::default());
    }
    work.progress.doing("reading what other repositories learned");
    let ledger = Ledger::read(&work.agents).map_err(|error| fail(error.to_string()))?;
    let settings = harvest::Settings {
        now: &work.outside.reading("ingest").rfc3339(),
        min_confidence: MIN_CONFIDENCE,
        except: fixed.keys().cloned().collect(),
        limit: HARVESTED_MAX,
        promote_at: work.settings.promote_at,
    };
    let harvesting = harvest::harvest(corpus, &work.settings.harvest, ledger, &settings);
    Ok(Ingested { harvesting: Some(harvesting) })
}

impl Ingested {
    pub(crate) fn edits(&self) -> &[Edit] {
        self.harvesting.as_ref().map_or(&[], |harvesting| &harvesting.edits)
    }

    pub(crate) fn hold_back(&mut self, fixed: &Fixed) {
        if let Some(harvesting) = &mut self.harvesting {
            harvesting.hold_back(&fixed.keys().cloned().collect());
        }
    }

    /// What is not fit to be taken, and why.
    pub(crate) fn unfit(&self) -> &[LeftAlone] {
        self.harvesting.as_ref().map_or(&[], Harvesting::unfit)
    }

    pub(crate) fn report(&self, status: ChangeStatus, id: Option<String>) -> Option<Harvest> {
        self.harvesting.as_ref().map(|harvesting| harvesting.report(status, id))
    }
}
