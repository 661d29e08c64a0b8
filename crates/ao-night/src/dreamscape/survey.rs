//! One pass over the entries.

use std::collections::HashMap;

use ao_contract::{DreamScape, Extra, NamedBy, SchemaVersion};
use ao_corpus::{Entry, Kind};
use jiff::Span;
use jiff::civil::Date;

use super::labels::{Words, of_header, of_title};
use super::references;
use super::topics::Chosen;
use super::weather::Readings;

/// An entry is fresh for so many days, counted back from the newest day in the corpus.
pub const FRESH_DAYS: u32 = 30;

/// Two entries have this name; it leads to neither.
const AMBIGUOUS: u32 = u32::MAX;

/// What is kept of an entry.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) day: Option<Date>,
    /// Where its topics come from; with [`NamedBy::Titles`] its marks are words, else labels.
    pub(super) named_by: NamedBy,
    /// Its part of [`Survey::marks`].
    pub(super) marks: std::ops::Range<usize>,
}

/// The landscape while it is measured: show it every entry, in any order.
#[derive(Debug, Default)]
pub struct Survey {
    pub(super) spots: Vec<Spot>,
    pub(super) marks: Vec<u32>,
    pub(super) labels: Words,
    pub(super) words: Words,
    /// Looked up, never walked through: its order makes no difference.
    names: HashMap<String, u32>,
    /// Who refers, and to which name.
    references: Vec<(u32, String)>,
    hidden: u64,
}

impl Survey {
    /// Takes in one entry. What retrieval hides, or found its place elsewhere, is only counted.
    pub fn add(&mut self, entry: &Entry) {
        if entry.document.is_hidden() || entry.kind == Kind::Processed {
            self.hidden += 1;
            return;
        }
        let Ok(number) = u32::try_from(self.spots.len()) else { return };
        let from = self.marks.len();
        let (named_by, mut marks) = of_header(&entry.document, &mut self.labels);
        if marks.is_empty() {
            marks = of_title(entry, &mut self.words);
        }
        self.marks.append(&mut marks);
        let day = entry.date();
        self.spots.push(Spot { day, named_by, marks: from..self.marks.len() });
        self.name(entry.stem(), number);
        if let Some(id) = entry.document.text("id")
            && id.trim() != entry.stem()
        {
            self.name(id.trim(), number);
        }
        let names = references::of(&entry.document);
        self.references.extend(names.into_iter().map(|name| (number, name)));
    }

    fn name(&mut self, name: &str, number: u32) {
        if let Some(known) = self.names.get_mut(name) {
            *known = if *known == number { number } else { AMBIGUOUS };
        } else {
            self.names.insert(name.to_owned(), number);
        }
    }

    /// The landscape, under the weather that these readings make.
    pub fn finish(self, readings: &Readings) -> DreamScape {
        let newest = self.spots.iter().filter_map(|spot| spot.day).max();
        let references: Vec<(usize, usize)> = self.referred().collect();
        let topics = Chosen::of(&self).topics(&self, newest, &references);
        let entries = self.spots.len() as u64;
        DreamScape {
            schema_version: SchemaVersion,
            as_of: newest.map(|day| day.to_string()),
            fresh_days: FRESH_DAYS,
            entries,
            hidden: self.hidden,
            topics,
            weather: readings.weather(entries),
            legend: readings.legend(),
            extra: Extra::new(),
        }
    }

    /// Pairs of entries of which the first refers to the second.
    fn referred(&self) -> impl Iterator<Item = (usize, usize)> {
        self.references.iter().filter_map(|(from, name)| {
            let to = *self.names.get(name)?;
            (to != AMBIGUOUS && to != *from).then_some((*from as usize, to as usize))
        })
    }

    pub(super) fn marks_of(&self, spot: &Spot) -> &[u32] {
        &self.marks[spot.marks.clone()]
    }
}

/// The oldest day that is still fresh.
pub(super) fn fresh_from(newest: Date) -> Date {
    newest.checked_sub(Span::new().days(FRESH_DAYS)).unwrap_or(Date::MIN)
}
