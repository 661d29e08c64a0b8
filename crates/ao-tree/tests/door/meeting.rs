//! Other people meet a commit: at each of its calls, after a crash, or while recovery runs.
//!
//! Whatever the moment, nothing of theirs may be lost. Where both changed one file theirs stays and
//! what `ao` had is in `conflicts/`; lines that they appended stand behind ours.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use ao_tree::{Action, Door, UndoScope};

use crate::check::{
    check_generation, check_links, check_state, check_verified, differences, held_files,
    history_ids,
};
use crate::fates::Dice;
use crate::fault::{Fault, FaultFs};
use crate::image::Ino;
use crate::journal::{Fate, Journal};
use crate::person::{Act, Deed, Done, People, PeopledFs, Visit};
use crate::scenario::{Doing, Files, STATE, Step, layout, undo};
use crate::sim::{SimFs, Tape, Words};
use crate::subject::Subject;
use crate::table::Report;
use crate::tap::Call;

/// The moments of an undisturbed run that decide what may be asked for.
struct Moments {
    calls: usize,
    /// From this call on the commit knows what a touched file was; before it, the edit is simply
    /// made against what the person wrote.
    known: BTreeMap<String, usize>,
}

/// All meetings of one commit.
pub(crate) struct Meetings<'a> {
    step: &'a Step,
    start: &'a SimFs,
    moments: Moments,
    edits: BTreeMap<String, Option<Vec<u8>>>,
    /// By how the tree looks and what may be asked of it.
    checked: HashMap<(u64, u64), Result<(), String>>,
    pub(crate) report: Report,
}

/// What people did, and whether the first of them came before the commit had looked.
struct Claim<'a> {
    done: &'a [Done],
    is_early: bool,
}

impl<'a> Meetings<'a> {
    pub(crate) fn new(step: &'a Step, start: &'a SimFs) -> Self {
        let (moments, edits) = (moments(step, start), edits_of(step));
        let (checked, report) = (HashMap::new(), Report::default());
        Self { step, start, moments, edits, checked, report }
    }

    /// One act at each so-manieth call `(first, stride)`, without and with a crash after it.
    pub(crate) fn in_run(&mut self, acts: &[Act], share: (usize, usize), crash_stride: usize) {
        for (turn, act) in acts.iter().enumerate() {
            // Different acts take different calls when not all are taken.
            let first = share.0 + turn * 2;
            let until = if is_by_handle(act.deed) { share.1 } else { 0 };
            for at in (first % share.1..self.moments.calls + until).step_by(share.1) {
                let visit = Visit { at, act: *act, number: 1 };
                self.visit(&[visit], Some(crash_stride));
            }
        }
    }

