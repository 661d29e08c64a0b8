//! Whether what the hook allows stays in the scope, said by the shells themselves.
//!
//! Lines of shell text are made from the scripts of this very machine (those of its packages and its programs), mutated, with
//! something in them that would write elsewhere. The judge is asked in bulk; what it allows is run, by every shell that is
//! here, as an ordinary user in a throw-away root: own user, mount, process and network namespaces, the system read-only, bounded
//! in time, memory, processes and sizes. Nothing outside of the scope may be different afterwards. Nothing of it is
//! ever run on the machine itself: without such a root the test says so and runs no line.
//!
//! A sample by default; `AO_SWEEP=1` judges 100,000. `AO_LINES_SEED=N` makes others.

// proves: SCO-01
// pitfall 30

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests make their own files and processes, and this one is its own harness"
)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod inside;
mod mutate;
mod room;
mod scripts;

use std::env;

const SAMPLE: usize = 4000;
const SWEEP: usize = 100_000;
/// So many are judged and run in one throw-away root.
const BATCH: usize = 2000;
/// So many that were allowed are kept, to be mutated further.
const KEPT_MAX: usize = 4000;
/// A test in which fewer than one line in a hundred is run says too little.
const RUN_MIN: usize = 100;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("inside") => inside::run(&arguments[1..]),
        _ if arguments.iter().any(|argument| argument == "--list") => println!("lines: test"),
        _ => std::process::exit(i32::from(!is_kept())),
    }
}

fn is_kept() -> bool {
    let is_full = env::var_os("AO_SWEEP").is_some_and(|value| value == "1");
    let seed = env::var("AO_LINES_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let count = if is_full { SWEEP } else { SAMPLE };
    let found = scripts::collect();
    let mut dice = mutate::Dice::new(seed);
    let (mut judged, mut allowed, mut runs, mut wrote) = (0, 0, 0, 0);
    let (mut holes, mut kept) = (Vec::new(), Vec::new());
    while judged < count {
        let lines: Vec<String> = (0..BATCH.min(count - judged))
            .map(|_| mutate::line(&found, &kept, &mut dice))
            .collect();
        judged += lines.len();
        match room::judge_and_run(&lines) {
            Ok(told) => {
                allowed += told.allowed.len();
                kept.extend(told.allowed);
                kept.drain(..kept.len().saturating_sub(KEPT_MAX));
                runs += told.runs;
                wrote += told.wrote;
                holes.extend(told.holes);
            }
            Err(why) => {
                println!("SKIPPED lines: {why}");
                return true;
            }
        }
    }
    for hole in &holes {
        println!("HOLE {hole}");
    }
    println!(
        "lines: {judged} from {} scripts, {allowed} allowed, {runs} runs, {wrote} wrote in the scope, {} outside",
        found.count,
        holes.len()
    );
    let is_enough = allowed * RUN_MIN >= judged;
    if !is_enough {
        println!("FAILED: too few were allowed for the test to say anything");
    }
    holes.is_empty() && is_enough
}
