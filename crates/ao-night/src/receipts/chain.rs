//! The file of receipts: its lines as they are, and one more.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use ao_contract::{Receipt, ReceiptHead};
use ao_tree::own_file;
use ao_vault::{Ansi, out, redactor};
use serde_json::Value;

use super::custody::{Custody, Kept, Known};
use super::hash;

/// Beneath `overnight/`.
pub const FILE: &str = "receipts.jsonl";
/// A night takes about a kilobyte: more than this is not from nights.
const BYTES_MAX: u64 = 8 * 1024 * 1024;
const SEAL: &str = ",\"seal\":\"";
const SEAL_END: &str = "\"}";
const SEAL_CHARS: usize = 64;

/// What a seal says of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sealed {
    /// It was written here and is as it was.
    Right,
    /// It is not as it was, or was never sealed with this key.
    Wrong,
    /// It says that another key sealed it: nothing can be said.
    Other,
    /// There is none.
    Missing,
}

/// One line of the file.
#[derive(Debug, Clone)]
pub struct Line {
    /// Where it stands, from 1.
    pub at: usize,
    pub hash: String,
    pub sealed: Sealed,
    /// Or why it is none.
    pub receipt: Result<Receipt, String>,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// What follows the last end of a line, if something does.
    pub unended: Option<Vec<u8>>,
}

/// The bytes of the file; `None` if there is none.
pub fn read(state: &Path) -> io::Result<Option<Vec<u8>>> {
    own_file::read_if_any(&state.join(FILE), BYTES_MAX)
}

/// Reads the lines one by one; whoever has no key cannot check a seal.
pub fn lines(bytes: &[u8], custody: Option<&Custody>) -> Lines {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let unended = bytes.get(end..).filter(|rest| !rest.is_empty()).map(<[u8]>::to_vec);
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() {
        return Lines::default();
    }
    let id = custody.map(Custody::id);
    let lines = whole.split(|byte| *byte == b'\n').enumerate().map(|(nth, line)| {
        let receipt = parse(line);
        let sealed = match (&receipt, custody) {
            (Ok(Receipt { seal: None, key: None, .. }), _) => Sealed::Missing,
            (Ok(receipt), _) if receipt.seal.is_some() && receipt.key != id => Sealed::Other,
            (Ok(_), Some(custody)) if is_sealed(line, custody) => Sealed::Right,
            _ => Sealed::Wrong,
        };
        Line { at: nth + 1, hash: hash(line), sealed, receipt }
    });
    Lines { lines: lines.collect(), unended }
}

fn parse(line: &[u8]) -> Result<Receipt, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    ao_contract::read(&value).map_err(|error| error.to_string())
}

/// By the bytes, so that a line that says the same in another way is not the same.
fn is_sealed(line: &[u8], custody: &Custody) -> bool {
    let Some(rest) = line.strip_suffix(SEAL_END.as_bytes()) else { return false };
    let Some((rest, seal)) = rest.split_at_checked(rest.len().saturating_sub(SEAL_CHARS)) else {
        return false;
    };
    let Some(body) = rest.strip_suffix(SEAL.as_bytes()) else { return false };
    std::str::from_utf8(seal).is_ok_and(|seal| custody.is_seal(body, seal))
}

/// Whether its seal is right, or of a key that cannot be asked.
pub(super) fn is_trusted(line: &Line) -> bool {
    line.receipt.is_ok() && matches!(line.sealed, Sealed::Right | Sealed::Other)
}

pub(super) fn trusted(all: &Lines) -> impl DoubleEndedIterator<Item = (&Line, &Receipt)> {
    let whole = all.lines.iter().filter(|line| is_trusted(line));
    whole.filter_map(|line| Some((line, line.receipt.as_ref().ok()?)))
}

/// Where the next receipt goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) count: u64,
    pub(super) last: Option<String>,
}

impl Base {
    pub(super) fn is_followed_by(&self, line: &Line, receipt: &Receipt) -> bool {
        is_trusted(line)
            && Some(receipt.number) == self.count.checked_add(1)
            && receipt.previous == self.last
    }
}

/// The head of these lines: the one of this place, or of the place where the repository or its copy was.
pub(super) fn known(
    all: &Lines,
    head: Option<&ReceiptHead>,
    custody: Option<&Custody>,
) -> Option<Known> {
    let last = trusted(all).max_by_key(|(_, receipt)| receipt.number);
    let here = |head: &ReceiptHead| Known { head: head.clone(), kept: Kept::Here };
    let elsewhere = || {
        let (line, receipt) = last?;
        custody?.elsewhere(receipt.number, &line.hash)
    };
    head.filter(|head| head.count > 0 || last.is_none()).map(here).or_else(elsewhere)
}

