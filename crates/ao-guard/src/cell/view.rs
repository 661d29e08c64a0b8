//! What a program sees of the machine: what is hidden, and what is shown all the same.
//!
//! A home is hidden as a whole, so that what comes to be in it later is hidden, too. What is shown of it
//! is listed: leaves, each with nothing beside it.

use std::io;
use std::path::{Path, PathBuf};

use super::cover::{Cover, Exceptions};
use super::late::SecretWatch;
use super::links::{self, Route};
use super::order::{Cell, Toolchain};
use super::policy::RUN;
use super::readable::{self, LeftOut, ReadList};
use super::rules::{OWN_FOLDER, PRIVATE, SYSTEM};
use super::scratch::Scratch;
use crate::secret_paths::SecretNames;

/// What is shown although something above it is hidden.
#[derive(Debug, Default)]
pub(super) struct Sight {
    pub(super) shown: Vec<PathBuf>,
    /// Symlinks that lead to it through what is hidden: where each is, and what it says.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    pub(super) toolchains: Vec<Toolchain>,
}

impl Toolchain {
    /// The folders of it that are seen.
    pub(super) fn seen(&self) -> impl Iterator<Item = PathBuf> {
        let whole = self.leaves.is_empty().then(|| self.folder.clone());
        whole.into_iter().chain(self.leaves.iter().map(|leaf| self.folder.join(leaf)))
    }

    /// What is hidden in a folder of it that is seen.
    fn private_in<'a>(&'a self, leaf: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        let all = self.private.iter().map(|path| self.folder.join(path));
        all.filter(move |path| path.starts_with(leaf) && path != leaf)
    }

    /// In a folder that is seen as a whole also the usual names of secrets are hidden.
    pub(super) fn cover_of(&self, leaf: &Path) -> Option<Cover> {
        let private: Vec<PathBuf> = self.private_in(leaf).collect();
        let is_whole = leaf == self.folder;
        (is_whole || !private.is_empty()).then(|| Cover::without_paths(leaf, &private))
    }
}

impl Cell {
    /// What was named by whoever wanted the cell, or is the work.
    fn named(&self) -> impl Iterator<Item = &PathBuf> {
        let work = self.outside.projects.iter().chain(&self.outside.shown);
        self.writable.iter().chain(&self.copied).chain(work)
    }

    /// Where they really are: a mask cannot be laid on a symlink.
    pub(super) fn masks(&self, scratch: &Scratch, covers: &[Cover]) -> Vec<PathBuf> {
        let hidden = self.outside.hidden.iter().chain(&self.outside.temporary);
        let real = hidden.filter_map(|path| path.canonicalize().ok());
        let mut masks: Vec<PathBuf> = real.chain([scratch.root().to_owned()]).collect();
        masks
            .extend(covers.iter().flat_map(|cover| &cover.kept).map(|spot| spot.path().to_owned()));
        // What was named is not hidden, whatever it is to others; what lies beside it is.
        masks.retain(|mask| !self.named().any(|path| path == mask));
        masks.retain(|mask| {
            // These are the cell's own in any case.
            let own = PRIVATE.iter().chain(&["/", RUN]);
            own.into_iter().all(|own| mask != Path::new(own))
        });
        masks.sort();
        masks.dedup();
        masks
    }

    /// What may be read in a project whatever its name is.
    pub(super) fn granted(&self) -> Vec<PathBuf> {
        let mut granted: Vec<PathBuf> = self.writable.clone();
        granted.extend(self.outside.shown.iter().cloned());
        granted.push(self.program.clone());
        granted.extend(self.program.canonicalize());
        granted.extend(self.outside.toolchains.iter().map(|one| one.folder.clone()));
        granted
    }

    /// What is hidden in the trees of the user, and what comes to be in them later.
    pub(super) fn covers(&self) -> io::Result<(Vec<Cover>, SecretWatch)> {
        let secrets = SecretNames::built_in().map_err(io::Error::other)?;
        let granted = self.granted();
        let mut late = SecretWatch::new(secrets, granted.clone());
        let projects = self.outside.projects.iter().filter(|tree| tree.is_dir());
        // One in a copy is in the copy.
        let is_in_copy = |tree: &&PathBuf| {
            let above = self.copied.iter().any(|copied| tree.starts_with(copied));
            above && self.copied.as_ref() != Some(tree)
        };
        let mut trees: Vec<PathBuf> =
            projects.filter(|tree| !is_in_copy(tree)).chain(&self.copied).cloned().collect();
        trees.sort();
        trees.dedup();
        let private = &self.outside.private;
        // One in another lies on top of it: it may be in a folder that is not looked into.
        let exceptions = Exceptions { granted: &granted, private, apart: &trees };
        let mut covers: Vec<Cover> =
            trees.iter().map(|tree| Cover::of(tree, &exceptions, &mut late)).collect();
        late.know(&covers);
        self.cover_elsewhere(&mut covers);
        Ok((covers, late))
    }

    /// Single paths that are private, outside of all that is hidden or covered: their folder is seen
    /// without them, whether they are there or not.
    fn cover_elsewhere(&self, covers: &mut Vec<Cover>) {
        let mut elsewhere = Vec::new();
        for path in &self.outside.private {
            let mut name = path.as_path();
            let Some(folder) = path.ancestors().skip(1).find_map(|above| {
                let real = above.canonicalize().ok();
                name = if real.is_some() { name } else { above };
                real
            }) else {
                continue;
            };
            let Some(name) = name.file_name() else { continue };
            let hidden = self.outside.hidden.iter().chain(&self.outside.temporary);
            let mut hidden = hidden.filter_map(|one| one.canonicalize().ok());
            // What is the cell's own has nothing of the outside in it.
            let is_own = PRIVATE.iter().chain([&RUN]).any(|own| folder.starts_with(own));
            if is_own || hidden.any(|mask| folder.starts_with(mask)) || folder.parent().is_none() {
                continue;
            }
            if covers.iter().any(|cover| folder.starts_with(cover.tree.path())) {
                continue;
            }
            elsewhere.push(Cover::without(&folder, name));
        }
        elsewhere.sort_by(|one, other| one.tree.cmp(&other.tree));
        elsewhere.dedup_by(|next, kept| kept.take_in(next));
        covers.extend(elsewhere);
    }

