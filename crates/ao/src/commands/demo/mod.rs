//! `ao demo`: the promises of the door, of consolidation, of the cell, of the vault and of the night, kept
//! in front of the user's eyes.

mod corpus;
mod held;
mod knowledge;
mod night;
mod secret;
mod week;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ao_contract::Exit;
use ao_guard::{Bounds, How, Keeper, Program, Running};
use ao_tree::{Disk, Door, Request, UndoScope, own_file};
use ao_vault::{Ansi, redactor};
use serde_json::json;

use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::{BAD, DOUBT, FAINT, GOOD, Printer, STRONG, paint};
use crate::repo::{AGENTS, Repo, STATE};

/// No file of the demo is larger.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// How often the commit is killed at a moment of its own.
const KILLS: u32 = 11;
/// Long enough to be met in the middle of a commit.
const LONG_GRACE: &str = "10s";
const DONE_ALREADY: &str = "it was quicker";
const MARKER_WAIT: Duration = Duration::from_secs(20);
/// A commit of the demo takes milliseconds, and says little.
const BOUNDS: Bounds = Bounds { time: Duration::from_mins(1), output_bytes: 1024 * 1024 };

/// See on a corpus of its own that a killed commit tears nothing, a merge loses nothing, a program in a
/// cell does no harm, a secret is not told, and what a night leaves in the morning
#[derive(Debug, clap::Args)]
#[command(after_help = "Everything happens in a temporary directory, which is removed afterwards.")]
pub(crate) struct Arguments {
    /// Leave the temporary repository there, to look around in
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if global.dry_run {
        return Err(Failure::usage(
            "the demo touches nothing but a temporary directory: there is nothing to preview",
        ));
    }
    let place =
        tempfile::Builder::new().prefix("ao-demo-").disable_cleanup(arguments.keep).tempdir();
    let place = place.map_err(|error| broken(&error))?;
    let stage = Stage::set(place.path())?;
    let report = stage.play(printer)?;
    let knowledge = stage.consolidate(printer)?;
    let held = stage.hold(printer)?;
    let untold = stage.keep_secret(printer)?;
    let night = stage.sleep(printer)?;
    let fields = json!({
        "kills": report.rows.iter().map(Row::json).collect::<Vec<_>>(),
        "killed": report.killed(),
        "torn": report.torn(),
        "undone_exactly": report.is_undone_exactly,
        "consolidated": knowledge.json(),
        "cell": held.json(),
        "secret": untold.json(),
        "night": night.json(),
        "kept": arguments.keep.then(|| place.path().display().to_string()),
    });
    let is_good = report.torn() == 0
        && report.is_undone_exactly
        && knowledge.is_good()
        && held.is_good()
        && untold.is_good()
        && night.is_good();
    let closing = if is_good {
        format!(
            "{} Killed {} times, torn 0 times; what was merged can be found, and all of it was taken \
             back to the byte. The report above is the night's own.\n",
            paint(GOOD, "It holds."),
            report.killed()
        )
    } else {
        format!("{} See above.\n", paint(BAD, "It does not hold."))
    };
    let next = if arguments.keep {
        format!("The repository is in {}; try `ao -C {0} tree log`.\n", place.path().display())
    } else {
        "Next: `ao overnight start` in a repository of yours, or `ao demo --keep` to look around in this one.\n".to_owned()
    };
    printer.answer("demo", fields, &format!("{}\n{closing}{next}", night.report));
    Ok(if is_good { Exit::Done } else { Exit::Failed })
}

fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, format!("the demo could not go on: {error}"))
}

/// Inode, mode and modification time.
type Identity = (u64, u32, i64, i64);
/// Every file with its bytes.
type Tree = BTreeMap<String, Vec<u8>>;

/// One kill, and what was there afterwards.
struct Row {
    when: String,
    /// What the killed process had left lying about.
    found: &'static str,
    /// `before`, `after` or `torn`.
    whole: &'static str,
}

impl Row {
    fn json(&self) -> serde_json::Value {
        json!({ "when": self.when, "found": self.found, "recovered_to": self.whole })
    }
}

struct Report {
    rows: Vec<Row>,
    is_undone_exactly: bool,
}

impl Report {
    fn killed(&self) -> usize {
        self.rows.iter().filter(|row| row.found != DONE_ALREADY).count()
    }

    fn torn(&self) -> usize {
        self.rows.iter().filter(|row| row.whole == "torn").count()
    }
}

