//! Other repositories' corpora: where they are, and which of them is this one's own.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ao_tree::{own_file, shown};

const AGENTS: &str = ".agents";
/// Repositories are looked for so deep beneath a folder that is none itself.
const DEPTH_MAX: usize = 4;
const FOLDERS_MAX: usize = 20_000;
const GIT_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Folders whose contents were made for a test.
const FIXTURES: [&str; 10] = [
    "test",
    "tests",
    "testdata",
    "test-data",
    "test_data",
    "__tests__",
    "fixture",
    "fixtures",
    "__fixtures__",
    "node_modules",
];
/// Folders of a repository whose contents somebody else made, or a program.
const FOREIGN: [&str; 6] = ["spec", "vendor", "third_party", "target", "dist", "build"];

/// Whether a folder of this name holds nothing that anybody learned.
pub(super) fn is_fixture(name: &str) -> bool {
    FIXTURES.contains(&name.to_lowercase().as_str())
}

/// The same for a folder of a repository.
fn is_passed_over(name: &str) -> bool {
    is_fixture(name) || FOREIGN.contains(&name.to_lowercase().as_str())
}

/// This repository, by everything that tells it from others.
#[derive(Debug)]
pub struct Own {
    root: PathBuf,
    agents: Option<(u64, u64)>,
    git: Option<PathBuf>,
}

/// A corpus that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name of its repository.
    pub repo: String,
    /// As it was asked for.
    pub shown: String,
    pub agents: PathBuf,
    pub form: SourceForm,
    /// Why it is not looked at, if so.
    pub refused: Option<String>,
    /// The person named it as their own: what is learned there needs no word of theirs.
    pub is_own: bool,
}

/// What lies at a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceForm {
    /// The corpus of a repository.
    Corpus,
    /// Drafts of a model, in this folder of it: inference, which nobody has looked at.
    Drafts(String),
}

impl Source {
    /// Where an entry was there, by the path that it is read under.
    pub(super) fn original(&self, path: &str) -> String {
        match &self.form {
            SourceForm::Corpus => format!(".agents/{path}"),
            SourceForm::Drafts(folder) => {
                format!("{folder}{}", path.strip_prefix("learnings").unwrap_or(path))
            }
        }
    }
}

/// The drafts in a folder beneath `above`, if there are any.
pub fn drafts(above: &Path, folder: &str, name: &str) -> Option<Source> {
    let place = above.join(folder);
    let found = fs::symlink_metadata(&place).ok()?;
    let refused = if found.is_dir() {
        match fs::read_dir(&place).map(|mut entries| entries.next().is_none()) {
            Ok(true) => return None,
            Ok(false) => None,
            Err(error) => Some(format!("its drafts cannot be read: {error}")),
        }
    } else {
        Some("where its drafts should be is no folder, and nothing is followed".to_owned())
    };
    Some(Source {
        repo: name.to_owned(),
        shown: shown(&place.to_string_lossy()),
        agents: above.to_owned(),
        form: SourceForm::Drafts(folder.to_owned()),
        refused,
        is_own: false,
    })
}

impl Own {
    pub fn of(root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Self { agents: identity(&root.join(AGENTS)), git: git_dir(&root), root }
    }

    /// Why a corpus is this repository's own, if it is: by its place, by being the same folder
    /// under any name, or by being another checkout of the same repository.
    fn claims(&self, repo: &Path) -> Option<String> {
        let same_folder = self.agents.is_some() && identity(&repo.join(AGENTS)) == self.agents;
        if same_folder || repo == self.root {
            return Some("it is this repository's own corpus".into());
        }
        let git = git_dir(repo);
        // A repository of its own may lie inside of this one.
        if repo.starts_with(&self.root) && git == self.git {
            return Some("it lies inside this repository".into());
        }
        let same_git = self.git.is_some() && git == self.git;
        same_git.then(|| "it is another checkout of this repository".into())
    }
}

