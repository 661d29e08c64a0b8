//! Undo: edits like any others, made from what the history remembers.
//!
//! For each file the commits are walked back one by one. As long as the file is what a commit
//! left, it becomes what that commit found. Where it is not, somebody else changed it in between:
//! their version stays, and the one that was to come back is kept beside it.

use std::collections::{BTreeMap, BTreeSet};

use ao_contract::{Change, Conflict, Extra, Record};

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
    /// This commit alone.
    Only,
}

/// What an undo would do.
#[derive(Debug, Clone)]
pub struct UndoPlan {
    pub edits: Vec<Edit>,
    pub undo_of: Vec<String>,
    drop_folders: Vec<String>,
    stays: Vec<Clash>,
}

impl UndoPlan {
    /// The files that stay, because somebody else changed them since.
    pub fn stays(&self) -> impl Iterator<Item = &Conflict> {
        self.stays.iter().map(|stay| &stay.conflict)
    }
}

impl<F: Fs> Door<F> {
    /// What it takes to undo the commit `id` (or the newest one).
    pub fn plan_undo(&self, id: Option<&str>, scope: UndoScope) -> Result<UndoPlan> {
        let first = self.line(id)?.id;
        let mut lines = self.history()?;
        let from = lines.iter().position(|line| line.id == first).unwrap_or(lines.len());
        lines.drain(..from);
        if scope == UndoScope::Only {
            lines.truncate(1);
        }
        let mut by_path: BTreeMap<String, Vec<(String, Change)>> = BTreeMap::new();
        let mut drop_folders = BTreeSet::new();
        for line in lines.iter().rev() {
            let record: Record = self.record_of(line)?;
            drop_folders.extend(record.folders);
            for change in record.changes {
                by_path.entry(change.path.clone()).or_default().push((line.id.clone(), change));
            }
        }
        let undo_of = lines.into_iter().map(|line| line.id).collect();
        let drop_folders = drop_folders.into_iter().collect();
        let mut plan = UndoPlan { edits: Vec::new(), undo_of, drop_folders, stays: Vec::new() };
        for (path, changes) in by_path {
            self.walk_back(&path, &changes, &mut plan)?;
        }
        Ok(plan)
    }

    /// Takes one file back through `changes`, newest first.
    fn walk_back(
        &self,
        path: &str,
        changes: &[(String, Change)],
        plan: &mut UndoPlan,
    ) -> Result<()> {
        let start = self.live(path)?;
        let mut now = start.as_ref().map(|content| content.hash.clone());
        let mut reached: Option<&(String, Change)> = None;
        let mut blocked: Option<&(String, Change)> = None;
        for step in changes {
            if now == step.1.after.as_ref().map(|version| version.hash.clone()) {
                now = step.1.before.as_ref().map(|version| version.hash.clone());
                reached = Some(step);
            } else {
                blocked = changes.last();
                break;
            }
        }
        if let Some((id, change)) = blocked {
            let is_back_already = now == change.before.as_ref().map(|version| version.hash.clone());
            if !is_back_already {
                plan.stays.push(self.stay(path, id, change)?);
            }
        }
        let Some((id, change)) = reached else { return Ok(()) };
        let action = match self.before(id, change)? {
            Some(bytes) => Action::Write(bytes),
            None if start.is_none() => return Ok(()),
            None => Action::Delete,
        };
        plan.edits.push(Edit {
            path: path.to_owned(),
            action,
            mode: change.before.as_ref().map(|version| version.mode),
            reason: format!("undo of {id}"),
            sources: change.sources.clone(),
            group: None,
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

    fn stay(&self, path: &str, id: &str, change: &Change) -> Result<Clash> {
        let ours = self.before(id, change)?.map(|bytes| {
            Content::new(
                bytes,
                change.before.as_ref().map_or(NEW_FILE_MODE, |version| version.mode),
            )
        });
        let live = self.live(path)?.as_ref().map(Content::version);
        let conflict = Conflict {
            path: path.to_owned(),
            why: format!("it was changed since commit {id}; what it was before that is kept aside"),
            kept: None,
            ours: change.before.clone(),
            live,
            extra: Extra::default(),
        };
        Ok(Clash { conflict, ours })
    }

    /// Takes back what [`Door::plan_undo`] planned, as one more commit.
    pub fn undo(&self, plan: UndoPlan, request: Request) -> Result<Outcome> {
        let UndoPlan { edits, undo_of, drop_folders, stays } = plan;
        self.apply_with(Request { edits, undo_of, drop_folders, ..request }, stays)
    }
}
