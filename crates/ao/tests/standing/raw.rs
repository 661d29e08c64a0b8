//! Readers who do not go through `ao`: at every file-system call of a command each file is whole,
//! each merged text is somewhere, and each folder is the one it was.
//!
//! The command stands still while a reader looks, so nothing depends on who is faster.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use crate::corpus::{NIGHT, settle};
use crate::dice::Dice;
use crate::history::{commits, hashes};
use crate::step::Stepper;
use crate::tally::Tally;
use crate::tree::{Kind, Tree};
use crate::whole::{Facts, ao, held};
use crate::world::{Arena, Edit, RECOVER, STATE, World, delete, edited_tree, shown, write};

/// Looks at a standing command.
const LOOKS_MIN: usize = 1_500;
/// In the default run, recoveries from so many kills.
const KILLS_SAMPLE: usize = 6;

/// Texts that move from one file to another: from, to, in both orders of names, within a part and
/// between two parts.
const MOVES: [(&str, &str); 6] = [
    ("learnings/a-copy.md", "learnings/b-survivor.md"),
    ("learnings/z-copy.md", "learnings/y-survivor.md"),
    ("knowledge/pending/p.md", "learnings/promoted.md"),
    ("findings/f9.md", "knowledge/k9.md"),
    ("patterns/p9.md", "findings/new/f9.md"),
    ("knowledge/q.jsonl", "rpi/next-work.jsonl"),
];

fn claim(number: usize) -> String {
    format!("{{\"claim\":\"The pool of case {number} had no upper bound.\"}}\n")
}

/// The repository, the edits that move each claim, and the repository afterwards.
fn merges() -> (Tree, Vec<Edit>, Tree) {
    let (mut start, mut edits) = (Vec::new(), Vec::new());
    for (number, (from, to)) in MOVES.into_iter().enumerate() {
        start.push(write(from, &claim(number)));
        let is_new = ["learnings/promoted.md", "findings/new/f9.md"].contains(&to);
        let old = if is_new { String::new() } else { "{\"survivor\":true}\n".repeat(400) };
        if !is_new {
            start.push(write(to, &old));
        }
        edits.push(delete(from));
        edits.push(write(to, &format!("{old}{}", claim(number))));
    }
    let before = edited_tree(&crate::world::corpus(), &start);
    let after = edited_tree(&before, &edits);
    (before, edits, after)
}

/// What a reader checks at every moment.
struct Reader {
    /// By path: every version that a file may have.
    versions: BTreeMap<String, BTreeSet<Vec<u8>>>,
    claims: Vec<String>,
    /// Folders by their inodes.
    folders: BTreeMap<String, u64>,
}

impl Reader {
    fn new(world: &World, trees: &[&Tree], claims: Vec<String>) -> Self {
        let mut versions: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for tree in trees {
            for (path, node) in &held(tree, Facts::Bytes).0 {
                let Kind::File(bytes) = &node.kind else { continue };
                versions.entry(path.clone()).or_default().insert(bytes.clone());
            }
        }
        Self { versions, claims, folders: folders(world) }
    }

    fn look(&self, world: &World) -> Result<(), String> {
        let now = held(&world.tree(), Facts::Bytes);
        for (path, node) in &now.0 {
            let Kind::File(bytes) = &node.kind else { return Err(format!("{path} is no file")) };
            let Some(known) = self.versions.get(path) else {
                return Err(format!("{path} is nobody's"));
            };
            if !known.contains(bytes) {
                return Err(format!("{path} is not whole: {} bytes", bytes.len()));
            }
        }
        self.claims_and_folders(world, &now)
    }

    fn claims_and_folders(&self, world: &World, now: &Tree) -> Result<(), String> {
        let texts: Vec<_> = now.0.values().filter_map(text).collect();
        for claim in &self.claims {
            if !texts.iter().any(|text| text.contains(claim)) {
                return Err(format!("in no file: {claim:?}"));
            }
        }
        let folders = folders(world);
        for (path, inode) in &self.folders {
            match folders.get(path) {
                Some(now) if now == inode => {}
                other => return Err(format!("folder {path}: inode {inode} became {other:?}")),
            }
        }
        Ok(())
    }
}

