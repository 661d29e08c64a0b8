//! One file a command.

mod agreed;
mod as_of;
pub(crate) mod defrag;
pub(crate) mod demo;
pub(crate) mod flywheel;
pub(crate) mod guard;
pub(crate) mod harvest;
pub(crate) mod knowledge;
mod library;
pub(crate) mod lookup;
pub(crate) mod metrics;
pub(crate) mod notify;
pub(crate) mod overnight;
mod proposal;
mod questions;
pub(crate) mod retrieval_bench;
pub(crate) mod rule;
pub(crate) mod runners;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod signals;
pub(crate) mod tree;
pub(crate) mod trust;
pub(crate) mod vault;
