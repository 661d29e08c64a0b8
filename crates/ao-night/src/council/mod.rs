//! The council: one packet goes to every runner, one after another, and each answers once.
//!
//! Runners do not hear of each other. What they say is material: it is shown beside the night's own
//! first move and takes the place of nothing.

mod books;
mod desk;
mod lane;
mod nonces;
mod question;
pub(crate) mod review;
mod seat;
mod synthesis;

use ao_contract::{ConsensusPolicy, RecommendedKind};

pub(crate) use books::Books;
pub use desk::Desk;
pub use lane::Lane;
pub use nonces::Nonces;
pub(crate) use question::question;
pub(crate) use review::{Review, Tally};
pub(crate) use seat::Hours;
pub use seat::{Patience, Seat};
pub(crate) use synthesis::synthesis;

/// Who is asked, and how the answers are put together.
#[derive(Debug, Clone)]
pub struct Council {
    /// In the order in which they are asked.
    pub seats: Vec<Seat>,
    pub policy: ConsensusPolicy,
    pub lane: Lane,
    pub nonces: Nonces,
    pub patience: Patience,
    /// Where events wait for somebody to look at them.
    pub desk: Option<Desk>,
}

impl Council {
    /// The most that it may take.
    pub(crate) fn time(&self) -> std::time::Duration {
        self.seats.iter().map(|seat| seat.budget.time).sum()
    }
}

/// The kind as the report spells it.
pub(crate) fn word(kind: RecommendedKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
