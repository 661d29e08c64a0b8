//! A repository to spend nights in: what the night finds there, and how it is started, stopped and
//! looked at from outside.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;
use tempfile::TempDir;

use crate::repo::{Ran, TestRepo, wait_until};

/// So many entries an iteration takes in at most.
pub(crate) const A_ROUND: usize = 200;

const THINGS: [&str; 10] = [
    "audit log",
    "build farm",
    "crash reporter",
    "edge proxy",
    "import job",
    "lint gate",
    "mail relay",
    "quota keeper",
    "search crawler",
    "token broker",
];
const DEEDS: [&str; 10] = [
    "stalls",
    "leaks",
    "doubles",
    "reorders",
    "starves",
    "rejects",
    "truncates",
    "replays",
    "skews",
    "masks",
];
const PARTS: [&str; 10] = [
    "checksum",
    "cursor",
    "epoch",
    "heartbeat",
    "journal",
    "lease",
    "manifest",
    "quorum",
    "snapshot",
    "watermark",
];

/// A word that no other number has.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "va",
    ];
    (0..5).map(|nth| SYLLABLES[(number >> (4 * nth)) & 15]).collect()
}

/// A text that no other number has, with few words of any other, and a claim in it.
pub(crate) fn text(number: usize) -> String {
    let (thing, deed) = (THINGS[number % 10], DEEDS[number / 10 % 10]);
    let part = PARTS[number / 100 % 10];
    let mut words = String::new();
    for nth in 0..24 {
        let _ = write!(words, "{} ", word(number * 24 + nth));
    }
    let claim = word(number * 24);
    format!("The {thing} {deed} the {part}: run `{claim} --check` because of it.\n\n{words}\n")
}

/// A learning that says where it comes from.
pub(crate) fn learning(number: usize) -> String {
    format!(
        "---\nid: learning-{number}\ndate: 2026-03-{:02}\nsource_session: s-{number}\nutility: 0.7\n---\n# Learning: {}\n\n{}",
        1 + number % 28,
        word(number * 24 + 1),
        text(number)
    )
}

/// A repository, other ones to harvest from, and a folder for what the tests leave.
pub(crate) struct Night {
    pub(crate) repo: TestRepo,
    pub(crate) aside: TempDir,
}

impl Night {
    /// With so many learnings of its own, none of them like another.
    pub(crate) fn with(learnings: usize) -> Self {
        let repo = TestRepo { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(repo.agents()).unwrap();
        for number in 0..learnings {
            repo.write(&format!("learnings/2026-03-01-case-{number}.md"), &learning(number));
        }
        Self { repo, aside: tempfile::tempdir().unwrap() }
    }

    /// One where the first iteration merges two copies, and the second finds nothing.
    pub(crate) fn with_copies() -> Self {
        let night = Self::with(6);
        night.repo.write("learnings/2026-03-02-copy.md", &learning(1));
        night.repo.write("research/r.md", "not held\n");
        night
    }

    /// A pending learning, a month older than what else there is.
    pub(crate) fn pending(&self, number: usize) {
        let path = format!("knowledge/pending/2026-02-01-pending-{number}.md");
        self.repo
            .write(&path, &learning(50 + number).replacen("date: 2026-03", "date: 2026-02", 1));
    }

    /// Another repository of the same person to take entries from: `entry` gives path and text.
    pub(crate) fn harvest_from(&self, count: usize, entry: impl Fn(usize) -> (String, String)) {
        let other = self.aside.path().join("other");
        for number in 0..count {
            let (path, text) = entry(number);
            let path = other.join(".agents").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        // Its home is the repository, so this is the person's own file.
        let other = other.display().to_string();
        self.configure(&format!(
            "dream:\n  harvest_from: [{other:?}]\ntrust:\n  sources: [{other:?}]\n"
        ));
    }

    /// So many rounds of learnings to take in, none of which moves the fitness much.
    pub(crate) fn harvest_rounds(&self, rounds: usize) {
        self.harvest_from(rounds * A_ROUND, |number| {
            (format!("learnings/2026-03-03-theirs-{number}.md"), learning(1000 + number))
        });
    }

    /// Entries so old that each round of them takes the freshness under its floor. Those of another
    /// `seed` are others.
    pub(crate) fn harvest_regressions(&self, seed: usize, rounds: usize) {
        self.harvest_from(rounds * A_ROUND, |number| {
            let number = 4000 + seed * 1000 + number;
            let old = learning(number).replacen("date: 2026", "date: 2023", 1);
            (format!("learnings/2023-03-03-theirs-{number}.md"), old)
        });
    }

    /// Takes away what was harvested, here and there.
    pub(crate) fn forget_theirs(&self) {
        for path in self.repo.tree().keys().filter(|path| path.contains("-theirs-")) {
            fs::remove_file(self.repo.agents().join(path)).unwrap();
        }
        fs::remove_dir_all(self.aside.path().join("other")).unwrap();
    }

    pub(crate) fn configure(&self, yaml: &str) {
        let path = self.repo.root().join(".agentops/config.yaml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, yaml).unwrap();
    }

    /// `overnight start`, in JSON, with nothing held awake.
    pub(crate) fn command(&self, more: &[&str]) -> Command {
        let start = ["--json", "overnight", "start", "--no-keep-awake"];
        self.repo.command(&[&start, more].concat())
    }

    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        ran(self.command(more).spawn().unwrap())
    }

    /// The same, with a fault asked for.
    pub(crate) fn run_with(&self, fault: &str, more: &[&str]) -> Ran {
        ran(self.command(more).env("AO_NIGHT_FAULT", fault).spawn().unwrap())
    }

    /// Starts a run that stays at a place until it is told to go on, and waits until it is there.
    pub(crate) fn held_at(&self, place: &str, more: &[&str]) -> Held {
        self.held(&mut self.command(more), place)
    }

    /// The same of a run that is told more than its arguments.
    pub(crate) fn held(&self, command: &mut Command, place: &str) -> Held {
        let go = self.aside.path().join("go");
        command.env("AO_NIGHT_FAULT", format!("wait-{place}")).env("AO_NIGHT_GO", &go);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let here = go.with_extension(place);
        wait_until("the run is there", || here.exists());
        fs::remove_file(here).unwrap();
        Held { child, go }
    }

    pub(crate) fn latest(&self, path: &str) -> PathBuf {
        self.repo.state("latest").join(path)
    }

    pub(crate) fn summary(&self) -> Value {
        json_of(&self.latest("summary.json"))
    }

    pub(crate) fn markdown(&self) -> String {
        fs::read_to_string(self.latest("summary.md")).unwrap()
    }

    /// Every file of the repository and what can be seen of it, `.git` and configuration too.
    pub(crate) fn all_files(&self) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.repo.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let found = path.symlink_metadata().unwrap();
                assert!(!found.is_symlink(), "{} is a symlink", path.display());
                let name = path.strip_prefix(self.repo.root()).unwrap().display().to_string();
                if found.is_dir() {
                    files.insert(
                        format!("{name}/"),
                        (Vec::new(), std::time::SystemTime::UNIX_EPOCH),
                    );
                    folders.push(path);
                } else {
                    files.insert(name, (fs::read(&path).unwrap(), found.modified().unwrap()));
                }
            }
        }
        files
    }
}

