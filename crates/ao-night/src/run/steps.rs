//! The steps after the loop: what the corpus is like now, and what to do first in the morning.

use std::sync::Arc;

use ao_contract::{
    CloseLoop, Contradictions, DefragStatus, Extra, KnowledgeBrief, MetricsHealth, RetrievalBench,
    RunStage, StepName, StepStatus,
};
use ao_corpus::contradictions::{Cards, Rulings};
use ao_corpus::health::{Told, health};
use ao_corpus::trust::Vouches;
use ao_corpus::{Corpus, Logs, SEARCHED};
use ao_tree::Edit;
use serde::Serialize;
use serde_json::Value;

use super::background::{Halt, Limits};
use super::step_file::StepFile;
use super::{Run, Stopped};
use crate::dreamscape::{Readings, Survey};
use crate::iteration::{Measured, Work, fault, measure_live};

const BRIEF_TOKENS: usize = 1500;
const BRIEF_ENTRIES: usize = 8;

impl Run<'_> {
    pub(super) fn steps(&mut self) -> Result<(), Stopped> {
        self.close_loop_step()?;
        self.defrag_step();
        self.health_step()?;
        self.retrieval_step();
        self.brief_step()?;
        let mut gathered = self.gather_step()?;
        let mut hauled = self.long_haul(gathered.as_mut())?;
        let first = gathered.as_ref().and_then(|gathered| gathered.packets.first());
        let first_move = first.map(|packet| packet.title.clone()).unwrap_or_default();
        let asked = self.council_after(&mut hauled, &first_move)?;
        if let Some(gathered) = gathered {
            self.hand_over(gathered, asked, hauled.before)?;
        }
        self.landscape()
    }

    /// Thinks a step out. `None` if its time was over: the step is then not reached.
    pub(super) fn work_on<T: Send + 'static>(
        &mut self,
        name: &StepName,
        work: impl FnOnce(&Work) -> Result<T, String> + Send + 'static,
    ) -> Result<Option<Result<T, String>>, Stopped> {
        self.stage(RunStage::Steps, &name.to_string());
        let limits = self.limits.clone();
        let done = self.work_within(&limits, name, work)?;
        if done.is_none() {
            self.end_step(name, StepStatus::Skipped, Some("the time ended".into()));
        }
        Ok(done)
    }

    /// Thinks a part of a step out. `None` if its time was over.
    pub(super) fn work_within<T: Send + 'static>(
        &mut self,
        limits: &Limits,
        name: &StepName,
        work: impl FnOnce(&Work) -> Result<T, String> + Send + 'static,
    ) -> Result<Option<Result<T, String>>, Stopped> {
        let place = name.to_string();
        match self.think(limits, move |shared| fault(&place).and_then(|()| work(shared))) {
            Ok(done) => Ok(Some(done)),
            Err(Halt::Panic(why)) => Ok(Some(Err(format!("panicked: {why}")))),
            Err(Halt::Signal(signal)) => Err(Stopped::Signal(signal)),
            Err(Halt::Time) => Ok(None),
        }
    }

    /// Writes the artifact of a step that was thought out, and ends it. The error says why it could
    /// not be written; the step has then failed softly.
    pub(super) fn artifact(
        &mut self,
        name: &StepName,
        value: &impl Serialize,
        note: Option<String>,
    ) -> Result<(), String> {
        let Some(file) = StepFile::of(name) else { return Err(format!("{name} has no file")) };
        let written = fault(&format!("write-{name}")).and_then(|()| {
            self.output.write_json(&file.file, value).map_err(|error| error.to_string())
        });
        match written {
            Ok(path) => {
                file.put(&mut self.summary, name, path);
                self.end_step(name, StepStatus::Done, note);
                Ok(())
            }
            Err(why) => {
                if let Some(step) = self.step(name)
                    && ao_mutant::active("REP-05/names-a-file-that-failed")
                {
                    step.artifact = Some(file.file.clone());
                }
                let why = format!("{} could not be written: {why}", file.file);
                self.end_step(name, StepStatus::SoftFail, Some(why.clone()));
                Err(why)
            }
        }
    }

    /// As [`Run::artifact`], of a step without which there is no run.
    fn hard_artifact(
        &mut self,
        name: &StepName,
        value: &impl Serialize,
        note: String,
    ) -> Result<(), Stopped> {
        self.artifact(name, value, Some(note)).map_err(|why| {
            self.degraded.pop();
            self.end_step(name, StepStatus::Failed, Some(why.clone()));
            Stopped::Failed(why)
        })
    }

    fn close_loop_step(&mut self) -> Result<(), Stopped> {
        let name = StepName::CloseLoop;
        let Some(closing) = self.closing.take() else {
            let why = "no iteration came as far".to_owned();
            self.end_step(&name, StepStatus::Skipped, Some(why));
            return Ok(());
        };
        let note = self.carried(told(&closing));
        self.summary.close_loop = object(&closing);
        self.hard_artifact(&name, &closing, note)
    }

    /// What is left after the loop. Its plan leaves nothing for another run, so that what was done
    /// is no longer to be done; what was left to a person still is.
    fn defrag_step(&mut self) {
        let name = StepName::DefragPreview;
        let Some(mut report) = self.defrag.clone() else {
            let why = "no iteration came as far".to_owned();
            self.end_step(&name, StepStatus::Skipped, Some(why));
            return;
        };
        let is_committed = self.iterations.last().and_then(super::end::commit_id).is_some();
        if is_committed {
            report.merges.clear();
            report.prunes.clear();
            report.patterns.clear();
            report.status = DefragStatus::NothingToDo;
        }
        let note = format!(
            "{} merges and {} prunes to come, {} left alone, {} pairs for a person",
            report.merges.len(),
            report.prunes.len(),
            report.kept.len(),
            report.review.len()
        );
        let note = self.carried(note);
        // A soft step: what went wrong is in the step.
        let _ = self.artifact(&name, &report, Some(note));
        self.defrag = Some(report);
    }

    fn health_step(&mut self) -> Result<(), Stopped> {
        let name = StepName::MetricsHealth;
        let done = if let Some(kept) = &self.kept {
            Some(Ok(Healthy {
                health: kept.metrics_health.clone(),
                contradictions: Ok(kept.contradictions.clone().unwrap_or_default()),
                measured: None,
                survey: None,
            }))
        } else {
            let known = self.last.clone();
            let shown = std::mem::take(&mut self.shown);
            self.work_on(&name, move |work| healthy(work, known, &shown))?
        };
        let Healthy { health, contradictions, measured, survey } = match done {
            None => return Ok(()),
            Some(Ok(done)) => done,
            Some(Err(why)) if ao_mutant::active("RUN-20/health-fails-softly") => {
                self.end_step(&name, StepStatus::SoftFail, Some(why));
                return Ok(());
            }
            Some(Err(why)) => {
                self.end_step(&name, StepStatus::Failed, Some(why.clone()));
                return Err(Stopped::Failed(format!("metrics health failed: {why}")));
            }
        };
        self.last = measured;
        self.survey = survey;
        self.tell_questions();
        match contradictions {
            Ok(found) => self.summary.contradictions = Some(found),
            Err(why) => {
                self.log(&format!("contradictions could not be looked for: {why}"));
                self.degraded.push("contradictions".into());
            }
        }
        self.summary.metrics_health = object(&health);
        let note = self.carried(format!("fitness {}", health.fitness.composite.get()));
        self.hard_artifact(&name, &health, note)
    }

    fn retrieval_step(&mut self) {
        let name = StepName::RetrievalLive;
        let Some(bench) = self.bench() else {
            self.end_step(&name, StepStatus::Skipped, Some("the corpus was not measured".into()));
            return;
        };
        match bench {
            Ok(bench) => {
                self.summary.retrieval_live = object(&bench).map(|mut bench| {
                    // The questions are in the artifact.
                    bench.remove("questions");
                    bench
                });
                let note = format!(
                    "nDCG@10 {:.4} over {} questions",
                    bench.ndcg_at_10.get(),
                    bench.queries
                );
                let note = self.carried(note);
                let _ = self.artifact(&name, &bench, Some(note));
            }
            Err(why) => self.end_step(&name, StepStatus::SoftFail, Some(why)),
        }
    }

    /// How well the corpus answers, as far as it was asked.
    fn bench(&self) -> Option<Result<RetrievalBench, String>> {
        let measured = self.last.as_ref().map(|measured| measured.bench.clone());
        measured.or_else(|| {
            let kept = self.kept.as_ref()?;
            let absent = || kept.retrieval_absent.clone().unwrap_or_default();
            Some(kept.retrieval_live.clone().ok_or_else(absent))
        })
    }

    fn brief_step(&mut self) -> Result<(), Stopped> {
        let name = StepName::KnowledgeBrief;
        let goal = self.work.settings.goal.clone();
        if goal.is_empty() {
            return Ok(());
        }
        let done = self.work_on(&name, move |work| brief(work, &goal))?;
        match done {
            None => {}
            Some(Ok(brief)) => {
                self.summary.briefing = object(&brief);
                let _ = self.artifact(&name, &brief, None);
            }
            Some(Err(why)) if ao_mutant::active("RUN-21/brief-fails-hard") => {
                return Err(Stopped::Failed(why));
            }
            Some(Err(why)) => {
                if ao_mutant::active("RUN-27/failed-brief-has-a-file") {
                    let _ = self.output.write_json("briefing.json", &why);
                }
                self.end_step(&name, StepStatus::SoftFail, Some(why));
            }
        }
        Ok(())
    }

    /// The corpus as a landscape; it has no step of its own.
    fn landscape(&mut self) -> Result<(), Stopped> {
        self.work.progress.doing("drawing the landscape");
        let limits = self.limits.clone();
        let readings = {
            let mut told = self.summary.clone();
            told.fitness_delta = self.top_delta();
            Readings::of(&told)
        };
        if let Some(kept) = &self.kept {
            let mut scape = kept.dreamscape.clone();
            readings.over(&mut scape);
            self.summary.dreamscape = object(&scape);
            return Ok(());
        }
        let Some(survey) = self.survey.take() else {
            self.log("the landscape: the corpus was not measured");
            return Ok(());
        };
        match self.think(&limits, move |_| survey.finish(&readings)) {
            Ok(scape) => self.summary.dreamscape = object(&scape),
            Err(Halt::Panic(why)) => {
                self.log(&format!("the landscape: {why}"));
                self.degraded.push("dreamscape".into());
            }
            Err(Halt::Signal(signal)) => return Err(Stopped::Signal(signal)),
            Err(Halt::Time) => self.log("the landscape: the time ended"),
        }
        Ok(())
    }
}

