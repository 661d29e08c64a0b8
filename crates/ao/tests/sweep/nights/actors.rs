//! The people and agents who use the corpus while `ao` works on it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::world::{World, shown};

use super::account::{Account, TEMPORARY};
use super::dice::Dice;
use super::words::{citation, finding, learning, marks_in, remark, without_remarks, work};

pub(super) const QUEUE: &str = "rpi/next-work.jsonl";
pub(super) const CITATIONS: &str = "ao/citations.jsonl";
const PENDING: &str = "knowledge/pending";
/// Displaced files are left so long to whoever has them open; who was held up for longer was
/// promised nothing.
const GRACE: Duration = Duration::from_millis(100);
/// People are no busy loops: a corpus whose every file changes every moment cannot be committed to.
const PAUSE_MIN_MS: usize = 10;
const PAUSE_SPREAD_MS: usize = 60;
/// An editor replaces the remarks of a file that has more.
const REMARKS_MAX: usize = 6;
/// Between two nights a person throws away what is more than this, so that the last of two hundred
/// nights has no more to do than the first.
const FILES_MAX: [(&str, usize); 4] =
    [("learnings", 60), ("findings", 15), (PENDING, 10), ("knowledge/processed", 10)];
/// Each actor does so much in a night: a slow machine makes it longer, and not the corpus larger.
const ACTS_MAX: usize = 40;

/// All that the actors of one night share.
pub(super) struct Stage<'a> {
    pub(super) world: &'a World,
    pub(super) account: &'a Mutex<Account>,
    pub(super) is_over: &'a AtomicBool,
    pub(super) acts: &'a AtomicUsize,
    /// What a reader saw and should not have.
    pub(super) complaints: &'a Mutex<Vec<String>>,
}

