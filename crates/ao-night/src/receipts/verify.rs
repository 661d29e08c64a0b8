//! Whether the receipts are those that were written, and the newest report and the commits are theirs.

use std::collections::BTreeSet;
use std::path::Path;

use ao_contract::HistoryLine;
use serde::Serialize;

use super::STATE;
use super::chain::{FILE, lines, read};
use super::custody::Custody;
use chain::{Chain, Told, Written};
pub(crate) use summary::is_as_written;

mod chain;
mod commits;
mod files;
mod summary;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    Unreadable,
    Removed,
    Changed,
    Reordered,
    Appended,
    Unsealed,
    /// A line that was not written to its end.
    Cut,
    SummaryChanged,
    SummaryRemoved,
    /// A commit that no receipt tells of.
    CommitUntold,
    /// A commit that is not there any more, or is another one.
    CommitChanged,
    /// A file that a night wrote.
    FileChanged,
    FileRemoved,
    /// What is kept to undo a commit.
    SnapshotDamaged,
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line of `receipts.jsonl`, from 1; of lines that are gone, the one that follows them.
    pub line: Option<usize>,
    pub what: What,
    pub why: String,
}

/// What came of it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Verified {
    pub receipts: usize,
    pub findings: Vec<Finding>,
    /// What could not be checked: without it nothing is vouched for.
    pub unchecked: Vec<String>,
    pub notes: Vec<String>,
}

impl Verified {
    fn find(&mut self, line: impl Into<Option<usize>>, what: What, why: impl Into<String>) {
        self.findings.push(Finding { line: line.into(), what, why: why.into() });
    }
}

/// Checks everything; nothing is written. `history` is what the door has, or why it cannot be read.
pub fn verify(
    root: &Path,
    custody: Option<&Custody>,
    history: Result<Vec<HistoryLine>, String>,
) -> Verified {
    let mut found = Verified::default();
    let head = match custody.map(Custody::head).transpose() {
        Ok(head) => head.flatten(),
        Err(error) => {
            found.unchecked.push(format!("the head of the receipts cannot be read: {error}"));
            None
        }
    };
    let bytes = match read(&root.join(STATE)) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) => {
            found.find(None, What::Unreadable, format!("{FILE}: {error}"));
            return found;
        }
    };
    let all = lines(&bytes, custody);
    found.receipts = all.lines.len();
    let chain = Chain::of(&all, head.as_ref(), custody);
    chain.check(custody, &mut found);
    let open = head.iter().chain(chain.moved()).flat_map(|head| &head.open);
    let open: BTreeSet<&str> = open.map(|open| open.run_id.as_str()).collect();
    // The newest of this place: the report of another one is not here.
    let age = |told: &Told<'_>| (told.written == Written::Here, told.receipt.number);
    let newest = chain.told().into_iter().max_by_key(age);
    if let Some(newest) = newest {
        summary::check(root, newest, &open, &mut found);
    }
    files::check(root, chain.head(), newest, &mut found);
    match history {
        Ok(history) => commits::check(&chain.told(), &history, &open, &mut found),
        Err(why) => found.find(None, What::Unreadable, format!("history.jsonl: {why}")),
    }
    found.findings.sort_by_key(|finding| finding.line.unwrap_or(usize::MAX));
    found
}
