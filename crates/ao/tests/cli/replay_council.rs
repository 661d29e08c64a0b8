//! Nights that asked runners, run again: the answers come from the cassette, or from another runner.

use std::fs;

use serde_json::Value;

use crate::council::Table;
use crate::night::{json_of, learning};
use crate::repo::{Tree, files};
use crate::vault::{VALUE, files_with};

fn table() -> Table {
    let table = Table::new();
    table.write(".agents/learnings/2026-03-02-copy.md", &learning(1));
    table
}

fn judge(table: &Table, name: &str, kind: &str) -> String {
    table.judge(name, kind, "high", "")
}

fn spend(table: &Table, runners: &[&str]) -> String {
    table.night(runners, &[]).expect(0);
    table.run_id()
}

fn tree(table: &Table) -> Tree {
    files(&table.path(".agents"))
}

#[test]
fn runners_are_played_back_and_not_asked() {
    let table = table();
    let first = judge(&table, "first", "repair");
    let second = judge(&table, "second", "document");
    let bad = table.desk.program("bad", "cat > /dev/null; echo nothing of the form");
    let bad = format!("command:{}", bad.display());
    let run = spend(&table, &[&first, &second, &bad]);
    let summary = json_of(&table.path(".agents/overnight/latest/summary.json"));
    assert_eq!(summary["council"]["completed_runners"].as_array().unwrap().len(), 2, "{summary:#}");
    let before = tree(&table);
    // Whoever is asked now says something else.
    for name in ["first", "second", "bad"] {
        judge(&table, name, "research");
    }
    let told = table.replay(&run, &[]).expect(0).json();
    assert_eq!(told["identical"], true, "{told:#}");
    assert!(before == tree(&table), "something was written");
    // Without its cassette it is another night.
    let cassette = table.path(&format!(".agents/overnight/cassettes/{run}.jsonl"));
    let lines = fs::read_to_string(&cassette).unwrap();
    fs::write(&cassette, lines.replacen("repair it", "remove it", 1)).unwrap();
    let told = table.replay(&run, &[]).expect(1).json();
    assert!(told["differences"].to_string().contains("remove it"), "{told:#}");
    fs::write(&cassette, "no line\n").unwrap();
    let told = table.replay(&run, &[]).expect(6);
    assert!(told.stderr.contains("line 1"), "{}", told.stderr);
}

#[test]
fn another_runner_is_asked_in_their_place() {
    let table = table();
    let first = judge(&table, "first", "repair");
    let run = spend(&table, &[&first]);
    let other = judge(&table, "other", "document");
    let before = tree(&table);
    let told = table.replay(&run, &["--swap", &other]).expect(0).json();
    assert_eq!(told["identical"], false);
    assert_eq!(told["swap"], other.as_str());
    let is_action = |one: &&Value| one["path"] == "council.recommended_first_action";
    let differences = told["differences"].as_array().unwrap();
    let action = differences.iter().find(is_action).unwrap_or_else(|| panic!("{told:#}"));
    assert_eq!((&action["then"], &action["now"]), (&"repair it".into(), &"document it".into()));
    // The corpus is the same: what the night itself found out does not differ.
    let paths = differences.iter().map(|one| one["path"].as_str().unwrap());
    assert!(!paths.into_iter().any(|path| path.starts_with("iterations")), "{told:#}");
    assert!(before == tree(&table), "something was written");
    // One that is not there is told of, in its place.
    let told = table.replay(&run, &["--swap", "command:/nowhere/x"]).expect(0).json();
    assert!(told["differences"].to_string().contains("/nowhere/x"), "{told:#}");
}

#[test]
fn a_dry_run_asks_nobody_in_the_place_of_others() {
    let table = Table::new();
    let one = judge(&table, "one", "repair");
    let run = spend(&table, &[&one]);
    // It could not end well if it was started.
    let path = table.desk.program("dear", "exec sleep 61.75");
    let dear = format!("command:{}", path.display());
    let told = table.replay(&run, &["--dry-run", "--swap", &dear]).expect(0).json();
    assert_eq!((&told["status"], &told["asked"][0]), (&"preview".into(), &one.into()), "{told:#}");
}

// Whoever can write a record can write its digest, too.
#[test]
fn a_record_that_leads_out_of_the_scratch_folder_is_refused() {
    let table = Table::new();
    let one = judge(&table, "one", "repair");
    let run = spend(&table, &[&one]);
    let path = table.path(&format!(".agents/overnight/cassettes/{run}.night.json"));
    let aim = table.desk.home.path("bin/aim");
    let up = "../".repeat(30);
    let mut night = json_of(&path);
    night["council"]["seats"][0]["slug"] =
        format!("{up}{}", aim.to_str().unwrap().trim_start_matches('/')).into();
    night["digest"] = "".into();
    night["digest"] = blake3::hash(night.to_string().as_bytes()).to_hex().to_string().into();
    fs::write(&path, night.to_string()).unwrap();
    let told = table.replay(&run, &[]);
    assert!(!aim.with_extension("json").exists(), "{told}");
    let told = told.expect(6);
    assert!(told.stderr.contains("no name of a file"), "{told}");
}

#[test]
fn where_nobody_was_asked_nobody_can_be_swapped() {
    let table = table();
    let run = spend(&table, &[]);
    let told = table.replay(&run, &["--swap", "ollama"]).expect(2);
    assert!(told.stderr.contains("nobody was asked"), "{}", told.stderr);
}

#[test]
fn a_corpus_with_a_value_of_the_vault_is_not_copied() {
    let table = table();
    let path = table.path(".agents/learnings/2026-03-01-leak.md");
    fs::write(&path, format!("{}\n{VALUE}\n", learning(9))).unwrap();
    table.desk.home.settle();
    let run = spend(&table, &[]);
    let summary = json_of(&table.path(".agents/overnight/latest/summary.json"));
    let why = summary["not_replayable"].as_str().unwrap();
    assert!(why.contains("2026-03-01-leak.md holds a value of the vault"), "{why}");
    let state = table.path(".agents/overnight");
    assert!(files_with(&state, VALUE).is_empty());
    let told = table.replay(&run, &[]).expect(6);
    assert!(told.stderr.contains("a value of the vault"), "{}", told.stderr);
}
