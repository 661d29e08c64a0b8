//! The commits of nights against what receipts tell of them.

use std::collections::{BTreeMap, BTreeSet};

use ao_contract::{HistoryLine, run_of};

use super::chain::{Told, Written};
use super::{Verified, What};
use crate::plain::counted;

pub(super) fn check(
    receipts: &[Told<'_>],
    history: &[HistoryLine],
    open: &BTreeSet<&str>,
    found: &mut Verified,
) {
    // Two machines whose nights begin at one second give their runs one id.
    let mut told: BTreeMap<&str, Vec<(&str, Written)>> = BTreeMap::new();
    let mut runs = BTreeSet::new();
    for Told { receipt, written, .. } in receipts {
        runs.insert(receipt.run_id.as_str());
        for commit in &receipt.work.commits {
            told.entry(&commit.id).or_default().push((&commit.record_hash, *written));
        }
    }
    let first = receipts.iter().map(|told| told.receipt.began.as_str()).min();
    let mut older = 0;
    for line in history {
        let Some(run) = run_of(&line.id) else { continue };
        let id = ao_tree::shown(&line.id);
        match told.remove(line.id.as_str()) {
            Some(told) if told.iter().any(|(hash, _)| *hash == line.record_hash) => {}
            Some(_) => {
                let why =
                    format!("commit {id} is another one than the receipt of its run tells of");
                found.find(None, What::CommitChanged, why);
            }
            None if open.contains(run) => {}
            None if runs.contains(run) => {
                let why = format!("commit {id} is not in the receipt of its run");
                found.find(None, What::CommitUntold, why);
            }
            None if first.is_none_or(|first| line.at.as_str() < first) => older += 1,
            None => {
                let why = format!("commit {id} is of a run that has no receipt");
                found.find(None, What::CommitUntold, why);
            }
        }
    }
    let mut away = 0;
    for (id, told) in told {
        if told.iter().all(|(_, written)| *written == Written::Elsewhere) {
            away += 1;
            continue;
        }
        let why = format!("commit {} is not in the history any more", ao_tree::shown(id));
        found.find(None, What::CommitChanged, why);
    }
    if away > 0 {
        let why = "of receipts that were written elsewhere";
        let is = if away == 1 { "is" } else { "are" };
        let away = counted(away, "commit", "commits");
        found.unchecked.push(format!("{away} {why} {is} not in the history of this place"));
    }
    if older > 0 {
        let older = counted(older, "commit of a night is", "commits of nights are");
        found.notes.push(format!("{older} older than the first receipt"));
    }
}
