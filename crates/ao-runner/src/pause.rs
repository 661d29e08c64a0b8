//! What becomes of a runner whose limit is reached: it is waited for if the limit ends within the night, else
//! it is left alone until its time, also by the nights after this one.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ao_contract::{DeferredRunner, DeferredRunners, Extra};
use ao_tree::own_file;
use ao_vault::{out, redactor};
use jiff::Timestamp;

use crate::failure::Failure;
use crate::line;

/// In the folder of the nights.
pub const FILE: &str = "deferred-runners.json";
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// A machine that slept meanwhile is noticed, and so is whoever wants to end it.
const SLICE: Duration = Duration::from_millis(500);
/// Clocks differ, and a limit that ends now may end in a moment.
const LATER: Duration = Duration::from_secs(2);
/// Who is limited again and again is not asked all night.
const WAITS_MAX: usize = 3;

/// The time that there is.
#[derive(Clone, Copy)]
pub struct Night<'a> {
    pub ends: Timestamp,
    pub now: &'a dyn Fn() -> Timestamp,
    /// Comes back at that time, or earlier if somebody stops it.
    pub wait: &'a dyn Fn(Timestamp),
}

impl std::fmt::Debug for Night<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Night(until {})", self.ends)
    }
}

/// What to do about a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// It ends within the night, and there is time for an answer after that.
    Wait(Timestamp),
    /// It does not, or nobody says when: not before this time.
    Deferred(Timestamp),
}

/// `needed` is the time that an answer may take.
pub fn decide(
    until: Option<Timestamp>,
    now: Timestamp,
    ends: Timestamp,
    needed: Duration,
) -> Pause {
    // Who does not say when is asked by the next night.
    let Some(until) = until else { return Pause::Deferred(ends.max(now)) };
    let asked = until.max(now).checked_add(LATER).unwrap_or(until);
    match asked.checked_add(needed) {
        Ok(answered) if answered <= ends => Pause::Wait(asked),
        _ => Pause::Deferred(until.max(now)),
    }
}

/// Asks, and asks again after a limit that ends within the night. A limit that does not is the failure, with
/// the time that the runner is deferred until.
pub fn patiently<T>(
    night: Night<'_>,
    needed: Duration,
    stop: &AtomicBool,
    mut ask: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut waits = 0;
    loop {
        let (runner, until) = match ask() {
            Err(Failure::RateLimited { runner, until }) => (runner, until),
            done => return done,
        };
        match decide(until, (night.now)(), night.ends, needed) {
            Pause::Wait(until) if waits < WAITS_MAX => {
                (night.wait)(until);
                if stop.load(Ordering::Relaxed) {
                    return Err(Failure::Stopped);
                }
            }
            Pause::Wait(_) => {
                let until = Some(night.ends);
                return Err(Failure::RateLimited { runner, until });
            }
            Pause::Deferred(until) => {
                return Err(Failure::RateLimited { runner, until: Some(until) });
            }
        }
        waits += 1;
    }
}

/// Sleeps until a time, or until somebody stops it.
pub fn wait(
    until: Timestamp,
    stop: &AtomicBool,
    now: &dyn Fn() -> Timestamp,
    sleep: &dyn Fn(Duration),
) {
    while !stop.load(Ordering::Relaxed) {
        match Duration::try_from(until.duration_since(now())) {
            Ok(left) if !left.is_zero() => sleep(left.min(SLICE)),
            _ => return,
        }
    }
}

/// The runners that are not to be asked yet, as the file has them; one that is not there has none.
pub fn read_deferred(path: &Path) -> io::Result<DeferredRunners> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let Some(bytes) = own_file::read_if_any(path, FILE_BYTES_MAX)? else {
        return Ok(DeferredRunners::default());
    };
    let value = serde_json::from_slice(&bytes)?;
    ao_contract::read(&value).map_err(|error| invalid(error.to_string()))
}

/// Until when a runner is not to be asked; nothing if it may be.
pub fn deferred_until(all: &DeferredRunners, runner: &str, now: Timestamp) -> Option<Timestamp> {
    let runner = line::plain(runner);
    let of = all.runners.iter().filter(|one| one.runner == runner);
    of.filter_map(|one| one.until.parse::<Timestamp>().ok()).filter(|until| *until > now).max()
}

