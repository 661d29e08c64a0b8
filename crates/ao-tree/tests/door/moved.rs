//! Trees that were copied, restored or moved in the middle of a commit, by this program or by an earlier one.

use std::path::Path;

use ao_tree::Fs;

use crate::meeting::Meetings;
use crate::person::{Act, Deed, Done, Visit};
use crate::scenario::{history, one_commit};
use crate::sim::SimFs;
use crate::subject::{Side, Subject};
use crate::table::Report;

/// What an earlier program did to a disk, operation by operation: exchanges of whole folders, or of files where
/// the file system had no other. Frozen when it did so; nobody else makes such trees any more.
const EARLIER: [(&str, Option<Act>); 11] = [
    ("exchange-alone", None),
    ("exchange-append", Some(Act { deed: Deed::Append, path: "rpi/next-work.jsonl" })),
    ("exchange-delete-other", Some(Act { deed: Deed::Delete, path: "learnings/keep.md" })),
    ("exchange-edit-deleted", Some(Act { deed: Deed::EditInPlace, path: "learnings/b.md" })),
    ("exchange-put-new", Some(Act { deed: Deed::Put, path: "learnings/person.md" })),
    ("exchange-put-other", Some(Act { deed: Deed::Put, path: "learnings/keep.md" })),
    ("exchange-put-ours", Some(Act { deed: Deed::Put, path: "learnings/a.md" })),
    ("file-by-file-alone", None),
    ("file-by-file-append", Some(Act { deed: Deed::Append, path: "rpi/next-work.jsonl" })),
    ("file-by-file-edit-deleted", Some(Act { deed: Deed::EditInPlace, path: "learnings/b.md" })),
    ("file-by-file-put-ours", Some(Act { deed: Deed::Put, path: "learnings/a.md" })),
];

fn frozen(name: &str) -> Vec<Vec<serde_json::Value>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/door/old/{name}.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Does one frozen operation. Gives `true` for one of the person who came by.
fn redo(fs: &SimFs, operation: &[serde_json::Value]) -> bool {
    let text = |at: usize| operation[at].as_str().unwrap();
    let open = |path: &str| {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.fold(fs.top(), |dir, name| fs.open_dir(&dir, name.as_ref()).unwrap())
    };
    let spot = |at: usize| {
        let (folder, name) = text(at).rsplit_once('/').unwrap_or(("", text(at)));
        (open(folder), std::ffi::OsString::from(name))
    };
    let mode = |at: usize| u32::try_from(operation[at].as_u64().unwrap()).unwrap();
    // What failed then fails now.
    let _ = match text(0) {
        "put" => return (fs.put(text(1), text(2).as_bytes()), true).1,
        "edit" => return (fs.edit_in_place(text(1), text(2).as_bytes()), true).1,
        "delete" => return (fs.delete(text(1)), true).1,
        "create" => fs.create(&spot(1).0, &spot(1).1, text(2).as_bytes(), mode(3)),
        "make_dir" => fs.make_dir(&spot(1).0, &spot(1).1, mode(2)),
        "remove_file" => fs.remove_file(&spot(1).0, &spot(1).1),
        "remove_dir" => fs.remove_dir(&spot(1).0, &spot(1).1),
        "sync_file" => fs.sync_file(&spot(1).0, &spot(1).1),
        "sync_dir" => fs.sync_dir(&open(text(1))),
        "sync_tree" => fs.sync_tree(&open(text(1))),
        two => {
            let (from, to) = (spot(1), spot(2));
            let (from, to) = ((&from.0, from.1.as_os_str()), (&to.0, to.1.as_os_str()));
            match two {
                "copy_attributes" => fs.copy_attributes(from, to),
                "link" => fs.link(from, to),
                "rename" => fs.rename(from, to),
                "rename_new" => fs.rename_new(from, to),
                "exchange" => fs.exchange(from, to),
                other => panic!("no operation {other}"),
            }
        }
    };
    false
}

/// The tree at each operation of an earlier program, finished by this one: there, and where it was copied to.
// proves: LOOP-21
#[test]
fn commits_of_an_earlier_version_are_finished() {
    let mut report = Report::default();
    for (name, act) in EARLIER {
        let (step, start) = one_commit();
        let meetings = Meetings::new(&step, &start);
        let fs = start.branch();
        let (mut done, mut is_decided) = (Vec::new(), false);
        for (number, operation) in frozen(name).iter().enumerate() {
            let saw = act.and_then(|act| fs.bytes(act.path));
            is_decided |= operation.get(2).is_some_and(|to| {
                to.as_str().is_some_and(|to| to.starts_with("overnight/COMMIT-MARKER"))
            });
            if redo(&fs, operation) {
                let visit = Visit { at: 0, act: act.expect("a person came by"), number: 1 };
                done.push(Done { visit, saw, at_step: 0 });
            }
            let tell = |why: String| format!("{name}: {why}\nafter {number}, {operation:?}");
            let here = fs.branch();
            let settled = step.recover(here.clone()).and_then(|()| match done.as_slice() {
                [] => step.judge(&here).and_then(|side| is_right(side, is_decided)),
                done => meetings.judge(&here, done),
            });
            report.case(settled.map_err(tell));
            if done.is_empty() {
                let copy = fs.moved();
                let settled = step.recover(copy.clone());
                let settled = settled.and_then(|()| step.scene.judge_copy(&copy));
                let settled = settled.and_then(|side| is_right(side, is_decided));
                report.case(settled.map_err(|why| tell(format!("copied: {why}"))));
            }
        }
    }
    report.conclude("earlier markers", 2_000);
}

fn is_right(side: Side, is_decided: bool) -> Result<(), String> {
    let required = if is_decided { Side::After } else { Side::Before };
    if side == required {
        Ok(())
    } else {
        Err(format!("{side:?}, though {required:?} was settled"))
    }
}

/// The tree at each operation of each commit, copied to somewhere else: other inodes, other times.
// proves: LOOP-21
#[test]
fn a_tree_that_was_moved_in_the_middle_is_finished() {
    let mut report = Report::default();
    for (step, start) in history() {
        let fs = start.branch();
        fs.record();
        step.run(fs.clone()).expect("an undisturbed run goes through");
        let tape = fs.take_tape();
        let marker = tape.steps.iter().position(|step| step.contains("-> overnight/COMMIT-MARKER"));
        let marker = marker.expect("there is a commit point");
        for (at, point) in tape.points.iter().enumerate() {
            let copy = SimFs::on(point.clone()).moved();
            let settled = step.recover(copy.clone()).and_then(|()| step.scene.judge_copy(&copy));
            let settled = settled.and_then(|side| is_right(side, at > marker));
            report.case(settled.map_err(|why| format!("{}: {why}\nbefore {at}", step.id)));
        }
    }
    report.conclude("moved trees", 300);
}
