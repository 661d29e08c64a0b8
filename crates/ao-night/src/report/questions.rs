//! What was asked before, and how much of it has an answer now.

use std::cmp::Ordering;

use super::block::{Block, Item, Line, first, more, strong, text, words};
use super::facts::Facts;
use crate::plain::counted;

const NAMED_MAX: usize = 5;

pub(super) fn told(facts: &Facts<'_>) -> Vec<Block> {
    let Some(found) = facts.summary.questions.as_ref().filter(|found| found.asked > 0) else {
        return Vec::new();
    };
    let (before, after) = (found.answered_before, found.answered_after);
    let moved = match after.cmp(&before) {
        Ordering::Greater => format!("{} more than before the night", after - before),
        Ordering::Less => format!("{} fewer than before the night", before - after),
        Ordering::Equal => "as many as before the night".to_owned(),
    };
    let of = match found.asked {
        1 => "the last question".to_owned(),
        asked => format!("the last {}", counted(asked, "question", "questions")),
    };
    let has = if after == 1 { "has" } else { "have" };
    let judged = match found.judged.unwrap_or(0) {
        0 => "No edit is judged by them.".to_owned(),
        some => format!(
            "Edits are judged by {some} of them, for which somebody used an answer, and by no other."
        ),
    };
    let line = vec![
        strong("Past questions:"),
        words(&format!(" {after} of {of} {has} an answer, {moved}. {judged}")),
    ];
    let mut blocks = vec![Block::Paragraph(line)];
    let named = [("Answered only now:", &found.gained), ("No longer answered:", &found.lost)];
    let items: Vec<Item> =
        named.into_iter().filter_map(|(what, questions)| item(what, questions)).collect();
    if !items.is_empty() {
        blocks.push(Block::List(items));
    }
    blocks
}

fn item(what: &str, questions: &[String]) -> Option<Item> {
    if questions.is_empty() {
        return None;
    }
    let (kept, left) = first(questions, NAMED_MAX);
    let mut inner: Vec<Line> = kept.iter().map(|question| vec![text(question)]).collect();
    inner.extend(more(left, "questions"));
    Some(Item { line: vec![strong(what)], inner })
}
