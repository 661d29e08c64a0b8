//! The receipt that each night leaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::night::Night;
use crate::receipts::{FILE, custody, found, last, lines, nights, receipt, verify};

#[test]
fn a_night_leaves_a_receipt_of_what_it_began_with_and_did() {
    let night = nights(2);
    let all = lines(&night);
    assert_eq!(all.len(), 2);
    let (first, second) = (receipt(&all[0]), receipt(&all[1]));
    let summary = fs::read(night.latest("summary.json")).unwrap();
    assert_eq!(second["summary"], blake3::hash(&summary).to_hex().to_string());
    assert_eq!(second["previous"], blake3::hash(all[0].as_bytes()).to_hex().to_string());
    assert_eq!((&first["number"], &second["number"]), (&1.into(), &2.into()));
    assert!(first.get("previous").is_none());
    let (inputs, work) = (&first["inputs"], &first["work"]);
    assert_eq!((&inputs["entries"], &inputs["pending"]), (&8.into(), &1.into()), "{first:#}");
    assert_eq!(inputs["corpus"].as_str().unwrap().len(), 64);
    assert_eq!((&work["merged"], &work["kept"]), (&1.into(), &1.into()), "{first:#}");
    assert_eq!((&work["promoted"], &work["judged"]), (&1.into(), &1.into()), "{first:#}");
    assert_eq!((&first["status"], &first["exit"]), (&"done".into(), &0.into()));
    let run = first["run_id"].as_str().unwrap();
    assert_eq!(work["commits"][0]["id"], format!("{run}-iter-1"));
    for line in &all {
        let file = night.aside.path().join("line.json");
        fs::write(&file, line).unwrap();
        night.repo.run(&["schema", "receipt", "--check", file.to_str().unwrap()]).expect(0);
    }
    // The key is its owner's alone, and so is the folder.
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(custody(&night)), mode(custody(&night).join("key"))), (0o700, 0o600));
    let told = verify(&night).expect(0).json();
    assert_eq!((&told["receipts"], &told["holds"]), (&2.into(), &true.into()));
    assert_eq!(last(&night).expect(0).json()["outcome"], "done");
}

/// What failed softly is named, and the exit code is the one that the process ended with: there is no bd here.
#[test]
fn a_receipt_has_the_exit_code_that_there_was() {
    let night = Night::with_copies();
    for (more, code) in [(&[][..], 0), (&["--strict-exit"][..], 3)] {
        night.run(&[more, &["--full"]].concat()).expect(code);
        let of_it = receipt(lines(&night).last().unwrap());
        assert_eq!(of_it["exit"], code, "{of_it:#}");
        assert_eq!(of_it["degraded"], serde_json::json!(["bead-sync"]));
        let told = night.repo.run(&["overnight", "last"]).expect(0).stdout;
        assert!(told.contains("failed softly: bead-sync"), "{told}");
    }
    let held = night.held_at("reduce", &["--full"]).signal("TERM").expect(1);
    assert_eq!(receipt(lines(&night).last().unwrap())["exit"], held.code);
}

#[test]
fn a_dry_run_leaves_none_and_spoils_none() {
    let night = Night::with_copies();
    night.repo.run(&["--dry-run", "overnight", "start"]).expect(0);
    assert!(!night.repo.exists(FILE) && !custody(&night).exists());
    let told = verify(&night).expect(1);
    assert!(night.repo.run(&["overnight", "verify"]).stdout.contains("no receipts"), "{told}");
    night.run(&[]).expect(0);
    // It moves the report of the night aside, where it is told with other paths.
    night.repo.run(&["--dry-run", "overnight", "start"]).expect(0);
    verify(&night).expect(0);
    let run = receipt(&lines(&night)[0])["run_id"].as_str().unwrap().to_owned();
    let moved = night.latest(&format!("{run}/summary.json"));
    let text = fs::read_to_string(&moved).unwrap();
    // Also what says the same in another way.
    for edited in [
        text.replace("\"edits\": ", "\"edits\": 1"),
        text.replacen("\"done\"", "\"done\" ", 1),
        format!("{text}\n"),
    ] {
        assert_ne!(edited, text);
        fs::write(&moved, edited).unwrap();
        assert_eq!(found(&verify(&night).expect(5)), ["1 summary-changed"]);
    }
    fs::write(&moved, text).unwrap();
    verify(&night).expect(0);
}
