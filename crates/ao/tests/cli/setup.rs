//! `ao overnight setup`: what it shows, what it writes, and what it leaves alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::night::learning;
use crate::repo::{Ran, TestRepo};

/// What no scheduler reads as itself.
pub(crate) const ODD: &str = "it's 100% \"mine\" $HOME ${HOME} \\\\ %h \\% \\\"y äß日 & <x> ";
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
pub(crate) const SCHEDULERS: [&str; 4] = ["cron", "systemd", "launchd", "task-scheduler"];

/// A repository, and a home that is not it.
pub(crate) struct Evening {
    pub(crate) repo: TestRepo,
    pub(crate) home: TempDir,
}

impl Evening {
    pub(crate) fn at(name: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(name).tempdir().unwrap();
        let repo = TestRepo { dir };
        for number in 0..4 {
            repo.write(&format!("learnings/2026-03-01-case-{number}.md"), &learning(number));
        }
        // Two that say the same: the night has something to do.
        repo.write("learnings/2026-03-02-copy.md", &learning(1));
        Self { repo, home: tempfile::Builder::new().prefix("home of 'me' 50% ").tempdir().unwrap() }
    }

    pub(crate) fn new() -> Self {
        Self::at("plain-")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.repo.command(&["overnight", "setup"]);
        command.args(arguments).env("HOME", self.home.path()).env("PATH", PATH);
        // As if both ran here: what is not running is told, and that has a test of its own.
        command.env("AO_SETUP_TEST_RUNS", "cron systemd");
        command
    }

