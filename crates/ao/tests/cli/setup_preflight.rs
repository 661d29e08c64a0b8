//! The preflight of a setup: what would fail at three in the morning is said in the evening.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::repo::Ran;
use crate::setup::{Evening, PATH};
use crate::vault::keep_in;

const SECRET: &str = "sk-ant-api03-a-value-for-the-evening";

/// What was found of one thing: the verdict, and what was said with the remedy.
#[track_caller]
fn check(told: &Value, name: &str) -> (String, String) {
    let checks = told["preflight"]["checks"].as_array().unwrap_or_else(|| panic!("{told}"));
    let found = checks.iter().find(|check| check["name"] == name);
    let found = found.unwrap_or_else(|| panic!("{name}: {told:#}"));
    let said = format!(
        "{}\n{}",
        found["found"].as_str().unwrap(),
        found["remedy"].as_str().unwrap_or_default()
    );
    assert!(found["verdict"] == "good" || found["remedy"].is_string(), "a remedy: {found}");
    (found["verdict"].as_str().unwrap().to_owned(), said)
}

#[track_caller]
fn bad(evening: &Evening, arguments: &[&str], name: &str, says: &str) {
    let told = evening.setup(&[&["--json"], arguments].concat()).expect(6).json();
    let (verdict, said) = check(&told, name);
    assert!(verdict == "bad" && said.contains(says), "{verdict} {said}");
    assert_eq!(told["preflight"]["ok"], false);
    // For people, too, and also when it is applied: the files are harmless.
    let ran = evening.setup(&[&["--apply", "--scheduler", "cron"], arguments].concat()).expect(6);
    assert!(
        ran.stdout.contains("bad ") && ran.stdout.contains("are written")
            || ran.stdout.contains("is so already"),
        "{ran}"
    );
    assert!(evening.generated("cron.txt").exists());
}

#[test]
fn a_good_evening_is_told_as_one() {
    let evening = Evening::new();
    let told = evening.setup(&["--scheduler", "cron", "--json"]).expect(0).json();
    assert_eq!(told["preflight"]["ok"], true);
    let names: Vec<&str> =
        told["preflight"]["environment"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["PATH", "HOME", "USER"]);
    for name in ["home", "user", "knowledge", "disk", "lock", "configuration", "vault", "cell"] {
        let (verdict, said) = check(&told, name);
        assert_eq!(verdict, "good", "{name}: {said}");
    }
    assert!(check(&told, "cell").1.contains("tier "), "{told}");
    // Without bd the night goes on.
    assert_eq!(check(&told, "path").0, "doubt");
    assert!(!evening.repo.state("").exists(), "the look left nothing behind");
}

