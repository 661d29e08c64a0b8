//! Attacks on the built binary by people who do not go by path, by disks that are moved, and by
//! odd files.
//!
//! Shells stand in a folder, programs hold a folder or a file open, editors save in their own ways,
//! a tree is copied or stashed in mid-commit, a pager is left open. Nothing here links to the door:
//! what was acknowledged must be in the tree afterwards, or kept beside it and reported.
//!
//! The tools are those of the sweep (`../sweep`), and so are the variables: `AO_SWEEP=1` runs all of
//! it, `AO_SWEEP_ONLY=CASE` one case, `AO_SWEEP_TABLE=FILE` gets a line an engine.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the attacker writes files and starts processes as anybody else on the machine does"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops, and says where")]

#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/calls.rs"]
mod calls;
#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/nights/dice.rs"]
mod dice;
#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/nights/history.rs"]
mod history;
#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/step.rs"]
mod step;
#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/tally.rs"]
mod tally;
#[path = "../sweep/trap.rs"]
mod trap;
#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/tree.rs"]
mod tree;
#[path = "../sweep/nights/truth.rs"]
mod truth;
#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/nights/words.rs"]
mod words;
#[allow(dead_code, reason = "the sweep uses the rest of it")]
#[path = "../sweep/world.rs"]
mod world;

mod corpus;
mod course;
mod editors;
mod ledger;
mod parcels;
mod whole;
mod writers;

mod moved;
mod night_errno;
mod odd;
mod old;
mod pager;
mod raw;
mod stashed;
mod storm;
