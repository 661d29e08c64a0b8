//! The words for what the night saw, and the checks that tell when it is seen to.

use ao_contract::{
    Check, DefragKept, DefragPair, Finite, LeftAlone, Level, MetricsHealth, Oscillation, WorkType,
};
use ao_corpus::sweep::HISTORY;
use ao_tree::FILE_BYTES_MAX;

use super::{Seen, file_of};
use crate::packets::Sources;
use crate::packets::draft::Draft;
use crate::place::{AGENTS, Standing};

const CITATIONS: &str = "ao/citations.jsonl";

pub(in crate::packets) fn draft<'a>(sources: &Sources<'a>, seen: &Seen<'a>) -> Draft<'a> {
    let mut draft = match seen {
        Seen::Pair(pair) => of_pair(sources, pair),
        Seen::Kept(kept) => of_kept(sources, kept),
        Seen::Oscillation(swing) => of_oscillation(sources, swing),
        Seen::Unreadable { left, lines } => of_unreadable(sources, left, *lines),
        Seen::Fell { metric, before, after, floor } => {
            of_fall(sources, metric, *before, *after, *floor)
        }
        Seen::Stale(health) => of_stale(sources, health),
        Seen::Unknown { figures, why } => of_unknown(sources, figures, why),
    };
    draft.severity = seen.severity().into();
    draft
}

fn of_pair<'a>(sources: &Sources<'a>, pair: &DefragPair) -> Draft<'a> {
    let (one, other) = (stem(&pair.one), stem(&pair.other));
    let mut draft = if pair.why.is_empty() {
        let title = format!("Decide whether {one} and {other} are one entry");
        Draft::new(sources, &title, WorkType::Improvement)
    } else {
        let title = format!("Settle what {one} and {other} disagree about");
        Draft::new(sources, &title, WorkType::PatternFix)
    };
    draft.why(if pair.why.is_empty() {
        "The night found the two alike, and not so alike that it would merge them."
    } else {
        "The night found the two alike, and left both because they do not claim the same."
    });
    draft.confidence = if pair.why.is_empty() { Level::Low } else { Level::Medium };
    draft.evidence(&format!(
        "{AGENTS}/{} and {AGENTS}/{}: {:.2} of their stems and {:.2} of their pairs of stems are in both",
        pair.one,
        pair.other,
        pair.stems.get(),
        pair.pairs.get()
    ));
    draft.evidence(&pair.why);
    for path in [&pair.one, &pair.other] {
        let file = format!("{AGENTS}/{path}");
        draft.files.file(&file);
        draft.checks.push(Check::PathExists { path: file.clone() });
        draft.checks.push(Check::Entry { entry: path.clone() });
        draft.checks_if_true.extend(hash_of(sources, &file));
    }
    draft
}

fn of_kept<'a>(sources: &Sources<'a>, kept: &DefragKept) -> Draft<'a> {
    let title = format!("Decide what becomes of {}", stem(&kept.path));
    let mut draft = Draft::new(sources, &title, WorkType::Improvement);
    draft.why("The night would have merged or archived the entry, and something was in the way.");
    let file = format!("{AGENTS}/{}", kept.path);
    draft.evidence(&format!("{file}: {}", kept.why));
    draft.files.file(&file);
    draft.files.text(&kept.why);
    draft.checks.push(Check::PathExists { path: file.clone() });
    draft.checks_if_true.extend(hash_of(sources, &file));
    draft
}

fn of_oscillation<'a>(sources: &Sources<'a>, swing: &Oscillation) -> Draft<'a> {
    let title = format!("Find out why {} goes back and forth", swing.target);
    let mut draft = Draft::new(sources, &title, WorkType::ProcessImprovement);
    draft.confidence = Level::Medium;
    draft.why(
        "The cycles on it improve and fail in turn, so the next one is likely to undo the last.",
    );
    let history = format!("{AGENTS}/{HISTORY}");
    draft.evidence(&format!(
        "{history}: {} results turned {} times ({})",
        swing.results.len(),
        swing.turns,
        swing.results.join(", ")
    ));
    if let Some(entry) = &swing.entry {
        draft.files.file(&format!("{AGENTS}/{entry}"));
        draft.checks_if_true.push(Check::Entry { entry: entry.clone() });
    }
    draft.files.file(&history);
    draft.files.file(&swing.target);
    draft.checks.push(Check::PathExists { path: history });
    draft
}

