//! A failure as it stands in a cassette, and back.

use std::time::Duration;

use ao_contract::{CassetteFailure, Extra, FailureKind};
use jiff::Timestamp;

use crate::failure::Failure;

pub(super) fn recorded(failure: &Failure) -> CassetteFailure {
    use FailureKind as Kind;
    let about = |text: &String| (Some(text.clone()), None, None);
    let (kind, (about, limit, until)) = match failure {
        Failure::Missing(text) => (Kind::Missing, about(text)),
        Failure::NotLoggedIn(text) => (Kind::NotLoggedIn, about(text)),
        Failure::RateLimited { runner, until } => {
            (Kind::RateLimited, (Some(runner.clone()), None, until.map(|at| at.to_string())))
        }
        Failure::TimedOut(time) => {
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            (Kind::TimedOut, (None, Some(time), None))
        }
        Failure::TooLong(bytes) => (Kind::TooLong, (None, Some(*bytes), None)),
        Failure::NotJson(text) => (Kind::NotJson, about(text)),
        Failure::NotOfTheForm(text) => (Kind::NotOfTheForm, about(text)),
        Failure::Unsafe(text) => (Kind::Unsafe, about(text)),
        Failure::OverBudget(text) => (Kind::OverBudget, about(text)),
        Failure::NotStarted(text) => (Kind::NotStarted, about(text)),
        Failure::Redirected(text) => (Kind::Redirected, about(text)),
        Failure::Broken(text) => (Kind::Broken, about(text)),
        Failure::NotRecorded(text) => (Kind::NotRecorded, about(text)),
        Failure::Stopped => (Kind::Stopped, (None, None, None)),
    };
    let message = failure.to_string();
    CassetteFailure { kind, message, about, limit, until, extra: Extra::new() }
}

pub(super) fn played(failure: &CassetteFailure) -> Failure {
    use FailureKind as Kind;
    let about = failure.about.clone().unwrap_or_default();
    let limit = failure.limit.unwrap_or_default();
    match failure.kind {
        Kind::Missing => Failure::Missing(about),
        Kind::NotLoggedIn => Failure::NotLoggedIn(about),
        Kind::RateLimited => {
            let until = failure.until.as_ref().and_then(|at| at.parse::<Timestamp>().ok());
            Failure::RateLimited { runner: about, until }
        }
        Kind::TimedOut => Failure::TimedOut(Duration::from_millis(limit)),
        Kind::TooLong => Failure::TooLong(limit),
        Kind::NotJson => Failure::NotJson(about),
        Kind::NotOfTheForm => Failure::NotOfTheForm(about),
        Kind::Unsafe => Failure::Unsafe(about),
        Kind::OverBudget => Failure::OverBudget(about),
        Kind::NotStarted => Failure::NotStarted(about),
        Kind::Redirected => Failure::Redirected(about),
        Kind::Broken => Failure::Broken(about),
        Kind::NotRecorded => Failure::NotRecorded(about),
        Kind::Stopped => Failure::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_comes_back_as_it_was() {
        let text = || "x".to_owned();
        for failure in [
            Failure::Missing(text()),
            Failure::NotLoggedIn(text()),
            Failure::RateLimited { runner: text(), until: None },
            Failure::RateLimited {
                runner: text(),
                until: Some("2026-04-16T02:00:00Z".parse().unwrap()),
            },
            Failure::TimedOut(Duration::from_mins(3)),
            Failure::TooLong(7),
            Failure::NotJson(text()),
            Failure::NotOfTheForm(text()),
            Failure::Unsafe(text()),
            Failure::OverBudget(text()),
            Failure::NotStarted(text()),
            Failure::Redirected(text()),
            Failure::Broken(text()),
            Failure::NotRecorded(text()),
            Failure::Stopped,
        ] {
            let record = recorded(&failure);
            assert_eq!(played(&record), failure);
            // The same word in reports and in the file.
            assert_eq!(serde_json::to_value(record.kind).unwrap(), failure.kind());
        }
    }
}
