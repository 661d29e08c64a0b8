//! What the night hands over to the morning: packets, their beads, and their places in the queue.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::{Extra, MetricsHealth, MorningPacket, NightBeads, StepName, StepStatus};
use ao_corpus::Tree;
use ao_tree::{Edit, Request, Stop, own_file};
use serde_json::Value;

use super::background::{Halt, in_background};
use super::council::Asked;
use super::step_file::StepFile;
use super::{Run, Stopped};
use crate::iteration::fault;
use crate::packets::{Asked as Priorities, Gathered, Sources, gather, queued};
use crate::shell::Shell;
use crate::sync::{Night, sync};
use crate::{artifacts, beads, yields};

const NEXT_WORK: &str = "rpi/next-work.jsonl";
/// After so many looks at a queue that others change, the night does without.
const LOOKS_MAX: usize = 3;
/// A larger queue is not read.
const NEXT_WORK_BYTES_MAX: u64 = 64 * 1024 * 1024;

impl Run<'_> {
    /// The packets, as the night itself ranks them; nothing if there are none to hand over.
    pub(super) fn gather_step(&mut self) -> Result<Option<Gathered>, Stopped> {
        let name = StepName::MorningPackets;
        let (repo, output_dir) = (self.repo.clone(), self.output.told.clone());
        let defrag = self.defrag.clone();
        let health = self.summary.metrics_health.clone();
        let before = self.iterations.iter().find(|one| !one.fitness_before.is_empty());
        let before = before.map(|one| one.fitness_before.clone());
        let after = self.fitness_now();
        let cells = self.host.cells.clone();
        let done = self.work_on(&name, move |work| {
            let tree = Tree::list(&work.agents).map_err(|error| error.to_string())?;
            let next_work = read_queue(&work.agents);
            let health: Option<MetricsHealth> =
                health.and_then(|health| ao_contract::read(&Value::Object(health)).ok());
            let queue = work.settings.queue.as_ref();
            let asked =
                queue.map(|queue| Priorities { items: &queue.items, file: queue.file.as_deref() });
            let sources = Sources {
                place: work.place(),
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
                shell: Shell::In(&cells),
            };
            Ok(gather(&sources))
        })?;
        match done {
            None => {
                let why = Some("the time ended".to_owned());
                self.end_step(&StepName::BeadSync, StepStatus::Skipped, why);
                Ok(None)
            }
            Some(Ok(gathered)) => Ok(Some(gathered)),
            Some(Err(why)) => {
                self.end_step(&name, StepStatus::SoftFail, Some(why));
                let why = Some("there are no packets".to_owned());
                self.end_step(&StepName::BeadSync, StepStatus::Skipped, why);
                Ok(None)
            }
        }
    }

    /// Writes the packets down, and brings them to the beads and the work queue. `before` are those that
    /// stood before the last pass over them; without one, those that stood in a queue.
    pub(super) fn hand_over(
        &mut self,
        mut gathered: Gathered,
        asked: Asked,
        before: Option<Vec<MorningPacket>>,
    ) -> Result<(), Stopped> {
        let before = before.unwrap_or_else(|| queued(&gathered.packets));
        self.write_packets(&gathered);
        self.bead_step(&mut gathered)?;
        self.sync_queue(&gathered)?;
        let mut yields = yields(&before, &gathered.packets);
        let first = gathered.packets.first().map_or("", |packet| packet.title.as_str());
        asked.count(first, &mut yields);
        self.summary.yields = Some(yields);
        self.summary.morning_packets = Some(gathered.packets.clone());
        self.packets = gathered.packets;
        Ok(())
    }

    fn write_packets(&mut self, gathered: &Gathered) {
        let name = StepName::MorningPackets;
        let mut made = match artifacts(gathered, &self.summary.run_id) {
            Ok(made) => made,
            Err(error) => {
                return self.end_step(&name, StepStatus::SoftFail, Some(error.to_string()));
            }
        };
        // The index for programs last: where it is, so is everything that it names, and the step is
        // done.
        if !ao_mutant::active("RUN-45/index-before-its-packets") {
            made.reverse();
        }
        for artifact in made {
            match self.output.write(&artifact.path, &artifact.bytes) {
                Ok(path) => match artifact.path.as_str() {
                    crate::INDEX_JSON => {
                        if let Some(file) = StepFile::of(&name) {
                            file.put(&mut self.summary, &name, path);
                        }
                    }
                    crate::INDEX_MARKDOWN => {
                        self.summary.artifacts.insert("morning_packets_markdown".into(), path);
                        // Not a failure: a place to wait at, where a test kills the run.
                        let _ = fault("packets-index");
                    }
                    _ => {}
                },
                Err(error) => {
                    return self.end_step(&name, StepStatus::SoftFail, Some(error.to_string()));
                }
            }
        }
        let left: u64 = gathered.left_out.values().sum();
        let mut note = format!("{} packets, {left} left out", gathered.packets.len());
        if let Some((count, why)) = &gathered.unanswered {
            let _ =
                write!(note, "; shell checks without an answer: {count}, the first since {why}");
        }
        self.summary.morning_packets = Some(gathered.packets.clone());
        self.end_step(&name, StepStatus::Done, Some(note));
    }

    fn bead_step(&mut self, gathered: &mut Gathered) -> Result<(), Stopped> {
        let name = StepName::BeadSync;
        if self.is_dry() {
            self.end_step(&name, StepStatus::Skipped, Some("a dry run".into()));
            return Ok(());
        }
        let host = self.host.clone();
        let (mut packets, named) = (gathered.packets.clone(), gathered.beads.clone());
        let done = self.work_on(&name, move |work| {
            let done = work.outside.beads(|| {
                let stop = AtomicBool::new(false);
                let done = beads::sync(&host, &mut packets, &named, beads::CALL, &stop);
                told(&done, &packets)
            });
            for packet in &mut packets {
                let bead = done.beads.get(&packet.id).cloned();
                packet.bead_id = bead.or(packet.bead_id.take());
            }
            Ok((done, packets))
        })?;
        match done {
            None => {}
            Some(Ok((done, packets))) => {
                gathered.packets = packets;
                if done.linked > 0 {
                    self.write_packets(gathered);
                }
                let is_hard = ao_mutant::active("REP-16/failing-bd-ends-the-run");
                if done.status == StepStatus::SoftFail && is_hard {
                    return Err(Stopped::Failed(done.note));
                }
                self.end_step(&name, done.status, Some(done.note));
            }
            Some(Err(why)) => self.end_step(&name, StepStatus::SoftFail, Some(why)),
        }
        Ok(())
    }

    /// Packets reach the work queue as one more commit through the door.
    fn sync_queue(&mut self, gathered: &Gathered) -> Result<(), Stopped> {
        if self.is_dry() {
            return Ok(());
        }
        let at = self.work.outside.reading("work queue").rfc3339();
        let edit = self.queue_edit(&gathered.packets, &at);
        let done = edit.and_then(|edit| edit.map_or(Ok(()), |edit| self.commit_queue(at, edit)));
        if let Err(why) = done {
            self.log(&format!("the work queue: {why}"));
            if self.unfinished.is_some() {
                return Err(Stopped::Failed(format!("the work queue: {why}")));
            }
            self.degraded.push(format!("work queue: {why}"));
        }
        Ok(())
    }

    /// What the work queue is to become, made from the queue as it is when the door looks at it: others add lines
    /// to it at any time.
    fn queue_edit(&self, packets: &[MorningPacket], at: &str) -> Result<Option<Edit>, String> {
        let work = &self.work;
        let run_id = &self.summary.run_id;
        let night = Night { root: &work.root, repo: &self.repo, run_id, timestamp: at };
        for _ in 0..LOOKS_MAX {
            let bytes = read_queue(&work.agents);
            let edit =
                sync(bytes.as_deref(), packets, &night).map_err(|error| error.to_string())?;
            fault("work-queue")?;
            let Some(edit) = edit else { return Ok(None) };
            if ao_mutant::active("REP-20/one-look") || read_queue(&work.agents) == bytes {
                return Ok(Some(edit));
            }
        }
        Err("others change it all the time".into())
    }

    fn commit_queue(&mut self, at: String, edit: Edit) -> Result<(), String> {
        if let (true, ao_tree::Action::Write(bytes)) =
            (ao_mutant::active("LOOP-06/packets-pass-the-door-by"), &edit.action)
        {
            let path = self.work.agents.join(NEXT_WORK);
            let bytes = ao_vault::redactor().bytes(bytes, ao_vault::Ansi::Keep);
            return ao_vault::out::replace_file(&path, &bytes).map_err(|error| error.to_string());
        }
        let run_id = self.summary.run_id.clone();
        // A run that is gone on with may have handed over before it was cut off.
        let id = self.work.door.unique_id(&format!("{run_id}-packets"));
        let stop = Arc::new(AtomicBool::new(false));
        let limit = self.work.settings.checkpoint_max_bytes;
        let request = Request {
            id: id.map_err(|error| error.to_string())?,
            at,
            why: format!("morning packets of overnight run {run_id}"),
            edits: vec![edit],
            undo_of: Vec::new(),
            by: None,
            given: None,
            drop_folders: Vec::new(),
            grace: Duration::ZERO,
            max_store_bytes: limit.saturating_sub(self.stored_bytes),
            stop: Stop::when(Arc::clone(&stop)),
        };
        let work = Arc::clone(&self.work);
        let limits = self.limits.clone();
        let (clock, deadline) = (self.work.clock, self.limits.deadline);
        let (teller, watch) = (&mut self.teller, &mut *self.watch);
        let mut tick = || teller.tell(clock, deadline, watch);
        let apply = move || work.door.apply(request);
        match in_background(apply, &limits, Some(&stop), &mut tick) {
            Ok(Ok(done)) => done.held_back().into_values().next().map_or(Ok(()), Err),
            Ok(Err(error)) => {
                self.unfinished(&error);
                Err(error.to_string())
            }
            Err(Halt::Panic(why)) => Err(format!("panicked: {why}")),
            Err(Halt::Time | Halt::Signal(_)) => Err("the time ended".into()),
        }
    }
}

/// What is kept of a sync.
fn told(done: &beads::BeadSync, packets: &[MorningPacket]) -> NightBeads {
    let bead = |packet: &MorningPacket| Some((packet.id.clone(), packet.bead_id.clone()?));
    NightBeads {
        status: done.status(),
        note: done.note(),
        linked: done.linked() as u64,
        beads: packets.iter().filter_map(bead).collect(),
        extra: Extra::new(),
    }
}

fn read_queue(agents: &std::path::Path) -> Option<Vec<u8>> {
    own_file::read(&agents.join(NEXT_WORK), NEXT_WORK_BYTES_MAX).ok()
}