type Actor = fn(&Stage<'_>, &mut Dice) -> io::Result<()>;
pub(super) const ACTORS: [Actor; 4] = [edit, append, come_and_go, read];

/// One actor, until the night is over. What fails because `ao` was first was promised nothing.
pub(super) fn work_on(stage: &Stage<'_>, actor: Actor, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut acts = 0;
    while !stage.is_over.load(Ordering::Relaxed) {
        if acts < ACTS_MAX && actor(stage, &mut dice).is_ok() {
            acts += 1;
            stage.acts.fetch_add(1, Ordering::Relaxed);
        }
        let pause = PAUSE_MIN_MS + dice.below(PAUSE_SPREAD_MS);
        std::thread::sleep(Duration::from_millis(u64::try_from(pause).unwrap()));
    }
}

/// Changes the text of a file: in place, or with a new file that is renamed over it.
fn edit(stage: &Stage<'_>, dice: &mut Dice) -> io::Result<()> {
    let mut account = stage.account.lock().unwrap();
    let paths = entries(stage.world, "learnings");
    let Some(path) = dice.choose(&paths) else { return Ok(()) };
    let file = stage.world.agents(path);
    let old = fs::read_to_string(&file)?;
    let kept = if marks_in(&old).len() > REMARKS_MAX { without_remarks(&old) } else { old.clone() };
    let new = format!("{kept}{}", remark(account.new_mark()));
    account.may_write(path, &new);
    let since;
    if dice.percent(50) {
        since = Instant::now();
        let mut file = File::options().write(true).truncate(true).open(&file)?;
        file.write_all(new.as_bytes())?;
    } else {
        let beside = format!("{path}{TEMPORARY}");
        account.may_write(&beside, &new);
        since = Instant::now();
        fs::write(stage.world.agents(&beside), &new)?;
        fs::rename(stage.world.agents(&beside), &file)?;
    }
    account.dropped(&old, &new);
    if since.elapsed() < GRACE {
        account.wrote(path, &new);
    } else {
        // Cut between the two steps of an edit in place, it is empty.
        account.may_write(path, "");
        account.dropped(&new, "");
    }
    Ok(())
}

/// One line at the end of a log that everybody appends to.
fn append(stage: &Stage<'_>, dice: &mut Dice) -> io::Result<()> {
    let mut account = stage.account.lock().unwrap();
    let number = account.new_mark();
    let (path, line) = if dice.percent(50) {
        (QUEUE, work(number))
    } else {
        let paths = entries(stage.world, "learnings");
        let Some(entry) = dice.choose(&paths) else { return Ok(()) };
        let kind = if dice.percent(70) { "applied" } else { "bypass" };
        (CITATIONS, citation(number, entry, kind))
    };
    let since = Instant::now();
    let mut file = File::options().append(true).open(stage.world.agents(path))?;
    file.write_all(line.as_bytes())?;
    if since.elapsed() < GRACE {
        account.appended(path, &line);
    }
    Ok(())
}

/// New learnings, pending ones and findings; old ones are thrown away.
fn come_and_go(stage: &Stage<'_>, dice: &mut Dice) -> io::Result<()> {
    let mut account = stage.account.lock().unwrap();
    let number = account.new_mark();
    let (path, text) = match dice.below(5) {
        0 => (
            format!("{PENDING}/2026-04-0{}-p{number}.md", 1 + dice.below(9)),
            learning(dice, number),
        ),
        1 => (format!("findings/f-2026-05-04-{number:03}.md"), finding(dice, number)),
        2 => return remove(stage.world, &mut account, dice),
        _ => (format!("learnings/2026-05-04-l{number}.md"), learning(dice, number)),
    };
    account.may_write(&path, &text);
    let since = Instant::now();
    File::create_new(stage.world.agents(&path))?.write_all(text.as_bytes())?;
    if since.elapsed() < GRACE {
        account.wrote(&path, &text);
    } else {
        account.may_write(&path, "");
    }
    Ok(())
}

fn remove(world: &World, account: &mut Account, dice: &mut Dice) -> io::Result<()> {
    let folder = if dice.percent(80) { "learnings" } else { "findings" };
    let paths = entries(world, folder);
    let Some(path) = dice.choose(&paths) else { return Ok(()) };
    throw_away(world, account, path)
}

pub(super) fn throw_away(world: &World, account: &mut Account, path: &str) -> io::Result<()> {
    let file = world.agents(path);
    let text = fs::read_to_string(&file)?;
    fs::remove_file(file)?;
    account.dropped(&text, "");
    account.removed(path);
    Ok(())
}

/// Asks `ao` itself. While a killed night has not been recovered from it may refuse; it never
/// panics, and what it prints is whole.
fn read(stage: &Stage<'_>, dice: &mut Dice) -> io::Result<()> {
    let paths = entries(stage.world, "learnings");
    let Some(path) = dice.choose(&paths) else { return Ok(()) };
    let args = match dice.below(2) {
        0 => ["--json", "search", "what fails, and why"],
        _ => ["--json", "show", path.as_str()],
    };
    let output = stage.world.command(&args).output()?;
    let is_whole = serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok();
    let is_good = match output.status.code() {
        Some(0) => is_whole,
        // A commit was cut off, and the next start has to finish it.
        Some(1 | 6 | 75) => !is_panicked(&output.stderr),
        // Somebody removed it between the two looks.
        Some(2) => String::from_utf8_lossy(&output.stderr).contains("there is no entry"),
        _ => false,
    };
    if !is_good {
        let complaint = format!("`ao {}`: {}", args.join(" "), shown(&output));
        stage.complaints.lock().unwrap().push(complaint);
    }
    Ok(())
}

fn is_panicked(stderr: &[u8]) -> bool {
    String::from_utf8_lossy(stderr).contains("panicked")
}

/// The Markdown files of a folder, by their paths beneath `.agents/`.
pub(super) fn entries(world: &World, folder: &str) -> Vec<String> {
    let Ok(found) = fs::read_dir(world.agents(folder)) else { return Vec::new() };
    let names = found.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_entry = |name: &String| Path::new(name).extension().is_some_and(|kind| kind == "md");
    let mut paths: Vec<_> = names.filter(is_entry).map(|name| format!("{folder}/{name}")).collect();
    paths.sort();
    paths
}

/// Between two nights, with nobody else at work: copies and pending learnings for the next one, and
/// room for them.
pub(super) fn plant(world: &World, account: &mut Account, dice: &mut Dice) {
    let put = |account: &mut Account, path: String, text: String| {
        account.may_write(&path, &text);
        fs::write(world.agents(&path), &text).unwrap();
        account.wrote(&path, &text);
    };
    for (folder, most) in FILES_MAX {
        let there = entries(world, folder);
        for path in there.iter().take(there.len().saturating_sub(most)) {
            throw_away(world, account, path).unwrap();
        }
    }
    let there = entries(world, "learnings");
    for _ in 0..2 {
        if let Some(path) = dice.choose(&there) {
            let text = fs::read_to_string(world.agents(path)).unwrap();
            let number = account.new_mark();
            put(account, format!("learnings/2026-05-05-copy{number}.md"), text);
        }
    }
    for _ in 0..2 {
        let number = account.new_mark();
        let text = learning(dice, number);
        put(account, format!("{PENDING}/2026-04-11-p{number}.md"), text);
    }
    let number = account.new_mark();
    let text = learning(dice, number);
    put(account, format!("learnings/2026-05-05-l{number}.md"), text);
}

/// The repository before the first night.
pub(super) fn settle(world: &World, account: &mut Account, dice: &mut Dice) {
    for folder in ["learnings", "findings", "patterns", PENDING, "rpi", "ao"] {
        fs::create_dir_all(world.agents(folder)).unwrap();
    }
    for path in [QUEUE, CITATIONS] {
        fs::write(world.agents(path), "").unwrap();
    }
    for count in 0..30 {
        let number = account.new_mark();
        let (path, text) = match count {
            0..24 => (format!("learnings/2026-05-01-l{number}.md"), learning(dice, number)),
            24..27 => (format!("findings/f-2026-05-01-{number:03}.md"), finding(dice, number)),
            _ => (format!("patterns/p{number}.md"), learning(dice, number)),
        };
        account.may_write(&path, &text);
        fs::write(world.agents(&path), &text).unwrap();
        account.wrote(&path, &text);
    }
}
