//! The steps of a long haul: between the packets and the council.

mod corroborate;

use ao_contract::{
    BriefingFallback, Extra, HaulProbeKind, LongHaul as Told, MorningPacket, RunStage,
    SchemaVersion, StepName, StepStatus,
};
use serde_json::Value;

use super::background::{Halt, Limits};
use super::council::Asked;
use super::steps::{brief, object};
use super::{Run, Stopped};
use crate::long_haul::{
    BELOW_HIGH, HIGH_ALREADY, NO_PACKET, NOT_ASKED, NOTHING_LEFT, STOPPED, STREAK, TIME_ENDED,
    TOP_IS_HIGH, Tally, Tried, asked_about, is_high, new_sources, top,
};
use crate::packets::Gathered;
use crate::settings::LongHaul;

/// What the long haul leaves to the steps after it.
#[derive(Debug, Default)]
pub(super) struct Hauled {
    /// The packets as they were before it, if it ran.
    pub(super) before: Option<Vec<MorningPacket>>,
    /// What a council is counted in; nothing if the long haul is over.
    open: Option<Tally>,
    council: Need,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Need {
    #[default]
    Asked,
    /// The packets became sure without it.
    NotNeeded,
}

/// Why a part of it ended; nothing if it may go on.
type Exit = Option<&'static str>;

impl Run<'_> {
    /// Looks further, if that was asked for and the night is not sure of its first packet.
    pub(super) fn long_haul(&mut self, gathered: Option<&mut Gathered>) -> Result<Hauled, Stopped> {
        let LongHaul::On { limit } = self.work.settings.long_haul else {
            self.summary.long_haul = Some(Told::default());
            return Ok(Hauled::default());
        };
        let mut tally = Tally { told: Told { enabled: true, ..Told::default() } };
        let mut none = Vec::new();
        let packets = gathered.map_or(&mut none, |gathered| &mut gathered.packets);
        let first = top(packets);
        if first.is_some_and(|first| is_high(&packets[first])) {
            return Ok(self.end_haul(tally, HIGH_ALREADY));
        }
        tally.told.trigger_reason = if first.is_some() { BELOW_HIGH } else { NO_PACKET }.into();
        let before = packets.clone();
        let until = (self.work.clock.uptime)().saturating_add(limit);
        let mut deadline = self.limits.deadline.min(until);
        if ao_mutant::active("RUN-03/long-haul-outlasts-the-run") {
            deadline = until;
        }
        let limits = Limits { deadline, ..self.limits.clone() };
        let exit = match self.probes(packets, &mut tally, &limits) {
            Ok(exit) => exit,
            Err(stopped) => {
                self.end_haul(tally, STOPPED);
                return Err(stopped);
            }
        };
        let is_active = tally.told.active;
        let mut hauled = match exit {
            Some(why) => self.end_haul(tally, why),
            None => Hauled { open: Some(tally), ..Hauled::default() },
        };
        hauled.before = is_active.then_some(before);
        if exit == Some(TOP_IS_HIGH) && !ao_mutant::active("REP-10/council-is-asked-anyway") {
            hauled.council = Need::NotNeeded;
        }
        Ok(hauled)
    }

    /// The council as on any night, and counted if the long haul still goes on; its steps are skipped if the
    /// packets became sure without it.
    pub(super) fn council_after(
        &mut self,
        hauled: &mut Hauled,
        first_move: &str,
    ) -> Result<Asked, Stopped> {
        if hauled.council == Need::NotNeeded {
            self.leave_council_out();
            return Ok(Asked::default());
        }
        let asked = self.council_steps(first_move);
        let Some(mut tally) = hauled.open.take() else { return asked };
        let asked = match asked {
            Ok(asked) => asked,
            Err(stopped) => {
                self.end_haul(tally, STOPPED);
                return Err(stopped);
            }
        };
        if let Some(differs) = asked.differs() {
            let tried = if differs {
                Tried::Changed("the council would do something else first".into())
            } else {
                Tried::Nothing("the council has no other first move".into())
            };
            self.count(&mut tally, HaulProbeKind::Council, None, tried);
        }
        let why = if tally.is_in_vain() { STREAK } else { NOTHING_LEFT };
        self.end_haul(tally, why);
        Ok(asked)
    }

    fn leave_council_out(&mut self) {
        let is_council = |name: &StepName| {
            use StepName::{CouncilPacket, CouncilRunner, CouncilSynthesis};
            matches!(name, CouncilPacket | CouncilRunner(_) | CouncilSynthesis)
        };
        let names: Vec<StepName> =
            self.summary.steps.iter().map(|step| step.name.clone()).collect();
        for name in names.iter().filter(|name| is_council(name)) {
            let is_done = ao_mutant::active("REP-10/council-not-asked-is-done");
            let status = if is_done { StepStatus::Done } else { StepStatus::Skipped };
            self.end_step(name, status, Some(NOT_ASKED.into()));
        }
    }

