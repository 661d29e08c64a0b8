//! What reading one value costs, and what every other command pays for knowing them all.
//!
//!     cargo bench --bench vault
//!
//! Each read is a process, from its start to its end. Beside it, in turn, so that what else the machine does hits all of
//! them: `true`, which is what starting a process costs, and `age -d` with the same identity over a file with that one
//! value alone, which is the least that a vault of one file a value would do (`pass` starts a shell and `gpg` for it).
//! `age` is left out where it is not installed. `ao tree log` stands for every other command: it opens the vault of the home
//! that it is given, so that nothing of it is printed.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use cost::{Cost, median, used};
use nix::sys::resource::UsageWho;

const READS: usize = 200;
const VALUE: &str = "tok_live_9fQ2xVbR7mKpW4zLhT8c";
const AO: &str = env!("CARGO_BIN_EXE_ao");

/// A program, and what it has to print.
struct Case {
    name: String,
    program: Vec<String>,
    says: &'static str,
    home: PathBuf,
}

fn main() {
    let place = tempfile::tempdir().unwrap();
    let bare = place.path().join("0");
    let repo = place.path().join("repo");
    fs::create_dir_all(repo.join(".agents")).unwrap();
    fs::create_dir(&bare).unwrap();
    let log = |home: &Path, name: &str| {
        let log = case(name, &[AO, "-q", "-C", repo.to_str().unwrap(), "tree", "log"], "");
        Case { home: home.to_owned(), ..log }
    };
    let mut cases = vec![case("true", &["/bin/true"], ""), log(&bare, "ao tree log, no vault")];
    for count in [1, 20, 1000] {
        let home = place.path().join(count.to_string());
        fs::create_dir(&home).unwrap();
        run(&home, &[AO, "vault", "init"], "");
        run(&home, &[AO, "vault", "write", "KEY"], VALUE);
        for number in 1..count {
            run(&home, &[AO, "vault", "write", &format!("n{number}")], &format!("{VALUE}{number}"));
        }
        cases.push(log(&home, &format!("ao tree log, vault of {count}")));
        let home = home.to_str().unwrap();
        let (identity, vault) = (
            format!("{home}/.config/ao/identity.txt"),
            format!("{home}/.local/share/ao/vault.age"),
        );
        cases.push(case(
            &format!("ao vault read, of {count}"),
            &[AO, "vault", "read", "KEY", "--identity", &identity, "--vault", &vault],
            VALUE,
        ));
    }
    let home = place.path().join("1");
    let key = home.join(".config/ao/identity.txt");
    let alone = home.join("alone.age");
    let text = fs::read_to_string(&key).unwrap();
    let public = text.lines().find_map(|line| line.strip_prefix("# public key: ")).unwrap();
    if Command::new("age").arg("--version").stdout(Stdio::null()).status().is_ok() {
        let alone = alone.to_str().unwrap();
        run(&home, &["age", "-r", public, "-o", alone], VALUE);
        cases.push(case(
            "age -d, of a file with it alone",
            &["age", "-d", "-i", key.to_str().unwrap(), alone],
            VALUE,
        ));
    } else {
        println!("age is not installed, and left out");
    }
    let mut costs: Vec<Vec<Cost>> = cases.iter().map(|_| Vec::new()).collect();
    for _ in 0..READS {
        for (case, costs) in cases.iter().zip(&mut costs) {
            costs.push(measure(case));
        }
    }
    println!("median of {READS} reads{:>24} {:>10}", "wall", "CPU");
    for (case, costs) in cases.iter().zip(costs) {
        let Cost { wall, cpu } = median(costs);
        let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
        println!("{:<36} {:>6.2} ms {:>7.2} ms", case.name, milliseconds(wall), milliseconds(cpu));
    }
}

fn case(name: &str, program: &[&str], says: &'static str) -> Case {
    let program = program.iter().map(|&word| word.to_owned()).collect();
    Case { name: name.to_owned(), program, says, home: "/nonexistent".into() }
}

fn run(home: &Path, program: &[&str], input: &str) {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).env("HOME", home).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    assert!(child.wait().unwrap().success(), "{program:?}");
}

fn measure(case: &Case) -> Cost {
    let mut command = Command::new(&case.program[0]);
    command.args(&case.program[1..]).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.env("HOME", &case.home);
    let (since, before) = (Instant::now(), used(UsageWho::RUSAGE_CHILDREN));
    let output = command.output().unwrap();
    let cpu = used(UsageWho::RUSAGE_CHILDREN).saturating_sub(before);
    let cost = Cost { wall: since.elapsed(), cpu };
    assert_eq!(output.stdout, case.says.as_bytes(), "{}", case.name);
    cost
}
