//! The folder of a run's artifacts: where it may be, what an earlier run left in it, and writing into
//! it whole files only.

mod aside;

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ao_contract::Summary;
use ao_tree::own_file;
use ao_vault::scan::{value_without_keys, without_keys};
use ao_vault::{Ansi, Redacted, out, redactor};
use serde::Serialize;
use serde_json::Value;

pub(crate) const SUMMARY_JSON: &str = "summary.json";
pub(crate) const SUMMARY_MARKDOWN: &str = "summary.md";
pub(crate) const LOG: &str = "overnight.log";
const ITERATIONS: &str = "iterations";
/// The documents that the report of a dry run names: it writes nowhere else.
pub(crate) const CONTRACT: &str = "contract";
/// Everything of a run that lies in the folder itself, and moves away with it. The summary goes last:
/// where it is, a move that was cut off can be gone on with.
const ARTIFACTS: [&str; 13] = [
    SUMMARY_MARKDOWN,
    LOG,
    "close-loop.json",
    "metrics-health.json",
    "retrieval-bench.json",
    "briefing.json",
    "briefing-fallback.json",
    "packet-corroboration.json",
    "defrag",
    "council",
    "morning-packets",
    CONTRACT,
    SUMMARY_JSON,
];
/// What only the door or the run itself may write, beneath `.agents/`.
const OTHERS: [&str; 13] = [
    "learnings",
    "findings",
    "patterns",
    "knowledge",
    "rpi",
    "ao",
    "overnight/staging",
    "overnight/undo",
    "overnight/archive",
    "overnight/conflicts",
    "overnight/quarantine",
    "overnight/docs",
    "overnight/cassettes",
];
/// A larger summary is none.
const SUMMARY_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The folder of a run's artifacts.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) dir: PathBuf,
    /// Where it is said to be: a replay tells of the folder that the night had.
    pub(crate) told: PathBuf,
    /// Two runs never write into one folder, and a dry run is one that does not hold the run's lock.
    _lock: Option<Arc<File>>,
}

/// Why a folder cannot hold a report.
#[derive(Debug, thiserror::Error)]
#[error("the output directory {} {why}", .dir.display())]
pub struct BadOutput {
    pub dir: PathBuf,
    pub why: String,
    pub kind: Unfit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// No run can use it.
    Place,
    /// Another run does, now.
    Busy,
    /// There is no room in it.
    Full,
}

impl Output {
    /// Checks the place and makes the folder. `dir` is absolute, `root` has no symlink on the way.
    pub(crate) fn make(dir: &Path, root: &Path) -> Result<Self, BadOutput> {
        let bad = |why: String| BadOutput { dir: dir.to_owned(), why, kind: Unfit::Place };
        let Spot { there, rest, whole } = spot(dir, root)?;
        let agents = root.join(".agents");
        let failed = |doing: &str, error: &io::Error| BadOutput {
            kind: if is_full(error) { Unfit::Full } else { Unfit::Place },
            ..bad(format!("cannot be {doing}: {error}"))
        };
        if let Some(rest) = rest.to_str().filter(|rest| !rest.is_empty()) {
            ao_tree::make_folders(&there, rest).map_err(|error| failed("made", &error))?;
        }
        if !whole.is_dir() {
            return Err(bad("is not a folder".into()));
        }
        let lock = take(&whole).map_err(|kind| {
            let why = "is in use: another run writes its report there".to_owned();
            BadOutput { dir: dir.to_owned(), why, kind }
        })?;
        let output = Self { told: whole.clone(), dir: whole, _lock: lock };
        if let Some(name) = output.of_others(&agents) {
            return Err(bad(format!("holds {name}, and no run left it there")));
        }
        // Better now than after the night.
        let probe = output.dir.join(".ao-probe");
        out::replace_cache(&probe, &redactor().bytes(b"", Ansi::Keep))
            .and_then(|()| ao_tree::remove_cache(&probe))
            .map_err(|error| failed("written", &error))?;
        Ok(output)
    }

