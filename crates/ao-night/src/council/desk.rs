//! Where the events lie that a council looks at.

use jiff::Timestamp;

use crate::curator::{self, Closing, Open, Worker};

#[derive(Debug, Clone)]
pub enum Desk {
    /// The curator's own.
    Curator(Worker),
    /// Events as they were then; what is said of them changes nothing.
    Past(Vec<Open>),
}

impl Desk {
    pub(crate) fn pending(&self) -> Result<Vec<Open>, curator::Error> {
        match self {
            Self::Curator(worker) => curator::pending_events(worker),
            Self::Past(events) => Ok(events.clone()),
        }
    }

    /// Spends a call; whether there was one.
    pub(crate) fn spend(&self, id: &str, by: &str, now: Timestamp) -> bool {
        match self {
            Self::Curator(worker) => curator::spend(worker, id, by, now).is_ok(),
            Self::Past(_) => true,
        }
    }

    pub(crate) fn close(&self, id: &str, closing: &Closing<'_>) -> Result<(), curator::Error> {
        match self {
            Self::Curator(worker) => curator::close_event(worker, id, closing),
            Self::Past(_) => Ok(()),
        }
    }
}
