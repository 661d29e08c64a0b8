//! What is kept of an earlier state, so that the second question is quick; and that it never decides.

use std::fs;

use serde_json::json;

use crate::repo::{TestRepo, write};
use crate::search::paths;
use crate::travel::{found, quokka, three_nights, told};

#[test]
fn few_earlier_indexes_are_kept_and_none_in_a_dry_run() {
    let repo = three_nights();
    let count = |end: &str| {
        let found = fs::read_dir(repo.agents().join("ao/index")).into_iter().flatten();
        let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("as-of-") && name.ends_with(end)).count()
    };
    let indexes = || {
        assert_eq!(count(".idx"), count(".known"), "they come and go together");
        count(".idx")
    };
    repo.run(&["--dry-run", "search", "quokka", "--as-of", "n01-iter-1"]).expect(0);
    assert_eq!(indexes(), 0);
    for number in 4..9 {
        repo.night(number, &json!([write("learnings/x.md", &format!("# x {number}\n"))]));
    }
    for number in 1..8 {
        repo.run(&["search", "quokka", "--as-of", &format!("n{number:02}-iter-1")]).expect(0);
        assert_eq!(indexes(), number.min(4));
    }
    for number in 1..8 {
        let is_there = repo.exists(&format!("ao/index/as-of-n{number:02}-iter-1.idx"));
        assert_eq!(is_there, number > 3, "the four that were written last: {number}");
    }
    // One that is damaged costs time only.
    fs::write(repo.agents().join("ao/index/as-of-n07-iter-1.idx"), "rubbish").unwrap();
    assert_eq!(found(&repo, "okapi", "n07-iter-1"), ["learnings/first.md"]);
    // The plain index is another one.
    assert_eq!(paths(&repo.search(&["zebra"])), Vec::<&str>::new());
}

/// The record that the state rests on is damaged; what was found out while it was whole holds.
#[test]
fn what_was_found_out_once_is_not_read_again() {
    let repo = three_nights();
    let record = repo.state("undo/n02-iter-1/record.json");
    let whole = fs::read_to_string(&record).unwrap();
    assert_eq!(found(&repo, "zebra", "n01-iter-1"), ["learnings/first.md"]);
    assert!(repo.exists("ao/index/as-of-n01-iter-1.known"));
    fs::write(&record, "{}").unwrap();
    assert_eq!(found(&repo, "zebra", "n01-iter-1"), ["learnings/first.md"]);
    // Cut, of other bytes, empty, a folder: then the records are asked, and this one is damaged.
    let known = repo.agents().join("ao/index/as-of-n01-iter-1.known");
    let bytes = fs::read(&known).unwrap();
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    // Another file's name: as good to read as before, and not true.
    let other = String::from_utf8(bytes.clone()).unwrap().replace("first.md", "worst.md");
    for rubbish in [&bytes[..bytes.len() / 2], &flipped, other.as_bytes(), b"", b"\n\n"] {
        fs::write(&known, rubbish).unwrap();
        let refused = repo.run(&["search", "zebra", "--as-of", "n01-iter-1"]).expect(5);
        assert!(refused.stderr.contains("n02-iter-1/record.json"), "{refused}");
    }
    fs::remove_file(&known).unwrap();
    fs::create_dir(&known).unwrap();
    repo.run(&["search", "zebra", "--as-of", "n01-iter-1"]).expect(5);
    fs::write(&record, whole).unwrap();
    assert_eq!(found(&repo, "zebra", "n01-iter-1"), ["learnings/first.md"]);
}

/// A record from before the state is needed for doubts alone; without it there may be more of them.
#[test]
fn what_is_only_known_in_part_is_not_kept() {
    let repo = three_nights();
    let record = repo.state("undo/n01-iter-1/record.json");
    let whole = fs::read_to_string(&record).unwrap();
    for (text, is_kept) in [("{}", false), (whole.as_str(), true)] {
        fs::write(&record, text).unwrap();
        assert_eq!(found(&repo, "okapi", "n02-iter-1"), ["learnings/first.md"]);
        assert_eq!(repo.exists("ao/index/as-of-n02-iter-1.known"), is_kept);
    }
}

