//! Between the snapshot and the commit others write too: what they changed is taken over, and
//! what both changed is settled in their favour.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;

use crate::door::Door;
use crate::error::{Error, Result};
use crate::fs::{Entry, Fs, Kind};
use crate::path::TreePath;
use crate::plan::{Clash, Content, FILE_BYTES_MAX, Plan, Touched};
use crate::snapshot::{Folder, Part, Snapshot, join};

/// After this many comparisons in a row that found an edited file changed, the transaction is
/// rolled back: somebody is at work there.
const COMPARISONS_MAX: usize = 3;

pub(crate) fn comparisons_max() -> usize {
    COMPARISONS_MAX + usize::from(ao_mutant::active("LOOP-07/four-comparisons"))
}

impl<F: Fs> Door<F> {
    /// Compares until nothing that the plan touches has changed since the last look. Gives the
    /// newest snapshot; the paths that others changed meanwhile are added to `carried`.
    ///
    /// The plan was made from `first` a moment ago, so only the edited files are read again. What
    /// else changed since shows in the displaced tree; walking all of it once more would only
    /// make that moment shorter.
    pub(crate) fn settle(
        &self,
        plan: &mut Plan,
        first: Snapshot,
        carried: &mut Vec<String>,
    ) -> Result<Snapshot> {
        let mut last = first;
        for round in 1.. {
            match self.rebase(plan, &last)? {
                None => break,
                Some(path) if round == comparisons_max() => {
                    return Err(Error::Contended { comparisons: round, path: path.to_string() });
                }
                Some(_) => {}
            }
            last = self.look_again(plan, &last, carried)?;
        }
        carried.retain(|path| {
            !TreePath::parse(path).is_ok_and(|path| plan.touched.contains_key(&path))
        });
        carried.sort_unstable();
        carried.dedup();
        Ok(last)
    }

    /// A new snapshot of the parts that the plan touches, and what others changed since the last one.
    pub(crate) fn look_again(
        &self,
        plan: &Plan,
        last: &Snapshot,
        carried: &mut Vec<String>,
    ) -> Result<Snapshot> {
        let parts = plan.parts();
        let now = self.snapshot(|part| parts.contains(&part))?;
        for part in parts {
            let path = self.layout.held[part].path.as_str();
            differences(&last.parts[part], &now.parts[part], path, carried);
        }
        Ok(now)
    }

    /// Brings the plan up to what stands there now. Gives one of the touched paths that had
    /// changed, if any had.
    fn rebase(&self, plan: &mut Plan, now: &Snapshot) -> Result<Option<TreePath>> {
        let mut changed = None;
        let mut broken = BTreeMap::new();
        for (path, touched) in std::mem::take(&mut plan.touched) {
            let blocked = now.blocked(&path);
            let current = match blocked {
                Some(why) => Err(why),
                None => self.stands(&path, touched.part, now)?,
            };
            let current = match current {
                Ok(current) => current,
                // A folder, a link or a mount is there by now.
                Err(why) => {
                    let mut clash = Clash::of(&path, touched.after, None);
                    clash.conflict.why = why;
                    plan.clashes.push(clash);
                    broken.extend(touched.group.map(|group| (group, path.to_string())));
                    changed = Some(path);
                    continue;
                }
            };
            if same(touched.before.as_ref(), current.as_ref()) {
                plan.touched.insert(path, touched);
                continue;
            }
            changed = Some(path.clone());
            let group = touched.group.clone();
            match meet(&path, touched, current.as_ref()) {
                Met::Merged(touched) => {
                    plan.is_merged = true;
                    plan.touched.insert(path, *touched);
                }
                Met::AsItIs => {}
                Met::Clash(clash) => {
                    broken.extend(group.map(|group| (group, clash.conflict.path.clone())));
                    plan.clashes.push(*clash);
                }
            }
        }
        plan.hold_back(&broken);
        Ok(changed)
    }
}

impl<F: Fs> Door<F> {
    /// One of the files that the plan touches which is no longer as the plan found it.
    pub(crate) fn changed_since(&self, plan: &Plan) -> Result<Option<TreePath>> {
        for (path, touched) in &plan.touched {
            let is_same = self.is_still(path, touched.before.as_ref());
            if !is_same.map_err(Error::io(format!("look at {path} again")))? {
                return Ok(Some(path.clone()));
            }
        }
        Ok(None)
    }

