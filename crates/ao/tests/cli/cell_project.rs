//! What is secret in a project by its name, at the start and later.

use std::fs;

use crate::cell::{Cells, User, writes};
use crate::cell_home::{FolderBeside, everywhere, meanwhile, text};

const MARK: &str = "must-not-be-seen";

fn plant(cells: &Cells, name: &str) {
    let path = cells.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, MARK).unwrap();
}

/// Each kind of cell that can be had: what is written for real, and a copy.
const OPTIONS: [&[&str]; 2] = [&["--rw", "out"], &["--cow", "."]];

#[test]
fn secret_files_of_a_project_are_not_read() {
    for cells in everywhere() {
        for name in
            [".env", "app/.env.production", "app/deep/tls.key", ".aws/credentials", "app/.ENV"]
        {
            plant(&cells, name);
        }
        fs::write(cells.path("app/.env.example"), "a sample\n").unwrap();
        fs::write(cells.path("app/plain"), "plain\n").unwrap();
        cells.settle();
        let script =
            "cat .env app/.env.production app/deep/tls.key .aws/credentials app/.ENV 2>/dev/null
            grep -rs must . ; cat app/.env.example app/plain; stat -c %a app";
        for options in OPTIONS {
            let ran = cells.sh(options, script);
            if ran.code == 6 && options.contains(&"--cow") {
                continue; // There is none in tier B.
            }
            let answer = ran.expect(0).json();
            assert!(!answer.to_string().contains(MARK), "{answer}");
            assert!(text(&answer).contains("a sample\nplain\n755\n"), "{answer}");
        }
        // What a command needs is granted by name.
        let beside = FolderBeside::of(&cells);
        crate::cell::give_to(&cells, beside.dir.path());
        let cells = cells.variable("HOME", beside.path("home").to_str().unwrap());
        let answer = cells.sh(&["--ro", ".env"], "cat .env app/.env.production").json();
        assert_eq!(text(&answer), MARK, "{answer}");
    }
}

#[test]
fn secret_files_that_come_while_a_cell_runs_are_not_read() {
    for cells in everywhere() {
        for options in OPTIONS {
            let beside = FolderBeside::of(&cells);
            fs::create_dir_all(cells.path("app/deep")).unwrap();
            plant(&cells, ".env");
            plant(&cells, "app/server.pem");
            // Not in the tree: what could be read before it was renamed is no secret any more.
            beside.write("to-be-renamed", MARK);
            fs::write(cells.path("app/plain"), "plain\n").unwrap();
            cells.settle();
            crate::cell::give_to(&cells, beside.dir.path());
            if options.contains(&"--cow") && cells.sh(options, "true").code == 6 {
                continue; // There is none in tier B.
            }
            let outside = || {
                // Made, renamed, and swapped.
                plant(&cells, ".env.local");
                plant(&cells, "app/deep/.env.production");
                fs::rename(beside.path("to-be-renamed"), cells.path("app/.env")).unwrap();
                for name in [".env", "app/server.pem"] {
                    plant(&cells, "fresh");
                    fs::rename(cells.path("fresh"), cells.path(name)).unwrap();
                }
            };
            let script =
                "cat .env .env.local app/.env app/deep/.env.production app/server.pem 2>/dev/null
                cat app/plain";
            let answer = meanwhile(&cells, &beside, options, outside, script);
            assert!(!answer.to_string().contains(MARK), "{options:?}: {answer}");
            assert_eq!(text(&answer), "plain\n", "{options:?}: {answer}");
            for name in [".env", ".env.local", "app/.env", "app/deep/.env.production"] {
                fs::remove_file(cells.path(name)).unwrap();
            }
        }
    }
}

/// A name that nobody thought of cannot be hidden before it comes: then the cell is ended.
#[test]
fn a_cell_is_ended_when_an_unusual_secret_comes() {
    for user in [User::This, User::Ordinary] {
        for options in [&[][..], &["--cow", "."]] {
            for late in [".env.of-somebody", "app/their.pem", "new/folder/.env"] {
                let cells = Cells::new(user);
                let beside = FolderBeside::of(&cells);
                fs::create_dir(cells.path("app")).unwrap();
                cells.settle();
                crate::cell::give_to(&cells, beside.dir.path());
                let script = "while true; do sleep 0.02; done";
                let answer = meanwhile(&cells, &beside, options, || plant(&cells, late), script);
                assert_eq!(answer["ended"]["how"], "secret-appeared", "{answer}");
                let refusals = answer["refusals"].as_array().unwrap();
                let rule = refusals.iter().find(|one| one["rule"] == "secret-appeared");
                let what = rule.unwrap_or_else(|| panic!("{answer}"))["what"].as_str().unwrap();
                assert!(what.contains(late.rsplit('/').next().unwrap()), "{answer}");
            }
        }
    }
}

/// What a command makes itself is its own, and is told as any other write.
#[test]
fn a_command_may_make_such_a_file_in_its_copy() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::new(user);
        plant(&cells, ".env");
        cells.settle();
        let script = "cp kept.txt .env && cat .env && mkdir sub && echo x > sub/.env.local && cat sub/.env.local";
        let answer = cells.sh(&["--cow", "."], script).expect(0).json();
        assert_eq!(text(&answer), "kept\nx\n", "{answer}");
        assert_eq!(writes(&answer).len(), 3, "{answer}");
        assert_eq!(fs::read_to_string(cells.path(".env")).unwrap(), MARK);
    }
}

/// A repository may lie in a folder of another one that is not looked through, such as `target`.
#[test]
fn a_project_in_another_is_a_project() {
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        for name in ["target/inner/.env", "target/inner/src/.env.local", ".env"] {
            plant(&cells, name);
        }
        for folder in [".git", "target/inner/.git"] {
            fs::create_dir_all(cells.path(folder)).unwrap();
        }
        fs::write(cells.path("target/inner/plain"), "plain\n").unwrap();
        fs::write(cells.path("target/built"), "built\n").unwrap();
        cells.settle();
        crate::cell::give_to(&cells, beside.dir.path());
        for options in [&[][..], &["--cow", "."]] {
            let mut arguments = vec!["-q", "guard", "run"];
            arguments.extend(options);
            arguments.extend(["--", "/bin/sh", "-c"]);
            arguments.push("cat .env src/.env.local ../../.env 2>/dev/null; cat plain ../built");
            let mut command = cells.command(&arguments);
            command.current_dir(cells.path("target/inner")).env("HOME", beside.path("home"));
            let output = command.output().unwrap();
            if output.status.code() == Some(6) && !options.is_empty() {
                continue; // There is none in tier B.
            }
            assert_eq!(String::from_utf8_lossy(&output.stdout), "plain\nbuilt\n", "{output:?}");
        }
    }
}
