//! `ao notify`: what goes out, and what does not.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::repo::{Ran, TestRepo};

struct Bed {
    repo: TestRepo,
    home: tempfile::TempDir,
}

impl Bed {
    /// With a vault, and a command that writes down what it is told.
    fn new() -> Self {
        let bed = Self::without_vault();
        crate::vault::keep_in(bed.home.path(), &[("db", "tr0ub4dor-and-3")]);
        bed
    }

    fn without_vault() -> Self {
        let bed = Self { repo: TestRepo::new(), home: tempfile::tempdir().unwrap() };
        bed.configure("cat >> told.txt; printf '%s|' $# >> told.txt");
        bed
    }

    fn configure(&self, script: &str) {
        let script = format!("cd \"$HOME\" && {script}");
        let config = json!({ "notify": { "command": ["/bin/sh", "-c", script, "sh"] } });
        fs::create_dir_all(self.home.path().join(".agentops")).unwrap();
        fs::write(self.home.path().join(".agentops/config.yaml"), config.to_string()).unwrap();
    }

    fn notify(&self, arguments: &[&str], message: &str) -> Ran {
        let mut command = self.repo.command(arguments);
        command.env("HOME", self.home.path());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(message.as_bytes()).unwrap();
        Ran::of(child.wait_with_output().unwrap())
    }

