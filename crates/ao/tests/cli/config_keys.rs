//! A configuration that says what `ao` does not know or cannot use: it is named, by file, line and key.

use std::fs;

use serde_json::{Value, json};

use crate::curator::Curator;
use crate::night::{Night, json_of, ran};
use crate::repo::{Ran, contents};
use crate::setup::Evening;

const UNKNOWN: &str = "\
# the nights
dream:
  run_timout: 1h
  max_iterations: 1
  local_curator:
    hourly_cup: 5
runners:
  fast:
    kind: claude
    modle: haiku
trust:
  promote_att: code
undo:
  day: 3
guard:
  flor: B
notify:
  comand: [\"true\"]
missions:
  parallel: 2
questions:
  kep: true
dreem:
  run_timeout: 1h
";

/// The keys of [`UNKNOWN`] that nobody knows, their lines, and the nearest known key.
const NAMED: [(&str, u64, Option<&str>); 10] = [
    ("dream.run_timout", 3, Some("dream.run_timeout")),
    ("dream.local_curator.hourly_cup", 6, Some("dream.local_curator.hourly_cap")),
    ("runners.fast.modle", 10, Some("runners.fast.model")),
    ("trust.promote_att", 12, Some("trust.promote_at")),
    ("undo.day", 14, Some("undo.days")),
    ("guard.flor", 16, Some("guard.floor")),
    ("notify.comand", 18, Some("notify.command")),
    ("missions.parallel", 20, None),
    ("questions.kep", 22, Some("questions.keep")),
    ("dreem", 23, Some("dream")),
];

/// Each unknown key with its file, its line and the nearest known key.
#[track_caller]
fn names_all(text: &str, file: &str) {
    for (key, line, nearest) in NAMED {
        let told = text.lines().find(|told| told.contains(key));
        let told = told.unwrap_or_else(|| panic!("{key} is not named in {text}"));
        assert!(told.contains(file) && told.contains(&format!("line {line}")), "{told}");
        assert!(nearest.is_none_or(|nearest| told.contains(nearest)), "{told}");
    }
}

// proves: RUN-46
#[test]
fn a_key_that_nobody_knows_is_named_before_the_run_and_in_its_report() {
    let night = Night::with_copies();
    night.configure(UNKNOWN);
    let file = night.repo.root().join(".agentops/config.yaml").display().to_string();
    let told = night.run(&[]).expect(0);
    names_all(&told.stderr, &file);
    // The keys beside them count, and what was meant by the wrong one does not.
    let summary = night.summary();
    assert_eq!(summary["runtime"]["effective_timeout"], "8h0m0s");
    assert_eq!(summary["iterations"].as_array().unwrap().len(), 1);
    let warnings = summary["config_warnings"].as_array().unwrap();
    let expected: Vec<Value> =
        NAMED.iter().map(|(key, line, nearest)| json!([file, line, key, nearest])).collect();
    let found: Vec<Value> = warnings
        .iter()
        .map(|one| json!([one["file"], one["line"], one["key"], one["nearest"]]))
        .collect();
    assert_eq!(found, expected);
    names_all(&night.markdown(), &file);
    let summary = night.latest("summary.json");
    night.repo.run(&["schema", "summary", "--check", summary.to_str().unwrap()]).expect(0);
    // The next night, which has nothing to do, says it again.
    night.run(&[]).expect(0);
    assert_eq!(night.summary()["config_warnings"].as_array().unwrap().len(), NAMED.len());
}

// proves: RUN-46
#[test]
fn a_start_that_the_lock_refuses_has_named_the_keys_before() {
    let night = Night::with_copies();
    let held = night.held_at("reduce", &[]);
    night.configure(UNKNOWN);
    let told = night.run(&[]).expect(75);
    names_all(&told.stderr, "config.yaml");
    held.go_on().expect(0);
}

// proves: RUN-46
#[test]
fn a_night_with_warnings_is_replayed_to_the_byte() {
    let night = Night::with_copies();
    night.configure("dream:\n  run_timout: 1h\n");
    night.run(&[]).expect(0);
    let id = night.summary()["run_id"].as_str().unwrap().to_owned();
    fs::remove_file(night.repo.root().join(".agentops/config.yaml")).unwrap();
    let told = night.repo.run(&["--json", "overnight", "replay", &id]).expect(0).json();
    assert_eq!(told["identical"], true, "{told}");
}

// proves: RUN-46
#[test]
fn the_file_of_the_user_and_the_environment_are_named_too() {
    let night = Night::with(3);
    let home = night.aside.path().join("home");
    fs::create_dir_all(home.join(".agentops")).unwrap();
    fs::write(home.join(".agentops/config.yaml"), "dream:\n  keep_awke: false\n").unwrap();
    night.configure("trust:\n  promot_at: code\n");
    let mut command = night.command(&[]);
    command.env("HOME", &home).env("AGENTOPS_DREAM_RUN_TIMOUT", "1h");
    let told = ran(command.spawn().unwrap()).expect(0);
    let warnings = night.summary()["config_warnings"].clone();
    let of = |key: &str| {
        let all = warnings.as_array().unwrap();
        all.iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("{key}: {told}")).clone()
    };
    let at_home = home.join(".agentops/config.yaml");
    assert_eq!(of("dream.keep_awke")["file"], at_home.to_str().unwrap());
    assert_eq!(of("dream.keep_awke")["nearest"], "dream.keep_awake");
    assert!(
        of("trust.promot_at")["file"]
            .as_str()
            .unwrap()
            .starts_with(night.repo.root().to_str().unwrap())
    );
    let variable = of("AGENTOPS_DREAM_RUN_TIMOUT");
    assert_eq!(variable["nearest"], "AGENTOPS_DREAM_RUN_TIMEOUT");
    assert!(variable["line"].is_null() && variable["file"] == "the environment", "{variable}");
    assert!(told.stderr.contains("AGENTOPS_DREAM_RUN_TIMEOUT"), "{told}");
}

