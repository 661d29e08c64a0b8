//! Transcripts in a night: planned, taken, told, taken back and run again.

use std::fs;

use serde_json::{Value, json};

use crate::repo::{Ran, contents};
use crate::signals::{PNPM, Sessions, line, session};

fn plan(sessions: &Sessions) -> Value {
    sessions.run(&["--json", "overnight", "plan"]).expect(0).json()
}

/// A session with so many corrections, none like another.
fn many(sessions: &Sessions, count: usize) -> String {
    let root = sessions.root();
    let mut text = line(&root, "assistant", &json!([{ "type": "text", "text": "Done." }]));
    for number in 0..count {
        text += &line(
            &root,
            "user",
            &json!(format!("no, use port {number} in conf/{number}.toml instead of the default")),
        );
    }
    text
}

// proves: LOOP-24
#[test]
fn a_night_takes_what_is_new_once_and_says_so() {
    let sessions = Sessions::new().waiting();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    let before = sessions.night.all_files();
    let planned = plan(&sessions);
    assert_eq!(
        (&planned["sources"]["transcripts"], &planned["sources"]["lessons"]),
        (&1.into(), &1.into())
    );
    assert!(before == sessions.night.all_files(), "the plan left something behind");
    let summary = sessions.spend(&[]);
    let first = &summary["iterations"][0];
    assert_eq!(planned["edits"], first["reduce"]["changes"], "{planned:#}");
    let ingest = &first["ingest"];
    assert_eq!(ingest["lessons"].as_array().unwrap().len(), 1, "{ingest:#}");
    assert_eq!(ingest["transcripts"][0]["own"], 1, "{ingest:#}");
    let [path] = sessions.pending().try_into().unwrap();
    assert!(sessions.night.repo.read(&path).contains("trust: user"));
    // The iteration that brought it has decided nothing about it; today's rules have.
    let told = sessions.run(&["--json", "overnight", "explain", &path]).expect(0).json();
    assert_eq!(told["rules"][0]["rule"], "promotion", "{told:#}");
    let receipts = sessions.night.repo.read("overnight/receipts.jsonl");
    let receipt: Value = serde_json::from_str(receipts.lines().last().unwrap()).unwrap();
    assert_eq!(receipt["inputs"]["transcripts"], 1, "{receipt:#}");
    let report = sessions.night.markdown();
    assert!(report.contains("1 lessons") && report.contains("a.jsonl:3"), "{report}");
    // Neither what is only pending nor that it came moves the fitness.
    assert_eq!(first["fitness_delta"].as_f64(), Some(0.0), "{first:#}");
    // The next night has nothing to do, and the one after it reads nothing.
    let tree = sessions.night.repo.tree();
    let summary = sessions.spend(&[]);
    assert_eq!(summary["iterations"][0]["reduce"]["edits"], 0, "{summary:#}");
    std::thread::sleep(std::time::Duration::from_millis(50));
    sessions.spend(&[]);
    let summary = sessions.spend(&[]);
    assert!(summary["unchanged_since"].is_object(), "{summary:#}");
    assert!(plan(&sessions)["unchanged_since"].is_string());
    assert!(tree == sessions.night.repo.tree());
    // Another repository's session is nothing new; one of this repository is.
    sessions.put(".claude/projects/-x/b.jsonl", &session(std::path::Path::new("/elsewhere"), PNPM));
    sessions.spend(&[]);
    sessions.claude("b.jsonl", &session(&sessions.root(), "no, use vitest instead of jest here"));
    let summary = sessions.spend(&[]);
    assert!(summary["unchanged_since"].is_null(), "{summary:#}");
    assert_eq!(sessions.pending().len(), 2);
}

// proves: LOOP-24
#[test]
fn a_night_that_is_taken_back_is_taken_again() {
    for sessions in [Sessions::new(), Sessions::new().waiting()] {
        let there = || sessions.pending();
        sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
        let before = contents(&sessions.night.repo.tree());
        let summary = sessions.spend(&[]);
        let taken = there();
        assert_eq!(taken.len(), 1, "{summary:#}");
        sessions.run(&["overnight", "undo", summary["run_id"].as_str().unwrap()]).expect(0);
        let mut after = contents(&sessions.night.repo.tree());
        after.retain(|path, _| !path.starts_with("rpi/") && !path.starts_with("ao/"));
        assert_eq!(after, before);
        sessions.spend(&[]);
        assert_eq!(there(), taken);
        // What somebody deleted stays deleted.
        fs::remove_file(sessions.night.repo.agents().join(&taken[0])).unwrap();
        sessions.spend(&[]);
        assert_eq!(there(), Vec::<String>::new());
    }
}

