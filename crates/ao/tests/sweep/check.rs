//! The one question that every engine asks: wholly before or wholly after, nothing lost, nothing
//! left over?

use std::collections::BTreeSet;

use crate::tree::Tree;
use crate::world::{HELD, RECOVER, STATE, Scenario, World};

/// All that may stand in `overnight/` when no commit is under way.
const STATE_NAMES: [&str; 9] = [
    ".gitignore",
    "run.lock",
    "run.alive",
    "commit.lock",
    "generation",
    "history.jsonl",
    "undo",
    "archive",
    "conflicts",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Before,
    After,
}

/// What a case looked like before the command was attacked.
pub(crate) struct Start {
    tree: Tree,
    state: Tree,
    ids: Vec<String>,
}

impl Start {
    pub(crate) fn of(world: &World) -> Self {
        Self { tree: world.tree(), state: own_state(world), ids: history_ids(world) }
    }
}

/// The full check, on a world that has recovered.
pub(crate) fn check(world: &World, scenario: &Scenario, start: &Start) -> Result<State, String> {
    let tree = world.tree();
    let state = whole(&tree, scenario)?;
    let keeps = |path: &str| state == State::Before || !scenario.edited.contains(path);
    empty("unchanged files were disturbed", &start.tree.disturbed(&tree, keeps))?;
    check_state(world, start, state)?;
    check_quiet(world)?;
    Ok(state)
}

/// Nothing is left over of a commit, whatever it made of the tree.
pub(crate) fn check_quiet(world: &World) -> Result<(), String> {
    for name in own_state(world).0.keys().filter(|name| !name.contains('/')) {
        if !STATE_NAMES.contains(&name.as_str()) {
            return Err(format!("left over: {STATE}/{name}"));
        }
    }
    check_generation(world)?;
    let all = Tree::read(&world.agents(""), None);
    empty("files with more than one link", &all.linked())?;
    world.must(&["tree", "verify"]).map(|_| ())
}

/// [`check`], and then that life goes on: a later start finds nothing to do, and what was rolled
/// back can be done after all.
pub(crate) fn check_and_go_on(
    world: &World,
    scenario: &Scenario,
    start: &Start,
) -> Result<State, String> {
    let state = check(world, scenario, start)?;
    let again = match state {
        State::After => world.must(&RECOVER),
        State::Before => world.must(&scenario.args()),
    };
    again.map_err(|why| format!("after recovery: {why}"))?;
    match check(world, scenario, start).map_err(|why| format!("later: {why}"))? {
        State::After => Ok(state),
        State::Before => Err("the command, run again, changed nothing".to_owned()),
    }
}

/// The tree as one: before or after.
pub(crate) fn whole(tree: &Tree, scenario: &Scenario) -> Result<State, String> {
    let from_before = scenario.before.difference(tree);
    if from_before.is_empty() {
        return Ok(State::Before);
    }
    let from_after = scenario.after.difference(tree);
    if from_after.is_empty() {
        return Ok(State::After);
    }
    Err(format!("torn tree\n differs from before:\n{from_before} and from after:\n{from_after}"))
}

/// Holds at every moment, also while a commit is under way: each subpath is wholly one or the
/// other, and nothing else in the repository changed. Folders that an undo empties go a moment
/// after their files.
pub(crate) fn check_subpaths(world: &World, scenario: &Scenario) -> Result<(), String> {
    let tree = world.tree();
    let mut rest = [tree.clone(), scenario.before.clone()];
    for held in HELD {
        let path = format!(".agents/{held}");
        let part = |tree: &Tree| tree.beneath(&path).without_empty_dirs();
        let from_before = part(&scenario.before).difference(&part(&tree));
        let from_after = part(&scenario.after).difference(&part(&tree));
        if !from_before.is_empty() && !from_after.is_empty() {
            return Err(format!(
                "{held} is torn\n differs from before:\n{from_before} and from after:\n{from_after}"
            ));
        }
        for tree in &mut rest {
            let names: Vec<_> = tree.beneath(&path).0.into_keys().collect();
            for name in names {
                tree.0.remove(&name);
            }
        }
    }
    let [now, before] = rest;
    empty("something that is not held changed", &before.difference(&now))
}

/// The weaker promise of a file system that cannot exchange directories: each file is wholly one
/// or the other.
pub(crate) fn check_files(world: &World, scenario: &Scenario) -> Result<(), String> {
    let tree = world.tree();
    let all = scenario.before.0.keys().chain(scenario.after.0.keys()).chain(tree.0.keys());
    for path in all.collect::<BTreeSet<_>>() {
        let now = tree.bytes(path);
        if now != scenario.before.bytes(path) && now != scenario.after.bytes(path) {
            return Err(format!("{path} is neither as before nor as after"));
        }
    }
    Ok(())
}

/// `ao`'s own state: it changed with the commit, or not at all.
fn check_state(world: &World, start: &Start, state: State) -> Result<(), String> {
    let now = own_state(world);
    let ids = history_ids(world);
    match state {
        State::Before => {
            if ids != start.ids {
                return Err(format!("tree before, history {ids:?}, was {:?}", start.ids));
            }
            empty(
                "tree before, but the state changed",
                &stable(&start.state).difference(&stable(&now)),
            )
        }
        State::After => {
            let [earlier @ .., new] = ids.as_slice() else {
                return Err("tree after, but the history is empty".to_owned());
            };
            if earlier != start.ids {
                return Err(format!("tree after, history {ids:?}, was {:?}", start.ids));
            }
            let mut expected = undo_names(&start.state);
            expected.insert(new.clone());
            let found = undo_names(&now);
            if found != expected {
                return Err(format!("undo store holds {found:?}, expected {expected:?}"));
            }
            Ok(())
        }
    }
}

fn check_generation(world: &World) -> Result<(), String> {
    match std::fs::read_to_string(world.state("generation")) {
        Ok(text) => match text.trim().parse::<u64>() {
            Ok(number) if number % 2 == 0 => Ok(()),
            _ => Err(format!("generation is {text:?}, not an even number")),
        },
        // Killed before anything was ever committed here.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("generation: {error}")),
    }
}

/// The state without what every start may touch, and without empty stores.
fn stable(state: &Tree) -> Tree {
    let passing = [
        ".gitignore",
        "run.lock",
        "run.alive",
        "commit.lock",
        "generation",
        "undo",
        "archive",
        "conflicts",
    ];
    let kept = state.0.iter().filter(|(name, _)| !passing.contains(&name.as_str()));
    Tree(kept.map(|(name, node)| (name.clone(), node.clone())).collect())
}

fn own_state(world: &World) -> Tree {
    let dir = world.state("");
    if dir.exists() { Tree::read(&dir, None) } else { Tree::default() }
}

fn undo_names(state: &Tree) -> BTreeSet<String> {
    let names = state.0.keys().filter_map(|name| name.strip_prefix("undo/"));
    names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
}

pub(crate) fn history_ids(world: &World) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(world.state("history.jsonl")) else {
        return Vec::new();
    };
    text.lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("history line {line:?}: {error}"));
            record["id"].as_str().unwrap_or_else(|| panic!("no id in {line:?}")).to_owned()
        })
        .collect()
}

fn empty(what: &str, difference: &str) -> Result<(), String> {
    if difference.is_empty() { Ok(()) } else { Err(format!("{what}\n{difference}")) }
}
