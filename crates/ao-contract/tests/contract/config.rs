use ao_contract::{Config, read, unknown_keys};
use serde_json::json;

use crate::samples;

#[test]
fn known_keys_are_known() {
    assert_eq!(unknown_keys(&samples::named("config.json").value), Vec::<String>::new());
}

#[test]
fn unknown_keys_under_dream_are_named() {
    let config = json!({
        "telemetry": { "on": true },
        "dream": {
            "run_timout": "8h",
            "local_curator": { "hourly_cap": 5, "hourly_cup": 5 },
            "runners": ["a"],
            "nested": { "a": 1 },
        },
    });
    assert_eq!(
        unknown_keys(&config),
        ["dream.run_timout", "dream.local_curator.hourly_cup", "dream.nested"]
    );
    assert!(read::<Config>(&config).is_ok());
}

#[test]
fn what_is_no_map_has_no_keys() {
    for config in [json!(null), json!([]), json!({ "dream": null }), json!({ "dream": 3 })] {
        assert!(unknown_keys(&config).is_empty(), "{config}");
    }
}

/// `dream:` with everything under it commented out.
#[test]
fn an_empty_section_is_an_absent_one() {
    let empty = json!({ "dream": null, "runners": null, "guard": null, "undo": null });
    assert_eq!(read::<Config>(&empty).unwrap(), Config::default());
    let curator = json!({ "dream": { "local_curator": null } });
    assert_eq!(read::<Config>(&curator).unwrap(), Config::default());
}

#[test]
fn durations_keep_the_words_of_their_author() {
    let config: Config = read(&json!({ "dream": { "run_timeout": "90m" } })).unwrap();
    let timeout = config.dream.run_timeout.unwrap();
    assert_eq!((timeout.as_str(), timeout.get().as_secs()), ("90m", 5400));
}
