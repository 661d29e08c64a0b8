//! From edits to what exactly would change: each path with what is there now and what will be.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::io;

use ao_contract::{Change, ChangeOp, Conflict, Extra, Version};

use crate::door::{Door, Doubt, is_absent};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::path::{TreePath, fold};
use crate::survey::Survey;

/// A larger file is not knowledge; it is left alone.
pub const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
pub const EDITS_MAX: usize = 200_000;
pub(crate) const NEW_FILE_MODE: u32 = 0o644;

/// One proposed change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub path: String,
    pub action: Action,
    /// For a file that is not there; one that is keeps its mode.
    pub mode: Option<u32>,
    pub reason: String,
    pub sources: Vec<String>,
    /// Edits of one group are made together or not at all.
    pub group: Option<String>,
    /// What the author of the edit saw there; if it is something else by now, that stays.
    pub seen: Option<Seen>,
}

/// What an edit was made against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Nothing,
    /// A file with these bytes; see [`Seen::bytes`].
    Hash(String),
}

impl Seen {
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::Hash(blake3::hash(bytes).to_hex().to_string())
    }

    fn is(&self, content: Option<&Content>) -> bool {
        match (self, content) {
            (Self::Nothing, None) => true,
            (Self::Hash(seen), Some(content)) => *seen == content.hash,
            _ => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Write(Vec<u8>),
    Delete,
}

/// An edit that was not made, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub path: String,
    pub why: String,
}

/// A file that is to change: `before` is what the edit was made against.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    pub(crate) before: Option<Content>,
    pub(crate) after: Option<Content>,
    pub(crate) reason: String,
    pub(crate) sources: Vec<String>,
    pub(crate) group: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: String,
    pub(crate) mode: u32,
}

impl Content {
    pub(crate) fn new(bytes: Vec<u8>, mode: u32) -> Self {
        let hash = blake3::hash(&bytes).to_hex().to_string();
        Self { bytes, hash, mode }
    }

    pub(crate) fn version(&self) -> Version {
        let size = self.bytes.len() as u64;
        Version { hash: self.hash.clone(), mode: self.mode, size, extra: Extra::default() }
    }
}

impl Touched {
    pub(crate) fn change(&self, path: &TreePath) -> Change {
        let op = match (&self.before, &self.after) {
            (None, _) => ChangeOp::Add,
            (Some(_), Some(_)) => ChangeOp::Change,
            (Some(_), None) => ChangeOp::Delete,
        };
        Change {
            path: path.to_string(),
            op,
            before: self.before.as_ref().map(Content::version),
            after: self.after.as_ref().map(Content::version),
            reason: self.reason.clone(),
            sources: self.sources.clone(),
            group: self.group.clone(),
            extra: Extra::default(),
        }
    }
}

/// What `ao` had for a file that somebody else changed meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Clash {
    pub(crate) conflict: Conflict,
    pub(crate) ours: Option<Content>,
}

impl Clash {
    pub(crate) fn of(path: &TreePath, ours: Option<Content>, live: Option<&Content>) -> Self {
        let conflict = Conflict {
            path: path.to_string(),
            why: clash_reason(ours.is_some(), live.is_some()).to_owned(),
            kept: None,
            ours: ours.as_ref().map(Content::version),
            live: live.map(Content::version),
            extra: Extra::default(),
        };
        Self { conflict, ours }
    }
}

/// Why an edit and somebody else's change cannot both be.
pub(crate) fn clash_reason(is_written: bool, is_there: bool) -> &'static str {
    match (is_written, is_there) {
        (true, true) => "it was edited by someone else meanwhile",
        (true, false) => "it was deleted by someone else meanwhile",
        (false, _) => "it was to be deleted, and someone else edited it meanwhile",
    }
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) touched: BTreeMap<TreePath, Touched>,
    pub(crate) refused: Vec<Refused>,
    pub(crate) clashes: Vec<Clash>,
    /// Whether an edit was made to fit what others wrote meanwhile.
    pub(crate) is_merged: bool,
    /// The files of these edits.
    pub(crate) carried: BTreeSet<String>,
}

impl Plan {
    /// Holds back the edits that belong together with one that cannot be made.
    pub(crate) fn hold_back(&mut self, broken: &BTreeMap<String, String>) {
        if ao_mutant::active("LOOP-07/half-a-group") {
            return;
        }
        let held: Vec<TreePath> = self
            .touched
            .iter()
            .filter(|(_, touched)| touched.group.as_ref().is_some_and(|g| broken.contains_key(g)))
            .map(|(path, _)| path.clone())
            .collect();
        for path in held {
            let group = self.touched.remove(&path).and_then(|touched| touched.group);
            let because = group.and_then(|group| broken.get(&group)).map_or("", String::as_str);
            let why = format!("it belongs together with the edit of {because}, which is not made");
            self.refused.push(Refused { path: path.to_string(), why });
        }
    }

