//! The ownership audit: what changed in a work tree and its `.git`, by the engine's own eyes.
//!
//! `git diff` sees neither untracked files nor ignored ones, nor those it was told to take for unchanged,
//! nor hooks, configuration and references, and a worker that can write `.git` can make it see less. So
//! the tree is walked and hashed here, before and after, and the two are compared.

mod compare;
mod look;
mod take;
mod upper;

pub use compare::{Finding, Verdict, What, compare};
pub use look::name_of;
pub use take::take;
pub use upper::compare_upper;
