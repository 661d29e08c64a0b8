//! The disputes that a brief tells: those that its lines name, and those that the goal has words of.

use std::collections::BTreeSet;

use ao_contract::{BriefLine, Contradiction, ContradictionSide};

use crate::contradictions::Disputes;
use crate::corpus::Entry;
use crate::index::Question;
use crate::passage::matched;

/// So many disputes are listed; the others are counted.
const CARDS_MAX: usize = 20;
/// The title of an entry is cut here.
const TITLE_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub(super) struct Told {
    /// Each with where its sides stand.
    pub(super) cards: Vec<Contradiction>,
    /// How many more there are.
    pub(super) more: usize,
}

impl Told {
    /// The cards that these lines name, in their order, then the others.
    pub(super) fn of<'a>(
        lines: impl Iterator<Item = &'a BriefLine>,
        asked: &[&Contradiction],
        disputes: &Disputes<'_>,
    ) -> Self {
        let named = lines.filter_map(|line| disputes.card(line.disputed.as_ref()?));
        let mut seen = BTreeSet::new();
        let all = named.chain(asked.iter().copied()).filter(|card| seen.insert(card.id.clone()));
        let all: Vec<&Contradiction> = all.collect();
        let placed = |card: &&Contradiction| {
            let mut card = Contradiction::clone(card);
            for side in [&mut card.a, &mut card.b] {
                side.line = disputes.line_of(side);
                side.title = side.title.chars().take(TITLE_CHARS_MAX).collect();
            }
            card
        };
        let cards: Vec<Contradiction> = all.iter().take(CARDS_MAX).map(placed).collect();
        Self { more: all.len() - cards.len(), cards }
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.cards.iter().any(|card| card.id == id)
    }

    pub(super) fn count(&self) -> usize {
        self.cards.len() + self.more
    }
}

/// The cards of what was found that have a word of the goal in what is disputed.
pub(super) fn asked_about<'d>(
    question: &Question,
    found: &[(Entry, f64)],
    disputes: &'d Disputes<'_>,
) -> Vec<&'d Contradiction> {
    let stems: BTreeSet<&str> = question.stems().collect();
    let has_word = |side: &ContradictionSide| !matched(&side.quote, &stems).is_empty();
    let of_found = found.iter().flat_map(|(entry, _)| disputes.with(&entry.path));
    let mut cards: Vec<&Contradiction> =
        of_found.filter(|card| has_word(&card.a) || has_word(&card.b)).collect();
    cards.sort_by(|one, other| one.id.cmp(&other.id));
    cards.dedup_by(|one, other| one.id == other.id);
    cards
}