    fn told(&self) -> String {
        fs::read_to_string(self.home.path().join("told.txt")).unwrap_or_default()
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.repo.state("notifications.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn kept(&self) -> Vec<std::path::PathBuf> {
        let place = self.home.path().join(".local/state/ao/sealed");
        let entries = fs::read_dir(place).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_message_goes_to_the_command_and_is_written_down() {
    let bed = Bed::new();
    bed.notify(&["notify"], "the night \u{1b}[31mis over\u{1b}[0m\n").expect(0);
    assert_eq!(bed.told(), "the night is over0|");
    let lines = bed.lines();
    assert_eq!(
        (&lines[0]["status"], &lines[0]["text"]),
        (&json!("sent"), &json!("the night is over"))
    );
    ao_contract::check("notification", &lines[0]).unwrap();
    assert!(bed.kept().is_empty());
    bed.notify(&["--dry-run", "notify", "again"], "").expect(0);
    assert_eq!(bed.lines().len(), 1);
    bed.notify(&["notify"], "").expect(2);
    bed.notify(&["notify"], &"x".repeat(65 * 1024)).expect(2);
}

// proves: SCO-09
#[test]
fn a_message_with_a_secret_is_replaced_and_the_secret_is_nowhere() {
    let token = format!("gh{}_{}", "p", "1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op9Qr0St1Uv2Wx");
    for (secret, rule) in [
        (token.as_str(), "github-pat"),
        ("tr0ub4dor-and-3", "vault-value"),
        ("tr0ub\u{1b}[1m4dor-and-3", "vault-value"),
        ("eDp0cjB1YjRkb3ItYW5kLTM=", "vault-value"),
    ] {
        let bed = Bed::new();
        let ran = bed.notify(&["notify"], &format!("use {secret} today")).expect(0);
        assert_eq!(bed.told(), "[redacted by safety layer]0|");
        assert_eq!(bed.lines()[0]["rules"], json!([rule]));
        let kept = bed.kept();
        assert_eq!(kept.len(), 1);
        assert_eq!(fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o600);
        let folder = fs::metadata(kept[0].parent().unwrap()).unwrap();
        assert_eq!(folder.permissions().mode() & 0o777, 0o700);
        let sealed = String::from_utf8_lossy(&fs::read(&kept[0]).unwrap()).into_owned();
        let log = fs::read_to_string(bed.repo.state("notifications.jsonl")).unwrap();
        for text in [sealed, log, bed.told(), format!("{ran}")] {
            assert!(!text.contains(secret) && !text.contains("4dor-and"), "{text}");
        }
        // Its owner has it back, after a rotation too.
        let name = bed.lines()[0]["kept"].as_str().unwrap().to_owned();
        for _ in 0..2 {
            assert!(bed.notify(&["vault", "kept"], "").expect(0).stdout.contains(&name));
            let message = bed.notify(&["vault", "kept", &name], "").expect(0).stdout;
            assert_eq!(message, format!("use {secret} today"));
            bed.notify(&["vault", "rotate"], "").expect(0);
        }
        bed.notify(&["vault", "kept", "../../x"], "").expect(2);
    }
}

#[test]
fn where_nothing_can_seal_the_secret_is_taken_out() {
    let bed = Bed::without_vault();
    let token = format!("gh{}_{}", "p", "1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op9Qr0St1Uv2Wx");
    bed.notify(&["notify"], &format!("use {token} today")).expect(0);
    assert_eq!(fs::read_to_string(&bed.kept()[0]).unwrap(), "use ***REDACTED*** today");
    let name = bed.lines()[0]["kept"].as_str().unwrap().to_owned();
    let message = bed.notify(&["vault", "kept", &name], "").expect(0).stdout;
    assert_eq!(message, "use ***REDACTED*** today");
}

#[test]
fn what_is_kept_is_bounded_and_runs_out() {
    let bed = Bed::new();
    let place = bed.home.path().join(".local/state/ao/sealed");
    fs::create_dir_all(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    let refused = bed.notify(&["notify"], "tr0ub4dor-and-3").expect(1);
    assert!(refused.stderr.contains("open to others"), "{refused}");
    assert_eq!(bed.told(), "[redacted by safety layer]0|");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(place.join("1000-0.txt"), "long ago").unwrap();
    fs::write(place.join("notes"), "not ours").unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let name = |days: u64| place.join(format!("{}-0.txt", now - days * 24 * 60 * 60));
    for days in [6, 8] {
        fs::write(name(days), "old").unwrap();
    }
    // There is room enough: what goes, goes for its age.
    bed.notify(&["notify"], "tr0ub4dor-and-3").expect(0);
    assert!(!place.join("1000-0.txt").exists());
    assert!(name(6).exists() && !name(8).exists());
    for nth in 0..120 {
        fs::write(place.join(format!("{}-{nth}.txt", now - 1000 + nth)), "recent").unwrap();
    }
    bed.notify(&["notify"], "tr0ub4dor-and-3").expect(0);
    assert!(!name(6).exists() && place.join("notes").exists());
    assert!(!place.join(format!("{}-0.txt", now - 1000)).exists());
    assert!(place.join(format!("{}-119.txt", now - 881)).exists());
    assert_eq!(bed.kept().len(), 101);
}

#[test]
fn a_command_that_fails_is_said_and_a_repository_names_none() {
    let bed = Bed::new();
    bed.configure("echo 'no tr0ub4dor-and-3 there' >&2; exit 7");
    let failed = bed.notify(&["notify", "hello"], "").expect(1);
    assert!(failed.stderr.contains("exited with 7: no ***REDACTED*** there"), "{failed}");
    assert_eq!(bed.lines()[0]["status"], "failed");
    assert!(!bed.lines()[0].to_string().contains("tr0ub4dor"));
    fs::remove_file(bed.home.path().join(".agentops/config.yaml")).unwrap();
    fs::create_dir(bed.repo.root().join(".agentops")).unwrap();
    let planted = bed.repo.root().join("planted");
    let config = json!({ "notify": { "command": ["/usr/bin/touch", planted] } });
    fs::write(bed.repo.root().join(".agentops/config.yaml"), config.to_string()).unwrap();
    let ran = bed.notify(&["notify", "hello"], "").expect(0);
    assert!(ran.stderr.contains("that is not run"), "{ran}");
    assert!(!planted.exists());
    assert_eq!(bed.lines()[1]["status"], "no-command");
}
