//! Runs that are killed, at every moment: what the report says is what was done. It is asked at once, and
//! after the next start.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::night::{Night, json_of, learning, ran};
use crate::repo::wait_until;
use crate::runners::{report, says};

/// The steps that leave a file of their own.
const FILES: [(&str, &str); 10] = [
    ("close-loop", "close-loop.json"),
    ("defrag-preview", "defrag/latest.json"),
    ("metrics-health", "metrics-health.json"),
    ("retrieval-live", "retrieval-bench.json"),
    ("knowledge-brief", "briefing.json"),
    ("knowledge-brief-fallback", "briefing-fallback.json"),
    ("council-packet", "council/packet.json"),
    ("council-synthesis", "council/synthesis.json"),
    ("packet-corroboration", "packet-corroboration.json"),
    ("morning-packets", "morning-packets/index.json"),
];

/// Steps and their statuses, in the order of a report.
type Steps = Vec<(String, String)>;

/// What a killed run left: what can be seen of it without `ao`.
struct Left {
    run: String,
    /// Status of each step that the log says has ended.
    entries: BTreeMap<String, String>,
    /// Steps whose file is there, and iterations whose commit is decided.
    files: Vec<String>,
    /// Steps that are not pending in the file `summary.json`.
    recorded: Steps,
}

impl Left {
    /// Nothing if the run was not killed, but had already written its report.
    fn of(night: &Night) -> Option<Self> {
        let summary = json_of(&night.latest("summary.json"));
        if summary["status"] != "planned" {
            return None;
        }
        let run = summary["run_id"].as_str().unwrap().to_owned();
        let log = fs::read_to_string(night.latest("overnight.log")).unwrap_or_default();
        let files = FILES.iter().map(|(step, file)| ((*step).to_owned(), night.latest(file)));
        let runners = names(&summary).into_iter().filter_map(|name| {
            let slug = name.strip_prefix("council-")?;
            let file = night.latest(&format!("council/{slug}.json"));
            Some((name, file))
        });
        let iterations = (1..4).map(|number| {
            let file = night.latest(&format!("{run}/iterations/iter-{number}.json"));
            (format!("iteration-{number}"), file)
        });
        let files = files.chain(runners).chain(iterations);
        let files = files.filter(|(_, file)| file.exists()).map(|(step, _)| step);
        let files = files.chain(committed(night, &run)).collect();
        let recorded = steps(&summary).into_iter().filter(|(_, status)| status != "pending");
        Some(Self { run, entries: entries(&log), files, recorded: recorded.collect() })
    }

    /// Every step whose artifact or log entry is there is told as it ended, the last of them that is done is
    /// the last completed one, and the others were not reached.
    #[track_caller]
    fn is_told_by(&self, summary: &Value) -> Steps {
        assert_eq!(summary["status"], "failed");
        for step in self.entries.keys().chain(&self.files) {
            assert!(names(summary).contains(step), "{step} of {:#}", summary["steps"]);
        }
        for step in summary["steps"].as_array().unwrap() {
            let (name, status) = (text(&step["name"]), text(&step["status"]));
            let is_recorded = self.recorded.contains(&(name.clone(), status.clone()));
            if let Some(entry) = self.entries.get(&name) {
                assert_eq!(&status, entry, "{name} has a log entry");
                let is_its_own = || names_in(&self.recorded).contains(&name);
                assert!(name.starts_with("iteration-") || is_its_own(), "{name} is not recorded");
            } else if self.files.contains(&name) {
                assert_eq!(status, "done", "{name} has a file");
            } else if !is_recorded {
                let note = text(&step["note"]);
                assert!(note.starts_with("not reached: "), "{step}");
                assert_eq!(status, "skipped", "{step}");
            }
        }
        for path in summary["artifacts"].as_object().unwrap().values() {
            assert!(Path::new(path.as_str().unwrap()).is_file(), "{path}");
        }
        steps(summary)
    }
}

/// The iterations of a run whose commit is in the history, or has its marker.
fn committed(night: &Night, run: &str) -> Vec<String> {
    let history = fs::read_to_string(night.repo.state("history.jsonl")).unwrap_or_default();
    let ids = history.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        text(&line["id"])
    });
    let prefix = format!("{run}-iter-");
    let of_run = |id: String| Some(format!("iteration-{}", id.strip_prefix(&prefix)?));
    ids.chain(marked(night)).filter_map(of_run).collect()
}

