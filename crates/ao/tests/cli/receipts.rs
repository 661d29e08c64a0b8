//! Receipts: whatever is done to them is found.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::night::Night;
use crate::repo::Ran;

pub(crate) const FILE: &str = "overnight/receipts.jsonl";

pub(crate) fn lines(night: &Night) -> Vec<String> {
    night.repo.read(FILE).lines().map(str::to_owned).collect()
}

pub(crate) fn put(night: &Night, lines: &[String]) {
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    night.repo.write(FILE, &text);
}

pub(crate) fn verify(night: &Night) -> Ran {
    night.repo.run(&["--json", "overnight", "verify"])
}

pub(crate) fn last(night: &Night) -> Ran {
    night.repo.run(&["--json", "overnight", "last"])
}

/// What is wrong, as `line what`.
pub(crate) fn found(ran: &Ran) -> Vec<String> {
    let told = ran.json();
    let findings = told["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|one| format!("{} {}", one["line"], one["what"].as_str().unwrap()))
        .collect()
}

pub(crate) fn custody(night: &Night) -> PathBuf {
    night.repo.root().join(".local/state/ao/receipts")
}

/// So many nights; the first of them has something to do.
pub(crate) fn nights(count: usize) -> Night {
    let night = Night::with_copies();
    night.pending(1);
    for _ in 0..count {
        night.run(&[]).expect(0);
    }
    night
}

pub(crate) fn receipt(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_line_that_was_removed_is_missed() {
    for (gone, expected) in [(0, "1 removed"), (2, "3 removed"), (4, "5 removed")] {
        let night = nights(5);
        let mut all = lines(&night);
        all.remove(gone);
        put(&night, &all);
        let findings = found(&verify(&night).expect(5));
        assert_eq!(findings[0], expected, "{findings:?}");
        assert!(findings.iter().all(|one| one == expected || one.contains("commit")));
        // The next night goes on from the head, so that it stays to be seen.
        night.run(&[]).expect(0);
        let findings = found(&verify(&night).expect(5));
        assert!(findings.iter().any(|one| one.ends_with(" removed")), "{findings:?}");
        if gone == 4 {
            assert_eq!(receipt(lines(&night).last().unwrap())["number"], 6);
        }
    }
}

#[test]
fn all_of_them_removed_is_not_none() {
    let night = nights(2);
    fs::remove_file(night.repo.agents().join(FILE)).unwrap();
    let told = verify(&night).expect(5);
    assert!(found(&told).contains(&"1 removed".to_owned()), "{told}");
    assert_eq!(last(&night).expect(1).json()["outcome"], "doubtful");
}

#[test]
fn one_byte_that_was_changed_is_seen() {
    let night = nights(3);
    let all = lines(&night);
    for at in 0..3 {
        let length = all[at].len();
        // In every part of the line: a number, a name, the link, the seal, and what is between.
        for spot in (0..length).step_by(37).chain([length - 1, length - 2, length - 40]) {
            let mut bytes = all[at].clone().into_bytes();
            bytes[spot] = if bytes[spot] == b'1' { b'2' } else { b'1' };
            let mut changed = all.clone();
            changed[at] = String::from_utf8(bytes).unwrap();
            put(&night, &changed);
            let told = verify(&night).expect(5);
            let expected = format!("{} changed", at + 1);
            assert_eq!(found(&told)[0], expected, "byte {spot} of line {}: {told}", at + 1);
        }
    }
    put(&night, &all);
    verify(&night).expect(0);
}

#[test]
fn a_line_that_says_the_same_in_another_way_is_changed() {
    let night = nights(2);
    let mut all = lines(&night);
    all[0] = all[0].replacen("\"number\":1", "\"number\": 1", 1);
    put(&night, &all);
    assert_eq!(found(&verify(&night).expect(5))[0], "1 changed");
}

#[test]
fn lines_in_another_order_are_seen() {
    let night = nights(4);
    let all = lines(&night);
    for (one, other, expected) in
        [(0, 1, "2 reordered"), (1, 3, "3 reordered"), (2, 3, "4 reordered")]
    {
        let mut moved = all.clone();
        moved.swap(one, other);
        put(&night, &moved);
        let findings = found(&verify(&night).expect(5));
        assert!(findings.contains(&expected.to_owned()), "{one} and {other}: {findings:?}");
        assert!(findings.iter().all(|one| one.ends_with("reordered")), "{findings:?}");
    }
}

#[test]
fn a_line_that_was_appended_by_hand_is_seen() {
    let night = nights(3);
    let all = lines(&night);
    let mut copied = all.clone();
    copied.push(all[1].clone());
    put(&night, &copied);
    assert_eq!(found(&verify(&night).expect(5)), ["4 appended"]);

    // Made up, with the right number and the right hash of the line before.
    let mut made_up = receipt(&all[2]);
    made_up["number"] = 4.into();
    made_up["previous"] = blake3::hash(all[2].as_bytes()).to_hex().to_string().into();
    let mut appended = all.clone();
    appended.push(made_up.to_string());
    put(&night, &appended);
    assert_eq!(found(&verify(&night).expect(5)), ["4 appended"]);
    assert_eq!(last(&night).expect(1).json()["outcome"], "doubtful");
    // The next night does not go on from it.
    night.run(&[]).expect(0);
    assert_eq!(receipt(&lines(&night)[4])["previous"], made_up["previous"]);
    assert_eq!(found(&verify(&night).expect(5)), ["4 appended"]);

    // Without a seal, and in the middle.
    for field in ["seal", "key"] {
        made_up.as_object_mut().unwrap().remove(field);
    }
    appended = all.clone();
    appended.push(made_up.to_string());
    put(&night, &appended);
    assert!(found(&verify(&night).expect(5)).contains(&"4 unsealed".to_owned()));
    let mut inserted = all.clone();
    inserted.insert(1, "{}".into());
    put(&night, &inserted);
    assert!(found(&verify(&night).expect(5)).contains(&"2 appended".to_owned()));
}

#[test]
fn a_chain_that_was_written_anew_with_another_key_is_not_believed() {
    let night = nights(3);
    let all = lines(&night);
    // As another machine would have sealed it: every link is right.
    let mut previous: Option<String> = None;
    let mut forged = Vec::new();
    for line in &all {
        let mut receipt = receipt(line);
        receipt["key"] = "0123456789abcdef".into();
        receipt["work"]["promoted"] = 77.into();
        if let Some(previous) = &previous {
            receipt["previous"] = previous.clone().into();
        }
        let line = receipt.to_string();
        previous = Some(blake3::hash(line.as_bytes()).to_hex().to_string());
        forged.push(line);
    }
    put(&night, &forged);
    let told = verify(&night).expect(5);
    assert!(found(&told).contains(&"3 changed".to_owned()), "{told}");
    // One in the middle: the line that follows it was sealed here, and names another.
    let one = [all[0].clone(), forged[1].clone(), all[2].clone()];
    put(&night, &one);
    assert_eq!(found(&verify(&night).expect(5))[0], "2 changed");
}

#[test]
fn a_summary_that_was_edited_is_seen() {
    let night = nights(2);
    let path = night.latest("summary.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"status\": \"done\"", "\"status\": \"done\" ", 1)).unwrap();
    assert_eq!(found(&verify(&night).expect(5)), ["2 summary-changed"]);
    fs::remove_file(&path).unwrap();
    assert_eq!(found(&verify(&night).expect(5)), ["2 summary-removed"]);
    fs::write(&path, text).unwrap();
    verify(&night).expect(0);
}

#[test]
fn commits_are_held_against_the_receipts() {
    let night = nights(2);
    let path = night.repo.state("history.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let id = first["id"].as_str().unwrap();
    let other = text.replace(id, &id.replace("-iter-1", "-iter-7"));
    fs::write(&path, other).unwrap();
    let mut findings = found(&verify(&night).expect(5));
    findings.sort();
    assert_eq!(findings, ["null commit-changed", "null commit-untold"]);
    let hash = first["record_hash"].as_str().unwrap();
    fs::write(&path, text.replace(hash, &"0".repeat(64))).unwrap();
    assert_eq!(found(&verify(&night).expect(5)), ["null commit-changed"]);
    fs::write(&path, &text).unwrap();
    let line = text.lines().next().unwrap().replace(id, "20990101T000000Z-iter-1");
    let line = line.replace(first["at"].as_str().unwrap(), "2099-01-01T00:00:00Z");
    fs::write(&path, format!("{text}{line}\n")).unwrap();
    assert_eq!(found(&verify(&night).expect(5)), ["null commit-untold"]);
}

#[test]
fn what_is_no_file_of_receipts_stops_nobody() {
    let night = nights(1);
    let path = night.repo.agents().join(FILE);
    let good = fs::read(&path).unwrap();
    let elsewhere = night.aside.path().join("elsewhere");
    fs::write(&elsewhere, &good).unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(found(&verify(&night).expect(5)), ["null unreadable"]);
    let told = night.run(&[]).expect(0);
    assert!(told.stderr.contains("receipt of the run was not written"), "{told}");
    assert_eq!(fs::read(&elsewhere).unwrap(), good, "it was followed");
    assert_eq!(last(&night).expect(1).json()["outcome"], "doubtful");

    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(found(&verify(&night).expect(5)), ["null unreadable"]);
    night.run(&[]).expect(0);
    last(&night).expect(1);

    // Nothing was lost of it: the next start writes what the last one could not.
    fs::remove_file(&path).unwrap();
    fs::write(&path, &good).unwrap();
    assert_eq!(last(&night).expect(1).json()["outcome"], "no-receipt");
    night.run(&[]).expect(0);
    verify(&night).expect(0);

    let good = fs::read(&path).unwrap();
    for junk in ["x".repeat(10 << 20), "x\n".repeat(5 << 20), "\0".repeat(1 << 20)] {
        fs::write(&path, junk).unwrap();
        verify(&night).expect(5);
        last(&night).expect(1);
        night.run(&[]).expect(0);
        verify(&night).expect(5);
    }
    fs::write(&path, good).unwrap();
    // What was written meanwhile is missing, and the head knows.
    assert!(found(&verify(&night).expect(5))[0].ends_with("removed"));
}