/// Line, key and nearest key of each warning in the report.
fn warned(night: &Night) -> Vec<Value> {
    let summary = night.summary();
    let warnings = summary["config_warnings"].as_array().unwrap();
    warnings.iter().map(|one| json!([one["line"], one["key"], one["nearest"]])).collect()
}

/// `dream:` is the night's, and `ideas:` is for the pass over ideas.
// proves: RUN-46
#[test]
fn a_key_in_the_wrong_section_is_named_with_the_right_one() {
    let night = Night::with(3);
    night.configure("dream:\n  quiet_minutes: 5\nideas:\n  mode: discipline\n  run_timeout: 2h\n");
    night.run(&[]).expect(0);
    assert_eq!(
        warned(&night),
        [
            json!([2, "dream.quiet_minutes", "ideas.quiet_minutes"]),
            json!([5, "ideas.run_timeout", "dream.run_timeout"]),
        ]
    );
}

/// Whoever writes it so means the key.
// proves: RUN-46
#[test]
fn a_key_with_dots_in_its_name_is_named() {
    let night = Night::with(3);
    night.configure("dream.run_timeout: 1h\ndream.keep_awke: false\nforge.x: 1\n");
    let told = night.run(&[]).expect(0);
    assert_eq!(night.summary()["runtime"]["effective_timeout"], "8h0m0s");
    assert_eq!(
        warned(&night),
        [
            json!([1, "dream.run_timeout", "dream.run_timeout"]),
            json!([2, "dream.keep_awke", "dream.keep_awake"]),
        ]
    );
    assert!(told.stderr.contains("write each part beneath the one before"), "{told}");
}

