//! The files that nights wrote, each with its hash: what a receipt says of a night is worth no more than the files
//! that it left. The list lies in the repository; its hash is in the head of the receipts, outside of it. A night
//! without a key writes none: nobody could vouch for it.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ao_contract::{NightFile, NightFiles};
use ao_tree::own_file;
use ao_vault::{out, redactor};

use super::custody::Custody;
use super::moved;

/// Beneath `overnight/`.
pub(super) const FILE: &str = "night-files.json";
/// Each night adds some thirty files: more is not from nights.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
const DEPTH_MAX: usize = 8;
const BUFFER_BYTES: usize = 64 * 1024;
/// Folders beneath `overnight/` in which only nights and the door write.
const FOLDERS: [&str; 3] = ["archive", "conflicts", "cassettes"];
const HISTORY: &str = "history.jsonl";
/// What a run changes while it goes on, and a person between two.
const CHANGING: [&str; 2] = [crate::budget::FILE, ao_runner::pause::FILE];
/// Files that only grow, by the end of their names.
const GROWING: [&str; 2] = [HISTORY, crate::output::LOG];

/// The list, while it is put right.
#[derive(Debug)]
pub(crate) struct FileList<'a> {
    root: &'a Path,
    state: &'a Path,
    list: NightFiles,
    /// What is to be told of the list itself.
    pub(crate) note: Option<String>,
}

impl<'a> FileList<'a> {
    /// The list as it was written last. One that is gone or was changed is begun anew, which the list itself says
    /// from then on.
    pub(crate) fn open(
        (root, state): (&'a Path, &'a Path),
        custody: &Custody,
        now: &str,
    ) -> io::Result<Self> {
        let expected = custody.head()?.map(|head| (head.files, head.files_next));
        let (files, next) = expected.unwrap_or_default();
        let read = read(state);
        let mut opened = Self { root, state, list: NightFiles::default(), note: None };
        match read {
            Ok(Some((list, hash))) if is_one_of(&hash, [files.as_ref(), next.as_ref()]) => {
                opened.list = list;
            }
            Ok(None) if files.is_none() && next.is_none() => {}
            _ => {
                opened.note = Some(format!(
                    "{FILE} is not as it was written: files of earlier nights may have been changed unseen"
                ));
                opened.list.lost.push(now.to_owned());
            }
        }
        Ok(opened)
    }

    /// The same, if it is known which one it was: of a repository that was moved, only the next night knows that.
    pub(crate) fn known(
        place: (&'a Path, &'a Path),
        custody: &Custody,
        now: &str,
    ) -> io::Result<Option<Self>> {
        let is_known = custody.head()?.is_some_and(|head| head.files.is_some());
        is_known.then(|| Self::open(place, custody, now)).transpose()
    }

    /// The files of runs whose report was moved into a folder of its own, where they are now. What was changed before
    /// stays changed, and what was taken away is forgotten.
    fn settle(&mut self) -> io::Result<()> {
        for (name, file) in std::mem::take(&mut self.list.files) {
            let (path, is_moved) = moved::place(self.root, &self.list.reports, &name);
            if path.symlink_metadata().is_err() {
                continue;
            }
            let is_as_written =
                is_moved && moved::is_as_written(self.root, &self.list.reports, &name, &file);
            let file = if is_as_written { hash_of(&path, None)? } else { file };
            self.list.files.insert(self.name(&path), file);
        }
        Ok(())
    }

    /// What a run, and a person between two, may have changed.
    fn add_changing(&mut self) -> io::Result<()> {
        CHANGING.iter().try_for_each(|name| self.add(&self.state.join(name)))
    }

    /// Everything that a run leaves, once it is written: `artifacts` are its own files and folders in `output`.
    pub(crate) fn add_run(
        &mut self,
        run_id: &str,
        output: &Path,
        artifacts: &[PathBuf],
    ) -> io::Result<()> {
        self.settle()?;
        for path in artifacts {
            self.walk(path, 0, Known::Anew)?;
        }
        for (name, _) in crate::docs::DOCS {
            self.add(&self.state.join("docs").join(name))?;
        }
        self.add(&self.state.join(ao_tree::IGNORED))?;
        self.add_changing()?;
        self.add_history()?;
        for folder in FOLDERS {
            self.walk(&self.state.join(folder), 0, Known::AsItIs)?;
        }
        if output.starts_with(self.state) {
            self.walk(output, 0, Known::AsItIs)?;
        }
        self.list.reports.insert(self.name(output), run_id.to_owned());
        Ok(())
    }

