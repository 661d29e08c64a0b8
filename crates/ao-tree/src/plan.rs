//! From edits to what exactly would change: each path with what is there now and what will be.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::io;

use ao_contract::{Change, ChangeOp, Conflict, Extra, Version};

use crate::door::{Door, Doubt};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::path::{TreePath, fold};
use crate::snapshot::{Part, Snapshot, Standing};

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
    pub(crate) part: usize,
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

    pub(crate) fn parts(&self) -> HashSet<usize> {
        self.touched.values().map(|touched| touched.part).collect()
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
    pub(crate) fn plan(&self, edits: Vec<Edit>, snapshot: &Snapshot, doubt: Doubt) -> Result<Plan> {
        let mut names = NewNames::default();
        let mut plan = Plan::default();
        let mut broken = BTreeMap::new();
        for edit in edits {
            let (path, group) = (edit.path.clone(), edit.group.clone());
            match self.plan_one(edit, snapshot, &mut names, &plan)? {
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
        snapshot: &Snapshot,
        names: &mut NewNames,
        plan: &Plan,
    ) -> Result<Planned> {
        let path = match TreePath::parse(&edit.path) {
            Ok(path) => path,
            Err(doubt) => return Ok(Planned::Refuse(doubt)),
        };
        let Some(part) = self.layout.part_of(&path) else {
            let why =
                format!("it lies outside of what may change: {}", self.layout.describe_held());
            return Ok(Planned::Refuse(why));
        };
        if let Some(why) = snapshot.blocked(&path) {
            return Ok(Planned::Refuse(why));
        }
        if plan.touched.contains_key(&path) {
            return Ok(Planned::Refuse(
                "another edit of this request touches the same file".into(),
            ));
        }
        let before = match self.stands(&path, part, snapshot)? {
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
            && let Err(why) =
                names.admit(&path, &self.layout.held[part].path, &snapshot.parts[part])
        {
            return Ok(Planned::Refuse(why));
        }
        let Edit { reason, sources, group, .. } = edit;
        Ok(Planned::Touch(path, Touched { part, before, after, reason, sources, group }))
    }

    /// The file at this path as it is now, or why no file can be written there.
    pub(crate) fn stands(
        &self,
        path: &TreePath,
        part: usize,
        snapshot: &Snapshot,
    ) -> Result<std::result::Result<Option<Content>, String>> {
        let rest = path.beneath(&self.layout.held[part].path).unwrap_or("");
        match snapshot.standing(part, rest) {
            Standing::Nothing => Ok(Ok(None)),
            Standing::Folder => Ok(Err("it is a directory".into())),
            Standing::BeneathFile => Ok(Err("a directory of its path is a file".into())),
            Standing::File(stat) if stat.size > FILE_BYTES_MAX => {
                Ok(Err(format!("it is larger than {FILE_BYTES_MAX} bytes")))
            }
            Standing::File(stat) => {
                let content = self.content(path, stat.mode);
                Ok(Ok(content.map_err(Error::io(format!("read {path}")))?))
            }
        }
    }

    fn content(&self, path: &TreePath, mode: u32) -> io::Result<Option<Content>> {
        let (folder, name) = path.split_last();
        let Some(dir) = self.open(folder)? else { return Ok(None) };
        match self.fs.read(&dir, OsStr::new(name), FILE_BYTES_MAX) {
            Ok(bytes) => Ok(Some(Content::new(bytes, mode))),
            // It went between the walk and the look: the next comparison sees that too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
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
        held: &TreePath,
        part: &Part,
    ) -> std::result::Result<(), String> {
        let Some(rest) = path.beneath(held) else { return Ok(()) };
        if self.folders.contains(path.as_str()) {
            return Err("another edit of this request needs a directory of this name".into());
        }
        let mut folder_path = held.as_str().to_owned();
        let mut folder = match part {
            Part::Dir(folder) => Some(folder),
            _ => None,
        };
        for name in rest.split('/') {
            let here = self.taken.entry(folder_path.clone()).or_insert_with(|| names_in(folder));
            let owner = here.entry(fold(name)).or_insert_with(|| name.to_owned());
            if owner != name {
                return Err(format!(
                    "its name `{name}` differs from `{owner}` only in case or normal form"
                ));
            }
            if self.files.contains(&folder_path) {
                return Err("a directory of its path is a file that this request writes".into());
            }
            self.folders.insert(folder_path.clone());
            folder = folder.and_then(|folder| folder.folder(OsStr::new(name)));
            folder_path.push('/');
            folder_path.push_str(name);
        }
        self.files.insert(folder_path);
        Ok(())
    }
}

fn names_in(folder: Option<&crate::snapshot::Folder>) -> HashMap<String, String> {
    let Some(folder) = folder else { return HashMap::new() };
    let names =
        folder.files.iter().map(|entry| &entry.name).chain(folder.folders.iter().map(|f| &f.0));
    names.filter_map(|name| name.to_str()).map(|name| (fold(name), name.to_owned())).collect()
}
