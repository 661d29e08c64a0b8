//! The finder over pairs of notes that were written by hand.

use std::fmt::Write as _;
use std::sync::Arc;

use jiff::civil::date;

use super::find::{Found, find};
use crate::corpus::{Corpus, Entry};

const PAIRS: &str = include_str!("pairs.txt");

struct Pair {
    line: usize,
    is_held: bool,
    is_contradiction: bool,
    sides: [(Option<&'static str>, &'static str); 2],
}

fn pairs() -> Vec<Pair> {
    let mut is_held = false;
    let mut all = Vec::new();
    for (at, line) in PAIRS.lines().enumerate() {
        match line {
            "[tuned]" => is_held = false,
            "[held]" | "[fresh]" => is_held = true,
            _ => {}
        }
        let Some((sign, rest)) = line.split_at_checked(2) else { continue };
        let Some((one, other)) = rest.split_once(" || ") else { continue };
        if sign != "+ " && sign != "- " {
            continue;
        }
        let side = |text: &'static str| match text.split_once(" :: ") {
            Some((title, text)) => (Some(title), text),
            None => (None, text),
        };
        let sides = [side(one), side(other)];
        all.push(Pair { line: at + 1, is_held, is_contradiction: sign == "+ ", sides });
    }
    all
}

fn entry(path: &str, (title, text): (Option<&str>, &str)) -> Arc<Entry> {
    let title = title.map_or_else(String::new, |title| format!("# {title}\n\n"));
    let bytes = format!("---\ndate: 2026-03-01\n---\n\n{title}{text}\n");
    Arc::new(Entry::parse(path, || Ok(bytes.into_bytes())).unwrap().unwrap())
}

fn found(sides: [(Option<&str>, &str); 2]) -> Vec<Found> {
    let [one, other] = sides;
    let entries = vec![entry("learnings/a.md", one), entry("learnings/b.md", other)];
    find(&Corpus { entries, left: Vec::new() }, date(2026, 4, 1)).found
}

// proves: LOOP-25
#[test]
fn pairs_by_hand() {
    let (mut hits, mut traps, mut told) = ([(0, 0); 2], [(0, 0); 2], String::new());
    for pair in pairs() {
        let cards = found(pair.sides);
        let counts = if pair.is_contradiction { &mut hits } else { &mut traps };
        let count = &mut counts[usize::from(pair.is_held)];
        count.1 += 1;
        count.0 += usize::from(!cards.is_empty());
        if cards.is_empty() == pair.is_contradiction {
            let _ = writeln!(told, "line {}: {:?} {cards:?}", pair.line, pair.sides);
        }
    }
    let all = |counts: [(usize, usize); 2]| (counts[0].0 + counts[1].0, counts[0].1 + counts[1].1);
    let (hit, due) = all(hits);
    assert!(due >= 48 && all(traps).1 >= 63);
    assert_eq!(all(traps).0, 0, "{told}");
    assert!(hit * 10 >= due * 8, "{told}");
}
