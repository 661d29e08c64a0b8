//! Undo: edits like any others, made from what the history remembers.
//!
//! For each file the commits are walked back one by one. As long as the file is what a commit
//! left, it becomes what that commit found. Where it is not, somebody else changed it in between:
//! their version stays, and the one that was to come back is kept beside it.

use std::collections::{BTreeMap, BTreeSet};

use ao_contract::{Author, Change, Conflict, Extra, HistoryLine, Record, Version};

use crate::apply::{Outcome, Request};
use crate::door::Door;
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::plan::{Action, Clash, Content, Edit, NEW_FILE_MODE};

/// How much is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoScope {
    /// This commit and all after it.
    FromHereOn,
    /// This commit and all after it, but for what people decided.
    OursFromHereOn,
    /// This commit alone.
    Only,
}

impl UndoScope {
    /// Those of these commits, a first one and all after it, that are taken back. What a person decided goes with a
    /// later commit that took it back: the two cancel out.
    pub fn of(self, mut lines: Vec<HistoryLine>) -> Vec<HistoryLine> {
        match self {
            Self::FromHereOn => {}
            Self::Only => lines.truncate(1),
            Self::OursFromHereOn => {
                let ours = lines.iter().filter(|line| !line.is_by_person());
                let undone: BTreeSet<String> =
                    ours.flat_map(|line| line.undo_of.iter().cloned()).collect();
                lines.retain(|line| !line.is_by_person() || undone.contains(&line.id));
            }
        }
        lines
    }
}

/// What an undo would do.
#[derive(Debug, Clone)]
pub struct UndoPlan {
    pub edits: Vec<Edit>,
    pub undo_of: Vec<String>,
    by: Option<Author>,
    drop_folders: Vec<String>,
    stays: Vec<Clash>,
}

/// What is taken back of one commit is made together, if a person decided it.
const GROUP: &str = "decided";

impl UndoPlan {
    /// The files that stay, because somebody else changed them since.
    pub fn stays(&self) -> impl Iterator<Item = &Conflict> {
        self.stays.iter().map(|stay| &stay.conflict)
    }
}

/// What one commit did to a file.
struct Step {
    id: String,
    change: Change,
    /// What it goes back together with, or not at all.
    unit: Option<String>,
}

impl Step {
    /// What a person decided goes back whole, and so do the changes of one group.
    fn of(line: &HistoryLine, change: Change) -> Self {
        let group = change.group.as_deref().filter(|_| !ao_mutant::active("LOOP-09/half-a-group"));
        let unit = match group {
            _ if line.is_by_person() => Some(line.id.clone()),
            Some(group) => Some(format!("{} {group}", line.id)),
            None => None,
        };
        Self { id: line.id.clone(), change, unit }
    }

    fn is_held(&self, held: &Held) -> bool {
        self.unit.as_ref().is_some_and(|unit| held.contains_key(unit))
    }
}

/// What stays, each with the file that keeps it.
type Held = BTreeMap<String, String>;

/// How far one file goes back.
#[derive(Default)]
struct Walk {
    is_there: bool,
    now: Option<String>,
    reached: Option<usize>,
    blocked: Option<usize>,
}

impl Walk {
    /// Takes a file back step by step, newest first.
    fn of(start: Option<&String>, steps: &[Step], held: &Held) -> Self {
        let mut walk = Self { is_there: start.is_some(), now: start.cloned(), ..Self::default() };
        for (at, step) in steps.iter().enumerate() {
            let hash = |version: &Option<Version>| version.as_ref().map(|v| v.hash.clone());
            let (before, after) = (hash(&step.change.before), hash(&step.change.after));
            let is_ours = walk.now == after || ao_mutant::active("LOOP-09/takes-back-theirs-too");
            if !step.is_held(held) && is_ours {
                walk.now = before;
                walk.reached = Some(at);
            } else if walk.now != before {
                walk.blocked = Some(at);
                break;
            }
        }
        walk
    }
}

impl<F: Fs> Door<F> {
    /// What it takes to undo the commit `id` (or the newest one).
    pub fn plan_undo(&self, id: Option<&str>, scope: UndoScope) -> Result<UndoPlan> {
        let first = self.line(id)?.id;
        let mut lines = self.history()?;
        let from = lines.iter().position(|line| line.id == first).unwrap_or(lines.len());
        lines.drain(..from);
        let lines = scope.of(lines);
        let mut by_path: BTreeMap<String, Vec<Step>> = BTreeMap::new();
        let mut drop_folders = BTreeSet::new();
        for line in lines.iter().rev() {
            let record: Record = self.record_of(line)?;
            drop_folders.extend(record.folders);
            for change in record.changes {
                let step = Step::of(line, change);
                by_path.entry(step.change.path.clone()).or_default().push(step);
            }
        }
        let mut starts = BTreeMap::new();
        for path in by_path.keys() {
            starts.insert(path.clone(), self.live(path)?.map(|content| content.hash));
        }
        let held = held(&by_path, &starts);
        let is_by_people = lines.iter().all(HistoryLine::is_by_person);
        let mut plan = UndoPlan {
            edits: Vec::new(),
            undo_of: lines.into_iter().map(|line| line.id).collect(),
            by: is_by_people.then_some(Author::Person),
            drop_folders: drop_folders.into_iter().collect(),
            stays: Vec::new(),
        };
        plan.undo_of.retain(|id| !held.contains_key(id));
        for (path, steps) in by_path {
            let walk = Walk::of(starts[&path].as_ref(), &steps, &held);
            self.take_back(&path, &steps, &walk, &held, &mut plan)?;
        }
        Ok(plan)
    }

