//! A commit of a night that was decided and could not be finished: the report, the receipt, the history, `last` and
//! `verify` say one thing, before the next start finishes it and after.

use std::process::Command;

use serde_json::Value;

use crate::night::{Night, json_of, step};
use crate::receipts::{last, lines, receipt, verify};
use crate::repo::Ran;

/// A night of which no file is exchanged from this one on.
fn failing_from(night: &Night, number: usize) -> Option<Ran> {
    let start = night.command(&[]);
    let log = night.aside.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=renameat2", "-e"]);
    strace.arg(format!("inject=renameat2:error=EIO:when={number}+")).arg("-o").arg(&log);
    strace.arg(start.get_program()).args(start.get_args());
    strace.env_clear().envs(start.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace.env("PATH", "/usr/bin:/bin");
    let output = strace.output().expect("strace is not installed: ./test installs it");
    let is_injected = std::fs::read_to_string(log).unwrap().contains("(INJECTED)");
    is_injected.then(|| Ran::of(output))
}

/// The commit that has a marker.
fn decided(night: &Night) -> Option<String> {
    let state = std::fs::read_dir(night.repo.state("")).unwrap();
    let mut names = state.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.find_map(|name| Some(name.strip_prefix("COMMIT-MARKER.")?.to_owned()))
}

/// A night whose first commit is decided and not finished, with its id.
fn unfinished() -> (Night, String) {
    for number in 1..40 {
        let night = Night::with_copies();
        let Some(ran) = failing_from(&night, number) else { break };
        let Some(id) = decided(&night) else { continue };
        assert_eq!(ran.code, 1, "{ran}");
        return (night, id);
    }
    panic!("no commit was decided and not finished");
}

fn iteration_of<'a>(summary: &'a Value, id: &str) -> &'a Value {
    let all = summary["iterations"].as_array().unwrap();
    all.iter().find(|one| one["commit"]["id"] == id).unwrap_or_else(|| panic!("{summary:#}"))
}

fn assert_tells(night: &Night, id: &str) {
    let summary = night.summary();
    assert_eq!((&summary["status"], &summary["committed"]), (&"failed".into(), &true.into()));
    let iteration = iteration_of(&summary, id);
    assert_eq!((&iteration["status"], &iteration["committed"]), (&"failed".into(), &true.into()));
    assert_eq!(step(&summary, "iteration-1"), "failed");
    let told = receipt(lines(night).last().unwrap());
    assert_eq!((&told["status"], &told["unfinished"]), (&"failed".into(), &id.into()), "{told:#}");
    assert_eq!(told["work"]["commits"][0]["id"], id, "{told:#}");
    assert_eq!(last(night).expect(1).json()["outcome"], "failed");
    let held = verify(night).expect(0);
    assert!(held.stdout.contains("the next start finishes it"), "{held}");
}

fn assert_amended(night: &Night, summary: &Value, text: &str, id: &str) {
    assert_eq!((&summary["status"], &summary["committed"]), (&"failed".into(), &true.into()));
    assert_eq!(summary["finished_later"][0], id, "{summary:#}");
    let iteration = iteration_of(summary, id);
    assert!(iteration["error"].as_str().unwrap().contains("it is whole"), "{iteration:#}");
    assert!(text.contains("it is whole"), "{text}");
    let all: Vec<Value> = lines(night).iter().map(|line| receipt(line)).collect();
    let amends: Vec<&Value> = all.iter().filter(|one| one["amends"] == 1).collect();
    let [amended] = amends.as_slice() else { panic!("{all:#?}") };
    assert_eq!(amended["work"]["commits"][0]["id"], id, "{amended:#}");
    assert!(amended["seal"].is_string() && amended["unfinished"].is_null(), "{amended:#}");
    verify(night).expect(0);
}

// proves: LOOP-29
#[test]
fn the_next_night_finishes_it_and_says_so_in_the_report_of_the_first() {
    let (night, id) = unfinished();
    assert_tells(&night, &id);
    let run = night.summary()["run_id"].as_str().unwrap().to_owned();
    let next = night.run(&[]).expect(0).json();
    let recovered = next["summary"]["recovered"].to_string();
    assert!(recovered.contains(&format!("commit {id} had been cut off and was finished")));
    assert!(!recovered.contains("never committed"), "{recovered}");
    assert_eq!(decided(&night), None);
    let history = night.repo.read("overnight/history.jsonl");
    assert!(history.lines().next().unwrap().contains(&id), "{history}");
    let summary = json_of(&night.latest(&format!("{run}/summary.json")));
    let text = std::fs::read_to_string(night.latest(&format!("{run}/summary.md"))).unwrap();
    assert_amended(&night, &summary, &text, &id);
    assert_eq!(last(&night).expect(0).json()["outcome"], "done");
    // What was amended once stays so.
    night.run(&[]).expect(0);
    assert_amended(&night, &summary, &text, &id);
}

/// Any command that commits finishes it, and amends what the night said.
#[test]
fn a_recovery_by_hand_amends_the_report_where_it_lies() {
    let (night, id) = unfinished();
    let recovered = night.repo.run(&["tree", "recover"]).expect(0);
    assert!(recovered.stdout.contains("was finished"), "{recovered}");
    assert!(!recovered.stdout.contains("never committed"), "{recovered}");
    assert_amended(&night, &night.summary(), &night.markdown(), &id);
    assert_eq!(last(&night).expect(1).json()["outcome"], "failed");
    night.repo.run(&["tree", "verify"]).expect(0);
    night.run(&[]).expect(0);
    verify(&night).expect(0);
}

/// A report that somebody changed in between is not made whole by what is added to it.
#[test]
fn a_report_that_was_changed_meanwhile_is_not_vouched_for() {
    let (night, _) = unfinished();
    let path = night.latest("summary.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"goal\": \"", "\"goal\": \"another ", 1)).unwrap();
    night.repo.run(&["tree", "recover"]).expect(0);
    let told = verify(&night).expect(5);
    assert!(told.stdout.contains("summary"), "{told}");
}