    /// Two acts on one path at calls that the dice choose. No crash on top of that: two people and
    /// a power loss inside one operation are more than is promised.
    pub(crate) fn in_run_twice(
        &mut self,
        pairs: &[(Deed, Deed, &'static str)],
        rolls: usize,
        seed: u64,
    ) {
        let mut dice = Dice::new(7 + seed);
        let calls: Vec<usize> = (0..self.moments.calls).collect();
        for _ in 0..rolls {
            let (first, second, path) = *dice.pick(pairs);
            let (one, other) = (*dice.pick(&calls), *dice.pick(&calls));
            let (early, late) = (one.min(other), one.max(other));
            let visit = |at, deed, number| Visit { at, act: Act { deed, path }, number };
            self.visit(&[visit(early, first, 1), visit(late, second, 2)], None);
        }
    }

    /// Runs the commit with these visits, then crashes it at each so-manieth operation after them.
    fn visit(&mut self, visits: &[Visit], crash_stride: Option<usize>) {
        let fs = self.start.branch();
        let tap = PeopledFs::new(fs.clone(), People::new(visits, &fs));
        fs.record_with(Words::Silent);
        let ran = self.step.run(tap.clone());
        tap.policy().come_late(&fs);
        let tape = fs.take_tape();
        let done = tap.policy().done();
        let Some(last) = done.last() else { return };
        let known = self.moments.known.get(visits[0].act.path);
        let claim =
            Claim { done: &done, is_early: known.is_some_and(|known| visits[0].at <= *known) };
        let result = self.check_run(&fs, &claim, ran);
        let told = result.map_err(|why| self.tell(visits, &why, ""));
        self.report.case(told);
        let Some(crash_stride) = crash_stride else { return };
        for (at, point) in
            tape.points.iter().enumerate().skip(last.at_step + 1).step_by(crash_stride)
        {
            for (how, image) in plain_stops(point) {
                let told = self.recover(&image, &claim).map_err(|why| {
                    self.tell(visits, &why, &format!("then {how} before operation {at}"))
                });
                self.report.case(told);
            }
        }
    }

    /// One act between a crash at each so-manieth operation and the recovery from it.
    pub(crate) fn after_crash(&mut self, acts: &[Act], (first, stride): (usize, usize)) {
        let tape = self.undisturbed();
        for (at, point) in tape.points.iter().enumerate().skip(first).step_by(stride) {
            for act in acts {
                for (how, image) in plain_stops(point) {
                    let visit = Visit { at: 0, act: *act, number: 1 };
                    let Some(done) = visit.perform(&image, None) else { continue };
                    let claim = Claim { done: &[done], is_early: false };
                    let told = self.recover(&image, &claim).map_err(|why| {
                        let trace = tape.steps[..at].join("\n  ");
                        format!("{act}: {why}\nafter {how} before operation {at}:\n  {trace}")
                    });
                    self.report.case(told);
                }
            }
        }
    }

    /// One act at each call of the recovery from a kill at each so-manieth operation.
    pub(crate) fn in_recovery(&mut self, acts: &[Act], (first, stride): (usize, usize)) {
        let tape = self.undisturbed();
        for (at, point) in tape.points.iter().enumerate().skip(first).step_by(stride) {
            for act in acts.iter().filter(|act| !is_by_handle(act.deed)) {
                for call in 0.. {
                    let visit = Visit { at: call, act: *act, number: 1 };
                    let fs = SimFs::on(point.clone());
                    let tap = PeopledFs::new(fs.clone(), People::new(&[visit], &fs));
                    let recovered = self.step.recover(tap.clone());
                    let done = tap.policy().done();
                    if done.is_empty() {
                        break;
                    }
                    let claim = Claim { done: &done, is_early: false };
                    let result = recovered.and_then(|()| self.check(&fs, &claim));
                    self.report.case(result.map_err(|why| {
                        let trace = tape.steps[..at].join("\n  ");
                        format!("{act}: {why}\nat call {call} of the recovery from a kill after\n  {trace}")
                    }));
                }
            }
        }
    }

    fn undisturbed(&self) -> Tape {
        let fs = self.start.branch();
        fs.record();
        self.step.run(fs.clone()).expect("an undisturbed run goes through");
        fs.take_tape()
    }

    fn check_run(
        &mut self,
        fs: &SimFs,
        claim: &Claim,
        ran: Result<(), String>,
    ) -> Result<(), String> {
        match ran {
            // What is written into a file that came out is found by the next start.
            Ok(()) if claim.last().visit.holds_open() => self.recover(&fs.branch(), claim),
            Ok(()) => self.check(fs, claim),
            // Whoever takes a file away before the commit looks at it leaves an edit that cannot
            // be made.
            Err(why) if claim.is_early && why.starts_with("refused") => Ok(()),
            Err(why) => Err(format!("the run failed: {why}")),
        }
    }

    fn recover(&mut self, image: &SimFs, claim: &Claim) -> Result<(), String> {
        self.step.recover(image.clone()).map_err(|why| format!("recovery failed: {why}"))?;
        self.check(image, claim)
    }

    fn check(&mut self, fs: &SimFs, claim: &Claim) -> Result<(), String> {
        let key = (fs.appearance(), claim.key());
        if let Some(result) = self.checked.get(&key) {
            return result.clone();
        }
        let result = self.check_afresh(fs, claim);
        self.checked.insert(key, result.clone());
        result
    }

    /// Whether everybody who did something to this tree has what is theirs.
    pub(crate) fn judge(&self, fs: &SimFs, done: &[Done]) -> Result<(), String> {
        self.check_afresh(fs, &Claim { done, is_early: false })
    }

    fn check_afresh(&self, fs: &SimFs, claim: &Claim) -> Result<(), String> {
        let tree = fs.tree("");
        check_state(&tree)?;
        check_generation(fs)?;
        check_links(&tree)?;
        check_verified(fs)?;
        let is_committed = history_ids(fs).contains(&self.step.id);
        let scene = &self.step.scene;
        let rest = if is_committed { scene.after() } else { scene.before() };
        check_rest(fs, claim.path(), rest)?;
        if claim.is_early {
            return claim.unseen().try_for_each(|done| kept_somewhere(fs, done));
        }
        self.check_path(fs, claim, rest, is_committed)?;
        if !is_committed {
            return Ok(());
        }
        // Whoever found the file deleted wrote a new one; the old one is in the archive.
        let is_kept = !self.had_seen_ours(&claim.done[0]) && fs.bytes(claim.path()).is_some();
        scene.check_archive(&tree, is_kept.then(|| claim.path()))?;
        let last = claim.last();
        if last.visit.holds_open()
            && fs.bytes(claim.path()) == rest.get(claim.path()).map(|file| file.0.clone())
        {
            // It came late, and is kept beside the tree.
            return kept_somewhere(fs, last);
        }
        self.check_undo(fs, claim)
    }

    fn check_path(
        &self,
        fs: &SimFs,
        claim: &Claim,
        rest: &Files,
        is_committed: bool,
    ) -> Result<(), String> {
        let path = claim.path();
        let (live, last) = (fs.bytes(path), claim.last());
        // Only lines can be put together. Whatever else comes late is kept.
        let is_late = last.visit.holds_open() && kept_somewhere(fs, last).is_ok();
        if last.visit.appends() && (path.ends_with(".jsonl") || !is_late) {
            let base = rest.get(path).map(|(bytes, _)| bytes.to_vec()).unwrap_or_default();
            return claim.has_all_lines(path, &base, &live.unwrap_or_default());
        }
        let is_deleted = last.visit.act.deed == Deed::Delete;
        let wanted = (!is_deleted).then(|| last.visit.text());
        // Whoever deletes a file takes away what they saw, and nothing that they did not. When it
        // was replaced between two looks of the commit, it may come back: that is no loss.
        let earlier = claim.done.iter().rev().nth(1).map(|earlier| earlier.visit.text());
        let is_back = is_deleted && earlier.is_some() && live.as_deref() == earlier.as_deref();
        // Whoever writes into our file while it is being put aside finds their text put aside.
        let is_aside = last.visit.act.deed == Deed::EditInPlace && claim.done.len() > 1 && {
            let kept = format!("{STATE}/conflicts/{}/{path}", self.step.id);
            fs.bytes(&kept).as_deref() == wanted.as_deref()
        };
        if !is_back && !is_aside && !is_late {
            is_at(path, live.as_deref(), wanted.as_deref())?;
        }
        claim.unseen().try_for_each(|done| kept_somewhere(fs, done))?;
        if is_late {
            return Ok(());
        }
        match self.edits.get(path).filter(|_| is_committed) {
            Some(ours) => self.check_conflict(fs, claim, ours.as_deref()),
            None => Ok(()),
        }
    }

    fn had_seen_ours(&self, done: &Done) -> bool {
        let ours = self.edits.get(done.visit.act.path);
        ours.is_some_and(|ours| done.saw.as_deref() == ours.as_deref())
    }

    /// Where both changed one file, and they had not seen ours: that is kept aside and listed.
    fn check_conflict(&self, fs: &SimFs, claim: &Claim, ours: Option<&[u8]>) -> Result<(), String> {
        if claim.done.iter().any(|done| self.had_seen_ours(done)) {
            return Ok(());
        }
        let path = claim.path();
        let kept = format!("{STATE}/conflicts/{}/{path}", self.step.id);
        is_at(&kept, fs.bytes(&kept).as_deref(), ours)?;
        self.step.scene.check_conflict_list(fs, path)
    }

    /// Taking the commit back takes nothing of theirs.
    fn check_undo(&self, fs: &SimFs, claim: &Claim) -> Result<(), String> {
        let undone = fs.branch();
        let door = Door::new(undone.clone(), layout()).map_err(|error| error.to_string())?;
        undo(&door, Some(&self.step.id), UndoScope::FromHereOn, "undo-theirs")
            .map_err(|error| format!("cannot be undone: {error:?}"))?;
        check_rest(&undone, claim.path(), self.step.scene.before())
            .map_err(|why| format!("after undo: {why}"))?;
        let (live, last) = (undone.bytes(claim.path()), claim.last());
        let is_there = match last.visit.act.deed {
            Deed::Delete => live == fs.bytes(claim.path()),
            _ if last.visit.appends() => {
                let live = live.unwrap_or_default();
                claim.done.iter().all(|done| contains(&live, &done.visit.line()))
            }
            _ => live == fs.bytes(claim.path()),
        };
        if is_there { Ok(()) } else { Err("the undo took what was theirs".to_owned()) }
    }

    /// Does it once more and writes down what happens.
    fn tell(&self, visits: &[Visit], why: &str, then: &str) -> String {
        let fs = self.start.branch();
        let tap = PeopledFs::new(fs.clone(), People::new(visits, &fs));
        fs.record();
        let ran = self.step.run(tap.clone());
        let steps = fs.take_tape().steps;
        let done = tap.policy().done();
        let mut told = format!("{}: {why}\n", names(visits));
        for (number, step) in steps.iter().enumerate() {
            for done in done.iter().filter(|done| done.at_step == number) {
                let _ = writeln!(told, "  -- person {}: {}", done.visit.number, done.visit.act);
            }
            let _ = writeln!(told, "{number:>4} {step}");
        }
        format!("{told}the run said {ran:?} {then}\n")
    }
}

fn names(visits: &[Visit]) -> String {
    let names: Vec<String> = visits.iter().map(|visit| visit.act.to_string()).collect();
    names.join(", then ")
}

fn is_by_handle(deed: Deed) -> bool {
    matches!(deed, Deed::EditThroughHandle | Deed::AppendThroughHandle | Deed::PutFromWithin)
}

impl Claim<'_> {
    fn path(&self) -> &'static str {
        self.last().visit.act.path
    }

