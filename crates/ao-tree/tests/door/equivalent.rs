//! Why a mutant that no engine tells from the protocol is no different from it.
//!
//! Each rule looks at what the steps do and where they stand between the marker's coming and
//! going. A rule is asked only about a mutant that nothing caught.

use crate::journal::Journal;
use crate::mutant::Mutation;
use crate::sim::Tape;

/// The steps of an undisturbed run, and its three stretches: nothing decided yet, the marker
/// stands for certain, the marker is gone for certain.
pub(crate) struct Trace<'a> {
    tape: &'a Tape,
    /// From this step on the marker is durable; the first when the run found it so.
    stands: usize,
    /// The step that removes the marker; the first when it was gone before.
    goes: usize,
    /// From this step on its removal is durable.
    gone: usize,
    is_recovery: bool,
}

impl<'a> Trace<'a> {
    pub(crate) fn new(tape: &'a Tape) -> Self {
        let position = |what: &str| tape.steps.iter().position(|step| step.contains(what));
        let made = position("-> overnight/COMMIT-MARKER");
        // The two directories that the marker's name touches are synced right after it.
        let stands = made.map_or(0, |made| made + 3);
        let goes = position("remove_file overnight/COMMIT-MARKER");
        let gone = goes.map_or(0, |goes| goes + 2);
        Self { tape, stands, goes: goes.unwrap_or(0), gone, is_recovery: made.is_none() }
    }

    fn text(&self, step: usize) -> &str {
        &self.tape.steps[step]
    }

    fn is_sync(&self, step: usize) -> bool {
        self.text(step).starts_with("sync_")
    }

    fn before(&self, step: usize) -> &Journal {
        &self.tape.points[step]
    }

    fn after(&self, step: usize) -> &Journal {
        &self.tape.points[step + 1]
    }

    /// It did not find its work done already.
    fn has_effect(&self, step: usize) -> bool {
        self.before(step).clock != self.after(step).clock
    }

    fn steps_between(&self, step: usize, until: usize) -> impl Iterator<Item = usize> {
        (step + 1..=until).filter(|step| self.has_effect(*step))
    }
}

pub(crate) fn why_equivalent(mutation: Mutation, trace: &Trace) -> Option<&'static str> {
    match mutation {
        Mutation::Omit(step) => why_needless(step, trace),
        Mutation::Delay(step, until) => why_movable(step, until, trace),
        Mutation::Blind => None,
    }
}

fn why_needless(step: usize, trace: &Trace) -> Option<&'static str> {
    let text = trace.text(step);
    if trace.is_sync(step) && trace.before(step).waits() == trace.after(step).waits() {
        return Some("it had nothing to make durable");
    }
    if step < trace.stands && is_keepsake_sync(text) {
        return Some("the folder only reserves its space; publishing makes it again");
    }
    if text.ends_with("generation.odd -> overnight/generation") {
        return Some("the counter is made odd again before anything moves");
    }
    if text == "sync_dir overnight/displaced/" {
        return Some(
            "if that rename is lost, what came out is still in staging, and is looked at there",
        );
    }
    let is_synced_again = (step + 1..trace.goes).any(|later| trace.text(later) == text);
    if trace.is_sync(step) && step >= trace.stands && is_synced_again {
        return Some(
            "the same is synced again while the marker stands; with a late conflict it is caught",
        );
    }
    let stands = trace.stands..trace.goes;
    if trace.is_recovery
        && stands.contains(&step)
        && text.starts_with("exchange overnight/staging/")
    {
        return Some("what came out is looked at, and exchanged once more if it is not ours");
    }
    if stands.contains(&step) && text.starts_with("remove_file overnight/staging/") {
        return Some("it goes with the staging anyway");
    }
    if stands.contains(&step) && text.starts_with("sync_file") && text.ends_with("/fresh") {
        return Some("what came late is found and written again until all of it is synced");
    }
    if !trace.is_recovery {
        return None;
    }
    if text == "sync_tree /" && !trace.before(0).waits_for_marker() {
        return Some("the marker was durable already, and all that it decided is synced again");
    }
    if text.ends_with("generation.even -> overnight/generation") {
        return Some("recovery makes the counter even itself");
    }
    if text.starts_with("remove_dir overnight/staging") {
        return Some("the leftovers are looked for once more");
    }
    is_settling(step, trace).then_some("an odd counter is settled again by the next start")
}

