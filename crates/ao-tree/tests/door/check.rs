//! What must hold of a tree once recovery is done with it. All engines ask the same questions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ao_tree::{Door, Kind, UndoScope};

use crate::scenario::{Files, STATE, Step, layout, undo};
use crate::sim::{Seen, SimFs};
use crate::subject::{Side, Subject};

type Tree = BTreeMap<String, Seen>;

/// The two whole states between which a step goes.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// Everything as the step found it.
    start: Tree,
    before: Files,
    after: Files,
    id: String,
    history: Vec<String>,
    generation: u64,
    /// The paths that the archive must have afterwards.
    archived: Vec<String>,
}

impl Scene {
    pub(crate) fn new(start: &SimFs, id: &str, after: Files, archived: Vec<String>) -> Self {
        Self {
            start: start.tree(""),
            before: held_files(start),
            after,
            id: id.to_owned(),
            history: history_ids(start),
            generation: generation(start).expect("a step begins on a settled tree"),
            archived,
        }
    }

    pub(crate) fn before(&self) -> &Files {
        &self.before
    }

    pub(crate) fn after(&self) -> &Files {
        &self.after
    }

    /// Wholly before or wholly after, with nothing lost and nothing left over.
    pub(crate) fn judge(&self, fs: &SimFs) -> Result<Side, String> {
        let tree = fs.tree("");
        let files = files_in(&tree);
        let side = if files == self.after {
            Side::After
        } else if files == self.before {
            Side::Before
        } else {
            return Err(self.tell_mixture(&files));
        };
        self.check_untouched(&tree, side)?;
        check_links(&tree)?;
        check_state(&tree)?;
        check_generation(fs)?;
        self.check_memory(fs, &tree, side)?;
        Ok(side)
    }

    /// As [`Scene::judge`], of a copy of the tree: nothing has the inode or the time that it had.
    pub(crate) fn judge_copy(&self, fs: &SimFs) -> Result<Side, String> {
        let tree = fs.tree("");
        let files = files_in(&tree);
        let side = match (files == self.after, files == self.before) {
            (true, _) => Side::After,
            (_, true) => Side::Before,
            _ => return Err(self.tell_mixture(&files)),
        };
        check_links(&tree)?;
        check_state(&tree)?;
        check_generation(fs)?;
        self.check_memory(fs, &tree, side)?;
        Ok(side)
    }

    /// A reader who finds the same even counter before and after reading has read one state.
    pub(crate) fn glimpse(&self, fs: &SimFs) -> Result<(), String> {
        let counter = generation(fs)?;
        if counter % 2 == 1 {
            return Ok(());
        }
        let files = held_files(fs);
        match (files == self.before, files == self.after) {
            (true, _) => Ok(()),
            (false, true) if counter != self.generation => Ok(()),
            (false, true) => Err(format!("the counter is still {counter}, and the tree is new")),
            (false, false) => Err(format!(
                "a reader who finds the counter at {counter} reads a mixture: {}",
                differences(&files, &self.before).join("; ")
            )),
        }
    }

    fn tell_mixture(&self, files: &Files) -> String {
        let against = |name: &str, wanted: &Files| {
            let differ = differences(files, wanted).join("\n  ");
            format!("against the tree {name}:\n  {differ}\n")
        };
        let (before, after) = (against("before", &self.before), against("after", &self.after));
        format!("neither wholly before nor wholly after\n{before}{after}")
    }

    /// What no edit names keeps its inode and times, and so does all that lies outside.
    fn check_untouched(&self, tree: &Tree, side: Side) -> Result<(), String> {
        for (path, was) in &self.start {
            if was.kind == Kind::Dir || is_in_state(path) {
                continue;
            }
            if is_held(path) && side == Side::After && self.before.get(path) != self.after.get(path)
            {
                continue;
            }
            match tree.get(path) {
                None => return Err(format!("{path} is gone, and nobody removed it")),
                Some(is) if !is_same_file(was, is) => {
                    return Err(format!("{path} changed from {was:?} to {is:?}"));
                }
                Some(_) => {}
            }
        }
        self.check_dirs(tree, side)
    }

    /// Directories keep their modes. Before the commit there are exactly those that there were;
    /// after it none is without need.
    fn check_dirs(&self, tree: &Tree, side: Side) -> Result<(), String> {
        for (path, is) in tree.iter().filter(|(_, is)| is.kind == Kind::Dir) {
            let was = self.start.get(path);
            if is_in_state(path) || path.is_empty() {
                continue;
            }
            if was.is_some_and(|was| was.mode != is.mode) {
                return Err(format!("{path}/ has mode {:o} now", is.mode));
            }
            let inside = format!("{path}/");
            let is_needed =
                tree.range(inside.clone()..).next().is_some_and(|(at, _)| at.starts_with(&inside));
            if was.is_none() && (side == Side::Before || !is_needed) {
                return Err(format!("{path}/ is left over"));
            }
        }
        let is_lost = |path: &String| !tree.contains_key(path) && !is_in_state(path);
        let mut dirs = self.start.iter().filter(|(_, was)| was.kind == Kind::Dir);
        match dirs.find(|(path, _)| side == Side::Before && is_lost(path)) {
            Some((path, _)) => Err(format!("{path}/ is gone")),
            None => Ok(()),
        }
    }

