//! A night over a corpus that is as the last one left it reads and measures nothing again; whatever
//! could make that wrong makes it a whole night.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::night::{Night, json_of, learning, ran, statuses, step};
use crate::repo::Tree;

const ONE: &str = "learnings/2026-03-01-case-1.md";
/// What a whole night finds out and a carried one tells again.
const CARRIED: [&str; 4] =
    ["close-loop.json", "defrag/latest.json", "metrics-health.json", "retrieval-bench.json"];

/// What is done, and how.
type Change<'a> = (&'a str, Box<dyn Fn() + 'a>);

/// After nights that left nothing to do.
fn settled() -> Night {
    let night = Night::with_copies();
    night.repo.write("findings/f-2026-03-02-slow.md", "# finding: slow\n\nIt is slow.\n");
    night.repo.write("ao/citations.jsonl", "");
    settle(&night);
    night
}

/// Nights until nothing changes any more.
fn settle(night: &Night) {
    let is_settled = (0..5).any(|_| is_carried(night));
    assert!(is_settled, "the corpus did not settle: {:#}", night.summary());
}

/// The run whose measures were carried over.
fn since(summary: &Value) -> Option<&str> {
    summary["unchanged_since"]["run_id"].as_str()
}

fn is_carried(night: &Night) -> bool {
    night.run(&[]).expect(0);
    since(&night.summary()).is_some()
}

/// The corpus, and when each folder of it was changed.
fn seen(night: &Night) -> (Tree, Vec<(String, SystemTime)>) {
    let mut folders = Vec::new();
    let mut open = vec![night.repo.agents()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            if found.is_dir() && !path.ends_with("overnight") {
                folders.push((path.display().to_string(), found.modified().unwrap()));
                open.push(path);
            }
        }
    }
    folders.sort();
    (night.repo.tree(), folders)
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