fn told(closing: &CloseLoop) -> String {
    format!(
        "{} promoted, {} known already, {} kept, {} rewards taken",
        closing.promoted, closing.known, closing.kept, closing.rewards
    )
}

pub(super) fn object(value: &impl Serialize) -> Option<Extra> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => Some(map.into_iter().collect()),
        _ => None,
    }
}

/// What one reading of the corpus tells.
struct Healthy {
    health: MetricsHealth,
    contradictions: Result<Contradictions, String>,
    measured: Option<Measured>,
    /// For the landscape.
    survey: Option<Survey>,
}

fn healthy(work: &Work, known: Option<Measured>, shown: &[Edit]) -> Result<Healthy, String> {
    let text = |error: std::io::Error| error.to_string();
    let corpus = Arc::new(Corpus::read(&work.agents, &SEARCHED).map_err(text)?);
    let logs = Logs::read(&work.agents).map_err(text)?;
    let measured = known.unwrap_or_else(|| measure_live(work, &corpus));
    let told = Told { root: &work.root, as_of: None, latest: work.latest() };
    let health = health(&corpus, &logs, &measured.fitness, told);
    let mut survey = Survey::default();
    for entry in &corpus.entries {
        survey.add(entry);
    }
    let contradictions = contradictions(work, &corpus, shown);
    Ok(Healthy { health, contradictions, measured: Some(measured), survey: Some(survey) })
}