    /// The history, the undo store and the archive know of the commit exactly when it happened.
    fn check_memory(&self, fs: &SimFs, tree: &Tree, side: Side) -> Result<(), String> {
        let mut wanted = self.history.clone();
        if side == Side::After {
            wanted.push(self.id.clone());
        }
        let history = history_ids(fs);
        if history != wanted {
            return Err(format!("the tree is {side:?}, and the history has {history:?}"));
        }
        let undo = names_in(tree, &format!("{STATE}/undo"));
        if undo != wanted.iter().cloned().collect() {
            return Err(format!("the history has {wanted:?}, and undo/ has {undo:?}"));
        }
        for id in &wanted {
            let record = format!("{STATE}/undo/{id}/record.json");
            if tree.get(&record).is_none_or(|seen| seen.bytes.is_empty()) {
                return Err(format!("{record} is missing"));
            }
        }
        let archive = names_in(tree, &format!("{STATE}/archive"));
        if let Some(id) = archive.iter().find(|id| !wanted.contains(id)) {
            return Err(format!("archive/{id} belongs to no commit"));
        }
        if side == Side::After {
            self.check_archive(tree, None)?;
        }
        match names_in(tree, &format!("{STATE}/conflicts")).first() {
            Some(id) => Err(format!("conflicts/{id}, and nobody else wrote")),
            None => Ok(()),
        }
    }
}

impl Scene {
    /// What was deleted is in the archive as it was, and the archive says where it came from. A
    /// file that somebody else has kept is not in it.
    pub(crate) fn check_archive(&self, tree: &Tree, kept: Option<&str>) -> Result<(), String> {
        let dir = format!("{STATE}/archive/{}/", self.id);
        let wanted: BTreeSet<_> =
            self.archived.iter().filter(|path| Some(path.as_str()) != kept).collect();
        let is_there = |path: &str| tree.get(&format!("{dir}{path}")).map(|seen| &seen.bytes);
        for path in &wanted {
            if is_there(path) != self.before.get(*path).map(|(bytes, _)| bytes) {
                return Err(format!("{dir} does not have {path} as it was"));
            }
        }
        let found = files_beneath(tree, &dir).filter(|path| *path != "provenance.json");
        let mut unwanted = found.filter(|found| !wanted.iter().any(|path| path == found));
        if let Some(unwanted) = unwanted.next() {
            return Err(format!("{dir} has {unwanted}, which is still in the tree"));
        }
        let listed = listed(is_there("provenance.json"), "entries");
        if listed.iter().eq(wanted) { Ok(()) } else { Err(format!("{dir} says it has {listed:?}")) }
    }

    /// The conflicts that are kept are listed, by path.
    pub(crate) fn check_conflict_list(&self, fs: &SimFs, path: &str) -> Result<(), String> {
        let list = fs.bytes(&format!("{STATE}/conflicts/{}/conflicts.json", self.id));
        if listed(list.as_ref(), "conflicts").iter().any(|listed| listed == path) {
            return Ok(());
        }
        Err(format!("conflicts.json does not name {path}"))
    }
}

fn files_beneath<'t>(tree: &'t Tree, dir: &str) -> impl Iterator<Item = &'t str> {
    let files = tree.iter().filter(|(_, seen)| seen.kind == Kind::File);
    files.filter_map(move |(path, _)| path.strip_prefix(dir))
}

/// The paths that a list of the door names, in order; none when it cannot be read.
fn listed(bytes: Option<&Rc<[u8]>>, key: &str) -> Vec<String> {
    let list: Option<serde_json::Value> =
        bytes.and_then(|bytes| serde_json::from_slice(bytes).ok());
    let entries = list.as_ref().and_then(|list| list.get(key)?.as_array());
    let paths = entries.into_iter().flatten().filter_map(|entry| entry.get("path")?.as_str());
    paths.map(str::to_owned).collect()
}