fn text(node: &crate::tree::Node) -> Option<String> {
    match &node.kind {
        Kind::File(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

/// The folders that hold a file, beneath `.agents/` and outside of the state.
fn folders(world: &World) -> BTreeMap<String, u64> {
    let tree = Tree::read(&world.root, Some(STATE));
    let dirs = tree.0.iter().filter(|(_, node)| node.kind == Kind::Dir);
    let kept = dirs.filter(|(path, _)| path.starts_with(".agents"));
    kept.map(|(path, _)| (path.clone(), fs::metadata(world.root.join(path)).unwrap().ino()))
        .collect()
}

/// Steps a command to its end, and looks at every stop. Gives the number of looks.
fn watched(world: &World, reader: &Reader, command: Command) -> Result<usize, String> {
    let mut stepper = Stepper::start(command);
    let mut looks = 0;
    while let Some(stop) = stepper.next() {
        looks += 1;
        reader.look(world).map_err(|why| format!("at {}: {why}", stop.describe()))?;
    }
    let (output, _) = stepper.finish();
    if !output.status.success() {
        return Err(format!("the command failed: {}", shown(&output)));
    }
    reader.look(world)?;
    Ok(looks)
}

#[derive(Clone, Copy)]
enum Case {
    Apply,
    Undo,
    /// Killed at this stop after the marker was there, then recovered.
    Recover(usize),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Apply => write!(f, "raw apply"),
            Self::Undo => write!(f, "raw undo"),
            Self::Recover(stop) => write!(f, "raw recover, killed {stop} past the marker"),
        }
    }
}

// proves: LOOP-04
#[test]
fn raw_readers_see_whole_files_and_every_text() {
    let arena = Arena::new();
    let mut tally =
        Tally::new("raw readers", "raw_readers_see_whole_files_and_every_text", LOOKS_MIN);
    let (before, edits, after) = merges();
    let file = arena.edits_file(&edits);
    let args = ["tree", "apply", &file, "--id", "merged"];
    let count = past_marker(&arena.world(&before), &args);
    let mut cases = vec![Case::Apply, Case::Undo];
    cases.extend(tally.sample((0..count).map(Case::Recover).collect(), KILLS_SAMPLE));
    let looks = tally.run(&cases, |case| {
        let world = arena.world(&before);
        let claims = (0..MOVES.len()).map(claim).collect();
        let reader = Reader::new(&world, &[&before, &after], claims);
        match case {
            Case::Apply => watched(&world, &reader, ao(&world, &args)),
            Case::Undo => {
                crate::whole::must(&world, &args)?;
                let reader = Reader { folders: folders(&world), ..reader };
                // The folder that the commit made goes again when it is empty.
                let reader =
                    Reader { folders: kept(reader.folders, ".agents/findings/new"), ..reader };
                watched(&world, &reader, ao(&world, &["tree", "undo"]))
            }
            Case::Recover(stops) => {
                interrupted(&world, &args, *stops);
                reader.look(&world).map_err(|why| format!("after the kill: {why}"))?;
                watched(&world, &reader, ao(&world, &RECOVER))
            }
        }
    });
    tally.add(looks.iter().map(|(_, looks)| looks).sum());
    tally.finish();
}

fn kept(mut folders: BTreeMap<String, u64>, except: &str) -> BTreeMap<String, u64> {
    folders.remove(except);
    folders
}

/// How many stops a command has from the appearance of its marker on.
fn past_marker(world: &World, args: &[&str]) -> usize {
    let mut stepper = Stepper::start(ao(world, args));
    let mut stops = 0;
    while stepper.next().is_some() {
        stops += usize::from(world.has_marker());
    }
    assert!(stops > 0, "a commit has a marker");
    stops
}

fn interrupted(world: &World, args: &[&str], stops: usize) {
    let mut stepper = Stepper::start(ao(world, args));
    while !world.has_marker() {
        stepper.next().expect("a commit has a marker");
    }
    for _ in 0..stops {
        stepper.next();
    }
    stepper.kill();
}

/// A night over copies and pending learnings. What it will write is not known before it has, so
/// what was seen at each stop is compared with the history afterwards.
// proves: LOOP-04
#[test]
fn raw_readers_see_every_text_of_a_night() {
    let arena = Arena::new();
    let mut tally = Tally::new("raw night", "raw_readers_see_every_text_of_a_night", 100);
    let looks = tally.run(&["raw night"], |_| night(&arena));
    tally.add(looks.iter().map(|(_, looks)| looks).sum());
    tally.finish();
}

fn night(arena: &Arena) -> Result<usize, String> {
    let world = arena.world(&Tree::default());
    settle(&world, &mut Dice::new(7));
    let start = held(&world.tree(), Facts::Bytes);
    let reader = Reader::new(&world, &[], Vec::new());
    let lines: BTreeSet<String> = sentences(&start);
    let mut missing: BTreeMap<&String, String> = BTreeMap::new();
    let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut stepper = Stepper::start(ao(&world, &NIGHT));
    let mut looks = 0;
    let mut last = String::new();
    while let Some(stop) = stepper.next() {
        looks += 1;
        // A kill is no part of this, so a stop without a change of the tree needs no second look.
        let now = held(&world.tree(), Facts::Bytes);
        let print = format!("{:?}", hashes(&now));
        if print == last {
            continue;
        }
        last = print;
        let at = stop.describe();
        reader.claims_and_folders(&world, &now).map_err(|why| format!("at {at}: {why}"))?;
        for (path, hash) in hashes(&now) {
            seen.entry((path, hash)).or_insert_with(|| at.clone());
        }
        let there = sentences(&now);
        for line in lines.iter().filter(|line| !there.contains(*line)) {
            missing.entry(line).or_insert_with(|| at.clone());
        }
    }
    let (output, _) = stepper.finish();
    if !output.status.success() {
        return Err(format!("the night failed: {}", shown(&output)));
    }
    let mut known: BTreeSet<(String, String)> = hashes(&start).into_iter().collect();
    for change in commits(&world).into_iter().flat_map(|commit| commit.changes) {
        known.extend(change.after.map(|hash| (format!(".agents/{}", change.path), hash)));
    }
    if known.len() <= hashes(&start).len() {
        return Err("the night changed nothing".to_owned());
    }
    if let Some((version, at)) = seen.iter().find(|(version, _)| !known.contains(*version)) {
        return Err(format!("nobody's version of {}, at {at}", version.0));
    }
    let end = sentences(&held(&world.tree(), Facts::Bytes));
    match missing.iter().find(|(line, _)| end.contains(line.as_str())) {
        Some((line, at)) => Err(format!("for a while in no file, at {at}: {line:?}")),
        None => Ok(looks),
    }
}

/// Sentences and other lines that say something of their own.
fn sentences(tree: &Tree) -> BTreeSet<String> {
    const OWN_BYTES_MIN: usize = 30;
    let texts: Vec<String> = tree.0.values().filter_map(text).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter(|line| line.len() >= OWN_BYTES_MIN).map(str::to_owned).collect()
}
