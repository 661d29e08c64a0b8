//! Repositories that a program makes in a folder of the user's.
//!
//! Whoever goes into such a folder later has git read its configuration, often by a prompt alone, and
//! the configuration names programs that git then runs (`core.fsmonitor`, hooks, filters). So the
//! name `.git` at the top of a writable folder is taken before the start, and what became a
//! repository elsewhere is moved to a side folder when everything in the cell has ended. What was
//! one before the start is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ao_tree::{Disk, Fs, Kind, Name};
use serde::Serialize;

/// What git looks for.
const GIT: &str = ".git";
/// A folder in which git finds the first and either the next two or the last is a repository,
/// whatever its name is.
const HEAD: &str = "head";
const PARTS: [&str; 2] = ["objects", "refs"];
const SHARED: &str = "commondir";
/// On file systems of Windows, `.git` as others may know it.
const SHORT_NAME: &str = "git~1";
/// Of an empty folder that only takes the name: nobody may write in it, and it has the bit by which a
/// later run knows it.
const HELD_MODE: u32 = 0o1555;
/// Of these bits the last alone is set, whatever the umask took away.
const HELD_BITS: (u32, u32) = (0o1222, 0o1000);
/// Where repositories are moved to, in the writable folder itself: a rename needs the same file system.
const SIDE: &str = "ao-set-aside-";
const SIDES_MAX: u32 = 1000;
const SIDE_MODE: u32 = 0o700;
/// More is not looked at, and that is said.
const ENTRIES_MAX: usize = 2_000_000;
/// The kernel knows no longer path, and git cannot be started beneath one.
const PATH_BYTES_MAX: usize = 4096;

/// How git would find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlantedKind {
    /// A folder with the name `.git`.
    GitFolder,
    /// A file or link with that name, which names a repository elsewhere.
    GitFile,
    /// A folder of any name with the layout of a repository.
    BareLayout,
}

/// A repository that was not there before the start, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SetAside {
    pub path: PathBuf,
    pub kind: PlantedKind,
    /// Of a layout only the entry that makes it one is moved.
    pub to: PathBuf,
}

/// A place that could not be looked through, or a repository that could not be moved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unswept {
    pub path: PathBuf,
    pub why: String,
}

/// Whether this is the folder that takes the name: of a run that goes on, or of one that was killed.
pub(super) fn is_left_over(path: &Path) -> bool {
    let (bits, set) = HELD_BITS;
    std::fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.permissions().mode() & bits == set)
        && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Whether git takes this name for `.git` on some file system.
pub(super) fn is_git_name(name: &OsStr) -> bool {
    // Some file systems leave out what cannot be seen, and dots and blanks at the end.
    let is_ignored = |letter: &char| matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = name.to_string_lossy().chars().filter(|one| !is_ignored(one)).collect();
    let seen = seen.to_ascii_lowercase();
    let seen = seen.trim_end_matches(['.', ' ']);
    seen == GIT || seen == SHORT_NAME
}

/// Whether a folder with these names in it is a repository.
pub(super) fn is_layout<'a>(names: impl Iterator<Item = &'a OsStr>) -> bool {
    let names: BTreeSet<String> = names.filter_map(marker).collect();
    let has = |name: &str| names.contains(name);
    has(HEAD) && (PARTS.iter().all(|part| has(part)) || has(SHARED))
}

/// A name that belongs to the layout of a repository, in small letters.
fn marker(name: &OsStr) -> Option<String> {
    let name = name.to_str()?.to_ascii_lowercase();
    let is_one = [HEAD, PARTS[0], PARTS[1], SHARED].contains(&name.as_str());
    is_one.then_some(name)
}

/// A writable folder, and what of repositories was in it before the start.
#[derive(Debug)]
pub(super) struct Watched {
    root: PathBuf,
    disk: Disk,
    repositories: BTreeSet<PathBuf>,
    markers: BTreeMap<PathBuf, BTreeSet<OsString>>,
}

/// What a look over a folder found.
#[derive(Debug, Default)]
struct Look {
    found: Vec<(PathBuf, PlantedKind)>,
    markers: BTreeMap<PathBuf, BTreeSet<OsString>>,
    unswept: Vec<Unswept>,
}

