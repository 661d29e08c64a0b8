//! Edits that a room proposes, brought through the door: told, or committed as one.

use std::collections::BTreeMap;

use ao_contract::{Author, ChangeStatus, Exit, Manner};
use ao_corpus::Ledger;
use ao_tree::{Disk, Door, Edit, Outcome, Preview, Request};
use serde_json::Value;

use crate::cli::Global;
use crate::clock::{self, Moment};
use crate::commands::tree::apply::CommitArguments;
use crate::commands::tree::outcome;
use crate::config::Limits;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::{Repo, Writer};

/// Each turn leaves out at least one file; more turns than this mean that the tree does not hold
/// still.
const TURNS_MAX: usize = 8;

/// Files that the door would not change now, and why.
pub(crate) type Fixed = BTreeMap<String, String>;

/// What a room proposes to do.
pub(crate) trait Proposal {
    fn edits(&self) -> &[Edit];
    /// Who decided it, where that was a person.
    fn by(&self) -> Option<Author> {
        None
    }
    /// How that person gave their word.
    fn given(&self) -> Option<Manner> {
        None
    }
    /// What is left out next time if the door refuses this edit: the file, and what it was made of.
    fn leaves_out(&self, edit: &Edit) -> Vec<String> {
        edit.sources.iter().chain([&edit.path]).cloned().collect()
    }
    /// These edits were not made, since somebody else was at work on the files: what depended on
    /// them did not happen.
    fn hold_back(&mut self, held: &Fixed);
}

/// What became of a proposal.
pub(crate) struct Admitted<P> {
    pub(crate) proposal: P,
    pub(crate) status: ChangeStatus,
    pub(crate) id: Option<String>,
    /// The door's own account.
    pub(crate) commit: Value,
    /// How it ended, for people.
    pub(crate) ending: String,
    pub(crate) exit: Exit,
}

/// Asks for a proposal and brings it through the door; with `--dry-run` it is only told. `plan` is
/// given the paths that the door would refuse, and asked again: whatever depends on those edits
/// waits as a whole.
pub(crate) fn admit<P: Proposal>(
    repo: &Repo,
    why: &str,
    arguments: &CommitArguments,
    (global, printer): (&Global, &Printer),
    plan: impl Fn(Moment, &Fixed) -> Result<P, Failure>,
) -> Result<Admitted<P>, Failure> {
    if global.dry_run && !ao_mutant::active("RUN-07/dry-run-commits") {
        let (door, _readers) = repo.read()?;
        let (proposal, preview) = settle(&door, |except| plan(clock::now(), except))?;
        let count = outcome::count(&preview.changes);
        let ending = match preview.changes.len() {
            0 => "Nothing would change.\n".to_owned(),
            _ => format!("Would commit {count}.\n"),
        };
        let commit = outcome::previewed(&preview, &[]);
        let status = ChangeStatus::DryRun;
        return Ok(Admitted { proposal, status, id: None, commit, ending, exit: Exit::Done });
    }
    let limits = Limits::read(&repo.root)?;
    let writer = Writer::open(repo)?;
    let (mut proposal, _) = settle(&writer.door, |except| plan(writer.now, except))?;
    let request = arguments.request(&writer, limits, why.to_owned())?;
    let done = writer.door.apply(Request {
        edits: proposal.edits().to_vec(),
        by: proposal.by(),
        given: proposal.given(),
        ..request
    })?;
    let expired = outcome::expire(&writer, limits, printer);
    let held = done.held_back();
    if !held.is_empty() {
        proposal.hold_back(&held);
    }
    Ok(Admitted {
        proposal,
        status: status_of(&done),
        id: done.method.is_some().then(|| done.id.clone()),
        commit: outcome::told(&writer, &done, &expired, printer).0,
        ending: outcome::ending(&done),
        exit: outcome::exit(&done, global),
    })
}

fn status_of(done: &Outcome) -> ChangeStatus {
    if done.method.is_some() { ChangeStatus::Committed } else { ChangeStatus::NothingChanged }
}

/// Plans until the door would refuse nothing of it.
pub(crate) fn settle<P: Proposal>(
    door: &Door<Disk>,
    plan: impl Fn(&Fixed) -> Result<P, Failure>,
) -> Result<(P, Preview), Failure> {
    let mut fixed = Fixed::new();
    for _ in 0..TURNS_MAX {
        let proposal = plan(&fixed)?;
        // Each by itself: otherwise all of a group are refused for the sake of one.
        let alone = |edit: &Edit| Edit { group: None, ..edit.clone() };
        let preview = door.preview(proposal.edits().iter().map(alone).collect())?;
        if preview.refused.is_empty() {
            return Ok((proposal, preview));
        }
        for refused in &preview.refused {
            if Ledger::has(&refused.path) {
                let message = format!("{} cannot be written: {}", refused.path, refused.why);
                return Err(Failure::new(Exit::Preflight, message)
                    .hint("nothing was taken, since it could not be written down"));
            }
            for edit in proposal.edits().iter().filter(|edit| edit.path == refused.path) {
                let why = |path| (path, refused.why.clone());
                fixed.extend(proposal.leaves_out(edit).into_iter().map(why));
            }
        }
    }
    Err(Failure::new(Exit::Deferred, "the tree does not hold still: others write to it")
        .hint("nothing was changed; run the command again"))
}