/// From the head, and from what follows it as it should: a line that was written before its head was, or
/// that another machine wrote. A file that says otherwise is not believed.
pub(super) fn base(lines: &Lines, head: Option<&ReceiptHead>, custody: Option<&Custody>) -> Base {
    let is_known = |line: &&Line| line.sealed != Sealed::Wrong;
    let known = lines.lines.iter().filter(is_known);
    let known = known.filter_map(|line| Some((line, line.receipt.as_ref().ok()?)));
    let mut base = match self::known(lines, head, custody) {
        Some(Known { head, .. }) => Base { count: head.count, last: head.last },
        // Nothing is known but the file.
        None => known.clone().next_back().map_or_else(Base::default, |(line, receipt)| Base {
            count: receipt.number,
            last: Some(line.hash.clone()),
        }),
    };
    for (line, receipt) in known {
        if base.is_followed_by(line, receipt) {
            base = Base { count: receipt.number, last: Some(line.hash.clone()) };
        }
    }
    base
}

/// The receipts of runs whose commit was decided and not finished, and that no later receipt puts right.
pub(crate) fn unfinished(state: &Path, custody: Option<&Custody>) -> io::Result<Vec<Receipt>> {
    let all = lines(&read(state)?.unwrap_or_default(), custody);
    let own = if custody.is_some() { Sealed::Right } else { Sealed::Missing };
    let own = all.lines.into_iter().filter(|line| line.sealed == own);
    let own: Vec<Receipt> = own.filter_map(|line| line.receipt.ok()).collect();
    let amended: Vec<u64> = own.iter().filter_map(|receipt| receipt.amends).collect();
    let is_due =
        |receipt: &Receipt| receipt.unfinished.is_some() && !amended.contains(&receipt.number);
    Ok(own.into_iter().filter(is_due).collect())
}

/// The lines without a seal that no receipt takes note of: where each stands, its hash, and what it says.
pub(crate) fn unsealed(
    state: &Path,
    custody: Option<&Custody>,
) -> io::Result<Vec<(usize, String, Receipt)>> {
    if custody.is_none() {
        return Ok(Vec::new());
    }
    let all = lines(&read(state)?.unwrap_or_default(), custody);
    let noted = noted(&all);
    let is_new = |line: &&Line| line.sealed == Sealed::Missing && !noted.contains(&line.hash);
    let new = all.lines.iter().filter(is_new);
    Ok(new
        .filter_map(|line| Some((line.at, line.hash.clone(), line.receipt.clone().ok()?)))
        .collect())
}

/// The hashes of the lines without a seal that a receipt of this key takes note of.
pub(super) fn noted(all: &Lines) -> BTreeSet<String> {
    let sealed = all.lines.iter().filter(|line| line.sealed == Sealed::Right);
    sealed.filter_map(|line| line.receipt.as_ref().ok()?.unsealed.clone()).collect()
}

/// Appends one receipt, durably, and moves the head on. Whoever calls holds the lock of a run.
pub(crate) fn append(
    state: &Path,
    custody: Option<&Custody>,
    mut receipt: Receipt,
) -> io::Result<()> {
    let path = state.join(FILE);
    let bytes = match read(state) {
        Ok(bytes) => Some(bytes.unwrap_or_default()),
        // The head knows where to go on.
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => None,
        Err(error) => return Err(error),
    };
    let there = lines(bytes.as_deref().unwrap_or_default(), custody);
    let head = custody.map(Custody::head).transpose()?.flatten();
    let base = base(&there, head.as_ref(), custody);
    receipt.number = base.count.saturating_add(1);
    receipt.previous = base.last;
    receipt.key = custody.map(Custody::id);
    receipt.files = head.as_ref().and_then(|head| head.files.clone());
    let line = sealed(&receipt, custody)?;
    out::append_line(&path, &redactor().text(&line, Ansi::Keep))?;
    crate::iteration::fault("receipt-head").map_err(io::Error::other)?;
    let Some(custody) = custody else { return Ok(()) };
    let mut head = head.unwrap_or_else(|| custody.empty());
    if head.count == 0 {
        head.since = receipt.number;
    }
    head.count = receipt.number;
    head.last = Some(hash(line.as_bytes()));
    head.open.retain(|open| open.run_id != receipt.run_id);
    custody.set_head(&head)
}

/// The line, without its end. What is sealed is what is written: values of the vault are taken out before.
fn sealed(receipt: &Receipt, custody: Option<&Custody>) -> io::Result<String> {
    let receipt = Receipt { seal: None, ..receipt.clone() };
    let looked_through = redactor().json(&receipt)?;
    let value: Value = serde_json::from_slice(looked_through.get())?;
    let mut line = serde_json::to_string(&value)?;
    if let Some(custody) = custody
        && let Some(body) = line.strip_suffix('}').map(str::to_owned)
    {
        line = format!("{body}{SEAL}{}{SEAL_END}", custody.seal(body.as_bytes()));
    }
    Ok(line)
}
