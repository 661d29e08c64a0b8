//! What a program sees of the machine: what is hidden, and what is shown all the same.

use std::io;
use std::path::{Path, PathBuf};

use super::order::Cell;
use super::policy::RUN;
use super::readable;
use super::rules::{OWN_FOLDER, PRIVATE, SYSTEM};
use super::scratch::Scratch;

impl Cell {
    /// Where they really are: a mask cannot be laid on a symlink.
    pub(super) fn masks(&self, scratch: &Scratch) -> Vec<PathBuf> {
        let named = self.outside.hidden.iter().chain(&self.outside.temporary);
        let real = named.filter_map(|path| path.canonicalize().ok());
        let mut masks: Vec<PathBuf> = real.chain([scratch.root().to_owned()]).collect();
        // What was named is not hidden, whatever it is to others; what lies beside it is.
        let named = || self.writable.iter().chain(&self.copied).chain([&self.directory]);
        masks.retain(|mask| !named().any(|path| path == mask));
        masks.retain(|mask| {
            // These are the cell's own in any case.
            let own = PRIVATE.iter().chain(&["/", RUN]);
            own.into_iter().all(|own| mask != Path::new(own))
        });
        masks.sort();
        masks.dedup();
        masks
    }

    /// What a mask or a private folder would hide although it is needed.
    pub(super) fn shown(&self, masks: &[PathBuf]) -> Vec<PathBuf> {
        let hiding: Vec<&Path> = PRIVATE
            .iter()
            .map(Path::new)
            .chain([Path::new(RUN)])
            .chain(masks.iter().map(PathBuf::as_path))
            .collect();
        let is_hidden =
            |path: &Path| hiding.iter().any(|mask| path.starts_with(mask) && path != *mask);
        let mut wanted = self.outside.shown.clone();
        wanted.extend([self.directory.clone(), self.program.clone()]);
        let mut shown: Vec<PathBuf> = Vec::new();
        wanted.sort();
        for path in wanted {
            let on_top = self.writable.iter().chain(&self.copied).chain(&shown);
            // Unless something is hidden in between.
            let is_there = on_top.into_iter().any(|above| {
                let between = |mask: &&PathBuf| mask.starts_with(above) && path.starts_with(mask);
                path.starts_with(above) && !masks.iter().any(|mask| between(&mask))
            });
            if is_hidden(&path) && !is_there {
                shown.push(path);
            }
        }
        shown
    }

    /// Where temporary files go in tier A. Links can be made there, which they cannot in a folder
    /// beneath which something is written for real.
    pub(super) fn temporary(&self, shown: &[PathBuf]) -> PathBuf {
        let folder = Path::new(PRIVATE[0]);
        let has_real = self.writable.iter().any(|path| path.starts_with(folder) && path != folder);
        if has_real { self.own(OWN_FOLDER, shown) } else { folder.to_owned() }
    }

    /// A folder of the cell's own in the private one, with nothing of the user's in it.
    pub(super) fn own(&self, name: &str, shown: &[PathBuf]) -> PathBuf {
        let theirs = || self.writable.iter().chain(&self.copied).chain(shown);
        let mut folder = Path::new(PRIVATE[0]).join(name);
        while theirs().any(|path| path.starts_with(&folder)) {
            folder.as_mut_os_string().push("-");
        }
        folder
    }

    /// Tier B: the system, the work, the program, and what was listed.
    pub(super) fn readable(&self, masks: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
        // Where they really are, as a home or a repository may lie in one of them.
        let system = SYSTEM.iter().filter_map(|folder| Path::new(folder).canonicalize().ok());
        let mut roots: Vec<PathBuf> = system.chain(self.outside.readable.iter().cloned()).collect();
        roots.extend(self.outside.shown.iter().cloned());
        roots.push(self.program.clone());
        roots.extend(self.program.canonicalize());
        let mut listed = readable::list(&roots, masks)?;
        // The work is seen even in what is hidden, but nothing beside it.
        let beside: Vec<PathBuf> =
            masks.iter().filter(|mask| !self.directory.starts_with(mask)).cloned().collect();
        listed.extend(readable::list(std::slice::from_ref(&self.directory), &beside)?);
        Ok(listed)
    }
}
