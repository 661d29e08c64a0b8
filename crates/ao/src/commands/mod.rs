//! One file a command.

pub(crate) mod demo;
pub(crate) mod flywheel;
mod proposal;
pub(crate) mod schema;
pub(crate) mod tree;
