//! Receipts of runs that were killed, and of what a power cut leaves.

use std::fs;

use serde_json::Value;

use crate::night::Night;
use crate::receipts::{FILE, custody, found, last, lines, nights, receipt, verify};

/// Killed at these moments; then the next night, which writes what is missing.
#[test]
fn a_run_that_was_killed_has_its_receipt_from_the_next_start() {
    for (place, status, by) in [
        ("ingest", "failed", "next-start"),
        ("reduce", "failed", "next-start"),
        ("verify", "failed", "next-start"),
        ("morning-packets", "failed", "next-start"),
        // The report is written, the receipt is not.
        ("receipt", "done", "next-start"),
        // The receipt is written, and its head not.
        ("receipt-head", "done", "run"),
    ] {
        let night = nights(1);
        night.repo.write("learnings/2026-03-02-copy.md", &crate::night::learning(2));
        let held = night.held_at(place, &["--full"]);
        let run = night.summary()["run_id"].as_str().unwrap().to_owned();
        held.signal("KILL");
        // Until then nothing is wrong with what is there.
        verify(&night).expect(0);
        let told = last(&night).json();
        let outcome = match place {
            "receipt" => "no-receipt",
            "receipt-head" => "done",
            _ => "killed",
        };
        assert_eq!(told["outcome"], outcome, "{place}: {told:#}");
        night.run(&["--full"]).expect(0);
        let all: Vec<Value> = lines(&night).iter().map(|line| receipt(line)).collect();
        let numbers: Vec<_> = all.iter().map(|one| one["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3], "{place}");
        let of_it = &all[1];
        assert_eq!(of_it["run_id"], run, "{place}");
        assert_eq!(
            (&of_it["status"], &of_it["written_by"]),
            (&status.into(), &by.into()),
            "{place}"
        );
        let commits = of_it["work"]["commits"].as_array().unwrap().len();
        assert_eq!(commits > 0, !["ingest", "reduce"].contains(&place), "{place}: {of_it:#}");
        verify(&night).expect(0);
        last(&night).expect(0);
    }
}

#[test]
fn a_run_that_is_gone_on_with_has_one_receipt() {
    let night = Night::with_copies();
    night.held_at("reduce", &[]).signal("KILL");
    night.run(&["--resume"]).expect(0);
    let all = lines(&night);
    assert_eq!((all.len(), &receipt(&all[0])["status"]), (1, &"done".into()));
    verify(&night).expect(0);
}

#[test]
fn a_run_that_lost_everything_but_its_head_has_a_receipt_too() {
    let night = nights(1);
    night.held_at("reduce", &["--full"]).signal("KILL");
    fs::remove_dir_all(night.repo.state("latest")).unwrap();
    fs::remove_file(night.repo.state("status.json")).unwrap();
    night.run(&[]).expect(0);
    let of_it = receipt(&lines(&night)[1]);
    assert_eq!((&of_it["status"], &of_it["ended_by"]), (&"failed".into(), &"cut-off".into()));
    verify(&night).expect(0);
}

/// The power went while the line was written: it says so, nobody is accused, and the next night puts it right.
#[test]
fn a_line_that_a_power_cut_tore_is_named_and_written_anew() {
    let night = nights(1);
    let path = night.repo.agents().join(FILE);
    let before = fs::read(&path).unwrap();
    night.held_at("receipt-head", &["--full"]).signal("KILL");
    let whole = fs::read(&path).unwrap();
    let torn = whole.len() - before.len();
    for left in [1, 20, 40, torn / 2, torn - 66, torn - 2] {
        fs::write(&path, &whole[..before.len() + left]).unwrap();
        assert_torn(&night, left);
    }
    // Room was made for it, and nothing came.
    fs::write(&path, [before.as_slice(), &[0; 300]].concat()).unwrap();
    assert_torn(&night, 300);
    // All but its end: that is the whole receipt.
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    verify(&night).expect(0);

    fs::write(&path, &whole[..before.len() + torn / 2]).unwrap();
    night.run(&["--full"]).expect(0);
    let recovered = night.summary()["recovered"].to_string();
    assert!(recovered.contains(&format!("its {} bytes were taken away", torn / 2)), "{recovered}");
    let all: Vec<Value> = lines(&night).iter().map(|line| receipt(line)).collect();
    assert_eq!((all.len(), &all[1]["written_by"]), (3, &"next-start".into()));
    assert_eq!((&all[1]["number"], &all[1]["status"]), (&2.into(), &"done".into()));
    verify(&night).expect(0);
}

#[track_caller]
fn assert_torn(night: &Night, left: usize) {
    let told = verify(night).expect(1);
    assert_eq!(told.json()["findings"], Value::Array(Vec::new()), "{left}: {told}");
    assert!(told.stdout.contains("line 2 was not written to its end"), "{left}: {told}");
    assert_eq!(last(night).expect(1).json()["outcome"], "no-receipt", "{left}");
}

/// No power cut takes away what the head has counted, or leaves a line of no run.
#[test]
fn an_end_that_no_power_cut_left_is_not_excused() {
    let night = nights(2);
    let path = night.repo.agents().join(FILE);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 30]).unwrap();
    assert_eq!(found(&verify(&night).expect(5))[0], "2 cut");
    assert_eq!(last(&night).expect(1).json()["outcome"], "doubtful");
    // It stays to be seen.
    night.run(&["--full"]).expect(0);
    assert!(found(&verify(&night).expect(5))[0].starts_with("2 "));

    let night = nights(2);
    let path = night.repo.agents().join(FILE);
    let whole = fs::read(&path).unwrap();
    for end in ["x", "{\"schema_version\":1,\"number\":3,\"run_id\":\"20990101T000000Z\"", "\0\0\0"]
    {
        fs::write(&path, [whole.as_slice(), end.as_bytes()].concat()).unwrap();
        assert_eq!(found(&verify(&night).expect(5)), ["3 appended"], "{end:?}");
        assert_eq!(last(&night).expect(1).json()["outcome"], "doubtful");
    }
}