/// The corpora beneath a folder: its own, or else those of the repositories in it.
pub fn find(folder: &Path, own: &Own) -> Result<Vec<Source>, String> {
    let asked = shown(&folder.to_string_lossy());
    let folder = folder.canonicalize().map_err(|error| format!("{asked}: {error}"))?;
    let is_corpus = folder.file_name().is_some_and(|name| name == AGENTS);
    let folder = if is_corpus { folder.parent().unwrap_or(&folder).to_owned() } else { folder };
    if !folder.is_dir() {
        return Err(format!("{asked}: it is not a folder"));
    }
    let mut repos = Vec::new();
    if fs::symlink_metadata(folder.join(AGENTS)).is_ok() {
        repos.push(folder);
    } else {
        let mut left = FOLDERS_MAX;
        walk(&folder, DEPTH_MAX, &mut left, &mut repos);
        repos.sort();
    }
    Ok(repos.iter().map(|repo| source(repo, &asked, own)).collect())
}

/// A place that was named and cannot be looked into, for this reason.
pub fn missing(place: &Path, why: String) -> Source {
    let name = place.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    Source {
        repo: shown(&name),
        shown: shown(&place.to_string_lossy()),
        agents: place.join(AGENTS),
        form: SourceForm::Corpus,
        refused: Some(why),
        is_own: false,
    }
}

/// The corpus at a place that is not a repository, such as a user's own.
pub fn hub(agents: &Path, own: &Own) -> Source {
    let above = agents.parent().unwrap_or(agents);
    let above = above.canonicalize().unwrap_or_else(|_| above.to_owned());
    let found = source(&above, &shown(&agents.to_string_lossy()), own);
    Source { repo: "global".into(), ..found }
}

fn source(repo: &Path, asked: &str, own: &Own) -> Source {
    let agents = repo.join(AGENTS);
    let name =
        repo.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let refused = own.claims(repo).or_else(|| fixture_of(repo, own)).or_else(|| unfit(&agents));
    let form = SourceForm::Corpus;
    Source { repo: shown(&name), shown: asked.to_owned(), agents, form, refused, is_own: false }
}

fn unfit(agents: &Path) -> Option<String> {
    match fs::symlink_metadata(agents) {
        Ok(found) if found.is_symlink() => {
            Some("its .agents is a symlink, and is not followed".into())
        }
        Ok(found) if found.is_dir() => None,
        Ok(_) => Some("its .agents is not a folder".into()),
        Err(error) => Some(format!("its .agents cannot be read: {error}")),
    }
}

/// A repository inside another one's test data is test data.
fn fixture_of(repo: &Path, own: &Own) -> Option<String> {
    let is_repo = |above: &&Path| **above == *own.root || above.join(".git").exists();
    let around = repo.ancestors().skip(1).find(is_repo)?;
    let inner = repo.strip_prefix(around).ok()?;
    let name = inner.iter().filter_map(|part| part.to_str()).find(|name| is_passed_over(name))?;
    Some(format!("it is in a folder called {name} of a repository"))
}

fn walk(folder: &Path, depth: usize, left: &mut usize, repos: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Neither followed nor looked into: links, hidden folders, test data.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || name.starts_with('.') || is_passed_over(&name) || *left == 0 {
            continue;
        }
        *left -= 1;
        let path = entry.path();
        if fs::symlink_metadata(path.join(AGENTS)).is_ok() {
            repos.push(path);
        } else if depth > 1 {
            walk(&path, depth - 1, left, repos);
        }
    }
}

/// The same for one folder under all of its names.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// The git directory that all checkouts of a repository share.
fn git_dir(repo: &Path) -> Option<PathBuf> {
    let git = repo.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    // A worktree's: a file that says where its part of the repository is.
    let text = small_text(&git)?;
    let named = git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let common = small_text(&named.join("commondir"));
    let shared = common.map_or_else(|| named.clone(), |common| named.join(common.trim()));
    shared.canonicalize().ok()
}

fn small_text(path: &Path) -> Option<String> {
    own_file::read_named_text(path, GIT_FILE_BYTES_MAX).ok()
}
