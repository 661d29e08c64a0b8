//! Cards and rulings for people.

use std::fmt::Write as _;

use ao_contract::{Contradiction, ContradictionSide, Keep, Ruling};
use ao_corpus::contradictions::{Cards, Ruled, Rulings};
use ao_night::counted;
use ao_tree::shown;

use crate::printer::{DOUBT, FAINT, GOOD, STRONG, paint};
use crate::repo::AGENTS;

/// How many cards are listed for people; JSON has them all.
const LISTED_MAX: usize = 20;

pub(super) fn list(cards: &Cards, rulings: Option<&Rulings>) -> String {
    let mut text = String::new();
    for card in cards.open.iter().take(LISTED_MAX) {
        head(&mut text, card);
        for (name, side) in [("A", &card.a), ("B", &card.b)] {
            let path = paint(FAINT, &shown(&side.path));
            let _ = writeln!(text, "  {name} {}  {path}", shown(&side.quote));
        }
    }
    if cards.open.len() > LISTED_MAX {
        let _ = writeln!(text, "… and {} more", cards.open.len() - LISTED_MAX);
    }
    if cards.open.is_empty() {
        text.push_str("Nothing contradicts itself that nobody ruled about.\n");
        if cards.is_capped {
            text.push_str("Not all was looked at: a limit of the search was reached.\n");
        }
    } else {
        let count = counted(cards.open.len() as u64, "open card", "open cards");
        let at_least = if cards.is_capped { "At least " } else { "" };
        let _ = writeln!(
            text,
            "{at_least}{count}. `ao rule CARD` shows one, `--keep A|B|both --why TEXT` rules."
        );
    }
    let Some(rulings) = rulings else { return text };
    for ruling in rulings.by_card.values().take(LISTED_MAX) {
        ruled(&mut text, ruling);
    }
    if rulings.by_card.len() > LISTED_MAX {
        let _ = writeln!(text, "… and {} more rulings", rulings.by_card.len() - LISTED_MAX);
    }
    for left in &rulings.left {
        let word = paint(DOUBT, "not read:");
        let _ = writeln!(text, "{word} {}: {}", shown(&left.path), shown(&left.why));
    }
    text
}

/// One card in full, with what was ruled about it.
pub(super) fn one(card: Option<&Contradiction>, ruling: Option<&Ruling>) -> String {
    let mut text = String::new();
    if let Some(card) = card {
        head(&mut text, card);
        sides(&mut text, &card.a, &card.b);
        if let Some(earlier) = &card.earlier_ruling {
            let _ = writeln!(
                text,
                "The ruling {} was about another wording of these two.",
                shown(earlier)
            );
        }
    } else if let Some(ruling) = ruling {
        let _ =
            writeln!(text, "{}  {}", paint(STRONG, &shown(&ruling.card)), shown(&ruling.differs));
        sides(&mut text, &ruling.a, &ruling.b);
    }
    match ruling {
        Some(ruling) => ruled(&mut text, ruling),
        None => text.push_str("Nobody ruled about it.\n"),
    }
    text
}

pub(super) fn changed(planned: &Ruled, also: &[&str], is_withdrawn: bool) -> String {
    let mut text = String::new();
    if is_withdrawn {
        let _ = writeln!(text, "The ruling about {} is withdrawn.", shown(&planned.ruling.card));
    } else {
        ruled(&mut text, &planned.ruling);
    }
    if let Some(path) = &planned.superseded {
        let path = shown(path);
        let _ = writeln!(
            text,
            "{path} is superseded: search no longer finds it, with all that it says. Its text stays."
        );
    }
    if !also.is_empty() {
        let some: Vec<String> = also.iter().take(LISTED_MAX).map(|id| shown(id)).collect();
        let more = if also.len() > some.len() { ", …" } else { "" };
        let count = counted(also.len() as u64, "other open card", "other open cards");
        let _ = writeln!(text, "{count} of it went with it: {}{more}", some.join(", "));
    }
    if let Some(path) = &planned.restored {
        let _ = writeln!(text, "{} had been archived, and is back.", shown(path));
    }
    if let Some(why) = &planned.left {
        let _ = writeln!(text, "{} no header was changed: {}", paint(DOUBT, "note:"), shown(why));
    }
    text
}

fn head(text: &mut String, card: &Contradiction) {
    let _ = writeln!(text, "{}  {}", paint(STRONG, &shown(&card.id)), shown(&card.differs));
}

fn sides(text: &mut String, a: &ContradictionSide, b: &ContradictionSide) {
    for (name, side) in [("A", a), ("B", b)] {
        let _ = writeln!(text, "{name}  {}", shown(&side.quote));
        let _ = writeln!(text, "   {}", shown(&side.title));
        let mut facts = vec![format!("{AGENTS}/{}", side.path)];
        facts.extend(side.date.clone());
        facts.extend(side.trust.iter().map(|trust| format!("trust: {trust}")));
        facts.extend(side.source.iter().map(|source| format!("from {source}")));
        let _ = writeln!(text, "   {}", paint(FAINT, &shown(&facts.join(", "))));
    }
}

fn ruled(text: &mut String, ruling: &Ruling) {
    let keep = match ruling.keep {
        Keep::A => "A holds",
        Keep::B => "B holds",
        Keep::Both => "both hold",
    };
    let (id, why) = (shown(&ruling.card), shown(&ruling.why));
    let _ = writeln!(
        text,
        "{} {id}: {keep}, since {why} ({})",
        paint(GOOD, "ruled"),
        shown(&ruling.at)
    );
}
