//! Attacks on the built binary, from outside.
//!
//! Nothing here links to the door. Each engine starts `ao` on a small tree, does to it what the
//! world does (kills it, fails its system calls, fills its disk, cuts its power, reads and writes
//! beside it) and then asks one question: is the tree wholly before or wholly after the commit,
//! with nothing lost and nothing left over?
//!
//! By default every engine runs a sample, in seconds. `AO_SWEEP=1` runs all of it, and
//! `AO_SWEEP_ONLY=CASE` one case by the name that a failure prints. With `AO_SWEEP_TABLE=FILE`
//! each engine adds a line `ENGINE<tab>CASES<tab>BAD`.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the attacker writes files and starts processes as anybody else on the machine does"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops, and says where")]

mod act;
mod calls;
mod check;
mod course;
mod mount;
mod step;
mod tally;
mod trap;
mod tree;
mod verdict;
mod world;

mod disk;
mod errno;
mod intruder;
mod kill;
mod lock;
mod nights;
mod overlay;
mod pair;
mod power;
mod readers;
mod writers;