/// Only what the files set is there: a variable of this shell, or a folder of the repository on PATH,
/// changes nothing.
#[test]
fn the_night_does_not_have_what_the_shell_has() {
    let evening = Evening::new();
    let inside = evening.repo.root().join("node_modules/.bin");
    fs::create_dir_all(&inside).unwrap();
    let own = evening.home.path().join("bin");
    fs::create_dir(&own).unwrap();
    for folder in [&inside, &own] {
        fs::write(folder.join("bd"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join("bd"), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let ask = |path: String| {
        let mut command = evening.command(&["--scheduler", "cron", "--json"]);
        command.env("PATH", path).env("AGENTOPS_DREAM_RUNNERS", "nobody-at-all");
        Ran::of(command.output().unwrap()).expect(0).json()
    };
    let told = ask(format!("{}:relative:{PATH}", inside.display()));
    assert_eq!(check(&told, "path").0, "doubt", "a bd of the repository is none");
    assert_eq!(told["path_left_out"].as_array().unwrap().len(), 2, "{told}");
    assert!(!told["files"][0]["text"].as_str().unwrap().contains("node_modules"));
    // The shell's own runners are not asked for, and it is said that they are not heard.
    let (verdict, said) = check(&told, "environment");
    assert!(verdict == "doubt" && said.contains("AGENTOPS_DREAM_RUNNERS"), "{said}");
    assert!(!told["preflight"]["checks"].to_string().contains("nobody-at-all"));
    let told = ask(format!("{}:{PATH}", own.display()));
    assert_eq!(check(&told, "path").0, "good");
}

/// The files may be for another machine; a scheduler of this very system that does not run would miss
/// every night.
// proves: RUN-11
#[test]
fn a_scheduler_that_does_not_run_is_told() {
    let evening = Evening::new();
    let ask = |runs: &str, scheduler: &str| {
        let mut command = evening.command(&["--scheduler", scheduler, "--json"]);
        Ran::of(command.env("AO_SETUP_TEST_RUNS", runs).output().unwrap())
    };
    let told = ask("cron systemd", "cron").expect(0).json();
    assert_eq!(check(&told, "scheduler").0, "good", "{told}");
    let told = ask("cron systemd", "manual").expect(0).json();
    assert_eq!(check(&told, "scheduler").0, "good", "{told}");
    let told = ask("cron systemd", "launchd").expect(0).json();
    assert_eq!(check(&told, "scheduler").0, "doubt", "another system's: {told}");
    if !Path::new("/run/systemd/system").is_dir() {
        let told = ask("cron", "systemd").expect(6).json();
        let (verdict, said) = check(&told, "scheduler");
        assert!(verdict == "bad" && said.contains("not booted with systemd"), "{said}");
    }
    let told = ask("cron systemd", "systemd").expect(0).json();
    let (verdict, said) = check(&told, "scheduler");
    let user = told["preflight"]["environment"]["USER"].as_str().unwrap();
    let lingers = Path::new("/var/lib/systemd/linger").join(user).exists();
    assert_eq!(verdict == "good", lingers, "{said}");
    assert!(lingers || said.contains("loginctl enable-linger"), "{said}");
    // A real one, seen by its process alone.
    let bin = evening.home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy("/bin/sleep", bin.join("crond")).unwrap();
    let mut cron = Command::new(bin.join("crond")).arg("60").spawn().unwrap();
    let told = ask("", "cron").json();
    cron.kill().unwrap();
    cron.wait().unwrap();
    assert_eq!(check(&told, "scheduler").0, "good", "{told}");
}

#[test]
fn a_report_that_cannot_be_written_is_told() {
    let evening = Evening::new();
    fs::write(evening.repo.root().join("taken"), "a file").unwrap();
    evening.write_config("dream:\n  report_dir: taken/reports\n");
    bad(&evening, &[], "configuration", "is not usable: Not a directory");
    evening.write_config("dream:\n  report_dir: fresh/reports\n");
    let told = evening.setup(&["--json", "--scheduler", "cron"]).expect(0).json();
    assert_eq!(check(&told, "configuration").0, "good", "{told}");
    assert!(!evening.repo.root().join("fresh").exists(), "only a look");
}

#[test]
fn a_held_lock_is_told() {
    let evening = Evening::new();
    let id = std::process::id();
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let since = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    evening
        .repo
        .write("overnight/run.lock", &format!("{id}\n{since}\nhere\n2026-04-01T00:00:00Z\n"));
    bad(&evening, &[], "lock", &format!("process {id} holds it"));
    // One that nobody holds is none.
    evening.repo.write("overnight/run.lock", &format!("{id}\n1\nhere\n2026-04-01T00:00:00Z\n"));
    evening.setup(&["--scheduler", "cron"]).expect(0);
}

#[test]
fn a_cell_below_the_floor_is_told() {
    let evening = Evening::new();
    let weak = |tier: &str| {
        let mut command = evening.command(&["--json"]);
        Ran::of(command.env("AO_CELL_TEST_TIER", tier).output().unwrap())
    };
    let says = |says: &str| {
        let told = weak("D").expect(6).json();
        let (verdict, said) = check(&told, "cell");
        assert!(verdict == "bad" && said.contains("tier D") && said.contains(says), "{said}");
    };
    says("the floor is B");
    // What the configuration asks for counts: also the repository's own, which can only raise it.
    evening.write_config("guard:\n  floor: A\n");
    says("the floor is A");
    fs::create_dir(evening.home.path().join(".agentops")).unwrap();
    fs::write(evening.home.path().join(".agentops/config.yaml"), "guard:\n  floor: A\n").unwrap();
    evening.write_config("guard:\n  floor: B\n");
    says("the floor is A");
}

#[test]
fn runners_that_cannot_be_asked_are_told_by_name() {
    let evening = Evening::new();
    bad(&evening, &["--runner", "nobody"], "runner nobody", "nobody");
    let evening = Evening::new();
    bad(&evening, &["--runner", "gemini"], "runner gemini", "gemini");
    // A repository's file does not say what is started.
    let evening = Evening::new();
    bad(&evening, &["--runner", "command:/bin/true"], "runner command:/bin/true", "");

    // Installed and with a key in the vault it is good; the file names it, and it is asked again from there.
    let evening = Evening::new();
    let bin = evening.home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("gemini");
    fs::write(&program, "#!/bin/sh\necho 0.9.0\n").unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let ask = |arguments: &[&str]| {
        let mut command = evening.command(&[&["--json"], arguments].concat());
        command.env("PATH", format!("{}:{PATH}", bin.display()));
        Ran::of(command.output().unwrap())
    };
    let told = ask(&["--runner", "gemini"]).expect(6).json();
    assert!(check(&told, "runner gemini").1.contains("ao vault write GEMINI_API_KEY"), "{told}");
    keep_in(evening.home.path(), &[("GEMINI_API_KEY", SECRET)]);
    let told = ask(&["--runner", "gemini", "--apply"]).expect(0).json();
    assert_eq!(check(&told, "runner gemini").0, "good");
    assert!(check(&told, "vault").1.contains("1 value"), "{told}");
    assert!(!told.to_string().contains(SECRET));
    let told = ask(&[]).expect(0).json();
    assert_eq!(check(&told, "runner gemini").0, "good", "from the file that was written");
    fs::remove_file(&program).unwrap();
    let told = ask(&[]).expect(6).json();
    assert!(check(&told, "runner gemini").1.contains("install"), "{told}");
}

/// A vault that only this shell can open stops the night before it begins.
#[test]
fn a_vault_that_does_not_open_in_the_night_is_told() {
    let evening = Evening::new();
    keep_in(evening.home.path(), &[("KEY", SECRET)]);
    let identity = evening.home.path().join(".config/ao/identity.txt");
    let elsewhere = evening.home.path().join("identity.txt");
    fs::rename(&identity, &elsewhere).unwrap();
    let mut command = evening.command(&["--scheduler", "cron", "--json"]);
    let told =
        Ran::of(command.env("AO_VAULT_IDENTITY", &elsewhere).output().unwrap()).expect(6).json();
    let (verdict, said) = check(&told, "start");
    assert!(verdict == "bad" && said.contains("identity"), "{said}");
    assert!(check(&told, "environment").1.contains("AO_VAULT_IDENTITY"));
}

#[test]
fn a_folder_or_a_setting_that_is_missing_is_told() {
    let evening = Evening::new();
    let agents = evening.repo.agents();
    fs::remove_dir_all(&agents).unwrap();
    bad(&evening, &[], "knowledge", "mkdir .agents");
    let evening = Evening::new();
    let mut command = evening.command(&["--json"]);
    let gone = evening.home.path().join("gone");
    let told = Ran::of(command.env("HOME", &gone).output().unwrap()).expect(6).json();
    let (verdict, said) = check(&told, "home");
    assert!(verdict == "bad" && said.contains("gone"), "{said}");
    // Nobody set them: the system knows them.
    let mut command = evening.command(&["--json"]);
    let told = Ran::of(command.env_remove("HOME").env_remove("PATH").output().unwrap()).json();
    let given = &told["preflight"]["environment"];
    assert!(Path::new(given["HOME"].as_str().unwrap()).is_absolute(), "{told}");
    assert_eq!(given["PATH"], "/usr/local/bin:/usr/bin:/bin");
}

/// Two file systems that nobody could spend a night on.
#[test]
fn a_full_or_read_only_disk_is_told() {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root
        || !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|ended| ended.success())
    {
        crate::setup_files::skipped("a disk of its own needs root and mount namespaces");
        return;
    }
    let evening = Evening::new();
    for (options, says) in [("size=8m", "MB are free"), ("ro", "read-only")] {
        let script = format!(
            "mount --make-rprivate / && mount -t tmpfs -o {options} none \"$1/.agents\" && shift && exec \"$@\""
        );
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &script, "sh"]).arg(evening.repo.root());
        command.arg(env!("CARGO_BIN_EXE_ao")).arg("-C").arg(evening.repo.root());
        command.args(["overnight", "setup", "--json"]);
        command.env_clear().env("HOME", evening.home.path()).env("PATH", PATH);
        let told = Ran::of(command.output().unwrap()).expect(6).json();
        let (verdict, said) = check(&told, "disk");
        assert!(verdict == "bad" && said.contains(says), "{said}");
    }
}
