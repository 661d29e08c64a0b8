//! The lines by themselves: none is missing, changed, out of its place or made up.

use std::collections::{BTreeMap, BTreeSet};

use ao_contract::{Receipt, ReceiptHead};

use super::super::chain::{Base, Line, Lines, Sealed, is_trusted, known, noted, trusted};
use super::super::custody::{Custody, Kept, Known};
use super::super::mend::torn;
use super::{Verified, What};
use crate::plain::counted;

/// Whether the report and the commits of a receipt must be here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Here,
    /// The line came with the file, from another place or machine: the rest of it may not have.
    Elsewhere,
}

/// A receipt that can be believed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) at: usize,
    pub(super) receipt: &'a Receipt,
    pub(super) written: Written,
}

/// The lines, with what is known of where they end.
pub(super) struct Chain<'a> {
    all: &'a Lines,
    known: Option<Known>,
    /// What a crash left of a line.
    torn: Option<usize>,
    /// The line of each number whose seal is right, or of another key; the first of several.
    at: BTreeMap<u64, &'a Line>,
    /// The numbers of which a line is there that is not as it was.
    spoiled: BTreeMap<usize, u64>,
    /// The last number that there should be.
    most: u64,
}

impl<'a> Chain<'a> {
    pub(super) fn of(
        all: &'a Lines,
        head: Option<&ReceiptHead>,
        custody: Option<&Custody>,
    ) -> Self {
        let mut at: BTreeMap<u64, &Line> = BTreeMap::new();
        for (line, receipt) in trusted(all) {
            at.entry(receipt.number).or_insert(line);
        }
        let last = at.last_key_value();
        let known = known(all, head, custody);
        let counted = known.as_ref().map_or(0, |known| known.head.count);
        let torn = torn(all, head, custody).map(<[u8]>::len);
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
        Self { all, known, torn, at, spoiled, most }
    }

    /// Checks the lines by themselves.
    pub(super) fn check(&self, custody: Option<&Custody>, found: &mut Verified) {
        self.untrusted(found);
        self.order(custody, found);
        self.links(found);
        self.end(found);
        self.seals(custody, found);
    }

    /// What is known of these receipts outside of the repository, if they are not a copy.
    pub(super) fn head(&self) -> Option<&ReceiptHead> {
        let known = self.known.as_ref().filter(|known| known.kept != Kept::Copied);
        known.map(|known| &known.head)
    }

    /// The head that a repository had where it was before.
    pub(super) fn moved(&self) -> Option<&ReceiptHead> {
        let known = self.known.as_ref().filter(|known| known.kept == Kept::Moved);
        known.map(|known| &known.head)
    }

    /// What can be believed, with where it comes from.
    pub(super) fn told(&self) -> Vec<Told<'a>> {
        let known = self.known.as_ref().filter(|known| known.kept != Kept::Copied);
        let since = known.map_or(u64::MAX, |known| known.head.since);
        let told = trusted(self.all).map(|(line, receipt)| {
            let is_here = line.sealed == Sealed::Right && receipt.number >= since;
            let written = if is_here { Written::Here } else { Written::Elsewhere };
            Told { at: line.at, receipt, written }
        });
        told.collect()
    }

    /// Lines that nobody here wrote, or not like this.
    fn untrusted(&self, found: &mut Verified) {
        let noted = noted(self.all);
        for line in self.all.lines.iter().filter(|line| !is_trusted(line)) {
            let at = line.at;
            if line.sealed == Sealed::Missing && noted.contains(&line.hash) {
                let why = "has no seal, as a later receipt says: there was no key, or it was made by hand";
                found.notes.push(format!("line {at} {why}"));
                continue;
            }
            let is_last = at == self.all.lines.len();
            let spoiled = self.spoiled.get(&at);
            match (&line.receipt, spoiled) {
                (Err(_), _) if is_last && self.torn.is_some() => {
                    let why = "was not written to its end, as a power cut leaves it; the next start takes it \
                               away and writes the receipt anew";
                    found.unchecked.push(format!("line {at} {why}"));
                }
                (Err(_), Some(number)) if is_last && self.all.unended.is_some() => {
                    let why = format!("receipt {number} was written whole, and its end is gone");
                    found.find(at, What::Cut, why);
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
    fn order(&self, custody: Option<&Custody>, found: &mut Verified) {
        let mut highest = 0;
        for (line, receipt) in trusted(self.all) {
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
                let place = match (follows, custody) {
                    (Some(line), _) => format!(" before line {line}"),
                    // A person may have made the repository anew, and nothing here can tell.
                    (None, Some(custody)) if self.all.lines.is_empty() => format!(
                        " at the end: the head knows of more; if this is another repository than the one \
                         that lay here before, remove {}",
                        custody.path().display()
                    ),
                    (None, _) => " at the end: the head knows of more".to_owned(),
                };
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
        let Some(Known { head, kept }) = &self.known else {
            if !self.all.lines.is_empty() {
                let why = "no head of these receipts is kept on this machine for this place: whether the last \
                           ones were taken away cannot be known";
                found.unchecked.push(why.into());
            }
            return;
        };
        let from = ao_tree::shown(&head.repo_root);
        match kept {
            Kept::Here => {}
            Kept::Moved => found.notes.push(format!("the repository was at {from} before")),
            Kept::Copied => found.notes.push(format!("these are a copy of the receipts of {from}")),
        }
        if let Some(line) = self.at.get(&head.count)
            && head.last.as_deref() != Some(line.hash.as_str())
        {
            let why = "it is not the one that was written here: it is from another copy of the repository, or made up";
            found.find(line.at, What::Changed, why);
        }
        let mut base = Base { count: head.count, last: head.last.clone() };
        for line in self.at.range(head.count.saturating_add(1)..).map(|(_, line)| line) {
            let Ok(receipt) = &line.receipt else { continue };
            if base.is_followed_by(line, receipt) {
                base = Base { count: receipt.number, last: Some(line.hash.clone()) };
                if line.sealed == Sealed::Right {
                    let why = "it was written, and its head not any more: the next run sees to it";
                    found.notes.push(format!("line {}: {why}", line.at));
                }
            } else if line.sealed == Sealed::Right {
                let why = "the head of this repository knows nothing of it";
                found.find(line.at, What::Appended, why);
            }
        }
    }

    fn seals(&self, custody: Option<&Custody>, found: &mut Verified) {
        let others: Vec<&Line> =
            self.all.lines.iter().filter(|line| line.sealed == Sealed::Other).collect();
        let Some(first) = others.first() else { return };
        let whose = match custody {
            Some(_) if others.len() == 1 => "was made with another key, of another machine or user",
            Some(_) => "were made with another key, of another machine or user",
            None => "cannot be checked here: there is no key on this machine",
        };
        let count = counted(others.len(), "seal", "seals");
        found.unchecked.push(format!("{count}, the first in line {}, {whose}", first.at));
    }
}
