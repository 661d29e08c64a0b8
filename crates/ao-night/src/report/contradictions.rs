//! What contradicts itself, put to the reader: both sides, and how to rule.

use ao_contract::{Contradiction, ContradictionSide};

use super::block::{Block, Item, Line, code, first, strong, text, words};
use super::facts::Facts;
use crate::plain::counted;

const CARDS_MAX: usize = 10;

/// Stands with the work of the morning: it is some.
pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let Some(found) = &facts.summary.contradictions else { return Vec::new() };
    if found.open == 0 || found.cards.is_empty() {
        return Vec::new();
    }
    let (kept, _) = first(&found.cards, CARDS_MAX);
    let total = usize::try_from(found.open).unwrap_or(usize::MAX).max(found.cards.len());
    let at_least = if found.is_capped { "At least " } else { "" };
    let mut blocks = vec![
        Block::Sub(vec![words("Put to you: contradictions")]),
        Block::Paragraph(vec![
            words(&format!(
                "{at_least}{} of one subject that cannot both hold. Nothing was changed; rule with ",
                counted(found.open, "pair of claims", "pairs of claims")
            )),
            code("ao rule CARD --keep A|B|both --why TEXT"),
            words("."),
        ]),
        Block::Numbered(kept.iter().map(item).collect()),
    ];
    let left = total.saturating_sub(kept.len());
    if left > 0 {
        let more = counted(left as u64, "more card", "more cards");
        let at_least = at_least.to_lowercase();
        let more = words(&format!("and {at_least}{more}: "));
        blocks.push(Block::Paragraph(vec![more, code("ao rule")]));
    }
    blocks
}

fn item(card: &Contradiction) -> Item {
    let mut inner = vec![side("A", &card.a), side("B", &card.b)];
    if let Some(earlier) = &card.earlier_ruling {
        inner.push(vec![
            words("The ruling "),
            code(earlier),
            words(" was about another wording of these two."),
        ]);
    }
    Item { line: vec![code(&card.id), words(" "), strong(&card.differs)], inner }
}

fn side(name: &str, side: &ContradictionSide) -> Line {
    let mut line =
        vec![strong(name), words(" "), text(&side.quote), words(" — "), code(&side.path)];
    let facts = [("", &side.date), ("trust: ", &side.trust), ("from ", &side.source)];
    for (what, fact) in facts {
        if let Some(fact) = fact {
            line.extend([words(", "), words(what), text(fact)]);
        }
    }
    line
}
