//! What an earlier run left makes room for the next one, and at every moment each file that a summary
//! names is there: what moves is in both places before a summary tells of the new one, and leaves the
//! old one after that. Cut off anywhere, it is gone on with by the next start.

use std::io;
use std::path::Path;

use ao_tree::own_file;
use serde_json::Value;

use super::{ARTIFACTS, LOG, Output, SUMMARY_JSON, SUMMARY_MARKDOWN};
use crate::artifacts::PACKETS_DIR;
use crate::iteration::fault;
use crate::report::{self, Run as Life};
use crate::verdict::Verdicts;

/// What could not be read has no name of its own.
const UNREADABLE: &str = "unreadable";
/// Beneath the folder of the run.
const BEFORE_RESUME: &str = "before-resume";

/// No artifact of a run is larger.
const ARTIFACT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

impl Output {
    /// The folder for what a run left that is now gone on with: nothing that lies here is in it yet.
    pub(crate) fn before_resume(&self, run_id: &str) -> String {
        let here: Vec<&str> = ARTIFACTS.into_iter().filter(|name| self.is_there(name)).collect();
        self.free_folder(&here, &format!("{run_id}/{BEFORE_RESUME}"))
    }

    /// Begins a new log: the entries of steps that are made again would tell of steps that this time are not
    /// done. At every moment there is a log, as the summary says.
    pub(crate) fn set_log_aside(&self, folder: &str) -> io::Result<()> {
        if !is_file(&self.path(LOG)) || ao_mutant::active("RUN-45/the-old-log-stays") {
            return Ok(());
        }
        self.copy(LOG, folder)?;
        self.write(LOG, b"").map(drop)
    }

    /// Moves what a run left that is now gone on with out of the way: a step that does not succeed
    /// this time has no artifact. Its summary must no longer name them.
    pub(crate) fn set_aside(&self, folder: &str) -> io::Result<()> {
        fault("before-set-aside").map_err(io::Error::other)?;
        let stays = [SUMMARY_JSON, LOG];
        let is_moved = |name: &&str| !stays.contains(name) && self.is_there(name);
        let here: Vec<&str> = ARTIFACTS.into_iter().filter(is_moved).collect();
        self.rename_all(&here, folder)?;
        fault("set-aside").map_err(io::Error::other)
    }

    /// Moves what an earlier run left here into a folder of its own. What is not a run's stays.
    pub(crate) fn clear(&self) -> io::Result<Option<String>> {
        let is_left = |name: &str| name == "council" && ao_mutant::active("RUN-42/council-stays");
        let is_moved = |name: &&str| self.is_there(name) && !is_left(name);
        let here: Vec<&str> = ARTIFACTS.into_iter().filter(is_moved).collect();
        let summary =
            self.summary().filter(|summary| ao_contract::check_id(&summary.run_id).is_ok());
        let Some(summary) = summary else {
            // No summary names them.
            return self.rename_all(&here, UNREADABLE);
        };
        let folder = self.folder_of(&summary.run_id);
        ao_tree::make_folders(&self.dir, &folder)?;
        let files = self.files(&here)?;
        let mut steps = 0;
        let mut step = || {
            steps += 1;
            fault(&format!("move-{steps}")).map_err(io::Error::other)
        };
        for file in &files {
            step()?;
            self.copy(file, &folder)?;
        }
        step()?;
        let mut told = self.moved(serde_json::to_value(&summary)?, &folder);
        told["output_dir"] = self.path(&folder).to_string_lossy().into();
        // For people, from the same words.
        if let Ok(summary) = ao_contract::read(&told) {
            let text = report::markdown(&summary, &Verdicts::new(), Life::Over);
            self.write(&format!("{folder}/{SUMMARY_MARKDOWN}"), text.as_bytes())?;
        }
        if ao_mutant::active("RUN-30/files-go-before-the-summary") {
            self.leave(&here, &files, &folder)?;
        }
        step()?;
        self.write_json(&format!("{folder}/{SUMMARY_JSON}"), &told)?;
        step()?;
        self.write_json(SUMMARY_JSON, &told)?;
        step()?;
        self.leave(&here, &files, &folder)?;
        step()?;
        // Last: where it is, a move that was cut off is gone on with.
        ao_tree::remove_all(&self.dir, &[SUMMARY_JSON.to_owned()])?;
        Ok(Some(folder))
    }

