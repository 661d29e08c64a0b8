//! The files of a setup under their own checkers, and what they start really started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::setup::{Evening, ODD, PATH};

/// Loudly: also where the output of tests that pass is not shown.
#[expect(clippy::print_stderr, reason = "what was not tried must be seen")]
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Whether a checker is there; said aloud if not.
pub(crate) fn has(program: &str) -> bool {
    let found = PATH.split(':').any(|folder| Path::new(folder).join(program).exists());
    if !found {
        skipped(&format!("{program} is not installed"));
    }
    found
}

#[track_caller]
pub(crate) fn good(output: &Output) -> String {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{:?}\n{stdout}\n{stderr}", output.status);
    stdout.into_owned()
}

/// Only what a file sets, and what a scheduler has by itself.
pub(crate) fn bare(words: &[String]) -> Output {
    let mut command = Command::new("/usr/bin/env");
    command.env_clear().current_dir("/").arg("-i").args(words).output().unwrap()
}

/// A night that nobody started is not there, and one that was started did something.
pub(crate) fn assert_night(evening: &Evening) {
    let summary = evening.repo.state("latest/summary.json");
    let text = fs::read_to_string(&summary).expect("the night really happened");
    let summary: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["status"], "done", "{summary}");
    assert!(
        !evening.repo.exists("learnings/2026-03-02-copy.md")
            || !evening.repo.exists("learnings/2026-03-01-case-1.md"),
        "the copies were merged"
    );
}

/// The one line of a crontab that is a job, without its time.
fn command_of(table: &str) -> String {
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let [line] = lines.as_slice() else { panic!("one job: {table}") };
    line.splitn(6, ' ').nth(5).unwrap().to_owned()
}

/// What a cron hands to the shell. Both kinds take a backslash from before `%`; only one does so before
/// another backslash.
fn unescaped(command: &str, takes_backslashes: bool) -> String {
    let mut letters = command.chars().peekable();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        assert_ne!(letter, '%', "everything behind it would be the job's input: {command}");
        match (letter, letters.peek()) {
            ('\\', Some('%')) => text.extend(letters.next()),
            ('\\', Some('\\')) if takes_backslashes => text.extend(letters.next()),
            ('\\', Some(_)) => {
                text.push('\\');
                text.extend(letters.next());
            }
            (other, _) => text.push(other),
        }
    }
    text
}

// proves: RUN-12
// pitfall 22
#[test]
fn the_line_of_the_crontab_starts_the_night_under_every_kind_of_cron() {
    for takes_backslashes in [true, false] {
        let evening = Evening::at(ODD);
        evening.setup(&["--scheduler", "cron", "--apply"]).expect(0);
        let command = unescaped(&command_of(&evening.text("cron.txt")), takes_backslashes);
        let words = ["HOME=/nowhere", "/bin/sh", "-c", &command].map(str::to_owned);
        good(&bare(&words));
        assert_night(&evening);
    }
}

// proves: RUN-12
// pitfall 22
#[test]
fn crontab_takes_the_file_and_leaves_the_lines_of_others() {
    if !has("crontab") {
        return;
    }
    let evening = Evening::at(ODD);
    evening.setup(&["--scheduler", "cron", "--apply"]).expect(0);
    // Debian's takes no path of a hundred bytes; people are told to pipe it in.
    let file = evening.home.path().join("cron.txt");
    fs::copy(evening.generated("cron.txt"), &file).unwrap();
    // Cronie has -T; Debian's has -n.
    let checked = ["-T", "-n"].iter().any(|option| {
        Command::new("crontab").arg(option).arg(&file).output().unwrap().status.success()
    });
    assert!(checked, "{}", evening.text("cron.txt"));
    let broken = evening.home.path().join("broken");
    fs::write(&broken, "61 3 * * * true\n").unwrap();
    assert!(!["-T", "-n"].iter().any(|option| {
        Command::new("crontab").arg(option).arg(&broken).output().unwrap().status.success()
    }));
    // The commands that a person is told, with a crontab that is a file.
    let tools = evening.home.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let table = evening.home.path().join("table");
    let stub = "#!/bin/sh\ncase $1 in -l) cat \"$TABLE\" ;; -) cat > \"$TABLE.new\" && mv \"$TABLE.new\" \"$TABLE\" ;; *) exit 9 ;; esac\n";
    fs::write(tools.join("crontab"), stub).unwrap();
    fs::set_permissions(tools.join("crontab"), PermissionsExt::from_mode(0o755)).unwrap();
    let mine = "MAILTO=me\n# mine\n5 4 * * * /usr/bin/true \\% x\n";
    fs::write(&table, mine).unwrap();
    let told = evening.setup(&["--scheduler", "cron", "--json"]).expect(0).json();
    let run = |line: &Value| {
        let path = format!("{}:{PATH}", tools.display());
        let mut shell = Command::new("/bin/sh");
        shell
            .arg("-c")
            .arg(line.as_str().unwrap())
            .env_clear()
            .env("PATH", path)
            .env("TABLE", &table);
        good(&shell.output().unwrap());
        fs::read_to_string(&table).unwrap()
    };
    let whole = format!("{mine}{}", evening.text("cron.txt"));
    assert_eq!(run(&told["install"][0]), whole);
    assert_eq!(run(&told["install"][0]), whole, "twice is once");
    assert_eq!(run(&told["remove"][0]), mine);
}

