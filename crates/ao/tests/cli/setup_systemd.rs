//! The units of a setup under systemd: verified, read by its own parser, and started by a real manager.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::setup::{Evening, ODD, PATH};
use crate::setup_files::{assert_night, bare, good, has, is_root_with_namespaces, skipped};

/// As systemd's own parser shows a command line: words between spaces, with backslashes inside quotes.
fn words_of(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut is_quoted, mut letters) = (false, line.chars());
    while let Some(letter) = letters.next() {
        let word = words.last_mut().unwrap();
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' => word.extend(letters.next()),
            ' ' if !is_quoted => words.push(String::new()),
            other => word.push(other),
        }
    }
    words
}

// proves: RUN-12
// pitfall 22
#[test]
fn systemd_verifies_the_units_and_reads_what_was_meant() {
    if !has("systemd-analyze") {
        return;
    }
    let evening = Evening::at(ODD);
    evening.setup(&["--scheduler", "systemd", "--at", "02:30", "--apply"]).expect(0);
    let runtime = tempfile::tempdir().unwrap();
    fs::set_permissions(runtime.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let units = runtime.path().join("units");
    fs::create_dir(&units).unwrap();
    for name in ["ao-dream.service", "ao-dream.timer"] {
        fs::copy(evening.generated(name), units.join(name)).unwrap();
    }
    let verify = |folder: &Path| {
        let mut command = Command::new("systemd-analyze");
        command
            .args(["verify", "--user"])
            .args(["ao-dream.service", "ao-dream.timer"].map(|name| folder.join(name)));
        command
            .env_clear()
            .env("PATH", PATH)
            .env("XDG_RUNTIME_DIR", runtime.path())
            .env("HOME", runtime.path());
        command.output().unwrap()
    };
    let output = verify(&units);
    good(&output);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "not a word of doubt");
    // The checker sees something: a unit with a key that there is not.
    let other = runtime.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(units.join("ao-dream.timer"), other.join("ao-dream.timer")).unwrap();
    let text = fs::read_to_string(units.join("ao-dream.service")).unwrap();
    fs::write(other.join("ao-dream.service"), text.replace("/usr/bin/env", "env 'open")).unwrap();
    assert!(!verify(&other).status.success());
    let timer = evening.text("ao-dream.timer");
    assert!(
        timer.contains("OnCalendar=*-*-* 02:30:00\n") && timer.contains("Persistent=true\n"),
        "{timer}"
    );

    let Some((command, environment)) = parsed(runtime.path(), &units) else { return };
    assert_eq!(environment.len(), 3, "{environment:?}");
    let rest = command.replace("\\$\\$", "").replace("$$", "");
    assert!(!rest.contains('$'), "a single dollar is a variable: {command}");
    // It tells a command before dollars are looked at, and the program is never looked at for them.
    let words: Vec<String> =
        words_of(&command).iter().map(|word| word.replace("$$", "$")).collect();
    let root = evening.repo.root().to_str().unwrap();
    assert_eq!(words[2..], ["-C", root, "overnight", "start"], "{command}");
    let words: Vec<String> = environment.into_iter().chain(words).collect();
    good(&bare(&words));
    assert_night(&evening);
}

/// The command line and the variables, as systemd itself dumps them. It does so for nobody who is root.
fn parsed(runtime: &Path, units: &Path) -> Option<(String, Vec<String>)> {
    let systemd = systemd()?;
    let private = runtime.join("private");
    fs::create_dir(&private).unwrap();
    fs::set_permissions(&private, PermissionsExt::from_mode(0o777)).unwrap();
    for name in ["ao-dream.service", "ao-dream.timer"] {
        fs::set_permissions(units.join(name), PermissionsExt::from_mode(0o644)).unwrap();
    }
    let mut command = Command::new("setpriv");
    if nix::unistd::geteuid().is_root() {
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    }
    command.args([systemd, "--user", "--test", "--unit=ao-dream.service"]);
    command.env_clear().env("PATH", PATH).env("XDG_RUNTIME_DIR", &private).env("HOME", &private);
    command.env("SYSTEMD_UNIT_PATH", format!("{}:", units.display()));
    let dump = good(&command.output().unwrap());
    let (_, unit) = dump.split_once("-> Unit ao-dream.service:").expect("the unit");
    let unit = unit.split("\n\t-> Unit ").next().unwrap();
    let of = |key: &str| -> Vec<String> {
        unit.lines()
            .filter_map(|line| line.trim().strip_prefix(key))
            .map(|rest| rest.trim().to_owned())
            .collect()
    };
    let commands = of("Command Line:");
    assert_eq!(commands.len(), 1, "{unit}");
    Some((commands[0].clone(), of("Environment:")))
}