    /// The files of these artifacts but the summary, by their names in this folder.
    fn files(&self, artifacts: &[&str]) -> io::Result<Vec<String>> {
        let mut files = Vec::new();
        for name in artifacts.iter().filter(|name| **name != SUMMARY_JSON) {
            if !self.path(name).symlink_metadata()?.is_dir() {
                files.push((*name).to_owned());
                continue;
            }
            for inner in std::fs::read_dir(self.path(name))? {
                let inner = inner?.file_name();
                files.extend(inner.to_str().map(|inner| format!("{name}/{inner}")));
            }
        }
        files.retain(|file| is_file(&self.path(file)));
        Ok(files)
    }

    /// Gives a file its new place as well. A packet names its own file.
    fn copy(&self, file: &str, folder: &str) -> io::Result<()> {
        let bytes = own_file::read(&self.path(file), ARTIFACT_BYTES_MAX)?;
        let name = format!("{folder}/{file}");
        let is_packet = file.strip_prefix(PACKETS_DIR).is_some_and(|rest| rest.starts_with('/'));
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(told) if is_packet => self.write_json(&name, &self.moved(told, folder)),
            _ => self.write(&name, &bytes),
        }
        .map(drop)
    }

    /// Takes what was copied away, and moves what is no file and so was not.
    fn leave(&self, artifacts: &[&str], files: &[String], folder: &str) -> io::Result<()> {
        let mut gone = files.to_vec();
        for name in artifacts.iter().filter(|name| **name != SUMMARY_JSON) {
            let Ok(found) = self.path(name).symlink_metadata() else { continue };
            if !found.is_dir() {
                continue;
            }
            for inner in std::fs::read_dir(self.path(name))? {
                let from = inner?.path();
                let to = self.path(folder).join(name).join(from.file_name().unwrap_or_default());
                if !is_file(&from) {
                    ao_tree::make_folders(&self.dir, &format!("{folder}/{name}"))?;
                    ao_tree::move_aside(&from, &to)?;
                }
            }
            gone.push((*name).to_owned());
        }
        ao_tree::remove_all(&self.dir, &gone)
    }

    /// Gives files that nothing names another folder, as they are.
    fn rename_all(&self, names: &[&str], wanted: &str) -> io::Result<Option<String>> {
        if names.is_empty() {
            return Ok(None);
        }
        let folder = self.free_folder(names, wanted);
        ao_tree::make_folders(&self.dir, &folder)?;
        for name in names {
            ao_tree::move_aside(&self.path(name), &self.path(&format!("{folder}/{name}")))?;
        }
        Ok(Some(folder))
    }

    /// The first folder that has none of these.
    fn free_folder(&self, names: &[&str], wanted: &str) -> String {
        let is_free =
            |folder: &String| names.iter().all(|name| !self.is_there(&format!("{folder}/{name}")));
        numbered(wanted, is_free)
    }

    /// The folder of a run: no other run's report is in it.
    fn folder_of(&self, run_id: &str) -> String {
        numbered(run_id, |folder| {
            let is_its_own = |there: ao_contract::Summary| there.run_id == run_id;
            !self.is_there(&format!("{folder}/{SUMMARY_JSON}"))
                || self.summary_in(folder).is_some_and(is_its_own)
        })
    }

    /// With the paths that files of this folder have when they are in that one.
    fn moved(&self, mut value: Value, folder: &str) -> Value {
        let old = format!("{}/", self.dir.to_string_lossy());
        let is_told = !ao_mutant::active("RUN-42/summary-names-the-old-place");
        let new = if is_told { format!("{old}{folder}/") } else { old.clone() };
        let mut names = vec![&mut value];
        while let Some(value) = names.pop() {
            match value {
                Value::String(text) => {
                    if let Some(rest) = text.strip_prefix(&old)
                        && !rest.starts_with(&format!("{folder}/"))
                    {
                        *text = format!("{new}{rest}");
                    }
                }
                Value::Array(items) => names.extend(items),
                Value::Object(map) => names.extend(map.values_mut()),
                _ => {}
            }
        }
        value
    }
}

/// The first of `name`, `name-2`, `name-3`… that will do.
fn numbered(name: &str, will_do: impl Fn(&String) -> bool) -> String {
    let mut names =
        std::iter::once(name.to_owned()).chain((2..).map(|nth: u32| format!("{name}-{nth}")));
    names.find(will_do).unwrap_or_else(|| name.to_owned())
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}