struct Stage {
    repo: Repo,
    door: Door<Disk>,
    edits: PathBuf,
    program: PathBuf,
}

impl Stage {
    /// A repository with a small corpus, and a file of edits over all five parts of it.
    fn set(root: &Path) -> Result<Self, Failure> {
        // Not ours to remove one by one: it goes with the directory around it.
        tempfile::Builder::new()
            .prefix(AGENTS)
            .rand_bytes(0)
            .disable_cleanup(true)
            .tempdir_in(root)
            .map_err(|error| broken(&error))?;
        let repo = Repo { root: root.to_owned() };
        let door = repo.door()?;
        let _lock = repo.lock(clock::now())?;
        door.apply(request("seed", "the corpus of the demo", corpus::seed()))?;
        let edits = root.join("edits.json");
        let text = redactor().bytes(corpus::edits().to_string().as_bytes(), Ansi::Keep);
        ao_vault::out::replace_file(&edits, &text).map_err(|error| broken(&error))?;
        let program = std::env::current_exe().map_err(|error| broken(&error))?;
        Ok(Self { repo, door, edits, program })
    }

    fn play(&self, printer: &Printer) -> Result<Report, Failure> {
        let before = self.read()?;
        let identities = self.identities()?;
        printer.note(&format!(
            "{} {} files of knowledge in five parts of {AGENTS}/, and an edit over all of them:",
            paint(STRONG, "1."),
            before.len()
        ));
        let duration = self.commit("rehearsal")?;
        let after = self.read()?;
        printer.note(&self.summary("rehearsal")?);
        self.undo("rehearsal")?;
        printer.note(&format!(
            "{} The same commit, made by a child process that is killed (SIGKILL) at {} moments:",
            paint(STRONG, "2."),
            KILLS + 1
        ));
        let mut rows = Vec::new();
        for kill in 0..=KILLS {
            let row = self.kill(kill, duration, (&before, &after))?;
            printer.note(&line(&row));
            rows.push(row);
        }
        printer.note(&format!(
            "{} The edit once more, undisturbed, and its undo:",
            paint(STRONG, "3.")
        ));
        self.commit("kept")?;
        self.undo("kept")?;
        let is_undone_exactly = self.read()? == before && self.identities()? == identities;
        printer.note(&format!(
            "   {}",
            if is_undone_exactly {
                "every file has the bytes it had; the untouched ones their inode, mode and time too"
            } else {
                "the tree is not what it was"
            }
        ));
        Ok(Report { rows, is_undone_exactly })
    }

    /// Starts the commit in a process of its own.
    fn start(&self, id: &str, grace: &str) -> Result<Running, Failure> {
        let (root, edits) = (self.repo.root.as_os_str(), self.edits.as_os_str());
        let [quiet, repo, tree, apply] = ["--quiet", "-C", "tree", "apply"].map(OsStr::new);
        let [name, id, wait, grace] = ["--id", id, "--grace", grace].map(OsStr::new);
        let words = [quiet, repo, root, tree, apply, edits, name, id, wait, grace];
        let program = Program::new(&self.program).arguments(words).directory(&self.repo.root);
        Keeper::this_binary().start(&program).map_err(|error| broken(&error))
    }

    /// Makes the commit undisturbed; gives the time it took.
    fn commit(&self, id: &str) -> Result<Duration, Failure> {
        let started = self.start(id, "0s")?;
        let since = Instant::now();
        let ended = started.wait(BOUNDS, &false.into()).map_err(|error| broken(&error))?;
        if ended.is_success() {
            Ok(since.elapsed())
        } else {
            Err(broken(&format!("the commit ended: {:?}", ended.how)))
        }
    }

    fn undo(&self, id: &str) -> Result<(), Failure> {
        let _lock = self.repo.lock(clock::now())?;
        let plan = self.door.plan_undo(Some(id), UndoScope::FromHereOn)?;
        self.door
            .undo(plan, request(&format!("undo-{id}"), "the demo takes it back", Vec::new()))?;
        Ok(())
    }

