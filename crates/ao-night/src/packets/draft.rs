//! A packet as it is drawn up: its words, its files, its checks.

use std::num::NonZeroU32;

use ao_contract::{Check, Extra, Level, MorningPacket, Open, Severity, WorkType};

use ao_corpus::looks_secret;
use serde_json::Value;

use super::lead::Lead;
use super::{Sources, failed};
use crate::artifacts;
use crate::check::Checker;
use crate::files::Named;
use crate::plain::{self, LINE_CHARS_MAX, one_line};
use crate::verdict::Verdict;

const EVIDENCE_MAX: usize = 8;
const CHECKS_MAX: usize = 16;
const CHECK_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) title: String,
    pub(super) kind: Open<WorkType>,
    pub(super) severity: Open<Severity>,
    pub(super) confidence: Level,
    pub(super) why_now: String,
    pub(super) evidence: Vec<String>,
    pub(super) files: Named<'a>,
    /// Tests that somebody named, and that are there.
    pub(super) tests: Named<'a>,
    pub(super) checks: Vec<Check>,
    /// Checks that are carried only if they hold now: they tell that the work is done, and never
    /// that it was not there.
    pub(super) checks_if_true: Vec<Check>,
    pub(super) queue_item: Option<String>,
    /// The command of the item that it comes from, instead of the night's.
    pub(super) command: Option<String>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(sources: &Sources<'a>, title: &str, kind: WorkType) -> Self {
        Self {
            title: plain::title(title),
            kind: kind.into(),
            severity: Severity::Low.into(),
            confidence: Level::Low,
            why_now: String::new(),
            evidence: Vec::new(),
            files: Named::new(sources.place),
            tests: Named::new(sources.place),
            checks: Vec::new(),
            checks_if_true: Vec::new(),
            queue_item: None,
            command: None,
        }
    }

    pub(super) fn why(&mut self, why: &str) {
        self.why_now = one_line(why, LINE_CHARS_MAX);
    }

    pub(super) fn evidence(&mut self, text: &str) {
        let line = one_line(text, LINE_CHARS_MAX);
        if !line.is_empty() && self.evidence.len() < EVIDENCE_MAX && !self.evidence.contains(&line)
        {
            self.evidence.push(line);
        }
    }

    /// With the checks that it will carry; the error is its title, and why the work is done already.
    pub(super) fn checked(mut self, checker: &Checker<'_>) -> Result<Self, (String, String)> {
        self.checks.retain(is_fit);
        self.checks.truncate(CHECKS_MAX);
        if let Some(why) = failed(&checker.check_all(&self.checks)) {
            return Err((self.title, why));
        }
        for check in std::mem::take(&mut self.checks_if_true) {
            let room = self.checks.len() < CHECKS_MAX;
            if room
                && is_fit(&check)
                && !self.checks.contains(&check)
                && checker.check(&check) == Verdict::True
            {
                self.checks.push(check);
            }
        }
        Ok(self)
    }

    pub(super) fn finish(
        self,
        sources: &Sources<'_>,
        lead: &Lead<'_>,
        before: usize,
    ) -> MorningPacket {
        let mut likely_tests = self.tests.files.clone();
        likely_tests.extend(self.files.tests());
        let mut seen = std::collections::BTreeSet::new();
        likely_tests.retain(|test| seen.insert(test.clone()));
        let rank = u32::try_from(before).unwrap_or(u32::MAX - 1);
        let mut packet = MorningPacket {
            id: lead.id.clone(),
            rank: NonZeroU32::MIN.saturating_add(rank),
            title: self.title,
            kind: self.kind,
            severity: self.severity,
            confidence: self.confidence.into(),
            why_now: self.why_now,
            evidence: self.evidence,
            target_files: self.files.files,
            likely_tests,
            morning_command: String::new(),
            bead_id: ao_mutant::active("REP-11/unlinked-bead-is-empty").then(String::new),
            artifact_path: String::new(),
            source: Some(lead.source().into()),
            queue_item: self.queue_item,
            still_true: self.checks,
            corroboration: None,
            extra: Extra::new(),
        };
        packet.morning_command = self.command.unwrap_or_else(|| sources.command.fill(&packet));
        let path = sources.output_dir.join(artifacts::path_of(&packet));
        packet.artifact_path = path.to_string_lossy().into_owned();
        packet
    }
}

/// Checks come from files too, and what a report must not hold they must not bring.
fn is_fit(check: &Check) -> bool {
    let Ok(text) = serde_json::to_string(check) else { return false };
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    let Ok(Value::Object(fields)) = serde_json::to_value(check) else { return false };
    let is_plain = |value: &Value| {
        value.as_str().is_none_or(|text| !text.contains(is_odd) && looks_secret(text).is_none())
    };
    text.len() <= CHECK_BYTES_MAX && fields.values().all(is_plain)
}
