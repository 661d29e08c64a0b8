//! Events: what somebody should look at, and what that may cost.
//!
//! No chain of escalations is without an end. An event names the calls that it may cost, a call is spent
//! before the runner is asked, and the same escalation (source, action, target) is not raised again while
//! what is pending of it has its budget spent.

use std::num::NonZeroU32;

use ao_contract::{CuratorEvent, EventSeverity, EventStatus, EventStep, Extra, SchemaVersion};
use jiff::Timestamp;

use super::Worker;
use super::error::{Error, Result};
use super::ledger::{Events, line};
use super::queue::{Write, at};

/// More calls for one event are a mistake.
pub const EVENT_BUDGET_MAX: u32 = 100;
const FIELD_CHARS_MAX: usize = 500;
const NOTE_CHARS_MAX: usize = 4000;

/// An event that somebody wants to raise.
#[derive(Debug, Clone)]
pub struct Raise {
    pub source: String,
    pub severity: EventSeverity,
    pub action: String,
    pub target: String,
    pub budget: u32,
    pub note: Option<String>,
    pub now: Timestamp,
    /// Random.
    pub chance: [u8; 4],
}

/// An event that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    pub event: CuratorEvent,
    /// How many times a runner may still be asked about it. At 0 it is for a person.
    pub calls_left: u32,
}

/// How an event was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It needs no more.
    Closed,
    /// It still needs review.
    Kept,
}

/// What somebody says of an event.
#[derive(Debug, Clone, Copy)]
pub struct Closing<'a> {
    pub verdict: Verdict,
    /// The runner or the person.
    pub by: &'a str,
    pub note: Option<&'a str>,
    pub now: Timestamp,
}

/// Writes the event and its line in the ledger.
pub fn raise(worker: &Worker, wanted: &Raise, write: Write) -> Result<CuratorEvent> {
    let event = event(wanted)?;
    let _lock = match write {
        Write::Yes => Some(worker.lock()?),
        Write::No => None,
    };
    let mut events = Events::read(worker)?;
    if write == Write::Yes {
        events.mend(worker)?;
    }
    let same = |open: &&CuratorEvent| {
        (&open.source, &open.desired_action, &open.escalation_target)
            == (&event.source, &event.desired_action, &event.escalation_target)
    };
    // Each that waits will cost a call at least, beside those that were spent.
    let spent: u64 = events.open().filter(same).map(|open| 1 + events.calls(&open.id)).sum();
    let budget =
        u64::from(wanted.budget) + u64::from(ao_mutant::active("CUR-06/one-past-the-budget"));
    if spent >= budget {
        return Err(Error::PastBudget { spent, budget: wanted.budget });
    }
    if write == Write::Yes {
        events.add(worker, event.clone())?;
    }
    Ok(event)
}

fn event(wanted: &Raise) -> Result<CuratorEvent> {
    for (what, text) in
        [("a source", &wanted.source), ("an action", &wanted.action), ("a target", &wanted.target)]
    {
        if text.trim().is_empty() {
            return Err(Error::Missing(what));
        }
        let count = text.chars().count();
        if count > FIELD_CHARS_MAX {
            return Err(Error::BadEvent(format!(
                "{what} has {count} characters, and {FIELD_CHARS_MAX} at most"
            )));
        }
    }
    let budget = NonZeroU32::new(wanted.budget).ok_or(Error::Missing("a budget of at least 1"))?;
    if wanted.budget > EVENT_BUDGET_MAX {
        return Err(Error::BadEvent(format!("a budget is at most {EVENT_BUDGET_MAX} calls")));
    }
    if wanted.note.as_ref().is_some_and(|note| note.chars().count() > NOTE_CHARS_MAX) {
        return Err(Error::BadEvent(format!("a note has at most {NOTE_CHARS_MAX} characters")));
    }
    let [a, b, c, d] = wanted.chance;
    Ok(CuratorEvent {
        schema_version: SchemaVersion,
        id: format!("ev-{}-{a:02x}{b:02x}{c:02x}{d:02x}", wanted.now.strftime("%Y%m%dT%H%M%SZ")),
        created_at: at(wanted.now),
        source: wanted.source.trim().to_owned(),
        severity: wanted.severity,
        desired_action: wanted.action.trim().to_owned(),
        escalation_target: wanted.target.trim().to_owned(),
        budget,
        note: wanted.note.clone().filter(|note| !note.trim().is_empty()),
        status: EventStatus::NeedsReview,
        extra: Extra::new(),
    })
}

/// The events that wait for review, in the order in which they were raised. They are others' words: whoever
/// gives them to a runner gives them as material.
pub fn pending_events(worker: &Worker) -> Result<Vec<Open>> {
    let events = Events::read(worker)?;
    let open = |event: &CuratorEvent| {
        let calls = u32::try_from(events.calls(&event.id)).unwrap_or(u32::MAX);
        Open { event: event.clone(), calls_left: event.budget.get().saturating_sub(calls) }
    };
    Ok(events.open().map(open).collect())
}

/// How many lines of the two files cannot be read.
pub(super) fn unreadable(worker: &Worker) -> Result<u64> {
    Ok(Events::read(worker)?.unreadable)
}

/// Spends one call of an event's budget. It comes before the runner is asked, so that a kill in between
/// gives nobody a call more. Gives back how many are left.
pub fn spend(worker: &Worker, id: &str, by: &str, now: Timestamp) -> Result<u32> {
    let _lock = worker.lock()?;
    let mut events = Events::read(worker)?;
    events.mend(worker)?;
    let event = find(&events, id)?;
    let (calls, budget) = (events.calls(id), event.budget.get());
    if calls >= u64::from(budget) {
        return Err(Error::PastBudget { spent: calls, budget });
    }
    events.record(worker, line(&event, EventStep::Asked, by, &at(now)))?;
    Ok(budget - u32::try_from(calls).unwrap_or(budget) - 1)
}

/// Writes down what was said of an event. A closed one is pending no more.
pub fn close_event(worker: &Worker, id: &str, closing: &Closing<'_>) -> Result<()> {
    let _lock = worker.lock()?;
    let mut events = Events::read(worker)?;
    events.mend(worker)?;
    let event = find(&events, id)?;
    let step = match closing.verdict {
        Verdict::Closed => EventStep::Closed,
        Verdict::Kept => EventStep::Kept,
    };
    let mut said = line(&event, step, closing.by, &at(closing.now));
    said.note = closing.note.map(|note| note.chars().take(NOTE_CHARS_MAX).collect());
    events.record(worker, said)?;
    events.sweep(worker)
}

fn find(events: &Events, id: &str) -> Result<CuratorEvent> {
    let found = events.open().find(|event| event.id == id).cloned();
    found.ok_or_else(|| Error::NoSuchEvent(ao_tree::shown(id)))
}
