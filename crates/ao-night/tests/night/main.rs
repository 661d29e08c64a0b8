//! The night's dealings with other programs.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make their own files, and start by themselves what has to be killed"
)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod awake;
mod beads;
mod bed;
mod long_haul;
