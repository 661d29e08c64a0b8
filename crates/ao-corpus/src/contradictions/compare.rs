//! Whether two statements of one subject can both hold.

use super::lexicon::{NUMBERED, OPPOSED};
use super::quantity::Quantity;
use super::statement::{Content, LabelKind, Place, Relation, Statement};
use crate::duplicates::are_opposites;

/// A choice is a few words: `GitHub Actions`.
pub(super) const CHOICE_WORDS_MAX: usize = 3;
/// Things of which one has only one at a time, though they are written as plain words.
const ALTERNATIVES: [&[&str]; 12] = [
    &["tabs", "tab", "spaces", "space"],
    &["utc", "local", "gmt", "time", "localtime"],
    &["trace", "debug", "info", "warn", "warning", "error"],
    &["merge", "rebase", "squash", "merging", "rebasing", "squashing"],
    &["threads", "processes", "thread", "process"],
    &["json", "yaml", "toml", "xml", "ini"],
    &["camelcase", "snakecase", "kebab", "snake", "camel", "case"],
    &["single", "double"],
    &["optimistic", "pessimistic"],
    &["composition", "inheritance"],
    &["push", "pull", "polling", "webhooks"],
    &["integers", "floats", "decimals", "strings", "uuids"],
];

/// How two statements part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// One says that it is so, the other that it is not.
    Denied,
    /// Another number for the same thing.
    Value,
    /// The opposite word.
    Opposite,
    /// What comes first, or is put first, is the other way round.
    Order,
    /// Another choice for the same purpose.
    Choice,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    pub(super) kind: Kind,
    pub(super) ours: String,
    pub(super) theirs: String,
}

impl Difference {
    fn of(kind: Kind, ours: impl Into<String>, theirs: impl Into<String>) -> Self {
        Self { kind, ours: ours.into(), theirs: theirs.into() }
    }
}

/// How the values of two statements stand to each other.
enum Values<'a> {
    Same,
    Conflict((&'a Quantity, &'a str), (&'a Quantity, &'a str)),
    /// Not of one kind, or not equally many.
    Apart,
}

/// What keeps both from holding, if anything does.
pub(super) fn compare(ours: &Statement, theirs: &Statement) -> Option<Difference> {
    let (own, other) = (apart(ours, theirs), apart(theirs, ours));
    let values = values(ours, theirs);
    let is_turned = ours.is_denied != theirs.is_denied;
    match (&own[..], &other[..]) {
        ([], []) => whole(ours, theirs, &values, is_turned),
        _ if !matches!(values, Values::Same) || ours.order.is_some() != theirs.order.is_some() => {
            None
        }
        ([one], [two]) => {
            let label = || labels(ours, theirs, one, two, is_turned);
            let opposite = || opposites(one, two, is_turned);
            label().or_else(opposite).or_else(|| choice(ours, theirs, (&own, &other), is_turned))
        }
        _ => choice(ours, theirs, (&own, &other), is_turned),
    }
}

/// The words of one that the other does not have.
fn apart<'s, 'a>(one: &'s Statement<'a>, other: &Statement) -> Vec<&'s Content<'a>> {
    let is_there = |content: &&Content| other.content.iter().any(|there| there.key == content.key);
    one.content.iter().filter(|content| !is_there(content)).collect()
}

fn values<'a>(ours: &'a Statement, theirs: &'a Statement) -> Values<'a> {
    if ours.values.len() != theirs.values.len() {
        return Values::Apart;
    }
    let mut found = Values::Same;
    for ((one, our_text), (two, their_text)) in ours.values.iter().zip(&theirs.values) {
        if one.conflicts(two) && !ao_mutant::active("LOOP-25/other-numbers-agree") {
            if matches!(found, Values::Same) {
                found = Values::Conflict((one, our_text), (two, their_text));
            }
        } else if !one.agrees(two) {
            return Values::Apart;
        }
    }
    found
}

/// Of statements with the same subject, word for word.
fn whole(
    ours: &Statement,
    theirs: &Statement,
    values: &Values,
    is_turned: bool,
) -> Option<Difference> {
    let order = match (ours.order, theirs.order) {
        (None, None) => None,
        (Some(one), Some(two)) if one.0 == two.0 => is_swapped(ours, theirs).then_some(one.0),
        _ => return None,
    };
    match (values, is_turned, order) {
        (Values::Conflict((one, our_text), (two, their_text)), false, None) => {
            // Of the same number, what is said of it is what differs.
            let is_same = our_text.eq_ignore_ascii_case(their_text);
            let told = |quantity: &Quantity, text: &str| {
                if is_same { quantity.told(text) } else { text.to_owned() }
            };
            Some(Difference::of(Kind::Value, told(one, our_text), told(two, their_text)))
        }
        (Values::Same, true, None) => {
            Some(Difference::of(Kind::Denied, stand(ours, theirs), stand(theirs, ours)))
        }
        (Values::Same, false, Some(relation)) => Some(Difference::of(
            Kind::Order,
            put_first(ours, theirs, relation),
            put_first(theirs, ours, relation),
        )),
        _ => None,
    }
}

/// Where one of two stands of which one denies.
fn stand(side: &Statement, other: &Statement) -> String {
    let by = if side.is_denied { side.denied_by } else { other.denied_by };
    let by = by.unwrap_or_default().to_lowercase();
    match (side.is_denied, by.as_str()) {
        (true, "not") => "no".to_owned(),
        (true, _) => by,
        (false, "never") => "always".to_owned(),
        (false, _) => "yes".to_owned(),
    }
}

