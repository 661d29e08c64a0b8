//! `ao vault scan`, and the hook before a commit.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use crate::repo::{Ran, TestRepo};

/// Put together here, so that this file holds none.
fn token() -> String {
    format!("gh{}_{}", "p", "1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op9Qr0St1Uv2Wx")
}

fn secret_line() -> String {
    format!("token = \"{}\"\n", token())
}

struct Bed {
    repo: TestRepo,
    home: tempfile::TempDir,
}

impl Bed {
    fn new() -> Self {
        let bed = Self { repo: TestRepo::new(), home: tempfile::tempdir().unwrap() };
        bed.git(&["init", "-q"]).expect(0);
        bed
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap());
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "a")
                .env(format!("GIT_{who}_EMAIL"), "a@example.com");
        }
        command.current_dir(self.repo.root());
        command
    }

    fn git(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command("git").args(arguments).output().unwrap())
    }

    fn ao(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(env!("CARGO_BIN_EXE_ao")).args(arguments).output().unwrap())
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.repo.root().join(path), text).unwrap();
    }

    fn hook(&self) -> std::path::PathBuf {
        self.repo.root().join(".git/hooks/pre-commit")
    }
}

/// Put together here, too: a key of Anthropic's, a database's password, a key of Tailscale's.
fn newer_secrets() -> [(String, &'static str); 5] {
    let long = "wtYjL2WAlmt4Y1QTNaq3kJqeZEe1sWHBCOfxOrS4IvQKlhW0J0LqiPCr9-2ljVZa_LURrEOYDuXdZkAKiQI7aEiyKA2zA";
    let database = format!("postgres://app:{}@db.internal:5432/app", &long[..18]);
    [
        (format!("sk-ant-{}-{}AA", "api03", &long[..93]), "anthropic-api-key"),
        (format!("sk-ant-{}-{}AA", "admin01", &long[..93]), "anthropic-admin-api-key"),
        (format!("sk-ant-{}-{}AA", "oat01", &long[..93]), "anthropic-key"),
        (database, "url-password"),
        (format!("tskey-{}-k{}CNTRL-{}", "auth", &long[..9], &long[20..52]), "tailscale-key"),
    ]
}

/// By the scan and by the hook, alone, in a sentence and in JSON.
// proves: SCO-09
#[test]
fn keys_of_anthropic_databases_and_tailscale_are_found() {
    let bed = Bed::new();
    bed.ao(&["vault", "install-hook"]).expect(0);
    for (secret, rule) in newer_secrets() {
        for text in [
            format!("{secret}\n"),
            format!("I used {secret}, and it worked.\n"),
            format!("{{\"log\":\"first\\n{secret}\\nlast\"}}\n"),
        ] {
            bed.write("notes.txt", &text);
            let found = bed.ao(&["vault", "scan", "notes.txt"]).expect(5);
            assert!(found.stdout.contains(&format!(": {rule}: ")), "{text} {found}");
            assert!(!found.stdout.contains(&secret[..24]), "{found}");
            bed.git(&["add", "-f", "notes.txt"]).expect(0);
            assert_ne!(bed.git(&["commit", "-qm", "x"]).code, 0, "{text}");
        }
    }
    bed.write("notes.txt", "postgres://user:password@localhost/app and tskey-auth-…\n");
    bed.ao(&["vault", "scan", "notes.txt"]).expect(0);
}

// proves: SCO-09
#[test]
fn secrets_are_told_by_place_and_never_shown() {
    let bed = Bed::new();
    bed.write("config.txt", &format!("first\n{}", secret_line()));
    for arguments in [["vault", "scan"].as_slice(), &["vault", "scan", "config.txt"]] {
        let found = bed.ao(arguments).expect(5);
        assert!(found.stdout.contains("config.txt:2:10: github-pat: "), "{found}");
        assert!(!format!("{found}").contains("1Ab2Cd3"), "{found}");
    }
    let told = bed.ao(&["vault", "scan", "--json", "config.txt"]).expect(5);
    assert_eq!(told.json()["findings"][0]["rule"], "github-pat");
    assert_eq!(told.json()["unusable_rules"], serde_json::json!([]));
    assert!(!told.stdout.contains("1Ab2Cd3"), "{told}");
    bed.write("config.txt", "first\n");
    bed.ao(&["vault", "scan"]).expect(0);
    bed.write(".gitignore", "ignored.txt\n");
    bed.write("ignored.txt", &secret_line());
    bed.ao(&["vault", "scan"]).expect(0);
    bed.ao(&["vault", "scan", "ignored.txt"]).expect(5);
    bed.ao(&["vault", "scan", "missing.txt"]).expect(1);
}

#[test]
fn staged_is_what_the_index_has() {
    let bed = Bed::new();
    bed.write("a.txt", &secret_line());
    bed.ao(&["vault", "scan", "--staged"]).expect(0);
    bed.git(&["add", "a.txt"]).expect(0);
    bed.write("a.txt", "clean by now\n");
    bed.ao(&["vault", "scan", "--staged"]).expect(5);
    bed.git(&["add", "a.txt"]).expect(0);
    bed.write("a.txt", &secret_line());
    bed.ao(&["vault", "scan", "--staged"]).expect(0);
    bed.git(&["commit", "-qm", "one"]).expect(0);
    bed.git(&["add", "-N", "."]).expect(0);
    bed.git(&["add", "a.txt"]).expect(0);
    bed.ao(&["vault", "scan", "--staged"]).expect(5);
}

#[test]
fn the_vaults_own_values_are_found_by_their_name() {
    let bed = Bed::new();
    // `printf 'x:tr0ub4dor-and-3' | base64`
    bed.write("a.txt", "said: eDp0cjB1YjRkb3ItYW5kLTM=\n");
    assert!(!bed.ao(&["vault", "scan", "a.txt"]).expect(0).stdout.contains("vault-value"));
    crate::vault::keep_in(bed.home.path(), &[("db", "tr0ub4dor-and-3")]);
    let found = bed.ao(&["vault", "scan", "a.txt"]).expect(5);
    assert!(found.stdout.contains("vault-value") && found.stdout.contains("vault://db"), "{found}");
}

// proves: SCO-09
#[test]
fn a_value_in_the_name_of_a_file_is_found() {
    let bed = Bed::new();
    crate::vault::keep_in(bed.home.path(), &[("db", "tr0ub4dor-and-3")]);
    bed.write("notes-tr0ub4dor-and-3.txt", "clean\n");
    bed.git(&["add", "."]).expect(0);
    for arguments in [["vault", "scan"].as_slice(), &["vault", "scan", "--staged"]] {
        let found = bed.ao(arguments).expect(5);
        assert!(found.stdout.contains("vault://db, in the name"), "{found}");
        assert!(!format!("{found}").contains("tr0ub4dor"), "{found}");
    }
}

/// A hook beside the one that git runs would hold nothing.
#[test]
fn a_folder_for_hooks_that_the_users_settings_name_is_seen() {
    let bed = Bed::new();
    let (folder, other) = (bed.home.path().join("hooks"), bed.home.path().join("settings"));
    let text = format!("[core]\n\thooksPath = {}\n", folder.display());
    fs::create_dir_all(bed.home.path().join(".config/git")).unwrap();
    fs::write(&other, &text).unwrap();
    let named = |variable: &str| {
        let mut command = bed.command(env!("CARGO_BIN_EXE_ao"));
        command.args(["vault", "install-hook"]).env(variable, &other);
        Ran::of(command.output().unwrap())
    };
    for refused in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].map(named) {
        assert!(refused.expect(6).stderr.contains("core.hooksPath"));
    }
    fs::write(bed.home.path().join(".config/git/config"), &text).unwrap();
    assert!(bed.ao(&["vault", "install-hook"]).expect(6).stderr.contains("core.hooksPath"));
    assert!(!bed.hook().exists());
    // What the repository says itself goes before.
    bed.git(&["config", "core.hooksPath", ".hooks"]).expect(0);
    bed.ao(&["vault", "install-hook"]).expect(0);
    assert!(bed.repo.root().join(".hooks/pre-commit").exists());
}