/// What a state is follows from all later commits; an undo is one.
#[test]
fn what_was_found_out_is_of_no_use_after_another_commit() {
    let repo = three_nights();
    let second = |repo: &TestRepo| found(repo, "okapi", "n02-iter-1");
    assert_eq!(second(&repo), ["learnings/first.md"]);
    repo.night(4, &json!([write("learnings/first.md", &quokka("The fourth is a tapir."))]));
    assert_eq!(second(&repo), ["learnings/first.md"], "kept by the fourth");
    assert_eq!(found(&repo, "tapir", "n02-iter-1"), Vec::<String>::new());
    repo.run(&["overnight", "undo", "n02", "--id", "back"]).expect(0);
    assert_eq!(second(&repo), ["learnings/first.md"], "kept by the undo");
    assert_eq!(found(&repo, "zebra", "back"), ["learnings/first.md"]);
    assert_eq!(found(&repo, "zebra", "n02-iter-1"), Vec::<String>::new());
    // The same ids with another record: the history says which one counts.
    repo.edit_history(|lines| lines[2]["record_hash"] = "0".repeat(64).into());
    let refused = repo.run(&["search", "okapi", "--as-of", "n02-iter-1"]).expect(5);
    assert!(refused.stderr.contains("not the record that the history names"), "{refused}");
    // Neither is it shown as a diff, nor taken back.
    repo.run(&["overnight", "show", "n03"]).expect(5);
    repo.run(&["tree", "undo", "n03-iter-1"]).expect(5);
}

/// That it was asked before does not bring back what was let go.
// proves: LOOP-09
#[test]
fn a_state_that_was_let_go_is_refused_though_it_was_asked_before() {
    let repo = three_nights();
    repo.run(&["search", "quokka", "--as-of", "n02-iter-1"]).expect(0);
    // As it is in the middle of letting one go: the note first, then the bytes.
    let note = repo.state("undo/n03-iter-1/expired");
    fs::write(&note, "2026-01-01T00:00:00Z\n").unwrap();
    repo.run(&["search", "quokka", "--as-of", "n02-iter-1"]).expect(6);
    fs::remove_file(&note).unwrap();
    repo.write("../.agentops/config.yaml", "undo:\n  max_mb: 0\n");
    repo.night(4, &json!([write("learnings/x.md", "# x\n")]));
    repo.run(&["search", "quokka", "--as-of", "n02-iter-1"]).expect(6);
}

/// A file changed by hand is seen, and named, however warm the index is.
#[test]
fn a_warm_index_sees_what_people_changed_since() {
    let repo = three_nights();
    for _ in 0..2 {
        let ran = repo.run(&["--json", "search", "quokka", "--as-of", "n02-iter-1"]).expect(0);
        assert_eq!(told(&ran)["uncertain_in_all"], 0, "{ran}");
    }
    repo.write("learnings/first.md", &quokka("By hand, a numbat."));
    let ran = repo.run(&["--json", "search", "numbat", "--as-of", "n02-iter-1"]).expect(0);
    assert_eq!(paths(&ran.json()), ["learnings/first.md"]);
    assert_eq!(told(&ran)["uncertain"][0]["path"], "learnings/first.md", "{ran}");
    // A kept version that goes after the index was made is missed all the same.
    let kept = fs::read_dir(repo.state("undo/n03-iter-1")).unwrap();
    let blob = kept.map(|entry| entry.unwrap().path()).find(|path| !path.ends_with("record.json"));
    fs::remove_file(blob.unwrap()).unwrap();
    repo.run(&["search", "quokka", "--as-of", "n02-iter-1"]).expect(5);
}