/// A value, its line and key, how it is repeated, and what would do.
const UNUSABLE: [(&str, u64, &str, &str, &str); 30] = [
    ("dream: 5\n", 1, "dream", "", "keys of its own"),
    ("\ndream: [run_timeout]\n", 2, "dream", "", "keys of its own"),
    ("runners:\n  far: claude\n", 2, "runners.far", "", "keys of its own"),
    ("dream:\n  schedule_at: 3am\n", 2, "dream.schedule_at", "3am", "03:00"),
    ("dream:\n\n  run_timeout: 49h\n", 3, "dream.run_timeout", "49h", "48h"),
    ("dream:\n  run_timeout: soon\n", 2, "dream.run_timeout", "soon", "8h"),
    ("dream:\n  run_timeout: [8]\n", 2, "dream.run_timeout", "`8`", "such as 8h"),
    ("dream:\n  plateau_window: 1\n", 2, "dream.plateau_window", "1", "at least 2"),
    ("dream:\n  plateau_window: many\n", 2, "dream.plateau_window", "many", "a whole number"),
    ("dream:\n  plateau_epsilon: 0\n", 2, "dream.plateau_epsilon", "0", "over 0"),
    ("dream:\n  consensus_policy: loudest\n", 2, "dream.consensus_policy", "loudest", "majority"),
    ("dream:\n  scheduler_mode: at\n", 2, "dream.scheduler_mode", "at", "systemd"),
    ("dream:\n  keep_awake: perhaps\n", 2, "dream.keep_awake", "perhaps", "true or false"),
    ("dream:\n  council_runner_timeout: 0s\n", 2, "dream.council_runner_timeout", "0s", "over 0"),
    ("dream:\n  morning_command: a '{id}\n", 2, "dream.morning_command", "a '{id}", "closed"),
    ("runners:\n  odd:\n    kind: oracle\n", 3, "runners.odd.kind", "oracle", "claude"),
    (
        "runners:\n  far:\n    kind: ollama\n    endpoint: nowhere\n",
        4,
        "runners.far.endpoint",
        "",
        "https://",
    ),
    (
        "runners:\n  far:\n    kind: claude\n    net: [nowhere]\n",
        4,
        "runners.far.net",
        "nowhere",
        "HOST:PORT",
    ),
    ("trust:\n  promote_at: everybody\n", 2, "trust.promote_at", "everybody", "code"),
    ("undo:\n  days: -1\n", 2, "undo.days", "-1", "a whole number"),
    ("guard:\n  floor: C\n", 2, "guard.floor", "C", "A or B"),
    ("notify:\n  command: []\n", 2, "notify.command", "", "program"),
    ("notify:\n  command: ['']\n", 2, "notify.command", "", "program"),
    ("dream:\n  checkpoint_max_mb: 0\n", 2, "dream.checkpoint_max_mb", "0", "over 0"),
    (
        "dream:\n  local_curator:\n    engine: gpt\n",
        3,
        "dream.local_curator.engine",
        "gpt",
        "ollama",
    ),
    ("runners:\n  mine:\n    timeout: 0s\n", 3, "runners.mine.timeout", "0s", "over 0"),
    ("runners:\n  mine:\n    max_tokens: 0\n", 3, "runners.mine.max_tokens", "0", "over 0"),
    ("runners:\n  mine:\n    max_usd: -1\n", 3, "runners.mine.max_usd", "-1", "under 0"),
    (
        "runners:\n  mine:\n    kind: command\n",
        3,
        "runners.mine.kind",
        "command",
        "needs `command`",
    ),
    (
        "dream:\n  local_curator:\n    allowed_job_kinds: [rm]\n",
        3,
        "dream.local_curator.allowed_job_kinds",
        "rm",
        "lint-wiki",
    ),
];

// proves: RUN-46
#[test]
fn a_value_that_cannot_be_used_is_refused_with_its_place_and_what_would_do() {
    let night = Night::with_copies();
    let before = contents(&night.repo.tree());
    for (yaml, line, key, value, expected) in UNUSABLE {
        night.configure(yaml);
        let told = night.run(&[]).expect(2);
        let file = night.repo.root().join(".agentops/config.yaml").display().to_string();
        let line = format!("line {line}");
        for word in [&file, &line, key, value, expected] {
            assert!(told.stderr.contains(word), "{yaml}: no {word} in {told}");
        }
        assert!(!night.repo.exists("overnight"), "{yaml}: nothing was begun");
        night.repo.run(&["overnight", "plan"]).expect(2);
    }
    assert_eq!(contents(&night.repo.tree()), before);
    // What stands where the name of a secret should stand may be the secret.
    night.configure("runners:\n  leak:\n    kind: claude\n    auth: hunter2hunter2\n");
    let told = night.run(&[]).expect(2);
    assert!(told.stderr.contains("line 4") && told.stderr.contains("vault://"), "{told}");
    assert!(!told.stderr.contains("hunter2"), "{told}");
}

