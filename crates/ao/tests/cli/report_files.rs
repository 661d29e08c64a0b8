//! `overnight report`: where it finds a summary, what it does with bad ones, and JSON.

use std::fs::{self, File};
use std::process::Command;

use serde_json::{Value, json};

use crate::repo::{Ran, TestRepo};

const V1: &str = include_str!("../../../ao-contract/tests/samples/summary.v1.json");
const V2: &str = include_str!("../../../ao-contract/tests/samples/summary.v2.json");
const LATEST: &str = "overnight/latest/summary.json";

fn report(repo: &TestRepo, more: &[&str]) -> Ran {
    repo.run(&[&["overnight", "report"], more].concat())
}

#[test]
fn what_is_no_report_is_refused_with_a_remedy() {
    let repo = TestRepo::new();
    let refused = |said: &str, more: &[&str]| {
        let ran = report(&repo, more).expect(1);
        assert!(ran.stderr.contains(said), "{said}: {ran}");
        assert!(ran.stderr.contains("hint:") && ran.stdout.is_empty(), "{ran}");
        assert!(!ran.stderr.contains("panicked"), "{ran}");
    };
    refused("there is no report", &[]);
    repo.write(LATEST, "");
    refused("is empty", &[]);
    for part in [1, 2, 10, 100, V2.len() / 2, V2.len() - 3] {
        repo.write(LATEST, &V2[..part]);
        refused("is cut off", &[]);
    }
    repo.write(LATEST, "not json at all");
    refused("is not JSON", &[]);
    repo.write(LATEST, "[]");
    refused("is not a report", &[]);
    repo.write(LATEST, &V2.replacen("\"status\": \"done\"", "\"status\": \"\\u001b[31mx\"", 1));
    let ran = report(&repo, &[]).expect(1);
    assert!(
        ran.stderr.contains("is not a report: status") && !ran.stderr.contains('\u{1b}'),
        "{ran}"
    );
    repo.write(LATEST, &V2.replacen("\"schema_version\": 2", "\"schema_version\": 3", 1));
    refused("is of version 3, and this program reads versions 1 and 2", &[]);
    refused("read it with the newer ao", &[]);
    repo.write(LATEST, &"[".repeat(100_000));
    refused("is not JSON", &[]);
    let path = repo.agents().join(LATEST);
    fs::write(&path, [0xff, 0, 0xfe]).unwrap();
    refused("is binary", &[]);
    File::create(&path).unwrap().set_len(40 * 1024 * 1024).unwrap();
    refused("is larger than", &[]);
    fs::remove_file(&path).unwrap();
    // A reader that waits for a writer would wait for ever.
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused("is not a plain file", &[]);
    refused("there is no report", &["--from", "nowhere"]);
    refused("there is no report", &["--from", repo.agents().to_str().unwrap()]);
    let failed = repo.run(&["--json", "overnight", "report", "--from", "nowhere"]).expect(1);
    assert_eq!(failed.json()["error"]["exit"], 1);
}

#[test]
fn json_has_every_value_as_it_is_on_disk() {
    let repo = TestRepo::new();
    // Digits and letters that a parser would write in another way.
    let odd =
        "\"zz\": [1.10, 1e2, 100000000000000000000000000, \"\\u0041\\/\"],\n  \"as_read\": 1,";
    let text = V2.replacen("\"mode\"", &format!("{odd}\n  \"mode\""), 1);
    repo.write(LATEST, &text);
    let printed = report(&repo, &["--format", "json"]).expect(0).stdout;
    assert!(
        printed.contains("\"zz\": [1.10, 1e2, 100000000000000000000000000, \"\\u0041\\/\"]"),
        "{printed}"
    );
    let (mut got, mut had): (Value, Value) =
        (serde_json::from_str(&printed).unwrap(), serde_json::from_str(&text).unwrap());
    let as_read = got.as_object_mut().unwrap().shift_remove("as_read").unwrap();
    had.as_object_mut().unwrap().shift_remove("as_read");
    assert_eq!(got, had);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&got), keys(&had));
    assert_eq!(as_read["path"], json!(repo.agents().join(LATEST)));
    assert_eq!(as_read["status_on_disk"], "done");
    assert_eq!(as_read["verdicts"], json!({}));
    let wrapped = repo.run(&["--json", "overnight", "report"]).expect(0).json();
    assert_eq!(
        (&wrapped["schema_version"], &wrapped["command"]),
        (&json!(1), &json!("overnight report"))
    );
    had["as_read"] = as_read;
    assert_eq!(wrapped["summary"], had);
    repo.run(&["--json", "overnight", "report", "--format", "json"]).expect(0);
    repo.run(&["--json", "overnight", "report", "--format", "md"]).expect(2);
    repo.run(&["overnight", "report", "--format", "pdf"]).expect(2);
}

#[test]
fn the_configuration_says_where_the_newest_report_is() {
    let repo = TestRepo::new();
    fs::create_dir_all(repo.root().join(".agentops")).unwrap();
    fs::create_dir_all(repo.root().join("nights")).unwrap();
    fs::write(
        repo.root().join("nights/summary.json"),
        V1.replace("20260408T020000Z", "CONFIGURED"),
    )
    .unwrap();
    repo.write(LATEST, V1);
    assert!(report(&repo, &[]).expect(0).stdout.contains("20260408T020000Z"));
    fs::write(repo.root().join(".agentops/config.yaml"), "dream:\n  report_dir: nights\n").unwrap();
    assert!(report(&repo, &[]).expect(0).stdout.contains("CONFIGURED"));
    let mut command = repo.command(&["overnight", "report"]);
    command.env("AGENTOPS_DREAM_REPORT_DIR", repo.state("latest"));
    let output = command.output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("20260408T020000Z"));
}

#[test]
fn a_report_is_only_read() {
    let repo = TestRepo::new();
    repo.write(LATEST, V2);
    let before = repo.everything();
    for format in ["md", "text", "json"] {
        report(&repo, &["--format", format]).expect(0);
    }
    assert_eq!(repo.everything(), before);
    // Away from any repository too.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
    command.env_clear().current_dir(elsewhere.path()).args(["overnight", "report", "--from"]);
    let output = command.arg(repo.agents().join(LATEST)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(repo.run(&["overnight", "report", "--help"]).expect(0).stdout.contains("Examples:"));
}
