//! The health of a corpus: how much of it is used, with what evidence, and how old it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ao_contract::{
    CitationType, Extra, Finite, LeftAlone, LoopDominance, MetricsHealth, Open, SchemaVersion, Unit,
};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::closing::left_alone;
use crate::corpus::{Corpus, Entry, Kind};
use crate::feedback::local;
use crate::fitness::{Fitness, days, rounded};
use crate::logs::{Logs, Mention};
use crate::whereabouts::Whereabouts;

/// Only what was cited in so many sessions, the newest, counts as used.
pub const SESSIONS: usize = 10;
/// A citation with less confidence is no evidence.
pub const EVIDENCE_MIN: f64 = 0.7;
pub const NEW_DAYS: f64 = 30.0;
pub const OLD_DAYS: f64 = 90.0;
/// Delta is weighed against a hundred days.
const DELTA_DAYS: f64 = 100.0;

/// What the measuring is told beside the corpus.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// Where the repository is.
    pub root: &'a Path,
    /// The day to measure against instead of the corpus's newest.
    pub as_of: Option<Date>,
    /// Days after this one are not the corpus's newest.
    pub latest: Option<Date>,
}

/// What was cited.
struct Cited<'a> {
    /// All sessions.
    sessions: usize,
    /// Entries that any session cited.
    ever: BTreeSet<&'a str>,
    /// Entries that the last sessions cited, with the best evidence for each.
    lately: BTreeMap<&'a str, f64>,
}

pub fn health(corpus: &Corpus, logs: &Logs, fitness: &Fitness, told: Told<'_>) -> MetricsHealth {
    let day = told.as_of.or_else(|| corpus.newest_by(told.latest));
    let is_retrievable = |entry: &&Arc<Entry>| {
        let is_later = told.as_of.is_some_and(|day| entry.date().is_some_and(|date| date > day));
        matches!(entry.kind, Kind::Learning | Kind::Finding | Kind::Pattern)
            && !entry.document.is_hidden()
            && !is_later
    };
    let retrievable: Vec<&Arc<Entry>> = corpus.entries.iter().filter(is_retrievable).collect();
    let paths: BTreeSet<&str> = retrievable.iter().map(|entry| entry.path.as_str()).collect();
    let cited = cited(corpus, logs, &paths, told);
    let mut absent = BTreeMap::new();
    let mut why =
        |name: &str, reason: &str| drop(absent.insert(name.to_owned(), reason.to_owned()));

    let sigma = match &cited {
        _ if retrievable.is_empty() => Err("there is nothing to retrieve"),
        Err(reason) => Err(reason.as_str()),
        Ok(cited) => Ok(share(cited.lately.len(), retrievable.len())),
    };
    let rho = match &cited {
        Err(reason) => Err(reason.as_str()),
        Ok(cited) if cited.lately.is_empty() => Err("nothing was cited in the last sessions"),
        Ok(cited) => {
            let with = cited.lately.values().filter(|evidence| **evidence >= EVIDENCE_MIN);
            Ok(share(with.count(), cited.lately.len()))
        }
    };
    let ages: Vec<f64> = match day {
        Some(day) => {
            retrievable.iter().filter_map(|entry| Some(days(entry.date()?, day))).collect()
        }
        None => Vec::new(),
    };
    let delta = if ages.is_empty() {
        Err("no entry has a date")
    } else {
        Ok(ages.iter().sum::<f64>() / count(ages.len()))
    };
    let escape = match (sigma, rho, delta) {
        // Nothing is used: nothing escapes, whatever the evidence would have been.
        (Ok(0.0), Err(_), Ok(_)) => Ok(false),
        (Ok(sigma), Ok(rho), Ok(delta)) => Ok(sigma * rho > delta / DELTA_DAYS),
        (Err(reason), _, _) | (_, Err(reason), _) | (_, _, Err(reason)) => Err(reason),
    };
    for (name, reason) in [
        ("sigma", sigma.err()),
        ("rho", rho.err()),
        ("delta", delta.err()),
        ("escape_velocity", escape.err()),
    ] {
        if let Some(reason) = reason {
            why(name, reason);
        }
    }
    let loop_dominance = dominance(&retrievable, &cited, day, &mut why);
    MetricsHealth {
        schema_version: SchemaVersion,
        as_of: day.map(|day| day.to_string()),
        retrievable: retrievable.len() as u64,
        cited: cited.as_ref().map_or(0, |cited| cited.lately.len() as u64),
        sessions: cited.as_ref().map_or(0, |cited| cited.sessions as u64),
        // With the digits that a report repeats.
        sigma: sigma.ok().map(rounded).map(Unit::nearest),
        rho: rho.ok().map(rounded).map(Unit::nearest),
        delta: delta.ok().map(rounded).and_then(Finite::new),
        escape_velocity: escape.ok(),
        knowledge_stock: stock(corpus),
        loop_dominance,
        absent,
        fitness: fitness.report(),
        left: left(corpus, logs),
        extra: Extra::new(),
    }
}