    /// Kills one commit, recovers, and looks at what is there. The first kills are spread over the
    /// time that a commit takes; the last waits until the commit is decided.
    fn kill(
        &self,
        kill: u32,
        duration: Duration,
        (before, after): (&Tree, &Tree),
    ) -> Result<Row, Failure> {
        let id = format!("killed-{kill}");
        let is_last = kill == KILLS;
        let child = self.start(&id, if is_last { LONG_GRACE } else { "0s" })?;
        let when = if is_last {
            self.wait_for_marker();
            "in the middle of the exchange".to_owned()
        } else {
            let moment = duration * (kill + 1) / (KILLS + 1);
            std::thread::sleep(moment);
            format!("after {:.1} ms", moment.as_secs_f64() * 1000.0)
        };
        let ended = child.kill().map_err(|error| broken(&error))?;
        let is_quicker = matches!(ended.how, How::Exited(_));
        let found = if is_quicker { DONE_ALREADY } else { self.leavings(&id)? };
        self.recover()?;
        let now = self.read()?;
        let is_settled = self.door.verify()?.damage.is_empty();
        let whole = match () {
            () if is_settled && now == *before => "before",
            () if is_settled && now == *after => "after",
            () => "torn",
        };
        if whole == "after" {
            self.undo(&id)?;
        }
        Ok(Row { when, found, whole })
    }

    fn recover(&self) -> Result<(), Failure> {
        let _lock = self.repo.lock(clock::now())?;
        self.door.recover()?;
        Ok(())
    }

    fn wait_for_marker(&self) {
        let since = Instant::now();
        while !matches!(self.door.interrupted(), Ok(Some(_))) && since.elapsed() < MARKER_WAIT {
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn leavings(&self, id: &str) -> Result<&'static str, Failure> {
        if self.door.interrupted()?.is_some() {
            return Ok("a decided commit, not finished");
        }
        let staging = self.repo.agents().join(STATE).join("staging");
        let is_recorded = self.door.line(Some(id)).is_ok();
        Ok(match (staging.exists(), is_recorded) {
            (true, false) => "half-built staging",
            (_, true) => "a finished commit, not tidied up",
            (false, false) => "nothing",
        })
    }

    fn summary(&self, id: &str) -> Result<String, Failure> {
        let mut text = String::new();
        super::tree::list_changes(&mut text, &self.door.record(id)?.changes);
        Ok(text
            .lines()
            .fold(String::new(), |text, line| format!("{text}   {line}\n"))
            .trim_end()
            .to_owned())
    }

    fn read(&self) -> Result<Tree, Failure> {
        let mut tree = Tree::new();
        for path in self.files()? {
            let bytes = own_file::read(&self.repo.agents().join(&path), FILE_BYTES_MAX);
            let bytes = bytes.map_err(|error| broken(&error))?;
            tree.insert(path, bytes);
        }
        Ok(tree)
    }

    /// The identities of the files that the edits leave alone.
    fn identities(&self) -> Result<BTreeMap<String, Identity>, Failure> {
        let mut found = BTreeMap::new();
        for path in self.files()?.into_iter().filter(|path| !corpus::is_edited(path)) {
            let stat = std::fs::metadata(self.repo.agents().join(&path))
                .map_err(|error| broken(&error))?;
            found.insert(path, (stat.ino(), stat.mode(), stat.mtime(), stat.mtime_nsec()));
        }
        Ok(found)
    }

    fn files(&self) -> Result<Vec<String>, Failure> {
        fn walk(dir: &Path, prefix: &str, files: &mut Vec<String>) -> std::io::Result<()> {
            for entry in std::fs::read_dir(dir)? {
                let entry = entry?;
                let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entry.file_type()?.is_dir() {
                    walk(&entry.path(), &format!("{path}/"), files)?;
                } else {
                    files.push(path);
                }
            }
            Ok(())
        }
        let mut files = Vec::new();
        walk(&self.repo.agents(), "", &mut files).map_err(|error| broken(&error))?;
        files.retain(|path| !path.starts_with(STATE));
        Ok(files)
    }
}

fn line(row: &Row) -> String {
    let style = match row.whole {
        "torn" => BAD,
        "after" => GOOD,
        _ => DOUBT,
    };
    let mut text = String::new();
    let _ = write!(
        text,
        "   {:<30} {} recovered: wholly {}",
        row.when,
        paint(FAINT, &format!("{:<32}", row.found)),
        paint(style, row.whole)
    );
    text
}

fn request(id: &str, why: &str, edits: Vec<ao_tree::Edit>) -> Request {
    Request {
        id: id.to_owned(),
        at: clock::now().rfc3339(),
        why: why.to_owned(),
        edits,
        undo_of: Vec::new(),
        by: None,
        given: None,
        drop_folders: Vec::new(),
        grace: Duration::ZERO,
        max_store_bytes: u64::MAX,
        stop: ao_tree::Stop::default(),
    }
}
