//! A repository in which the existing `ao` worked before: its files, in the forms that it writes.

use std::fs;

use serde_json::{Value, json};

use crate::night::{Night, json_of, ran, statuses};
use crate::night_history;
use crate::repo::{Ran, TestRepo};

const RUN: &str = "20260411T031037Z";

/// A marker as the existing `ao` writes it, with the folders that it leaves beside it.
fn marker(repo: &TestRepo, id: &str, state: &str) {
    let body = json!({ "state": state, "iteration_id": id, "started_at": "2026-04-11T03:10:37.123456789Z" });
    repo.write(&format!("overnight/COMMIT-MARKER.{id}"), &body.to_string());
}

/// A finished commit of it: the marker, an empty staging folder, and the tree as it was before.
fn finished(repo: &TestRepo, id: &str) {
    marker(repo, id, "DONE");
    fs::create_dir_all(repo.state(&format!("staging/{id}/.agents"))).unwrap();
    repo.write(&format!("overnight/prev.{id}/learnings/a.md"), "as it was\n");
    repo.write(&format!("overnight/prev.{id}/rpi/next-work.jsonl"), "{\"items\":[]}\n");
}

/// One of its iterations, with its time in the machine's own zone.
fn iteration(index: u32, status: &str) -> Value {
    json!({
        "id": format!("{RUN}-iter-{index}"),
        "index": index,
        "started_at": "2026-04-10T23:10:37.123456-04:00",
        "finished_at": "2026-04-10T23:11:38.5-04:00",
        "duration": "1m1.376544s",
        "status": status,
        "ingest": { "harvested": 12, "sources": 2 },
        "reduce": { "deduped": 3, "pruned": 1 },
        "measure": { "composite": 0.61 },
        "fitness_after": { "citation_coverage": 0.5, "composite": 0.61 },
        "fitness_delta": 0.01,
    })
}

/// Its summary of a run with these iterations; version 1 with none.
fn summary(repo: &TestRepo, iterations: &[Value]) -> Value {
    let root = repo.root().display().to_string();
    let latest = format!("{root}/.agents/overnight/latest");
    let mut summary = json!({
        "schema_version": 1,
        "mode": "dream.local-bedtime",
        "run_id": RUN,
        "repo_root": root,
        "output_dir": latest,
        "status": "done",
        "dry_run": false,
        "started_at": "2026-04-11T03:10:37Z",
        "finished_at": "2026-04-11T03:23:15Z",
        "duration": "12m38s",
        "runtime": {
            "keep_awake": true,
            "keep_awake_mode": "caffeinate",
            "requested_timeout": "8h",
            "effective_timeout": "8h0m0s",
            "lock_path": format!("{root}/.agents/overnight/run.lock"),
            "log_path": format!("{latest}/overnight.log"),
            "process_contract_doc": "docs/contracts/dream-run-contract.md",
            "report_contract_doc": "docs/contracts/dream-report-contract.md",
        },
        "steps": [
            { "name": "close-loop", "status": "done", "command": "ao flywheel close-loop --threshold 0h --json" },
            { "name": "metrics-health", "status": "done" },
        ],
        "artifacts": { "summary_json": format!("{latest}/summary.json") },
        "metrics_health": { "sigma": 0.0, "escape_velocity": false },
        "dream-curator-suppressed": [{ "id": "x", "reason": "tracked" }],
        "next_action": "Review the morning packets.",
    });
    if !iterations.is_empty() {
        summary["schema_version"] = 2.into();
        summary["iterations"] = iterations.into();
        summary["warn_only_budget_initial"] = 3.into();
        summary["warn_only_remaining"] = 2.into();
    }
    summary
}

