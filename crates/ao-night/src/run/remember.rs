//! What a run keeps of itself, so that it can be run again.
//!
//! It is no reason to stop: a run that cannot be kept goes on, and says that it cannot be replayed.

use ao_contract::{
    CassetteBudget, Extra, KeptCorpus, NightCouncil, NightLogin, NightRecord, NightSeat,
    SchemaVersion, WarnOnlyBudget,
};
use ao_runner::{Nature, Way};
use serde_json::Value;

use super::Run;
use super::background::Halt;
use crate::council::{Council, Lane, Seat};
use crate::replay::{self, Memory, Retention};

/// Where the summary says why the night cannot be run again.
pub(super) const NOT_REPLAYABLE: &str = "not_replayable";

/// What is kept of a run, as far as it is known.
#[derive(Debug)]
pub(super) struct Keeping {
    /// `None` where nothing is kept.
    retention: Option<Retention>,
    budget: WarnOnlyBudget,
    recovered: Vec<String>,
    left_alone: Vec<String>,
    corpus: Option<KeptCorpus>,
    /// Why it cannot be run again, by what it was.
    refused: Option<String>,
    /// Why it could not be kept.
    failed: Option<String>,
}

impl Keeping {
    pub(super) fn new(
        memory: &Memory,
        budget: &WarnOnlyBudget,
        (recovered, left_alone): (&[String], Vec<String>),
    ) -> Self {
        let retention = match memory {
            Memory::Keep(retention) => Some(*retention),
            Memory::Nothing | Memory::Replay(_) => None,
        };
        Self {
            retention,
            budget: budget.clone(),
            recovered: recovered.to_vec(),
            left_alone,
            corpus: None,
            refused: None,
            failed: None,
        }
    }

    /// It cannot be run again; the first reason counts.
    pub(super) fn refuse(&mut self, why: &str) {
        self.refused.get_or_insert_with(|| why.to_owned());
    }
}

impl Run<'_> {
    /// Keeps the corpus as it is before the first iteration.
    pub(super) fn keep_corpus(&mut self) {
        let keeping = &self.keeping;
        let is_first = self.iterations.is_empty() && keeping.corpus.is_none();
        let is_kept = keeping.retention.is_some() && keeping.refused.is_none();
        if !is_kept || !is_first || keeping.failed.is_some() {
            return;
        }
        self.work.progress.doing("keeping the corpus as it is");
        let limits = self.loop_limits();
        let packed = self.think(&limits, |work| {
            replay::pack(&work.agents, &work.settings.harvest).map_err(|error| error.to_string())
        });
        let kept = match packed {
            Ok(Ok(packed)) => replay::keep_corpus(&self.state, &self.summary.run_id, &packed)
                .map_err(|error| format!("the corpus could not be kept: {error}")),
            Ok(Err(why)) => Err(why),
            Err(Halt::Panic(why)) => Err(format!("the corpus could not be kept: {why}")),
            // The loop meets the same.
            Err(Halt::Time | Halt::Signal(_)) => return,
        };
        match kept {
            Ok(kept) => self.keeping.corpus = Some(kept),
            Err(why) => {
                self.log(&format!("the run cannot be replayed: {why}"));
                self.keeping.failed = Some(why);
            }
        }
    }

    /// Why the run could not be kept, if it should have been.
    pub(super) fn unkept(&self) -> Option<String> {
        self.keeping.failed.clone()
    }

    /// Writes down what the run was told, once its summary is written.
    pub(super) fn remember(&mut self) {
        let Some(retention) = self.keeping.retention else { return };
        let Some(heard) = self.work.outside.heard() else { return };
        let not_replayable = self.not_replayable();
        let written = self.output.summary_bytes("").and_then(|bytes| {
            let summary: Value = serde_json::from_slice(&bytes)?;
            let Value::Object(summary) = summary else {
                return Err(std::io::ErrorKind::InvalidData.into());
            };
            let settings = &self.work.settings;
            let night = NightRecord {
                schema_version: SchemaVersion,
                digest: String::new(),
                run_id: self.summary.run_id.clone(),
                program: self.program.clone(),
                repo: self.repo.clone(),
                repo_root: self.work.root.to_string_lossy().into_owned(),
                output_dir: self.output.told.to_string_lossy().into_owned(),
                not_replayable,
                corpus: self.keeping.corpus.clone(),
                settings: replay::told(settings),
                recovered: self.keeping.recovered.clone(),
                left_alone: self.keeping.left_alone.clone(),
                warn_only_budget: self.keeping.budget.clone(),
                council: self.council.as_ref().map(told),
                readings: heard.readings,
                corpora: heard.corpora,
                looks: heard.looks.into_values().collect(),
                commands: heard.commands,
                keep_awake: heard.keep_awake,
                beads: heard.beads,
                deferred: heard.deferred,
                events: heard.events,
                transcripts: heard.transcripts,
                questions: heard.questions,
                committed: heard.committed,
                clock_set: heard.clock_set,
                summary_hash: replay::hash(&bytes),
                summary,
                extra: Extra::new(),
            };
            replay::keep(&self.state, &night)
        });
        if let Err(error) = written {
            self.log(&format!("the run cannot be replayed: its record was not written: {error}"));
        }
        let now = (self.work.clock.now)();
        match replay::expire(&self.state, retention, &self.summary.run_id, now) {
            Ok(gone) => {
                for replay::Gone { run_id, why } in gone {
                    self.log(&format!("run {run_id} can no longer be replayed: {why}"));
                }
            }
            Err(error) => self.log(&format!("what old runs kept could not be removed: {error}")),
        }
    }

    /// Why the run cannot be run again, if it cannot.
    fn not_replayable(&self) -> Option<String> {
        let keeping = &self.keeping;
        let halted = self.limits.met.get().map(|halt| match halt {
            Halt::Signal(_) => "a signal ended it, and nothing tells where it was".to_owned(),
            Halt::Time | Halt::Panic(_) => {
                "its time ended, and nothing tells where it was".to_owned()
            }
        });
        let missing = || keeping.corpus.is_none().then(|| "it did not come to its work".to_owned());
        keeping.refused.clone().or_else(|| keeping.failed.clone()).or(halted).or_else(missing)
    }
}

fn told(council: &Council) -> NightCouncil {
    let seat = |seat: &Seat| NightSeat {
        slug: seat.slug.clone(),
        runner: seat.runner.name().to_owned(),
        model: seat.model.clone(),
        login: match seat.login {
            Way::None => NightLogin::None,
            Way::ApiKey => NightLogin::ApiKey,
            Way::Subscription => NightLogin::Subscription,
        },
        agent: seat.nature == Nature::Agent,
        budget: CassetteBudget {
            time_ms: u64::try_from(seat.budget.time.as_millis()).unwrap_or(u64::MAX),
            tokens: seat.budget.tokens,
            turns: seat.budget.turns,
            usd_micros: seat.budget.usd.0,
            output_bytes: seat.budget.output_bytes,
            extra: Extra::new(),
        },
        max_calls: seat.limits.calls,
        max_tokens: seat.limits.tokens,
        max_usd_micros: seat.limits.usd.map(|usd| usd.0),
        extra: Extra::new(),
    };
    NightCouncil {
        seats: council.seats.iter().map(seat).collect(),
        policy: council.policy,
        creative_lane: council.lane == Lane::Creative,
        extra: Extra::new(),
    }
}
