//! Receipts at another place than where they were written: what can be checked there, and what cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cell::{Cells, User};
use crate::night::{Night, learning, ran};
use crate::receipts::{custody, found, last, lines, nights, put, receipt, verify};
use crate::repo::Ran;

#[test]
fn the_seals_of_another_machine_are_said_to_be_unchecked() {
    let night = nights(2);
    fs::rename(custody(&night), night.aside.path().join("other-machine")).unwrap();
    let told = verify(&night).expect(1).json();
    assert_eq!((&told["holds"], &told["findings"]), (&false.into(), &Value::Array(Vec::new())));
    assert!(told["unchecked"].to_string().contains("no key on this machine"), "{told}");
    // With a key of its own, and a night of its own, it is the same.
    night.run(&[]).expect(0);
    let told = verify(&night).expect(1).json();
    assert_eq!(told["findings"], Value::Array(Vec::new()), "{told:#}");
    assert!(told["unchecked"].to_string().contains("another key"), "{told}");
    assert_eq!(receipt(&lines(&night)[2])["number"], 3);
}

#[test]
fn without_a_home_a_night_runs_and_says_that_nothing_is_sealed() {
    let night = Night::with_copies();
    let told = ran(night.command(&[]).env_remove("HOME").spawn().unwrap()).expect(0);
    assert!(told.stderr.contains("has no seal"), "{told}");
    assert_eq!(found(&verify(&night).expect(5)), ["1 unsealed"]);
}

/// A key that was missing for one night, as where a scheduler set no `HOME`, is no reproach for ever.
#[test]
fn a_receipt_without_a_seal_is_taken_note_of_by_the_next_night() {
    let night = nights(1);
    night.repo.write("learnings/2026-03-02-second-copy.md", &learning(2));
    ran(night.command(&[]).env_remove("HOME").spawn().unwrap()).expect(0);
    assert!(found(&verify(&night).expect(5)).contains(&"2 unsealed".to_owned()));
    let next = night.run(&["--full"]).expect(0);
    let told = next.json()["summary"]["recovered"].to_string();
    assert!(told.contains("has no seal") && told.contains("nobody vouches for it"), "{told}");
    let held = verify(&night).expect(0);
    assert!(held.stdout.contains("line 2 has no seal"), "{held}");
    assert!(!held.stdout.contains("night-files"), "{held}");
    assert_eq!(last(&night).expect(0).json()["outcome"], "done");
    // Once is enough.
    night.run(&["--full"]).expect(0);
    let all = lines(&night);
    let notes = all.iter().filter(|line| receipt(line)["unsealed"].is_string()).count();
    assert_eq!((all.len(), notes), (5, 1), "{all:#?}");
    verify(&night).expect(0);
}

