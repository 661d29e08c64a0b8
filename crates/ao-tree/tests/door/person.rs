//! Somebody else works in the same tree: at operation `k` of a commit they add, edit, replace,
//! delete or append, to files that the commit touches and to files that it does not.
//!
//! Whatever the moment, nothing of theirs may be lost. Where both changed one file theirs stays and
//! what `ao` had is in `conflicts/`; lines that they appended stand behind ours.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use ao_tree::{Action, Door, UndoScope};

use crate::check::{
    check_links, check_state, check_verified, differences, held_files, history_ids,
};
use crate::image::Ino;
use crate::journal::{Fate, Journal};
use crate::scenario::{Doing, Files, STATE, Step, layout, undo};
use crate::sim::{SimFs, Tape};
use crate::subject::Subject;
use crate::table::Report;
use crate::tap::{Call, Policy, Tap, Verdict};

const THEIRS: &[u8] = b"what somebody else wrote\n";
const LINE: &[u8] = b"{\"id\":\"theirs\"}\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Writes a new file, or replaces the one there by a rename as editors do.
    Put,
    /// Writes into the file that is there.
    EditInPlace,
    /// Adds a line to the file that is there.
    Append,
    Delete,
    /// Writes into the file that was there when the commit began, through a handle kept open.
    EditThroughHandle,
    AppendThroughHandle,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Act {
    pub(crate) deed: Deed,
    pub(crate) path: &'static str,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.deed, self.path)
    }
}

/// What a person found and left at their path.
#[derive(Debug, Clone)]
struct Done {
    saw: Option<Rc<[u8]>>,
    /// Before this operation of the tape.
    at_step: usize,
}

impl Act {
    /// `None` when there was nothing to do it to.
    fn perform(self, fs: &SimFs, handle: Option<Ino>) -> Option<Done> {
        let saw = fs.bytes(self.path);
        let added = |bytes: &[u8]| [bytes, LINE].concat();
        match (self.deed, &saw, handle) {
            (Deed::Put, ..) => fs.put(self.path, THEIRS),
            (Deed::EditInPlace, Some(_), _) => fs.edit_in_place(self.path, THEIRS),
            (Deed::Append, Some(bytes), _) => fs.edit_in_place(self.path, &added(bytes)),
            (Deed::Delete, Some(_), _) => fs.delete(self.path),
            (Deed::EditThroughHandle, _, Some(ino)) => fs.edit_inode(ino, |_| THEIRS.to_vec()),
            (Deed::AppendThroughHandle, _, Some(ino)) => fs.edit_inode(ino, added),
            _ => return None,
        }
        Some(Done { saw, at_step: fs.steps_on_tape() })
    }

    fn is_append(self) -> bool {
        matches!(self.deed, Deed::Append | Deed::AppendThroughHandle)
    }
}

pub(crate) const ACTS: &[Act] = &[
    Act { deed: Deed::Put, path: "learnings/person.md" },
    Act { deed: Deed::Put, path: "learnings/person/inner.md" },
    Act { deed: Deed::Put, path: "learnings/keep.md" },
    Act { deed: Deed::Put, path: "learnings/a.md" },
    Act { deed: Deed::Put, path: "learnings/b.md" },
    Act { deed: Deed::Put, path: "knowledge/k.md" },
    Act { deed: Deed::Put, path: "knowledge/person.md" },
    Act { deed: Deed::Put, path: "findings/f2.md" },
    Act { deed: Deed::EditInPlace, path: "learnings/keep.md" },
    Act { deed: Deed::EditInPlace, path: "learnings/a.md" },
    Act { deed: Deed::EditInPlace, path: "learnings/b.md" },
    Act { deed: Deed::Append, path: "learnings/log.jsonl" },
    Act { deed: Deed::Append, path: "rpi/next-work.jsonl" },
    Act { deed: Deed::Delete, path: "learnings/keep.md" },
    Act { deed: Deed::Delete, path: "learnings/sub/deep.md" },
    Act { deed: Deed::Delete, path: "learnings/a.md" },
    Act { deed: Deed::Delete, path: "rpi/next-work.jsonl" },
    Act { deed: Deed::EditThroughHandle, path: "learnings/keep.md" },
    Act { deed: Deed::EditThroughHandle, path: "learnings/a.md" },
    Act { deed: Deed::AppendThroughHandle, path: "rpi/next-work.jsonl" },
];

/// Does its act at call number `at`.
#[derive(Debug)]
struct Person {
    at: usize,
    act: Act,
    handle: Option<Ino>,
    calls: Cell<usize>,
    done: RefCell<Option<Done>>,
}

impl Policy<SimFs> for Person {
    fn before(&self, fs: &SimFs, _call: &Call<Ino>) -> Verdict {
        if self.calls.replace(self.calls.get() + 1) == self.at {
            *self.done.borrow_mut() = self.act.perform(fs, self.handle);
        }
        Verdict::Go
    }
}

