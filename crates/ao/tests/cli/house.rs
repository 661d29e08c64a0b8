//! House rules that no lint knows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Normal and build dependencies, our own crates among them.
const CRATES_MAX: usize = 320;

/// Files outside of `ao-tree` that look at a tree by the kernel's own calls, and write nothing.
const LOOKING: [&str; 3] =
    ["ao-guard/src/scope/place.rs", "ao-guard/src/audit/look.rs", "ao-guard/src/cell/late.rs"];

/// Files outside of `ao-tree` that open files by themselves: what a cell does to the kernel, and the mutants, which
/// know no other room. The list only gets shorter.
const OPENING: [&str; 3] =
    ["ao-guard/src/cell/attack.rs", "ao-guard/src/cell/maps.rs", "ao-mutant/src/lib.rs"];

/// The families whose claims need a mutant each.
const WITH_MUTANTS: [&str; 4] = ["RUN", "CUR", "LOOP", "REP"];
/// Of the other families, these clauses.
const CLAUSES_WITH_MUTANTS: [&str; 1] = ["GRD-07"];

/// Clauses without a mutant, and why. The list only gets shorter.
const WITHOUT_MUTANT: [(&str, &str); 0] = [];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

#[test]
fn dependencies_stay_within_their_budget() {
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(workspace()).args([
        "tree",
        "--locked",
        "--offline",
        "--workspace",
        "-e",
        "normal,build",
        "--prefix",
        "none",
        "-f",
        "{p}",
    ]);
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let crates: BTreeSet<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    println!("dependencies: {} of {CRATES_MAX}", crates.len());
    assert!(crates.len() > 10 && crates.len() <= CRATES_MAX, "{} crates", crates.len());
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// The lint knows the ways of std; these are the other doors to the same rooms.
#[test]
fn the_two_monopolies_hold_beyond_the_lint() {
    let mut files = Vec::new();
    for room in [
        "ao",
        "ao-contract",
        "ao-corpus",
        "ao-guard",
        "ao-night",
        "ao-runner",
        "ao-tree",
        "ao-vault",
    ] {
        sources(&workspace().join("crates").join(room).join("src"), &mut files);
    }
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let room = file
            .strip_prefix(workspace().join("crates"))
            .unwrap()
            .iter()
            .next()
            .unwrap()
            .to_str()
            .unwrap();
        if room != "ao-tree" && !LOOKING.iter().any(|looking| file.ends_with(looking)) {
            assert!(!text.contains("rustix::fs"), "{}: only ao-tree writes files", file.display());
        }
        if room != "ao-guard" {
            assert!(
                !text.contains("process::Command"),
                "{}: only ao-guard starts programs",
                file.display()
            );
        }
        if room == "ao-contract" {
            assert!(
                !text.contains("std::fs") && !text.contains("std::env"),
                "{}: no I/O",
                file.display()
            );
        }
    }
}

/// The lint sees what is called; this sees the rooms that are excepted from it, and those that come by another name.
#[test]
fn files_are_opened_in_one_way() {
    let mut files = Vec::new();
    sources(&workspace().join("crates"), &mut files);
    let mut excepted: BTreeSet<&str> = BTreeSet::new();
    for file in files.iter().filter(|file| file.iter().any(|part| part == "src")) {
        let text = fs::read_to_string(file).unwrap();
        let program = text.split("#[cfg(test)]").next().unwrap();
        let is_test = file.ends_with("tests.rs") || file.ends_with("ao-tree/src/own_file.rs");
        let ways = ["File::open(", "fs::read(", "fs::read_to_string(", "OpenOptions::new("];
        let Some(way) = ways.iter().find(|way| program.contains(**way) && !is_test) else {
            continue;
        };
        let known = OPENING.iter().find(|known| file.ends_with(known));
        assert!(known.is_some(), "{}: {way}: ao_tree::own_file opens files", file.display());
        excepted.extend(known);
    }
    assert_eq!(excepted.len(), OPENING.len(), "only {excepted:?} are needed");
}

/// The clauses that a test claims, with the file of one that does.
fn claimed() -> BTreeMap<String, PathBuf> {
    let mut files = Vec::new();
    sources(&workspace().join("crates"), &mut files);
    let mut claimed = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("// proves: "));
        for clause in lines.flat_map(|line| line.split(", ")) {
            claimed.insert(clause.to_owned(), file.clone());
        }
    }
    claimed
}

/// The clauses that have a mutant in the sources.
fn mutated() -> BTreeSet<String> {
    let mut files = Vec::new();
    for room in fs::read_dir(workspace().join("crates")).unwrap() {
        let room = room.unwrap().path();
        if !room.ends_with("ao-mutant") {
            sources(&room.join("src"), &mut files);
        }
    }
    let mut mutated = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for call in text.split("ao_mutant::active(").skip(1) {
            let name = call.trim_start().trim_start_matches('"');
            mutated.insert(name.split('/').next().unwrap().to_owned());
        }
    }
    mutated
}

/// A proof that cannot fail proves nothing: `./mutants` shows that these can.
#[test]
fn a_clause_that_a_test_claims_has_a_mutant() {
    let (claimed, mutated) = (claimed(), mutated());
    assert!(claimed.len() > 100 && mutated.contains("RUN-01"), "{mutated:?}");
    for (clause, why) in WITHOUT_MUTANT {
        assert!(claimed.contains_key(clause), "{clause}: no test claims it; take it off the list");
        assert!(!mutated.contains(clause), "{clause}: it has a mutant; take it off the list");
        assert!(why.len() > 20, "{clause}: say why");
    }
    let is_excepted = |clause: &str| WITHOUT_MUTANT.iter().any(|(excepted, _)| *excepted == clause);
    for (clause, file) in &claimed {
        let family = clause.split('-').next().unwrap();
        let is_held =
            WITH_MUTANTS.contains(&family) || CLAUSES_WITH_MUTANTS.contains(&clause.as_str());
        if is_held && !is_excepted(clause) {
            let file = file.display();
            assert!(mutated.contains(clause), "{clause} has no mutant; {file} claims it");
        }
    }
}

/// A test file that no `mod` names is a test that never runs.
#[test]
fn no_test_file_is_forgotten() {
    let mut files = Vec::new();
    sources(&workspace().join("crates"), &mut files);
    for file in
        files.iter().filter(|file| file.components().any(|part| part.as_os_str() == "tests"))
    {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let folder = file.parent().unwrap();
        let main = if name == "main" || name == "mod" { continue } else { folder.join("main.rs") };
        if !main.exists() {
            continue;
        }
        let text = fs::read_to_string(&main).unwrap();
        assert!(
            text.contains(&format!("mod {name};")),
            "{} is not named in {}",
            file.display(),
            main.display()
        );
    }
}
