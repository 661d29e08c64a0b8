//! Citations and feedback, as judgements on entries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::{
    CitationType, Extra, FeedbackVerdict, Finite, LeftAlone, Open, Taken, TakenFrom, Unit,
};
use ao_tree::Edit;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::corpus::{Corpus, Entry, Kind};
use crate::logs::{CITATIONS, FEEDBACK, Logs, Mention};
use crate::propose::Group;
use crate::reward::{APPLIED, BYPASS, REFERENCE, Standing, Verdict};
use crate::taken::{Ledger, log_of};
use crate::whereabouts::Whereabouts;

/// Judgements and what is written down of them.
pub(crate) const GROUP: Group<'_> = Group("feedback");

/// What the judging is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    /// Where the repository is: a path in a log may begin with it.
    pub(crate) root: &'a Path,
    /// RFC 3339.
    pub(crate) now: &'a str,
    /// What was said after this day is not yet known.
    pub(crate) as_of: Option<Date>,
    /// Entries that cannot be changed now; judgements on them wait.
    pub(crate) except: &'a BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) edits: Vec<Edit>,
    pub(crate) verdicts: Vec<FeedbackVerdict>,
    pub(crate) unused: Vec<LeftAlone>,
    pub(crate) rewards: u64,
}

/// One judgement on one entry.
struct Judgement<'a> {
    mention: &'a Mention,
    from: TakenFrom,
    worth: Worth,
}

#[derive(Clone, Copy)]
enum Worth {
    Said(f64),
    Mentioned,
}

pub(crate) fn judge(
    corpus: &Corpus,
    today: &Whereabouts<'_>,
    logs: &Logs,
    ledger: &mut Ledger,
    told: Told<'_>,
) -> Judged {
    let mut judged = Judged::default();
    let mut by_entry: BTreeMap<&str, Vec<Judgement<'_>>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (from, mention) in mentions(logs) {
        let Some(worth) = worth(mention, from, logs) else { continue };
        let is_taken = ledger.entry(from, &mention.key).is_some();
        if is_taken || is_later(mention, told.as_of) || !seen.insert((from, &mention.key)) {
            continue;
        }
        match entry_of(mention, today, told.root) {
            Ok(entry) if told.except.contains(&entry.path) => {}
            Ok(entry) => {
                let judgement = Judgement { mention, from, worth };
                by_entry.entry(entry.path.as_str()).or_default().push(judgement);
            }
            Err(why) => judged.unused.push(unused(from, mention, why)),
        }
    }
    for (path, mut judgements) in by_entry {
        judgements.sort_by(|a, b| order(a).cmp(&order(b)));
        let Some(entry) = corpus.get(path) else { continue };
        match take(entry, &judgements, told.now) {
            Ok((edit, verdict)) => {
                judged.rewards += verdict.rewards;
                judged.edits.push(edit);
                judged.verdicts.push(verdict);
                for taken in &judgements {
                    ledger.add(line(entry, taken, told.now));
                }
            }
            Err(why) => {
                let path = entry.path.clone();
                judged.unused.push(LeftAlone { path, why, extra: Extra::new() });
            }
        }
    }
    judged
}

fn mentions(logs: &Logs) -> impl Iterator<Item = (TakenFrom, &Mention)> {
    let citations = logs.citations.iter().flatten().map(|line| (TakenFrom::Citations, line));
    let feedback = logs.feedback.iter().flatten().map(|line| (TakenFrom::Feedback, line));
    citations.chain(feedback)
}

/// What a line is worth; `None` if it is no judgement, or was made one elsewhere.
fn worth(mention: &Mention, from: TakenFrom, logs: &Logs) -> Option<Worth> {
    if mention.is_spent {
        return None;
    }
    if let Some(reward) = mention.reward {
        return Some(Worth::Said(reward));
    }
    if from != TakenFrom::Citations {
        return None;
    }
    let outcome = logs
        .outcome
        .as_ref()
        .filter(|outcome| mention.session.as_ref() == Some(&outcome.session))
        .map(|outcome| Worth::Said(outcome.reward));
    match mention.kind.as_ref().and_then(Open::known)? {
        CitationType::Applied => outcome.or(Some(Worth::Said(APPLIED))),
        CitationType::Reference => outcome.or(Some(Worth::Mentioned)),
        CitationType::Bypass => Some(Worth::Said(BYPASS)),
        CitationType::Retrieved => None,
    }
}

fn is_later(mention: &Mention, as_of: Option<Date>) -> bool {
    match (mention.at, as_of) {
        (Some(at), Some(as_of)) => at.to_zoned(TimeZone::UTC).date() > as_of,
        _ => false,
    }
}

