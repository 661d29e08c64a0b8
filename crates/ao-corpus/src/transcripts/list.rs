//! Where transcripts lie. Only names are read here, and no link is followed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ao_contract::Maker;
use ao_tree::{own_file, shown};
use serde::{Deserialize, Serialize};

use super::FILES_MAX;
use super::whose::Own;

/// The file in which newer versions of Gemini CLI write which project a folder is of.
const PROJECT_ROOT: &str = ".project_root";
const PROJECT_ROOT_BYTES_MAX: u64 = 4096;

/// The folder of one maker's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub maker: Maker,
    pub folder: PathBuf,
    /// As a person would name it, such as `~/.claude`.
    pub shown: String,
}

/// What the file system says of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) inode: u64,
    pub(super) modified_ns: i128,
    pub(super) changed_ns: i128,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A JSON object a line.
    Lines,
    /// One JSON object.
    Object,
    Memory,
}

/// One file that may tell something.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) maker: Maker,
    pub(super) form: Form,
    pub(super) path: PathBuf,
    /// As a person would name it.
    pub(super) shown: String,
    pub(super) stamp: Stamp,
    /// Where its place says whose it is: `None` if only the file itself does.
    pub(super) is_own: Option<bool>,
    /// What lies in one folder belongs together.
    pub(super) folder: String,
}

/// All of one maker's.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) files: Vec<Listed>,
    pub(super) left: Vec<(String, String)>,
    /// Whether the program has a folder for them at all.
    pub(super) is_there: bool,
}

pub(super) fn list(root: &Root, own: &Own) -> List {
    let mut list = List::default();
    match root.maker {
        Maker::Claude => claude(root, own, &mut list),
        Maker::Codex if ao_mutant::active("LOOP-24/codex-is-not-read") => {}
        Maker::Codex => codex(root, &mut list),
        Maker::Gemini => gemini(root, own, &mut list),
    }
    list.files.sort_by(|a, b| a.shown.cmp(&b.shown));
    list.left.sort();
    if list.files.len() > FILES_MAX {
        let more = list.files.len() - FILES_MAX;
        list.left.push((
            root.shown.clone(),
            format!("{more} more files than {FILES_MAX}, which were not looked at"),
        ));
        // The newest names are the last ones, at least where names are dates.
        list.files.drain(..more);
    }
    list
}

fn claude(root: &Root, own: &Own, list: &mut List) {
    for project in folders(&root.folder.join("projects"), list) {
        add(root, &project, Form::Lines, &|name| has_ending(name, "jsonl"), None, list);
        let slug = name_of(&project);
        // Two paths can have one slug: what the sessions beside it say decides, if there are any.
        let is_own = own.is_slug(&slug);
        add(
            root,
            &project.join("memory"),
            Form::Memory,
            &|name| has_ending(name, "md"),
            Some(is_own),
            list,
        );
    }
}

fn codex(root: &Root, list: &mut List) {
    let is_session = |name: &str| name.starts_with("rollout-") && has_ending(name, "jsonl");
    for year in folders(&root.folder.join("sessions"), list) {
        for month in folders(&year, list) {
            for day in folders(&month, list) {
                add(root, &day, Form::Lines, &is_session, None, list);
            }
        }
    }
    add(root, &root.folder.join("archived_sessions"), Form::Lines, &is_session, None, list);
    let memories = root.folder.join("memories");
    add(root, &memories, Form::Memory, &|name| has_ending(name, "md"), None, list);
    for inner in folders(&memories, list) {
        add(root, &inner, Form::Memory, &|name| has_ending(name, "md"), None, list);
    }
}

fn gemini(root: &Root, own: &Own, list: &mut List) {
    for project in folders(&root.folder.join("tmp"), list) {
        let is_own = own.is_hash(&name_of(&project))
            || small_text(&project.join(PROJECT_ROOT)).is_some_and(|path| own.holds(path.trim()));
        let chats = project.join("chats");
        add(root, &chats, Form::Object, &|name| has_ending(name, "json"), Some(is_own), list);
        add(root, &chats, Form::Lines, &|name| has_ending(name, "jsonl"), Some(is_own), list);
    }
}

/// By the very letters: no program writes them otherwise.
fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == ending)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The folders in a folder, by their names; links are none.
fn folders(path: &Path, list: &mut List) -> Vec<PathBuf> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    if !is_folder {
        list.left
            .push((shown(&path.to_string_lossy()), "is a symlink, and is not followed".into()));
        return Vec::new();
    }
    list.is_there = true;
    let entries = entries.flatten().take(FILES_MAX);
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn add(
    root: &Root,
    folder: &Path,
    form: Form,
    is_meant: &dyn Fn(&str) -> bool,
    is_own: Option<bool>,
    list: &mut List,
) {
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    list.is_there = true;
    for entry in entries.flatten().take(FILES_MAX) {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_meant(name)) else { continue };
        let path = folder.join(name);
        let beneath =
            path.strip_prefix(&root.folder).unwrap_or(&path).to_string_lossy().into_owned();
        let told = shown(&format!("{}/{beneath}", root.shown));
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if !found.is_file() {
            let what = if found.is_symlink() {
                "is a symlink, and is not followed"
            } else {
                "is no plain file"
            };
            list.left.push((told, what.to_owned()));
            continue;
        }
        list.files.push(Listed {
            maker: root.maker,
            form,
            shown: told,
            stamp: Stamp::of(&found),
            is_own,
            folder: folder.to_string_lossy().into_owned(),
            path,
        });
    }
}

impl Stamp {
    pub(super) fn of(found: &fs::Metadata) -> Self {
        let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            size: found.len(),
            inode: found.ino(),
            modified_ns: ns(found.mtime(), found.mtime_nsec()),
            changed_ns: ns(found.ctime(), found.ctime_nsec()),
        }
    }

    /// The day of the last change, in UTC.
    pub(super) fn day(&self) -> Option<String> {
        let at = jiff::Timestamp::from_nanosecond(self.modified_ns).ok()?;
        Some(at.strftime("%Y-%m-%d").to_string())
    }
}

/// A plain file that is small.
fn small_text(path: &Path) -> Option<String> {
    own_file::read_text(path, PROJECT_ROOT_BYTES_MAX).ok()
}
