//! Finding a program by its name, where a repository cannot plant one.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// Nobody has more; whoever does has a mistake in a loop.
const ENTRIES_MAX: usize = 1024;
const EXECUTABLE: u32 = 0o111;

/// There is no such program where one is looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} was not found on PATH{}", .passed_over.as_ref().map_or(String::new(), |path| {
    format!(" ({} is not used: it belongs to the repository)", path.display())
}))]
pub struct NotFound {
    pub name: String,
    /// One that is there, and was not taken because it lies in the repository.
    pub passed_over: Option<PathBuf>,
}

/// The directories of a `PATH` in which programs may be looked for: absolute ones that are not in
/// the repository. An empty entry means the current directory, and so none.
///
/// A program that starts others by name should be given this as its own `PATH`.
pub fn trusted_path(path: &OsStr, repository: &Path) -> OsString {
    let outside = entries(path).filter(|entry| !is_inside(entry, repository));
    // Entries that came out of a PATH have no colon in them.
    std::env::join_paths(outside).unwrap_or_default()
}

/// The absolute path of a program: the first of this name on a `PATH` that is a file, can be
/// executed, and lies outside of the repository, both as it is called and where it really is. An absolute
/// path is looked at alone, by the same rules.
pub fn find_program(name: &str, path: &OsStr, repository: &Path) -> Result<PathBuf, NotFound> {
    let mut passed_over = None;
    let is_name =
        Path::new(name).components().collect::<Vec<_>>() == [Component::Normal(OsStr::new(name))];
    let whole = Some(PathBuf::from(name)).filter(|whole| whole.is_absolute());
    let named = entries(path).map(|entry| entry.join(name)).filter(|_| is_name);
    for found in whole.into_iter().chain(named) {
        let is_program = std::fs::metadata(&found)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & EXECUTABLE != 0);
        if !is_program {
            continue;
        }
        if !is_inside(&found, repository) {
            return Ok(found);
        }
        passed_over.get_or_insert(found);
    }
    Err(NotFound { name: name.to_owned(), passed_over })
}

fn entries(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).take(ENTRIES_MAX).filter(|entry| entry.is_absolute())
}

/// Whether a path leads into the repository, as it is written or with all links followed. What
/// cannot be followed is taken as written.
fn is_inside(path: &Path, repository: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(repository);
    let written = without_dots(path);
    // The name itself may be a link out of the repository, or into it.
    let by_folder = path.parent().map(real);
    [Some(written), by_folder, Some(real(path))]
        .into_iter()
        .flatten()
        .any(|path| path.starts_with(&root) || path.starts_with(repository))
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}