/// A run that failed has its receipt; gone on with and killed, it has another report than the receipt tells of.
#[test]
fn a_run_that_is_gone_on_with_and_killed_is_not_accused() {
    let night = Night::with_copies();
    night.held_at("reduce", &[]).signal("TERM").expect(1);
    verify(&night).expect(0);
    night.held_at("reduce", &["--resume"]).signal("KILL");
    let told = verify(&night).expect(0);
    assert!(told.stdout.contains("was gone on with after its receipt"), "{told}");
    night.run(&["--resume"]).expect(0);
    assert_eq!(lines(&night).len(), 2);
    verify(&night).expect(0);
    assert_eq!(last(&night).expect(0).json()["outcome"], "done");
}

/// What is outside of the repository comes from a backup: the receipts that followed are still its own.
#[test]
fn a_head_that_is_older_than_the_receipts_is_brought_up_to_them() {
    let night = nights(1);
    let head = head(&night);
    let old = fs::read(&head).unwrap();
    night.run(&["--full"]).expect(0);
    night.run(&["--full"]).expect(0);
    fs::write(&head, &old).unwrap();
    let told = verify(&night).expect(0).json();
    assert_eq!(told["notes"].as_array().unwrap().len(), 2, "{told:#}");
    night.run(&["--full"]).expect(0);
    let told = verify(&night).expect(0).json();
    assert_eq!((&told["receipts"], &told["notes"]), (&4.into(), &Value::Array(Vec::new())));
}

/// Old receipts with their old head agree with each other, and with nothing that came after.
#[test]
fn an_old_file_with_its_old_head_is_found_out() {
    let night = nights(1);
    let (path, head) = (night.repo.agents().join(FILE), head(&night));
    let old = (fs::read(&path).unwrap(), fs::read(&head).unwrap());
    night.repo.write("learnings/2026-03-02-other-copy.md", &crate::night::learning(2));
    night.run(&[]).expect(0);
    fs::write(&path, &old.0).unwrap();
    fs::write(&head, &old.1).unwrap();
    let findings = found(&verify(&night).expect(5));
    assert!(findings.contains(&"null commit-untold".to_owned()), "{findings:?}");
}

fn head(night: &Night) -> std::path::PathBuf {
    let mut files = fs::read_dir(custody(night)).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap()
}