/// A learning of this day.
pub(crate) fn dated(number: usize, date: Date) -> String {
    let text = learning(number);
    let (before, rest) = text.split_once("date: 2026-03-").unwrap();
    format!("{before}date: {date}{}", &rest[2..])
}

/// A clock that shows noon of a day to come: no run that goes by it runs over midnight.
pub(crate) struct Noon {
    file: PathBuf,
    first: Date,
    /// The day that the clock was set to.
    today: Cell<Option<i32>>,
}

impl Noon {
    /// Tomorrow's, as a file in this folder says.
    pub(crate) fn new(folder: &Path) -> Self {
        let first = Timestamp::now().to_zoned(TimeZone::UTC).date().tomorrow().unwrap();
        let noon = Self { file: folder.join("clock"), first, today: Cell::new(None) };
        noon.set(0);
        noon
    }

    /// So many days after the first.
    pub(crate) fn day(&self, days: i32) -> Date {
        self.first.checked_add(days.days()).unwrap()
    }

    /// To noon of a day. On that day it is not set again: the time would come a second time, and what was seen
    /// before would lie in the future.
    pub(crate) fn set(&self, days: i32) {
        if self.today.replace(Some(days)) == Some(days) {
            return;
        }
        let noon = self.day(days).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
        let ahead = noon.duration_since(Timestamp::now()).as_secs();
        fs::write(&self.file, ahead.to_string()).unwrap();
    }

    pub(crate) fn command<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("AO_CLOCK", &self.file)
    }

    pub(crate) fn run(&self, mut command: Command) -> Ran {
        ran(self.command(&mut command).spawn().unwrap())
    }
}

/// A run that waits.
pub(crate) struct Held {
    pub(crate) child: Child,
    go: PathBuf,
}

impl Held {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn go_on(self) -> Ran {
        fs::write(&self.go, "").unwrap();
        let ran = ran(self.child);
        fs::remove_file(self.go).unwrap();
        ran
    }

    /// Sends a signal by its name, and waits for the end.
    pub(crate) fn signal(self, name: &str) -> Ran {
        self.send(name);
        ran(self.child)
    }

    /// Stops it where it is: alive, and writing nothing, not even that it waits.
    pub(crate) fn freeze(&self) {
        self.send("STOP");
        let stat = format!("/proc/{}/stat", self.id());
        crate::repo::wait_until("the run stands still", || {
            let told = fs::read_to_string(&stat).unwrap();
            told.rsplit_once(") ").unwrap().1.starts_with('T')
        });
    }

    fn send(&self, name: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }
}

pub(crate) fn ran(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

pub(crate) fn json_of(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How long something took, by a clock that does not jump.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let since = Instant::now();
    let done = work();
    (done, since.elapsed())
}

/// The statuses of all iterations, in order.
pub(crate) fn statuses(summary: &Value) -> Vec<&str> {
    let all = summary["iterations"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().map(|one| one["status"].as_str().unwrap()).collect()
}

/// The status of a step; nothing if it is absent.
pub(crate) fn step<'a>(summary: &'a Value, name: &str) -> &'a str {
    let all = summary["steps"].as_array().unwrap();
    let found = all.iter().find(|step| step["name"] == name);
    found.map_or("", |step| step["status"].as_str().unwrap())
}
