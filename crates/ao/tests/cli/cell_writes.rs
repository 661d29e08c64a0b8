//! What a command wrote is told, also by one who would rather not have it told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cell::{Cells, User, is_root, writes};

fn ends(answer: &serde_json::Value) -> Vec<String> {
    let name = |(path, _): (String, String)| path.rsplit('/').next().unwrap().to_owned();
    writes(answer).into_iter().map(name).collect()
}

#[test]
fn a_folder_of_the_copy_that_was_closed_is_looked_into() {
    for mode in ["000", "100", "400"] {
        let cells = Cells::new(User::Ordinary);
        let script = format!("mkdir d; echo x > d/inside; chmod {mode} d; chmod {mode} .");
        let answer = cells.sh(&["--cow", "."], &script).expect(0).json();
        assert_eq!(ends(&answer), ["d", "inside"], "{answer}");
    }
}

/// Nobody else can open what is really there without changing it, so that it is an error.
#[test]
fn a_folder_that_was_closed_is_not_passed_over() {
    for cells in [Cells::new(User::Ordinary), Cells::tier_b()] {
        let script = "(umask 777; mkdir out/shut)";
        let ran = cells.sh(&["--rw", "out"], script).expect(1);
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("out/shut cannot be looked into"), "{ran}");
        // It may have a second name for something else in it.
        cells.sh(&["--rw", "out"], "touch out/started").expect(2);
        assert!(!cells.path("out/started").exists());
        let open = fs::Permissions::from_mode(0o700);
        fs::set_permissions(cells.path("out/shut"), open).unwrap();
    }
}

/// Exit 2 would say that nothing was started.
#[test]
fn a_tree_too_deep_to_be_told_is_an_error_after_the_start() {
    let deep = "cd out; n=dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
            mkdir -p $n/$n && cd -P $n/$n 2>/dev/null || exit 0
        done; mkdir z; echo x > z/x; chmod 0 z";
    let cells = Cells::new(User::Ordinary);
    let temporary = tempfile::Builder::new().prefix("cells-").tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let cells = cells.variable("TMPDIR", temporary.path().to_str().unwrap());
    let ran = cells.sh(&["--rw", "out"], deep).expect(1);
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("cannot be read"), "{ran}");
    fs::remove_dir_all(cells.path("out")).unwrap();
    fs::create_dir(cells.path("out")).unwrap();
    cells.settle();
    cells.sh(&["--cow", "."], deep).expect(1);
    // What is too deep, and closed, is removed all the same.
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    assert!(!is_root() || cells.path("out").exists());
}

/// Where the kernel must end one for want of memory, it is one of a cell.
#[test]
fn a_cell_is_the_first_to_go() {
    for cells in [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()] {
        let answer = cells.sh(&[], "cat /proc/self/oom_score_adj").expect(0).json();
        assert_eq!(answer["stdout"]["text"], "1000\n", "{answer}");
    }
}