/// Whether a scheduler can be given folders of its own in a mount namespace.
pub(crate) fn is_root_with_namespaces() -> bool {
    let output = Command::new("unshare").args(["-m", "true"]).output();
    let can =
        output.is_ok_and(|output| output.status.success()) && nix::unistd::geteuid().is_root();
    if !can {
        skipped("a scheduler of its own needs root and mount namespaces");
    }
    can
}

/// A real cron, with nothing to do but this one job, at the next minute.
// proves: RUN-12
#[test]
fn a_real_cron_runs_the_night() {
    if !has("cron") || !is_root_with_namespaces() {
        return;
    }
    let evening = Evening::at(ODD);
    let clock = Command::new("date").args(["-d", "+75 seconds", "+%H:%M"]).output().unwrap();
    let at = good(&clock);
    evening.setup(&["--scheduler", "cron", "--at", at.trim(), "--apply"]).expect(0);
    let spool = evening.home.path().join("spool");
    fs::create_dir_all(spool.join("crontabs")).unwrap();
    let table = spool.join("crontabs/root");
    fs::copy(evening.generated("cron.txt"), &table).unwrap();
    fs::set_permissions(&table, PermissionsExt::from_mode(0o600)).unwrap();
    let script = "mount --make-rprivate / && mount --bind \"$SPOOL\" /var/spool/cron \
        && mount -t tmpfs none /etc/cron.d && mount --bind /dev/null /etc/crontab && mount -t tmpfs none /run \
        && exec cron -f";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).env_clear().env("SPOOL", &spool).env("PATH", PATH);
    let mut cron = command.spawn().unwrap();
    let since = Instant::now();
    let summary = evening.repo.state("latest/summary.md");
    while !summary.exists() && since.elapsed() < Duration::from_mins(4) {
        std::thread::sleep(Duration::from_millis(200));
    }
    let lock_free = |_: u8| !evening.repo.state("status.json").exists();
    while !lock_free(0) && since.elapsed() < Duration::from_mins(4) {
        std::thread::sleep(Duration::from_millis(200));
    }
    cron.kill().unwrap();
    cron.wait().unwrap();
    assert_night(&evening);
}

/// What a property list says, by another reader than any of ours.
const PLIST: &str =
    "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";

// proves: RUN-12
#[test]
fn the_property_list_says_what_was_meant() {
    if !has("python3") || !has("xmllint") {
        return;
    }
    let evening = Evening::at(ODD);
    evening.setup(&["--scheduler", "launchd", "--at", "02:30", "--apply"]).expect(0);
    let file = evening.generated("com.agentops.dream.plist");
    good(&Command::new("xmllint").arg("--nonet").arg("--noout").arg(&file).output().unwrap());
    let told = good(&Command::new("python3").args(["-c", PLIST]).arg(&file).output().unwrap());
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["Label"], "com.agentops.dream");
    assert_eq!(told["StartCalendarInterval"], serde_json::json!({ "Hour": 2, "Minute": 30 }));
    assert_eq!(told["RunAtLoad"], false);
    let variables = told["EnvironmentVariables"].as_object().unwrap();
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["PATH", "HOME", "USER"]);
    assert_eq!(variables["HOME"], evening.home.path().to_str().unwrap());
    let mut words: Vec<String> = variables
        .iter()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()))
        .collect();
    words.extend(
        told["ProgramArguments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap().to_owned()),
    );
    good(&bare(&words));
    assert_night(&evening);
}

