//! The upper directory of an overlay: exactly what was written, and what was removed.
//!
//! Each entry of it stands over one of the project's. What was removed is a device with no number, or an
//! empty file with a mark; a folder with a mark hides all that was beneath it. Both sides of just these
//! paths become two manifests, which are compared like any others.

use std::collections::BTreeMap;
use std::path::Path;

use ao_contract::{EntryKind, GuardManifest, ManifestEntry, SchemaVersion};

use super::compare::{Finding, compare};
use super::look::{self, Mark};
use super::take::Walk;
use crate::scope::{Grant, Owned, Sacred};

/// What an overlay's upper directory changes of the project beneath it, with its verdict.
pub fn compare_upper(
    upper: &Path,
    project: &Path,
    owned: &Owned,
    sacred: &Sacred,
    grants: &[Grant],
) -> std::io::Result<Vec<Finding>> {
    let (upper, project) = (upper.canonicalize()?, project.canonicalize()?);
    let mut written = Walk::new();
    written.tree(&upper, "", None);
    let mut before = Walk::new();
    let mut after = manifest(&project, Vec::new(), written.unread);
    for entry in written.entries {
        let path = look::path_of(&entry.path);
        let mark = look::mark(&upper.join(&path), &entry);
        let beneath = project.join(&path);
        match look::entry(&beneath, entry.path.clone()) {
            Ok(was) => {
                let is_hidden = mark != Mark::None && was.kind == EntryKind::Folder;
                let name = format!("{}/", was.path);
                before.entries.push(was);
                if is_hidden {
                    before.tree(&beneath, &name, None);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => drop(before.unread.insert(entry.path.clone(), error.to_string())),
        }
        if mark != Mark::Removed {
            after.entries.push(entry);
        }
    }
    let mut entries = before.entries;
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    // What is written beneath a hidden folder was looked at twice.
    entries.dedup_by(|one, other| one.path == other.path);
    let before = manifest(&project, entries, before.unread);
    Ok(compare(&before, &after, owned, sacred, grants))
}

fn manifest(
    root: &Path,
    entries: Vec<ManifestEntry>,
    unread: BTreeMap<String, String>,
) -> GuardManifest {
    let root = look::name_of(root);
    GuardManifest { schema_version: SchemaVersion, root, taken_at: String::new(), entries, unread }
}