    pub(crate) fn setup(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn generated(&self, name: &str) -> PathBuf {
        self.repo.root().join(".agentops/generated/dream").join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.generated(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.repo.root().join(".agentops/config.yaml")
    }

    pub(crate) fn write_config(&self, text: &str) {
        fs::create_dir_all(self.repo.root().join(".agentops")).unwrap();
        fs::write(self.config(), text).unwrap();
    }
}

/// Every file beneath, with its bytes.
fn all(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![dir.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), Vec::new());
                waiting.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

// proves: RUN-08
#[test]
fn a_preview_shows_everything_and_changes_nothing() {
    let evening = Evening::at(ODD);
    for scheduler in SCHEDULERS {
        let before = all(evening.repo.root());
        for arguments in
            [vec!["--scheduler", scheduler], vec!["--scheduler", scheduler, "--apply", "--dry-run"]]
        {
            let ran = evening.setup(&arguments).expect(0);
            assert_eq!(all(evening.repo.root()), before, "{ran}");
            assert!(
                ran.stdout.contains("+  scheduler_mode: ")
                    && ran.stdout.contains("Nothing was changed"),
                "{ran}"
            );
        }
    }
    for scheduler in SCHEDULERS {
        let told = evening.setup(&["--scheduler", scheduler, "--json"]).expect(0);
        let (told, shown) =
            (told.json(), evening.setup(&["--scheduler", scheduler]).expect(0).stdout);
        assert!(
            evening
                .setup(&["--scheduler", scheduler, "--apply"])
                .expect(0)
                .stdout
                .contains("are written")
        );
        assert!(!told["files"].as_array().unwrap().is_empty());
        for file in told["files"].as_array().unwrap() {
            let (path, text) = (file["path"].as_str().unwrap(), file["text"].as_str().unwrap());
            let written = fs::read_to_string(evening.repo.root().join(path)).unwrap();
            assert_eq!(written, text, "what was told is what was written");
            assert!(shown.contains(text), "and what was shown: {path}");
        }
    }
    // With nothing to write the second time.
    let before = all(evening.repo.root());
    let again = evening.setup(&["--apply"]).expect(0);
    assert_eq!(all(evening.repo.root()), before);
    assert!(again.stdout.contains("Everything is so already"), "{again}");
    let names: Vec<String> = all(&evening.repo.root().join(".agentops"))
        .keys()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for name in [
        "cron.txt",
        "com.agentops.dream.plist",
        "ao-dream.service",
        "ao-dream.timer",
        "dream-task.xml",
        "register-dream-task.ps1",
    ] {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
}

// proves: RUN-04, RUN-08
#[test]
fn the_rest_of_the_configuration_stays_byte_for_byte() {
    let before = "# Ours.\r\nundo: { days: 7 }   # a week\r\ndream:          # nights\r\n    # when\r\n    schedule_at:  '02:00'     # early\r\n    unknown_key: [a,  b]\r\n    runners: [ ollama ]\r\n\r\n# the end\r\nother: \"dream: x\"\r\n";
    let after = before
        .replace("'02:00'", "\"04:45\"")
        .replace("[ ollama ]\r\n", "[fast, \"a b\"]\r\n    scheduler_mode: cron\r\n");
    let evening = Evening::new();
    evening.write_config(before);
    // Nobody of these is configured.
    let arguments =
        ["--scheduler", "cron", "--at", "04:45", "--runner", "fast", "--runner", "a b", "--apply"];
    evening.setup(&arguments).expect(6);
    assert_eq!(fs::read_to_string(evening.config()).unwrap(), after);
    evening.setup(&arguments).expect(6);
    assert_eq!(fs::read_to_string(evening.config()).unwrap(), after);
    assert!(evening.text("cron.txt").contains("\n45 4 * * * "));
    // What is so already is left as it is written, even where it could not be edited.
    let flow = "dream: {scheduler_mode: cron, schedule_at: '04:45'}\n";
    evening.write_config(flow);
    evening.setup(&["--apply"]).expect(0);
    assert_eq!(fs::read_to_string(evening.config()).unwrap(), flow);
}

#[test]
fn what_cannot_be_edited_safely_is_refused_with_what_to_write() {
    for text in [
        "dream: {keep_awake: true}\n",
        "dream: &night\n  keep_awake: true\nother: *night\n",
        "dream:\n  schedule_at: &at '02:00'\nother: *at\n",
        "\"dream\":\n  keep_awake: true\n",
        "dream:\n  a_note: |+\n    x\n\n\nundo:\n  days: 3\n",
        "dream:\n  runners:\n  - a # why\n",
    ] {
        let evening = Evening::new();
        evening.write_config(text);
        let ran = evening
            .setup(&["--scheduler", "cron", "--at", "05:00", "--runner", "b", "--apply"])
            .expect(6);
        assert!(
            ran.stderr.contains("config.yaml") && ran.stderr.contains("scheduler_mode: cron"),
            "{text}{ran}"
        );
        assert_eq!(fs::read_to_string(evening.config()).unwrap(), text);
        assert!(!evening.generated("cron.txt").exists(), "nothing at all was written");
    }
    // These no reader takes, and so no command does.
    for text in
        ["dream:\n\tkeep_awake: true\n", "dream:\n  keep_awake: true\ndream:\n  runners: []\n"]
    {
        let evening = Evening::new();
        evening.write_config(text);
        let ran = evening.setup(&["--scheduler", "cron", "--apply"]).expect(2);
        assert!(ran.stderr.contains("config.yaml"), "{ran}");
        assert_eq!(fs::read_to_string(evening.config()).unwrap(), text);
    }
    let evening = Evening::new();
    let elsewhere = evening.home.path().join("mine.yaml");
    fs::write(&elsewhere, "undo:\n  days: 3\n").unwrap();
    fs::create_dir(evening.repo.root().join(".agentops")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, evening.config()).unwrap();
    evening.setup(&["--scheduler", "cron", "--apply"]).expect(6);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "undo:\n  days: 3\n");
}

// proves: RUN-04
#[test]
fn a_bad_word_is_a_usage_error() {
    let evening = Evening::new();
    for at in ["3:00", "24:00", "03:60", "noon", ""] {
        let ran = evening.setup(&["--at", at]).expect(2);
        assert!(ran.stderr.contains("--at"), "{ran}");
    }
    evening.setup(&["--scheduler", "fcron"]).expect(2);
    evening.setup(&["--runner", ""]).expect(2);
    evening.write_config("dream:\n  schedule_at: soon\n");
    let ran = evening.setup(&["--scheduler", "cron"]).expect(2);
    assert!(ran.stderr.contains("dream.schedule_at"), "{ran}");
    evening.setup(&["--scheduler", "cron", "--at", "01:00"]).expect(0);
}

// proves: RUN-09
// proves: RUN-10
#[test]
fn nothing_is_registered_enabled_or_started() {
    let evening = Evening::new();
    let folder = evening.home.path().join("tools");
    fs::create_dir(&folder).unwrap();
    let log = evening.home.path().join("called");
    for name in [
        "crontab",
        "systemctl",
        "loginctl",
        "launchctl",
        "schtasks.exe",
        "powershell.exe",
        "wsl.exe",
    ] {
        let file = folder.join(name);
        fs::write(
            &file,
            format!(
                "#!/bin/sh\necho {name} >> '{}'\n",
                log.display().to_string().replace('\'', "'\\''")
            ),
        )
        .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&file, mode).unwrap();
    }
    let path = format!("{}:{PATH}", folder.display());
    let home_before = all(evening.home.path());
    for (scheduler, install) in [
        ("cron", "crontab -"),
        ("systemd", "systemctl --user enable --now ao-dream.timer"),
        ("launchd", "launchctl bootstrap gui/$(id -u)"),
        ("task-scheduler", "register-dream-task.ps1"),
        ("manual", "overnight start"),
        ("auto", ""),
    ] {
        let mut command = evening.command(&["--scheduler", scheduler, "--apply", "--json"]);
        let told = Ran::of(command.env("PATH", &path).output().unwrap()).expect(0).json();
        let commands = told["install"].to_string();
        assert!(commands.contains(install), "{scheduler}: {commands}");
        let is_taken_back = !told["remove"].as_array().unwrap().is_empty();
        assert_eq!(is_taken_back, told["scheduler"]["mode"] != "manual", "{told}");
    }
    assert!(!log.exists(), "{}", fs::read_to_string(&log).unwrap_or_default());
    assert_eq!(all(evening.home.path()), home_before);
    let script = evening.text("register-dream-task.ps1");
    assert!(script.contains("Register-ScheduledTask"), "{script}");
    // The stubs are found: one of them says so when it is called.
    assert!(Command::new(folder.join("crontab")).status().unwrap().success());
    assert!(log.exists());
}

// proves: RUN-11
#[test]
fn auto_takes_what_is_there_and_says_why() {
    let evening = Evening::new();
    let ask = |path: &str| {
        let mut command = evening.command(&["--scheduler", "auto", "--json"]);
        command.env("PATH", path).env("AO_SETUP_TEST_RUNS", "cron");
        Ran::of(command.output().unwrap()).json()
    };
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    if kernel.to_lowercase().contains("microsoft") {
        assert_eq!(ask(PATH)["scheduler"]["mode"], "task-scheduler");
        return;
    }
    let nothing = evening.home.path().join("nothing");
    fs::create_dir(&nothing).unwrap();
    for name in ["true", "sh"] {
        std::os::unix::fs::symlink(format!("/bin/{name}"), nothing.join(name)).unwrap();
    }
    let nothing = nothing.to_str().unwrap();
    let told = ask(nothing);
    assert_eq!(told["scheduler"]["mode"], "manual", "{told}");
    assert!(
        told["scheduler"]["why"].as_str().unwrap().contains("no scheduler was found"),
        "{told}"
    );
    assert!(told["files"].as_array().unwrap().is_empty());
    assert!(told["notes"].to_string().contains("Nothing starts a night by itself"));
    let runs_systemd = Path::new("/run/systemd/system").is_dir();
    std::os::unix::fs::symlink("/bin/true", format!("{nothing}/crontab")).unwrap();
    let told = ask(nothing);
    assert_eq!(told["scheduler"]["mode"], "cron", "{told}");
    std::os::unix::fs::symlink("/bin/true", format!("{nothing}/systemctl")).unwrap();
    let told = ask(nothing);
    assert_eq!(told["scheduler"]["mode"], if runs_systemd { "systemd" } else { "cron" }, "{told}");
}

// proves: RUN-11
#[test]
fn files_for_another_system_say_so_and_none_promises_a_sleeping_machine() {
    let evening = Evening::new();
    for (scheduler, files) in [
        ("cron", vec!["cron.txt"]),
        ("systemd", vec!["ao-dream.timer"]),
        ("launchd", vec!["com.agentops.dream.plist"]),
        ("task-scheduler", vec!["dream-task.xml", "register-dream-task.ps1"]),
    ] {
        let told = evening.setup(&["--scheduler", scheduler, "--apply", "--json"]).expect(0).json();
        let is_foreign = !told["scheduler"]["lacks"].is_null();
        if ["launchd", "task-scheduler"].contains(&scheduler) {
            assert!(is_foreign || std::env::var_os("WSL_DISTRO_NAME").is_some(), "{told}");
        }
        for file in &files {
            assert_eq!(evening.text(file).contains("FOR ANOTHER SYSTEM"), is_foreign, "{file}");
        }
        let said = told["notes"].to_string().to_lowercase();
        assert!(said.contains("asleep") || said.contains("sleeping"), "{said}");
        for word in ["guarantee", "wakes the machine", "wake the machine", "always run"] {
            assert!(!told.to_string().to_lowercase().contains(word), "{word}");
        }
        for (key, value) in [("WakeToRun", "false"), ("RunAtLoad", "false")] {
            let text = evening.text(files[0]);
            if let Some((_, rest)) = text.split_once(key) {
                assert!(rest[..30].contains(value), "{text}");
            }
        }
    }
    // What an earlier setup left is named, since it may be installed.
    let told: Value = evening.setup(&["--scheduler", "manual", "--json"]).expect(0).json();
    assert_eq!(told["left_over"].as_array().unwrap().len(), 6, "{told}");
}