/// Writes such a run where it leaves it.
fn old_run(repo: &TestRepo, iterations: &[Value]) {
    repo.write("overnight/latest/summary.json", &format!("{:#}\n", summary(repo, iterations)));
    repo.write("overnight/latest/summary.md", "# Dream Morning Report\n");
    repo.write("overnight/latest/overnight.log", "overnight: RunLoop starting\n");
    repo.write("overnight/latest/close-loop.json", "{}\n");
    repo.write("overnight/latest/stages/commit-result.json", "{}\n");
    for one in iterations {
        let name = format!("overnight/latest/{RUN}/iterations/iter-{}.json", one["index"]);
        repo.write(&name, &format!("{one:#}\n"));
    }
}

// proves: RUN-47, LOOP-23
#[test]
fn readers_go_on_where_another_tool_left_finished_markers() {
    let repo = TestRepo::new();
    for number in 1..=3 {
        finished(&repo, &format!("{RUN}-iter-{number}"));
    }
    let before = repo.everything();
    for arguments in [
        &["search", "pattern"][..],
        &["lookup", "pattern", "--no-log"],
        &["show", "learnings/a.md"],
        &["metrics", "health"],
        &["retrieval-bench", "--live"],
        &["trust"],
        &["rule"],
        &["tree", "log"],
        &["tree", "verify"],
        &["overnight", "log"],
        &["overnight", "plan"],
        &["--dry-run", "defrag"],
        &["--dry-run", "overnight", "start"],
    ] {
        let told = repo.run(arguments).expect(0);
        assert!(!told.stderr.contains("interrupted"), "{arguments:?}: {told}");
    }
    for (path, seen) in &before {
        let is_log = path.starts_with("ao/") || path.starts_with("overnight/latest");
        assert!(is_log || repo.everything().get(path) == Some(seen), "{path}");
    }
    // One in the middle of a commit is another matter.
    marker(&repo, "cut", "READY");
    let told = repo.run(&["tree", "log"]).expect(6);
    assert!(told.stderr.contains("cut"), "{told}");
}

// proves: RUN-47, LOOP-23
#[test]
fn a_start_clears_two_thousand_finished_markers_with_one_line() {
    let night = Night::with_copies();
    for number in 0..2000 {
        marker(&night.repo, &format!("{RUN}-iter-{number}"), "DONE");
    }
    for number in 1998..2000 {
        finished(&night.repo, &format!("{RUN}-iter-{number}"));
    }
    night.run(&[]).expect(0);
    let left: Vec<String> = fs::read_dir(night.repo.state(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("COMMIT-MARKER") || name.starts_with("prev."))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    assert!(!night.repo.exists("overnight/staging"));
    let recovered = night.summary()["recovered"].clone();
    let recovered = recovered.as_array().unwrap();
    assert_eq!(recovered.len(), 1, "{recovered:?}");
    assert!(recovered[0].as_str().unwrap().contains("2000 finished markers"), "{recovered:?}");
    let lines = night.markdown().lines().filter(|line| line.contains("Recovered")).count();
    assert_eq!(lines, 1);
}

// proves: RUN-47
#[test]
fn a_writer_clears_them_with_one_line_too() {
    let repo = TestRepo::new();
    for number in 1..=5 {
        finished(&repo, &format!("{RUN}-iter-{number}"));
    }
    let told = repo.run(&["--dry-run", "tree", "recover"]).expect(0);
    assert!(told.stdout.contains("5 finished markers"), "{told}");
    assert!(repo.exists(&format!("overnight/COMMIT-MARKER.{RUN}-iter-5")));
    let told = repo.apply(&json!([crate::repo::write("learnings/new.md", "x\n")])).expect(0);
    let lines = told.stderr.lines().filter(|line| line.contains("marker")).count();
    assert_eq!(lines, 1, "{told}");
    assert_eq!(told.json()["recovered"]["foreign"].as_array().unwrap().len(), 5);
    assert!(!repo.exists(&format!("overnight/prev.{RUN}-iter-1")));
}

// proves: RUN-47, LOOP-14
#[test]
fn its_rolled_back_iterations_are_read_and_shown_as_such() {
    let repo = TestRepo::new();
    old_run(&repo, &[iteration(1, "done"), iteration(2, "rolled-back")]);
    for format in ["md", "text"] {
        let told = repo.run(&["overnight", "report", "--format", format]).expect(0).stdout;
        assert!(told.contains("rolled-back"), "{told}");
    }
    let told = repo.run(&["overnight", "report", "--format", "json"]).expect(0).json();
    assert_eq!(statuses(&told), ["done", "rolled-back"]);
    let file = repo.state(&format!("latest/{RUN}/iterations/iter-2.json"));
    repo.run(&["schema", "iteration", "--check", file.to_str().unwrap()]).expect(0);
}

/// The state says nothing of whether the corpus was changed, so nothing is measured against it.
// proves: RUN-47, LOOP-14
#[test]
fn a_rolled_back_iteration_is_no_baseline() {
    let night = Night::with(6);
    let both = |before: f64, after: f64| json!({ "fitness_before": { "composite": before }, "fitness_after": { "composite": after } });
    let iterations = [(1, "done", both(0.5, 0.6)), (2, "rolled-back", both(0.6, 0.9))];
    let iterations = iterations.map(|(index, status, fitness)| {
        let mut one = iteration(index, status);
        let fields = one.as_object_mut().unwrap();
        fields.remove("id");
        fields.extend(fitness.as_object().unwrap().clone());
        one
    });
    night_history::old_run(&night, &iterations);
    night.run(&["--resume"]).expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["done", "rolled-back", "done"]);
    // From 0.5 before the first to 0.6 after the last that is a baseline.
    let moved = summary["fitness_delta"]["composite"].as_f64().unwrap();
    assert!((moved - 0.1).abs() < 1e-9, "{moved}");
}

