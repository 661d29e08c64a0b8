//! Whether the receipts are those that were written, and the newest report and the commits are theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::{HistoryLine, Receipt, ReceiptHead};
use serde::Serialize;

use super::chain::{FILE, Line, Lines, Sealed, lines, read};
use super::custody::Custody;
use super::told::run_of;

mod summary;

const STATE: &str = ".agents/overnight";

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
    chain.untrusted(&mut found);
    chain.order(&mut found);
    chain.links(&mut found);
    chain.end(&mut found);
    chain.seals(custody, &mut found);
    let receipts: Vec<&Receipt> = chain.trusted().map(|(_, receipt)| receipt).collect();
    let open = head.iter().flat_map(|head| &head.open);
    let open: BTreeSet<&str> = open.map(|open| open.run_id.as_str()).collect();
    if let Some((line, newest)) = chain.trusted().max_by_key(|(_, receipt)| receipt.number) {
        summary::check(root, (line.at, newest), &open, &mut found);
    }
    match history {
        Ok(history) => commits(&receipts, &history, &open, &mut found),
        Err(why) => found.find(None, What::Unreadable, format!("history.jsonl: {why}")),
    }
    found.findings.sort_by_key(|finding| finding.line.unwrap_or(usize::MAX));
    found
}

/// The lines, with what is known of where they end.
struct Chain<'a> {
    all: &'a Lines,
    head: Option<ReceiptHead>,
    /// The line of each number whose seal is right, or of another key; the first of several.
    at: BTreeMap<u64, &'a Line>,
    /// The numbers of which a line is there that is not as it was.
    spoiled: BTreeMap<usize, u64>,
    /// The last number that there should be.
    most: u64,
}

impl<'a> Chain<'a> {
    fn of(all: &'a Lines, head: Option<&ReceiptHead>, custody: Option<&Custody>) -> Self {
        let mut at: BTreeMap<u64, &Line> = BTreeMap::new();
        for (line, receipt) in trusted(all) {
            at.entry(receipt.number).or_insert(line);
        }
        let last = at.last_key_value();
        let moved = || last.and_then(|(number, line)| custody?.moved(*number, &line.hash));
        let head = head.filter(|head| head.count > 0 || last.is_none()).cloned().or_else(moved);
        let counted = head.as_ref().map_or(0, |head| head.count);
        let most = counted.max(last.map_or(0, |(number, _)| *number));
        let mut spoiled = BTreeMap::new();
        let mut expected = 1;
        for line in &all.lines {
            match &line.receipt {
                Ok(receipt) if is_trusted(line) => expected = receipt.number.saturating_add(1),
                _ if expected <= most && !at.contains_key(&expected) => {
                    spoiled.insert(line.at, expected);
                    expected += 1;
                }
                _ => {}
            }
        }
        Self { all, head, at, spoiled, most }
    }

    fn trusted(&self) -> impl Iterator<Item = (&'a Line, &'a Receipt)> {
        trusted(self.all)
    }

    /// Lines that nobody here wrote, or not like this.
    fn untrusted(&self, found: &mut Verified) {
        for line in self.all.lines.iter().filter(|line| !is_trusted(line)) {
            let at = line.at;
            let is_last = at == self.all.lines.len();
            let spoiled = self.spoiled.get(&at);
            match (&line.receipt, spoiled) {
                (Err(_), _) if is_last && self.all.is_cut => {
                    found.find(at, What::Cut, "it was not written to its end");
                }
                (Ok(_), _) if line.sealed == Sealed::Missing => {
                    let why = "it has no seal: there was no key when it was written, or it was made by hand";
                    found.find(at, What::Unsealed, why);
                }
                (Err(why), Some(number)) => found.find(
                    at,
                    What::Changed,
                    format!("receipt {number} should be here, and it is none: {why}"),
                ),
                (Ok(_), Some(number)) => found.find(
                    at,
                    What::Changed,
                    format!("receipt {number} is not as it was written: its seal is wrong"),
                ),
                (Err(why), None) => {
                    found.find(at, What::Appended, format!("it is no receipt: {why}"));
                }
                (Ok(_), None) => {
                    let why = "no run wrote it: its seal is wrong, and no receipt is missing here";
                    found.find(at, What::Appended, why);
                }
            }
        }
    }