/// Writes down that a runner is not to be asked before a time. What is over by now is left out.
pub fn defer(
    path: &Path,
    runner: &str,
    until: Timestamp,
    why: &Failure,
    (run_id, now): (&str, Timestamp),
) -> io::Result<()> {
    let mut all = read_deferred(path)?;
    let runner = line::plain(runner);
    let is_over = |one: &DeferredRunner| one.until.parse::<Timestamp>().is_ok_and(|at| at <= now);
    all.runners.retain(|one| one.runner != runner && !is_over(one));
    all.runners.push(DeferredRunner {
        runner,
        until: until.to_string(),
        since: now.to_string(),
        run_id: run_id.to_owned(),
        why: why.to_string(),
        extra: Extra::new(),
    });
    out::replace_file(path, &redactor().json(&all)?)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-04-16T{text}Z").parse().unwrap()
    }

    #[test]
    fn a_limit_is_waited_for_only_if_it_ends_in_time() {
        let (now, ends, needed) = (at("02:00:00"), at("06:00:00"), Duration::from_mins(3));
        for (until, expected) in [
            (Some(at("02:30:00")), Pause::Wait(at("02:30:02"))),
            (Some(now), Pause::Wait(at("02:00:02"))),
            // It is over already: the clocks differ.
            (Some(at("01:00:00")), Pause::Wait(at("02:00:02"))),
            (Some(at("05:56:58")), Pause::Wait(at("05:57:00"))),
            // No time for an answer would be left.
            (Some(at("05:56:59")), Pause::Deferred(at("05:56:59"))),
            (Some(at("06:00:00")), Pause::Deferred(at("06:00:00"))),
            (Some(at("15:45:00")), Pause::Deferred(at("15:45:00"))),
            (Some(Timestamp::MAX), Pause::Deferred(Timestamp::MAX)),
            (None, Pause::Deferred(ends)),
        ] {
            assert_eq!(decide(until, now, ends, needed), expected, "{until:?}");
        }
        // The night is over.
        assert_eq!(decide(None, at("07:00:00"), ends, needed), Pause::Deferred(at("07:00:00")));
        let until = Some(at("06:30:00"));
        assert_eq!(decide(until, at("07:00:00"), ends, needed), Pause::Deferred(at("07:00:00")));
    }

    /// A clock that goes on only while somebody sleeps; says what was asked, and how long it took.
    fn asked(
        answers: &[Result<u8, Option<&str>>],
        stop: &AtomicBool,
    ) -> (Result<u8, Failure>, usize, Timestamp) {
        let now = Cell::new(at("02:00:00"));
        let calls = Cell::new(0);
        let sleeps = RefCell::new(Vec::new());
        let sleep = |time: Duration| {
            sleeps.borrow_mut().push(time);
            now.set(now.get() + time);
        };
        let wait = |until| wait(until, stop, &|| now.get(), &sleep);
        let night = Night { ends: at("06:00:00"), now: &|| now.get(), wait: &wait };
        let result = patiently(night, Duration::from_mins(3), stop, || {
            let answer = answers[calls.get().min(answers.len() - 1)];
            calls.set(calls.get() + 1);
            answer
                .map_err(|until| Failure::RateLimited { runner: "r".into(), until: until.map(at) })
        });
        assert!(sleeps.borrow().iter().all(|time| *time <= SLICE));
        (result, calls.get(), now.get())
    }

    #[test]
    fn it_waits_and_asks_again_but_not_for_ever() {
        let go = AtomicBool::new(false);
        let limited =
            |until: &str| Err(Failure::RateLimited { runner: "r".into(), until: Some(at(until)) });
        assert_eq!(asked(&[Ok(1)], &go), (Ok(1), 1, at("02:00:00")));
        assert_eq!(asked(&[Err(Some("02:10:00")), Ok(2)], &go), (Ok(2), 2, at("02:10:02")));
        let (result, calls, now) = asked(&[Err(Some("09:00:00")), Ok(3)], &go);
        assert_eq!((result, calls, now), (limited("09:00:00"), 1, at("02:00:00")));
        let (result, calls, _) = asked(&[Err(None), Ok(3)], &go);
        assert_eq!((result, calls), (limited("06:00:00"), 1));
        // Limited again and again.
        let (result, calls, now) = asked(&[Err(Some("02:10:00"))], &go);
        assert_eq!((result, calls), (limited("06:00:00"), 1 + WAITS_MAX));
        assert!(now < at("02:11:00"));
        let stopped = AtomicBool::new(true);
        let (result, calls, _) = asked(&[Err(Some("02:10:00"))], &stopped);
        assert_eq!((result, calls), (Err(Failure::Stopped), 1));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages the file")]
    fn a_deferred_runner_is_remembered_until_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let failure = Failure::RateLimited { runner: "a".into(), until: None };
        let put = |runner: &str, until: &str, now: &str| {
            defer(&path, runner, at(until), &failure, ("run", at(now))).unwrap();
        };
        put("a", "05:00:00", "02:00:00");
        put("b", "03:00:00", "02:00:00");
        let until = |runner: &str, now: &str| {
            deferred_until(&read_deferred(&path).unwrap(), runner, at(now))
        };
        assert_eq!(until("a", "02:00:00"), Some(at("05:00:00")));
        assert_eq!(until("a", "05:00:00"), None);
        assert_eq!(until("c", "02:00:00"), None);
        put("a", "07:00:00", "04:00:00");
        assert_eq!(until("a", "02:00:00"), Some(at("07:00:00")), "the newest word counts");
        assert_eq!(read_deferred(&path).unwrap().runners.len(), 1, "b is over");
        let value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        ao_contract::check("deferred-runners", &value).unwrap();
        std::fs::write(&path, "{").unwrap();
        assert!(read_deferred(&path).is_err());
        assert!(defer(&path, "a", at("07:00:00"), &failure, ("run", at("02:00:00"))).is_err());
    }
}