// proves: RUN-47, RUN-05
#[test]
fn its_reports_are_shown_and_nothing_is_offered_that_cannot_be_done() {
    let repo = TestRepo::new();
    for iterations in
        [vec![], vec![iteration(1, "done"), iteration(2, "halted-on-regression-post-commit")]]
    {
        old_run(&repo, &iterations);
        for format in ["md", "text"] {
            let told = repo.run(&["overnight", "report", "--format", format]).expect(0).stdout;
            assert!(told.contains(RUN) && told.contains("Review the morning packets"), "{told}");
            for offered in ["tree undo", "tree show", "tree diff", "overnight undo", "replay"] {
                assert!(!told.contains(offered), "{offered}: {told}");
            }
        }
    }
    // Whoever asks for it all the same is told that there is nothing.
    for arguments in [
        &["overnight", "undo", RUN][..],
        &["overnight", "show", RUN],
        &["overnight", "replay", RUN],
    ] {
        let told = repo.run(arguments);
        assert!(told.code == 2 || told.code == 6, "{told}");
        assert!(told.stderr.contains("another program"), "{arguments:?}: {told}");
    }
}

// proves: RUN-47, RUN-42
#[test]
fn a_start_over_its_folder_moves_its_report_aside() {
    let night = Night::with_copies();
    old_run(&night.repo, &[iteration(1, "done"), iteration(2, "rolled-back")]);
    night.run(&[]).expect(0);
    let moved = json_of(&night.latest(&format!("{RUN}/summary.json")));
    assert_eq!(statuses(&moved), ["done", "rolled-back"]);
    let from = night.latest(RUN);
    let told = night.repo.run(&["overnight", "report", "--from", from.to_str().unwrap()]).expect(0);
    assert!(told.stdout.contains("rolled-back"), "{told}");
    assert!(night.latest("stages/commit-result.json").is_file(), "what is no run's stays");
}

/// The configuration as its `setup --apply` writes it: every key, most of them empty.
const CONFIG: &str = "\
output: \"\"
base_dir: \"\"
verbose: false
forge:
    max_content_length: 0
    progress_interval: 0