/// The moments of an undisturbed run that decide what may be asked for.
struct Moments {
    calls: usize,
    /// From this call on the commit knows what a touched file was; before it, the edit is simply
    /// made against what the person wrote.
    known: BTreeMap<String, usize>,
    /// Up to this call those who hold a file open are waited for.
    pause: usize,
}

/// Every act at every call of one commit, without and with a crash after it.
pub(crate) fn meetings(
    step: &Step,
    start: &SimFs,
    acts: &[Act],
    crash_stride: usize,
    share: (usize, usize),
) -> Report {
    let mut report = Report::default();
    let moments = moments(step, start);
    for act in acts {
        for at in (0..moments.calls).skip(share.0).step_by(share.1) {
            meet(step, start, *act, at, &moments, crash_stride, &mut report);
        }
    }
    report
}

fn meet(
    step: &Step,
    start: &SimFs,
    act: Act,
    at: usize,
    moments: &Moments,
    crash_stride: usize,
    report: &mut Report,
) {
    let fs = start.branch();
    let person = Person {
        at,
        act,
        handle: start.inode(act.path),
        calls: Cell::new(0),
        done: RefCell::new(None),
    };
    let tap = Tap::new(fs.clone(), person);
    fs.record();
    let ran = step.run(tap.clone());
    let tape = fs.take_tape();
    let Some(done) = tap.policy().done.take() else { return };
    let is_late = matches!(act.deed, Deed::EditThroughHandle | Deed::AppendThroughHandle)
        && at > moments.pause;
    if is_late {
        return;
    }
    let is_early = moments.known.get(act.path).is_some_and(|known| at <= *known);
    let meeting = Meeting { step, act, done: &done, is_early };
    let story = |why: &str, then: &str| {
        let steps = tape.steps.iter().enumerate().map(|(number, text)| {
            let who = if number == done.at_step { "  -- the act --\n" } else { "" };
            format!("{who}  {text}\n")
        });
        format!("{act}: {why}\nat call {at}{then}\n{}", steps.collect::<String>())
    };
    let told = meeting.check_run(&fs, ran).map_err(|why| story(&why, ""));
    report.case(told);
    crash_later(&meeting, &tape, crash_stride, report, &story);
}

/// A crash at some later operation of the same run, and recovery.
fn crash_later(
    meeting: &Meeting,
    tape: &Tape,
    stride: usize,
    report: &mut Report,
    story: &dyn Fn(&str, &str) -> String,
) {
    let points = tape.points.iter().enumerate().skip(meeting.done.at_step + 1);
    for (at, point) in points.step_by(stride) {
        for (how, image) in plain_stops(point) {
            let told = meeting.recover(&image);
            let then = format!(", then {how} before operation {at}, then recovery");
            report.case(told.map_err(|why| story(&why, &then)));
        }
    }
}

fn plain_stops(point: &Journal) -> [(&'static str, SimFs); 3] {
    let pending = point.open_fates().len();
    [
        ("a kill", SimFs::on(point.clone())),
        ("a power loss that keeps all", SimFs::on(point.crash(&vec![Fate::Kept; pending]))),
        ("a power loss that keeps nothing", SimFs::on(point.crash(&vec![Fate::Lost; pending]))),
    ]
}

/// Every act between a crash at each operation and the recovery from it.
pub(crate) fn meetings_after_crash(
    step: &Step,
    start: &SimFs,
    acts: &[Act],
    share: (usize, usize),
) -> Report {
    let mut report = Report::default();
    let fs = start.branch();
    fs.record();
    step.run(fs.clone()).expect("an undisturbed run goes through");
    let tape = fs.take_tape();
    for (at, point) in tape.points.iter().enumerate().skip(share.0).step_by(share.1) {
        for act in acts {
            for (how, image) in plain_stops(point) {
                let Some(done) = act.perform(&image, None) else { continue };
                let meeting = Meeting { step, act: *act, done: &done, is_early: false };
                report.case(meeting.recover(&image).map_err(|why| {
                    let trace = tape.steps[..at].join("\n  ");
                    format!("{act}: {why}\nafter {how} before operation {at}:\n  {trace}")
                }));
            }
        }
    }
    report
}

fn moments(step: &Step, start: &SimFs) -> Moments {
    let fs = start.branch();
    let tap = Tap::new(fs.clone(), crate::fault::Fault::none());
    step.run(tap.clone()).expect("an undisturbed run goes through");
    let calls = tap.policy().calls();
    let mut known = BTreeMap::new();
    for path in edits_of(step).keys() {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_look = |call: &Call<Ino>| match call {
            Call::Read(_, read) => *read == *name,
            _ => false,
        };
        // A file that is new is known to be absent by the first listing of its folder; the last
        // look of the plan is a safe moment for it.
        let first = calls.iter().position(is_look);
        let make = calls.iter().position(|call| !call.is_look());
        known.insert(path.clone(), first.or(make).unwrap_or(0));
    }
    let pause = calls.iter().position(|call| matches!(call, Call::Pause)).unwrap_or(0);
    Moments { calls: calls.len(), known, pause }
}

fn edits_of(step: &Step) -> BTreeMap<String, Option<Vec<u8>>> {
    let Doing::Apply(edits) = &step.doing else { return BTreeMap::new() };
    let content = |action: &Action| match action {
        Action::Write(bytes) => Some(bytes.clone()),
        Action::Delete => None,
    };
    edits.iter().map(|edit| (edit.path.clone(), content(&edit.action))).collect()
}

/// One act in one run, and what it entitles the person to.
struct Meeting<'a> {
    step: &'a Step,
    act: Act,
    done: &'a Done,
    is_early: bool,
}

