//! The artifact of each step: its key in the summary, and its file beneath the output directory.

use std::path::Path;

use ao_contract::{StepName, Summary};

use crate::artifacts::INDEX_JSON;
use crate::output::Output;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepFile {
    pub(super) key: String,
    pub(super) file: String,
}

impl StepFile {
    /// `None` for a step that writes no file of its own. The record of an iteration is no artifact
    /// in the summary.
    pub(super) fn of(name: &StepName) -> Option<Self> {
        let is_other = ao_mutant::active("RUN-26/close-loop-has-another-name");
        let (key, file) = match name {
            StepName::CloseLoop if is_other => ("close_loop", "closing.json"),
            StepName::CloseLoop => ("close_loop", "close-loop.json"),
            StepName::DefragPreview => ("defrag_report", "defrag/latest.json"),
            StepName::MetricsHealth => ("metrics_health", "metrics-health.json"),
            StepName::RetrievalLive => ("retrieval_live", "retrieval-bench.json"),
            StepName::KnowledgeBrief => ("briefing", "briefing.json"),
            StepName::KnowledgeBriefFallback => ("briefing_fallback", "briefing-fallback.json"),
            StepName::CouncilPacket => ("council_packet", "council/packet.json"),
            StepName::CouncilSynthesis => ("council_synthesis", "council/synthesis.json"),
            StepName::PacketCorroboration => ("packet_corroboration", "packet-corroboration.json"),
            StepName::MorningPackets => ("morning_packets_json", INDEX_JSON),
            // It may come from a file, and names one.
            StepName::CouncilRunner(slug) if ao_contract::check_id(slug).is_ok() => {
                let (key, file) = (format!("council_{slug}"), format!("council/{slug}.json"));
                return Some(Self { key, file });
            }
            StepName::BeadSync
            | StepName::CouncilRunner(_)
            | StepName::Iteration(_)
            | StepName::Other(_) => return None,
        };
        Some(Self { key: key.into(), file: file.into() })
    }

    /// Names the file in the summary, and in its step.
    pub(super) fn put(self, summary: &mut Summary, name: &StepName, path: String) {
        if let Some(step) = summary.steps.iter_mut().find(|step| step.name == *name) {
            step.artifact = Some(path.clone());
        }
        summary.artifacts.insert(self.key, path);
    }

    /// Whether the file is there: each is written whole or not at all.
    pub(super) fn is_in(&self, output: &Output) -> bool {
        let is_plain = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_file());
        is_plain(&output.path(&self.file))
    }
}
