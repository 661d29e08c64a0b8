//! Entries that have had their day: findings past their term, and what another entry replaced.
//!
//! An entry that anything refers to is never taken away, nor one that its author pinned. Terms are
//! judged by the day that is handed in. What the corpus says of its own days moves none of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use ao_contract::PruneRule;
use jiff::ToSpan;
use jiff::civil::Date;

use crate::check::{Bound, Check, Side, first_refusal};
use crate::corpus::{Entry, Kind, newest_of};
use crate::defrag::QUEUE;
use crate::document::day;
use crate::files::{File, Files, in_parallel};
use crate::index::{Facts, facts_of};
use crate::lineage::{Found, Lineage};
use crate::logs::Logs;
use crate::own_work::without_own_work;
use crate::past::Past;
use crate::patterns::without_own;
use crate::references::{Names, Wanted};
use crate::tree::Tree;

/// What the operator and its caches keep is not knowledge; ledgers record entries, they do not refer
/// to them, and what a person ruled about an entry or vouched for must not keep it for ever.
const NOT_REFERRING: [&str; 10] = [
    "overnight/",
    "ao/index/",
    "ao/questions.jsonl",
    "evolve/",
    "pool/",
    "findings/registry.jsonl",
    ".git/",
    "knowledge/taken/patterns-",
    "knowledge/rulings/",
    "knowledge/vouched/",
];
/// The citation log of some years.
const REFERRING_BYTES_MAX: u64 = 64 * 1024 * 1024;
const TTL_DAYS_MAX: f64 = 100_000.0;
/// The check that does not hold while a finding has time left.
const TERM: &str = "days past its term";

/// An entry that may go, if nothing refers to it.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub path: String,
    pub rule: PruneRule,
    pub reason: String,
    /// The entry that stands for it.
    pub successor: Option<String>,
    names: Names,
}

/// What may go, and what would but for a reason of its own.
#[derive(Debug)]
pub struct Candidates {
    pub found: Vec<Candidate>,
    pub kept: Vec<(String, String)>,
    /// The day that terms were judged by.
    pub now: Date,
}

/// What is known of a tree before its entries are weighed.
#[derive(Debug)]
pub struct Survey {
    /// Entries of which one of the rules may hold.
    old: Vec<String>,
    lineage: Lineage,
    /// The day that terms are judged by.
    now: Date,
    /// Entries of a day to come.
    ahead: Vec<(String, Date)>,
}

struct Surveyed {
    facts: Facts,
    path: String,
    is_old: bool,
    day: Option<Date>,
}

/// An entry, weighed.
#[derive(Debug)]
pub struct Weighed {
    /// All that is asked of it; what does not hold first is why it stays.
    pub checks: Vec<Check>,
    /// What goes if all of it holds; nothing where no rule may hold.
    pub candidate: Option<Candidate>,
}

/// The days that terms are judged by.
#[derive(Debug, Clone, Copy)]
pub struct Against {
    /// A term that ended before this day is over.
    pub day: Date,
    /// Entries of later days are of a time to come; they are told.
    pub latest: Option<Date>,
}

/// Looks at every entry.
pub fn candidates(tree: &Tree, against: Against) -> Candidates {
    let survey = Survey::of(tree, against);
    let mut candidates = Candidates { found: Vec::new(), kept: Vec::new(), now: survey.now };
    for (path, day) in &survey.ahead {
        let why = format!("it is dated {day}, a day to come: no age is counted from it");
        candidates.kept.push((path.clone(), why));
    }
    for path in &survey.old {
        let Weighed { checks, candidate } = survey.weigh(tree, path);
        match first_refusal(&checks) {
            // What has time left is not worth a word.
            Some(check) if check.name == TERM => {}
            Some(check) => candidates.kept.push((path.clone(), check.why.clone())),
            None => candidates.found.extend(candidate),
        }
    }
    candidates
}

impl Survey {
    pub fn of(tree: &Tree, against: Against) -> Self {
        let paths = tree.paths();
        let look = |path: &String| tree.entry(path).map(|entry| surveyed(&entry));
        let surveyed: Vec<Surveyed> = in_parallel(&paths, look).into_iter().flatten().collect();
        let days = || surveyed.iter().filter_map(|entry| entry.day);
        let now = match against.day {
            day if ao_mutant::active("RUN-44/expiry-by-the-corpus") => {
                newest_of(days(), against.latest).unwrap_or(day)
            }
            day if ao_mutant::active("RUN-44/a-day-to-come-is-now") => {
                newest_of(days(), None).map_or(day, |newest| newest.max(day))
            }
            day => day,
        };
        let is_ahead = |day: &Date| against.latest.is_some_and(|latest| *day > latest);
        let ahead = surveyed
            .iter()
            .filter_map(|entry| Some((entry.path.clone(), entry.day.filter(is_ahead)?)));
        let ahead = ahead.collect();
        let old = surveyed.iter().filter(|entry| entry.is_old).map(|entry| entry.path.clone());
        let old = old.collect();
        let lineage = Lineage::of_facts(surveyed.into_iter().map(|s| (s.path, s.facts)).collect());
        Self { old, lineage, now, ahead }
    }