    /// The folder of a run that is over, to see to what it left.
    pub(crate) fn of_ended(dir: PathBuf) -> Self {
        Self { told: dir.clone(), dir, _lock: None }
    }

    /// A run writes its summary first: without one these are somebody's own files.
    fn of_others(&self, agents: &Path) -> Option<&'static str> {
        let is_own = self.is_there(SUMMARY_JSON) || self.dir.starts_with(agents.join("overnight"));
        ARTIFACTS.into_iter().find(|name| !is_own && self.is_there(name))
    }

    fn is_there(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A path as the summary names it.
    pub(crate) fn told_path(&self, name: &str) -> String {
        self.told.join(name).to_string_lossy().into_owned()
    }

    /// Writes one artifact whole; gives its path as the summary names it.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        self.put(name, &written_text(&String::from_utf8_lossy(bytes)))
    }

    /// The files and folders of a run, those that are there.
    pub(crate) fn artifacts(&self, run_id: &str) -> Vec<PathBuf> {
        ARTIFACTS.into_iter().chain([run_id]).map(|name| self.path(name)).collect()
    }

    pub(crate) fn write_json(&self, name: &str, value: &impl Serialize) -> io::Result<String> {
        self.write_fit(name, &fit(value)?)
    }

    /// The same of a value that is [`fit`] for it.
    pub(crate) fn write_fit(&self, name: &str, value: &Value) -> io::Result<String> {
        self.put(name, &redactor().json(value)?)
    }

    fn put(&self, name: &str, bytes: &Redacted<Vec<u8>>) -> io::Result<String> {
        let path = self.path(name);
        if let Some((folder, _)) = name.rsplit_once('/') {
            ao_tree::make_folders(&self.dir, folder)?;
        }
        out::replace_file(&path, bytes)?;
        Ok(self.told_path(name))
    }

    /// A line in the log of the run.
    pub(crate) fn log(&self, line: &str) -> io::Result<()> {
        let name = if ao_mutant::active("RUN-13/log-has-another-name") { "run.log" } else { LOG };
        out::append_line(&self.path(name), &redactor().text(&without_keys(line), Ansi::Strip))
    }

    pub(crate) fn iteration(run_id: &str, index: u32) -> String {
        let index = index - u32::from(ao_mutant::active("RUN-29/counted-from-zero"));
        format!("{run_id}/{ITERATIONS}/iter-{index}.json")
    }

    /// The summary that lies here, if there is one that can be read.
    pub(crate) fn summary(&self) -> Option<Summary> {
        self.summary_in("")
    }

    pub(crate) fn summary_in(&self, folder: &str) -> Option<Summary> {
        let value: Value = serde_json::from_slice(&self.summary_bytes(folder).ok()?).ok()?;
        let summary: Option<Summary> = ao_contract::read(&value).ok();
        summary.filter(|summary| {
            summary.metrics_health.is_some() || !ao_mutant::active("REP-06/next-run-needs-health")
        })
    }

    /// The bytes of the summary that lies in a folder of this one.
    pub(crate) fn summary_bytes(&self, folder: &str) -> io::Result<Vec<u8>> {
        own_file::read(&self.dir.join(folder).join(SUMMARY_JSON), SUMMARY_BYTES_MAX)
    }

    /// The folder of the records of a run's iterations.
    pub(crate) fn iterations(&self, run_id: &str) -> PathBuf {
        self.dir.join(run_id).join(ITERATIONS)
    }

    /// Where the companion of an iteration that was committed and flagged is.
    pub(crate) fn flag(run_id: &str, index: u32) -> String {
        let index = index + u32::from(ao_mutant::active("LOOP-16/of-the-next-iteration"));
        format!("{run_id}/{ITERATIONS}/committed-but-flagged.iter-{index}.marker")
    }
}

/// A text as it is written: without keys, and without what only a terminal acts upon.
pub(crate) fn written_text(text: &str) -> Redacted<Vec<u8>> {
    redactor().bytes(without_keys(text).as_bytes(), Ansi::Strip)
}

