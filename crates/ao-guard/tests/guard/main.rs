//! Real programs, started and ended.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make their own files, and start by themselves what has to be killed"
)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bounds;
mod find;
mod gone;
mod lives;
mod oracle;
mod place;
mod start;