    /// What a mask or a private folder would hide although it is needed.
    pub(super) fn sight(&self, masks: &[PathBuf]) -> Sight {
        let mut sight = Sight::default();
        // One in the work is seen there.
        let work = || self.writable.iter().chain(&self.copied).chain(&self.outside.projects);
        let free = |one: &&Toolchain| !work().any(|tree| one.folder.starts_with(tree));
        sight.toolchains = self.outside.toolchains.iter().filter(free).cloned().collect();
        let mut hiding: Vec<PathBuf> = PRIVATE.iter().map(PathBuf::from).collect();
        hiding.push(RUN.into());
        hiding.extend(masks.iter().cloned());
        hiding.extend(sight.toolchains.iter().map(|one| one.folder.clone()));
        let leaves: Vec<PathBuf> = sight.toolchains.iter().flat_map(Toolchain::seen).collect();
        let is_hidden =
            |path: &Path| hiding.iter().any(|mask| path.starts_with(mask) && path != *mask);
        let mut wanted: Vec<PathBuf> = Vec::new();
        let named = self.outside.shown.iter().chain(&self.outside.projects).chain([&self.program]);
        for path in named {
            // One that leads in circles is not started.
            let Ok(Route { links, end }) = links::follow(path) else { continue };
            sight.links.extend(links.into_iter().filter(|(link, _)| is_hidden(link)));
            wanted.push(end);
        }
        wanted.sort();
        wanted.dedup();
        for path in wanted {
            let on_top =
                self.writable.iter().chain(&self.copied).chain(&sight.shown).chain(&leaves);
            // Unless something is hidden in between.
            let is_there = on_top.into_iter().any(|above| {
                let between = |mask: &&PathBuf| {
                    mask.starts_with(above) && *mask != above && path.starts_with(mask)
                };
                path.starts_with(above) && !masks.iter().any(|mask| between(&mask))
            });
            if is_hidden(&path) && !is_there {
                sight.shown.push(path);
            }
        }
        let covered = |link: &Path| {
            let on_top =
                self.writable.iter().chain(&self.copied).chain(&sight.shown).chain(&leaves);
            on_top.into_iter().any(|above| link.starts_with(above))
        };
        let links = std::mem::take(&mut sight.links);
        sight.links = links.into_iter().filter(|(link, _)| !covered(link)).collect();
        sight.links.sort();
        sight.links.dedup();
        sight
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
    pub(super) fn listed(&self, masks: &[PathBuf], covers: &[Cover]) -> io::Result<ReadList> {
        // Where they really are, as a home or a repository may lie in one of them.
        let real = |path: &PathBuf| path.canonicalize().ok();
        let system = SYSTEM.iter().filter_map(|folder| Path::new(folder).canonicalize().ok());
        let (work, others): (Vec<&Cover>, Vec<&Cover>) =
            covers.iter().partition(|cover| cover.is_work);
        let mut beside: Vec<PathBuf> = masks.to_vec();
        let trees: Vec<PathBuf> = work.iter().map(|cover| cover.tree.path().to_owned()).collect();
        beside.extend(trees.iter().cloned());
        beside.extend(others.iter().flat_map(|cover| cover.found()));
        let toolchains = &self.outside.toolchains;
        let private =
            toolchains.iter().flat_map(|one| one.private.iter().map(move |path| (one, path)));
        beside.extend(private.clone().map(|(one, path)| one.folder.join(path)));
        let readable = readable::list(&system.collect::<Vec<_>>(), &beside)?;
        let mut listed = ReadList { readable, ..ReadList::default() };
        // A folder with something hidden in it is listed entry by entry, and its names can be seen.
        for (one, path) in private {
            let ways = path.ancestors().skip(1).map(|way| one.folder.join(way));
            let is_seen = |way: &PathBuf| one.seen().any(|leaf| way.starts_with(leaf));
            listed.listable.extend(ways.filter(is_seen));
        }
        let mut named: Vec<PathBuf> = self.outside.readable.iter().filter_map(real).collect();
        named.extend(self.outside.shown.iter().filter_map(real));
        named.extend(self.outside.toolchains.iter().flat_map(Toolchain::seen));
        named.push(self.program.clone());
        named.extend(self.program.canonicalize());
        for one in named {
            // It was named, so that nothing above it hides it.
            let inner: Vec<PathBuf> =
                beside.iter().filter(|mask| !one.starts_with(mask)).cloned().collect();
            listed.readable.extend(readable::list(std::slice::from_ref(&one), &inner)?);
        }
        for cover in work {
            let tree = cover.tree.path();
            let inner: Vec<PathBuf> =
                masks.iter().filter(|mask| !tree.starts_with(mask)).cloned().collect();
            let secret: Vec<PathBuf> = cover.found().collect();
            let others: Vec<PathBuf> = trees.iter().filter(|one| *one != tree).cloned().collect();
            let left_out = LeftOut { hidden: &inner, secret: &secret, apart: &others };
            readable::files(tree, &left_out, &mut listed);
        }
        for paths in [&mut listed.readable, &mut listed.listable] {
            paths.sort();
            paths.dedup();
        }
        Ok(listed)
    }
}