fn dominance(
    retrievable: &[&Arc<Entry>],
    cited: &Result<Cited<'_>, String>,
    day: Option<Date>,
    why: &mut impl FnMut(&str, &str),
) -> LoopDominance {
    let none = LoopDominance { r1: None, b1: None, dominant: None, extra: Extra::new() };
    let (cited, day) = match (cited, day) {
        (Ok(cited), Some(day)) => (cited, day),
        (Err(reason), _) => {
            why("loop_dominance", reason);
            return none;
        }
        (Ok(_), None) => {
            why("loop_dominance", "no entry has a date");
            return none;
        }
    };
    let age = |entry: &Entry| entry.date().map(|date| days(date, day));
    let of = |is: &dyn Fn(&Entry) -> bool| {
        let entries = retrievable.iter().filter(|entry| is(entry)).count();
        count(entries) / count(cited.sessions)
    };
    let r1 = of(&|entry| age(entry).is_some_and(|age| age < NEW_DAYS));
    let b1 = of(&|entry| {
        age(entry).is_some_and(|age| age > OLD_DAYS) && !cited.ever.contains(entry.path.as_str())
    });
    let dominant = if r1 > b1 {
        "r1"
    } else if b1 > r1 {
        "b1"
    } else {
        "balanced"
    };
    LoopDominance {
        r1: Finite::new(r1),
        b1: Finite::new(b1),
        dominant: Some(dominant.to_owned()),
        extra: Extra::new(),
    }
}

/// What the log says was cited; the error is why that cannot be known.
fn cited<'a>(
    corpus: &'a Corpus,
    logs: &Logs,
    retrievable: &BTreeSet<&'a str>,
    told: Told<'_>,
) -> Result<Cited<'a>, String> {
    let lines = logs.known_citations()?;
    let is_known = |mention: &&Mention| match (mention.cited_at, told.as_of) {
        (Some(at), Some(as_of)) => at.to_zoned(TimeZone::UTC).date() <= as_of,
        _ => true,
    };
    let lines: Vec<&Mention> = lines.iter().filter(is_known).collect();
    let mut sessions: BTreeMap<&str, Option<Timestamp>> = BTreeMap::new();
    for line in &lines {
        if let Some(session) = &line.session {
            let last = sessions.entry(session).or_default();
            *last = (*last).max(line.cited_at);
        }
    }
    if sessions.is_empty() {
        return Err("no session is in the citation log".to_owned());
    }
    let mut newest: Vec<(Option<Timestamp>, &str)> =
        sessions.iter().map(|(session, at)| (*at, *session)).collect();
    newest.sort_unstable();
    let lately: BTreeSet<&str> =
        newest.iter().rev().take(SESSIONS).map(|(_, session)| *session).collect();
    let today = Whereabouts::of(corpus);
    let mut cited =
        Cited { sessions: sessions.len(), ever: BTreeSet::new(), lately: BTreeMap::new() };
    for line in lines {
        let entry = local(line, told.root).and_then(|name| today.resolve(name));
        let Some(path) = entry.and_then(|entry| retrievable.get(entry.path.as_str())) else {
            continue;
        };
        cited.ever.insert(path);
        if line.session.as_deref().is_some_and(|session| lately.contains(session)) {
            let best = cited.lately.entry(path).or_insert(0.0);
            *best = best.max(evidence(line));
        }
    }
    Ok(cited)
}

fn evidence(line: &Mention) -> f64 {
    line.match_confidence.unwrap_or_else(|| match line.kind.as_ref().and_then(Open::known) {
        Some(CitationType::Applied) => 0.9,
        Some(CitationType::Reference) => 0.7,
        Some(CitationType::Retrieved) => 0.5,
        Some(CitationType::Bypass) | None => 0.0,
    })
}

fn stock(corpus: &Corpus) -> BTreeMap<String, u64> {
    use Kind::{Finding, Knowledge, Learning, Pattern, Pending, Processed, Research, Wiki};
    let kinds = [Learning, Finding, Pattern, Pending, Processed, Knowledge, Research, Wiki];
    let mut stock: BTreeMap<String, u64> =
        kinds.iter().map(|kind| (kind.name().to_owned(), 0)).collect();
    for entry in &corpus.entries {
        *stock.entry(entry.kind.name().to_owned()).or_insert(0) += 1;
    }
    stock
}

fn left(corpus: &Corpus, logs: &Logs) -> Vec<LeftAlone> {
    let mut left = left_alone(&corpus.left);
    left.extend(logs.unused.iter().cloned());
    left
}

fn share(part: usize, whole: usize) -> f64 {
    count(part) / count(whole)
}

#[expect(clippy::cast_precision_loss, reason = "no corpus has 2^52 entries")]
fn count(number: usize) -> f64 {
    number as f64
}
