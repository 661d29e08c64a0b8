//! Edits that belong together, as a merge does: one file takes over what another one said, and that
//! one goes. Whatever others do meanwhile, what both said is never gone from the tree.

use ao_tree::{Door, Edit, Seen};

use crate::check::{check_generation, check_links, check_state, check_verified};
use crate::fault::{Fault, FaultFs};
use crate::journal::{Fate, Journal};
use crate::person::{Act, Deed, Done, People, PeopledFs, Visit};
use crate::scenario::{Step, delete, layout, one_commit_of, request, tree, write};
use crate::sim::{SimFs, Words};
use crate::subject::Subject;
use crate::sweep::fan_out;
use crate::table::{Report, is_full_sweep};

const SURVIVOR: &str = "learnings/a.md";
const LOSER: &str = "learnings/b.md";
const SURVIVOR_WAS: &str = "learning a\n";
const LOSER_WAS: &str = "learning b\n";
const MERGED: &str = "learning a and learning b\n";
const CASES_MIN: usize = 1_000;

const ACTS: [Act; 8] = [
    Act { deed: Deed::Put, path: SURVIVOR },
    Act { deed: Deed::EditInPlace, path: SURVIVOR },
    Act { deed: Deed::Delete, path: SURVIVOR },
    Act { deed: Deed::Put, path: LOSER },
    Act { deed: Deed::EditInPlace, path: LOSER },
    Act { deed: Deed::Delete, path: LOSER },
    Act { deed: Deed::Put, path: "learnings/keep.md" },
    Act { deed: Deed::Put, path: "patterns/p.md" },
];

fn merge() -> Vec<Edit> {
    let together = |edit: Edit, was: &str| Edit {
        group: Some("merge".to_owned()),
        seen: Some(Seen::bytes(was.as_bytes())),
        ..edit
    };
    vec![
        together(write(SURVIVOR, MERGED), SURVIVOR_WAS),
        together(delete(LOSER), LOSER_WAS),
        write("patterns/p.md", "a pattern that belongs to nothing\n"),
    ]
}

// proves: LOOP-07
#[test]
fn what_belongs_together_stays_together() {
    let stride = if is_full_sweep() { 1 } else { 3 };
    let reports = fan_out(|(first, workers)| {
        let mut report = Report::default();
        let (step, start) = one_commit_of(merge());
        let calls = calls_of(&step, &start);
        for at in (first..calls).step_by(workers) {
            for act in ACTS {
                visit(&step, &start, Visit { at, act, number: 1 }, stride, &mut report);
            }
        }
        report
    });
    let mut sum = Report::default();
    for report in reports {
        sum.add(report);
    }
    sum.conclude("together", CASES_MIN);
}

fn calls_of(step: &Step, start: &SimFs) -> usize {
    let tap = FaultFs::new(start.branch(), Fault::none());
    step.run(tap.clone()).expect("an undisturbed run goes through");
    tap.policy().calls().len()
}

/// One person at one call; then the same with a crash at each so-manieth operation after it.
fn visit(step: &Step, start: &SimFs, visit: Visit, stride: usize, report: &mut Report) {
    let fs = start.branch();
    let tap = PeopledFs::new(fs.clone(), People::new(&[visit], &fs));
    fs.record_with(Words::Silent);
    // What cannot be made is refused, and that is an answer.
    let _ = step.run(tap.clone());
    let tape = fs.take_tape();
    let done = tap.policy().done();
    let Some(done) = done.last() else { return };
    let tell =
        |why: String, then: &str| format!("{}: {why}\nat call {} {then}", visit.act, visit.at);
    report.case(check(&fs, done).map_err(|why| tell(why, "")));
    for (at, point) in tape.points.iter().enumerate().skip(done.at_step + 1).step_by(stride) {
        for image in stops(point) {
            let recovered = step.recover(image.clone()).and_then(|()| check(&image, done));
            let then = format!("then a stop before operation {at}");
            report.case(recovered.map_err(|why| tell(why, &then)));
        }
    }
}

fn stops(point: &Journal) -> [SimFs; 2] {
    let pending = point.open_fates().len();
    [SimFs::on(point.clone()), SimFs::on(point.crash(&vec![Fate::Lost; pending]))]
}

fn check(fs: &SimFs, done: &Done) -> Result<(), String> {
    let seen = fs.tree("");
    check_state(&seen)?;
    check_generation(fs)?;
    check_links(&seen)?;
    check_verified(fs)?;
    let text =
        |path: &str| fs.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (survivor, loser) = (text(SURVIVOR), text(LOSER));
    let theirs = String::from_utf8_lossy(&done.visit.text()).into_owned();
    let (act, saw) = (done.visit.act, done.saw.as_deref());
    let is_theirs_gone = act.deed == Deed::Delete;
    let fits = |path: &str, was: &str, now: Option<&str>| {
        if act.path != path {
            return now == Some(was);
        }
        if is_theirs_gone { now.is_none() } else { now == Some(theirs.as_str()) }
    };
    let is_as_it_was = fits(SURVIVOR, SURVIVOR_WAS, survivor.as_deref())
        && fits(LOSER, LOSER_WAS, loser.as_deref());
    // Whoever saw the merged text has decided; so has who deleted, or wrote anew, what went.
    let is_merged = match act.path {
        SURVIVOR => saw == Some(MERGED.as_bytes()) && loser.is_none(),
        LOSER => {
            let is_loser_right = if saw.is_none() && !is_theirs_gone {
                loser.as_deref() == Some(theirs.as_str())
            } else {
                is_theirs_gone && loser.is_none()
            };
            survivor.as_deref() == Some(MERGED) && is_loser_right
        }
        _ => survivor.as_deref() == Some(MERGED) && loser.is_none(),
    };
    if is_as_it_was || is_merged {
        return Ok(());
    }
    Err(format!("the survivor is {survivor:?}, the loser {loser:?}"))
}

/// A group is refused as a whole, and the rest is made.
#[test]
fn a_refused_edit_takes_its_group_along() {
    let fs = tree();
    fs.put(LOSER, b"edited after it was read\n");
    let door = Door::new(fs.clone(), layout()).unwrap();
    let outcome = door.apply(request("g1", merge())).unwrap();
    assert_eq!(outcome.conflicts.len(), 1);
    assert_eq!(outcome.refused.len(), 1);
    assert_eq!(outcome.refused[0].path, SURVIVOR);
    assert_eq!(fs.bytes(SURVIVOR).as_deref(), Some(SURVIVOR_WAS.as_bytes()));
    assert_eq!(outcome.changes.len(), 1);
}