    fn is_still(&self, path: &TreePath, before: Option<&Content>) -> io::Result<bool> {
        let (folder, name) = path.split_last();
        let Some(dir) = self.open(folder)? else { return Ok(before.is_none()) };
        let stat = self.fs.stat(&dir, OsStr::new(name))?;
        let (Some(stat), Some(before)) = (&stat, before) else {
            return Ok(stat.is_none() && before.is_none());
        };
        if stat.kind != Kind::File || stat.mode != before.mode {
            return Ok(false);
        }
        match self.fs.read(&dir, OsStr::new(name), FILE_BYTES_MAX) {
            Ok(bytes) => Ok(bytes == before.bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(false),
            Err(error) => Err(error),
        }
    }
}

enum Met {
    Merged(Box<Touched>),
    /// Others made the same change.
    AsItIs,
    Clash(Box<Clash>),
}

/// Settles one file that changed under the plan.
fn meet(path: &TreePath, touched: Touched, current: Option<&Content>) -> Met {
    if touched.after.as_ref().map(|after| &after.hash) == current.map(|current| &current.hash) {
        return Met::AsItIs;
    }
    if let (Some(before), Some(current)) = (&touched.before, current)
        && before.hash == current.hash
    {
        let mode = current.mode;
        let after = touched.after.map(|after| Content { mode, ..after });
        return Met::Merged(Box::new(Touched { before: Some(current.clone()), after, ..touched }));
    }
    if let (true, Some(before), Some(after), Some(current)) =
        (path.is_line_file(), &touched.before, &touched.after, current)
        && let Some(added) = current.bytes.strip_prefix(before.bytes.as_slice())
    {
        let is_lost = ao_mutant::active("LOOP-07/lines-of-others-are-lost");
        let added = if is_lost { &[] } else { added };
        let after = Content::new(with_lines(&after.bytes, added), current.mode);
        let merged = Touched { before: Some(current.clone()), after: Some(after), ..touched };
        return Met::Merged(Box::new(merged));
    }
    if ao_mutant::active("LOOP-07/ours-replaces-theirs") {
        let before = current.cloned();
        return Met::Merged(Box::new(Touched { before, ..touched }));
    }
    Met::Clash(Box::new(Clash::of(path, touched.after, current)))
}

/// `base` with the lines of `added` after it, each on a line of its own.
pub(crate) fn with_lines(base: &[u8], added: &[u8]) -> Vec<u8> {
    let mut bytes = base.to_vec();
    if !added.is_empty() && !bytes.is_empty() && bytes.last() != Some(&b'\n') && added[0] != b'\n' {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(added);
    bytes
}

fn same(a: Option<&Content>, b: Option<&Content>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.hash == b.hash && a.mode == b.mode,
        _ => false,
    }
}

/// Lists the paths that differ between two looks at one part.
fn differences(before: &Part, after: &Part, path: &str, found: &mut Vec<String>) {
    match (before, after) {
        (Part::Dir(before), Part::Dir(after)) => folder_differences(before, after, path, found),
        (Part::File(before), Part::File(after)) if before == after => {}
        (Part::Absent | Part::Blocked, Part::Absent | Part::Blocked) => {}
        (Part::Dir(folder), _) | (_, Part::Dir(folder)) => everything(folder, path, found),
        _ => found.push(path.to_owned()),
    }
}

fn folder_differences(before: &Folder, after: &Folder, path: &str, found: &mut Vec<String>) {
    for (was, is) in side_by_side(&before.files, &after.files, |entry: &Entry| &entry.name) {
        if was.map(|entry| &entry.stat) != is.map(|entry| &entry.stat)
            && let Some(entry) = was.or(is)
        {
            found.push(join(path, &entry.name));
        }
    }
    for (was, is) in side_by_side(&before.folders, &after.folders, |folder| &folder.0) {
        match (was, is) {
            (Some(was), Some(is)) => folder_differences(&was.1, &is.1, &join(path, &was.0), found),
            (Some(only), None) | (None, Some(only)) => {
                everything(&only.1, &join(path, &only.0), found);
            }
            (None, None) => {}
        }
    }
}

fn everything(folder: &Folder, path: &str, found: &mut Vec<String>) {
    found.extend(folder.files.iter().map(|entry| join(path, &entry.name)));
    for (name, inner) in &folder.folders {
        everything(inner, &join(path, name), found);
    }
}

/// Two sorted lists as one, each name with what the two sides have of it.
pub(crate) fn side_by_side<'a, T>(
    left: &'a [T],
    right: &'a [T],
    name: impl Fn(&T) -> &OsString,
) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let mut pairs = Vec::with_capacity(left.len().max(right.len()));
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(l), Some(r)) => name(l).cmp(name(r)),
        };
        pairs.push(match order {
            std::cmp::Ordering::Less => (left.next(), None),
            std::cmp::Ordering::Greater => (None, right.next()),
            std::cmp::Ordering::Equal => (left.next(), right.next()),
        });
    }
}