    /// The folders that names come to or go from.
    pub(crate) fn folders(&self) -> HashSet<&str> {
        self.touched.keys().map(|path| path.split_last().0).collect()
    }

    /// What staging, the undo snapshot and the archive will take.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let size = |content: &Option<Content>| content.as_ref().map_or(0, |c| c.bytes.len() as u64);
        let of = |touched: &Touched| {
            let archived = if touched.after.is_none() { size(&touched.before) } else { 0 };
            size(&touched.before) + size(&touched.after) + archived
        };
        self.touched.values().map(of).sum()
    }
}

impl<F: Fs> Door<F> {
    pub(crate) fn plan(&self, edits: Vec<Edit>, survey: &Survey, doubt: Doubt) -> Result<Plan> {
        let mut names = NewNames::default();
        let mut plan = Plan::default();
        let mut broken = BTreeMap::new();
        for edit in edits {
            let (path, group) = (edit.path.clone(), edit.group.clone());
            match self.plan_one(edit, survey, &mut names, &plan)? {
                Planned::Touch(path, touched) => {
                    let Some(why) = doubted(&touched, doubt) else {
                        plan.touched.insert(path, touched);
                        continue;
                    };
                    plan.refused.push(Refused { path: path.to_string(), why });
                }
                Planned::AsItIs => continue,
                Planned::Refuse(why) => plan.refused.push(Refused { path: path.clone(), why }),
                Planned::Clash(clash) => plan.clashes.push(*clash),
            }
            broken.extend(group.map(|group| (group, path)));
        }
        plan.hold_back(&broken);
        Ok(plan)
    }

    fn plan_one(
        &self,
        edit: Edit,
        survey: &Survey,
        names: &mut NewNames,
        plan: &Plan,
    ) -> Result<Planned> {
        let path = match TreePath::parse(&edit.path) {
            Ok(path) => path,
            Err(doubt) => return Ok(Planned::Refuse(doubt)),
        };
        if let Some(why) = self.layout.refuses(&path).or_else(|| survey.blocked(&path)) {
            return Ok(Planned::Refuse(why));
        }
        if plan.touched.contains_key(&path) {
            return Ok(Planned::Refuse(
                "another edit of this request touches the same file".into(),
            ));
        }
        let before = match self.stands(&path)? {
            Ok(before) => before,
            Err(why) => return Ok(Planned::Refuse(why)),
        };
        let after = match edit.action {
            Action::Write(bytes) if bytes.len() as u64 > FILE_BYTES_MAX => {
                return Ok(Planned::Refuse(format!(
                    "its content is larger than {FILE_BYTES_MAX} bytes"
                )));
            }
            Action::Write(bytes) => {
                let mode = before.as_ref().map(|b| b.mode).or(edit.mode);
                Some(Content::new(bytes, mode.unwrap_or(NEW_FILE_MODE)))
            }
            Action::Delete if before.is_none() => {
                return Ok(Planned::Refuse("there is no such file to delete".into()));
            }
            Action::Delete => None,
        };
        if let (Some(before), Some(after)) = (&before, &after)
            && before.hash == after.hash
        {
            return Ok(Planned::AsItIs);
        }
        if edit.seen.is_some_and(|seen| !seen.is(before.as_ref())) {
            return Ok(Planned::Clash(Box::new(Clash::of(&path, after, before.as_ref()))));
        }
        if before.is_none()
            && let Err(why) = names.admit(&path, |folder| self.names_in(folder))?
        {
            return Ok(Planned::Refuse(why));
        }
        let Edit { reason, sources, group, .. } = edit;
        Ok(Planned::Touch(path, Touched { before, after, reason, sources, group }))
    }

    /// The file at this path as it is now, or why no file can be written there.
    pub(crate) fn stands(
        &self,
        path: &TreePath,
    ) -> Result<std::result::Result<Option<Content>, String>> {
        self.look_at(path).map_err(Error::io(format!("look at {path}")))
    }