/// The text of an element, by another reader than any of ours.
const ARGUMENTS: &str = "import sys, xml.etree.ElementTree as tree
space = '{http://schemas.microsoft.com/windows/2004/02/mit/task}'
sys.stdout.reconfigure(encoding='utf-8')
task = tree.parse(sys.argv[1]).getroot()
print(task.find('.//' + space + 'Command').text)
print(task.find('.//' + space + 'StartBoundary').text)
print(task.find('.//' + space + 'Arguments').text)";

/// As programs of Windows take their line apart: backslashes count only before a quote.
fn windows_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted, mut is_begun) =
        (Vec::new(), String::new(), false, false);
    let mut backslashes = 0;
    for letter in line.chars() {
        if letter == '\\' {
            backslashes += 1;
            is_begun = true;
            continue;
        }
        if letter == '"' {
            word.push_str(&"\\".repeat(backslashes / 2));
            if backslashes % 2 == 1 {
                word.push('"');
            } else {
                is_quoted = !is_quoted;
            }
            is_begun = true;
        } else {
            word.push_str(&"\\".repeat(backslashes));
            if letter == ' ' && !is_quoted {
                if is_begun {
                    words.push(std::mem::take(&mut word));
                }
                is_begun = false;
            } else {
                word.push(letter);
                is_begun = true;
            }
        }
        backslashes = 0;
    }
    word.push_str(&"\\".repeat(backslashes));
    if is_begun {
        words.push(word);
    }
    words
}

// proves: RUN-10
// proves: RUN-12
#[test]
fn the_task_for_windows_is_well_formed_and_says_what_was_meant() {
    if !has("python3") || !has("xmllint") {
        return;
    }
    let evening = Evening::at(ODD);
    evening.setup(&["--scheduler", "task-scheduler", "--at", "02:30", "--apply"]).expect(0);
    let file = evening.generated("dream-task.xml");
    good(&Command::new("xmllint").arg("--nonet").arg("--noout").arg(&file).output().unwrap());
    let told = good(&Command::new("python3").args(["-c", ARGUMENTS]).arg(&file).output().unwrap());
    let [command, start, line] = told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
    assert_eq!(command, "wsl.exe");
    assert!(start.ends_with("T02:30:00"), "{start}");
    let words = windows_words(line);
    let at = words.iter().position(|word| word == "--exec").unwrap();
    assert_eq!(words[at + 1], "/usr/bin/env");
    good(&bare(&words[at + 2..]));
    assert_night(&evening);
    let script = evening.text("register-dream-task.ps1");
    assert!(script.is_ascii(), "Windows would read other letters as those of an old code page");
    assert!(
        script.contains("Register-ScheduledTask") && script.contains("it''s 100% \"mine\" $HOME"),
        "{script}"
    );
}

#[test]
fn what_no_scheduler_can_be_told_is_refused() {
    let evening = Evening::at("a\nline");
    let ran = evening.setup(&["--scheduler", "cron", "--apply"]).expect(6);
    assert!(ran.stderr.contains("control character"), "{ran}");
    assert!(!evening.config().exists());
    let evening = Evening::new();
    let long = format!("{PATH}:{}", evening.home.path().join("x".repeat(200)).display());
    fs::create_dir(evening.home.path().join("x".repeat(200))).unwrap();
    let mut path = long.clone();
    for number in 0..6 {
        let folder = evening.home.path().join(format!("{}{number}", "y".repeat(150)));
        fs::create_dir(&folder).unwrap();
        path = format!("{path}:{}", folder.display());
    }
    let ran = |scheduler: &str, path: &str| {
        let mut command = evening.command(&["--scheduler", scheduler]);
        crate::repo::Ran::of(command.env("PATH", path).output().unwrap())
    };
    let refused = ran("cron", &path).expect(6);
    assert!(
        refused.stderr.contains("cron takes 998") && refused.stderr.contains("shorter PATH"),
        "{refused}"
    );
    ran("systemd", &path).expect(0);
}
