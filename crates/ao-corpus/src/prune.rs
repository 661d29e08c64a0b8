//! Entries that have had their day: findings past their term, and what another entry replaced.
//!
//! An entry that anything refers to is never taken away, nor one that its author pinned. Ages are
//! measured against the corpus's own newest day, never against the clock.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use ao_contract::PruneRule;
use jiff::ToSpan;
use jiff::civil::Date;

use crate::corpus::{Entry, Kind};
use crate::defrag::QUEUE;
use crate::document::day;
use crate::files::{File, Files, in_parallel};
use crate::index::{Facts, facts_of};
use crate::lineage::{Found, Lineage};
use crate::references::{Names, Wanted};
use crate::tree::Tree;

/// What the operator and its caches keep is not knowledge; ledgers record entries, they do not refer
/// to them.
const NOT_REFERRING: [&str; 6] =
    ["overnight/", "ao/index/", "evolve/", "pool/", "findings/registry.jsonl", ".git/"];
/// The citation log of some years.
const REFERRING_BYTES_MAX: u64 = 64 * 1024 * 1024;
const TTL_DAYS_MAX: f64 = 100_000.0;

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
#[derive(Debug, Default)]
pub struct Candidates {
    pub found: Vec<Candidate>,
    pub kept: Vec<(String, String)>,
    /// The day that ages were measured against.
    pub now: Option<Date>,
}

struct Surveyed {
    facts: Facts,
    path: String,
    /// Entries of which one of the rules may hold.
    old: Option<(PruneRule, String, Names, bool)>,
    day: Option<Date>,
}

/// Looks at every entry. `now` is the day that ages are measured against.
pub fn candidates(tree: &Tree, now: Option<Date>) -> Candidates {
    let paths = tree.paths();
    let survey = |path: &String| tree.entry(path).map(|entry| survey(&entry));
    let mut surveyed: Vec<Surveyed> = in_parallel(&paths, survey).into_iter().flatten().collect();
    let now = now.or_else(|| surveyed.iter().filter_map(|entry| entry.day).max());
    let old: Vec<_> = surveyed
        .iter_mut()
        .filter_map(|entry| Some((entry.path.clone(), entry.old.take()?)))
        .collect();
    let lineage = Lineage::of_facts(surveyed.into_iter().map(|s| (s.path, s.facts)).collect());
    let mut candidates = Candidates { now, ..Candidates::default() };
    for (path, (rule, reason, names, is_pinned)) in old {
        let judged = match rule {
            PruneRule::Expired => expired(tree, &path, now).map(|reason| (reason, None)),
            PruneRule::Superseded => match successor(tree, &lineage, &path) {
                Ok(successor) => Some((format!("{reason}, which is there"), Some(successor))),
                Err(why) => {
                    candidates.kept.push((path, why));
                    continue;
                }
            },
        };
        let Some((reason, successor)) = judged else { continue };
        let fixed = |path: &String| tree.fixed().get(path);
        if let Some(why) = fixed(&path).or_else(|| successor.as_ref().and_then(fixed)) {
            candidates.kept.push((path, why.clone()));
            continue;
        }
        if is_pinned {
            candidates.kept.push((path, "it is pinned, or cannot be read beyond doubt".into()));
            continue;
        }
        candidates.found.push(Candidate { path, rule, reason, successor, names });
    }
    candidates
}

fn survey(entry: &Entry) -> Surveyed {
    let document = &entry.document;
    let is_held = matches!(
        entry.kind,
        Kind::Learning | Kind::Finding | Kind::Pattern | Kind::Pending | Kind::Knowledge
    );
    let by = document.text("superseded_by");
    let rule = match (&by, entry.kind) {
        _ if !is_held => None,
        (Some(by), _) => Some((PruneRule::Superseded, format!("superseded by {by}"))),
        (None, Kind::Finding) if ttl(entry).is_some() => Some((PruneRule::Expired, String::new())),
        _ => None,
    };
    let is_fixed = document.is_pinned() || document.doubt().is_some();
    let old = rule.map(|(rule, reason)| (rule, reason, Names::of(entry), is_fixed));
    Surveyed { facts: facts_of(entry), path: entry.path.clone(), old, day: entry.date() }
}

/// A finding's term in days, if it sets one.
fn ttl(entry: &Entry) -> Option<i64> {
    let days = entry.document.number("ttl_days")?;
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    (days > 0.0 && days <= TTL_DAYS_MAX).then_some(days as i64)
}

/// Why a finding is past its term; `None` if it is not, or if that cannot be known.
fn expired(tree: &Tree, path: &str, now: Option<Date>) -> Option<String> {
    let entry = tree.entry(path)?;
    let ttl = ttl(&entry)?;
    let cited = entry.document.day("last_cited");
    let dated = entry.date().or_else(|| day(entry.stem().strip_prefix("f-")?));
    let (from, what) = match cited {
        Some(day) => (day, "last cited"),
        None => (dated?, "dated"),
    };
    let end = from.checked_add(ttl.days()).ok()?;
    (end < now?).then(|| format!("{what} {from}, and its {ttl} days ended on {end}"))
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
    agents: &Path,
    tree: &Tree,
    queue: Option<&str>,
    candidates: &[Candidate],
) -> io::Result<Result<Vec<BTreeSet<String>>, String>> {
    let wanted = Wanted::new(candidates.iter().map(|candidate| candidate.names.clone()).collect());
    let mut files = Files::list_all(agents)?;
    files.found.retain(|file| !NOT_REFERRING.iter().any(|not| file.path.starts_with(not)));
    let look = |file: &File| -> Result<BTreeSet<usize>, String> {
        match tree.change(&file.path) {
            None if file.path == QUEUE && queue.is_some() => {
                Ok(wanted.mentioned(queue.unwrap_or_default()))
            }
            Some(None) => Ok(BTreeSet::new()),
            Some(Some(entry)) => Ok(wanted.mentioned(&text(entry.document.bytes()))),
            None => {
                let bytes = files.read_up_to(file, REFERRING_BYTES_MAX);
                let bytes = bytes.map_err(|why| format!("{} {why}", ao_tree::shown(&file.path)))?;
                Ok(wanted.mentioned(&text(&bytes)))
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