impl Meeting<'_> {
    fn check_run(&self, fs: &SimFs, ran: Result<(), String>) -> Result<(), String> {
        match ran {
            Ok(()) => self.check(fs),
            // Whoever takes a file away before the commit looks at it leaves an edit that cannot
            // be made.
            Err(why) if self.is_early && why.starts_with("refused") => Ok(()),
            Err(why) => Err(format!("the run failed: {why}")),
        }
    }

    fn recover(&self, image: &SimFs) -> Result<(), String> {
        self.step.recover(image.clone()).map_err(|why| format!("recovery failed: {why}"))?;
        self.check(image)
    }

    fn check(&self, fs: &SimFs) -> Result<(), String> {
        let tree = fs.tree("");
        check_state(&tree)?;
        check_links(&tree)?;
        let is_committed = history_ids(fs).contains(&self.step.id);
        let scene = &self.step.scene;
        let rest = if is_committed { scene.after() } else { scene.before() };
        self.check_rest(fs, rest)?;
        check_verified(fs)?;
        if self.is_early {
            return self.check_kept_somewhere(fs);
        }
        self.check_path(fs, rest, is_committed)?;
        if is_committed { self.check_undo(fs) } else { Ok(()) }
    }

    /// All files but theirs are wholly on one side.
    fn check_rest(&self, fs: &SimFs, wanted: &Files) -> Result<(), String> {
        let without = |files: &Files| {
            let mut files = files.clone();
            files.remove(self.act.path);
            files
        };
        let differ = differences(&without(&held_files(fs)), &without(wanted));
        if differ.is_empty() { Ok(()) } else { Err(format!("others: {}", differ.join("; "))) }
    }

    fn check_kept_somewhere(&self, fs: &SimFs) -> Result<(), String> {
        let is_theirs = |bytes: &[u8]| match self.act.is_append() {
            true => contains(bytes, LINE),
            false => bytes == THEIRS,
        };
        let is_kept = fs.tree("").values().any(|seen| is_theirs(&seen.bytes));
        if is_kept || self.act.deed == Deed::Delete {
            return Ok(());
        }
        Err("what they wrote is nowhere".to_owned())
    }

    fn check_path(&self, fs: &SimFs, rest: &Files, is_committed: bool) -> Result<(), String> {
        let path = self.act.path;
        let live = fs.bytes(path);
        let edits = edits_of(self.step);
        let ours = edits.get(path).filter(|_| is_committed);
        if self.act.is_append() {
            let base = rest.get(path).map(|(bytes, _)| bytes.to_vec()).unwrap_or_default();
            let wanted = [base.as_slice(), LINE].concat();
            return is_at(path, live.as_deref(), Some(&wanted));
        }
        let wanted = (self.act.deed != Deed::Delete).then_some(THEIRS);
        is_at(path, live.as_deref(), wanted)?;
        let Some(ours) = ours else { return Ok(()) };
        // Who saw ours before writing has decided; there is nothing to keep aside.
        let had_seen_ours = self.done.saw.as_deref() == ours.as_deref();
        match ours {
            Some(ours) if !had_seen_ours => {
                let kept = format!("{STATE}/conflicts/{}/{path}", self.step.id);
                is_at(&kept, fs.bytes(&kept).as_deref(), Some(ours))
            }
            _ => Ok(()),
        }
    }

    /// Taking the commit back takes nothing of theirs.
    fn check_undo(&self, fs: &SimFs) -> Result<(), String> {
        let undone = fs.branch();
        let door = Door::new(undone.clone(), layout()).map_err(|error| error.to_string())?;
        undo(&door, Some(&self.step.id), UndoScope::FromHereOn, "undo-theirs")
            .map_err(|error| format!("cannot be undone: {error:?}"))?;
        self.check_rest(&undone, self.step.scene.before())
            .map_err(|why| format!("after undo: {why}"))?;
        let live = undone.bytes(self.act.path);
        let is_there = match self.act.deed {
            Deed::Delete => live.is_none(),
            _ if self.act.is_append() => live.is_some_and(|bytes| contains(&bytes, LINE)),
            _ => live.as_deref() == Some(THEIRS),
        };
        if is_there { Ok(()) } else { Err("the undo took what was theirs".to_owned()) }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn is_at(path: &str, live: Option<&[u8]>, wanted: Option<&[u8]>) -> Result<(), String> {
    if live == wanted {
        return Ok(());
    }
    let show =
        |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Err(format!("{path} is {:?} instead of {:?}", show(live), show(wanted)))
}
