//! `bd` at the end of a night: in a cell, with its own folder and nothing else.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::cell::{Cells, User, give_to, is_running};
use crate::repo::{Ran, files};

/// A repository with `.beads`, and a `bd` outside of it that does something of its own first.
struct Beads {
    cells: Cells,
    bin: TempDir,
}

impl Beads {
    fn new(cells: Cells, deed: &str) -> Self {
        let bin = tempfile::tempdir().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.path().display());
        let beads = Self { cells: cells.variable("PATH", &path), bin };
        fs::create_dir(beads.path(".beads")).unwrap();
        beads.does(deed);
        beads
    }

    fn does(&self, deed: &str) {
        let script = format!(
            "#!/bin/sh\necho \"$1\" >> .beads/calls\n{deed}\ncase $1 in list) echo null;; *) echo '{{\"id\": \"na-1\"}}';; esac\n"
        );
        let bd = self.bin.path().join("bd");
        fs::write(&bd, script).unwrap();
        fs::set_permissions(&bd, fs::Permissions::from_mode(0o755)).unwrap();
        give_to(&self.cells, self.bin.path());
        self.cells.settle();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.cells.path(name)
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.path(".beads/calls")).unwrap_or_default().lines().count()
    }

    fn night(&self, more: &[&str]) -> Ran {
        let start = ["--json", "overnight", "start", "--no-keep-awake", "--max-iterations", "1"];
        self.cells.ao(&[&start, more].concat())
    }

    /// A night, and its bead step: status and note.
    fn step(&self) -> (String, String) {
        let ran = self.night(&[]).expect(0);
        let steps = ran.json()["summary"]["steps"].as_array().unwrap().clone();
        let step = steps.iter().find(|step| step["name"] == "bead-sync").unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&step["status"]), text(&step["note"]))
    }
}

fn everywhere() -> [Cells; 3] {
    [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()]
}

// proves: REP-16, RUN-32, RUN-33
#[test]
fn bd_writes_its_beads_and_nothing_else() {
    for cells in everywhere() {
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("old"), "old\n").unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let deed = format!(
            "(echo bad > bad.txt; echo bad >> kept.txt; rm -f kept.txt; ln -s kept.txt link; ln -s . .beads/../led
              echo bad > .git/hooks/pre-commit; git add -A; git commit -q -m bad; rm -f .git/HEAD
              ln -s {0}/old .beads/away; echo bad >> .beads/away; ln kept.txt .beads/kept; echo bad >> .beads/kept
              rm -rf .agents; echo bad > .agents/learnings/a.md; cat .ssh/id > .beads/seen
              echo bad > {0}/bad; echo bad >> {0}/old
              python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)') > /dev/null 2>&1",
            elsewhere.path().display()
        );
        let beads = Beads::new(cells, &deed);
        give_to(&beads.cells, elsewhere.path());
        let root = beads.cells.repo.root();
        assert!(Command::new("git").args(["init", "-q"]).arg(root).status().unwrap().success());
        beads.cells.settle();
        let before = (files(root), files(elsewhere.path()));
        let (status, note) = beads.step();
        assert_eq!(status, "done", "{note}");
        assert!(beads.calls() > 1, "it was run");
        let after = (files(root), files(elsewhere.path()));
        let is_ours = |path: &str| {
            // The home lies in the repository here, and the key of the receipts in the home.
            let receipts = ".local/state/ao/receipts/";
            let next = ".agents/rpi/next-work.jsonl";
            [".beads/", ".agents/overnight/", ".agents/ao/", next, receipts]
                .iter()
                .any(|ours| path.starts_with(ours))
        };
        for (path, seen) in after.0.iter().filter(|(path, _)| !is_ours(path)) {
            assert_eq!(before.0.get(path), Some(seen), "{path}");
        }
        assert!(before.0.keys().all(|path| after.0.contains_key(path)));
        assert_eq!(after.1, before.1);
        let is_link =
            |path: &str| fs::symlink_metadata(beads.path(path)).is_ok_and(|it| it.is_symlink());
        assert!(!is_link(".beads/away"), "not even in its own folder");
        assert_eq!(fs::read_to_string(beads.path(".beads/seen")).unwrap_or_default(), "");
        assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        // The deed does harm where nothing holds it.
        let bd = beads.bin.path().join("bd");
        Command::new(bd).arg("list").current_dir(root).output().unwrap();
        assert!(beads.path("bad.txt").exists() && elsewhere.path().join("bad").exists());
        listener.accept().unwrap();
    }
}