    /// Asks everything of one entry, but who refers to it.
    pub fn weigh(&self, tree: &Tree, path: &str) -> Weighed {
        let Some(entry) = tree.entry(path) else {
            let why = Some("it can no longer be read".into());
            let checks = vec![Check::plain("file", "it can be read", why, "")];
            return Weighed { checks, candidate: None };
        };
        let Some(rule) = rule_of(&entry) else {
            let why = Some("it sets no term, and says of no entry that it replaced it".into());
            let needed = "a finding's `ttl_days`, or `superseded_by`";
            return Weighed {
                checks: vec![Check::plain("rule", needed, why, "")],
                candidate: None,
            };
        };
        let (first, reason, successor) = match rule {
            PruneRule::Expired => {
                let (check, reason) = expired(&entry, self.now);
                (check, reason, None)
            }
            PruneRule::Superseded => {
                let by = entry.document.text("superseded_by").unwrap_or_default();
                let found = successor(tree, &self.lineage, path);
                let needed = "it is there and may be changed";
                let there = found.as_deref().unwrap_or_default();
                let check = Check::plain("successor", needed, found.clone().err(), there);
                (check, format!("superseded by {by}, which is there"), found.ok())
            }
        };
        let fixed = |path: &str| tree.fixed().get(path).cloned();
        let fixed = fixed(path).or_else(|| successor.as_deref().and_then(fixed));
        let document = &entry.document;
        let is_fixed = document.is_pinned() || document.doubt().is_some();
        let why = is_fixed.then(|| "it is pinned, or cannot be read beyond doubt".to_owned());
        let checks = vec![
            first,
            Check::plain("door", "the file can be changed", fixed, "it can"),
            Check::plain("pinned", "no, and no doubt about its header", why, "no"),
        ];
        let names = Names::of(&entry);
        let candidate = Candidate { path: path.to_owned(), rule, reason, successor, names };
        Weighed { checks, candidate: Some(candidate) }
    }
}

fn surveyed(entry: &Entry) -> Surveyed {
    let is_old = rule_of(entry).is_some();
    Surveyed { facts: facts_of(entry), path: entry.path.clone(), is_old, day: entry.date() }
}

/// The rule that may hold of an entry, if one may.
fn rule_of(entry: &Entry) -> Option<PruneRule> {
    let is_held = matches!(
        entry.kind,
        Kind::Learning | Kind::Finding | Kind::Pattern | Kind::Pending | Kind::Knowledge
    );
    match entry.document.text("superseded_by") {
        _ if !is_held => None,
        Some(_) if ao_mutant::active("LOOP-25/superseded-stays") => None,
        Some(_) => Some(PruneRule::Superseded),
        None => (entry.kind == Kind::Finding && ttl(entry).is_some()).then_some(PruneRule::Expired),
    }
}

/// A finding's term in days, if it sets one.
fn ttl(entry: &Entry) -> Option<i64> {
    let days = entry.document.number("ttl_days")?;
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    (days > 0.0 && days <= TTL_DAYS_MAX).then_some(days as i64)
}

/// Whether an entry is past a term that it sets itself.
pub(crate) fn is_expired(entry: &Entry, now: Date) -> bool {
    entry.kind == Kind::Finding && ttl(entry).is_some() && expired(entry, now).0.holds
}

/// The first day on which an entry is past a term that it sets itself, if it sets one.
pub(crate) fn expires_on(entry: &Entry) -> Option<Date> {
    let ttl = ttl(entry).filter(|_| entry.kind == Kind::Finding)?;
    term_begins(entry).0?.checked_add(ttl.days()).ok()?.tomorrow().ok()
}

/// The day that the term of a finding is counted from, and what happened on it.
fn term_begins(entry: &Entry) -> (Option<Date>, &'static str) {
    let dated = || entry.date().or_else(|| day(entry.stem().strip_prefix("f-")?));
    match entry.document.day("last_cited") {
        Some(day) => (Some(day), "last cited"),
        None => (dated(), "dated"),
    }
}

/// Whether a finding is past its term, and the reason if so; where that cannot be known it is not.
fn expired(entry: &Entry, now: Date) -> (Check, String) {
    let unknown =
        |why: &str| (Check::plain(TERM, "it is over", Some(why.to_owned()), ""), String::new());
    let (from, what) = term_begins(entry);
    let (Some(from), Some(ttl)) = (from, ttl(entry)) else {
        return unknown("no day is known that its term begins with");
    };
    let Ok(end) = from.checked_add(ttl.days()) else { return unknown("its term has no end") };
    let over = end.until(now).map_or(0, |span| span.get_days());
    let bound = if ao_mutant::active("LOOP-25/expired-stays-a-year") { 365.0 } else { 0.0 };
    let bound = Bound { name: TERM, value: f64::from(over), side: Side::Above, bound };
    let mut check = Check::of(&bound, format!("its {ttl} days end on {end}, and it is {now}"));
    check.found = format!("{what} {from}, ends {end}, {over} days before {now}");
    (check, format!("{what} {from}, and its {ttl} days ended on {end}"))
}