/// What a person vouched for today is knowledge in the morning, and where it came from is told.
// proves: RUN-44, LOOP-24
#[test]
fn a_lesson_of_today_that_somebody_vouched_for_is_promoted_tonight() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    sessions.claude("b.jsonl", &misused(&sessions));
    let before = sessions.night.all_files();
    let planned = plan(&sessions);
    assert!(before == sessions.night.all_files(), "the plan left something behind");
    let summary = sessions.spend(&[]);
    let first = &summary["iterations"][0];
    assert_eq!(planned["edits"], first["reduce"]["changes"], "{planned:#}");
    // Whose words they are makes no difference: both wait.
    let all = sessions.pending();
    let said = all.iter().find(|path| path.contains("pnpm")).unwrap();
    let waits = all.iter().find(|path| *path != said).unwrap().clone();
    let lessons = first["ingest"]["lessons"].as_array().unwrap();
    let paths: Vec<&str> = lessons.iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&said.as_str()) && paths.contains(&waits.as_str()), "{paths:?}");
    let vouch = ["trust", said, "--vouch", "--why", "I said it"];
    sessions.night.repo.typed(&vouch).expect(0);
    let summary = sessions.spend(&[]);
    let [path] = sessions.promoted().try_into().unwrap();
    assert_eq!(sessions.pending(), std::slice::from_ref(&waits));
    let text = sessions.night.repo.read(&path);
    for part in ["trust: user\n", "pnpm", "a.jsonl:3", "\ntaken_on: ", "\npromoted_at: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(sessions.night.repo.read(&waits).contains("trust: tool\n"), "{summary:#}");
    // The name that the ledger has leads there.
    let ledger = sessions.night.repo.tree().into_keys().find(|path| path.contains("taken/trans"));
    let ledger = sessions.night.repo.read(&ledger.unwrap());
    let line: Value = ledger
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["entry"] != waits.as_str())
        .unwrap();
    let name = line["entry"].as_str().unwrap().rsplit('/').next().unwrap();
    let shown = sessions.run(&["--json", "show", name]).expect(0).json();
    assert!(shown["path"].as_str().unwrap().ends_with(&path), "{shown:#}");
    let run = summary["run_id"].as_str().unwrap();
    let told = sessions.run(&["--json", "overnight", "replay", run]).expect(0).json();
    assert_eq!(told["identical"], true, "{told:#}");
    // Nothing of it is taken again.
    let tree = sessions.night.repo.tree();
    let again = sessions.spend(&["--full"]);
    assert_eq!(again["iterations"][0]["reduce"]["edits"], 0, "{again:#}");
    assert!(tree == sessions.night.repo.tree());
}

#[test]
fn a_replay_is_told_what_the_transcripts_said_then() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    let run = sessions.spend(&[])["run_id"].as_str().unwrap().to_owned();
    let record = sessions.night.repo.state("cassettes").join(format!("{run}.night.json"));
    sessions.run(&["schema", "night", "--check", record.to_str().unwrap()]).expect(0);
    // Gone since, and another one came.
    fs::remove_dir_all(sessions.home.join(".claude")).unwrap();
    sessions.codex("rollout-x.jsonl", "{}\n");
    let told = sessions.run(&["--json", "overnight", "replay", &run]).expect(0).json();
    assert_eq!(told["identical"], true, "{told:#}");
}

