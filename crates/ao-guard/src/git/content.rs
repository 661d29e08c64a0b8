//! What is in the index and in the work tree, for whoever looks through it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Git, told};
use crate::{Bounds, Input};

pub(super) const CONTENT: Bounds =
    Bounds { time: Duration::from_mins(2), output_bytes: 512 * 1024 * 1024 };
pub(super) const LIST: Bounds =
    Bounds { time: Duration::from_mins(1), output_bytes: 256 * 1024 * 1024 };
/// A commit of another repository, which has no content here.
const SUBMODULE: &[u8] = b"160000";

/// A file as the next commit would have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl Git {
    /// Asks about this index and this repository folder: git names them to a hook by variables.
    #[must_use]
    pub fn with_index(mut self, index: Option<OsString>, folder: Option<OsString>) -> Self {
        self.variables.extend(index.map(|index| ("GIT_INDEX_FILE", index)));
        self.variables.extend(folder.map(|folder| ("GIT_DIR", folder)));
        self
    }

    /// What is added or changed in the index since the newest commit, with the content that the index
    /// has. What the work tree has does not count.
    pub fn staged(&self) -> Result<Vec<Staged>, String> {
        let question = [
            "diff-index",
            "--cached",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--diff-filter=d",
        ];
        let newest = self.run(&["rev-parse", "--quiet", "--verify", "HEAD"])?.0;
        let since = if newest == 0 { "HEAD".to_owned() } else { self.empty_tree()? };
        let listed =
            self.answer(&[&question[..], &[&since, "--"]].concat(), Input::Nothing, LIST)?;
        let mut fields = listed.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let mut files = Vec::new();
        while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
            // `:100644 100644 OLD NEW M`
            let words: Vec<&[u8]> = about.split(|byte| *byte == b' ').collect();
            let [_, mode, _, id, _] = words[..] else {
                return Err("it lists what is staged in a way that is not known".into());
            };
            // A name that is only announced has no content yet.
            let is_announced = id.iter().all(|digit| *digit == b'0');
            if mode != SUBMODULE && !is_announced {
                files.push((PathBuf::from(OsStr::from_bytes(path)), id.to_vec()));
            }
        }
        let ids: Vec<Vec<u8>> = files.iter().map(|(_, id)| id.clone()).collect();
        let contents = self.contents(&ids, CONTENT)?;
        let staged = |((path, _), bytes)| Staged { path, bytes };
        Ok(files.into_iter().zip(contents).map(staged).collect())
    }

    fn empty_tree(&self) -> Result<String, String> {
        let id = self.answer(&["hash-object", "-t", "tree", "/dev/null"], Input::Nothing, LIST)?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// The bytes of these objects, in their order.
    pub(super) fn contents(&self, ids: &[Vec<u8>], bounds: Bounds) -> Result<Vec<Vec<u8>>, String> {
        let mut asked = Vec::new();
        for id in ids {
            asked.extend_from_slice(id);
            asked.push(b'\n');
        }
        let answer = self.answer(&["cat-file", "--batch"], Input::Bytes(asked), bounds)?;
        let mut rest = answer.as_slice();
        let mut contents = Vec::new();
        for id in ids {
            // `ID blob SIZE`, the content, and a line break.
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (head, after) = end.map(|end| rest.split_at(end + 1)).unwrap_or_default();
            let head = String::from_utf8_lossy(head);
            let size = head.trim_end().rsplit_once("blob ").and_then(|(_, size)| size.parse().ok());
            let bytes = size.and_then(|size: usize| after.get(..size));
            let Some(bytes) = bytes else {
                let id = String::from_utf8_lossy(id);
                return Err(format!("it does not give the content of the object {id}"));
            };
            rest = after.get(bytes.len() + 1..).unwrap_or_default();
            contents.push(bytes.to_vec());
        }
        Ok(contents)
    }

    /// The files of the work tree that are tracked, or could be: not the ignored ones.
    pub fn files(&self) -> Result<Vec<PathBuf>, String> {
        let question = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = self.answer(&question, Input::Nothing, LIST)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut files: Vec<_> = names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The folder that git runs hooks from, and whether somebody chose it. The files with settings of the
    /// user and the machine, the first that says something counting, are for this alone: they are read,
    /// and nothing of them is run.
    pub fn hooks_folder(
        &self,
        home: Option<&Path>,
        settings: &[PathBuf],
    ) -> Result<(PathBuf, bool), String> {
        const UNSAID: i32 = 1;
        let nowhere = [PathBuf::from("/dev/null")];
        // The repository's own go before each of them.
        for file in if settings.is_empty() { &nowhere } else { settings } {
            let mut asked = self.clone();
            asked.variables.extend(home.map(|home| ("HOME", home.as_os_str().to_owned())));
            asked.variables.push(("GIT_CONFIG_GLOBAL", file.into()));
            // What is switched off on the command line would be the answer.
            match asked.settings("core.hooksPath")? {
                (0, chosen, _) => {
                    let text = chosen.strip_suffix(b"\n").unwrap_or(&chosen);
                    return Ok((self.root.join(OsStr::from_bytes(text)), true));
                }
                (UNSAID, ..) => {}
                (code, _, complaint) => return Err(told(code, &complaint)),
            }
        }
        let folder = self.answer(&["rev-parse", "--git-common-dir"], Input::Nothing, LIST)?;
        let folder = folder.strip_suffix(b"\n").unwrap_or(&folder);
        Ok((self.root.join(OsStr::from_bytes(folder)).join("hooks"), false))
    }

    pub(super) fn answer(
        &self,
        question: &[&str],
        input: Input,
        bounds: Bounds,
    ) -> Result<Vec<u8>, String> {
        match self.run_with(question, input, bounds)? {
            (0, answer, _) => Ok(answer),
            (code, _, complaint) => Err(told(code, &complaint)),
        }
    }
}