// proves: RUN-46
#[test]
fn setup_names_unknown_keys_and_refuses_unusable_values() {
    let evening = Evening::new();
    evening.write_config(UNKNOWN);
    let ran = evening.setup(&["--json"]).expect(0);
    let checks = ran.json()["preflight"]["checks"].clone();
    let found = checks.as_array().unwrap().iter().filter(|check| check["name"] == "configuration");
    let doubts: Vec<&str> = found
        .filter(|check| check["verdict"] == "doubt")
        .map(|check| check["found"].as_str().unwrap())
        .collect();
    names_all(&doubts.join("\n"), "config.yaml");
    let (yaml, _, key, value, _) = UNUSABLE[3];
    evening.write_config(yaml);
    let told = evening.setup(&[]).expect(2);
    for word in ["config.yaml", "line 2", key, value] {
        assert!(told.stderr.contains(word), "{told}");
    }
}

/// The keys of `dream:` that are one value, with the type that the schema gives each.
fn scalars(night: &Night) -> Vec<(String, Value)> {
    let schema = night.repo.run(&["schema", "config"]).expect(0).json();
    let dream = &schema["$defs"]["DreamConfig"]["properties"];
    let dream = dream.as_object().unwrap_or_else(|| panic!("{schema:#}"));
    let all = dream.iter().map(|(key, part)| (key.clone(), part.clone()));
    let is_scalar =
        |(key, part): &(String, Value)| key != "local_curator" && part.get("items").is_none();
    all.filter(is_scalar).collect()
}

/// Whether any text will do for a key.
fn is_text(part: &Value) -> bool {
    let is_string = part["type"] == "string" || part["type"] == json!(["string", "null"]);
    is_string && part.get("pattern").is_none() && part.get("enum").is_none()
}

// proves: RUN-46
#[test]
fn every_key_of_a_night_has_a_variable_that_is_read() {
    let night = Night::with(3);
    let all = scalars(&night);
    assert!(all.len() > 12, "{all:?}");
    for (key, part) in all.into_iter().filter(|(_, part)| !is_text(part)) {
        let variable = format!("AGENTOPS_DREAM_{}", key.to_uppercase());
        let told = ran(night.command(&[]).env(&variable, "x?y").spawn().unwrap()).expect(2);
        assert!(
            told.stderr.contains(&variable) && told.stderr.contains("x?y"),
            "{variable} ({part}): {told}"
        );
    }
    assert!(!night.repo.exists("overnight"), "nothing was begun");
}

