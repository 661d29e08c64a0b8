//! What `ao guard run` refuses before anything is started.

use std::fs;
use std::os::unix::fs::symlink;

use crate::cell::{Cells, User};

fn refused(cells: &Cells, options: &[&str], code: i32, says: &str) {
    let ran = cells.sh(options, "touch out/started").expect(code);
    assert!(ran.stderr.contains(says) && ran.stderr.contains("hint:"), "{options:?}: {ran}");
    assert!(!cells.path("out/started").exists());
}

#[test]
fn a_path_that_must_not_be_writable_is_refused_with_its_rule() {
    let cells = Cells::new(User::This);
    symlink("out", cells.path("link")).unwrap();
    fs::create_dir_all(cells.path("sub/.git/hooks")).unwrap();
    fs::create_dir_all(cells.path("deep/er/project/.git")).unwrap();
    fs::create_dir(cells.path("twice")).unwrap();
    fs::hard_link(cells.path("kept.txt"), cells.path("twice/kept")).unwrap();
    fs::create_dir(cells.path("pipe")).unwrap();
    nix::unistd::mkfifo(&cells.path("pipe/p"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let home = cells.repo.root().to_str().unwrap().to_owned();
    for (path, rule) in [
        ("missing", "path-missing"),
        ("link", "path-symlink"),
        ("/", "path-root"),
        (home.as_str(), "path-home"),
        ("..", "path-home"),
        ("sub/.git", "path-git"),
        ("sub/.git/hooks", "path-git"),
        ("sub", "path-git"),
        (".agents", "path-held"),
        (".agents/learnings", "path-held"),
        (".agents/overnight", "path-held"),
        ("/proc/sys", "path-system"),
        ("/dev/null", "path-system"),
        ("/etc", "path-system"),
        ("/usr", "path-system"),
        ("/usr/bin/env", "path-system"),
        ("deep", "must not be writable"),
        ("twice", "must not be writable"),
        ("pipe", "must not be writable"),
    ] {
        refused(&cells, &["--rw", "out", "--rw", path], 2, rule);
    }
    // What is neither held nor the knowledge itself can be worked in.
    fs::create_dir_all(cells.path(".agents/dreams")).unwrap();
    cells.sh(&["--rw", ".agents/dreams"], "echo x > .agents/dreams/x").expect(0);
    assert!(cells.path(".agents/dreams/x").exists());
}

#[test]
fn a_tree_that_cannot_be_copied_is_refused() {
    let cells = Cells::new(User::This);
    symlink("out", cells.path("link")).unwrap();
    for tree in ["missing", "link", "kept.txt", "/", "/proc", "/dev"] {
        refused(&cells, &["--cow", tree], 2, "--cow refused");
    }
    refused(&cells, &["--cow", ".", "--rw", "out"], 2, "overlap");
}

#[test]
fn a_command_that_cannot_be_run_is_refused() {
    let cells = Cells::new(User::This);
    fs::write(cells.path("plain"), "#!/bin/sh\n").unwrap();
    fs::create_dir(cells.path("bin")).unwrap();
    fs::copy("/bin/true", cells.path("bin/planted")).unwrap();
    fs::write(cells.path("bin/garbage"), "#!/no/such/interpreter\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(cells.path("bin/garbage"), mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", cells.path("bin").display());
    for (command, says) in [
        ("no-such-program", "was not found"),
        ("./missing", "No such file"),
        ("./plain", "cannot be executed"),
        ("./out", "no file"),
        ("planted", "belongs to the repository"),
        ("", "cannot run"),
    ] {
        let mut started = cells.command(&["guard", "run", "--", command]);
        let ran = crate::repo::Ran::of(started.env("PATH", &path).output().unwrap()).expect(2);
        assert!(ran.stderr.contains(says), "{command}: {ran}");
    }
    let ran = cells.ao(&["guard", "run", "--", "./bin/garbage"]).expect(2);
    assert!(ran.stderr.contains("No such file"), "{ran}");
    cells.ao(&["guard", "run"]).expect(2);
    // A word that only the holder of a cell is started with means nothing to anybody else.
    cells.ao(&["hold-cell"]).expect(2);
    cells.ao(&["guard", "run", "--"]).expect(2);
}

#[test]
fn a_number_that_makes_no_sense_is_refused() {
    let cells = Cells::new(User::This);
    for options in [
        ["--output", "0"],
        ["--output", "-1"],
        ["--memory", "1T"],
        ["--memory", "999999999999G"],
        ["--procs", "0"],
        ["--time", "soon"],
        ["--floor", "C"],
        ["--net", "example.com"],
        ["--net", "user@example.com:443"],
        ["--net", "127.1:443"],
    ] {
        cells.sh(&options, "touch out/started").expect(2);
    }
    assert!(!cells.path("out/started").exists());
}

#[test]
fn a_cell_has_no_cell_in_it() {
    for cells in [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()] {
        let ao = crate::cell::binary_for_all().to_str().unwrap();
        // In tier B only what is listed can be read.
        if cells.sh(&[], &format!("{ao} --version")).code != 0 {
            continue;
        }
        let script =
            format!("{ao} guard run -- true; echo $?; env -i {ao} guard run -- true; echo $?");
        let answer = cells.sh(&[], &script).expect(0).json();
        let codes: Vec<_> = answer["stdout"]["text"].as_str().unwrap().lines().collect();
        assert_eq!(codes[0], "6", "{answer}");
        assert_ne!(codes[1], "0", "{answer}");
    }
}

/// It would be left out without a word: a value is never said on the command line.
#[test]
fn a_variable_with_a_value_is_refused() {
    let cells = Cells::new(User::This);
    for name in ["A=b", "=", ""] {
        let ran = cells.sh(&["--rw", "out", "--env", name], "touch out/started").expect(2);
        assert!(ran.stderr.contains("not the name of a variable"), "{ran}");
        assert!(!cells.path("out/started").exists());
    }
}