fn set_modified(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_night_with_nothing_new_reads_nothing_and_changes_nothing() {
    let night = settled();
    night.run(&["--full"]).expect(0);
    let whole = night.summary();
    let artifacts = CARRIED.map(|name| json_of(&night.latest(name)));
    let before = seen(&night);
    // Any stage that read the corpus would fail.
    for fault in ["ingest", "close-loop", "reduce", "measure", "commit", "metrics-health"] {
        night.run_with(fault, &[]).expect(0);
        let summary = night.summary();
        assert_eq!(since(&summary), whole["run_id"].as_str(), "{fault}: {summary:#}");
        assert_eq!(summary["unchanged_since"]["looked_at"].as_str().unwrap().len(), 20);
        assert_eq!(statuses(&summary), ["done"]);
        assert_eq!(summary["iterations"][0]["reduce"]["edits"], 0);
        assert_eq!(summary["iterations"][0]["ingest"], whole["iterations"][0]["ingest"]);
        let stages = summary["stages"].as_object().unwrap();
        for stage in ["reduce", "measure", "commit"] {
            assert!(!stages.contains_key(stage), "{stages:?}");
        }
        for name in ["close-loop", "defrag-preview", "metrics-health", "retrieval-live"] {
            assert_eq!(step(&summary, name), "done");
            let steps = summary["steps"].as_array().unwrap();
            let note = steps.iter().find(|step| step["name"] == name).unwrap()["note"].clone();
            assert!(note.as_str().unwrap().contains("carried over from run"), "{note}");
        }
        assert_eq!(step(&summary, "morning-packets"), "done");
        for (name, artifact) in CARRIED.iter().zip(&artifacts) {
            assert_eq!(json_of(&night.latest(name)), *artifact, "{name}");
        }
        assert_eq!(summary["dreamscape"], whole["dreamscape"]);
        assert_eq!(summary["fitness_delta"], whole["fitness_delta"]);
        assert_eq!(summary["morning_packets"].as_array().map(Vec::len), {
            whole["morning_packets"].as_array().map(Vec::len)
        });
        assert!(night.markdown().contains("Nothing changed"), "{}", night.markdown());
        assert!(night.markdown().contains("ao overnight start --full"), "{}", night.markdown());
        assert_eq!(seen(&night), before, "{fault}");
    }
    // What is kept is what its schema says.
    let kept = night.repo.state("settled.json");
    night.repo.run(&["schema", "settled", "--check", kept.to_str().unwrap()]).expect(0);
    // And with nothing kept each of them fails indeed.
    fs::remove_file(night.repo.state("settled.json")).unwrap();
    night.run_with("ingest", &[]).expect(1);
}

/// What is carried over is what a whole night would have found out.
#[test]
fn a_full_night_finds_out_the_same() {
    let night = settled();
    let carried = night.summary();
    let artifacts = CARRIED.map(|name| json_of(&night.latest(name)));
    let before = seen(&night);
    night.run(&["--full"]).expect(0);
    let full = night.summary();
    assert_eq!(since(&full), None);
    assert!(full["stages"].as_object().unwrap().contains_key("reduce"));
    for (name, artifact) in CARRIED.iter().zip(&artifacts) {
        assert_eq!(json_of(&night.latest(name)), *artifact, "{name}");
    }
    for part in ["dreamscape", "fitness_delta", "close_loop", "metrics_health", "retrieval_live"] {
        assert_eq!(full[part], carried[part], "{part}");
    }
    for part in ["ingest", "reduce", "status"] {
        assert_eq!(full["iterations"][0][part], carried["iterations"][0][part], "{part}");
    }
    assert_eq!(seen(&night), before);
}

#[test]
fn a_changed_byte_is_found_with_the_old_size_and_time() {
    let night = settled();
    let path = night.repo.agents().join(ONE);
    let time = modified(&path);
    let text = fs::read_to_string(&path).unwrap();
    // In place, and as a file that replaces the other one: a copy of another entry, to be merged.
    fs::write(&path, text.replacen("--check", "--chess", 1)).unwrap();
    set_modified(&path, time);
    assert_eq!((modified(&path), path.metadata().unwrap().len()), (time, text.len() as u64));
    assert!(!is_carried(&night), "in place");
    settle(&night);
    let fresh = night.aside.path().join("fresh");
    fs::write(&fresh, &text).unwrap();
    set_modified(&fresh, time);
    fs::rename(&fresh, &path).unwrap();
    assert!(!is_carried(&night), "replaced");
}

/// The files in a repository that a night judges by, each of them.
#[test]
fn whatever_the_night_reads_makes_it_a_whole_one() {
    let night = settled();
    let agents = night.repo.agents();
    let write = |path: &str, text: &str| night.repo.write(path, text);
    let changes: Vec<Change<'_>> = vec![
        ("added", Box::new(|| write("learnings/2026-03-05-new.md", &learning(70)))),
        (
            "removed",
            Box::new(|| fs::remove_file(agents.join("learnings/2026-03-05-new.md")).unwrap()),
        ),
        (
            "renamed",
            Box::new(|| {
                fs::rename(agents.join(ONE), agents.join("learnings/2026-03-01-other.md")).unwrap();
            }),
        ),
        (
            "a mode",
            Box::new(|| {
                let path = agents.join("learnings/2026-03-01-case-2.md");
                fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
            }),
        ),
        (
            "one more name",
            Box::new(|| {
                let from = agents.join("learnings/2026-03-01-case-2.md");
                fs::hard_link(from, night.aside.path().join("link")).unwrap();
            }),
        ),
        (
            "changed by that name",
            Box::new(|| {
                let text = learning(2).replacen("--check", "--chess", 1);
                fs::write(night.aside.path().join("link"), text).unwrap();
            }),
        ),
        ("pending", Box::new(|| night.pending(1))),
        ("a citation", Box::new(|| write("ao/citations.jsonl", "{\"artifact_path\":\"x\"}\n"))),
        (
            "the queue",
            Box::new(|| {
                let path = agents.join("rpi/next-work.jsonl");
                let text = fs::read_to_string(&path).unwrap();
                fs::write(path, format!("{text}\n")).unwrap();
            }),
        ),
        ("what refers", Box::new(|| write("research/r.md", "see learning-2\n"))),
        ("a folder", Box::new(|| fs::create_dir(agents.join("learnings/new")).unwrap())),
        (
            "a symlink",
            Box::new(|| {
                std::os::unix::fs::symlink("/", agents.join("learnings/link")).unwrap();
            }),
        ),
    ];
    for (what, change) in changes {
        change();
        assert!(!is_carried(&night), "{what}");
        settle(&night);
    }
    // What is no matter of the night's: its own state, and the index.
    night.repo.run(&["search", "quorum"]).expect(0);
    assert!(night.repo.exists("ao/index/search.idx"));
    night.repo.write("overnight/note.txt", "mine\n");
    assert!(is_carried(&night));
}

/// Ages are counted from the newest day in the corpus: what is past its term by that is archived,
/// and the day on which the night runs makes no difference.
#[test]
fn what_has_had_its_day_is_found_the_night_it_has() {
    let night = Night::with(6);
    let finding = "---\nid: f-old\ndate: 2026-03-20\nttl_days: 30\nstatus: resolved\n---\n# finding: old\n\n**Resolved:** yes\n";
    night.repo.write("findings/f-2026-03-20-old.md", finding);
    settle(&night);
    let later = learning(71).replacen("date: 2026-03", "date: 2026-07", 1);
    night.repo.write("learnings/2026-07-01-later.md", &later);
    assert!(!is_carried(&night));
    assert!(!night.repo.exists("findings/f-2026-03-20-old.md"));
}