fn systemd() -> Option<&'static str> {
    let known = ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"];
    let found = known.into_iter().find(|path| Path::new(path).exists());
    if found.is_none() {
        skipped("there is no systemd to read the units");
    }
    found
}

/// A user's own manager in namespaces of its own: it ends with the shell, and so does all it started.
/// What stands on stdin is done while it runs.
const MANAGER: &str = r#"
mount --make-rprivate / && mount -t tmpfs none /run && mount -t cgroup2 none /sys/fs/cgroup || exit 77
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR" || exit 77
"$SYSTEMD" --user --unit=basic.target --log-target=console --log-level=warning >&2 & manager=$!
for _ in $(seq 100); do systemctl --user is-active --quiet basic.target && break; sleep 0.1; done
systemctl --user is-active --quiet basic.target || exit 78
. /dev/stdin; ended=$?
kill $manager; wait $manager; exit $ended
"#;

fn under_a_manager(evening: &Evening, script: &str) -> Option<Output> {
    let systemd = systemd()?;
    if !has("systemctl") || !is_root_with_namespaces() {
        return None;
    }
    let file = evening.home.path().join("script");
    fs::write(&file, script).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--cgroup"]);
    command.args(["timeout", "120", "sh", "-c", MANAGER]).stdin(fs::File::open(&file).unwrap());
    command.env_clear().env("PATH", PATH).env("HOME", evening.home.path());
    command.env("SYSTEMD", systemd).env("XDG_RUNTIME_DIR", "/run/user/0");
    let output = command.output().unwrap();
    if let Some(code @ (77 | 78)) = output.status.code() {
        let said = String::from_utf8_lossy(&output.stderr);
        skipped(&format!("no systemd of its own could be started here ({code}): {said}"));
        return None;
    }
    Some(output)
}

/// The very commands that a person is told, in a real manager; then the service as the timer starts it.
// proves: RUN-09
// proves: RUN-12
#[test]
fn a_real_systemd_takes_the_timer_and_runs_the_night() {
    let evening = Evening::at(ODD);
    evening.setup(&["--scheduler", "systemd", "--at", "02:30", "--apply"]).expect(0);
    let told =
        evening.setup(&["--scheduler", "systemd", "--at", "02:30", "--json"]).expect(0).json();
    let lines = |key: &str| {
        let each = told[key].as_array().unwrap().iter().map(|line: &Value| line.as_str().unwrap());
        each.fold(String::new(), |all, line| all + line + " || return 1\n")
    };
    let script = format!(
        "{}\
         systemctl --user show ao-dream.timer --property=ActiveState,TimersCalendar || return 1\n\
         systemctl --user start --wait ao-dream.service; echo ended $?\n\
         systemctl --user show ao-dream.service --property=Result,ExecMainStatus\n\
         {}\
         systemctl --user list-unit-files --no-legend 'ao-dream*'\n\
         echo none left\n",
        lines("install"),
        lines("remove"),
    );
    let Some(output) = under_a_manager(&evening, &script) else { return };
    let said = good(&output);
    assert!(said.contains("ActiveState=active") && said.contains("02:30:00"), "{said}");
    assert!(said.contains("ended 0") && said.contains("Result=success"), "{said}");
    assert!(said.contains("ExecMainStatus=0"), "{said}");
    let after = said.rsplit_once("ExecMainStatus=0").unwrap().1;
    assert_eq!(after.trim(), "none left", "taken back: {said}");
    assert_night(&evening);
}