impl Watched {
    /// Nothing of a file: a repository needs a folder.
    pub(super) fn begin(root: &Path) -> io::Result<Option<Self>> {
        if !std::fs::symlink_metadata(root)?.is_dir() {
            return Ok(None);
        }
        let disk = Disk::open(root)?;
        let mut watched = Self {
            root: root.to_owned(),
            disk,
            repositories: BTreeSet::new(),
            markers: BTreeMap::new(),
        };
        let look = watched.look();
        watched.repositories = look.found.into_iter().map(|(path, _)| path).collect();
        if is_left_over(&root.join(GIT)) {
            watched.repositories.remove(Path::new(GIT));
        }
        watched.markers = look.markers;
        Ok(Some(watched))
    }

    /// Takes the name at the top, so that a mount can be laid on it. Where that cannot be done, as on
    /// a file system that is full, the look at the end is what is left.
    pub(super) fn hold(&self) -> Option<PathBuf> {
        if ao_mutant::active("SCO-03/git-at-the-top-is-not-held") {
            return None;
        }
        let place = self.root.join(GIT);
        let made = self.disk.make_dir(&self.disk.top(), OsStr::new(GIT), HELD_MODE);
        (made.is_ok() || is_left_over(&place)).then_some(place)
    }

    /// Gives the name back. A folder that is not as we made it stays, and is looked at like any other.
    pub(super) fn let_go(&self) {
        let (top, name) = (self.disk.top(), OsStr::new(GIT));
        if is_left_over(&self.root.join(GIT)) {
            // It is removed only if nothing is in it by now.
            let _ = self.disk.remove_dir(&top, name);
        }
    }

    /// Moves every repository that was not there before. Nothing of the cell is alive.
    pub(super) fn sweep(&self) -> (Vec<SetAside>, Vec<Unswept>) {
        let mut look = self.look();
        let is_old = |path: &Path| path.ancestors().any(|above| self.repositories.contains(above));
        look.found.retain(|(path, _)| !is_old(path));
        if ao_mutant::active("SCO-03/planted-repositories-stay") {
            look.found.clear();
        }
        // From the deepest: what is in a folder that is moved is no repository any more by then.
        look.found.sort_by_key(|(path, kind)| {
            let depth = path.components().count() + usize::from(*kind == PlantedKind::BareLayout);
            std::cmp::Reverse((depth, path.clone()))
        });
        let mut moved = Vec::new();
        let mut side = None;
        for (path, kind) in look.found {
            let entry = match kind {
                PlantedKind::BareLayout => self.newest_marker(&path, &look.markers),
                _ => Some(path.clone()),
            };
            let to = entry.ok_or_else(|| io::Error::other("nothing in it is new"));
            let to = to.and_then(|entry| self.put_aside(&entry, &mut side, moved.len() + 1));
            let path = self.absolute(&path);
            match to {
                Ok(to) => moved.push(SetAside { path, kind, to }),
                Err(error) => look.unswept.push(Unswept { path, why: error.to_string() }),
            }
        }
        let _ = self.disk.sync_dir(&self.disk.top());
        moved.sort();
        (moved, look.unswept)
    }

    /// The entry that made a folder a repository: none of these was there before, or it was one then.
    fn newest_marker(
        &self,
        folder: &Path,
        now: &BTreeMap<PathBuf, BTreeSet<OsString>>,
    ) -> Option<PathBuf> {
        let before = self.markers.get(folder);
        let is_new = |name: &&OsString| before.is_none_or(|before| !before.contains(*name));
        let new: Vec<&OsString> = now.get(folder)?.iter().filter(is_new).collect();
        let head = new.iter().find(|name| marker(name).as_deref() == Some(HEAD));
        head.or(new.first()).map(|name| folder.join(name))
    }

    fn put_aside(
        &self,
        entry: &Path,
        side: &mut Option<OsString>,
        nth: usize,
    ) -> io::Result<PathBuf> {
        let top = self.disk.top();
        let name = entry.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let side = match side {
            Some(side) => side.clone(),
            None => side.insert(self.make_side()?).clone(),
        };
        let folder = self.disk.open_dir(&top, &side)?;
        let from = self.open(entry.parent().unwrap_or(Path::new("")))?;
        // No name that git or an editor knows.
        let plain = name.to_string_lossy().trim_start_matches('.').to_owned();
        let to = OsString::from(format!("{nth}-{plain}"));
        self.disk.rename_new((&from, name), (&folder, &to))?;
        self.disk.sync_dir(&folder)?;
        self.disk.sync_dir(&from)?;
        Ok(self.root.join(side).join(to))
    }