    /// A file as it is now; one that is not there is no file of a night.
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<()> {
        let name = self.name(path);
        match hash_of(path, None) {
            Ok(file) => drop(self.list.files.insert(name, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.list.files.remove(&name);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// It only grows: what was there is checked first, and what was changed stays so.
    pub(crate) fn add_history(&mut self) -> io::Result<()> {
        let path = self.state.join(HISTORY);
        let known = self.list.files.get(&self.name(&path));
        if known.is_none_or(|known| is_same(&path, known).unwrap_or(false)) {
            self.add(&path)?;
        }
        Ok(())
    }

    fn walk(&mut self, path: &Path, depth: usize, known: Known) -> io::Result<()> {
        let Ok(found) = path.symlink_metadata() else { return Ok(()) };
        if found.is_file() {
            let is_listed = self.list.files.contains_key(&self.name(path));
            return if is_listed && known == Known::AsItIs { Ok(()) } else { self.add(path) };
        }
        if !found.is_dir() || depth > DEPTH_MAX {
            return Ok(());
        }
        for entry in std::fs::read_dir(path)? {
            self.walk(&entry?.path(), depth + 1, known)?;
        }
        Ok(())
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Writes it, and says outside of the repository which one it is: before and after, so that whoever is killed in
    /// between leaves one that is known.
    pub(crate) fn keep(self, custody: &Custody) -> io::Result<()> {
        let bytes = redactor().json(&self.list)?;
        let hash = super::hash(bytes.get());
        custody.set_files(None, Some(&hash))?;
        out::replace_file(&self.state.join(FILE), &bytes)?;
        custody.set_files(Some(&hash), None)
    }
}

/// A person changed the rescues between two nights: the list has them as they are now.
pub fn relist(root: &Path, state: &Path, custody: &Custody, now: &str) -> io::Result<()> {
    let Some(mut list) = FileList::known((root, state), custody, now)? else { return Ok(()) };
    list.add_changing()?;
    list.keep(custody)
}

/// What becomes of a file that is in the list already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Anew,
    AsItIs,
}

fn is_one_of(hash: &str, known: [Option<&String>; 2]) -> bool {
    known.into_iter().flatten().any(|known| known == hash)
}

/// The list that lies in the repository, and its hash.
pub(super) fn read(state: &Path) -> io::Result<Option<(NightFiles, String)>> {
    let Some(bytes) = own_file::read_if_any(&state.join(FILE), BYTES_MAX)? else {
        return Ok(None);
    };
    let hash = super::hash(&bytes);
    let value: serde_json::Value = serde_json::from_slice(&bytes)?;
    let list = ao_contract::read(&value).map_err(io::Error::other)?;
    Ok(Some((list, hash)))
}

/// Whether a file may be another one while a run goes on.
pub(super) fn is_changing(name: &str) -> bool {
    CHANGING.iter().any(|changing| name.ends_with(&format!("overnight/{changing}")))
}

/// Whether a file has the bytes that were written. One that only grows may have more.
pub(super) fn is_same(path: &Path, file: &NightFile) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let grows = GROWING.contains(&name.as_ref());
    Ok(hash_of(path, grows.then_some(file.bytes))? == *file)
}

/// Of the first bytes, or of all.
pub(super) fn hash_of(path: &Path, first: Option<u64>) -> io::Result<NightFile> {
    let mut rest = own_file::open(path)?.take(first.unwrap_or(u64::MAX));
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match rest.read(&mut buffer)? {
            0 => break,
            count => drop(hasher.update(&buffer[..count])),
        }
    }
    Ok(NightFile { bytes: hasher.count(), hash: hasher.finalize().to_hex().to_string() })
}

/// For the folders of reports, by their names in the list.
pub(super) type Reports = BTreeMap<String, String>;
