//! The plan of a consolidation: which copies become one, what goes to the archive, and the proof of
//! each. Everything is a value; whoever holds the door decides whether it is made.

mod dedup;
mod disagreements;
mod drift;
mod edits;
mod patterns;
mod pruning;
mod rewriting;
mod round;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ao_contract::{Defrag, DefragKept, DefragStatus, Extra, SchemaVersion};
use ao_tree::Edit;
use jiff::civil::Date;

use crate::contradictions::Rulings;
use crate::corpus::{Corpus, Kind, latest_day};
use crate::files::read_one;
use crate::index::Broken;
use crate::lineage::{Found, Lineage};
use crate::past::Past;
use crate::prune::Against;
use crate::sweep::{self, Sweep};
use crate::tree::Tree;

pub use dedup::Copies;
pub use rewriting::QUEUE;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each part is asked for by itself")]
pub struct Parts {
    pub dedup: bool,
    pub prune: bool,
    pub sweep: bool,
    pub patterns: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum DefragError {
    #[error("the corpus cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("the index of the corpus cannot be made: {0}")]
    Index(#[from] Broken),
}

/// What is to be done, and why.
#[derive(Debug)]
pub struct Plan {
    pub report: Defrag,
    pub edits: Vec<Edit>,
    /// The corpus as it would be.
    pub tree: Tree,
    /// Copies in the corpus that the plan was made for, and in the one it leads to; empty unless
    /// copies were looked for.
    pub copies: Copies,
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub parts: Parts,
    /// The day that terms are judged by, unless `as_of` is another one.
    pub today: Date,
    /// The day to judge by instead, and that patterns are compiled on.
    pub as_of: Option<Date>,
    /// Files that are left as they are, and why.
    pub fixed: &'a BTreeMap<String, String>,
    /// Edits that are to be made with those of the plan. It is made for the corpus after them.
    pub prior: &'a [Edit],
    /// The earlier state that the tree is of, if it is not today's.
    pub past: Option<&'a Past>,
}

/// Plans a consolidation of the corpus in `agents`, whose entries are those of `tree`. Whoever wants
/// one generation of it holds the readers' lock meanwhile. `tell` hears what is going on.
pub fn plan(
    agents: &Path,
    tree: Tree,
    asked: Asked<'_>,
    tell: &dyn Fn(&str),
) -> Result<Plan, DefragError> {
    let Asked { parts, today, as_of, fixed, prior, past } = asked;
    let latest = latest_day(today);
    let mut tree = tree.with_fixed(fixed.clone());
    let mut report = empty();
    let mut reasons = edits::Reasons::default();
    let mut queue = rewriting::Queue::read(agents, past);
    // Edits of files that are no entries.
    let mut aside = Vec::new();
    for edit in prior {
        reasons.prior(edit);
        if !tree.apply(edit) {
            aside.push(edit);
        }
    }
    reasons.join_groups(prior);
    let mut copies = Copies::default();
    let mut index = None;
    if parts.dedup {
        // What is kept is of today.
        let kept = past.is_none().then_some(agents);
        let mut done = dedup::dedup(kept, &mut tree, &mut queue, tell)?;
        copies = std::mem::take(&mut done.copies);
        index = done.index.take();
        done.tell(&tree, &mut report, &mut reasons);
        leave_out_ruled((agents, past), &tree, &mut report)?;
    }
    if parts.prune {
        tell("Looking for what is expired or superseded.");
        let place = (agents, past);
        let against = Against { day: as_of.unwrap_or(today), latest };
        pruning::prune(place, &mut tree, &queue, (against, index), &mut report, &mut reasons)?;
    }
    if parts.sweep {
        sweep_into(agents, &tree, &mut report);
    }
    let ledger;
    if parts.patterns {
        tell("Looking for what learnings say alike.");
        let place = (agents, past);
        let days = (as_of, latest);
        ledger = patterns::compile_into(place, days, &mut tree, &mut report, &mut reasons);
        aside.extend(&ledger);
    }
    for (path, why) in fixed {
        if Kind::of(path).is_some() && !report.kept.iter().any(|kept| kept.path == *path) {
            report.kept.push(kept(path, why.clone()));
        }
    }
    let edits = edits::edits(&tree, &queue, &aside, reasons);
    if !edits.is_empty() {
        report.status = DefragStatus::Preview;
    }
    Ok(Plan { report, edits, tree, copies })
}

impl Plan {
    /// What was not made, since somebody else was at work on the files, was not done; each has a
    /// reason.
    pub fn hold_back(&mut self, held: &BTreeMap<String, String>) {
        let report = &mut self.report;
        let mut left = Vec::new();
        let mut leave = |path: &str, why: &str| left.push(kept(path, format!("not made: {why}")));
        report.merges.retain(|merge| {
            let members = merge.members.iter().map(|member| &member.path);
            let mut touched = members.clone().chain([&merge.survivor]);
            let Some(why) = touched.find_map(|path| held.get(path)) else { return true };
            members.for_each(|path| leave(path, why));
            false
        });
        report.prunes.retain(|prune| {
            let Some(why) = held.get(&prune.path) else { return true };
            leave(&prune.path, why);
            false
        });
        report.patterns.retain(|pattern| {
            let Some(why) = held.get(&pattern.path) else { return true };
            leave(&pattern.path, why);
            false
        });
        report.kept.extend(left);
    }
}

/// What a person ruled about is not put to people again, as long as both entries say what they said then.
fn leave_out_ruled(
    (agents, past): (&Path, Option<&Past>),
    tree: &Tree,
    report: &mut Defrag,
) -> io::Result<()> {
    if report.review.is_empty() {
        return Ok(());
    }
    let rulings = match past {
        Some(past) => Rulings::read_past(agents, past)?,
        None => Rulings::read(agents)?,
    };
    if rulings.by_card.is_empty() {
        return Ok(());
    }
    let entries = tree.paths().iter().filter_map(|path| tree.entry(path)).collect();
    let settled = rulings.settled(&Corpus { entries, left: Vec::new() });
    report.review.retain(|pair| {
        let (one, other) = (&pair.one, &pair.other);
        !settled.contains(&(one.min(other).clone(), one.max(other).clone()))
    });
    Ok(())
}

fn empty() -> Defrag {
    Defrag {
        schema_version: SchemaVersion,
        status: DefragStatus::NothingToDo,
        as_of: None,
        merges: Vec::new(),
        prunes: Vec::new(),
        patterns: Vec::new(),
        review: Vec::new(),
        kept: Vec::new(),
        oscillations: Vec::new(),
        cycles_unread: 0,
        extra: Extra::default(),
    }
}

fn kept(path: &str, why: String) -> DefragKept {
    DefragKept { path: path.to_owned(), why, certificate: None }
}

fn sweep_into(agents: &Path, tree: &Tree, report: &mut Defrag) {
    let Ok(bytes) = read_one(agents, sweep::HISTORY) else { return };
    let Sweep { mut oscillations, unread } = sweep::sweep(&String::from_utf8_lossy(&bytes));
    if !oscillations.is_empty() {
        let facts = tree.paths().into_iter().filter_map(|path| {
            let entry = tree.entry(&path)?;
            Some((path, crate::index::facts_of(&entry)))
        });
        let lineage = Lineage::of_facts(facts.collect());
        for oscillation in &mut oscillations {
            if let Found::Entry { path, .. } = lineage.find(&oscillation.target) {
                oscillation.entry = Some(path);
            }
        }
    }
    report.oscillations = oscillations;
    report.cycles_unread = unread;
}