#[test]
fn what_bd_leaves_behind_is_gone_and_told() {
    for (nth, cells) in everywhere().into_iter().enumerate() {
        let nap = format!("87{}{nth}", std::process::id());
        let beads = Beads::new(cells, &format!("setsid sleep {nap} > /dev/null 2>&1 &"));
        let (status, note) = beads.step();
        assert_eq!(status, "done", "{note}");
        assert!(note.contains("processes that bd left behind and that were ended: "), "{note}");
        assert!(!is_running(&nap));
    }
}

#[test]
fn where_there_is_no_cell_bd_is_not_run() {
    let why = "bd was not run: there is no cell for it: ";
    for (name, value, because) in [
        ("AO_CELL_TEST_TIER", "D", "this machine can hold a program only in tier D"),
        ("AO_CELL_TEST_WITHOUT", "read-only", "the cell does not hold"),
    ] {
        let beads = Beads::new(Cells::new(User::This).variable(name, value), "");
        let (status, note) = beads.step();
        assert_eq!((status.as_str(), beads.calls()), ("soft-fail", 0), "{note}");
        assert!(note.contains(&format!("{why}{because}")), "{note}");
        beads.night(&["--strict-exit"]).expect(3);
    }
}

#[test]
fn a_folder_that_leads_elsewhere_is_not_given_to_bd() {
    type Make = fn(&Beads);
    let makes: [(&str, Make); 5] = [
        ("cannot be read", |beads| fs::remove_dir(beads.path(".beads")).unwrap()),
        ("is a symlink", |beads| {
            fs::rename(beads.path(".beads"), beads.path("real")).unwrap();
            symlink("real", beads.path(".beads")).unwrap();
        }),
        ("pipe in it must not be writable", |beads| {
            let pipe = beads.path(".beads/pipe");
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }),
        ("twice in it must not be writable", |beads| {
            fs::hard_link(beads.path("kept.txt"), beads.path(".beads/twice")).unwrap();
        }),
        ("is neither a folder", |beads| {
            fs::remove_dir(beads.path(".beads")).unwrap();
            fs::hard_link(beads.path("kept.txt"), beads.path(".beads")).unwrap();
        }),
    ];
    for (why, make) in makes {
        let beads = Beads::new(Cells::new(User::Ordinary), "");
        make(&beads);
        beads.cells.settle();
        let (status, note) = beads.step();
        assert_eq!((status.as_str(), beads.calls()), ("soft-fail", 0), "{note}");
        assert!(note.contains("no beads: bd has no folder here: ") && note.contains(why), "{note}");
    }
}

/// A `bd` that has a daemon leaves its socket. It is there, and nobody answers.
#[test]
fn a_socket_in_the_folder_does_no_harm() {
    for cells in everywhere() {
        let connect = "import socket; socket.socket(socket.AF_UNIX).connect(\".beads/bd.sock\")";
        let beads = Beads::new(cells, &format!("python3 -c '{connect}' 2> /dev/null"));
        let listener = UnixListener::bind(beads.path(".beads/bd.sock")).unwrap();
        listener.set_nonblocking(true).unwrap();
        beads.cells.settle();
        let (status, note) = beads.step();
        assert_eq!(status, "done", "{note}");
        assert!(beads.calls() > 1);
        assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        let root = beads.cells.repo.root();
        let done = Command::new("python3").args(["-c", connect]).current_dir(root).status();
        assert!(done.unwrap().success());
        listener.accept().unwrap();
    }
}