#[test]
fn the_hook_refuses_a_commit_with_a_secret_also_of_a_file_by_name() {
    let bed = Bed::new();
    bed.ao(&["vault", "install-hook"]).expect(0);
    bed.write("a.txt", "clean\n");
    bed.git(&["add", "a.txt"]).expect(0);
    bed.git(&["commit", "-qm", "clean"]).expect(0);
    bed.write("a.txt", &secret_line());
    // These have an index of their own, which git names to the hook.
    for arguments in [["commit", "-qam", "x"].as_slice(), &["commit", "-qm", "x", "a.txt"]] {
        let refused = bed.git(arguments);
        assert_ne!(refused.code, 0, "{refused}");
        assert!(format!("{refused}").contains("github-pat"), "{refused}");
        assert!(!format!("{refused}").contains("1Ab2Cd3"), "{refused}");
    }
    bed.ao(&["vault", "uninstall-hook"]).expect(0);
    assert!(!bed.hook().exists());
    bed.git(&["commit", "-qam", "x"]).expect(0);
}

#[test]
fn a_hook_from_before_goes_first_and_comes_back_as_it_was() {
    let bed = Bed::new();
    fs::create_dir_all(bed.hook().parent().unwrap()).unwrap();
    fs::write(bed.hook(), "#!/bin/sh\necho before >> ran.txt\n").unwrap();
    fs::set_permissions(bed.hook(), fs::Permissions::from_mode(0o750)).unwrap();
    let seen = || {
        let found = fs::metadata(bed.hook()).unwrap();
        (fs::read(bed.hook()).unwrap(), found.mode(), found.ino(), found.mtime_nsec())
    };
    let before = seen();
    bed.ao(&["--dry-run", "vault", "install-hook"]).expect(0);
    assert_eq!(seen(), before);
    bed.ao(&["vault", "install-hook"]).expect(0);
    let again = bed.ao(&["vault", "install-hook"]).expect(0);
    assert!(again.stdout.contains("Nothing to do"), "{again}");
    bed.write("a.txt", "clean\n");
    bed.git(&["add", "a.txt"]).expect(0);
    bed.git(&["commit", "-qm", "clean"]).expect(0);
    assert_eq!(fs::read_to_string(bed.repo.root().join("ran.txt")).unwrap(), "before\n");
    bed.write("a.txt", &secret_line());
    assert_ne!(bed.git(&["commit", "-qam", "x"]).code, 0);
    bed.ao(&["vault", "uninstall-hook"]).expect(0);
    assert_eq!(seen(), before);
    assert_eq!(
        fs::read_dir(bed.hook().parent().unwrap())
            .unwrap()
            .filter(|it| { it.as_ref().unwrap().file_name().to_string_lossy().contains("ao") })
            .count(),
        0
    );
}

#[test]
fn a_hook_that_was_changed_since_is_left_alone() {
    let bed = Bed::new();
    bed.ao(&["vault", "install-hook"]).expect(0);
    let text = fs::read_to_string(bed.hook()).unwrap() + "echo mine\n";
    fs::write(bed.hook(), &text).unwrap();
    bed.ao(&["vault", "uninstall-hook"]).expect(6);
    bed.ao(&["vault", "install-hook"]).expect(6);
    assert_eq!(fs::read_to_string(bed.hook()).unwrap(), text);
    bed.git(&["config", "core.hooksPath", "/somewhere/else"]).expect(0);
    bed.ao(&["vault", "install-hook"]).expect(6);
}
