//! What was asked is written down, and a night says how much of it has an answer; nothing is decided by it.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::night::{Night, json_of, learning};
use crate::repo::TestRepo;

const LOG: &str = "ao/questions.jsonl";

fn library() -> TestRepo {
    let repo = TestRepo::new();
    let text = "# Tapirs\n\nFeed the tapir at noon, and never the ocelot.\n";
    repo.entry("learnings/tapir.md", "tags: [tapir]", text);
    repo
}

fn lines(repo: &TestRepo) -> Vec<Value> {
    let text = fs::read_to_string(repo.agents().join(LOG)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn line(question: &str) -> String {
    let line = json!({
        "asked_at": "2026-04-01T00:00:00Z", "by": "search", "question": question, "answered": 0
    });
    format!("{line}\n")
}

/// What an entry is about.
fn title(text: &str) -> String {
    let line = text.lines().find(|line| line.starts_with("# ")).unwrap();
    line.trim_start_matches("# ").trim_start_matches("Learning: ").to_owned()
}

/// The questions of the last night.
fn told(night: &Night) -> Value {
    night.summary()["questions"].clone()
}

#[test]
fn each_command_that_is_asked_writes_it_down() {
    let repo = library();
    repo.run(&["search", "feed", "tapir"]).expect(0);
    repo.run(&["lookup", "tapir at noon"]).expect(0);
    repo.run(&["knowledge", "brief", "--goal", "calmer tapirs"]).expect(0);
    repo.run(&["search", "nobodywrotethis"]).expect(0);
    let found = lines(&repo);
    let part = |key: &str| found.iter().map(|line| line[key].clone()).collect::<Vec<_>>();
    assert_eq!(part("by"), ["search", "lookup", "brief", "search"]);
    let asked = ["feed tapir", "tapir at noon", "calmer tapirs", "nobodywrotethis"];
    assert_eq!(part("question"), asked);
    assert_eq!(part("answered"), [1, 1, 1, 0]);
    assert_eq!(found[0]["top"], json!(["learnings/tapir.md"]));
    let file = repo.agents().join(LOG);
    repo.run(&["schema", "question", "--check", file.to_str().unwrap()]).expect(0);
}

#[test]
fn nothing_is_written_where_it_is_not_wanted() {
    let repo = library();
    for arguments in [
        &["search", "tapir", "--no-log"][..],
        &["lookup", "tapir", "--no-log"],
        &["knowledge", "brief", "--goal", "tapir", "--no-log"],
        &["--dry-run", "search", "tapir"],
        &["--dry-run", "lookup", "tapir"],
        &["--dry-run", "knowledge", "brief", "--goal", "tapir"],
        &["search", "tapir", "--as-of", "2026-06-30"],
        &["search", &"tapir ".repeat(200)],
        &["search", "tapir ghp_0123456789abcdefABCDEF0123456789abcd"],
        &["search", "tapir aws AKIAQ3EGRIJ5ZQJ7WXYZ"],
        &["search", "tapir aws AKIAQEGRIJZQJWXYZABC"],
        &["lookup", "tapir aws AKIAQ3EGRIJ5ZQJ7WXYZ"],
    ] {
        repo.run(arguments).expect(0);
        assert_eq!(lines(&repo).len(), 0, "{arguments:?}");
    }
    fs::create_dir_all(repo.root().join(".agentops")).unwrap();
    let config = repo.root().join(".agentops/config.yaml");
    fs::write(&config, "questions:\n  keep: false\n").unwrap();
    repo.run(&["search", "tapir"]).expect(0);
    repo.run(&["lookup", "tapir"]).expect(0);
    assert_eq!(lines(&repo).len(), 0);
    // That an entry was given is recorded all the same, and not for what.
    let cited = repo.read("ao/citations.jsonl");
    assert_eq!(cited.lines().count(), 3, "{cited}");
    assert!(!cited.contains("query") && !cited.contains("AKIA"), "{cited}");
    fs::write(&config, "questions:\n  keep: true\n").unwrap();
    repo.run(&["search", "tapir"]).expect(0);
    assert_eq!(lines(&repo).len(), 1);
}

#[test]
fn a_log_that_cannot_be_written_is_no_trouble_and_a_link_is_not_followed() {
    let repo = library();
    repo.write("ao/elsewhere", "");
    let target = repo.root().join("target.txt");
    fs::write(&target, "").unwrap();
    std::os::unix::fs::symlink(&target, repo.agents().join(LOG)).unwrap();
    let found = repo.run(&["--strict-exit", "search", "tapir"]).expect(0);
    assert!(found.stdout.contains("Tapirs"), "{found}");
    assert_eq!(fs::read_to_string(&target).unwrap(), "");
}

#[test]
fn a_log_that_has_grown_is_put_aside_and_still_asked() {
    let night = Night::with(5);
    let mut log = line("zyzzyva and quokka");
    while log.len() < 1024 * 1024 {
        log.push_str(&line("one and the same wombat"));
    }
    night.repo.write(LOG, &log);
    night.repo.run(&["search", "wombat numbat"]).expect(0);
    assert_eq!(lines(&night.repo).len(), 1);
    assert_eq!(night.repo.read("ao/questions.jsonl.1"), log);
    night.run(&[]).expect(0);
    assert_eq!(told(&night)["asked"], 3);
}

#[test]
fn a_night_says_what_was_gained() {
    let night = Night::with_copies();
    night.pending(1);
    let pending = night.repo.agents().join("knowledge/pending");
    let first = fs::read_dir(pending).unwrap().next().unwrap().unwrap().path();
    let gained = title(&fs::read_to_string(first).unwrap());
    let known = title(&learning(1));
    night.repo.write(LOG, &[line(&known), line("zyzzyva and quokka"), line(&gained)].concat());
    night.run(&[]).expect(0);
    let found = told(&night);
    assert_eq!(found["asked"], 3, "{found:#}");
    assert_eq!((&found["answered_before"], &found["answered_after"]), (&json!(1), &json!(2)));
    assert_eq!(found["gained"], json!([gained]));
    assert_eq!(found["lost"], json!([]));
    let report = night.markdown();
    assert!(report.contains("2 of the last 3 questions have an answer, 1 more"), "{report}");
    let file = night.latest("summary.json");
    night.repo.run(&["schema", "summary", "--check", file.to_str().unwrap()]).expect(0);
    // The record of the night has them, so what is asked later changes nothing of it.
    let run = night.summary()["run_id"].as_str().unwrap().to_owned();
    night.repo.write(LOG, &line("something else"));
    let again = night.repo.run(&["--json", "overnight", "replay", &run]).expect(0).json();
    assert_eq!(again["identical"], true, "{again:#}");
}

/// A text without the times in it.
fn timeless(text: &str) -> String {
    let is_time = |word: &&str| word.len() >= 20 && word.contains('T') && word.contains('Z');
    text.split([' ', '\n', '"']).filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ")
}

#[test]
fn questions_change_no_edit_and_no_measure() {
    let spend = |log: Option<&str>| {
        let night = Night::with_copies();
        for number in 0..3 {
            night.pending(number);
        }
        if let Some(log) = log {
            night.repo.write(LOG, log);
        }
        night.run(&[]).expect(0);
        let mut tree = crate::repo::contents(&night.repo.tree());
        tree.retain(|path, _| {
            ["learnings/", "patterns/", "knowledge/"].iter().any(|part| path.starts_with(part))
        });
        for text in tree.values_mut() {
            *text = timeless(text);
        }
        let summary = night.summary();
        let fitness = |key: &str| {
            let all = summary["iterations"].as_array().unwrap();
            all.iter().map(|one| one[key].clone()).collect::<Vec<_>>()
        };
        let measured = (fitness("fitness_before"), fitness("fitness_after"));
        let bench = json_of(&night.latest("retrieval-bench.json"));
        ((tree, measured, bench), told(&night))
    };
    let (without, nothing) = spend(None);
    assert_eq!(nothing, Value::Null);
    // Those that nothing answers, and those that only what is merged or promoted tonight does.
    let unanswered = (0..150).map(|number| format!("zyzzyva {number} quokka"));
    let answered = [1, 1, 1, 50, 51, 52].map(|number| title(&learning(number)));
    for (questions, asked) in [(unanswered.collect::<Vec<_>>(), 150), (answered.to_vec(), 4)] {
        let log: String = questions.iter().map(|question| line(question)).collect();
        let (with, found) = spend(Some(&log));
        assert_eq!(found["asked"], asked);
        assert_eq!(without, with);
    }
}

#[test]
fn what_was_applied_is_an_answer_and_one_that_is_pushed_away_is_lost() {
    let night = Night::with_copies();
    // Nothing has most of its words: what somebody applied is its answer all the same.
    let asked = "gleam of the zyzzyva";
    let body = "# Lamps\n\nOf all our lamps only one has a gleam in it at night.\n";
    night.repo.write("learnings/lamps.md", body);
    let cite = |how: &str| {
        let line = json!({
            "artifact_path": "learnings/lamps.md", "session_id": "s", "cited_at": "t",
            "citation_type": how, "query": asked
        });
        night.repo.write("ao/citations.jsonl", &format!("{line}\n"));
    };
    night.repo.write(LOG, &line(asked));
    cite("retrieved");
    night.run(&["--full"]).expect(0);
    assert_eq!(told(&night)["answered_after"], 0, "that it was shown makes it no answer");
    cite("applied");
    night.run(&["--full"]).expect(0);
    assert_eq!(told(&night)["answered_after"], 1);
    night.harvest_from(12, |number| {
        let text = learning(1000 + number).replacen("# Learning: ", "# Gleam gleam ", 1);
        (format!("learnings/2026-03-03-theirs-{number}.md"), text)
    });
    night.run(&[]).expect(0);
    let found = told(&night);
    assert_eq!(found["lost"], json!([asked]), "{found:#}");
    assert_eq!(found["judged"], 1);
    assert_eq!((&found["answered_before"], &found["answered_after"]), (&json!(1), &json!(0)));
    let report = night.markdown();
    assert!(report.contains("Edits are judged by 1 of them"), "{report}");
    assert!(report.contains("0 of the last question have an answer, 1 fewer"), "{report}");
}

#[test]
fn a_night_with_new_questions_only_reads_no_more_and_tells_them() {
    let night = Night::with_copies();
    let known = title(&learning(2));
    night.repo.write("ao/citations.jsonl", "");
    night.repo.write(LOG, &line(&known));
    let is_carried = || {
        night.run(&[]).expect(0);
        night.summary()["unchanged_since"].is_object()
    };
    assert!((0..5).any(|_| is_carried()), "{:#}", night.summary());
    assert_eq!(told(&night)["answered_after"], 1);
    night.repo.write(LOG, &[line(&known), line("zyzzyva and quokka")].concat());
    assert!(is_carried(), "{:#}", night.summary());
    let found = told(&night);
    assert_eq!((&found["asked"], &found["answered_after"]), (&json!(2), &json!(1)), "{found:#}");
    night.run(&["--full"]).expect(0);
    assert_eq!(told(&night), found);
}

#[test]
fn what_others_wrote_badly_is_passed_over() {
    let night = Night::with(5);
    let mut log = String::from("{\n[]\nnull\n{\"question\":7}\n\u{0}\u{0}\n");
    let _ = writeln!(log, "{}", "[".repeat(10_000));
    log.push_str(&line(&"x".repeat(100_000)));
    log.push_str(&line("the of and"));
    for number in 0..100_000 {
        let _ = write!(log, "{}", line(&format!("wombat {}", number % 400)));
    }
    log.push_str("{\"asked_at\":\"");
    night.repo.write(LOG, &log);
    night.run(&[]).expect(0);
    assert_eq!(told(&night)["asked"], 200);
    // A pipe is not waited for.
    let file = night.repo.agents().join(LOG);
    fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(made.success());
    night.run(&["--full"]).expect(0);
    assert_eq!(told(&night), Value::Null);
}

#[test]
fn the_bench_asks_them_apart_from_its_means() {
    let repo = library();
    let bench = || repo.run(&["--json", "retrieval-bench", "--live"]).expect(0).json();
    let without = bench();
    repo.write(LOG, &[line("feed the tapir"), line("zyzzyva and quokka")].concat());
    let with = bench();
    assert_eq!(with["asked"], json!({ "questions": 2, "answered": 1 }));
    for key in ["ndcg_at_10", "queries", "queries_left_out", "sources", "map"] {
        assert_eq!(with[key], without[key], "{key}");
    }
    let asked = with["questions"].as_array().unwrap().iter().filter(|one| one["source"] == "asked");
    let asked: Vec<_> = asked.map(|one| (one["query"].clone(), one["answered"].clone())).collect();
    let wanted =
        [(json!("zyzzyva and quokka"), json!(false)), (json!("feed the tapir"), json!(true))];
    assert_eq!(asked, wanted);
    // Asked again from its own output, it is the same.
    let file = repo.root().join("before.json");
    fs::write(&file, with.to_string()).unwrap();
    let again = ["--json", "retrieval-bench", "--live", "--questions", file.to_str().unwrap()];
    assert_eq!(repo.run(&again).expect(0).json(), with);
}