    fn look_at(&self, path: &TreePath) -> io::Result<std::result::Result<Option<Content>, String>> {
        if let Some(ahead) = self.ahead.get(path.as_str()) {
            return Ok(Ok(ahead.becomes.clone()));
        }
        let refused = |end: usize, why: &str| Ok(Err(format!("{} {why}", &path.as_str()[..end])));
        let mut dir = self.fs.top();
        for (end, _) in path.as_str().match_indices('/') {
            let name = OsStr::new(crate::commit::last(&path.as_str()[..end]));
            let Some(stat) = self.fs.stat(&dir, name)? else { return self.free(&dir, path) };
            match self.unholdable(&stat) {
                Some(why) => return refused(end, why),
                None if stat.kind != Kind::Dir => {
                    return Ok(Err("a directory of its path is a file".into()));
                }
                None => {}
            }
            dir = match self.fs.open_dir(&dir, name) {
                Err(error) if is_absent(&error) => return Ok(Ok(None)),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return refused(end, "may not be read");
                }
                opened => opened?,
            };
        }
        let name = OsStr::new(path.split_last().1);
        let Some(stat) = self.fs.stat(&dir, name)? else { return self.free(&dir, path) };
        if stat.kind == Kind::Dir {
            return Ok(Err("it is a directory".into()));
        }
        if let Some(why) = self.unholdable(&stat) {
            return refused(path.as_str().len(), why);
        }
        if stat.size > FILE_BYTES_MAX {
            return Ok(Err(format!("it is larger than {FILE_BYTES_MAX} bytes")));
        }
        match self.fs.read(&dir, name, FILE_BYTES_MAX) {
            Ok(bytes) => Ok(self.free(&dir, path)?.map(|_| Some(Content::new(bytes, stat.mode)))),
            // It went between the two looks: the next comparison sees that too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ok(None)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                refused(path.as_str().len(), "may not be read")
            }
            Err(error) => Err(error),
        }
    }

    /// Whether names may come to this directory and go from it.
    fn free(
        &self,
        dir: &F::Dir,
        path: &TreePath,
    ) -> io::Result<std::result::Result<Option<Content>, String>> {
        if self.fs.may_change(dir)? {
            return Ok(Ok(None));
        }
        let folder = path.split_last().0;
        Ok(Err(format!("{}/{folder} may not be written", self.layout.root_name)))
    }

    /// The names in a folder; none if it is not there.
    fn names_in(&self, folder: &str) -> Result<HashMap<String, String>> {
        let list = || match self.open(folder)? {
            Some(dir) => self.fs.names(&dir),
            None => Ok(Vec::new()),
        };
        let listed = list().map_err(Error::io(format!("list {folder}")))?;
        let names = listed.into_iter().filter_map(|entry| entry.name.into_string().ok());
        Ok(names.map(|name| (fold(&name), name)).collect())
    }
}

/// Why the new content may not come in. What stands in the file already does not come in.
fn doubted(touched: &Touched, doubt: Doubt) -> Option<String> {
    let why = doubt(&touched.after.as_ref()?.bytes)?;
    let is_there = touched.before.as_ref().is_some_and(|before| doubt(&before.bytes).is_some());
    (!is_there).then(|| why.to_owned())
}

enum Planned {
    Touch(TreePath, Touched),
    /// The file says already what the edit wants.
    AsItIs,
    Refuse(String),
    Clash(Box<Clash>),
}

/// Names that this request brings: none may meet another one by case or normal form, and none
/// may need a directory where a file is.
#[derive(Default)]
struct NewNames {
    /// For each folder: the folded name, and the name that has it.
    taken: HashMap<String, HashMap<String, String>>,
    files: HashSet<String>,
    folders: HashSet<String>,
}

impl NewNames {
    fn admit(
        &mut self,
        path: &TreePath,
        names_in: impl Fn(&str) -> Result<HashMap<String, String>>,
    ) -> Result<std::result::Result<(), String>> {
        if self.folders.contains(path.as_str()) {
            return Ok(Err("another edit of this request needs a directory of this name".into()));
        }
        let mut folder = String::new();
        for name in path.names() {
            if !self.taken.contains_key(&folder) {
                self.taken.insert(folder.clone(), names_in(&folder)?);
            }
            let here = self.taken.entry(folder.clone()).or_default();
            let owner = here.entry(fold(name)).or_insert_with(|| name.to_owned());
            if owner != name {
                return Ok(Err(format!(
                    "its name `{name}` differs from `{owner}` only in case or normal form"
                )));
            }
            if self.files.contains(&folder) {
                return Ok(
                    Err("a directory of its path is a file that this request writes".into()),
                );
            }
            if !folder.is_empty() {
                self.folders.insert(folder.clone());
                folder.push('/');
            }
            folder.push_str(name);
        }
        self.files.insert(folder);
        Ok(Ok(()))
    }
}
