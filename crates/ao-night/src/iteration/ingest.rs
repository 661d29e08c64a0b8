//! INGEST: new signal from other repositories and from the transcripts of coding agents. Pending learnings
//! and feedback are in the corpus already; they are judged in REDUCE.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use ao_contract::{ChangeStatus, Harvest, LeftAlone};
use ao_corpus::harvest::{self, Harvesting, MIN_CONFIDENCE};
use ao_corpus::transcripts::{self, Taking};
use ao_corpus::{Corpus, Ledger};
use ao_tree::Edit;

use super::{Failed, Stage, Work, fault};
use crate::held::Fixed;

/// An iteration takes at most so many, so that each step of the corpus is measured by itself.
pub(crate) const HARVESTED_MAX: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct Ingested {
    harvesting: Option<Harvesting>,
    taking: Option<Taking>,
    /// Of both.
    edits: Vec<Edit>,
}

pub(crate) fn ingest(work: &Work, corpus: &Corpus, fixed: &Fixed) -> Result<Ingested, Failed> {
    let fail = Failed::at(Stage::Ingest);
    fault("ingest").map_err(&fail)?;
    let now = work.outside.reading("ingest").rfc3339();
    let except: BTreeSet<String> = fixed.keys().cloned().collect();
    let mut ingested = Ingested::default();
    if !work.settings.harvest.is_empty() {
        let harvesting = harvest(work, corpus, &now, except.clone())?;
        ingested.edits.extend_from_slice(&harvesting.edits);
        ingested.harvesting = Some(harvesting);
    }
    if let Some(taking) = learn(work, corpus, &now, except)? {
        ingested.edits.extend_from_slice(&taking.edits);
        ingested.taking = Some(taking);
    }
    Ok(ingested)
}

fn harvest(
    work: &Work,
    corpus: &Corpus,
    now: &str,
    except: BTreeSet<String>,
) -> Result<Harvesting, Failed> {
    let fail = Failed::at(Stage::Ingest);
    work.progress.doing("reading what other repositories learned");
    let ledger = Ledger::read(&work.agents).map_err(|error| fail(error.to_string()))?;
    let settings = harvest::Settings {
        now,
        min_confidence: MIN_CONFIDENCE,
        except,
        limit: HARVESTED_MAX,
        promote_at: work.settings.promote_at,
    };
    Ok(harvest::harvest(corpus, &work.settings.harvest, ledger, &settings))
}

/// Transcripts are read once a run: a session that goes on meanwhile is for the next one.
fn learn(
    work: &Work,
    corpus: &Corpus,
    now: &str,
    except: BTreeSet<String>,
) -> Result<Option<Taking>, Failed> {
    let Some(transcripts) = &work.settings.transcripts else { return Ok(None) };
    let fail = Failed::at(Stage::Ingest);
    let ledger = Ledger::read(&work.agents).map_err(|error| fail(error.to_string()))?;
    let offered = work.offered.get_or_init(|| {
        work.outside.transcripts(|| {
            work.progress.doing("reading the transcripts of coding agents");
            let (offered, memo) = transcripts.offer(&work.root, &work.agents, corpus, &ledger);
            *work.memo.lock().unwrap_or_else(PoisonError::into_inner) = memo;
            offered
        })
    });
    let settings = transcripts::Settings { now, except, limit: usize::MAX };
    Ok(Some(transcripts::take(corpus, offered, ledger, &settings)))
}

impl Ingested {
    pub(crate) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Those of the lessons: what is only pending is no knowledge yet, so that it is there is not
    /// measured as a change of it.
    pub(crate) fn pending(&self) -> &[Edit] {
        self.taking.as_ref().map_or(&[], |taking| &taking.edits)
    }

    pub(crate) fn taking(&self) -> Option<&Taking> {
        self.taking.as_ref()
    }

    pub(crate) fn hold_back(&mut self, fixed: &Fixed) {
        if let Some(harvesting) = &mut self.harvesting {
            harvesting.hold_back(&fixed.keys().cloned().collect());
        }
        if let Some(taking) = &mut self.taking {
            taking.hold_back(&fixed.keys().cloned().collect());
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