    /// Copies, receipts out of their order, and those that are not there.
    fn order(&self, found: &mut Verified) {
        let mut highest = 0;
        for (line, receipt) in self.trusted() {
            let number = receipt.number;
            let first = self.at.get(&number).map_or(line.at, |first| first.at);
            if first != line.at {
                let why = format!("receipt {number} stands at line {first} already");
                found.find(line.at, What::Appended, why);
            } else if number < highest {
                let why = format!("receipt {number} stands after receipt {highest}");
                found.find(line.at, What::Reordered, why);
            }
            highest = highest.max(number);
        }
        let spoiled: BTreeSet<u64> = self.spoiled.values().copied().collect();
        let mut next = 1;
        // From one that is there to the next, so that a number that somebody made up costs nothing.
        let there: BTreeSet<u64> = self.at.keys().chain(&spoiled).copied().collect();
        for number in there.into_iter().chain([self.most.saturating_add(1)]) {
            if number > next {
                let follows = self.at.range(number..).next().map(|(_, line)| line.at);
                let which = match number - next {
                    1 => format!("receipt {next} is"),
                    _ => format!("receipts {next} to {} are", number - 1),
                };
                let place = follows.map_or_else(
                    || " at the end: the head knows of more".to_owned(),
                    |line| format!(" before line {line}"),
                );
                let line = follows.unwrap_or(self.all.lines.len() + 1);
                found.find(line, What::Removed, format!("{which} missing{place}"));
            }
            next = number.saturating_add(1);
        }
    }

    /// Each names the one before it.
    fn links(&self, found: &mut Verified) {
        for (number, line) in &self.at {
            let Ok(receipt) = &line.receipt else { continue };
            let before = number.checked_sub(1).and_then(|before| self.at.get(&before));
            let expected = before.map(|before| before.hash.as_str());
            // One that is missing or spoiled is told of already.
            if receipt.previous.as_deref() == expected || (expected.is_none() && *number > 1) {
                continue;
            }
            match before {
                Some(before) if before.sealed == Sealed::Other => found.find(
                    before.at,
                    What::Changed,
                    format!("line {} names another hash of it", line.at),
                ),
                _ => found.find(line.at, What::Changed, "it does not follow the line before it"),
            }
        }
    }

    /// The last one is the one that the head knows.
    fn end(&self, found: &mut Verified) {
        let Some(head) = &self.head else {
            if !self.all.lines.is_empty() {
                let why = "no head of these receipts is kept on this machine: whether the last ones were \
                           taken away cannot be known";
                found.unchecked.push(why.into());
            }
            return;
        };
        if let Some(line) = self.at.get(&head.count)
            && head.last.as_deref() != Some(line.hash.as_str())
        {
            found.find(line.at, What::Changed, "it is not the one that the head knows");
        }
        for (number, line) in self.at.range(head.count.saturating_add(1)..) {
            let Ok(receipt) = &line.receipt else { continue };
            let is_next = *number == head.count + 1 && receipt.previous == head.last;
            if line.sealed == Sealed::Right && is_next {
                let why = "it was written, and its head not any more: the next run sees to it";
                found.notes.push(format!("line {}: {why}", line.at));
            } else if line.sealed == Sealed::Right {
                found.find(
                    line.at,
                    What::Appended,
                    "the head of this repository knows nothing of it",
                );
            }
        }
        if head.repo_root.is_empty() {
            found.unchecked.push("the head does not say of which repository it is".into());
        }
    }

    fn seals(&self, custody: Option<&Custody>, found: &mut Verified) {
        let others: Vec<&Line> =
            self.all.lines.iter().filter(|line| line.sealed == Sealed::Other).collect();
        let Some(first) = others.first() else { return };
        let whose = match custody {
            Some(_) => "were made with another key, of another machine or user",
            None => "cannot be checked here: there is no key on this machine",
        };
        let (count, at) = (others.len(), first.at);
        found.unchecked.push(format!("{count} seals, the first in line {at}, {whose}"));
    }
}

fn is_trusted(line: &Line) -> bool {
    line.receipt.is_ok() && matches!(line.sealed, Sealed::Right | Sealed::Other)
}

fn trusted(all: &Lines) -> impl Iterator<Item = (&Line, &Receipt)> {
    let whole = all.lines.iter().filter(|line| is_trusted(line));
    whole.filter_map(|line| Some((line, line.receipt.as_ref().ok()?)))
}

/// The commits of nights against what receipts tell of them.
fn commits(
    receipts: &[&Receipt],
    history: &[HistoryLine],
    open: &BTreeSet<&str>,
    found: &mut Verified,
) {
    let mut told: BTreeMap<&str, &str> = BTreeMap::new();
    let mut runs = BTreeSet::new();
    for receipt in receipts {
        runs.insert(receipt.run_id.as_str());
        let commits = receipt.work.commits.iter();
        told.extend(commits.map(|commit| (commit.id.as_str(), commit.record_hash.as_str())));
    }
    let first = receipts.iter().map(|receipt| receipt.began.as_str()).min();
    let mut older = 0;
    for line in history {
        let Some(run) = run_of(&line.id) else { continue };
        let id = ao_tree::shown(&line.id);
        match told.remove(line.id.as_str()) {
            Some(hash) if hash == line.record_hash => {}
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
    for id in told.into_keys() {
        let why = format!("commit {} is not in the history any more", ao_tree::shown(id));
        found.find(None, What::CommitChanged, why);
    }
    if older > 0 {
        found.notes.push(format!("{older} commits of nights are older than the first receipt"));
    }
}
