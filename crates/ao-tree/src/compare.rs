//! Between the plan and the commit others write too: what they changed is taken over, and what both
//! changed is settled in their favour.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;

use crate::door::Door;
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::path::TreePath;
use crate::plan::{Clash, Content, FILE_BYTES_MAX, Plan, Touched};
use crate::survey::Survey;

/// After this many comparisons in a row that found an edited file changed, the transaction is
/// rolled back: somebody is at work there.
const COMPARISONS_MAX: usize = 3;

pub(crate) fn comparisons_max() -> usize {
    COMPARISONS_MAX + usize::from(ao_mutant::active("LOOP-07/four-comparisons"))
}

impl<F: Fs> Door<F> {
    /// Compares until nothing that the plan touches has changed since the last look.
    pub(crate) fn settle(&self, plan: &mut Plan, survey: &Survey) -> Result<()> {
        for round in 1.. {
            match self.rebase(plan, survey)? {
                None => break,
                Some(path) if round == comparisons_max() => {
                    return Err(Error::Contended { comparisons: round, path: path.to_string() });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Brings the plan up to what stands there now. Gives one of the touched paths that had
    /// changed, if any had.
    fn rebase(&self, plan: &mut Plan, survey: &Survey) -> Result<Option<TreePath>> {
        let mut changed = None;
        let mut broken = BTreeMap::new();
        for (path, touched) in std::mem::take(&mut plan.touched) {
            let current = match survey.blocked(&path) {
                Some(why) => Err(why),
                None => self.stands(&path)?,
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
                    plan.carried.insert(path.to_string());
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
