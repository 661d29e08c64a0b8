//! Closing the loop: what was learned becomes knowledge, what was used is judged.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use ao_contract::{
    ChangeStatus, CloseLoop, Extra, FeedbackVerdict, LeftAlone, PendingVerdict, Promotion,
    SchemaVersion, Trust, Unit, format_duration,
};
use ao_tree::{Edit, shown};
use jiff::civil::Date;

use crate::check::Check;
use crate::corpus::{Corpus, latest_day};
use crate::files::Left;
use crate::logs::Logs;
use crate::signals::PROMOTE_AT;
use crate::taken::Ledger;
use crate::whereabouts::Whereabouts;
use crate::{feedback, promote, trust};

/// What a corpus must be read from for its loop to be closed.
pub const CLOSED: [&str; 4] = ["learnings", "findings", "patterns", "knowledge"];

/// More lines than this are counted, not listed.
const UNUSED_LISTED_MAX: usize = 1000;

#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// Where the repository is.
    pub root: &'a Path,
    /// RFC 3339, UTC.
    pub now: &'a str,
    /// The day that the age of pending learnings is counted from, unless `as_of` is another one.
    pub today: Date,
    /// The day to count from instead; feedback of later days is then left out.
    pub as_of: Option<Date>,
    /// How old a pending learning must be to be promoted.
    pub min_age: Duration,
    /// Paths that the door would not let change; they are left out.
    pub except: BTreeSet<String>,
    /// How far texts are trusted.
    pub trust: trust::Told,
}

/// What closing the loop would change, and why.
#[derive(Debug)]
pub struct Closing {
    pub edits: Vec<Edit>,
    pending: Vec<PendingVerdict>,
    feedback: Vec<FeedbackVerdict>,
    unused: Vec<LeftAlone>,
    left: Vec<LeftAlone>,
    rewards: u64,
    day: Date,
    min_age: Duration,
    promote_at: Trust,
}

impl Settings<'_> {
    /// The day that ages are counted from.
    fn day(&self, corpus: &Corpus) -> Date {
        let day = self.as_of.unwrap_or(self.today);
        if ao_mutant::active("RUN-44/promotes-by-the-corpus") {
            return corpus.newest_by(latest_day(self.today)).unwrap_or(day);
        }
        day
    }

    /// What promoting is told.
    fn told<'a>(&'a self, corpus: &Corpus, watched: Option<&'a str>) -> promote::Told<'a> {
        promote::Told {
            now: self.now,
            day: self.day(corpus),
            undated: self.as_of.or_else(|| corpus.newest_by(latest_day(self.today))),
            min_age: self.min_age,
            except: &self.except,
            trust: &self.trust,
            watched,
        }
    }
}

/// Judges pending learnings and takes feedback. `ledger` is of the same tree as `corpus`.
pub fn close_loop(
    corpus: &Corpus,
    logs: &Logs,
    mut ledger: Ledger,
    settings: &Settings<'_>,
) -> Closing {
    let Settings { root, now, as_of, min_age, ref except, ref trust, .. } = *settings;
    let today = Whereabouts::of(corpus);
    let judged = feedback::judge(
        corpus,
        &today,
        logs,
        &mut ledger,
        feedback::Told { root, now, as_of, except },
    );
    let told = settings.told(corpus, None);
    let promoted = promote::promote(corpus, &today, told);
    let mut edits = promoted.edits;
    edits.extend(judged.edits);
    edits.extend(ledger.edits(feedback::GROUP));
    let mut unused = logs.unused.clone();
    unused.extend(judged.unused);
    Closing {
        edits,
        pending: promoted.verdicts,
        feedback: judged.verdicts,
        unused: bounded(unused),
        left: left_alone(&corpus.left),
        rewards: judged.rewards,
        day: told.day,
        min_age,
        promote_at: trust.promote_at,
    }
}

/// Everything that is asked of one pending learning, in the order in which it is; nothing for a file that is none.
pub fn asked_of_pending(corpus: &Corpus, path: &str, settings: &Settings<'_>) -> Vec<Check> {
    let today = Whereabouts::of(corpus);
    promote::promote(corpus, &today, settings.told(corpus, Some(path))).watched
}

impl Closing {
    /// Takes back what is told of edits that were not made. They belong to groups that were not
    /// made either.
    pub fn hold_back(&mut self, paths: &BTreeSet<String>) {
        for pending in &mut self.pending {
            let to = pending.promoted_to.as_ref();
            if paths.contains(&pending.path) || to.is_some_and(|to| paths.contains(to)) {
                pending.verdict = Promotion::Kept;
                pending.reason =
                    "somebody changed it meanwhile; it is judged again next time".into();
                pending.promoted_to = None;
            }
        }
        if self.feedback.iter().any(|judged| paths.contains(&judged.path)) {
            self.feedback.clear();
            self.rewards = 0;
        }
    }

    /// The result as it is published, once it is known what became of the edits.
    pub fn report(&self, status: ChangeStatus, id: Option<String>) -> CloseLoop {
        let count = |verdict: Promotion| {
            self.pending.iter().filter(|pending| pending.verdict == verdict).count() as u64
        };
        CloseLoop {
            schema_version: SchemaVersion,
            status,
            id,
            as_of: Some(self.day.to_string()),
            min_age: format_duration(self.min_age),
            promote_at: Unit::nearest(PROMOTE_AT),
            promoted: count(Promotion::Promoted),
            known: count(Promotion::Known),
            kept: count(Promotion::Kept),
            waiting: self.pending.iter().filter(|pending| pending.waits_for_person).count() as u64,
            trust_promote_at: Some(self.promote_at),
            pending: self.pending.clone(),
            rewards: self.rewards,
            feedback: self.feedback.clone(),
            unused: self.unused.clone(),
            left: self.left.clone(),
            extra: Extra::new(),
        }
    }
}

pub(crate) fn left_alone(left: &[Left]) -> Vec<LeftAlone> {
    let alone = |left: &Left| LeftAlone {
        path: left.path.clone(),
        why: left.why.clone(),
        extra: Extra::new(),
    };
    left.iter().map(alone).collect()
}

fn bounded(mut unused: Vec<LeftAlone>) -> Vec<LeftAlone> {
    for line in &mut unused {
        line.path = shown(&line.path);
    }
    let more = unused.len().saturating_sub(UNUSED_LISTED_MAX);
    if more > 0 {
        unused.truncate(UNUSED_LISTED_MAX);
        let why = format!("{more} more lines could not be used");
        unused.push(LeftAlone { path: "ao/".into(), why, extra: Extra::new() });
    }
    unused
}
