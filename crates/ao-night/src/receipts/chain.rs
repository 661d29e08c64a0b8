//! The file of receipts: its lines as they are, and one more.

use std::io;
use std::path::Path;

use ao_contract::{Receipt, ReceiptHead};
use ao_vault::{Ansi, out, redactor};
use serde_json::Value;

use super::custody::Custody;
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
    /// The last one was not written to its end.
    pub is_cut: bool,
}

/// The bytes of the file; `None` if there is none. What is not a plain file is not opened.
pub fn read(state: &Path) -> io::Result<Option<Vec<u8>>> {
    let path = state.join(FILE);
    match std::fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(found) if !found.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"))
        }
        Ok(found) if found.len() > BYTES_MAX => {
            let why = format!("it has {} bytes, and receipts of nights take less", found.len());
            Err(io::Error::new(io::ErrorKind::FileTooLarge, why))
        }
        Ok(_) => std::fs::read(path).map(Some),
    }
}

/// Reads the lines one by one; whoever has no key cannot check a seal.
pub fn lines(bytes: &[u8], custody: Option<&Custody>) -> Lines {
    let is_cut = !bytes.is_empty() && !bytes.ends_with(b"\n");
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
    Lines { lines: lines.collect(), is_cut }
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

/// Where the next receipt goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Base {
    count: u64,
    last: Option<String>,
}

impl Base {
    fn is_followed_by(&self, line: &Line, receipt: &Receipt) -> bool {
        let is_sealed = matches!(line.sealed, Sealed::Right | Sealed::Other);
        is_sealed
            && Some(receipt.number) == self.count.checked_add(1)
            && receipt.previous == self.last
    }
}

/// From the head, and from what follows it as it should: a line that was written before its head was, or
/// that another machine wrote. A file that says otherwise is not believed.
fn base(lines: &Lines, head: Option<&ReceiptHead>, custody: Option<&Custody>) -> Base {
    let is_known = |line: &&Line| line.sealed != Sealed::Wrong;
    let known = lines.lines.iter().filter(is_known);
    let known = known.filter_map(|line| Some((line, line.receipt.as_ref().ok()?)));
    let moved = || {
        let (line, receipt) = known.clone().next_back()?;
        custody?.moved(receipt.number, &line.hash)
    };
    let head = head.filter(|head| head.count > 0).cloned().or_else(moved);
    let mut base = match &head {
        Some(head) => Base { count: head.count, last: head.last.clone() },
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
    let line = sealed(&receipt, custody)?;
    let cut = there.lines.last().filter(|line| there.is_cut && line.receipt.is_err());
    match (cut, bytes) {
        // What a crash left of a line is no line.
        (Some(_), Some(mut bytes)) => {
            let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            bytes.truncate(end);
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
            out::replace_file(&path, &redactor().bytes(&bytes, Ansi::Keep))?;
        }
        _ => out::append_line(&path, &redactor().text(&line, Ansi::Keep))?,
    }
    crate::iteration::fault("receipt-head").map_err(io::Error::other)?;
    let Some(custody) = custody else { return Ok(()) };
    let mut head = head.unwrap_or_else(|| custody.empty());
    head.count = receipt.number;
    head.last = Some(hash(line.as_bytes()));
    head.open.retain(|open| open.run_id != receipt.run_id);
    custody.set_head(&head)
}

/// Moves the head on to a line that was written before its head was.
pub(crate) fn catch_up(state: &Path, custody: &Custody) -> io::Result<()> {
    let Some(mut head) = custody.head()? else { return Ok(()) };
    let bytes = match read(state) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(_) => return Ok(()),
    };
    let all = lines(&bytes, Some(custody));
    let base = base(&all, Some(&head), Some(custody));
    if base.count <= head.count || head.count == 0 && base.last.is_none() {
        return Ok(());
    }
    let of_run = |line: &&Line| Some(&line.hash) == base.last.as_ref();
    let run = all.lines.iter().find(of_run).and_then(|line| line.receipt.as_ref().ok());
    head.open.retain(|open| run.is_none_or(|run| run.run_id != open.run_id));
    head.count = base.count;
    head.last = base.last;
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
