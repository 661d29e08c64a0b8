//! The steps after the loop: what the corpus is like now, and what to do first in the morning.

use std::sync::atomic::AtomicBool;

use ao_contract::{CloseLoop, DefragStatus, Extra, MetricsHealth, RunStage, StepName, StepStatus};
use ao_corpus::health::{Told, health};
use ao_corpus::{Corpus, Logs, SEARCHED, Tree};
use ao_tree::{Request, Stop};
use serde::Serialize;
use serde_json::Value;

use super::background::Halt;
use super::{Run, Stopped};
use crate::dreamscape::{Readings, Survey};
use crate::iteration::{Measured, Work, measure_live};
use crate::packets::{Asked, Gathered, Sources, gather, queued};
use crate::place::Place;
use crate::sync::{Night, sync};
use crate::{artifacts, beads, yields};

const NEXT_WORK: &str = "rpi/next-work.jsonl";
/// A larger queue is not read.
const NEXT_WORK_BYTES_MAX: u64 = 64 * 1024 * 1024;
const BRIEF_TOKENS: usize = 1500;
const BRIEF_ENTRIES: usize = 8;

impl Run<'_> {
    pub(super) fn steps(&mut self) -> Result<(), Stopped> {
        self.close_loop_step()?;
        self.defrag_step();
        self.health_step()?;
        self.retrieval_step();
        self.brief_step()?;
        self.packets_step()?;
        self.landscape()
    }

    /// Thinks a step out. `None` if its time was over: the step is then not reached.
    fn work_on<T: Send + 'static>(
        &mut self,
        name: &StepName,
        work: impl FnOnce(&Work) -> Result<T, String> + Send + 'static,
    ) -> Result<Option<Result<T, String>>, Stopped> {
        self.stage(RunStage::Steps, &name.to_string());
        let limits = self.limits.clone();
        match self.think(&limits, work) {
            Ok(done) => Ok(Some(done)),
            Err(Halt::Panic(why)) => Ok(Some(Err(format!("panicked: {why}")))),
            Err(Halt::Signal(signal)) => Err(Stopped::Signal(signal)),
            Err(Halt::Time) => {
                self.end_step(name, StepStatus::Skipped, Some("the time ended".into()));
                Ok(None)
            }
        }
    }

    /// Writes the artifact of a step that was thought out, and ends it.
    fn artifact(
        &mut self,
        name: &StepName,
        (key, file): (&str, &str),
        value: &impl Serialize,
        note: Option<String>,
    ) -> bool {
        match self.output.write_json(file, value) {
            Ok(path) => {
                self.summary.artifacts.insert(key.into(), path.clone());
                if let Some(step) = self.step(name) {
                    step.artifact = Some(path);
                }
                self.end_step(name, StepStatus::Done, note);
                true
            }
            Err(error) => {
                self.end_step(name, StepStatus::SoftFail, Some(error.to_string()));
                false
            }
        }
    }

    fn close_loop_step(&mut self) -> Result<(), Stopped> {
        let name = StepName::CloseLoop;
        let Some(closing) = self.closing.take() else {
            let why = "no iteration came as far".to_owned();
            self.end_step(&name, StepStatus::Skipped, Some(why));
            return Ok(());
        };
        let note = told(&closing);
        self.summary.close_loop = object(&closing);
        let is_written =
            self.artifact(&name, ("close_loop", "close-loop.json"), &closing, Some(note));
        if is_written {
            Ok(())
        } else {
            Err(Stopped::Failed("close-loop.json: not written".into()))
        }
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
            report.status = DefragStatus::NothingToDo;
        }
        let note = format!(
            "{} merges and {} prunes to come, {} left alone, {} pairs for a person",
            report.merges.len(),
            report.prunes.len(),
            report.kept.len(),
            report.review.len()
        );
        self.artifact(&name, ("defrag_report", "defrag/latest.json"), &report, Some(note));
        self.defrag = Some(report);
    }

    fn health_step(&mut self) -> Result<(), Stopped> {
        let name = StepName::MetricsHealth;
        let known = self.last.clone();
        let done = self.work_on(&name, move |work| healthy(work, known))?;
        let (health, measured) = match done {
            None => return Ok(()),
            Some(Ok(done)) => done,
            Some(Err(why)) => {
                self.end_step(&name, StepStatus::Failed, Some(why.clone()));
                return Err(Stopped::Failed(format!("metrics health failed: {why}")));
            }
        };
        self.last = Some(measured);
        self.summary.metrics_health = object(&health);
        let note = format!("fitness {}", health.fitness.composite.get());
        let file = ("metrics_health", "metrics-health.json");
        if self.artifact(&name, file, &health, Some(note)) {
            Ok(())
        } else {
            Err(Stopped::Failed("metrics-health.json: not written".into()))
        }
    }

    fn retrieval_step(&mut self) {
        let name = StepName::RetrievalLive;
        let Some(measured) = self.last.clone() else {
            self.end_step(&name, StepStatus::Skipped, Some("the corpus was not measured".into()));
            return;
        };
        match measured.bench {
            Ok(bench) => {
                self.summary.retrieval_live = object(&bench).map(|mut bench| {
                    // The questions are in the artifact.
                    bench.remove("questions");
                    bench
                });
                let note =
                    format!("nDCG@10 {} over {} questions", bench.ndcg_at_10.get(), bench.queries);
                let file = ("retrieval_live", "retrieval-bench.json");
                self.artifact(&name, file, &bench, Some(note));
            }
            Err(why) => self.end_step(&name, StepStatus::SoftFail, Some(why)),
        }
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
                self.artifact(&name, ("briefing", "briefing.json"), &brief, None);
            }
            Some(Err(why)) => self.end_step(&name, StepStatus::SoftFail, Some(why)),
        }
        Ok(())
    }

    fn packets_step(&mut self) -> Result<(), Stopped> {
        let name = StepName::MorningPackets;
        let (repo, output_dir) = (self.repo.clone(), self.output.dir.clone());
        let defrag = self.defrag.clone();
        let health = self.summary.metrics_health.clone();
        let before = self.iterations.iter().find(|one| !one.fitness_before.is_empty());
        let before = before.map(|one| one.fitness_before.clone());
        let after = self.last.as_ref().map(|last| last.fitness.map());
        let done = self.work_on(&name, move |work| {
            let tree = Tree::list(&work.agents).map_err(|error| error.to_string())?;
            let next_work = read_queue(&work.agents);
            let health: Option<MetricsHealth> =
                health.and_then(|health| ao_contract::read(&Value::Object(health)).ok());
            let queue = work.settings.queue.as_ref();
            let asked =
                queue.map(|queue| Asked { items: &queue.items, file: queue.file.as_deref() });
            let sources = Sources {
                place: Place { root: &work.root, agents: &work.agents },
                repo: &repo,
                output_dir: &output_dir,
                command: &work.settings.morning_command,
                asked,
                next_work: next_work.as_deref(),
                tree: &tree,
                defrag: defrag.as_ref(),
                health: health.as_ref(),
                fitness_before: before.as_ref(),
                fitness_after: after.as_ref(),
            };
            Ok(gather(&sources))
        })?;
        let mut gathered = match done {
            None => {
                let why = Some("the time ended".to_owned());
                self.end_step(&StepName::BeadSync, StepStatus::Skipped, why);
                return Ok(());
            }
            Some(Ok(gathered)) => gathered,
            Some(Err(why)) => {
                self.end_step(&name, StepStatus::SoftFail, Some(why));
                let why = Some("there are no packets".to_owned());
                self.end_step(&StepName::BeadSync, StepStatus::Skipped, why);
                return Ok(());
            }
        };
        let before = queued(&gathered.packets);
        self.write_packets(&gathered);
        self.bead_step(&mut gathered)?;
        self.sync_queue(&gathered);
        self.summary.yields = Some(yields(&before, &gathered.packets));
        self.summary.morning_packets = Some(gathered.packets.clone());
        self.packets = gathered.packets;
        Ok(())
    }

    fn write_packets(&mut self, gathered: &Gathered) {
        let name = StepName::MorningPackets;
        let made = match artifacts(gathered, &self.summary.run_id) {
            Ok(made) => made,
            Err(error) => {
                return self.end_step(&name, StepStatus::SoftFail, Some(error.to_string()));
            }
        };
        for artifact in made {
            match self.output.write(&artifact.path, &artifact.bytes) {
                Ok(path) => {
                    let key = match artifact.path.as_str() {
                        crate::INDEX_JSON => "morning_packets_json",
                        crate::INDEX_MARKDOWN => "morning_packets_markdown",
                        _ => continue,
                    };
                    self.summary.artifacts.insert(key.into(), path);
                }
                Err(error) => {
                    return self.end_step(&name, StepStatus::SoftFail, Some(error.to_string()));
                }
            }
        }
        let left: u64 = gathered.left_out.values().sum();
        let note = format!("{} packets, {left} left out", gathered.packets.len());
        let path = self.summary.artifacts.get("morning_packets_json").cloned();
        if let Some(step) = self.step(&name) {
            step.artifact = path;
        }
        self.end_step(&name, StepStatus::Done, Some(note));
    }

    fn bead_step(&mut self, gathered: &mut Gathered) -> Result<(), Stopped> {
        let name = StepName::BeadSync;
        if self.is_dry() {
            self.end_step(&name, StepStatus::Skipped, Some("a dry run".into()));
            return Ok(());
        }
        let host = self.host.clone();
        let mut packets = gathered.packets.clone();
        let done = self.work_on(&name, move |_| {
            let done = beads::sync(&host, &mut packets, beads::CALL, &AtomicBool::new(false));
            Ok((done, packets))
        })?;
        match done {
            None => {}
            Some(Ok((done, packets))) => {
                gathered.packets = packets;
                if done.linked() > 0 {
                    self.write_packets(gathered);
                }
                self.end_step(&name, done.status(), Some(done.note()));
            }
            Some(Err(why)) => self.end_step(&name, StepStatus::SoftFail, Some(why)),
        }
        Ok(())
    }

    /// Packets reach the work queue as one more commit through the door.
    fn sync_queue(&mut self, gathered: &Gathered) {
        if self.is_dry() {
            return;
        }
        let work = &self.work;
        let bytes = read_queue(&work.agents);
        let at = work.clock.rfc3339();
        let run_id = self.summary.run_id.clone();
        let night = Night { root: &work.root, repo: &self.repo, run_id: &run_id, timestamp: &at };
        let edit = match sync(bytes.as_deref(), &gathered.packets, &night) {
            Ok(Some(edit)) => edit,
            Ok(None) => return,
            Err(error) => {
                self.log(&format!("the work queue: {error}"));
                self.degraded.push("work queue".into());
                return;
            }
        };
        // A run that is gone on with may have brought its packets there before.
        let id = match work.door.unique_id(&format!("{run_id}-packets")) {
            Ok(id) => id,
            Err(error) => return self.queue_trouble(&error.to_string()),
        };
        let request = Request {
            id,
            at: at.clone(),
            why: format!("morning packets of overnight run {run_id}"),
            edits: vec![edit],
            undo_of: Vec::new(),
            drop_folders: Vec::new(),
            grace: std::time::Duration::ZERO,
            max_store_bytes: u64::MAX,
            fitness: None,
            stop: Stop::default(),
        };
        let trouble = match work.door.apply(request) {
            Ok(done) => done.refused.first().map(|refused| refused.why.clone()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = trouble {
            self.queue_trouble(&why);
        }
    }

    fn queue_trouble(&mut self, why: &str) {
        self.log(&format!("the work queue: {why}"));
        self.degraded.push(format!("work queue: {why}"));
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
        let drawn = self.think(&limits, move |work| {
            let tree = Tree::list(&work.agents).map_err(|error| error.to_string())?;
            let mut survey = Survey::default();
            for path in tree.paths() {
                if let Some(entry) = tree.entry(&path) {
                    survey.add(&entry);
                }
            }
            Ok::<_, String>(survey.finish(&readings))
        });
        match drawn {
            Ok(Ok(scape)) => self.summary.dreamscape = object(&scape),
            Ok(Err(why)) | Err(Halt::Panic(why)) => {
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

fn object(value: &impl Serialize) -> Option<Extra> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => Some(map.into_iter().collect()),
        _ => None,
    }
}

fn read_queue(agents: &std::path::Path) -> Option<Vec<u8>> {
    let path = agents.join(NEXT_WORK);
    let found = std::fs::symlink_metadata(&path).ok()?;
    let is_fit = found.is_file() && found.len() <= NEXT_WORK_BYTES_MAX;
    if is_fit { std::fs::read(path).ok() } else { None }
}

fn healthy(work: &Work, known: Option<Measured>) -> Result<(MetricsHealth, Measured), String> {
    let text = |error: std::io::Error| error.to_string();
    let measured = match known {
        Some(measured) => measured,
        None => measure_live(work).map_err(|failed| failed.why)?,
    };
    let corpus = Corpus::read(&work.agents, &SEARCHED).map_err(text)?;
    let logs = Logs::read(&work.agents).map_err(text)?;
    let told = Told { root: &work.root, as_of: None };
    Ok((health(&corpus, &logs, &measured.fitness, told), measured))
}

fn brief(work: &Work, goal: &str) -> Result<ao_contract::KnowledgeBrief, String> {
    let place = ao_corpus::index::Place {
        agents: work.agents.clone(),
        folders: SEARCHED.iter().map(|folder| (*folder).to_owned()).collect(),
        now_ns: i64::try_from((work.clock.now)().as_nanosecond()).unwrap_or(i64::MAX),
        keep: ao_corpus::index::Keep::No,
    };
    ao_corpus::brief::brief(&place, goal, BRIEF_TOKENS, BRIEF_ENTRIES)
}
