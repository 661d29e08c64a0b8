//! Somebody else writes between any two system calls of a commit.
//!
//! The command is stepped, also through the calls that only look; at the chosen stop the intruder
//! acts, by path and in one go, and the command goes on. Whatever the moment, the intruder's work
//! must be in the tree, or where a person finds it: kept beside as a conflict, or in the undo
//! store if `ao` had seen it before it replaced it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::process::Output;

use crate::calls::Watch;
use crate::check::{check_quiet, history_ids};
use crate::step::{Edge, Stepper, Stop};
use crate::tally::Tally;
use crate::tree::{Kind, Tree};
use crate::world::{Arena, RECOVER, Scenario, World, scenarios, shown};

const CASES_MIN: usize = 1_000;
/// In the full sweep every act meets about so many moments; by default all acts together do.
const MOMENTS_FULL: usize = 250;
const CASES_SAMPLE: usize = 120;
const PAIRS_SAMPLE: usize = 60;

/// What the intruder does, to a path beneath `.agents/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Opened, overwritten, closed: the inode stays.
    Edit(&'static str),
    /// A new file, renamed over the old one, or put where there was none.
    Replace(&'static str),
    Delete(&'static str),
    /// One line at the end.
    Append(&'static str),
    /// A new directory with a file in it.
    AddFolder(&'static str),
    /// `rm -r`.
    DeleteFolder(&'static str),
    Rename(&'static str, &'static str),
}

/// Files that the first commit changes, deletes and adds, and files that it leaves alone, in
/// directories that it exchanges.
const ACTS: [Act; 19] = [
    Act::Edit("learnings/a.md"),
    Act::Edit("learnings/b.md"),
    Act::Edit("findings/f2.md"),
    Act::Edit("learnings/nested/deep/d.md"),
    Act::Replace("learnings/a.md"),
    Act::Replace("learnings/b.md"),
    Act::Replace("findings/f2.md"),
    Act::Replace("learnings/new.md"),
    Act::Replace("patterns/theirs.md"),
    Act::Replace("rpi/next-work.jsonl"),
    Act::Delete("learnings/a.md"),
    Act::Delete("learnings/b.md"),
    Act::Delete("findings/f2.md"),
    Act::Delete("rpi/next-work.jsonl"),
    Act::Append("learnings/log.jsonl"),
    Act::Append("rpi/next-work.jsonl"),
    Act::AddFolder("knowledge/theirs/page.md"),
    Act::DeleteFolder("learnings/nested"),
    Act::Rename("learnings/b.md", "learnings/b-renamed.md"),
];

impl Act {
    fn path(self) -> &'static str {
        match self {
            Self::Edit(path)
            | Self::Replace(path)
            | Self::Delete(path)
            | Self::Append(path)
            | Self::AddFolder(path)
            | Self::DeleteFolder(path)
            | Self::Rename(path, _) => path,
        }
    }

    /// Does it, with a text that tells this act from every other. Some acts need something that
    /// an earlier one took away; that is their failure, and nothing that `ao` could lose.
    fn perform(self, world: &World, text: &str) -> std::io::Result<()> {
        let path = world.agents(self.path());
        match self {
            Self::Edit(_) => fs::File::options()
                .write(true)
                .truncate(true)
                .open(path)?
                .write_all(text.as_bytes()),
            Self::Replace(_) => {
                let fresh = world.agents("theirs.tmp");
                fs::write(&fresh, text)?;
                fs::rename(fresh, path)
            }
            Self::Delete(_) => fs::remove_file(path),
            Self::Append(_) => {
                fs::File::options().append(true).open(path)?.write_all(text.as_bytes())
            }
            Self::AddFolder(_) => {
                fs::create_dir(path.parent().unwrap())?;
                fs::write(path, text)
            }
            Self::DeleteFolder(_) => fs::remove_dir_all(path),
            Self::Rename(_, to) => fs::rename(path, world.agents(to)),
        }
    }
}

/// An undisturbed run, stop by stop.
struct Course {
    /// Where one call ends and the next has not begun: the moments at which others may act.
    moments: Vec<usize>,
    /// For each path that the commit edits: the stop after which its bytes are known to `ao`.
    seen: BTreeMap<String, usize>,
    /// The stop at which the marker is about to appear.
    decided: usize,
    /// The path whose first reading is going on.
    reading: Option<String>,
}

impl Course {
    fn of(arena: &Arena, scenario: &Scenario) -> Self {
        let world = arena.world(&scenario.start);
        let mut stepper = start(&world, scenario);
        let mut course =
            Self { moments: Vec::new(), seen: BTreeMap::new(), decided: 0, reading: None };
        let mut is_ours = false;
        for number in 0.. {
            let Some(stop) = stepper.next() else { break };
            let shown = stop.describe();
            is_ours |= shown.contains(".agents");
            if !is_ours {
                continue;
            }
            if stop.edge == Edge::Entry {
                course.moments.push(number);
            }
            course.note(&stop, &shown, number, scenario);
        }
        course
    }

    fn note(&mut self, stop: &Stop, shown: &str, number: usize, scenario: &Scenario) {
        if self.decided == 0 && shown.contains("COMMIT-MARKER.") {
            self.decided = number;
        }
        let is_read = stop.call.name() == "read";
        let path = scenario.edited.iter().find(|path| is_read && shown.contains(path.as_str()));
        match path {
            // To the end of its first reading: what comes in the middle is read too.
            Some(path) if !self.seen.contains_key(path) || self.reading == Some(path.clone()) => {
                self.seen.insert(path.clone(), number);
                self.reading = Some(path.clone());
            }
            _ => self.reading = None,
        }
    }

    /// `ao` knew what stood at the path before the act at this stop changed it.
    fn had_seen(&self, act: Act, moment: usize) -> bool {
        let seen = self.seen.get(&format!(".agents/{}", act.path()));
        seen.is_some_and(|seen| moment > *seen)
    }
}

fn start(world: &World, scenario: &Scenario) -> Stepper {
    let mut args = vec!["--json"];
    args.extend(scenario.args());
    Stepper::start_to_watch(world.command(&args), Watch::ChangesAndLooks)
}

struct Case {
    act: Act,
    moment: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "intruder {:?} at stop {}", self.act, self.moment)
    }
}

// proves: LOOP-07
#[test]
fn intruder_loses_nothing() {
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let course = Course::of(&arena, &scenario);
    let mut tally = Tally::new("intruder", "intruder_loses_nothing", CASES_MIN);
    let mut cases = Vec::new();
    for act in ACTS {
        let all = course.moments.iter().map(|moment| Case { act, moment: *moment }).collect();
        cases.extend(if tally.is_full() { thin(all, MOMENTS_FULL) } else { all });
    }
    let cases = tally.sample(cases, CASES_SAMPLE);
    tally.run(&cases, |case| attack(&arena, &scenario, &course, case));
    tally.finish();
}

/// Everything when one case is looked for by name, else an even part.
fn thin<T>(items: Vec<T>, count: usize) -> Vec<T> {
    if std::env::var_os("AO_SWEEP_ONLY").is_some() {
        items
    } else {
        crate::tally::spread(items, count)
    }
}

fn attack(arena: &Arena, scenario: &Scenario, course: &Course, case: &Case) -> Result<(), String> {
    let world = arena.world(&scenario.start);
    let mut stepper = start(&world, scenario);
    let stop = stepper.nth(case.moment).ok_or("the command ended before that stop")?;
    let at = stop.describe();
    let path = format!(".agents/{}", case.act.path());
    let is_after = fs::read(world.root.join(&path)).ok().as_deref() == scenario.after.bytes(&path);
    let text = text_of(case.act, 1);
    let done = case.act.perform(&world, &text);
    let (output, _) = stepper.finish();
    let judged = match done {
        Ok(()) => {
            let is_seen = course.had_seen(case.act, case.moment);
            judge(&world, scenario, case.act, &text, Moment { is_seen, is_after }, &output)
        }
        Err(_) => undisturbed(&world, scenario, case.act, &output),
    };
    judged.map_err(|why| format!("the intruder acted at {at}\n{}\n{why}", brief(&output)))
}

/// What the report says of others, and how the command ended.
fn brief(output: &Output) -> String {
    match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
        Ok(report) => format!(
            "{}; {}; conflicts: {}; carried: {}",
            output.status, report["status"], report["conflicts"], report["carried"]
        ),
        Err(_) => shown(output),
    }
}

fn text_of(act: Act, number: usize) -> String {
    if act.path().ends_with(".jsonl") {
        format!("{{\"theirs\":{number}}}\n")
    } else {
        format!("Theirs, {number}.\n")
    }
}

#[derive(Debug, Clone, Copy)]
struct Moment {
    /// `ao` had read what the act changed.
    is_seen: bool,
    /// What stood there was `ao`'s version already: theirs is simply the next one.
    is_after: bool,
}

fn judge(
    world: &World,
    scenario: &Scenario,
    act: Act,
    text: &str,
    moment: Moment,
    output: &Output,
) -> Result<(), String> {
    undisturbed(world, scenario, act, output)?;
    let path = format!(".agents/{}", act.path());
    let tree = world.tree();
    let live = tree.bytes(&path);
    let ours = scenario.after.bytes(&path);
    let is_edited = scenario.edited.contains(&path);
    // `ao` replaced it knowingly, and it can be had back.
    let is_replaced = || is_edited && !moment.is_seen && live == ours;
    // Its own version is kept beside, unless theirs came after it.
    let is_settled = || {
        !is_edited
            || ours.is_none()
            || moment.is_after
            || kept(world, act) == ours.map(<[u8]>::to_vec)
    };
    match act {
        Act::Edit(_) | Act::Replace(_) | Act::AddFolder(_) => {
            if live == Some(text.as_bytes()) {
                return if is_settled() {
                    Ok(())
                } else {
                    Err("ao's own version is not kept".to_owned())
                };
            }
            if is_replaced() && undo_holds(world, text) {
                return Ok(());
            }
            Err(format!("{path} holds {:?}, not theirs", live.map(String::from_utf8_lossy)))
        }
        Act::Delete(_) => match live {
            None if is_settled() => Ok(()),
            None => Err("ao's own version is not kept".to_owned()),
            Some(_) if is_replaced() => Ok(()),
            Some(_) => Err(format!("{path} was deleted, and is back")),
        },
        Act::Append(_) => {
            let lines = String::from_utf8_lossy(live.unwrap_or_default()).into_owned();
            match lines.matches(text).count() {
                1 => Ok(()),
                0 if is_replaced() && undo_holds(world, text) => Ok(()),
                count => Err(format!("the appended line is there {count} times: {lines:?}")),
            }
        }
        Act::DeleteFolder(_) => {
            let left: Vec<_> = tree.beneath(&path).0.into_keys().collect();
            if left.is_empty() { Ok(()) } else { Err(format!("deleted, and back: {left:?}")) }
        }
        Act::Rename(_, to) => {
            let there = tree.bytes(&format!(".agents/{to}"));
            let moved = there.is_some() && there == scenario.before.bytes(&path) && live.is_none();
            if moved {
                Ok(())
            } else {
                Err(format!("{path} was renamed to {to}, and is not there"))
            }
        }
    }
}

/// Everything but what the act is about is as if nobody had acted, and the state is in order.
fn undisturbed(
    world: &World,
    scenario: &Scenario,
    act: Act,
    output: &Output,
) -> Result<(), String> {
    if !output.status.success() {
        return Err("the commit failed".to_owned());
    }
    let concerned = |path: &str| {
        let path = path.trim_start_matches(".agents/");
        let is_at = |name: &str| {
            path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match act {
            Act::Rename(from, to) => is_at(from) || is_at(to),
            Act::AddFolder(name) => is_at(name.rsplit_once('/').unwrap().0),
            _ => is_at(act.path()) || path == "theirs.tmp",
        }
    };
    let rest = |tree: &Tree| {
        let nodes = tree.0.iter().filter(|(path, _)| !concerned(path));
        Tree(nodes.map(|(path, node)| (path.clone(), node.clone())).collect())
    };
    let difference = rest(&scenario.after).difference(&rest(&world.tree()));
    if !difference.is_empty() {
        return Err(format!("more than the concerned file differs:\n{difference}"));
    }
    if history_ids(world) != ["c1"] {
        return Err(format!("the history is {:?}", history_ids(world)));
    }
    check_quiet(world)
}

/// What stands beside as `ao`'s version of the file.
fn kept(world: &World, act: Act) -> Option<Vec<u8>> {
    fs::read(world.state("conflicts/c1").join(act.path())).ok()
}

fn undo_holds(world: &World, text: &str) -> bool {
    holds(world, "undo", text)
}

fn conflicts_hold(world: &World, text: &str) -> bool {
    world.state("conflicts").exists() && holds(world, "conflicts", text)
}

fn holds(world: &World, store: &str, text: &str) -> bool {
    let store = Tree::read(&world.state(store), None);
    store.0.values().any(|node| match &node.kind {
        Kind::File(bytes) => String::from_utf8_lossy(bytes).contains(text),
        _ => false,
    })
}

/// Two acts on one file: the first one as the commit is decided, too late for any comparison, the
/// second one at any moment after it.
struct Pair {
    first: Act,
    second: Act,
    moment: usize,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "intruder {:?}, then {:?} at stop {}", self.first, self.second, self.moment)
    }
}

