//! Taking a manifest: every entry of a tree, and of what git keeps elsewhere for it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ao_contract::{EntryKind, GuardManifest, ManifestEntry, SchemaVersion};
use ao_tree::own_file;

use super::look;

const ENTRIES_MAX: usize = 2_000_000;
const DEPTH_MAX: usize = 256;
/// A `.git` that is a file says in a line where the folder is.
const POINTER_BYTES_MAX: u64 = 8192;

/// Looks at everything in `root`. What cannot be looked at is named, with the reason.
pub fn take(root: &Path, taken_at: String) -> io::Result<GuardManifest> {
    let root = root.canonicalize()?;
    let mut walk = Walk::new();
    walk.tree(&root, "", None);
    for (prefix, folder, left_out) in elsewhere(&root) {
        walk.tree(&folder, &format!("{prefix}/"), left_out);
    }
    walk.entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(GuardManifest {
        schema_version: SchemaVersion,
        root: look::name_of(&root),
        taken_at,
        entries: walk.entries,
        unread: walk.unread,
    })
}

pub(super) struct Walk {
    pub(super) entries: Vec<ManifestEntry>,
    pub(super) unread: BTreeMap<String, String>,
}

impl Walk {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), unread: BTreeMap::new() }
    }

    /// Everything beneath `root`, each name with `prefix` before it, but for one at the top.
    pub(super) fn tree(&mut self, root: &Path, prefix: &str, left_out: Option<&str>) {
        let mut open = vec![(root.to_owned(), prefix.to_owned(), 0)];
        while let Some((folder, prefix, depth)) = open.pop() {
            let listed = match std::fs::read_dir(&folder) {
                Ok(listed) => listed,
                Err(error) => {
                    self.unread.insert(prefix, error.to_string());
                    continue;
                }
            };
            for entry in listed {
                let Ok(entry) = entry else {
                    self.unread.insert(prefix.clone(), "not all of it could be listed".into());
                    break;
                };
                let file_name = entry.file_name();
                if depth == 0 && left_out.is_some_and(|left_out| file_name == left_out) {
                    continue;
                }
                let name = format!("{prefix}{}", look::name_of(Path::new(&file_name)));
                if self.entries.len() >= ENTRIES_MAX || depth >= DEPTH_MAX {
                    self.unread.insert(name, "there is too much to look at".into());
                    return;
                }
                match look::entry(&entry.path(), name.clone()) {
                    Ok(found) => {
                        if found.kind == EntryKind::Folder {
                            open.push((entry.path(), format!("{name}/"), depth + 1));
                        }
                        self.entries.push(found);
                    }
                    Err(error) => drop(self.unread.insert(name, error.to_string())),
                }
            }
        }
    }
}

type Elsewhere = (&'static str, PathBuf, Option<&'static str>);

/// What git keeps outside of a linked work tree: its own folder, and the one that all share, but for the
/// folders of the other work trees.
fn elsewhere(root: &Path) -> Vec<Elsewhere> {
    let Some(private) = pointed(&root.join(".git"), "gitdir:", root) else { return Vec::new() };
    let common = pointed(&private.join("commondir"), "", &private);
    let mut found: Vec<Elsewhere> = vec![(".git/@private", private, None)];
    found.extend(common.map(|common| (".git/@common", common, Some("worktrees"))));
    found
}

fn pointed(file: &Path, word: &str, from: &Path) -> Option<PathBuf> {
    let text = own_file::read_text(file, POINTER_BYTES_MAX).ok()?;
    let folder = text.strip_prefix(word)?.trim();
    (!folder.is_empty()).then(|| from.join(folder))
}