/// What somebody wrote by hand is not believed because a night came after it.
#[test]
fn a_night_that_takes_note_of_a_line_does_not_vouch_for_it() {
    let night = nights(1);
    let mut made_up = receipt(&lines(&night)[0]);
    made_up["run_id"] = "20300101T000000Z".into();
    made_up["number"] = 2.into();
    made_up["work"]["merged"] = 1000.into();
    for field in ["seal", "key"] {
        made_up.as_object_mut().unwrap().remove(field);
    }
    let mut all = lines(&night);
    all.push(made_up.to_string());
    put(&night, &all);
    night.run(&["--full"]).expect(0);
    let noted = receipt(&lines(&night)[2]);
    assert_eq!((&noted["run_id"], &noted["work"]["merged"]), (&made_up["run_id"], &0.into()));
    assert!(noted["summary"].is_null() && noted["cause"].as_str().unwrap().contains("nobody"));
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    let night = nights(1);
    let key = custody(&night).join("key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let told = verify(&night).expect(1);
    assert!(told.stdout.contains("open to others"), "{told}");
    assert!(night.run(&[]).expect(0).stderr.contains("has no seal"));
}

/// One user's machine: repositories beneath a folder, and a home outside of them.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(machine.path("home")).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A repository with so many nights, the first of which has something to do.
    fn repo(&self, name: &str, nights: usize) -> PathBuf {
        let root = self.path(name);
        for number in 0..4 {
            write(&root, &format!("learnings/2026-03-01-case-{number}.md"), &learning(number));
        }
        write(&root, "learnings/2026-03-02-copy.md", &learning(1));
        for _ in 0..nights {
            self.night(&root);
        }
        root
    }

    fn command(&self, root: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
        command.env_clear().env("HOME", self.path("home")).arg("-C").arg(root).args(arguments);
        command
    }

    fn ao(&self, root: &Path, arguments: &[&str]) -> Ran {
        Ran::of(self.command(root, arguments).output().unwrap())
    }

    fn night(&self, root: &Path) {
        self.ao(root, &["overnight", "start", "--no-keep-awake", "--full"]).expect(0);
    }

    fn verify(&self, root: &Path) -> Ran {
        self.ao(root, &["--json", "overnight", "verify"])
    }

    /// Nothing is wrong, and this could not be checked or is worth knowing.
    #[track_caller]
    fn unalarmed(&self, root: &Path, code: i32, says: &str) {
        let told = self.verify(root).expect(code);
        assert_eq!(told.json()["findings"], Value::Array(Vec::new()), "{told}");
        assert!(told.stdout.contains(says), "{told}");
    }

    fn heads(&self) -> usize {
        let folder = fs::read_dir(self.path("home/.local/state/ao/receipts")).unwrap();
        let is_head = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|e| e == "json");
        folder.filter(|entry| is_head(entry.as_ref().unwrap())).count()
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(".agents").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn receipts_of(root: &Path) -> PathBuf {
    root.join(".agents/overnight/receipts.jsonl")
}

fn numbers(root: &Path) -> Vec<u64> {
    let text = fs::read_to_string(receipts_of(root)).unwrap();
    text.lines().map(|line| receipt(line)["number"].as_u64().unwrap()).collect()
}

/// As a clone has it if receipts and learnings are committed, and nothing else is.
fn clone(from: &Path, to: &Path) {
    let git = |folder: &Path, arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let ended = git.current_dir(folder).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    git(from, &["init", "-q"]);
    git(from, &["add", "-f", ".agents/learnings", ".agents/overnight/receipts.jsonl"]);
    git(from, &["commit", "-q", "-m", "the knowledge"]);
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    git(Path::new("/"), &["clone", "-q", from, to]);
}

#[test]
fn a_repository_that_was_moved_keeps_its_receipts() {
    let machine = Machine::new();
    let (old, new) = (machine.repo("old", 2), machine.path("new place"));
    fs::rename(&old, &new).unwrap();
    machine.unalarmed(&new, 0, "the repository was at");
    machine.night(&new);
    assert_eq!((numbers(&new), machine.heads()), (vec![1, 2, 3], 1));
    machine.unalarmed(&new, 0, "\"receipts\": 3");
    // Whatever comes to the old place is another repository.
    machine.repo("old", 0);
    machine.unalarmed(&old, 1, "\"receipts\": 0");
    machine.night(&old);
    assert_eq!(numbers(&old), [1]);
    machine.unalarmed(&old, 0, "");
    // It is watched as before.
    let text = fs::read_to_string(receipts_of(&new)).unwrap();
    let cut = text.lines().take(2).flat_map(|line| [line, "\n"]).collect::<String>();
    fs::write(receipts_of(&new), cut).unwrap();
    assert_eq!(found(&machine.verify(&new).expect(5))[0], "3 removed");
}

/// Its report was put aside before or after, and is then told with other paths.
#[test]
fn the_report_of_a_repository_that_was_moved_is_known() {
    for is_first in [true, false] {
        let machine = Machine::new();
        let (old, new) = (machine.repo("old", 1), machine.path("new"));
        let dry = |root: &Path| machine.ao(root, &["--dry-run", "overnight", "start"]).expect(0);
        if is_first {
            dry(&old);
        }
        fs::rename(&old, &new).unwrap();
        if !is_first {
            dry(&new);
        }
        machine.unalarmed(&new, 0, "");
    }
}

#[test]
fn a_run_that_was_killed_before_the_repository_was_moved_is_known() {
    let machine = Machine::new();
    let (old, new) = (machine.repo("old", 1), machine.path("new"));
    write(&old, "learnings/2026-03-02-other-copy.md", &learning(2));
    let go = machine.path("go");
    let mut command = machine.command(&old, &["overnight", "start", "--no-keep-awake"]);
    command.env("AO_NIGHT_FAULT", "wait-verify").env("AO_NIGHT_GO", &go);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    crate::repo::wait_until("the run is there", || go.with_extension("verify").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    fs::rename(&old, &new).unwrap();
    machine.unalarmed(&new, 0, "");
    let told = machine.ao(&new, &["--json", "overnight", "last"]).expect(1).json();
    assert_eq!(told["outcome"], "killed", "{told:#}");
    machine.night(&new);
    assert_eq!(numbers(&new), [1, 2, 3]);
    machine.unalarmed(&new, 0, "");
}

#[test]
fn a_copy_of_a_repository_is_called_one() {
    let machine = Machine::new();
    let (one, other) = (machine.repo("one", 2), machine.path("other"));
    assert!(Command::new("cp").arg("-a").args([&one, &other]).status().unwrap().success());
    machine.unalarmed(&other, 0, "these are a copy of the receipts of");
    machine.night(&other);
    machine.night(&one);
    machine.unalarmed(&other, 0, "\"receipts\": 3");
    machine.unalarmed(&one, 0, "\"receipts\": 3");
    assert_eq!(machine.heads(), 2);
}

/// Two clones with one home: neither is accused of what only the other has.
#[test]
fn a_clone_has_the_receipts_and_not_the_rest() {
    let machine = Machine::new();
    let (one, other) = (machine.repo("one", 2), machine.path("other"));
    clone(&one, &other);
    machine.unalarmed(&other, 1, "its receipt was written elsewhere");
    // The first goes on, and no head ends as the clone does.
    machine.night(&one);
    machine.unalarmed(&other, 1, "no head of these receipts is kept");
    machine.night(&other);
    assert_eq!((numbers(&one), numbers(&other)), (vec![1, 2, 3], vec![1, 2, 3]));
    machine.unalarmed(&one, 0, "");
    machine.unalarmed(&other, 1, "not in the history of this place");
    // What was written here is watched.
    let summary = other.join(".agents/overnight/latest/summary.json");
    fs::remove_file(summary).unwrap();
    assert_eq!(found(&machine.verify(&other).expect(5)), ["3 summary-removed"]);
    let text = fs::read_to_string(receipts_of(&other)).unwrap();
    let cut = text.lines().take(2).flat_map(|line| [line, "\n"]).collect::<String>();
    fs::write(receipts_of(&other), cut).unwrap();
    assert_eq!(found(&machine.verify(&other).expect(5))[0], "3 removed");
}

#[test]
fn a_clone_on_another_machine_is_not_accused() {
    let (machine, other) = (Machine::new(), Machine::new());
    let (here, there) = (machine.repo("repo", 2), other.path("repo"));
    clone(&here, &there);
    other.unalarmed(&there, 1, "there is no key on this machine");
    other.night(&there);
    other.unalarmed(&there, 1, "were made with another key");
    assert_eq!(numbers(&there), [1, 2, 3]);
    // And back again: the first machine cannot check what the other wrote.
    fs::copy(receipts_of(&there), receipts_of(&here)).unwrap();
    machine.unalarmed(&here, 1, "1 seal, the first in line 3");
    // Its night began at the same second as one of ours, and has the same id.
    let text = fs::read_to_string(receipts_of(&here)).unwrap();
    let run = |nth| receipt(text.lines().nth(nth).unwrap())["run_id"].as_str().unwrap().to_owned();
    let (ours, theirs) = text.split_at(text.trim_end().rfind('\n').unwrap());
    fs::write(receipts_of(&here), format!("{ours}{}", theirs.replace(&run(2), &run(1)))).unwrap();
    machine.unalarmed(&here, 1, "1 seal, the first in line 3");
    machine.night(&here);
    assert_eq!(numbers(&here), [1, 2, 3, 4]);
    machine.unalarmed(&here, 1, "1 seal, the first in line 3");
}

/// Whoever reads the key can write receipts: nobody in a cell can.
#[test]
fn the_key_is_hidden_from_every_cell() {
    for cells in [Cells::new(User::This), Cells::tier_b()] {
        fs::create_dir_all(cells.path(".local/state/ao/receipts")).unwrap();
        fs::write(cells.path(".local/state/ao/receipts/key"), "secret\n").unwrap();
        fs::write(cells.path("plain"), "plain\n").unwrap();
        cells.settle();
        let answer = cells.sh(&[], "cat plain .local/state/ao/receipts/key").json();
        assert_eq!(answer["stdout"]["text"], "plain\n", "{answer}");
    }
}