/// Asked once of each distinct result: recovery finds nothing more to do, and the commit can be
/// taken back.
pub(crate) fn judge_deeply(step: &Step, fs: &SimFs, side: Side) -> Result<(), String> {
    let again = fs.branch();
    step.recover(again.clone()).map_err(|why| format!("a second recovery failed: {why}"))?;
    if again.tree("") != fs.tree("") {
        return Err("a second recovery changed the tree".to_owned());
    }
    check_verified(fs)?;
    if side == Side::Before {
        return Ok(());
    }
    let undone = fs.branch();
    let door = Door::new(undone.clone(), layout()).map_err(|error| error.to_string())?;
    undo(&door, Some(&step.id), UndoScope::FromHereOn, "judge-undo")
        .map_err(|error| format!("the commit cannot be undone: {error:?}"))?;
    let differ = differences(&held_files(&undone), step.scene.before());
    if differ.is_empty() {
        return Ok(());
    }
    Err(format!("undone, the tree is not as before:\n  {}", differ.join("\n  ")))
}

/// The door finds no damage in its own records.
pub(crate) fn check_verified(fs: &SimFs) -> Result<(), String> {
    let door = Door::new(fs.clone(), layout()).map_err(|error| error.to_string())?;
    let found = door.verify().map_err(|error| format!("cannot be verified: {error:?}"))?;
    match found.damage.first() {
        Some(damage) => Err(format!("damaged: {}: {}", damage.path, damage.why)),
        None => Ok(()),
    }
}

pub(crate) fn held_files(fs: &SimFs) -> Files {
    files_in(&fs.tree(""))
}

fn files_in(tree: &Tree) -> Files {
    let held = tree.iter().filter(|(path, seen)| seen.kind == Kind::File && is_held(path));
    held.map(|(path, seen)| (path.clone(), (seen.bytes.clone(), seen.mode))).collect()
}

fn is_held(path: &str) -> bool {
    let is_beneath = |dir: &str| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
    path == "rpi/next-work.jsonl"
        || ["learnings", "findings", "patterns", "knowledge"].iter().any(|dir| is_beneath(dir))
}

fn is_in_state(path: &str) -> bool {
    path == STATE || path.starts_with(&format!("{STATE}/"))
}

fn is_same_file(was: &Seen, is: &Seen) -> bool {
    (was.kind, &was.bytes, was.mode, was.inode, was.modified)
        == (is.kind, &is.bytes, is.mode, is.inode, is.modified)
}

/// A staging tree is made of links. None may outlive its commit.
pub(crate) fn check_links(tree: &Tree) -> Result<(), String> {
    let mut files = tree.iter().filter(|(_, seen)| seen.kind != Kind::Dir);
    match files.find(|(_, seen)| seen.links != 1) {
        Some((path, seen)) => Err(format!("{path} has {} links", seen.links)),
        None => Ok(()),
    }
}

/// Nothing of the transaction is left in the state directory.
pub(crate) fn check_state(tree: &Tree) -> Result<(), String> {
    let known = ["generation", "history.jsonl", "undo", "archive", "conflicts"];
    if let Some(name) = names_in(tree, STATE).iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("{STATE}/{name} is left over"));
    }
    Ok(())
}

/// The counter that readers compare; none yet is zero.
fn generation(fs: &SimFs) -> Result<u64, String> {
    let Some(bytes) = fs.bytes(&format!("{STATE}/generation")) else { return Ok(0) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.trim().parse().map_err(|_| format!("the generation is {text:?}"))
}

/// Readers are let in.
pub(crate) fn check_generation(fs: &SimFs) -> Result<(), String> {
    match generation(fs)? {
        even if even % 2 == 0 => Ok(()),
        odd => Err(format!("the generation is {odd}")),
    }
}

fn names_in(tree: &Tree, dir: &str) -> BTreeSet<String> {
    let prefix = format!("{dir}/");
    let beneath = tree.range(prefix.clone()..).map_while(|(path, _)| path.strip_prefix(&prefix));
    beneath.map(|rest| rest.split('/').next().unwrap_or(rest).to_owned()).collect()
}

pub(crate) fn history_ids(fs: &SimFs) -> Vec<String> {
    let bytes = fs.bytes(&format!("{STATE}/history.jsonl")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let id = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(line.get("id")?.as_str()?.to_owned())
    };
    text.lines().map(|line| id(line).unwrap_or_else(|| format!("(torn) {line}"))).collect()
}

/// What differs, a line a file.
pub(crate) fn differences(is: &Files, wanted: &Files) -> Vec<String> {
    let show = |file: Option<&(Rc<[u8]>, u32)>| match file {
        Some((bytes, mode)) => format!("{mode:o} {:?}", String::from_utf8_lossy(bytes)),
        None => "nothing".to_owned(),
    };
    let paths: BTreeSet<_> = is.keys().chain(wanted.keys()).collect();
    let differ = paths.into_iter().filter(|path| is.get(*path) != wanted.get(*path));
    differ
        .map(|path| format!("{path}: {} instead of {}", show(is.get(path)), show(wanted.get(path))))
        .collect()
}