const OTHER: &str = "learnings/b.md";
const CHANGED: &str = "learnings/a.md";
const NEW: &str = "patterns/theirs.md";
const LINES: &str = "rpi/next-work.jsonl";
const PAIRS: [(Act, Act); 11] = [
    (Act::Replace(OTHER), Act::Replace(OTHER)),
    (Act::Replace(OTHER), Act::Edit(OTHER)),
    (Act::Replace(OTHER), Act::Delete(OTHER)),
    (Act::Delete(OTHER), Act::Replace(OTHER)),
    (Act::Replace(NEW), Act::Replace(NEW)),
    (Act::Replace(CHANGED), Act::Replace(CHANGED)),
    (Act::Edit(CHANGED), Act::Edit(CHANGED)),
    (Act::Replace(CHANGED), Act::Delete(CHANGED)),
    (Act::Delete(CHANGED), Act::Replace(CHANGED)),
    (Act::Append(LINES), Act::Append(LINES)),
    (Act::Append(LINES), Act::Replace(LINES)),
];

// proves: LOOP-07
#[test]
fn intruder_who_comes_twice_loses_nothing() {
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let course = Course::of(&arena, &scenario);
    let mut tally =
        Tally::new("intruder twice", "intruder_who_comes_twice_loses_nothing", CASES_MIN);
    let mut cases = Vec::new();
    for (first, second) in PAIRS {
        // A late carry makes calls that the undisturbed run does not have.
        let last = course.moments.last().unwrap() + LATE_CALLS;
        cases.extend((course.decided + 1..last).map(|moment| Pair { first, second, moment }));
    }
    let cases = tally.sample(cases, PAIRS_SAMPLE);
    tally.run(&cases, |pair| attack_twice(&arena, &scenario, course.decided, pair));
    tally.finish();
}

