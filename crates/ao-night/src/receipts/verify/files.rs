//! The files that nights wrote against the list of them.

use std::path::Path;

use ao_contract::ReceiptHead;
use ao_tree::shown;

use super::super::STATE;
use super::super::files::{FILE, is_changing, read};
use super::super::moved::{is_as_written, place, report_of};
use super::chain::Told;
use super::{Verified, What};
use crate::plain::counted;

/// `head` is what is known outside of the repository; without it, the newest receipt says which list it is.
pub(super) fn check(
    root: &Path,
    head: Option<&ReceiptHead>,
    newest: Option<Told<'_>>,
    found: &mut Verified,
) {
    let of_receipt = || newest.and_then(|told| told.receipt.files.as_ref());
    let expected: Vec<&String> = match head {
        Some(head) => [&head.files, &head.files_next].into_iter().flatten().collect(),
        None => of_receipt().into_iter().collect(),
    };
    let list = match read(&root.join(STATE)) {
        Ok(None) if expected.is_empty() => return,
        Ok(Some((list, hash))) if expected.contains(&&hash) => list,
        Ok(there) if head.is_none() => {
            let is = if there.is_some() { "is another one than" } else { "is not here, and" };
            let why =
                format!("{FILE} {is} the newest receipt tells of: no file of a night was compared");
            return found.unchecked.push(why);
        }
        Ok(None) => {
            let why =
                format!("{FILE} is not there: whether files of nights were changed cannot be told");
            return found.find(None, What::FileRemoved, why);
        }
        Ok(Some(_)) => {
            let why = format!("{FILE} is not as it was written");
            return found.find(None, What::FileChanged, why);
        }
        Err(error) => return found.find(None, What::FileChanged, format!("{FILE}: {error}")),
    };
    let open = head.map(|head| head.open.as_slice()).unwrap_or_default();
    let is_open = |run: &str| open.iter().any(|open| open.run_id == run);
    let mut gone = Vec::new();
    for (name, file) in &list.files {
        let (path, is_moved) = place(root, &list.reports, name);
        // One that goes on, or was cut off, may have written it last.
        let is_its_own = |run: &str| is_open(run) && !is_moved;
        let goes_on = report_of(&list.reports, name).is_some_and(|(_, run, _)| is_its_own(run))
            || !open.is_empty() && is_changing(name);
        if goes_on || is_told_by_the_program(root, name) {
            continue;
        }
        if path.symlink_metadata().is_err() {
            gone.push(name);
        } else if !is_as_written(root, &list.reports, name, file) {
            let why = format!("{} was changed since a night wrote it", shown(name));
            found.find(None, What::FileChanged, why);
        }
    }
    if let Some(first) = gone.first() {
        let files = counted(gone.len(), "file", "files");
        found.notes.push(format!("{files} of nights taken away since, the first {}", shown(first)));
    }
    for at in &list.lost {
        let why = "was gone or changed, and another one was begun";
        found.notes.push(format!("{FILE} {why} at {}", shown(at)));
    }
}

/// Another version of the program writes these anew at its first night.
fn is_told_by_the_program(root: &Path, name: &str) -> bool {
    let is = |own: &str, text: &str| {
        let file = Path::new(STATE).join(own);
        let read = || ao_tree::own_file::read(&root.join(name), text.len() as u64);
        Path::new(name) == file && read().is_ok_and(|bytes| bytes == text.as_bytes())
    };
    let is_document = |(own, text): &(&str, &str)| is(&format!("docs/{own}"), text);
    crate::docs::DOCS.iter().any(is_document) || is(ao_tree::IGNORED, ao_tree::IGNORED_TEXT)
}