/// What contradicts itself once these edits are made. Nothing is decided: that is for a person to do.
fn contradictions(work: &Work, corpus: &Corpus, edits: &[Edit]) -> Result<Contradictions, String> {
    let rulings = Rulings::read(&work.agents).map_err(|error| error.to_string())?;
    let vouches = Vouches::read(&work.agents).map_err(|error| error.to_string())?;
    let cards = if edits.is_empty() {
        Cards::of(corpus, &rulings, &vouches, work.today())
    } else {
        Cards::of(&corpus.after(edits), &rulings, &vouches, work.today())
    };
    Ok(cards.report())
}

pub(super) fn brief(work: &Work, goal: &str) -> Result<KnowledgeBrief, String> {
    let bounds = (BRIEF_TOKENS, BRIEF_ENTRIES);
    ao_corpus::brief::brief(&searched(work), goal, bounds, work.today())
}

/// The corpus, to be asked. What is read for that is not written down.
pub(super) fn searched(work: &Work) -> ao_corpus::index::Place {
    ao_corpus::index::Place {
        agents: work.agents.clone(),
        folders: SEARCHED.iter().map(|folder| (*folder).to_owned()).collect(),
        now_ns: i64::try_from(work.outside.reading("brief").at.as_nanosecond()).unwrap_or(i64::MAX),
        keep: ao_corpus::index::Keep::No,
    }
}