/// More stops than a carry adds.
const LATE_CALLS: usize = 120;

fn attack_twice(
    arena: &Arena,
    scenario: &Scenario,
    decided: usize,
    pair: &Pair,
) -> Result<(), String> {
    let world = arena.world(&scenario.start);
    let mut stepper = start(&world, scenario);
    stepper.nth(decided).ok_or("the command ended before it was decided")?;
    let (one, two) = (text_of(pair.first, 1), text_of(pair.second, 2));
    pair.first.perform(&world, &one).unwrap();
    let stop = stepper.nth(pair.moment - decided - 1);
    let at = stop.map_or_else(|| "its end".to_owned(), |stop| stop.describe());
    let done = pair.second.perform(&world, &two);
    let (output, _) = stepper.finish();
    let judge = || {
        undisturbed(&world, scenario, pair.first, &output)?;
        let tree = world.tree();
        let path = format!(".agents/{}", pair.first.path());
        let live = tree.bytes(&path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let text = live.clone().unwrap_or_default();
        let is_aside = |text: &str| conflicts_hold(&world, text);
        let is_kept = match (pair.second, &done) {
            // Whoever deleted it had not seen the first act's version, which may be back.
            (Act::Delete(_), Ok(())) => live.is_none() || text == one,
            (Act::Append(_), Ok(())) => {
                text.matches(&one).count() == 1 && text.matches(&two).count() == 1
            }
            // A line that was appended before may follow what replaced it.
            (_, Ok(())) => text.starts_with(&two) || is_aside(&two),
            // It found nothing to act on, so the first act is the last word.
            (_, Err(_)) if matches!(pair.first, Act::Delete(_)) => live.is_none(),
            (_, Err(_)) => text.contains(&one),
        };
        if is_kept { Ok(()) } else { Err(format!("{path} holds {live:?} (second act: {done:?})")) }
    };
    judge().map_err(|why| format!("the second act came at {at}\n{}\n{why}", brief(&output)))
}

// proves: LOOP-07
#[test]
fn intruder_who_never_stops_rolls_back() {
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let world = arena.world(&scenario.start);
    let mut stepper = start(&world, &scenario);
    let mut appended =
        String::from_utf8(scenario.before.bytes(&format!(".agents/{LINES}")).unwrap().to_vec())
            .unwrap();
    for number in 0.. {
        // Every comparison finds the file longer than the one before did. Not while it is being
        // read: that would never end.
        let Some(stop) = stepper.next() else { break };
        if stop.edge == Edge::Exit || stop.call.name() == "read" {
            continue;
        }
        let line = format!("{{\"theirs\":{number}}}\n");
        Act::Append(LINES).perform(&world, &line).unwrap();
        appended += &line;
    }
    let (output, _) = stepper.finish();
    assert_eq!(output.status.code(), Some(75), "{}", shown(&output));
    let mut expected = scenario.before.clone();
    expected.0.get_mut(&format!(".agents/{LINES}")).unwrap().kind =
        Kind::File(appended.into_bytes());
    let difference = expected.difference(&world.tree());
    assert!(difference.is_empty(), "rolled back, and not as the others left it:\n{difference}");
    assert!(history_ids(&world).is_empty());
    check_quiet(&world).unwrap();
    world.must(&RECOVER).unwrap();
    assert_eq!(expected.difference(&world.tree()), "");
    // Once they have stopped it is done after all.
    world.must(&scenario.args()).unwrap();
    assert_eq!(history_ids(&world), ["c1"]);
}
