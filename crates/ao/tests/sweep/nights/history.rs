//! The commits as their records tell of them, read without `ao`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tree::{Kind, Tree};
use crate::world::World;

/// What one commit did to one file.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) op: String,
    pub(super) before: Option<String>,
    /// The hash of the file; `None` where it was deleted.
    pub(super) after: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Commit {
    pub(super) id: String,
    pub(super) changes: Vec<Change>,
}

impl Commit {
    pub(super) fn count(&self, op: &str) -> usize {
        self.changes.iter().filter(|change| change.op == op).count()
    }
}

pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Every commit, oldest first.
pub(super) fn commits(world: &World) -> Vec<Commit> {
    let text = std::fs::read_to_string(world.state("history.jsonl")).unwrap_or_default();
    text.lines().map(|line| read(world, &parsed(line))).collect()
}

fn read(world: &World, line: &Value) -> Commit {
    let file = world.state(line["record"].as_str().unwrap());
    let record = parsed(&std::fs::read_to_string(file).unwrap());
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let change = |change: &Value| Change {
        path: text(&change["path"]).unwrap(),
        op: text(&change["op"]).unwrap(),
        before: text(&change["before"]["hash"]),
        after: text(&change["after"]["hash"]),
    };
    let commit = Commit {
        id: text(&record["id"]).unwrap(),
        changes: record["changes"].as_array().unwrap().iter().map(change).collect(),
    };
    for (op, told) in [("add", "added"), ("change", "changed"), ("delete", "deleted")] {
        assert_eq!(line[told], commit.count(op), "{told} in the history line of {}", commit.id);
    }
    commit
}

pub(super) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Every file beneath a tree, by its hash.
pub(super) fn hashes(tree: &Tree) -> BTreeMap<String, String> {
    let file = |(path, node): (&String, &crate::tree::Node)| match &node.kind {
        Kind::File(bytes) => Some((path.clone(), hash(bytes))),
        _ => None,
    };
    tree.0.iter().filter_map(file).collect()
}

/// With nobody else at work, the commits and nothing but the commits made `after` of `before`.
pub(super) fn replayed(before: &Tree, after: &Tree, commits: &[Commit]) -> Result<(), String> {
    let mut tree = hashes(before);
    for commit in commits {
        for change in &commit.changes {
            let found = match &change.after {
                Some(new) => tree.insert(change.path.clone(), new.clone()),
                None => tree.remove(&change.path),
            };
            if found != change.before {
                return Err(format!("{} says that it found another {}", commit.id, change.path));
            }
        }
    }
    let after = hashes(after);
    let names = tree.keys().chain(after.keys());
    let differing: Vec<_> = names.filter(|path| tree.get(*path) != after.get(*path)).collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(format!("changed, and not by what the commits say: {differing:?}"))
}

/// What a person sees who compares the trees: files added, changed, deleted.
pub(super) fn difference(before: &Tree, after: &Tree, except: &str) -> [usize; 3] {
    let (before, after) = (hashes(before), hashes(after));
    let added = after.keys().filter(|path| !before.contains_key(*path) && *path != except);
    let is_other = |path: &&String| before.get(*path).is_some_and(|old| *old != after[*path]);
    let changed = after.keys().filter(|path| *path != except).filter(is_other);
    let deleted = before.keys().filter(|path| !after.contains_key(*path) && *path != except);
    [added.count(), changed.count(), deleted.count()]
}