    /// Ends it; steps of it that were not reached were left out for the same reason.
    fn end_haul(&mut self, mut tally: Tally, why: &str) -> Hauled {
        for name in [StepName::KnowledgeBriefFallback, StepName::PacketCorroboration] {
            if self.step(&name).is_some_and(|step| step.status == StepStatus::Pending) {
                self.end_step(&name, StepStatus::Skipped, Some(why.to_owned()));
            }
        }
        self.log(&format!("long haul: {} probes; {why}", tally.told.probe_count));
        if !tally.told.active {
            // It did not run, so nothing set it off.
            tally.told.trigger_reason.clear();
        }
        why.clone_into(&mut tally.told.exit_reason);
        self.summary.long_haul = Some(tally.told);
        Hauled::default()
    }

    fn count(&self, tally: &mut Tally, kind: HaulProbeKind, packet: Option<String>, tried: Tried) {
        let (Tried::Changed(told) | Tried::Nothing(told)) = &tried;
        self.log(&format!("long haul, probe {}: {told}", tally.told.probe_count + 1));
        tally.count(kind, packet, tried);
    }

    fn probes(
        &mut self,
        packets: &mut [MorningPacket],
        tally: &mut Tally,
        limits: &Limits,
    ) -> Result<Exit, Stopped> {
        if let Some(why) = self.fallback(packets, tally, limits)? {
            return Ok(Some(why));
        }
        if packets.is_empty() {
            let why = Some("there is no packet".to_owned());
            self.end_step(&StepName::PacketCorroboration, StepStatus::Skipped, why);
            return Ok(None);
        }
        self.corroborate(packets, tally, limits)
    }

    /// Why this night has no brief with entries, if so.
    fn lacks_brief(&self) -> Option<String> {
        if self.work.settings.goal.is_empty() {
            return Some("there is no goal".into());
        }
        match &self.summary.briefing {
            None => Some("the brief on the goal was not made".into()),
            Some(brief) => {
                let sources = brief.get("sources").and_then(Value::as_array);
                let is_empty = sources.is_none_or(Vec::is_empty);
                is_empty.then(|| "the brief on the goal found nothing".into())
            }
        }
    }

    fn fallback(
        &mut self,
        packets: &[MorningPacket],
        tally: &mut Tally,
        limits: &Limits,
    ) -> Result<Exit, Stopped> {
        let name = StepName::KnowledgeBriefFallback;
        let leave_out = |run: &mut Self, why: &str| {
            run.end_step(&name, StepStatus::Skipped, Some(why.to_owned()));
            Ok(None)
        };
        let Some(why) = self.lacks_brief() else {
            return leave_out(self, "the brief on the goal has entries");
        };
        let (question, asked) = asked_about(packets);
        if asked.is_empty() {
            return leave_out(self, "there is no packet to ask about");
        }
        self.stage(RunStage::Steps, &name.to_string());
        if limits.halt() == Some(Halt::Time) {
            return Ok(Some(TIME_ENDED));
        }
        let tried = match self.work_within(limits, &name, move |work| brief(work, &question))? {
            None => return Ok(Some(TIME_ENDED)),
            Some(Err(why)) => {
                self.end_step(&name, StepStatus::SoftFail, Some(why.clone()));
                Tried::Nothing(format!("the brief failed: {why}"))
            }
            Some(Ok(brief)) => {
                let new_sources = new_sources(&brief, packets);
                let told =
                    format!("{why}; {} entries that the night had not named", new_sources.len());
                let tried = if new_sources.is_empty() { Tried::Nothing } else { Tried::Changed };
                let made = BriefingFallback {
                    schema_version: SchemaVersion,
                    run_id: self.summary.run_id.clone(),
                    why,
                    packets: asked,
                    new_sources,
                    brief,
                    extra: Extra::new(),
                };
                match self.artifact(&name, &made, Some(told.clone())) {
                    Ok(()) => {
                        self.brief_with(&made);
                        tried(told)
                    }
                    Err(why) => Tried::Nothing(why),
                }
            }
        };
        self.count(tally, HaulProbeKind::BriefingFallback, None, tried);
        Ok(tally.is_in_vain().then_some(STREAK))
    }

    /// A night without any brief shows this one, and says that it is no brief on a goal.
    fn brief_with(&mut self, made: &BriefingFallback) {
        if self.summary.briefing.is_none() && !made.brief.sources.is_empty() {
            self.summary.briefing = object(&made.brief).map(|mut brief| {
                brief.insert("fallback".into(), true.into());
                brief
            });
        }
    }
}