    fn make_side(&self) -> io::Result<OsString> {
        let top = self.disk.top();
        for nth in 1..=SIDES_MAX {
            let name = OsString::from(format!("{SIDE}{nth}"));
            match self.disk.make_dir(&top, &name, SIDE_MODE) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| name),
            }
        }
        Err(io::Error::other(format!("there are {SIDES_MAX} side folders already")))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        // Joined with nothing it would end in a slash.
        if path.as_os_str().is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    /// A folder beneath the root, through no link.
    fn open(&self, path: &Path) -> io::Result<<Disk as Fs>::Dir> {
        path.iter().try_fold(self.disk.top(), |folder, name| self.disk.open_dir(&folder, name))
    }

    fn look(&self) -> Look {
        let mut look = Look::default();
        let mut entries = 0;
        let mut waiting = vec![PathBuf::new()];
        while let Some(path) = waiting.pop() {
            let unswept = |why: String| Unswept { path: self.absolute(&path), why };
            if path.as_os_str().len() > PATH_BYTES_MAX {
                look.unswept.push(unswept("the path is too long".to_owned()));
                continue;
            }
            let names = match self.open(&path).and_then(|folder| self.disk.names(&folder)) {
                Ok(names) => names,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    look.unswept.push(unswept(error.to_string()));
                    continue;
                }
            };
            entries += names.len();
            if entries > ENTRIES_MAX {
                look.unswept.push(unswept(format!("there are more than {ENTRIES_MAX} entries")));
                return look;
            }
            for Name { name, kind, .. } in &names {
                if is_git_name(name) {
                    let is_folder = *kind == Kind::Dir;
                    let kind =
                        if is_folder { PlantedKind::GitFolder } else { PlantedKind::GitFile };
                    look.found.push((path.join(name), kind));
                }
                if *kind == Kind::Dir {
                    waiting.push(path.join(name));
                }
            }
            if is_layout(names.iter().map(|one| one.name.as_os_str())) {
                look.found.push((path.clone(), PlantedKind::BareLayout));
            }
            let markers: BTreeSet<OsString> = names
                .into_iter()
                .map(|one| one.name)
                .filter(|name| marker(name).is_some())
                .collect();
            if !markers.is_empty() {
                look.markers.insert(path, markers);
            }
        }
        look
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_are_those_that_some_file_system_takes_for_git() {
        for name in [".git", ".GIT", ".Git", ".git ", ".git.", "git~1", ".g\u{200c}it"] {
            assert!(is_git_name(OsStr::new(name)), "{name:?}");
        }
        for name in [".gitignore", "git", ".git2", ".github", "a.git"] {
            assert!(!is_git_name(OsStr::new(name)), "{name:?}");
        }
    }

    #[test]
    fn what_was_there_stays_and_what_came_goes() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("old/.git/refs")).unwrap();
        fs::create_dir_all(at("half/refs")).unwrap();
        fs::write(at("half/HEAD"), "mine\n").unwrap();
        let watched = Watched::begin(dir.path()).unwrap().unwrap();
        assert_eq!(watched.hold(), Some(at(".git")));
        // One that was killed leaves the name taken, and the next one gives it back.
        drop(watched);
        let watched = Watched::begin(dir.path()).unwrap().unwrap();
        assert_eq!(watched.hold(), Some(at(".git")));
        for folder in
            ["new/.git/objects", "new/.git/refs", "bare/objects", "bare/refs", "half/objects"]
        {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for head in ["new/.git/HEAD", "bare/HEAD", "old/.git/HEAD", "file.txt"] {
            fs::write(at(head), "ref: refs/heads/main\n").unwrap();
        }
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/.GIT"), "gitdir: ../bare\n").unwrap();
        watched.let_go();
        let (moved, unswept) = watched.sweep();
        assert_eq!(unswept, []);
        let mut kinds: Vec<_> = moved
            .iter()
            .map(|one| (one.path.strip_prefix(dir.path()).unwrap().to_str().unwrap(), one.kind))
            .collect();
        kinds.sort();
        assert_eq!(
            kinds,
            [
                ("bare", PlantedKind::BareLayout),
                ("half", PlantedKind::BareLayout),
                ("new/.git", PlantedKind::GitFolder),
                ("new/.git", PlantedKind::BareLayout),
                ("sub/.GIT", PlantedKind::GitFile),
            ]
        );
        assert!(moved.iter().all(|one| fs::symlink_metadata(&one.to).is_ok()), "{moved:?}");
        assert!(at("old/.git/HEAD").exists() && at("half/HEAD").exists());
        assert!(!at(".git").exists() && !at("new/.git").exists() && !at("bare/HEAD").exists());
        // Nothing is one any more, also not where it was put.
        let (again, _) = watched.sweep();
        assert_eq!(again, []);
    }
}
