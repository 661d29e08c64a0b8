//! The work queue as the night reads it: item by item, each with who has it.
//!
//! A line or an item that cannot be read is counted and otherwise left alone; it costs its neighbours
//! nothing.

use std::ops::Range;

use ao_contract::{ClaimStatus, Maybe, WorkItem};
use ao_corpus::is_night_item;
use serde::Deserialize;
use serde_json::Value;

use crate::packets::{id_of_title, packet_id, said};
use crate::plain::{TITLE_CHARS_MAX, one_line};

/// The file, beneath `.agents/`.
pub(crate) const NEXT_WORK: &str = ao_corpus::defrag::QUEUE;

/// A longer name is known by its packet's id alone.
const NAME_BYTES_MAX: usize = 1024;

/// Who has an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Available,
    /// Somebody works on it: who.
    Claimed(String),
    /// It is done: by whom, or when, if the queue says.
    Consumed(String),
}

/// Where an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The bytes of its line in the file, without the line end.
    pub(crate) line: Range<usize>,
    /// The number of the line, from 1.
    pub(crate) number: usize,
    /// Its place among the items of the line, from 0.
    pub(crate) place: usize,
}

/// One item with what its line says about it.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) spot: Spot,
    pub(crate) epic: String,
    pub(crate) state: State,
    pub(crate) item: WorkItem,
}

impl Queued {
    /// Its id, or its title where it has none. An id that a night wrote back to it is no other name than the
    /// title: a packet goes on naming the item as it did before.
    fn own_name(&self) -> &str {
        let is_theirs = !is_night_item(self.item.source.get().map_or("", String::as_str));
        let is_written_back = |id: &&str| is_theirs && *id == id_of_title(&self.item.title);
        match said(self.item.id.get()) {
            Some(id) if !is_written_back(&id) => id,
            _ => &self.item.title,
        }
    }

    /// What packets know the item by: its own name, or the id of its packet where that name is not
    /// fit for a report.
    pub(crate) fn name(&self) -> String {
        let own = self.own_name();
        let is_fit = !own.is_empty() && one_line(own, TITLE_CHARS_MAX) == own;
        if is_fit { own.to_owned() } else { packet_id(self) }
    }

    /// All that it may be asked for by.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = vec![self.name()];
        for own in [self.own_name(), said(self.item.id.get()).unwrap_or_default()] {
            let is_new = !names.iter().any(|name| name == own);
            if !own.is_empty() && own.len() <= NAME_BYTES_MAX && is_new {
                names.push(own.to_owned());
            }
        }
        names
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    source_epic: Option<String>,
    items: Vec<Value>,
    #[serde(default)]
    consumed: Option<bool>,
    #[serde(default)]
    claim_status: Maybe<ClaimStatus>,
    #[serde(default)]
    claimed_by: Option<String>,
    #[serde(default)]
    consumed_by: Option<String>,
    #[serde(default)]
    consumed_at: Option<String>,
}

/// Hands every item on, in file order; gives the number of lines and items that cannot be read.
pub(crate) fn each(bytes: &[u8], mut take: impl FnMut(Queued)) -> u64 {
    let mut unread = 0;
    for (number, line) in lines(bytes).enumerate() {
        if bytes[line.clone()].trim_ascii().is_empty() {
            continue;
        }
        match read(bytes, &line) {
            Some(read) => {
                for (place, value) in read.items.iter().enumerate() {
                    let spot = Spot { line: line.clone(), number: number + 1, place };
                    match queued(&read, spot, value) {
                        Some(queued) => take(queued),
                        None => unread += 1,
                    }
                }
            }
            None => unread += 1,
        }
    }
    unread
}

/// The item at a spot, read again.
pub(crate) fn at(bytes: &[u8], spot: &Spot) -> Option<Queued> {
    let line = read(bytes, &spot.line)?;
    queued(&line, spot.clone(), line.items.get(spot.place)?)
}

/// Where the lines are, without their ends; a carriage return belongs to the line.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let line = at..at + length;
        at += length + 1;
        Some(line)
    })
}

/// A line as text, without the mark that some editors put before the first one.
pub(crate) fn text<'a>(bytes: &'a [u8], line: &Range<usize>) -> Option<&'a str> {
    let text = std::str::from_utf8(bytes.get(line.clone())?).ok()?;
    Some(text.trim_start_matches('\u{feff}'))
}

fn read(bytes: &[u8], line: &Range<usize>) -> Option<Line> {
    serde_json::from_str(text(bytes, line)?).ok()
}

fn queued(line: &Line, spot: Spot, value: &Value) -> Option<Queued> {
    let item: WorkItem = serde_json::from_value(value.clone()).ok()?;
    let state = state(line, &item);
    Some(Queued { spot, epic: line.source_epic.clone().unwrap_or_default(), state, item })
}

fn state(line: &Line, item: &WorkItem) -> State {
    let has = |status| {
        line.claim_status.get() == Some(&status) || item.claim_status.get() == Some(&status)
    };
    let first = |of: [Option<&String>; 4]| of.into_iter().flatten().next().cloned();
    if line.consumed == Some(true)
        || item.consumed.get() == Some(&true)
        || has(ClaimStatus::Consumed)
    {
        let by = [item.consumed_by.get(), line.consumed_by.as_ref()];
        let at = [item.consumed_at.get(), line.consumed_at.as_ref()];
        let told = first([by[0], by[1], at[0], at[1]]);
        return State::Consumed(told.unwrap_or_default());
    }
    if has(ClaimStatus::InProgress) {
        let by = first([item.claimed_by.get(), line.claimed_by.as_ref(), None, None]);
        return State::Claimed(by.unwrap_or_default());
    }
    State::Available
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_what() {
        let file = concat!(
            "\u{feff}{\"source_epic\":\"e\",\"items\":[{\"title\":\"a\"},{\"title\":3},",
            "{\"title\":\"b\",\"claim_status\":\"in_progress\",\"claimed_by\":\"me\"}]}\r\n",
            "not json\n",
            "\n",
            "{\"items\":[{\"id\":\"x\",\"title\":\"c\"}],\"consumed\":true,\"consumed_at\":\"t\"}\n",
            "{\"items\":[{\"title\":\"d\",\"consumed\":true}],\"claim_status\":null}\n",
            "{\"items\":[{\"title\":\"e\"}],\"claim_status\":\"whoknows\"}\n",
            "{\"items\":[{\"title\":\"f\",\"claim_status\":\"available\"}],\"claim_status\":\"in_progress\"}"
        );
        let mut seen = Vec::new();
        let unread = each(file.as_bytes(), |queued| {
            let again = at(file.as_bytes(), &queued.spot).unwrap();
            assert_eq!(again.item, queued.item);
            seen.push((queued.name(), queued.spot.number, queued.state));
        });
        assert_eq!(unread, 3);
        let expected = [
            ("a", 1, State::Available),
            ("b", 1, State::Claimed("me".into())),
            ("x", 4, State::Consumed("t".into())),
            ("d", 5, State::Consumed(String::new())),
            ("f", 7, State::Claimed(String::new())),
        ];
        assert_eq!(seen, expected.map(|(name, line, state)| (name.to_owned(), line, state)));
        assert_eq!(each(b"\xff\xfe\n{\"items\":[]}", |_| panic!()), 1);
        assert_eq!(each(b"", |_| panic!()), 0);
    }
}