fn of_unreadable<'a>(sources: &Sources<'a>, left: &LeftAlone, lines: usize) -> Draft<'a> {
    let path = file_of(&left.path);
    let is_log = path != left.path;
    let title = if is_log {
        format!("Repair the lines of {path} that cannot be read")
    } else {
        format!("Make {path} readable")
    };
    let mut draft = Draft::new(sources, &title, WorkType::TechDebt);
    draft.confidence = Level::Medium;
    draft.why("What cannot be read is not found by anybody, and no night improves it.");
    draft.evidence(&format!("{AGENTS}/{}: {}", left.path, left.why));
    if is_log {
        draft.evidence(&format!("{lines} lines of it are left alone"));
    }
    let file = format!("{AGENTS}/{path}");
    draft.files.file(&file);
    // A name that is shown in another spelling, or a symlink, leads to nothing that can be checked.
    if matches!(sources.place.stands(&file), Ok(Standing::File { .. } | Standing::Folder)) {
        draft.checks.push(Check::PathExists { path: file.clone() });
        draft.checks_if_true.extend(hash_of(sources, &file));
    }
    draft
}

fn of_fall<'a>(
    sources: &Sources<'a>,
    metric: &str,
    before: f64,
    after: f64,
    floor: f64,
) -> Draft<'a> {
    let mut draft = Draft::new(sources, &format!("Find out why {metric} fell"), WorkType::Bug);
    let is_under = before - after > floor;
    draft.confidence = if is_under { Level::High } else { Level::Medium };
    draft.why(if is_under {
        "It fell by more than its floor allows in a night."
    } else {
        "It fell, though by no more than its floor allows in a night."
    });
    let after = if ao_mutant::active("REP-15/numbers-of-no-run") { before - floor } else { after };
    draft.evidence(&format!(
        "{metric}: {before:.4} before the night, {after:.4} after it; {floor:.2} is allowed"
    ));
    draft
}

fn of_stale<'a>(sources: &Sources<'a>, health: &MetricsHealth) -> Draft<'a> {
    let title = "Look through the entries that are old and that nobody uses";
    let mut draft = Draft::new(sources, title, WorkType::Improvement);
    draft.why("More of the corpus grows old unused than is new.");
    let figure = |value: &Option<Finite>| value.as_ref().map_or(0.0, Finite::get);
    draft.evidence(&format!(
        "metrics health: b1 {:.2} against r1 {:.2}, over {} sessions",
        figure(&health.loop_dominance.b1),
        figure(&health.loop_dominance.r1),
        health.sessions
    ));
    draft.evidence(&format!(
        "metrics health: {} of {} entries were cited lately, their mean age is {:.0} days",
        health.cited,
        health.retrievable,
        figure(&health.delta)
    ));
    draft
}

fn of_unknown<'a>(sources: &Sources<'a>, figures: &[&str], why: &str) -> Draft<'a> {
    let title = format!("Make {} known", figures.join(", "));
    let mut draft = Draft::new(sources, &title, WorkType::ProcessImprovement);
    draft.why("What is not known cannot be watched.");
    draft.evidence(&format!("metrics health: {} not known: {why}", figures.join(", ")));
    let path = format!("{AGENTS}/{CITATIONS}");
    if why.contains("citation log") {
        draft.files.file(&path);
        draft.checks_if_true.push(Check::PathAbsent { path });
    }
    draft
}

/// That a file is what it was; `None` for one that is too large to look at.
fn hash_of(sources: &Sources<'_>, file: &str) -> Option<Check> {
    let bytes = sources.place.read(file, FILE_BYTES_MAX).ok()??;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    Some(Check::FileHash { path: file.to_owned(), hash })
}

fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
