//! Patterns: what learnings of several sessions say alike becomes a page that cites them.
//!
//! A pattern is compiled where at least [`SOURCES_MIN`] learnings that are independent of each other say the same in
//! one sentence: their title, their rule, how they begin ([`statement`], [`agree`]). It says it in the words of one of
//! them. What has joined since is added, and what was withdrawn is said; only the block that is ours is changed
//! ([`page`]). What was compiled once is in the ledger, so that a page that a person deleted stays deleted.

mod agree;
mod compile;
mod fate;
mod keep;
mod known;
mod meet;
mod page;
mod recur;
mod shelf;
mod statement;
mod tell;
mod trust;
mod vocabulary;

pub use agree::{CONTAINED_MIN, SHARED_MIN};
pub(crate) use compile::compile;
pub use page::{
    COMPILED_AT, COMPILED_FROM, COMPILED_KEY, WEAKENED, WITHDRAWN, is_compiled, is_unsaid,
    is_weakened,
};
pub(crate) use page::{lists_of, without_own};
pub use recur::SOURCES_MIN;
pub use tell::{Told, tell};
