//! Findings that nobody dealt with. They are read one by one; only their names are kept.

use std::borrow::Cow;

use ao_contract::{Check, Level, Severity, WorkType};
use ao_corpus::{Entry, Kind, in_parallel};

use super::Sources;
use super::draft::Draft;
use super::identity::id_of;
use super::lead::{Lead, Strength, What};
use super::work::Queue;
use crate::place::AGENTS;

/// A finding that was met so often is no accident.
const HITS_MANY: u64 = 2;
/// Above this its author was sure.
const CONFIDENCE_SURE: f64 = 0.8;

pub(super) fn leads<'a>(sources: &Sources<'a>, queue: &Queue) -> Vec<Lead<'a>> {
    let is_finding = |path: &String| Kind::of(path) == Some(Kind::Finding);
    let paths: Vec<String> = sources.tree.paths().into_iter().filter(is_finding).collect();
    let look = |path: &String| {
        let entry = sources.tree.entry(path)?;
        (entry.is_open_finding() && !entry.document.is_hidden()).then(|| lead(&entry))
    };
    let mut leads: Vec<Lead<'a>> = in_parallel(&paths, look).into_iter().flatten().collect();
    // What was routed into the queue is asked for there.
    leads.retain(|lead| match &lead.what {
        What::Finding { path } => !queue.is_made_from(path),
        _ => true,
    });
    leads
}

fn lead<'a>(entry: &Entry) -> Lead<'a> {
    Lead {
        id: if ao_mutant::active("REP-11/id-follows-the-words") {
            id_of("finding", &[&entry.title()])
        } else {
            id_of("finding", &[&name(entry)])
        },
        strength: Strength::Finding,
        severity: entry.severity(),
        weight: entry.document.count("hit_count"),
        order: entry.path.clone(),
        what: What::Finding { path: entry.path.clone() },
    }
}

/// What a finding is known by, wherever its file lies.
fn name(entry: &Entry) -> String {
    entry.document.text("id").map_or_else(|| entry.stem().to_owned(), |id| id.trim().to_owned())
}

pub(super) fn draft<'a>(sources: &Sources<'a>, path: &str) -> Option<Draft<'a>> {
    let entry = sources.tree.entry(path)?;
    let document = &entry.document;
    let text = |key: &str| document.text(key).map(Cow::into_owned);
    let mut draft = Draft::new(sources, &format!("Resolve: {}", entry.title()), WorkType::Bug);
    let severity = entry.severity();
    draft.severity = severity.into();
    let file = format!("{AGENTS}/{path}");
    let hits = document.count("hit_count");
    let severity_word = text("severity").unwrap_or_else(|| "medium, as it does not say".into());
    draft.why(&match hits {
        0 | 1 => "The finding is open.".to_owned(),
        _ => "The finding is open and was met again.".to_owned(),
    });
    draft.evidence(&format!("{file}: open, severity {severity_word}, met {hits} times"));
    for (label, key) in [
        ("", "summary"),
        ("pattern: ", "pattern"),
        ("asks: ", "detection_question"),
        ("last cited ", "last_cited"),
    ] {
        if let Some(text) = text(key) {
            draft.evidence(&format!("{label}{text}"));
        }
    }
    draft.files.file(&file);
    for key in ["source_artifact", "file"] {
        draft.files.file(&text(key).unwrap_or_default());
    }
    draft.files.text(document.body());
    let is_sure = document.confidence().is_some_and(|value| value >= CONFIDENCE_SURE);
    draft.confidence = match severity {
        Severity::High | Severity::Critical if hits >= HITS_MANY || is_sure => Level::High,
        _ => Level::Medium,
    };
    draft.checks.push(Check::FindingOpen { finding: path.to_owned() });
    Some(draft)
}