/// A value as a report holds it: without keys, and without what only a terminal acts upon. JSON spells that out,
/// and whoever takes a text out of it for a terminal has it again.
pub(crate) fn fit(value: &impl Serialize) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(value)?;
    if !ao_mutant::active("REP-18/keys-stay-in-json") {
        value_without_keys(&mut value);
    }
    if !ao_mutant::active("REP-18/escapes-stay-in-json") {
        redactor().strings(&mut value, Ansi::Strip);
    }
    Ok(value)
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Keeps other runs out of the folder for as long as this one lives; nothing is written for that.
fn take(dir: &Path) -> Result<Option<Arc<File>>, Unfit> {
    let Ok(folder) = own_file::open_folder(dir) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder.into())),
        Err(TryLockError::WouldBlock) => Err(Unfit::Busy),
        // A file system without locks: the lock of the run has to do.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// A place that a report may have: what is there of it, and what is not.
struct Spot {
    there: PathBuf,
    rest: PathBuf,
    whole: PathBuf,
}

/// Whether a run would take this place for its report. Only a look: nothing is made.
pub fn check_output(dir: &Path, root: &Path) -> Result<(), BadOutput> {
    let Spot { there, rest, whole } = spot(dir, root)?;
    let bad = |why: String| Err(BadOutput { dir: dir.to_owned(), why, kind: Unfit::Place });
    if !there.is_dir() {
        return bad("is not a folder".into());
    }
    let output = Output { told: whole.clone(), dir: whole, _lock: None };
    if rest.as_os_str().is_empty()
        && let Some(name) = output.of_others(&root.join(".agents"))
    {
        return bad(format!("holds {name}, and no run left it there"));
    }
    ao_tree::may_be_written(&there).or_else(|error| bad(format!("cannot be written: {error}")))
}

fn spot(dir: &Path, root: &Path) -> Result<Spot, BadOutput> {
    let bad = |why: String| BadOutput { dir: dir.to_owned(), why, kind: Unfit::Place };
    let dir = &resolved(dir).map_err(|error| bad(format!("has `..` after {error}")))?;
    let (there, rest) = existing(dir).map_err(|error| bad(format!("is not usable: {error}")))?;
    // Joined with nothing a path ends in a slash, and is then another text for the same folder.
    let whole = if rest.as_os_str().is_empty() { there.clone() } else { there.join(&rest) };
    let agents = root.join(".agents");
    if root.starts_with(&whole) || agents.starts_with(&whole) {
        return Err(bad("holds the repository itself".into()));
    }
    if whole == agents.join("overnight") {
        return Err(bad("is where the state of ao lies; name a folder in it".into()));
    }
    let others = OTHERS.iter().map(|other| agents.join(other));
    if let Some(other) = others.chain([root.join(".git")]).find(|other| whole.starts_with(other)) {
        let other = other.strip_prefix(root).unwrap_or(&other).display().to_string();
        return Err(bad(format!("lies in {other}, which a run does not write to")));
    }
    // A symlink within the repository could lead anywhere, and be changed on the way.
    if dir.starts_with(root) && whole != *dir || is_symlink(dir) {
        return Err(bad("is a symlink, or has one on the way".into()));
    }
    Ok(Spot { there, rest, whole })
}

fn is_symlink(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

/// A path without `..`: each leads to the parent of what the path before it really is. The error
/// names that path.
fn resolved(dir: &Path) -> Result<PathBuf, String> {
    let mut whole = PathBuf::new();
    for part in dir.components() {
        if part == Component::ParentDir {
            let named = whole.display().to_string();
            whole = whole.canonicalize().map_err(|error| format!("{named}: {error}"))?;
            if !whole.is_dir() {
                return Err(format!("{named}, which is not a folder"));
            }
            whole.pop();
        } else {
            whole.push(part);
        }
    }
    Ok(whole)
}

/// The part of a path that is there, with no symlink on the way, and the rest.
fn existing(path: &Path) -> io::Result<(PathBuf, PathBuf)> {
    for there in path.ancestors() {
        match there.canonicalize() {
            Ok(found) => {
                let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
                return Ok((found, rest.to_owned()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_symlink(there) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}