search:
    default_limit: 0
    use_smart_connections: false
paths:
    learnings_dir: \"\"
    patterns_dir: \"\"
    retros_dir: \"\"
    research_dir: \"\"
    plans_dir: \"\"
    claude_plans_dir: \"\"
    citations_file: \"\"
    transcripts_dir: \"\"
    global_learnings_dir: \"\"
    global_patterns_dir: \"\"
    global_weight: 0
    harvest_roots: []
rpi:
    worktree_mode: \"\"
    runtime_mode: \"\"
    runtime_command: \"\"
    ao_command: \"\"
    bd_command: \"\"
    tmux_command: \"\"
flywheel:
    auto_promote_threshold: \"\"
models:
    default_tier: \"\"
    tiers: {}
    skill_overrides: {}
dream:
    report_dir: \"\"
    run_timeout: \"\"
    keep_awake: false
    runners: []
    scheduler_mode: \"\"
    schedule_at: \"\"
    consensus_policy: \"\"
    council_runner_timeout: \"\"
    creative_lane: false
    local_curator: {}
compile:
    preferred_runtime: \"\"
";

// proves: RUN-47, RUN-46
#[test]
fn its_configuration_is_read_and_no_key_of_it_is_unknown() {
    let night = Night::with_copies();
    night.configure(CONFIG);
    let told = night.run(&[]).expect(0);
    assert!(!told.stderr.contains("warning"), "{told}");
    let summary = night.summary();
    assert!(summary["config_warnings"].is_null(), "{summary:#}");
    assert_eq!(summary["runtime"]["effective_timeout"], "8h0m0s");
    assert_eq!(summary["output_dir"], night.repo.state("latest").to_str().unwrap());
}

