//! Which paths may be made writable for a program.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use super::planted::is_left_over;

/// Where the user lives, and which folders of a repository are nobody's to write.
#[derive(Debug, Clone, Default)]
pub struct Place {
    pub homes: Vec<PathBuf>,
    /// The folder of the knowledge, such as `.agents`.
    pub knowledge: String,
    /// What lies in it and is held by the engine.
    pub held: Vec<String>,
}

/// A path that is not made writable, and the rule that says so.
#[derive(Debug, thiserror::Error)]
pub enum PathRefusal {
    #[error("{} cannot be read: {source}", path.display())]
    Missing { path: PathBuf, source: io::Error },
    #[error("{} is a symlink", .0.display())]
    Symlink(PathBuf),
    #[error("{} is the whole machine", .0.display())]
    Root(PathBuf),
    #[error("{} is your home, or above it", .0.display())]
    Home(PathBuf),
    #[error("{} belongs to git", .0.display())]
    Git(PathBuf),
    #[error("{} is held by ao", .0.display())]
    Held(PathBuf),
    #[error("{} belongs to the system", .0.display())]
    System(PathBuf),
    #[error("{} is neither a folder nor a file with one name", .0.display())]
    Kind(PathBuf),
}

impl PathRefusal {
    /// A word for it that stays the same.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "path-missing",
            Self::Symlink(_) => "path-symlink",
            Self::Root(_) => "path-root",
            Self::Home(_) => "path-home",
            Self::Git(_) => "path-git",
            Self::Held(_) => "path-held",
            Self::System(_) => "path-system",
            Self::Kind(_) => "path-kind",
        }
    }
}

/// The kernel's, or replaced in a cell, or what the machine runs and is set up by: neither it nor
/// anything beneath or above it.
const SYSTEM: [&str; 17] = [
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/boot",
    "/etc",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
];
const GIT: &str = ".git";

/// Says where a path really is, if a program may write there.
pub fn admit(path: &Path, place: &Place) -> Result<PathBuf, PathRefusal> {
    let missing = |source| PathRefusal::Missing { path: path.to_owned(), source };
    let found = fs::symlink_metadata(path).map_err(missing)?;
    if found.is_symlink() {
        return Err(PathRefusal::Symlink(path.to_owned()));
    }
    let real = path.canonicalize().map_err(missing)?;
    let refuse = |refusal: fn(PathBuf) -> PathRefusal| Err(refusal(real.clone()));
    if real == Path::new("/") {
        return refuse(PathRefusal::Root);
    }
    let mut homes = place.homes.iter().filter_map(|home| home.canonicalize().ok());
    if homes.any(|home| home.starts_with(&real)) {
        return refuse(PathRefusal::Home);
    }
    let is_system = |system: &Path| real.starts_with(system) || system.starts_with(&real);
    if SYSTEM.iter().any(|system| is_system(Path::new(system))) {
        return refuse(PathRefusal::System);
    }
    let names: Vec<_> = real
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    if names.contains(&GIT) || (holds(&real, GIT) && !is_left_over(&real.join(GIT))) {
        return refuse(PathRefusal::Git);
    }
    let in_knowledge = names.iter().position(|name| *name == place.knowledge);
    let is_held = in_knowledge.is_some_and(|at| {
        names.get(at + 1).is_none_or(|name| place.held.iter().any(|held| held == name))
    });
    if is_held || holds(&real, &place.knowledge) {
        return refuse(PathRefusal::Held);
    }
    let has_one_name = found.is_file() && found.nlink() == 1;
    if !found.is_dir() && !has_one_name {
        return refuse(PathRefusal::Kind);
    }
    Ok(real)
}

fn holds(folder: &Path, name: &str) -> bool {
    !name.is_empty() && fs::symlink_metadata(folder.join(name)).is_ok()
}

/// Whether writing a file would write somewhere else too, or to somebody.
pub(super) fn leads_away(found: &fs::Metadata) -> bool {
    let kind = found.file_type();
    (kind.is_file() && found.nlink() > 1)
        || kind.is_fifo()
        || kind.is_socket()
        || kind.is_block_device()
        || kind.is_char_device()
}
