//! What the next start puts right before it writes a receipt: a repository that was moved, a line that a crash
//! tore, a line whose head was lost with the process. Nothing else is touched: what somebody did to the file
//! stays to be seen.

use std::io;
use std::path::Path;

use ao_contract::{Receipt, ReceiptHead};

use super::chain::{FILE, Lines, base, known, lines, read, trusted};
use super::custody::{Custody, Kept};

/// How every line begins.
const BEGINNING: &str = "{\"schema_version\":1,\"number\":";

/// Gives what was put right, a line each. Whoever calls holds the lock of a run.
pub(crate) fn mend(state: &Path, custody: Option<&Custody>) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    // What cannot be read is named by the receipt that cannot be written.
    let Ok(bytes) = read(state) else { return Ok(notes) };
    let bytes = bytes.unwrap_or_default();
    let all = lines(&bytes, custody);
    if let Some(custody) = custody {
        notes.extend(adopt(&all, custody)?);
    }
    let head = custody.map(Custody::head).transpose()?.flatten();
    if let Some(torn) = torn(&all, head.as_ref(), custody) {
        let rest = bytes.len() - torn.len();
        ao_tree::cut_end(&state.join(FILE), rest as u64)?;
        notes.push(format!(
            "the last line of {FILE} was not written to its end, as a power cut leaves it; its {} bytes were \
             taken away, and the receipt is written anew",
            torn.len()
        ));
    }
    if let (Some(custody), Some(head)) = (custody, head) {
        catch_up(&all, head, custody)?;
    }
    Ok(notes)
}

/// What a crash left of a line, if that is what the end of the file is: the beginning of a receipt that a run
/// should have and has not, or nothing but the room for it. Whatever else stands there was put there.
pub(super) fn torn<'a>(
    all: &'a Lines,
    head: Option<&ReceiptHead>,
    custody: Option<&Custody>,
) -> Option<&'a [u8]> {
    let rest = all.unended.as_deref()?;
    if all.lines.last()?.receipt.is_ok() {
        return None;
    }
    let is_room = rest.iter().all(|byte| *byte == 0);
    let begins = |expected: &str| {
        let expected = expected.as_bytes();
        rest.starts_with(expected) || expected.starts_with(rest)
    };
    let is_due = match head {
        Some(head) => head.open.iter().any(|open| {
            let number = base(all, Some(head), custody).count.saturating_add(1);
            let run = serde_json::Value::from(open.run_id.as_str());
            is_room || begins(&format!("{BEGINNING}{number},\"run_id\":{run}"))
        }),
        // Nobody wrote down which one is due.
        None => is_room || begins(BEGINNING),
    };
    is_due.then_some(rest)
}

/// Takes the head of a repository over that was moved here.
fn adopt(all: &Lines, custody: &Custody) -> io::Result<Option<String>> {
    if custody.head()?.is_some() {
        return Ok(None);
    }
    let Some(found) = known(all, None, Some(custody)) else { return Ok(None) };
    if found.kept != Kept::Moved {
        return Ok(None);
    }
    let from = found.head.repo_root.clone();
    custody.adopt(found.head)?;
    Ok(Some(format!("the receipts were kept for {from}, from where this repository was moved")))
}

/// Moves the head on to lines that were written before their head was.
fn catch_up(all: &Lines, mut head: ReceiptHead, custody: &Custody) -> io::Result<()> {
    let base = base(all, Some(&head), Some(custody));
    let is_new = |receipt: &&Receipt| receipt.number > head.count && receipt.number <= base.count;
    let new: Vec<&Receipt> = trusted(all).map(|(_, receipt)| receipt).filter(is_new).collect();
    let is_due = |receipt: &&&Receipt| head.open.iter().any(|open| open.run_id == receipt.run_id);
    let first = new.iter().find(is_due).map(|receipt| receipt.number);
    // A line that came with the file is not one of this place.
    if new.is_empty() || head.count == 0 && first.is_none() {
        return Ok(());
    }
    if let Some(first) = first.filter(|_| head.count == 0) {
        head.since = first;
    }
    head.open.retain(|open| !new.iter().any(|receipt| receipt.run_id == open.run_id));
    head.count = base.count;
    head.last = base.last;
    custody.set_head(&head)
}