// proves: RUN-47
#[test]
fn places_that_cannot_be_moved_are_named_with_what_took_their_place() {
    let night = Night::with(3);
    night.configure(
        "paths:\n  learnings_dir: notes\n  patterns_dir: .agents/patterns\n  transcripts_dir: /old/projects\n  global_learnings_dir: /old\n",
    );
    let told = night.run(&[]).expect(0);
    let found: Vec<Value> = night.summary()["config_warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["line"], one["key"]]))
        .collect();
    assert_eq!(
        found,
        [
            json!([2, "paths.learnings_dir"]),
            json!([4, "paths.transcripts_dir"]),
            json!([5, "paths.global_learnings_dir"]),
        ]
    );
    for word in ["ao harvest --from", "CLAUDE_CONFIG_DIR", "--corpus"] {
        assert!(told.stderr.contains(word), "no {word} in {told}");
    }
}

// proves: RUN-47
#[test]
fn its_harvest_roots_are_harvested_where_nothing_else_is_named() {
    let night = Night::with(3);
    let roots = night.aside.path().join("gt");
    let entry = roots.join("theirs/.agents/learnings/2026-03-03-theirs.md");
    fs::create_dir_all(entry.parent().unwrap()).unwrap();
    fs::write(&entry, crate::night::learning(70)).unwrap();
    let yaml = format!("paths:\n  harvest_roots: [{:?}]\n", roots.display().to_string());
    night.configure(&yaml);
    let told = night.repo.run(&["--json", "--dry-run", "harvest"]).expect(0).json();
    assert_eq!(told["harvested"].as_array().unwrap().len(), 1, "{told:#}");
    night.configure(&format!("{yaml}dream:\n  harvest_from: []\n"));
    let told = night.repo.run(&["--json", "--dry-run", "harvest"]).expect(0).json();
    assert_eq!(told["harvested"].as_array().unwrap().len(), 0, "{told:#}");
}

// proves: RUN-47
#[test]
fn its_threshold_of_the_flywheel_counts() {
    let night = Night::with(3);
    night.repo.write(
        "knowledge/pending/2026-03-02-pending.md",
        &crate::night::learning(51).replacen("date: 2026-03-24", "date: 2026-03-02", 1),
    );
    let waits = |variable: Option<&str>, more: &[&str]| {
        let mut command = night
            .repo
            .command(&[&["--json", "--dry-run", "flywheel", "close-loop"], more].concat());
        if let Some(value) = variable {
            command.env("AGENTOPS_FLYWHEEL_AUTO_PROMOTE_THRESHOLD", value);
        }
        let told = ran(command.spawn().unwrap()).expect(0).json();
        told["pending"][0]["verdict"] != "promoted"
    };
    assert!(!waits(None, &[]), "a day is enough by itself");
    night.configure("flywheel:\n  auto_promote_threshold: 99999h\n");
    assert!(waits(None, &[]), "the file counts");
    assert!(!waits(Some("1h"), &[]), "the variable is stronger");
    assert!(waits(Some("1h"), &["--threshold", "99999h"]), "the flag is stronger");
    night.configure("flywheel:\n  auto_promote_threshold: later\n");
    let told = night.repo.run(&["--dry-run", "flywheel", "close-loop"]).expect(2);
    for word in ["config.yaml", "line 2", "flywheel.auto_promote_threshold", "later"] {
        assert!(told.stderr.contains(word), "{told}");
    }
}

// proves: RUN-47
#[test]
fn its_variables_of_the_curator_count() {
    let curator = crate::curator::Curator::new();
    for (name, key) in [("MODEL", "model"), ("WORKER_DIR", "worker_dir")] {
        let value = curator.path("empty").display().to_string();
        let mut command = curator.command(&["--json", "status"]);
        command.env(format!("AGENTOPS_DREAM_CURATOR_{name}"), &value);
        let status = Ran::of(command.output().unwrap()).expect(0).json();
        assert_eq!(status["settings"][key], value, "{status:#}");
    }
    let mut command = curator.command(&["status"]);
    let told = Ran::of(command.env("AGENTOPS_DREAM_CURATOR_ENABLED", "maybe").output().unwrap());
    let told = told.expect(2);
    assert!(told.stderr.contains("AGENTOPS_DREAM_CURATOR_ENABLED"), "{told}");
}

// proves: RUN-47
#[test]
fn its_flags_do_what_they_did() {
    let night = Night::with_copies();
    // Of several runners in one word.
    let told = night.run(&["--models", "claude,codex", "--runner", "gemini,opencode"]).expect(0);
    assert!(told.stderr.contains("--runner"), "{told}");
    let steps: Vec<String> = night.summary()["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["name"].as_str().unwrap().to_owned())
        .filter(|name| name.starts_with("council-") && name != "council-packet")
        .collect();
    assert_eq!(
        steps,
        [
            "council-gemini",
            "council-opencode",
            "council-claude",
            "council-codex",
            "council-synthesis"
        ]
    );
    // How long a long haul may take.
    night.run(&["--long-haul", "--long-haul-budget", "2m"]).expect(0);
    let id = night.summary()["run_id"].as_str().unwrap().to_owned();
    let record = json_of(&night.repo.state(&format!("cassettes/{id}.night.json")));
    assert_eq!(record["settings"]["long_haul_ms"], 120_000);
    night.run(&["--long-haul-budget", "2m"]).expect(2);
    night.run(&["--long-haul", "--long-haul-budget", "0s"]).expect(2);
    // How many rescues there are.
    let reset = ["--json", "overnight", "warn-only", "reset", "--initial", "5"];
    let told = night.repo.run(&reset).expect(0).json();
    assert_eq!(
        (&told["budget"]["remaining"], &told["budget"]["initial_budget"]),
        (&json!(5), &json!(5))
    );
    let told = night.repo.run(&["--json", "overnight", "warn-only", "reset"]).expect(0).json();
    assert_eq!(
        (&told["budget"]["remaining"], &told["budget"]["initial_budget"]),
        (&json!(5), &json!(5))
    );
    night.repo.run(&["overnight", "warn-only", "reset", "--initial", "0"]).expect(2);
    // Whether the machine is kept awake.
    let evening = crate::setup::Evening::new();
    evening.write_config("# mine\ndream:\n  keep_awake: true # at home\n  max_iterations: 1\n");
    evening.setup(&["--no-keep-awake", "--apply"]).expect(0);
    let text = fs::read_to_string(evening.config()).unwrap();
    assert!(text.contains("# mine\n") && text.contains("keep_awake: false # at home\n"), "{text}");
    evening.setup(&["--keep-awake", "--apply"]).expect(0);
    let text = fs::read_to_string(evening.config()).unwrap();
    assert!(text.contains("keep_awake: true # at home\n"), "{text}");
    // What an event asks for.
    let curator = crate::curator::Curator::new();
    let event = ["--source", "gemma", "--severity", "warn", "--target", "council", "--budget", "1"];
    let arguments = [&["--json", "event", "--desired-action", "look"][..], &event].concat();
    let told = curator.run(&arguments).expect(0).json();
    assert_eq!(told["event"]["desired_action"], "look");
}

// proves: RUN-47
#[test]
fn a_flag_of_it_that_is_refused_says_what_to_use_instead() {
    let repo = TestRepo::new();
    for (arguments, instead) in [
        (&["overnight", "start", "--daemon-submit"][..], "ao overnight setup"),
        (&["overnight", "start", "--daemon-url=http://x"], "ao overnight setup"),
        (&["search", "x", "--output", "json"], "--json"),
        (&["search", "x", "-o", "json"], "--json"),
        (&["search", "x", "--config", "f.yaml"], "AGENTOPS_CONFIG"),
    ] {
        let told = repo.run(arguments).expect(2);
        assert!(told.stderr.contains(instead), "{arguments:?}: {told}");
    }
}

/// The name of the program is the user's to say, as with every program that is started.
// proves: RUN-47
#[test]
fn its_command_for_beads_counts_from_the_users_own_file() {
    use std::os::unix::fs::PermissionsExt;
    let night = Night::with_copies();
    let bin = night.aside.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::create_dir(night.repo.root().join(".beads")).unwrap();
    let script = bin.join("beads-of-mine");
    fs::write(&script, "#!/bin/sh\necho '[]'\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let home = night.aside.path().join("home");
    fs::create_dir_all(home.join(".agentops")).unwrap();
    let note = |at: &std::path::Path| {
        fs::create_dir_all(at.join(".agentops")).unwrap();
        fs::write(at.join(".agentops/config.yaml"), "rpi:\n  bd_command: beads-of-mine\n").unwrap();
        let mut command = night.command(&["--full"]);
        command.env("HOME", &home).env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        let told = ran(command.spawn().unwrap()).expect(0);
        fs::remove_file(at.join(".agentops/config.yaml")).unwrap();
        let summary = night.summary();
        let steps = summary["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["name"] == "bead-sync").unwrap();
        (told, step["note"].to_string(), summary["config_warnings"].clone())
    };
    let (_, of_user, warnings) = note(&home);
    assert!(!of_user.contains("not found") && warnings.is_null(), "{of_user} {warnings}");
    let (told, of_repository, warnings) = note(night.repo.root());
    assert!(of_repository.contains("no beads: bd was not found"), "{of_repository}");
    assert_eq!(warnings[0]["key"], "rpi.bd_command", "{told}");
    // By the environment, too.
    let mut command = night.command(&["--full"]);
    command.env("AGENTOPS_RPI_BD_COMMAND", "nobody-s-beads").env("PATH", "/usr/bin:/bin");
    ran(command.spawn().unwrap()).expect(0);
    let steps = night.summary()["steps"].to_string();
    assert!(steps.contains("nobody-s-beads"), "{steps}");
}
