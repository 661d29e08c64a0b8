use ao_contract::{Config, known_keys, read};
use serde_json::{Value, json};

use crate::samples;

/// The keys of the sample, with `*` for the name of its runner.
fn keys(at: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                keys(&at.replace("runners.local", "runners.*"), value, found);
            }
        }
        _ => found.push(at.to_owned()),
    }
}

#[test]
fn what_is_read_is_known_in_every_section() {
    let known: Vec<String> = known_keys().iter().map(|key| key.name.clone()).collect();
    let mut found = Vec::new();
    keys("", &samples::named("config.json").value, &mut found);
    assert!(found.len() > 40, "{found:?}");
    for key in &found {
        assert!(known.contains(key), "{key} is not in {known:?}");
    }
    for key in ["dream", "dream.local_curator", "runners", "runners.*", "missions"] {
        assert!(!known.iter().any(|one| one == key), "{key} is no value");
    }
}

#[test]
fn what_a_value_may_be_is_said_of_every_key() {
    let known = known_keys();
    for (name, expected) in [
        ("dream.keep_awake", "true or false"),
        ("dream.plateau_window", "a whole number"),
        ("dream.run_timeout", "a text such as 8h, 1h30m, 45s"),
        ("dream.schedule_at", "a text such as 03:00"),
        ("dream.consensus_policy", "one of majority, weighted, unanimous"),
        ("dream.harvest_from", "a list of a text"),
        ("guard.floor", "one of A, B, C, D"),
    ] {
        let found = known.iter().find(|key| key.name == name).unwrap();
        assert_eq!(found.expected, expected, "{name}");
    }
    for key in known {
        assert!(!key.expected.is_empty(), "{}", key.name);
    }
}

/// `dream:` with everything under it commented out.
#[test]
fn an_empty_section_is_an_absent_one() {
    let empty =
        json!({ "dream": null, "runners": null, "guard": null, "undo": null, "paths": null });
    assert_eq!(read::<Config>(&empty).unwrap(), Config::default());
    let curator = json!({ "dream": { "local_curator": null } });
    assert_eq!(read::<Config>(&curator).unwrap(), Config::default());
}

#[test]
fn an_empty_word_is_an_absent_one() {
    let empty = json!({
        "dream": { "report_dir": "", "run_timeout": " ", "scheduler_mode": "", "schedule_at": "",
                   "consensus_policy": "", "council_runner_timeout": "", "morning_command": "" },
        "flywheel": { "auto_promote_threshold": "" },
        "rpi": { "bd_command": "", "worktree_mode": "auto" },
    });
    assert_eq!(read::<Config>(&empty).unwrap(), Config::default());
    let error = read::<Config>(&json!({ "dream": { "scheduler_mode": "at" } })).unwrap_err();
    assert_eq!(error.path, "dream.scheduler_mode");
}

#[test]
fn durations_keep_the_words_of_their_author() {
    let config: Config = read(&json!({ "dream": { "run_timeout": "90m" } })).unwrap();
    let timeout = config.dream.run_timeout.unwrap();
    assert_eq!((timeout.as_str(), timeout.get().as_secs()), ("90m", 5400));
}