fn entry_of<'a>(
    mention: &Mention,
    today: &Whereabouts<'a>,
    root: &Path,
) -> Result<&'a Entry, String> {
    let name = local(mention, root).ok_or("names an entry of another place")?;
    let entry = today.resolve(name).ok_or("names no entry of this corpus")?;
    if !matches!(entry.kind, Kind::Learning | Kind::Pattern) {
        return Err(format!("names a {}, which has no utility", entry.kind.name()));
    }
    Ok(entry)
}

/// The name of an entry of this repository. A path from the root of the machine must lead here, or
/// to where the line's own session worked: this log is that session's log of this repository.
pub(crate) fn local<'a>(mention: &'a Mention, root: &Path) -> Option<&'a str> {
    let name = mention.entry.trim();
    if !name.starts_with(['/', '~']) && name.as_bytes().get(1) != Some(&b':') {
        return Some(name);
    }
    let (place, rest) = name.rsplit_once("/.agents/")?;
    let is_workspace =
        mention.workspace.as_deref().is_some_and(|w| w.trim_end_matches('/') == place);
    (Path::new(place) == root || is_workspace).then_some(rest)
}

/// In the order in which they were said; what has no time comes last.
fn order<'a>(judgement: &'a Judgement<'_>) -> (bool, Option<Timestamp>, &'a str) {
    let at = judgement.mention.at;
    (at.is_none(), at, &judgement.mention.key)
}

fn take(
    entry: &Entry,
    judgements: &[Judgement<'_>],
    now: &str,
) -> Result<(Edit, FeedbackVerdict), String> {
    let document = &entry.document;
    if document.is_pinned() {
        return Err("it is pinned: judgements on it wait".into());
    }
    let before = Standing::of(document);
    let mut after = before;
    let mut last = (0.0, now.to_owned());
    for judgement in judgements {
        let (reward, verdict) = match judgement.worth {
            Worth::Said(reward) => (reward, Verdict::of(reward)),
            Worth::Mentioned => (REFERENCE.max(after.utility), Verdict::Open),
        };
        after.take(reward, verdict);
        last = (reward, moment(judgement.mention, now));
    }
    let mut draft = document.draft();
    draft.set("utility", after.utility).set("reward_count", after.rewards);
    if after.helpful != before.helpful {
        draft.set("helpful_count", after.helpful);
    }
    if after.harmful != before.harmful {
        draft.set("harmful_count", after.harmful);
    }
    draft.set("last_reward", last.0).set("last_reward_at", last.1);
    if after.maturity != before.maturity
        && let Some(maturity) = after.maturity
    {
        draft.set("maturity", serde_json::to_value(maturity).unwrap_or_default());
    }
    let edited = draft.finish().map_err(|error| error.to_string())?;
    let reason = format!(
        "{} judged it: utility {} became {}",
        judgements.len(),
        before.utility,
        after.utility
    );
    let bytes = (document.bytes(), edited.bytes());
    let is_from = |log: &&str| judgements.iter().any(|one| log_of(one.from) == Some(*log));
    let logs: Vec<&str> = [CITATIONS, FEEDBACK].into_iter().filter(is_from).collect();
    let edit = GROUP.change(&entry.path, bytes, &reason, &logs);
    Ok((edit, verdict(entry, judgements.len(), &before, &after)))
}

fn verdict(entry: &Entry, rewards: usize, before: &Standing, after: &Standing) -> FeedbackVerdict {
    FeedbackVerdict {
        path: entry.path.clone(),
        rewards: rewards as u64,
        helpful: after.helpful - before.helpful,
        harmful: after.harmful - before.harmful,
        utility_before: Unit::nearest(before.utility),
        utility_after: Unit::nearest(after.utility),
        maturity_before: before.maturity,
        maturity_after: after.maturity,
        extra: Extra::new(),
    }
}

fn moment(mention: &Mention, now: &str) -> String {
    mention.at.map_or_else(|| now.to_owned(), |at| at.to_string())
}

fn line(entry: &Entry, taken: &Judgement<'_>, now: &str) -> Taken {
    Taken {
        key: taken.mention.key.clone(),
        from: taken.from,
        entry: entry.path.clone(),
        at: moment(taken.mention, now),
        reward: match taken.worth {
            Worth::Said(reward) => Finite::new(reward),
            Worth::Mentioned => Finite::new(REFERENCE),
        },
        origin: None,
        sources: Vec::new(),
        extra: Extra::new(),
    }
}

fn unused(from: TakenFrom, mention: &Mention, why: String) -> LeftAlone {
    let log = if from == TakenFrom::Citations { CITATIONS } else { FEEDBACK };
    LeftAlone { path: format!("{log}:{}", mention.line), why, extra: Extra::new() }
}