    fn take_back(
        &self,
        path: &str,
        steps: &[Step],
        walk: &Walk,
        held: &Held,
        plan: &mut UndoPlan,
    ) -> Result<()> {
        if let (Some(at), Some(last)) = (walk.blocked, steps.last()) {
            let before = last.change.before.as_ref().map(|version| version.hash.clone());
            if walk.now != before {
                let because = steps[at].unit.as_ref().and_then(|unit| held.get(unit));
                let because = because.filter(|cause| *cause != path);
                if !ao_mutant::active("LOOP-09/kept-once") {
                    plan.stays.push(self.stay(path, last, because)?);
                }
            }
        }
        let Some(reached) = walk.reached else { return Ok(()) };
        let Step { id, change, .. } = &steps[reached];
        let action = match self.before(id, change)? {
            Some(bytes) => Action::Write(bytes),
            None if !walk.is_there => return Ok(()),
            None => Action::Delete,
        };
        let is_by_person = |step: &Step| step.unit.as_ref().is_some_and(|unit| *unit == step.id);
        let group = match &steps[..=reached] {
            taken if taken.iter().any(is_by_person) => Some(GROUP.to_owned()),
            taken => taken.iter().find_map(|step| step.unit.clone()),
        };
        plan.edits.push(Edit {
            path: path.to_owned(),
            action,
            mode: change.before.as_ref().map(|version| version.mode),
            reason: format!("undo of {id}"),
            sources: change.sources.clone(),
            group,
            seen: None,
        });
        Ok(())
    }

    fn before(&self, id: &str, change: &Change) -> Result<Option<Vec<u8>>> {
        let Some(version) = &change.before else { return Ok(None) };
        let found = self.blob(id, version)?;
        found.map(Some).ok_or_else(|| Error::SnapshotGone {
            id: id.to_owned(),
            why: format!("the snapshot of {} is no longer kept", change.path),
        })
    }

    fn stay(&self, path: &str, step: &Step, because: Option<&String>) -> Result<Clash> {
        let Step { id, change, .. } = step;
        let ours = self.before(id, change)?.map(|bytes| {
            Content::new(
                bytes,
                change.before.as_ref().map_or(NEW_FILE_MODE, |version| version.mode),
            )
        });
        let live = self.live(path)?.as_ref().map(Content::version);
        let conflict = Conflict {
            path: path.to_owned(),
            why: match because {
                Some(other) if step.unit.as_ref() == Some(id) => {
                    format!("a person decided it together with {other}, which was changed since")
                }
                Some(other) => format!("it belongs together with {other}, which was changed since"),
                None => {
                    format!(
                        "it was changed since commit {id}; what it was before that is kept aside"
                    )
                }
            },
            kept: None,
            ours: change.before.clone(),
            live,
            extra: Extra::default(),
        };
        Ok(Clash { conflict, ours })
    }

    /// Takes back what [`Door::plan_undo`] planned, as one more commit.
    pub fn undo(&self, plan: UndoPlan, request: Request) -> Result<Outcome> {
        let UndoPlan { edits, undo_of, by, drop_folders, stays } = plan;
        self.apply_with(Request { edits, undo_of, by, drop_folders, ..request }, stays, &mut |_| {
            Ok(None)
        })
    }
}

/// The commits of people and the groups that stay, since somebody changed a file of theirs in between. One that stays
/// may keep another one.
fn held(by_path: &BTreeMap<String, Vec<Step>>, starts: &BTreeMap<String, Option<String>>) -> Held {
    let mut held = Held::new();
    loop {
        let count = held.len();
        for (path, steps) in by_path {
            let walk = Walk::of(starts[path].as_ref(), steps, &held);
            let kept = walk.blocked.map_or(&[][..], |at| &steps[at..]);
            for unit in kept.iter().filter_map(|step| step.unit.clone()) {
                held.entry(unit).or_insert_with(|| path.clone());
            }
        }
        if held.len() == count {
            return held;
        }
    }
}