/// What the markers of decided commits name.
fn marked(night: &Night) -> Vec<String> {
    // Before the first run there is no folder.
    let Ok(files) = fs::read_dir(night.repo.state("")) else { return Vec::new() };
    let files = files.map(|file| file.unwrap().file_name());
    let id =
        |name: std::ffi::OsString| Some(name.to_str()?.strip_prefix("COMMIT-MARKER.")?.to_owned());
    files.filter_map(id).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn steps(summary: &Value) -> Steps {
    let steps = summary["steps"].as_array().unwrap().iter();
    steps.map(|step| (text(&step["name"]), text(&step["status"]))).collect()
}

fn names(summary: &Value) -> Vec<String> {
    names_in(&steps(summary))
}

fn names_in(steps: &Steps) -> Vec<String> {
    steps.iter().map(|(name, _)| name.clone()).collect()
}

/// The last word of the log on each step: `TIME step NAME: STATUS NOTE`, `TIME iteration N: STATUS NOTE`.
fn entries(log: &str) -> BTreeMap<String, String> {
    let entry = |line: &str| {
        let (_, line) = line.split_once(' ')?;
        let (subject, told) = line.split_once(": ")?;
        let name = match subject.split_once(' ')? {
            ("step", name) => name.to_owned(),
            ("iteration", number) => format!("iteration-{number}"),
            _ => return None,
        };
        Some((name, told.split(' ').next()?.to_owned()))
    };
    log.lines().filter_map(entry).collect()
}

/// A night that does everything: two iterations, a goal, a runner, a long haul.
struct Whole {
    night: Night,
    runner: Option<String>,
}

impl Whole {
    fn new() -> Self {
        Self { night: Night::with_copies(), runner: None }
    }

    fn with_a_runner() -> Self {
        let night = Night::with_copies();
        let path = night.aside.path().join("adviser");
        let name = format!("command:{}", path.display());
        let answer = says(&report(&name).to_string());
        fs::write(&path, format!("#!/bin/sh\ncat > /dev/null\n{answer}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { night, runner: Some(name) }
    }

    fn command(&self, more: &[&str]) -> Command {
        let goal = ["--goal", "calm", "--long-haul"];
        let runner = self.runner.iter().flat_map(|name| ["--runner", name]);
        let mut command = self.night.command(
            &goal.into_iter().chain(runner).chain(more.iter().copied()).collect::<Vec<_>>(),
        );
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// A run that is killed where it waits.
    fn killed_at(&self, place: &str, more: &[&str]) {
        let held = self.night.held(&mut self.command(more), place);
        held.signal("KILL");
    }

    /// A run that is killed as soon as this is so, or ends before anybody saw it.
    fn killed_when(&self, is_so: impl Fn() -> bool) {
        let mut child = self.command(&[]).spawn().unwrap();
        wait_until("it is time to kill", || is_so() || is_over(&child));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// What the command `report` says, in all its forms.
    #[track_caller]
    fn report(&self, more: &[&str]) -> Value {
        let ask = |before: &[&str], after: &[&str]| {
            let all = [before, &["overnight", "report"], more, after].concat();
            self.night.repo.run(&all).expect(0)
        };
        let wrapped = ask(&["--json"], &[]).json()["summary"].clone();
        let json: Value = serde_json::from_str(&ask(&[], &["--format", "json"]).stdout).unwrap();
        assert_eq!(json, wrapped);
        let last = steps(&json).into_iter().rev().find(|(_, status)| status == "done");
        let last = last.map_or("none".to_owned(), |(name, _)| name);
        for format in ["text", "md"] {
            let shown = ask(&[], &["--format", format]).stdout.replace(['`', '*'], "");
            let told = format!("Last completed step: {last}\n");
            assert!(shown.contains(&told), "{told}{shown}");
        }
        json
    }

    /// At once.
    #[track_caller]
    fn check(&self) -> Option<(String, Steps)> {
        let left = Left::of(&self.night)?;
        let told = left.is_told_by(&self.report(&[]));
        Some((left.run, told))
    }

    /// After another start, which wrote the report and moved it.
    #[track_caller]
    fn check_again(&self, (run, told): &(String, Steps)) {
        let dir = self.night.latest(run);
        let from = dir.to_str().unwrap();
        let report = self.report(&["--from", from]);
        assert_eq!(steps(&report), *told, "as the command said at once");
        assert_eq!(report["as_read"]["status_on_disk"], "failed");
        for path in report["artifacts"].as_object().unwrap().values() {
            assert!(Path::new(path.as_str().unwrap()).is_file(), "{path}");
        }
    }
}

fn is_over(child: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit_once(") ").unwrap().1.starts_with('Z')
}

/// Between the file of a step, its record in the summary and its log entry.
// proves: RUN-45, RUN-24, REP-19
#[test]
fn a_step_is_told_as_done_from_its_file_on() {
    let whole = Whole::with_a_runner();
    ran(whole.command(&[]).spawn().unwrap()).expect(0);
    let summary = whole.night.summary();
    let all = steps(&summary);
    assert!(
        all.iter().any(|(name, status)| name == "council-command-adviser" && status == "done"),
        "{all:?}"
    );
    let is_own = |(step, status): &&(String, String)| {
        status == "done"
            && (FILES.iter().any(|(own, _)| own == step) || step.starts_with("council-"))
    };
    let with_files = all.iter().filter(is_own).count();
    assert!(with_files >= 8, "{all:?}");
    let mut before: Option<(String, Steps)> = None;
    for (step, status) in &all {
        if step.starts_with("iteration-") && step != "iteration-1" {
            continue;
        }
        for moment in ["record", "log"] {
            whole.killed_at(&format!("{moment}-{step}"), &[]);
            if let Some(before) = &before {
                whole.check_again(before);
            }
            let left = Left::of(&whole.night).unwrap();
            assert!(!left.entries.contains_key(step), "{moment}-{step}");
            let told = whole.check().unwrap();
            // From its file on, or if it has none from its record on.
            let has_file = left.files.contains(step);
            let is_told = has_file || moment == "log";
            let now = told.1.iter().find(|(name, _)| name == step);
            let expected = if is_told { status.as_str() } else { "skipped" };
            assert_eq!(now.unwrap().1, expected, "{moment}-{step}");
            before = Some(told);
        }
    }
}

/// Whenever there is one more line in the log.
// proves: RUN-45, RUN-41
#[test]
fn a_kill_at_any_line_of_the_log_is_told() {
    let whole = Whole::new();
    ran(whole.command(&[]).spawn().unwrap()).expect(0);
    let log = || fs::read_to_string(whole.night.latest("overnight.log")).unwrap_or_default();
    let count = log().lines().count();
    let mut before: Option<(String, Steps)> = None;
    let mut killed = 0;
    for lines in 1..=count {
        // Something to commit.
        let copy = format!("learnings/2026-03-02-another-{lines}.md");
        whole.night.repo.write(&copy, &learning(lines % 6));
        let run = || text(&json_or_null(&whole.night.latest("summary.json"))["run_id"]);
        let last = run();
        whole.killed_when(|| run() != last && log().lines().count() >= lines);
        if let Some(before) = before.take() {
            whole.check_again(&before);
        }
        before = whole.check();
        killed += usize::from(before.is_some());
    }
    // The others had ended before anybody saw the line.
    assert!(killed > 0, "not one of {count} was killed");
    let left = before.or_else(|| {
        whole.killed_at("log-bead-sync", &[]);
        whole.check()
    });
    ran(whole.command(&["--resume"]).spawn().unwrap()).expect(0);
    let summary = whole.night.summary();
    assert_eq!(
        (text(&summary["run_id"]), text(&summary["status"])),
        (left.unwrap().0, "done".into())
    );
}

fn json_or_null(path: &Path) -> Value {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The history of commits knows an iteration that was killed before its record was written.
// proves: RUN-45, LOOP-13
#[test]
fn a_commit_without_its_record_is_told_at_once() {
    let whole = Whole::new();
    whole.killed_at("verify", &[]);
    let (run, told) = whole.check().unwrap();
    assert!(told.contains(&("iteration-1".into(), "done".into())), "{told:?}");
    assert!(!whole.night.latest(&run).join("iterations").exists(), "a reader wrote something");
    ran(whole.command(&[]).spawn().unwrap()).expect(0);
    whole.check_again(&(run, told));
}

/// No history lies beside a folder outside of the repository; the summary says where it is.
// proves: RUN-45
#[test]
fn a_commit_is_told_wherever_the_report_lies() {
    let night = Night::with_copies();
    let out = night.aside.path().join("out");
    let folder = ["--output-dir", out.to_str().unwrap()];
    night.held_at("verify", &folder).signal("KILL");
    let read = |from: &Path| {
        let ask = ["overnight", "report", "--from", from.to_str().unwrap()];
        let shown = night.repo.run(&ask).expect(0).stdout;
        assert!(shown.contains("Last completed step: iteration-1\n"), "{shown}");
        let json = night.repo.run(&[&ask[..], &["--format", "json"]].concat()).expect(0).json();
        steps(&json)
    };
    let told = read(&out);
    let run = text(&json_of(&out.join("summary.json"))["run_id"]);
    night.run(&folder).expect(0);
    assert_eq!(read(&out.join(run)), told);
}

/// Where an earlier attempt left something under the id of an iteration, its commit has another one.
// proves: RUN-45, LOOP-13
#[test]
fn a_commit_of_a_second_attempt_is_told_too() {
    let night = Night::with_copies();
    night.held_at("ingest", &[]).signal("KILL");
    let run = text(&night.summary()["run_id"]);
    let id = format!("{run}-iter-1");
    night.repo.write(&format!("overnight/conflicts/{id}/learnings/x.md"), "ours, once\n");
    night.held_at("verify", &["--resume"]).signal("KILL");
    let shown = night.repo.run(&["overnight", "report"]).expect(0).stdout;
    assert!(shown.contains("Last completed step: iteration-1\n"), "{shown}");
    night.run(&["--resume"]).expect(0);
    let summary = night.summary();
    assert_eq!(text(&summary["run_id"]), run);
    let first = &summary["iterations"][0];
    assert_eq!(first["commit"]["id"], format!("{id}-2"), "{first:#}");
    let receipts = fs::read_to_string(night.repo.state("receipts.jsonl")).unwrap();
    let receipt: Value = serde_json::from_str(receipts.lines().last().unwrap()).unwrap();
    assert_eq!(receipt["work"]["commits"][0]["id"], format!("{id}-2"), "{receipt:#}");
}

/// One that was decided and not finished is finished by the next start.
// proves: RUN-45
#[test]
fn a_commit_that_is_decided_is_told_at_once() {
    let whole = Whole::new();
    // The first exchange of two names is only to see whether there is one; the next comes after the marker.
    let night = whole.command(&[]);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e"]);
    strace.arg("inject=renameat2:signal=SIGKILL:when=2").arg(night.get_program());
    strace.args(night.get_args()).stdout(Stdio::null()).stderr(Stdio::null());
    strace.env_clear().envs(night.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(!strace.env("PATH", "/usr/bin:/bin").status().unwrap().success());
    assert!(!marked(&whole.night).is_empty());
    let (run, told) = whole.check().unwrap();
    assert!(told.contains(&("iteration-1".into(), "done".into())), "{told:?}");
    ran(whole.command(&[]).spawn().unwrap()).expect(0);
    whole.check_again(&(run, told));
}

// proves: RUN-45, RUN-28
#[test]
fn packets_are_done_once_all_of_them_are_there() {
    let whole = Whole::new();
    whole.killed_at("packets-index", &[]);
    let packets = |dir: PathBuf| {
        let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name());
        files.filter(|name| name.to_string_lossy().contains("-dream-")).count()
    };
    let there = packets(whole.night.latest("morning-packets"));
    let (_, told) = whole.check().unwrap();
    let status = |step: &str| told.iter().find(|(name, _)| name == step).unwrap().1.clone();
    let index = json_or_null(&whole.night.latest("morning-packets/index.json"));
    let named = index["packets"].as_array().map_or(0, Vec::len);
    assert!(named <= there, "{named} packets are named, and {there} are there");
    assert_eq!((there > 0, status("morning-packets")), (true, "skipped".into()));
    whole.killed_at("record-morning-packets", &[]);
    let named = json_of(&whole.night.latest("morning-packets/index.json"));
    assert_eq!(
        packets(whole.night.latest("morning-packets")),
        named["packets"].as_array().unwrap().len()
    );
    let (_, told) = whole.check().unwrap();
    assert!(told.contains(&("morning-packets".into(), "done".into())), "{told:?}");
}

/// What a process did of a run that another goes on with is set aside, entries and files.
// proves: RUN-45, RUN-41
#[test]
fn a_resumed_run_that_is_killed_tells_of_what_it_did_itself() {
    let whole = Whole::new();
    whole.killed_at("log-bead-sync", &[]);
    let (run, first) = whole.check().unwrap();
    let done = |told: &Steps| told.iter().filter(|(_, status)| status == "done").count();
    assert!(done(&first) > 6, "{first:?}");
    // The summary is a new one, and the files are still there.
    whole.killed_at("before-set-aside", &["--resume"]);
    let (again, told) = whole.check().unwrap();
    assert_eq!(again, run);
    assert!(told.contains(&("metrics-health".into(), "done".into())), "{told:?}");
    for place in ["set-aside", "metrics-health"] {
        whole.killed_at(place, &["--resume"]);
        let (again, told) = whole.check().unwrap();
        assert_eq!(again, run);
        let is_early = place == "set-aside";
        for (step, expected) in [
            ("iteration-1", "done"),
            ("iteration-2", "done"),
            ("close-loop", if is_early { "skipped" } else { "done" }),
            ("defrag-preview", if is_early { "skipped" } else { "done" }),
            ("metrics-health", "skipped"),
            ("bead-sync", "skipped"),
        ] {
            assert!(told.contains(&(step.into(), expected.into())), "{place}, {step}: {told:?}");
        }
    }
    let old = fs::read_to_string(whole.night.latest(&format!("{run}/before-resume/overnight.log")));
    assert!(entries(&old.unwrap()).contains_key("morning-packets"));
    ran(whole.command(&["--resume"]).spawn().unwrap()).expect(0);
    let summary = whole.night.summary();
    assert_eq!((text(&summary["run_id"]), text(&summary["status"])), (run, "done".into()));
    // Entries and steps are the same ones.
    let log = fs::read_to_string(whole.night.latest("overnight.log")).unwrap();
    let log = entries(&log);
    let made = steps(&summary).into_iter().filter(|(name, _)| !name.starts_with("iteration-"));
    assert_eq!(made.collect::<BTreeMap<_, _>>(), {
        log.into_iter().filter(|(name, _)| !name.starts_with("iteration-")).collect()
    });
}

/// Takes the lock and starts under it what stands behind the dashes.
const INHIBIT: &str = "while test \"$1\" != --; do shift; done; shift; exec \"$@\"";

// proves: RUN-45, RUN-25
#[test]
fn what_kept_the_machine_awake_is_told_of_a_killed_run() {
    let night = Night::with(2);
    let bin = night.aside.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = |name: &str, script: &str| {
        fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    symlink("/bin/cat", bin.join("cat")).unwrap();
    let killed = |system: &str, more: &[&str]| {
        let mut command = night.repo.command(&[&["overnight", "start"], more].concat());
        command.env("PATH", &bin).env("AO_HOST_TEST_SYSTEM", system);
        command.stderr(Stdio::null());
        night.held(&mut command, "ingest").signal("KILL");
        let shown = night.repo.run(&["overnight", "report"]).expect(0).stdout;
        let json = night.repo.run(&["--json", "overnight", "report"]).expect(0).json();
        let line = shown.lines().find(|line| line.contains("Kept awake: ")).unwrap().to_owned();
        let runtime = &json["summary"]["runtime"];
        (text(&runtime["keep_awake_mode"]), text(&runtime["keep_awake_note"]), line)
    };
    let check = |(mode, note, line): (String, String, String), expected: [&str; 3]| {
        assert_eq!(mode, expected[0], "{line}");
        assert!(note.contains(expected[1]) && line.contains(expected[2]), "{note} {line}");
    };
    check(
        killed("linux", &[]),
        ["unsupported", "systemd-inhibit was not found", "no: nothing here"],
    );
    program("systemd-inhibit", INHIBIT);
    check(
        killed("linux", &[]),
        ["inhibitor", "is held against idle:sleep", "by an inhibitor lock"],
    );
    check(
        killed("macos", &[]),
        ["missing-caffeinate", "was not found", "caffeinate was not found"],
    );
    program("caffeinate", "exec /bin/sleep 600");
    check(killed("macos", &[]), ["caffeinate", "keeps the machine awake", "by caffeinate"]);
    // Its report is the next start's, and the newest run's is the command's.
    check(killed("macos", &["--no-keep-awake"]), ["disabled", "", "no, it was switched off"]);
    let mut runs: Vec<PathBuf> =
        fs::read_dir(night.latest("")).unwrap().map(|one| one.unwrap().path()).collect();
    runs.retain(|path| path.join("summary.json").exists());
    runs.sort();
    let modes = runs
        .iter()
        .map(|run| text(&json_of(&run.join("summary.json"))["runtime"]["keep_awake_mode"]));
    let modes: Vec<String> = modes.collect();
    assert_eq!(modes, ["unsupported", "inhibitor", "missing-caffeinate", "caffeinate"]);
}
