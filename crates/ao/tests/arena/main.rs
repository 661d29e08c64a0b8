//! The arena: attacks on everything around a program, with a cell and without.
//!
//! Each attack runs four times on ground of its own: as an ordinary user with no cell (the control,
//! which must come through, or the attack proves nothing), in a cell of tier A, in one of tier B,
//! and, where the tests run as root, in a cell of tier A as root. Whether it came through is seen
//! from outside: files with all their attributes, sockets, shared memory, terminals, processes.
//!
//! The table goes to `docs/arena.md`; `UPDATE_ARENA=1` writes it, otherwise it is compared. One
//! attack can be named on the command line.

// proves: GRD-01, GRD-04, GRD-06

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::exit,
    reason = "tests make their own files and processes, and this one is its own harness"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_ptr_alignment,
    clippy::cast_sign_loss,
    clippy::unnecessary_wraps,
    reason = "arguments of system calls are words, and the kernel says what lies where in them"
)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod attack;
mod by_call;
mod by_shell;
mod ground;
mod late;
mod machine;
mod outside;
mod raw;
mod run;
mod table;
mod victim;

use std::env;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("attack") => by_call::attack(&arguments[1]),
        Some("victim") => victim::stay(),
        _ => judge(&arguments),
    }
}

fn judge(arguments: &[String]) {
    let only: Vec<&String> = arguments.iter().filter(|name| !name.starts_with('-')).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        println!("arena: test");
        return;
    }
    let all = attack::all();
    let chosen: Vec<_> = all
        .iter()
        .filter(|attack| only.is_empty() || only.iter().any(|name| attack.name.contains(*name)))
        .collect();
    let before = machine::settings();
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for attack in &chosen {
        let row = run::judge(attack);
        failures.extend(row.failures());
        rows.push(row);
    }
    let after = machine::settings();
    for (name, value) in &before {
        if after.get(name) != Some(value) {
            failures.push(format!("the machine has changed: {name}"));
        }
    }
    if only.is_empty() {
        let controls = rows.iter().filter(|row| row.is_proved()).count();
        if controls < attack::PROVED_MIN {
            failures.push(format!("only {controls} attacks come through without a cell"));
        }
        failures.extend(table::settle(&rows));
    }
    for failure in &failures {
        println!("FAILED {failure}");
    }
    println!("{} passed, {} failed", chosen.len().saturating_sub(failures.len()), failures.len());
    std::process::exit(i32::from(!failures.is_empty()));
}