/// The entry that stands for one that was superseded.
fn successor(tree: &Tree, lineage: &Lineage, path: &str) -> Result<String, String> {
    let found = match lineage.find(path) {
        Found::Entry { path: found, .. } if found != path => found,
        Found::Entry { .. } => return Err("it is superseded by itself".into()),
        Found::Orphan { missing, .. } => return Err(format!("`{missing}` is not there")),
        Found::Several(_) => return Err("its successor's name means several entries".into()),
        Found::Nothing => return Err("its successors lead in a circle".into()),
    };
    let entry = tree.entry(&found).ok_or_else(|| format!("{found} cannot be read"))?;
    let document = &entry.document;
    if document.is_hidden() {
        return Err(format!("its successor {found} is hidden itself"));
    }
    if document.is_pinned() || document.doubt().is_some() {
        return Err(format!("{found} may not be changed, and could not take over its name"));
    }
    Ok(found)
}

/// Who refers to candidates: for each of them the files that do.
pub fn referrers(
    (agents, past): (&Path, Option<&Past>),
    tree: &Tree,
    queue: Option<&str>,
    candidates: &[Candidate],
) -> io::Result<Result<Vec<BTreeSet<String>>, String>> {
    let wanted = Wanted::new(candidates.iter().map(|candidate| candidate.names.clone()).collect());
    let mut files = match past {
        Some(past) => Files::list_all_past(agents, past)?,
        None => Files::list_all(agents)?,
    };
    files.found.retain(|file| !NOT_REFERRING.iter().any(|not| file.path.starts_with(not)));
    let look = |file: &File| -> Result<BTreeSet<usize>, String> {
        match tree.change(&file.path) {
            None if file.path == QUEUE && queue.is_some() => {
                Ok(wanted.mentioned(&without_own_work(queue.unwrap_or_default())))
            }
            Some(None) => Ok(BTreeSet::new()),
            Some(Some(entry)) => Ok(mentioned(&wanted, &file.path, entry.document.bytes())),
            None => {
                let bytes = files.read_up_to(file, REFERRING_BYTES_MAX);
                let bytes = bytes.map_err(|why| format!("{} {why}", ao_tree::shown(&file.path)))?;
                match past.filter(|_| Logs::is_log(&file.path)) {
                    // Who cited it later had not done so then.
                    Some(past) => {
                        Ok(wanted.mentioned(&Logs::log_until(&text(&bytes), past.until())))
                    }
                    None => Ok(mentioned(&wanted, &file.path, &bytes)),
                }
            }
        }
    };
    let mut found = vec![BTreeSet::new(); candidates.len()];
    for (file, mentioned) in files.found.iter().zip(files.map(look)) {
        match mentioned {
            Ok(mentioned) => {
                for target in mentioned.into_iter().filter(|at| candidates[*at].path != file.path) {
                    found[target].insert(file.path.clone());
                }
            }
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok(found))
}

/// Whom a file mentions. What a pattern was compiled from is no reference: it would keep its sources for ever.
fn mentioned(wanted: &Wanted, path: &str, bytes: &[u8]) -> BTreeSet<usize> {
    let text = text(bytes);
    if path == QUEUE {
        return wanted.mentioned(&without_own_work(&text));
    }
    let is_pattern = Kind::of(path) == Some(Kind::Pattern);
    match is_pattern.then(|| without_own(&text)).flatten() {
        Some(rest) => wanted.mentioned(&rest),
        None => wanted.mentioned(&text),
    }
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Those that nobody refers to; what only others that go refer to may go with them. The second list
/// tells of each that stays who refers to it.
pub fn unreferred(
    candidates: Vec<Candidate>,
    referrers: &[BTreeSet<String>],
) -> (Vec<Candidate>, Vec<(String, String)>) {
    let mut going: BTreeSet<usize> = BTreeSet::new();
    let place: BTreeMap<&str, usize> =
        candidates.iter().enumerate().map(|(at, c)| (c.path.as_str(), at)).collect();
    loop {
        let is_free = |at: &usize| {
            let goes =
                |path: &String| place.get(path.as_str()).is_some_and(|at| going.contains(at));
            !going.contains(at) && referrers[*at].iter().all(goes)
        };
        let free: Vec<usize> = (0..candidates.len()).filter(is_free).collect();
        if free.is_empty() {
            break;
        }
        going.extend(free);
    }
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for (at, candidate) in candidates.into_iter().enumerate() {
        if going.contains(&at) {
            gone.push(candidate);
        } else {
            let first = referrers[at].first().map_or("", String::as_str);
            let more = referrers[at].len() - 1;
            let others = if more > 0 { format!(" and {more} more") } else { String::new() };
            kept.push((candidate.path, format!("{first}{others} refer to it")));
        }
    }
    (gone, kept)
}