fn why_movable(step: usize, until: usize, trace: &Trace) -> Option<&'static str> {
    let text = trace.text(step);
    let stands = trace.stands..trace.goes;
    if trace.is_sync(step) && why_needless(step, trace).is_some() {
        return Some("a sync that is not needed at all may come at any time");
    }
    if text.ends_with("generation.odd -> overnight/generation") && until >= trace.stands {
        return Some("the counter was made odd before anything moved; nothing is left to do");
    }
    if text == "sync_dir /" && step < trace.stands && until < trace.stands {
        return Some("if the state directory itself is lost, so is the marker: nothing is decided");
    }
    if stands.contains(&step) && text.starts_with("remove_file overnight/staging/") {
        return Some("it goes with the staging anyway");
    }
    if stands.contains(&step) && text.contains("/fresh -> ") && stands.contains(&until) {
        return Some("what came late is found and written again until all of it is synced");
    }
    if trace.is_sync(step) && trace.steps_between(step, until).all(|later| trace.is_sync(later)) {
        return Some(
            "syncs with no change between them: before the last, any subset may be on disk",
        );
    }
    if !trace.is_sync(step) && stays_loose(step, until, trace) {
        return Some(
            "it is not durable before its own sync: it may be lost or kept without the others anyway",
        );
    }
    let is_redone = trace.is_sync(step) || is_publishing(trace.text(step));
    if is_redone && step >= trace.stands && until < trace.goes {
        return Some(
            "the marker stands: recovery does both again; with a late conflict it is caught where it matters",
        );
    }
    if step >= trace.gone && trace.goes > 0 {
        return Some(
            "the marker is gone for good: the next start removes what is left, in any order",
        );
    }
    let only_counts =
        |later: usize| trace.is_sync(later) || trace.text(later).contains("generation.odd ->");
    if until < trace.stands.saturating_sub(3) && trace.steps_between(step, until).all(only_counts) {
        return Some("nothing is decided, and an odd counter without a marker is settled");
    }
    let is_all_settling = |mut steps: std::ops::RangeInclusive<usize>| {
        steps.all(|step| is_settling(step, trace) || is_leftover(step, trace))
    };
    (trace.is_recovery && is_all_settling(step..=until))
        .then_some("leftovers and the counter are settled again by the next start")
}

/// A change that no sync touches, among changes that have nothing to do with it.
fn stays_loose(step: usize, until: usize, trace: &Trace) -> bool {
    let (Some(made), Some(still)) =
        (trace.after(step).newest_wait(), trace.after(until).wait_of(trace.after(step).clock))
    else {
        return false;
    };
    let independent = |later: usize| {
        trace.is_sync(later) || Journal::are_independent(trace.after(step), trace.after(later))
    };
    made == still && trace.steps_between(step, until).all(independent)
}

/// A step that moves what is remembered of a commit into place.
fn is_publishing(text: &str) -> bool {
    let from =
        text.strip_prefix("rename overnight/staging/").and_then(|rest| rest.split(' ').next());
    let name = from.and_then(|from| from.split_once('/')).map(|(_, name)| name);
    matches!(name, Some("history.jsonl" | "undo" | "archive" | "conflicts"))
}

fn is_keepsake_sync(text: &str) -> bool {
    ["undo", "archive", "conflicts"]
        .iter()
        .any(|name| text == format!("sync_dir overnight/{name}/"))
}

/// A step of making an odd counter even, at the end of a recovery.
fn is_settling(step: usize, trace: &Trace) -> bool {
    let first = trace.tape.steps.iter().position(|text| text.contains("generation.new"));
    trace.is_recovery && first.is_some_and(|first| step >= first) && step >= trace.gone
}

fn is_leftover(step: usize, trace: &Trace) -> bool {
    trace.text(step).starts_with("remove_") && trace.text(step).contains("overnight/staging")
}
