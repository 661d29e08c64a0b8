//! Copies among the entries of one kind, without comparing all pairs.
//!
//! Texts that share bands of their sketches ([`sketch`]) are compared word for word ([`features`]).
//! Two tiers come of it: what is alike enough to be merged, and what a person may want to look at.
//! Whatever the score, entries that claim different things ([`claims`]) are never merged. Copies
//! gather around the best of them ([`rank`]), each by itself: a copy of a copy that is no longer a
//! copy of the best one stays.

mod claims;
mod features;
mod find;
mod guards;
mod likeness;
mod members;
mod near;
mod pieces_read;
mod rank;
mod signs;
mod sketch;
mod variants;
mod vocabulary;
mod wander;

pub(crate) use claims::is_aside_heading;
pub use claims::{Apart, Claims, Verdict};
pub(crate) use claims::{Word, measures, words_of};
pub use features::{Features, overlap};
pub(crate) use features::{hash, mix};
pub(crate) use find::features_of;
pub use find::{Cluster, Duplicates, Finder, Member, Pair};
pub use guards::guards;
pub use likeness::Likeness;
pub use near::{Beside, Difference, likeness};
pub use rank::{Rank, UTILITY_PARTS};
pub(crate) use vocabulary::{
    are_opposites, is_colour, is_negation, is_retraction, is_spelled_number, is_times, is_unit,
    is_weak, may_be_opposite,
};

/// Entries of which both hold are merged, if they claim the same.
pub const MERGE_STEMS_MIN: f64 = 0.7;
pub const MERGE_PAIRS_MIN: f64 = 0.6;
/// Entries of which both hold are shown.
pub const REVIEW_STEMS_MIN: f64 = 0.5;
pub const REVIEW_PAIRS_MIN: f64 = 0.3;
/// Shorter texts are merged only if they are the same, word for word.
pub const NEAR_STEMS_MIN: usize = 8;