    fn last(&self) -> &Done {
        self.done.last().expect("a claim is made by somebody who did something")
    }

    /// Those whose writing the next person did not see before they wrote, and the last one. Who saw
    /// it has decided.
    fn unseen(&self) -> impl Iterator<Item = &Done> {
        let next = self.done.iter().skip(1).map(Some).chain([None]);
        let pairs = self.done.iter().zip(next);
        let unseen = pairs.filter(|(done, next)| {
            next.is_none_or(|next| next.saw.as_deref() != Some(done.visit.text().as_slice()))
        });
        unseen.map(|(done, _)| done)
    }

    /// The base, and behind it everybody's line once, in whatever order.
    fn has_all_lines(&self, path: &str, base: &[u8], live: &[u8]) -> Result<(), String> {
        let lines = self.done.iter().map(|done| done.visit.line());
        let all = lines.clone().all(|line| contains(live, &line));
        let length = base.len() + lines.map(|line| line.len()).sum::<usize>();
        if all && live.starts_with(base) && live.len() == length {
            return Ok(());
        }
        let (live, base) = (String::from_utf8_lossy(live), String::from_utf8_lossy(base));
        Err(format!("{path} is {live:?} instead of {base:?} and everybody's lines"))
    }

    /// Equal for claims that ask for the same.
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.is_early.hash(&mut hasher);
        for done in self.done {
            (done.visit.act.to_string(), done.visit.number, &done.saw).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// All files but theirs are wholly on one side.
fn check_rest(fs: &SimFs, theirs: &str, wanted: &Files) -> Result<(), String> {
    let without = |files: &Files| {
        let mut files = files.clone();
        files.remove(theirs);
        files
    };
    let differ = differences(&without(&held_files(fs)), &without(wanted));
    if differ.is_empty() { Ok(()) } else { Err(format!("others: {}", differ.join("; "))) }
}

fn kept_somewhere(fs: &SimFs, done: &Done) -> Result<(), String> {
    let visit = done.visit;
    let is_theirs = |bytes: &[u8]| {
        if visit.appends() { contains(bytes, &visit.line()) } else { *bytes == visit.text() }
    };
    let is_kept = fs.tree("").values().any(|seen| is_theirs(&seen.bytes));
    if is_kept || visit.act.deed == Deed::Delete {
        return Ok(());
    }
    Err(format!("what person {} wrote is nowhere", visit.number))
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

fn plain_stops(point: &Journal) -> [(&'static str, SimFs); 3] {
    let pending = point.open_fates().len();
    [
        ("a kill", SimFs::on(point.clone())),
        ("a power loss that keeps all", SimFs::on(point.crash(&vec![Fate::Kept; pending]))),
        ("a power loss that keeps nothing", SimFs::on(point.crash(&vec![Fate::Lost; pending]))),
    ]
}

fn moments(step: &Step, start: &SimFs) -> Moments {
    let tap = FaultFs::new(start.branch(), Fault::none());
    step.run(tap.clone()).expect("an undisturbed run goes through");
    let calls = tap.policy().calls();
    // A file that is new is known to be absent once the plan is made, before anything is written.
    let planned = calls.iter().position(|call| !call.is_look()).unwrap_or(0);
    let known = edits_of(step).into_keys().map(|path| {
        let name = path.rsplit('/').next().unwrap_or(&path);
        let is_read = |call: &Call<Ino>| matches!(call, Call::Read(_, read) if *read == *name);
        let first = calls.iter().position(is_read).unwrap_or(planned);
        (path, first)
    });
    let known = known.collect();
    Moments { calls: calls.len(), known }
}

/// What a step writes to each path; `None` where it deletes.
fn edits_of(step: &Step) -> BTreeMap<String, Option<Vec<u8>>> {
    let Doing::Apply(edits) = &step.doing else { return BTreeMap::new() };
    let content = |action: &Action| match action {
        Action::Write(bytes) => Some(bytes.clone()),
        Action::Delete => None,
    };
    edits.iter().map(|edit| (edit.path.clone(), content(&edit.action))).collect()
}
