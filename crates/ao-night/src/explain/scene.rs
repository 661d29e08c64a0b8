//! The corpus that a night read, and the night's rules over it, with whatever is changed in it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ao_contract::{ChangeStatus, CloseLoop, CommittedTexts, Trust};
use ao_corpus::defrag::{Asked, Parts, Plan, plan};
use ao_corpus::trust::{self, Vouches};
use ao_corpus::{
    CLOSED, Closing, Corpus, Entry, Ledger, Logs, Past, SEARCHED, Settings, Tree, close_loop,
};
use ao_tree::{Action, Disk, Door, Edit};
use jiff::civil::Date;

use super::Deed;
use crate::held::Fixed;
use crate::iteration::{PARTS, TURNS_MAX, refused};

/// Where a scene is read from.
#[derive(Debug)]
pub struct Source {
    /// The repository, with no symlink on the way.
    pub root: PathBuf,
    /// The earlier state, if it is not today's.
    pub past: Option<Past>,
    /// Who would refuse an edit; of an earlier state it is not known.
    pub door: Option<Door<Disk>>,
    /// RFC 3339.
    pub now: String,
    /// The day of the night, by which terms and waits are judged.
    pub today: Date,
    /// How old a pending learning must be.
    pub promote_after: Duration,
    /// How far it must be trusted.
    pub promote_at: Trust,
    /// What of the pending texts is in a commit.
    pub committed: CommittedTexts,
}

/// A corpus and all that a night judges it by.
#[derive(Debug)]
pub struct Scene {
    source: Source,
    agents: PathBuf,
    corpus: Arc<Corpus>,
    logs: Logs,
    ledger: Ledger,
    vouches: Vouches,
}

/// What a night would do.
pub(super) struct Thought {
    pub(super) closing: CloseLoop,
    pub(super) plan: Plan,
    pub(super) fixed: Fixed,
}

impl Scene {
    /// Whoever reads it holds the readers' lock.
    pub fn read(source: Source) -> Result<Self, String> {
        let agents = source.root.join(".agents");
        let corpus = match &source.past {
            Some(past) => Corpus::read_past(&agents, &SEARCHED, past),
            None => Corpus::read(&agents, &SEARCHED),
        };
        let mut logs = Logs::read(&agents).map_err(|error| error.to_string())?;
        let ledger = match &source.past {
            Some(past) => Ledger::read_past(&agents, past),
            None => Ledger::read(&agents),
        };
        let vouches = match &source.past {
            Some(past) => Vouches::read_past(&agents, past),
            None => Vouches::read(&agents),
        };
        if let Some(past) = &source.past {
            logs.only_until(past.until());
        }
        Ok(Self {
            agents,
            corpus: Arc::new(corpus.map_err(|error| error.to_string())?),
            logs,
            ledger: ledger.map_err(|error| error.to_string())?,
            vouches: vouches.map_err(|error| error.to_string())?,
            source,
        })
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    pub fn entry(&self, path: &str) -> Option<&Entry> {
        self.corpus.get(path).map(Arc::as_ref)
    }

    /// The corpus with these edits made.
    pub(super) fn with(&self, edits: &[Edit]) -> Arc<Corpus> {
        if edits.is_empty() { Arc::clone(&self.corpus) } else { Arc::new(self.corpus.after(edits)) }
    }

    /// What all of the night's rules come to.
    pub(super) fn think(&self, edits: &[Edit]) -> Result<Thought, String> {
        self.think_of(edits, PARTS)
    }

    pub(super) fn think_of(&self, edits: &[Edit], parts: Parts) -> Result<Thought, String> {
        let all = self.with(edits);
        let mut fixed = Fixed::new();
        for _ in 0..TURNS_MAX {
            let closing = self.close(&all, &fixed);
            let past = self.source.past.as_ref();
            let (today, prior) = (self.today(), &closing.edits);
            let asked = Asked { parts, today, as_of: None, fixed: &fixed, prior, past };
            let plan = plan(&self.agents, Tree::of(Arc::clone(&all)), asked, &|_| {})
                .map_err(|error| error.to_string())?;
            // What is changed only in thought is not what the door would find.
            let door = self.source.door.as_ref().filter(|_| edits.is_empty());
            let prior: BTreeSet<&str> = closing.edits.iter().map(|edit| &*edit.path).collect();
            let refused = match door {
                Some(door) => refused(door, &plan, &prior).map_err(|failed| failed.why)?,
                None => Fixed::new(),
            };
            if refused.is_empty() {
                let closing = closing.report(ChangeStatus::NothingChanged, None);
                return Ok(Thought { closing, plan, fixed });
            }
            fixed.extend(refused);
        }
        Err("the tree does not hold still: others write to it".into())
    }

    /// The day of the night.
    pub(super) fn today(&self) -> Date {
        self.source.today
    }

    /// What becomes of pending learnings and of what was said about entries.
    pub(super) fn close(&self, all: &Corpus, fixed: &Fixed) -> Closing {
        let except = fixed.keys().cloned().collect();
        close_loop(&all.within(&CLOSED), &self.logs, self.ledger.clone(), &self.settings(except))
    }

    pub(super) fn settings(&self, except: BTreeSet<String>) -> Settings<'_> {
        Settings {
            root: &self.source.root,
            now: &self.source.now,
            today: self.source.today,
            as_of: None,
            min_age: self.source.promote_after,
            except,
            trust: trust::Told {
                promote_at: self.source.promote_at,
                vouches: self.vouches.clone(),
                committed: self.source.committed.clone(),
            },
        }
    }

    /// Where files are found, for whoever looks who refers to what.
    pub(super) fn place(&self) -> (&std::path::Path, Option<&Past>) {
        (&self.agents, self.source.past.as_ref())
    }
}

impl Thought {
    pub(super) fn deed(&self, path: &str) -> Option<Deed> {
        let edit = self.plan.edits.iter().find(|edit| edit.path == path)?;
        let is_delete = matches!(edit.action, Action::Delete);
        Some(Deed { is_delete, reason: edit.reason.clone() })
    }
}