// proves: RUN-46
#[test]
fn the_variables_of_a_night_are_stronger_than_its_files() {
    let night = Night::with(3);
    let other = night.aside.path().join("other");
    fs::create_dir_all(other.join(".agents/learnings")).unwrap();
    let reports = night.aside.path().join("reports");
    night.configure(
        "dream:\n  run_timeout: 1h\n  schedule_at: '01:00'\n  scheduler_mode: systemd\n  warn_only: true\n",
    );
    let set = [
        ("REPORT_DIR", reports.to_str().unwrap()),
        ("RUN_TIMEOUT", "80s"),
        ("KEEP_AWAKE", "off"),
        ("SCHEDULER_MODE", "cron"),
        ("SCHEDULE_AT", "02:30"),
        ("CREATIVE_LANE", "0"),
        ("PLATEAU_EPSILON", "0.25"),
        ("PLATEAU_WINDOW", "5"),
        ("MAX_ITERATIONS", "7"),
        ("WARN_ONLY", "no"),
        ("CHECKPOINT_MAX_MB", "64"),
        ("MORNING_COMMAND", "work on {id}"),
        ("HARVEST_FROM", other.to_str().unwrap()),
        ("TRANSCRIPTS", "false"),
    ];
    let run = |arguments: &[&str]| {
        let mut command = night.repo.command(arguments);
        for (name, value) in set {
            command.env(format!("AGENTOPS_DREAM_{name}"), value);
        }
        ran(command.spawn().unwrap())
    };
    let told = run(&["overnight", "last"]).expect(1);
    assert!(told.stdout.contains("says 02:30 by cron"), "{told}");
    run(&["--json", "overnight", "start"]).expect(0);
    let summary = json_of(&reports.join("summary.json"));
    assert!(summary["config_warnings"].is_null(), "{summary:#}");
    assert_eq!(summary["runtime"]["effective_timeout"], "1m20s");
    assert_eq!(summary["runtime"]["keep_awake"], false);
    let id = summary["run_id"].as_str().unwrap();
    let record = json_of(&night.repo.state(&format!("cassettes/{id}.night.json")));
    let settings = &record["settings"];
    for (key, value) in [
        ("plateau_epsilon", json!(0.25)),
        ("plateau_window", json!(5)),
        ("max_iterations", json!(7)),
        ("strict", json!(true)),
        ("checkpoint_max_bytes", json!(64 * 1024 * 1024)),
        ("morning_command", json!("work on {id}")),
    ] {
        assert_eq!(settings[key], value, "{key}");
    }
    assert_eq!(settings["harvest"][0]["path"], other.to_str().unwrap());
    assert!(record["transcripts"].is_null());
    // A flag is stronger than all of them.
    run(&["overnight", "start", "--run-timeout", "70s"]).expect(0);
    let summary = json_of(&reports.join("summary.json"));
    assert_eq!(summary["runtime"]["effective_timeout"], "1m10s");
}

// proves: RUN-46
#[test]
fn the_variables_of_the_council_are_read() {
    let night = Night::with(3);
    let plan = |name: &str, value: &str| {
        let mut command = night.repo.command(&["--json", "overnight", "plan"]);
        command.env("AGENTOPS_DREAM_RUNNERS", "claude").env(name, value);
        ran(command.spawn().unwrap()).expect(0).json()
    };
    let told = plan("AGENTOPS_DREAM_COUNCIL_RUNNER_TIMEOUT", "45s");
    assert_eq!(told["runners"][0]["budget"]["time"], "45s", "{told:#}");
    let mut command = night.command(&[]);
    command.env("AGENTOPS_DREAM_RUNNERS", "claude");
    command.env("AGENTOPS_DREAM_CONSENSUS_POLICY", "unanimous");
    command.env("AGENTOPS_DREAM_CREATIVE_LANE", "yes");
    ran(command.spawn().unwrap()).expect(0);
    let packet = json_of(&night.latest("council/packet.json"));
    assert_eq!(packet["consensus_policy"], "unanimous");
    assert_eq!(packet["creative_lane"], true);
}

// proves: RUN-46
#[test]
fn the_variables_of_the_curator_are_read() {
    let curator = Curator::new();
    let other = curator.path("empty").display().to_string();
    for (name, value, key, expected) in [
        ("ENGINE", "other", "engine", json!("other")),
        ("OLLAMA_URL", "http://127.0.0.1:9", "ollama_url", json!("http://127.0.0.1:9")),
        ("MODEL", "small", "model", json!("small")),
        ("WORKER_DIR", &*other, "worker_dir", json!(other)),
        ("VAULT_DIR", &*other, "vault_dir", json!(other)),
        ("HOURLY_CAP", "3", "hourly_cap", json!(3)),
        ("ALLOWED_JOB_KINDS", "lint-wiki", "allowed_job_kinds", json!(["lint-wiki"])),
    ] {
        let mut command = curator.command(&["--json", "status"]);
        command.env(format!("AGENTOPS_DREAM_LOCAL_CURATOR_{name}"), value);
        let status = Ran::of(command.output().unwrap()).expect(0).json();
        assert_eq!(status["settings"][key], expected, "{name}: {status:#}");
    }
    let mut command = curator.command(&["--json", "status"]);
    command.env("AGENTOPS_DREAM_LOCAL_CURATOR_ENABLED", "0");
    assert_eq!(Ran::of(command.output().unwrap()).expect(0).json()["is_enabled"], false);
}
