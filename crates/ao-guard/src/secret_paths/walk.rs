//! What a program would come upon that reads a whole folder.

use std::path::{Path, PathBuf};

use crate::scope::{Case, Globs};

use super::{ReadDepth, SecretPaths, resolved};

/// In a folder with more entries than these nobody looks for a secret.
const ENTRIES_MAX: usize = 50_000;
/// So many names at the end of a path tell whether it is that of a secret: no glob of the lists has more.
const NAMES_LOOKED_AT: usize = 4;
const DEPTH_MAX: usize = 64;
const FOUND_MAX: usize = 64;

/// Folders of what others published, in which no secret of this user is, and the one of git.
const PASSED_OVER: [&str; 8] =
    [".git", "node_modules", "site-packages", "vendor", "target", ".venv", "venv", ".tox"];

/// What a program reads of a folder.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the programs that search")]
pub struct Wanted {
    /// Names that begin with a dot are passed over.
    pub has_hidden_left_out: bool,
    /// What git ignores is passed over.
    pub has_ignored_left_out: bool,
    /// Only what is in the folder itself.
    pub is_shallow: bool,
    /// Links are followed.
    pub follows_links: bool,
    /// Only names that one of these matches, if there are any.
    pub only: Vec<String>,
    /// No names that one of these matches.
    pub never: Vec<String>,
}

/// What was found beneath a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Walked {
    Clean,
    /// Files that are not read, and why the first of them is not.
    Secrets {
        paths: Vec<PathBuf>,
        why: String,
    },
    /// There are too many files to say.
    TooLarge,
}

impl SecretPaths {
    /// Looks for secrets in a folder of which this is read.
    pub fn beneath(&self, folder: &Path, wanted: &Wanted) -> Walked {
        // A pattern that cannot be read leaves nothing out.
        let only = Globs::parse(&wanted.only, Case::Folded).ok().filter(|only| !only.is_empty());
        let never = Globs::parse(&wanted.never, Case::Exact).ok();
        let mut folders = vec![(resolved(folder), 0)];
        let (mut paths, mut reason) = (Vec::new(), None);
        let mut count = 0;
        while let Some((folder, depth)) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                count += 1;
                if count > ENTRIES_MAX {
                    return if paths.is_empty() { Walked::TooLarge } else { break };
                }
                let (name, path) = (entry.file_name(), entry.path());
                let name = name.to_string_lossy();
                let Ok(kind) = entry.file_type() else { continue };
                if wanted.has_hidden_left_out && name.starts_with('.')
                    || kind.is_symlink() && !wanted.follows_links
                    || never.as_ref().is_some_and(|never| never.matching(&name).is_some())
                {
                    continue;
                }
                let is_folder = kind.is_dir();
                if is_folder && PASSED_OVER.contains(&&*name) {
                    continue;
                }
                if is_folder {
                    if depth < DEPTH_MAX && !wanted.is_shallow {
                        folders.push((path, depth + 1));
                    }
                    continue;
                }
                if only.as_ref().is_some_and(|only| only.matching(&name).is_none()) {
                    continue;
                }
                let why = if kind.is_symlink() {
                    self.why_hidden(&path, ReadDepth::Beneath)
                } else {
                    self.why_this_file(&path)
                };
                if let Some(why) = why {
                    reason.get_or_insert(why);
                    paths.push(path);
                    if paths.len() >= FOUND_MAX {
                        break;
                    }
                }
            }
        }
        match reason {
            Some(why) => Walked::Secrets { paths, why },
            None => Walked::Clean,
        }
    }

    /// The same of a plain file in a folder that is itself not hidden.
    fn why_this_file(&self, path: &Path) -> Option<String> {
        let last: PathBuf = {
            let names: Vec<_> = path.components().collect();
            names[names.len().saturating_sub(NAMES_LOOKED_AT)..].iter().collect()
        };
        let last = last.to_string_lossy();
        let last = last.trim_start_matches('/');
        let is_named = self.names.matching(last).is_some() && self.samples.matching(last).is_none();
        let is_vaults = self.vault.iter().any(|kept| path.starts_with(kept));
        let is_home = self.homes.contains(&self.root) && path.starts_with(&self.root);
        (is_named || is_vaults || is_home).then(|| self.one(path, ReadDepth::Alone)).flatten()
    }
}
