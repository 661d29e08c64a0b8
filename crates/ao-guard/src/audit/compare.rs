//! Two manifests, and what lies between them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::{EntryKind, GuardManifest, ManifestEntry};

use super::look;
use crate::scope::{Grant, Owned, Sacred};

/// The guard's own log, which only grows.
const OWN_LOG: &str = ".agents/ao/guard.jsonl";
/// It is made for the log's sake.
const OWN_FOLDER: &str = ".agents/ao";

/// What happened to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Added,
    Removed,
    /// What of it is different.
    Changed(Vec<&'static str>),
}

/// Whether that may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Owned,
    /// Owned, but a link, a pipe or a device, or a file with a second name.
    Unfit,
    /// Owned, but some program would run it without being asked.
    RunsByItself,
    NotOwned,
    Sacred,
    /// It could not be looked at.
    Unread,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Self::Owned => "owned",
            Self::Unfit => "unfit",
            Self::RunsByItself => "runs-by-itself",
            Self::NotOwned => "not-owned",
            Self::Sacred => "sacred",
            Self::Unread => "unread",
        }
    }

    pub fn is_violation(self) -> bool {
        self != Self::Owned
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub path: String,
    pub what: What,
    pub verdict: Verdict,
}

/// Everything that is different, with its verdict, sorted by path.
pub fn compare(
    before: &GuardManifest,
    after: &GuardManifest,
    owned: &Owned,
    sacred: &Sacred,
    grants: &[Grant],
) -> Vec<Finding> {
    fn index(manifest: &GuardManifest) -> BTreeMap<&str, &ManifestEntry> {
        manifest.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect()
    }
    let (old, new) = (index(before), index(after));
    let paths: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let judge = Judge { owned, sacred, grants };
    let mut findings = Vec::new();
    for path in paths {
        let (was, is) = (old.get(path).copied(), new.get(path).copied());
        let Some(what) = difference(was, is) else { continue };
        let is_own_folder = path == OWN_FOLDER
            && was.is_none()
            && is.is_some_and(|is| is.kind == EntryKind::Folder);
        let is_own_log = path == OWN_LOG && has_only_grown(&look::path_of(&after.root), was, is);
        if is_own_folder || is_own_log {
            continue;
        }
        let entry = is.or(was);
        let verdict = entry.map_or(Verdict::Unread, |entry| judge.verdict(entry, is.is_some()));
        findings.push(Finding { path: path.to_owned(), what, verdict });
    }
    pardon_folders(&mut findings, &old, &new);
    for path in before.unread.keys().chain(after.unread.keys()).collect::<BTreeSet<_>>() {
        let what = What::Changed(vec!["unread"]);
        findings.push(Finding { path: path.clone(), what, verdict: Verdict::Unread });
    }
    findings.sort_by(|one, other| one.path.cmp(&other.path));
    findings
}

fn difference(was: Option<&ManifestEntry>, is: Option<&ManifestEntry>) -> Option<What> {
    let (was, is) = match (was, is) {
        (Some(was), Some(is)) => (was, is),
        (None, Some(_)) => return Some(What::Added),
        (Some(_), None) => return Some(What::Removed),
        (None, None) => return None,
    };
    let fields = [
        ("kind", was.kind != is.kind),
        ("content", (was.size, &was.hash, &was.changed_at) != (is.size, &is.hash, &is.changed_at)),
        ("mode", was.mode != is.mode),
        ("owner", (was.uid, was.gid) != (is.uid, is.gid)),
        ("links", was.links != is.links),
        ("target", was.target != is.target),
        ("attributes", was.attributes != is.attributes),
    ];
    let changed: Vec<&'static str> =
        fields.into_iter().filter_map(|(name, is_other)| is_other.then_some(name)).collect();
    (!changed.is_empty()).then_some(What::Changed(changed))
}

struct Judge<'a> {
    owned: &'a Owned,
    sacred: &'a Sacred,
    grants: &'a [Grant],
}

impl Judge<'_> {
    fn verdict(&self, entry: &ManifestEntry, is_there: bool) -> Verdict {
        let path = entry.path.as_str();
        if self.sacred.rule_for(path, self.grants).is_some() {
            return Verdict::Sacred;
        }
        let is_owned = match self.owned {
            Owned::Globs(globs) => globs.matching(path).is_some(),
            Owned::Unsaid => false,
        };
        let is_fit = match entry.kind {
            EntryKind::File => entry.links == 1,
            EntryKind::Folder => true,
            _ => false,
        };
        if !is_owned {
            Verdict::NotOwned
        } else if is_there && !is_fit {
            Verdict::Unfit
        } else if is_there && self.sacred.runs_by_itself(path) {
            Verdict::RunsByItself
        } else {
            Verdict::Owned
        }
    }
}

/// A folder that came or went only for the sake of what is owned in it is owned too.
fn pardon_folders(
    findings: &mut [Finding],
    old: &BTreeMap<&str, &ManifestEntry>,
    new: &BTreeMap<&str, &ManifestEntry>,
) {
    let mut above_owned = BTreeSet::new();
    for finding in findings.iter().filter(|finding| finding.verdict == Verdict::Owned) {
        let ends = finding.path.match_indices('/').map(|(at, _)| at);
        above_owned.extend(ends.map(|end| finding.path[..end].to_owned()));
    }
    for finding in findings.iter_mut().filter(|finding| finding.verdict == Verdict::NotOwned) {
        let entry = new.get(finding.path.as_str()).or(old.get(finding.path.as_str()));
        let is_folder = entry.is_some_and(|entry| entry.kind == EntryKind::Folder);
        let has_come_or_gone = matches!(finding.what, What::Added | What::Removed);
        if is_folder && has_come_or_gone && above_owned.contains(&finding.path) {
            finding.verdict = Verdict::Owned;
        }
    }
}

fn has_only_grown(root: &Path, was: Option<&ManifestEntry>, is: Option<&ManifestEntry>) -> bool {
    let Some(is) = is.filter(|is| is.kind == EntryKind::File && is.links == 1) else {
        return false;
    };
    match was {
        None => true,
        Some(was) => {
            was.kind == EntryKind::File
                && was.mode == is.mode
                && was.size <= is.size
                && look::hash_of_first(&root.join(OWN_LOG), was.size).ok() == was.hash
        }
    }
}