/// Its night was taken back after a person had vouched for it: the next one takes it and promotes it at once. What
/// somebody else writes meanwhile makes the night measure again, and to the same.
// proves: RUN-44
#[test]
fn a_lesson_that_is_promoted_at_once_counts_on_both_sides() {
    let measured = |is_disturbed: bool| {
        let sessions = Sessions::new();
        sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
        let run = sessions.spend(&[])["run_id"].as_str().unwrap().to_owned();
        let [path] = sessions.pending().try_into().unwrap();
        let vouch = ["trust", &path, "--vouch", "--why", "I said it"];
        sessions.night.repo.typed(&vouch).expect(0);
        sessions.run(&["overnight", "undo", &run]).expect(0);
        assert_eq!(sessions.pending(), Vec::<String>::new());
        let mut command = sessions.night.command(&[]);
        let held = sessions.night.held(command.env("HOME", &sessions.home), "commit");
        if is_disturbed {
            sessions.night.repo.write("plans/p.txt", "no entry\n");
        }
        held.go_on().expect(0);
        assert_eq!(sessions.promoted().len(), 1);
        let first = sessions.night.summary()["iterations"][0].clone();
        [first["fitness_before"].clone(), first["fitness_after"].clone()]
    };
    let [before, after] = measured(false);
    assert_ne!(before, after, "it is worth more than a pending one");
    assert_eq!(measured(true), [before, after]);
}

#[test]
fn a_night_takes_so_many_and_leaves_the_rest_for_the_next() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &many(&sessions, 130));
    let planned = plan(&sessions);
    assert_eq!(planned["sources"]["lessons_waiting"], 30, "{:#}", planned["sources"]);
    let text = sessions.run(&["overnight", "plan"]).expect(0).stdout;
    assert!(text.contains("30 more lessons wait"), "{text}");
    let summary = sessions.spend(&[]);
    assert_eq!(summary["iterations"][0]["ingest"]["lessons_waiting"], 30, "{summary:#}");
    assert_eq!(sessions.pending().len(), 100);
    assert_eq!(summary["status"], "done", "{summary:#}");
    assert_eq!(
        summary["warn_only_remaining"], summary["warn_only_budget_initial"],
        "a rescue was spent"
    );
    sessions.spend(&[]);
    assert_eq!(sessions.pending().len(), 130);
}

#[test]
fn a_dry_night_keeps_nothing() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    let tree = sessions.night.repo.tree();
    let mut command = sessions.night.repo.command(&[
        "--dry-run",
        "--json",
        "overnight",
        "start",
        "--no-keep-awake",
    ]);
    Ran::of(command.env("HOME", &sessions.home).output().unwrap()).expect(0);
    assert!(tree == sessions.night.repo.tree());
}

/// A session in which a command was called in a wrong way, and then in the right one.
fn misused(sessions: &Sessions) -> String {
    let root = sessions.root();
    let ran = |id: &str, command: &str, error: &str| {
        let used = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": error, "is_error": !error.is_empty() }]);
        line(&root, "assistant", &used) + &line(&root, "user", &result)
    };
    ran("t1", "npm run test", "npm error Missing script: \"test\"")
        + &ran("t2", "npm run test:unit", "")
}

/// However old a session is, what came of it waits from the day on which it came, where it is to wait; and then until
/// somebody vouches for it, whoever said it.
#[test]
fn an_old_lesson_waits_from_the_day_it_came_in() {
    let sessions = Sessions::new().waiting();
    let old = |text: String| text.replace("2026-03-01", "2026-01-01");
    sessions.claude("a.jsonl", &old(session(&sessions.root(), PNPM)));
    sessions.claude("b.jsonl", &old(misused(&sessions)));
    sessions.spend(&[]);
    let taken = sessions.pending();
    assert!(taken.len() == 2 && taken.iter().all(|path| path.contains("2026-01-01")), "{taken:?}");
    let tree = sessions.night.repo.tree();
    let again = sessions.spend(&["--full"]);
    assert_eq!(again["iterations"][0]["reduce"]["edits"], 0, "{again:#}");
    assert!(tree == sessions.night.repo.tree());
    // Days later they are judged like any other: here they were taken days ago.
    for path in &taken {
        let text = sessions.night.repo.read(path);
        let (before, rest) = text.split_once("taken_on: ").unwrap();
        sessions.night.repo.write(path, &format!("{before}taken_on: 2026-03-10{}", &rest[10..]));
    }
    let planned = plan(&sessions);
    let summary = sessions.spend(&[]);
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"]);
    let learned = |has: &str| {
        let mut all = sessions.night.repo.tree().into_keys();
        let path = all.find(|path| path.starts_with("learnings/2026-01-01") && path.contains(has));
        path.map(|path| sessions.night.repo.read(&path))
    };
    // Whose words they are makes no difference: any program can write a transcript.
    assert_eq!((learned("pnpm"), sessions.pending().len()), (None, 2));
    let mut pending = sessions.pending().into_iter();
    let waits = pending.find(|path| path.contains("npm-run")).unwrap();
    assert!(sessions.night.repo.read(&waits).contains("trust: tool\n"), "{summary:#}");
    assert_eq!(learned("npm-run"), None);
    let held = summary["close_loop"]["pending"].as_array().unwrap();
    let held = held.iter().find(|one| one["path"] == waits.as_str()).unwrap();
    assert_eq!((&held["waits_for_person"], &held["trust"]), (&true.into(), &"tool".into()));
    for path in sessions.pending() {
        let vouch = ["trust", &path, "--vouch", "--why", "I ran both"];
        sessions.night.repo.typed(&vouch).expect(0);
    }
    let summary = sessions.spend(&[]);
    let said = learned("pnpm").unwrap();
    assert!(said.contains("trust: user\n") && said.contains("a.jsonl:3"), "{said}");
    assert_eq!(sessions.pending(), Vec::<String>::new(), "{summary:#}");
    let vouched = learned("npm-run").unwrap();
    assert!(vouched.contains("trust: user\n") && vouched.contains("b.jsonl:4"), "{vouched}");
}

