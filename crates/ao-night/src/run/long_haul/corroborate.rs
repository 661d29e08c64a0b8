//! The looks for what speaks for the packets.

use std::sync::Arc;

use ao_contract::{
    Extra, HaulProbeKind, MetricsHealth, MorningPacket, PacketCorroboration, PacketProbe, RunStage,
    SchemaVersion, StepName, StepStatus,
};
use serde_json::Value;

use super::super::background::{Halt, Limits};
use super::super::steps::searched;
use super::super::{Run, Stopped};
use super::Exit;
use crate::long_haul::{
    Facts, LOOKS_MAX, Looked, STREAK, TIME_ENDED, TOP_IS_HIGH, Tally, Tried, is_high, look, probe,
    top,
};

const NAME: StepName = StepName::PacketCorroboration;
const KIND: HaulProbeKind = HaulProbeKind::PacketCorroboration;

/// What every look needs.
#[derive(Debug, Clone)]
struct Ground {
    looked: Arc<Looked>,
    facts: Arc<Facts>,
}

impl Run<'_> {
    /// One look a packet, from the top, and another at the same while it gains something.
    pub(super) fn corroborate(
        &mut self,
        packets: &mut [MorningPacket],
        tally: &mut Tally,
        limits: &Limits,
    ) -> Result<Exit, Stopped> {
        self.stage(RunStage::Steps, &NAME.to_string());
        let mut made = Vec::new();
        let done = match self.ground(packets, limits) {
            Ok(Some(Ok(ground))) => self.looks(packets, &ground, tally, limits, &mut made),
            Ok(Some(Err(why))) => Ok(self.in_vain(tally, None, &why)),
            Ok(None) => Ok(Some(TIME_ENDED)),
            Err(stopped) => Err(stopped),
        };
        let has_failed = self.step(&NAME).is_some_and(|step| step.status == StepStatus::SoftFail);
        if !made.is_empty() && !has_failed {
            let is_raised = |one: &&PacketProbe| one.confidence_before != one.confidence_after;
            let raised = made.iter().filter(is_raised).count();
            let ended = if done == Ok(Some(TIME_ENDED)) { "; the time ended" } else { "" };
            let note = format!("{} looks, {raised} that raised a packet{ended}", made.len());
            // The file is of packets that were raised. Looks in vain are in the log.
            if raised == 0 && !ao_mutant::active("RUN-27/corroboration-of-nothing") {
                self.end_step(&NAME, StepStatus::Done, Some(note));
                return done;
            }
            let value = PacketCorroboration {
                schema_version: SchemaVersion,
                run_id: self.summary.run_id.clone(),
                probes: made,
                extra: Extra::new(),
            };
            // A soft step: what went wrong is in the step.
            let _ = self.artifact(&NAME, &value, Some(note));
        }
        done
    }

    /// Asks the corpus about the packets, once. `None` if the time was over.
    fn ground(
        &mut self,
        packets: &[MorningPacket],
        limits: &Limits,
    ) -> Result<Option<Result<Ground, String>>, Stopped> {
        if limits.halt() == Some(Halt::Time) {
            return Ok(None);
        }
        let all = packets.to_vec();
        let looked = self.work_within(limits, &NAME, move |work| look(&searched(work), &all))?;
        let facts = Arc::new(self.facts());
        Ok(looked.map(|looked| looked.map(|looked| Ground { looked: Arc::new(looked), facts })))
    }

    fn looks(
        &mut self,
        packets: &mut [MorningPacket],
        ground: &Ground,
        tally: &mut Tally,
        limits: &Limits,
        made: &mut Vec<PacketProbe>,
    ) -> Result<Exit, Stopped> {
        let first = top(packets);
        for (at, packet) in packets.iter_mut().enumerate() {
            while !is_high(packet) && made.len() < LOOKS_MAX {
                let id = packet.id.clone();
                let (done, after) = match self.look_at(at, packet, ground, limits)? {
                    None => return Ok(Some(TIME_ENDED)),
                    Some(Ok(done)) => done,
                    Some(Err(why)) => return Ok(self.in_vain(tally, Some(id), &why)),
                };
                let is_raised = done.confidence_before != done.confidence_after;
                *packet = after;
                let tried = if is_raised { Tried::Changed } else { Tried::Nothing };
                self.count(tally, KIND, Some(id), tried(done.told.clone()));
                made.push(done);
                if first == Some(at) && is_high(packet) {
                    return Ok(Some(TOP_IS_HIGH));
                }
                if tally.is_in_vain() {
                    return Ok(Some(STREAK));
                }
                if !is_raised {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// One look at one packet; the packet as it is after it. `None` if the time was over.
    #[expect(clippy::type_complexity, reason = "time, failure and what came of it")]
    fn look_at(
        &mut self,
        at: usize,
        packet: &MorningPacket,
        ground: &Ground,
        limits: &Limits,
    ) -> Result<Option<Result<(PacketProbe, MorningPacket), String>>, Stopped> {
        if limits.halt() == Some(Halt::Time) {
            return Ok(None);
        }
        let (Ground { looked, facts }, mut packet) = (ground.clone(), packet.clone());
        self.work_within(limits, &NAME, move |work| {
            let place = work.place();
            let done = probe(&looked, (at, &mut packet), place, &facts);
            Ok((done, packet))
        })
    }

    /// A look that failed is one that changed nothing.
    fn in_vain(&mut self, tally: &mut Tally, packet: Option<String>, why: &str) -> Exit {
        self.end_step(&NAME, StepStatus::SoftFail, Some(why.to_owned()));
        self.count(tally, KIND, packet, Tried::Nothing(format!("it failed: {why}")));
        tally.is_in_vain().then_some(STREAK)
    }

    /// What this night found out itself.
    fn facts(&self) -> Facts {
        let health = self.summary.metrics_health.clone();
        let health: Option<MetricsHealth> =
            health.and_then(|health| ao_contract::read(&Value::Object(health)).ok());
        let before = self.iterations.iter().find(|one| !one.fitness_before.is_empty());
        Facts {
            defrag: self.defrag.clone(),
            health,
            before: before.map(|one| one.fitness_before.clone()),
            after: self.fitness_now(),
        }
    }
}
