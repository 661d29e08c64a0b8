//! Morning packets, over repositories that the tests make themselves.

#![expect(clippy::disallowed_methods, reason = "tests make their own files and start a shell")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod checks;
mod commands;
mod files;
mod gather;
mod ground;
mod sync;
