//! How well lessons are found, on a set of transcripts with the truth beside it (`tests/transcripts/`).
//!
//! One half was looked at while the rules were made, the other was not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::signals::Sessions;

/// A lesson by where it stands: the file of the set, the line, and what sort it is.
type Spot = (String, u64, String);

fn set() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// Puts the files of one half where their makers would have put them; gives their number.
fn install(sessions: &Sessions, half: &str) -> usize {
    let mut count = 0;
    for maker in ["claude", "codex", "gemini"] {
        for entry in fs::read_dir(set().join(half).join(maker)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replace("/REPO", sessions.root().to_str().unwrap());
            let name = path.file_name().unwrap().to_str().unwrap();
            match maker {
                "claude" => sessions.claude(name, &text),
                "codex" => sessions.codex(&format!("rollout-{name}"), &text),
                _ => sessions.gemini(name, &text),
            };
            count += 1;
        }
    }
    count
}

fn truth(half: &str) -> BTreeSet<Spot> {
    let text = fs::read_to_string(set().join("truth.json")).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let spot = |one: &Value| {
        let (file, kind) = (one["file"].as_str().unwrap(), one["kind"].as_str().unwrap());
        let file = file.rsplit('/').take(2).collect::<Vec<_>>().join("<");
        (file, one["line"].as_u64().unwrap(), kind.to_owned())
    };
    all.iter().filter(|one| one["half"] == half).map(spot).collect()
}

fn found(sessions: &Sessions) -> BTreeSet<Spot> {
    let told = sessions.signals(&["--dry-run"]);
    let spot = |one: &Value| {
        let lesson = &one["lesson"];
        let file = lesson["file"].as_str().unwrap().rsplit('/').next().unwrap();
        let file = file.trim_start_matches("rollout-");
        let file = format!("{file}<{}", lesson["maker"].as_str().unwrap());
        (file, lesson["line"].as_u64().unwrap(), lesson["kind"].as_str().unwrap().to_owned())
    };
    let all = told["taken"].as_array().unwrap().iter().map(spot);
    all.filter(|(_, _, kind)| kind == "correction" || kind == "decision").collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few dozen")]
#[expect(clippy::print_stdout, reason = "the figures are for whoever asks with --nocapture")]
fn measure(half: &str) -> (f64, f64) {
    let sessions = Sessions::new();
    let files = install(&sessions, half);
    assert!(files >= 36, "{files}");
    let (truth, found) = (truth(half), found(&sessions));
    let right = truth.intersection(&found).count() as f64;
    let (precision, recall) = (right / found.len() as f64, right / truth.len() as f64);
    println!(
        "{half}: {files} transcripts, {} lessons, {} found; precision {precision:.3}, recall {recall:.3}",
        truth.len(),
        found.len()
    );
    // What was missed in the half that nobody looks at stays unsaid, or it would be looked at.
    if half == "tune" {
        println!("  missed {:#?}", truth.difference(&found).collect::<Vec<_>>());
        println!("  wrong {:#?}", found.difference(&truth).collect::<Vec<_>>());
    }
    (precision, recall)
}

// proves: LOOP-24
#[test]
fn corrections_and_decisions_are_found_by_rules_alone() {
    for half in ["tune", "held-out"] {
        let (precision, recall) = measure(half);
        assert!(precision >= 0.9, "{half}: precision {precision}");
        assert!(recall >= 0.7, "{half}: recall {recall}");
    }
}