/// A day that is still to come is no day of a session, and what came in today waits from today on.
// proves: LOOP-24
#[test]
fn a_lesson_is_not_from_tomorrow() {
    let sessions = Sessions::new().waiting();
    let text = session(&sessions.root(), PNPM).replace("2026-03-01T", "2036-03-01T");
    sessions.claude("a.jsonl", &text);
    let note = "- Run `make seed` before the e2e tests, otherwise the login page is empty\n";
    let path = sessions.claude("memory/MEMORY.md", note);
    let later = std::time::SystemTime::now() + std::time::Duration::from_hours(4 * 365 * 24);
    fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
    let old = session(&sessions.root(), "no, use tabs in Makefiles instead of spaces");
    sessions.claude("b.jsonl", &old);
    let planned = plan(&sessions);
    let summary = sessions.spend(&[]);
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"]);
    let ledger = sessions.night.repo.tree().into_keys().find(|path| path.contains("taken/trans"));
    let ledger = sessions.night.repo.read(&ledger.unwrap());
    let line: Value = serde_json::from_str(ledger.lines().next().unwrap()).unwrap();
    let today = &line["at"].as_str().unwrap()[..10];
    let pending = sessions.pending();
    assert_eq!(pending.len(), 3, "{pending:?}");
    for path in &pending {
        let text = sessions.night.repo.read(path);
        let date = if text.contains("Makefiles") { "2026-03-01" } else { today };
        assert!(text.contains(&format!("\ndate: {date}\n")), "{text}");
        assert!(text.contains(&format!("\ntaken_on: {today}\n")), "{text}");
        assert!(path.contains(date), "{path}");
    }
    let tree = sessions.night.repo.tree();
    let again = sessions.spend(&["--full"]);
    assert_eq!(again["iterations"][0]["reduce"]["edits"], 0, "{again:#}");
    assert!(tree == sessions.night.repo.tree());
}

/// Who takes lessons can commit what was written of them: the hash of a ledger line is no key.
#[test]
fn what_a_night_writes_down_is_no_secret() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &many(&sessions, 9));
    sessions.spend(&[]);
    let written = sessions.night.repo.agents().join("knowledge");
    sessions.run(&["vault", "scan", written.to_str().unwrap()]).expect(0);
}

/// How many sessions there are is said, not how many programs made them.
#[test]
fn a_report_counts_sessions() {
    let sessions = Sessions::new();
    let root = sessions.root();
    sessions.claude("a.jsonl", &session(&root, PNPM));
    sessions.claude("b.jsonl", &session(&root, "thanks"));
    sessions.claude("c.jsonl", &session(&root, "ok"));
    sessions.claude("d.jsonl", &session(std::path::Path::new("/elsewhere"), "thanks"));
    sessions.codex("rollout-a.jsonl", "");
    sessions.gemini("a.json", "{\"messages\":[]}");
    sessions.spend(&[]);
    let report = sessions.night.markdown();
    assert!(report.contains(", 4 transcripts, "), "{report}");
}