/// What one puts first and the other does not, and before what.
fn put_first(side: &Statement, other: &Statement, relation: Relation) -> String {
    let word = if relation == Relation::Time { "before" } else { "over" };
    let (first, second) = sides(side);
    let first = part_apart(first, sides(other).0);
    let text = |part: &[Content]| {
        let words = part.iter().take(CHOICE_WORDS_MAX).map(|content| content.token.text());
        words.collect::<Vec<_>>().join(" ")
    };
    format!("{} {word} {}", text(&first), text(second))
}

/// What comes first, and what comes second.
fn sides<'s, 'a>(statement: &'s Statement<'a>) -> (&'s [Content<'a>], &'s [Content<'a>]) {
    let Some((_, at, is_later)) = statement.order else { return (&statement.content, &[]) };
    let (left, right) = statement.content.split_at(at);
    if is_later { (right, left) } else { (left, right) }
}

fn part_apart<'a>(part: &[Content<'a>], from: &[Content]) -> Vec<Content<'a>> {
    part.iter().filter(|one| !from.iter().any(|other| other.key == one.key)).copied().collect()
}

/// Whether what comes first in one comes second in the other, and the other way round.
fn is_swapped(ours: &Statement, theirs: &Statement) -> bool {
    let (first, second) = sides(ours);
    let (their_first, their_second) = sides(theirs);
    let (moved, come) = (part_apart(first, their_first), part_apart(their_first, first));
    let is_in = |part: &[Content], whole: &[Content]| part_apart(part, whole).is_empty();
    !moved.is_empty() && !come.is_empty() && is_in(&moved, their_second) && is_in(&come, second)
}

/// `port 80` against `port 81`, `Node 18` against `Node 20`.
fn labels(
    ours: &Statement,
    theirs: &Statement,
    one: &Content,
    two: &Content,
    is_turned: bool,
) -> Option<Difference> {
    let is_claim = |content: &Content| content.label == Some(LabelKind::Claim);
    if is_turned || !is_claim(one) || !is_claim(two) {
        return None;
    }
    let before = |side: &Statement, content: &Content| {
        let at = side.content.iter().position(|other| other.key == content.key)?;
        let before = side.content.get(at.checked_sub(1)?)?;
        (before.place != Place::Scope || before.is_chosen || before.token.sense.is(NUMBERED))
            .then_some(before.key)
    };
    let is_same = before(ours, one).is_some_and(|key| before(theirs, two) == Some(key));
    is_same.then(|| Difference::of(Kind::Value, one.token.raw, two.token.raw))
}

fn opposites(one: &Content, two: &Content, is_turned: bool) -> Option<Difference> {
    let is_said = |content: &Content| matches!(content.place, Place::Deed | Place::Predicate);
    if is_turned || one.place != two.place || !is_said(one) {
        return None;
    }
    let (ours, theirs) = (one.token.text(), two.token.text());
    are_opposites(&ours, &theirs).then(|| Difference::of(Kind::Opposite, ours, theirs))
}

/// Another thing is used, preferred or stored to: all else is the same, in the same order.
fn choice(
    ours: &Statement,
    theirs: &Statement,
    (own, other): (&[&Content], &[&Content]),
    is_turned: bool,
) -> Option<Difference> {
    let is_few = |part: &[&Content]| (1..=CHOICE_WORDS_MAX).contains(&part.len());
    if is_turned || ours.order.is_some() || !is_few(own) || !is_few(other) {
        return None;
    }
    let start =
        ours.content.iter().zip(&theirs.content).take_while(|(a, b)| a.key == b.key).count();
    let (rest, their_rest) = (&ours.content[start..], &theirs.content[start..]);
    let ending = |side: &[Content], apart: &[&Content]| -> Option<Vec<u32>> {
        let (choice, tail) = side.split_at_checked(apart.len())?;
        let is_choice = choice.iter().all(|c| apart.iter().any(|a| a.key == c.key));
        is_choice.then(|| tail.iter().map(|c| c.key).collect())
    };
    let tail = ending(rest, own)?;
    if ending(their_rest, other)? != tail || start + tail.len() == 0 {
        return None;
    }
    let is_chosen = own[0].is_chosen && other[0].is_chosen && own[0].place == other[0].place;
    let is_named =
        |part: &[&Content]| part.iter().all(|c| c.token.is_name && c.token.number.is_none());
    let is_default = |side: &Statement| side.is_default() && own[0].place == Place::Predicate;
    let is_exclusive = is_named(own) && is_named(other)
        || are_alternatives(own, other)
        || is_default(ours) && is_default(theirs);
    let text = |part: &[&Content]| part.iter().map(|c| c.token.raw).collect::<Vec<_>>().join(" ");
    (is_chosen && is_exclusive).then(|| Difference::of(Kind::Choice, text(own), text(other)))
}

/// Whether there is a word that could stand here instead, as far as one side alone can tell.
pub(super) fn may_be_another(statement: &Statement, content: &Content) -> bool {
    let is_listed =
        || ALTERNATIVES.iter().any(|group| group.iter().any(|word| content.token.says(word)));
    content.token.sense.is(OPPOSED)
        || content.label == Some(LabelKind::Claim)
        || content.is_chosen && (content.token.is_name || is_listed() || statement.is_default())
}

fn are_alternatives(own: &[&Content], other: &[&Content]) -> bool {
    let is_all = |part: &[&Content], group: &[&str]| {
        part.iter().all(|content| group.iter().any(|word| content.token.says(word)))
    };
    ALTERNATIVES.iter().any(|group| is_all(own, group) && is_all(other, group))
}
