//! Why there is no answer. None of these stops a night.

use std::time::Duration;

use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{0} was not found on PATH")]
    Missing(String),
    #[error("{0} is not logged in")]
    NotLoggedIn(String),
    /// It asked for a pause; `until` if it said how long.
    #[error("the limit of {runner} is reached{}", until.map(|at| format!(" until {at}")).unwrap_or_default())]
    RateLimited { runner: String, until: Option<Timestamp> },
    #[error("it took longer than {0:?}")]
    TimedOut(Duration),
    #[error("its answer is longer than {0} bytes")]
    TooLong(u64),
    #[error("its answer is not JSON: {0}")]
    NotJson(String),
    #[error("its answer is not of the form: {0}")]
    NotOfTheForm(String),
    /// It holds what must not be shown.
    #[error("its answer holds {0}")]
    Unsafe(String),
    /// It spent more than it was given.
    #[error("it went over its budget: {0}")]
    OverBudget(String),
    /// Nothing was started: no cell, no budget left, a name that is not known.
    #[error("it was not started: {0}")]
    NotStarted(String),
    /// It sends to somewhere else, where nobody follows.
    #[error("it redirects to {0}, which is not followed")]
    Redirected(String),
    /// It ended, or the connection did, without an answer.
    #[error("{0}")]
    Broken(String),
    /// A cassette is played back, and has no such exchange.
    #[error("the cassette has no such exchange: {0}")]
    NotRecorded(String),
    #[error("it was stopped")]
    Stopped,
}

impl Failure {
    /// One word for reports and tests.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Missing(_) => "missing",
            Self::NotLoggedIn(_) => "not-logged-in",
            Self::RateLimited { .. } => "rate-limited",
            Self::TimedOut(_) => "timed-out",
            Self::TooLong(_) => "too-long",
            Self::NotJson(_) => "not-json",
            Self::NotOfTheForm(_) => "not-of-the-form",
            Self::Unsafe(_) => "unsafe",
            Self::OverBudget(_) => "over-budget",
            Self::NotStarted(_) => "not-started",
            Self::Redirected(_) => "redirected",
            Self::Broken(_) => "broken",
            Self::NotRecorded(_) => "not-recorded",
            Self::Stopped => "stopped",
        }
    }
}