#[test]
fn what_is_kept_is_believed_only_whole_and_only_here() {
    let night = settled();
    let path = night.repo.state("settled.json");
    let kept = fs::read_to_string(&path).unwrap();
    let fitness = json_of(&path)["metrics_health"]["fitness"]["composite"].to_string();
    let other = if fitness == "0.5" { "0.4" } else { "0.5" };
    let garbled = [
        String::new(),
        "{}".to_owned(),
        kept[..kept.len() / 2].to_owned(),
        kept.replacen("\"schema_version\":1", "\"schema_version\":2", 1),
        kept.replacen(&format!("\"composite\":{fitness}"), &format!("\"composite\":{other}"), 1),
    ];
    for garbled in garbled {
        assert_ne!(garbled, kept);
        fs::write(&path, garbled).unwrap();
        assert!(!is_carried(&night));
        // A whole night writes it anew.
        assert!(is_carried(&night));
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(!is_carried(&night));
    fs::remove_dir(&path).unwrap();
    settle(&night);
    // Another program, though of the same version.
    let program = night.aside.path().join("ao");
    fs::copy(env!("CARGO_BIN_EXE_ao"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command.env_clear().env("HOME", night.repo.root()).arg("-C").arg(night.repo.root());
    command.args(["overnight", "start", "--no-keep-awake"]);
    assert!(command.output().unwrap().status.success());
    assert_eq!(since(&night.summary()), None);
    // Another place: the same files, and paths in logs mean something else.
    settle(&night);
    let moved = night.aside.path().join("moved");
    fs::create_dir(&moved).unwrap();
    fs::rename(night.repo.agents(), moved.join(".agents")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ao"));
    command.env_clear().env("HOME", night.repo.root()).arg("-C").arg(&moved);
    assert!(command.args(["overnight", "start"]).output().unwrap().status.success());
    assert_eq!(since(&json_of(&moved.join(".agents/overnight/latest/summary.json"))), None);
}

#[test]
fn other_repositories_are_asked_every_night() {
    let night = settled();
    night.harvest_from(3, |number| {
        (format!("learnings/2026-03-03-theirs-{number}.md"), learning(900 + number))
    });
    assert!(!is_carried(&night));
    assert_eq!(night.summary()["iterations"][0]["ingest"]["harvested"], 3);
    assert!(!is_carried(&night), "also when there was nothing");
    night.harvest_from(4, |number| {
        (format!("learnings/2026-03-03-theirs-{number}.md"), learning(900 + number))
    });
    assert!(!is_carried(&night));
    assert_eq!(night.summary()["iterations"][0]["ingest"]["harvested"], 1);
}

/// What somebody wrote after the corpus was read, and before the night was over, is not lost: not
/// even if it does not show in size and time of change.
#[test]
fn a_change_while_the_night_looks_is_seen_by_the_next() {
    for place in ["reduce", "metrics-health", "morning-packets"] {
        let night = settled();
        fs::remove_file(night.repo.state("settled.json")).unwrap();
        let held = night.held_at(place, &[]);
        let path = night.repo.agents().join(ONE);
        let time = modified(&path);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("--check", "--chess", 1)).unwrap();
        set_modified(&path, time);
        held.go_on().expect(0);
        assert!(!night.repo.exists("overnight/settled.json"), "{place}");
        assert!(!is_carried(&night), "{place}");
        assert!(is_carried(&night), "{place}");
    }
}

#[test]
fn after_a_run_that_was_cut_off_the_night_is_a_whole_one() {
    let night = settled();
    let held = night.held_at("morning-packets", &[]);
    held.signal("KILL");
    assert!(!is_carried(&night));
    assert!(is_carried(&night));
    // A run that is gone on with, too.
    let held = night.held_at("morning-packets", &["--full"]);
    held.signal("KILL");
    night.run(&["--resume"]).expect(0);
    assert_eq!(since(&night.summary()), None);
}

#[test]
fn a_dry_run_tells_the_same_and_keeps_nothing() {
    let night = settled();
    let dry = || night.repo.run(&["--json", "--dry-run", "overnight", "start"]).expect(0).json();
    let told = dry();
    assert!(since(&told["summary"]).is_some(), "{told:#}");
    fs::remove_file(night.repo.state("settled.json")).unwrap();
    let told = dry();
    assert!(since(&told["summary"]).is_none());
    assert!(!night.repo.exists("overnight/settled.json"));
}

/// A file from a time to come, or of this very moment: another change could hide behind its time.
#[test]
fn files_of_a_time_to_come_are_read_every_night() {
    let night = settled();
    let path = night.repo.agents().join(ONE);
    set_modified(&path, SystemTime::now() + Duration::from_hours(24));
    for _ in 0..3 {
        assert!(!is_carried(&night));
    }
    set_modified(&path, SystemTime::now() - Duration::from_hours(24));
    settle(&night);
}

/// After a clock was set back, the times of files can come again.
#[test]
fn a_clock_that_was_set_back_makes_it_a_whole_night() {
    let night = settled();
    let clock = night.aside.path().join("clock");
    for (seconds, is_expected) in [("0", true), ("90000", true), ("-90000", false)] {
        fs::write(&clock, seconds).unwrap();
        ran(night.command(&[]).env("AO_CLOCK", &clock).spawn().unwrap()).expect(0);
        assert_eq!(since(&night.summary()).is_some(), is_expected, "{seconds}");
    }
}
