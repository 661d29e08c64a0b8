//! The words of a clause, taken one by one: what it is about, what denies it, its values, its order.

use super::lexicon::{
    AGAINST, ARTICLE, COPULA, CUE, FOR, LABEL, MODAL, NEGATION, NUMBERED, OPENER, ORDER, PLACING,
    PLURAL, RELATION, SCOPE, SPELLED, STOP, SWITCH, UNIT, key_of, sense,
};
use super::quantity::{self, Bound, Dimension, Quantity};
use super::statement::{Content, LabelKind, Place, Relation, Statement};
use super::tokens::{Mark, Token};

impl<'a> Statement<'a> {
    /// Takes the word at this place; returns how many words that were.
    pub(super) fn take(&mut self, tokens: &[Token<'a>], at: usize, is_scope: &mut bool) -> usize {
        let token = &tokens[at];
        let sense = token.sense;
        if (token.number.is_some() || sense.is(SPELLED))
            && let Some(used) = self.take_number(tokens, at)
        {
            return used;
        }
        if sense.is(NEGATION) && is_no_denial(tokens, at) {
            return 2;
        }
        // `do not retry more than 3 times` is a bound, and says that it is retried.
        if sense.is(NEGATION) && denies_bound(tokens, at) {
            return 1;
        }
        if sense.is(NEGATION)
            || (sense.is(AGAINST) && (is_deed(tokens, at) || is_predicate(tokens, at)))
        {
            self.deny(token.raw);
            return 1;
        }
        if sense.is(FOR) && (is_deed(tokens, at) || is_predicate(tokens, at)) {
            return 1;
        }
        if sense.is(SWITCH)
            && let Some(used) = self.take_switch(tokens, at)
        {
            return used;
        }
        if sense.is(RELATION)
            && let Some(relation) = relation(tokens, at)
        {
            self.order = Some((relation, self.content.len(), token.says("after")));
            return 1;
        }
        if sense.is(SCOPE) {
            *is_scope = true;
        }
        if sense.is_content() && !is_bound(tokens, at) {
            self.push(tokens, at, sense.key, *is_scope, None);
        }
        1
    }

    fn deny(&mut self, word: &'a str) {
        self.is_denied = !self.is_denied;
        self.denied_by = Some(word);
    }

    /// `turn it on`, `turn off`, `defaults to off`.
    fn take_switch(&mut self, tokens: &[Token<'a>], at: usize) -> Option<usize> {
        let token = &tokens[at];
        let is_on = token.says("on") || token.says("true");
        let is_off = token.says("off") || token.says("false");
        if !is_on && !is_off {
            return None;
        }
        let before = at.checked_sub(1).map(|at| &tokens[at])?;
        let is_turned = before.says("turn")
            || before.says("switch")
            || before.says("turned")
            || before.says("switched");
        let is_set = before.sense.is(COPULA) || before.says("to");
        let is_alone =
            tokens.get(at + 1).is_none_or(|next| next.sense.is(SCOPE)) || token.mark != Mark::None;
        if !(is_turned || is_set && is_alone) {
            return None;
        }
        if is_off {
            self.deny(token.raw);
        }
        // Also as `enable` and `disable` are told apart.
        self.content.push(Content {
            token: *token,
            key: sense("enable").key,
            place: Place::Deed,
            is_chosen: false,
            label: None,
        });
        Some(1)
    }

    fn push(
        &mut self,
        tokens: &[Token<'a>],
        at: usize,
        key: u32,
        is_scope: bool,
        label: Option<LabelKind>,
    ) {
        let token = tokens[at];
        // `the parser rejects` as well as `reject`.
        let is_finite = token.sense.is(CUE) && token.raw.ends_with('s');
        let place = if is_deed(tokens, at) || is_finite {
            Place::Deed
        } else if is_scope {
            Place::Scope
        } else if is_predicate(tokens, at) {
            Place::Predicate
        } else {
            Place::Other
        };
        let is_chosen = is_chosen(tokens, at, self);
        self.content.push(Content { token, key, place, is_chosen, label });
    }

    /// A number is a value, or a name if it stands behind what is counted by numbers.
    fn take_number(&mut self, tokens: &[Token<'a>], at: usize) -> Option<usize> {
        let token = &tokens[at];
        let next = tokens.get(at + 1).filter(|_| token.mark == Mark::None);
        let text = token.text();
        let (value, suffix) = if let Some(found) = token.number {
            found
        } else {
            let value = quantity::spelled(&text)?;
            let counts = |next: &Token| next.sense.is_content() || next.sense.is(UNIT);
            // `one` is as often a thing.
            if text == "one" && !next.is_some_and(counts) {
                return None;
            }
            (value, "")
        };
        let before =
            at.checked_sub(1).map(|at| &tokens[at]).filter(|before| before.mark == Mark::None);
        let own = (!suffix.is_empty()).then(|| quantity::unit(&suffix.to_lowercase()));
        if matches!(own, Some(None)) {
            // `3rd`, `2.0-beta`, `2024-05-01`.
            self.push(tokens, at, key_of(&text), false, Some(LabelKind::Thing));
            return Some(1);
        }
        let behind =
            next.and_then(|next| quantity::unit(&next.text())).filter(|_| suffix.is_empty());
        let is_measure = own.is_some() || behind.is_some();
        let is_last = next.is_none_or(|next| !next.sense.is_content());
        if !is_measure
            && let Some(kind) = before.and_then(|before| label(before, at, token, is_last))
        {
            self.push(tokens, at, key_of(&text), false, Some(kind));
            return Some(1);
        }
        let (dimension, factor) = own.flatten().or(behind).unwrap_or((Dimension::Count, 1.0));
        let (bound, is_strict) = bound(tokens, at);
        let quantity =
            Quantity { value: value * factor, dimension, bound, factor, is_strict: false };
        let quantity = if is_strict { quantity.strict() } else { quantity };
        let end = behind.and(next).unwrap_or(token).raw;
        let place = |word: &str| word.as_ptr() as usize - self.sentence.as_ptr() as usize;
        let shown = &self.sentence[place(token.raw)..place(end) + end.len()];
        self.values.push((quantity, shown));
        Some(if behind.is_some() { 2 } else { 1 })
    }
}

/// `is_last`: nothing is counted by it.
fn label(before: &Token, at: usize, token: &Token, is_last: bool) -> Option<LabelKind> {
    if before.sense.is(LABEL) {
        let kind =
            if before.sense.is(NUMBERED) && at > 1 { LabelKind::Claim } else { LabelKind::Thing };
        return Some(kind);
    }
    // `Node 18`, but not `Use 18`.
    let is_version =
        before.is_name && at > 1 && !before.sense.is(STOP | ORDER | SCOPE | CUE | ARTICLE);
    let is_point = before.sense.is(SCOPE) && token.raw.contains('.');
    let is_noun = before.sense.is_content() && !before.sense.is(ORDER | CUE | PLURAL | SCOPE);
    let is_year = before.sense.is(SCOPE) && token.raw.len() == 4 && token.raw.starts_with("20");
    if is_version {
        Some(LabelKind::Claim)
    } else {
        (is_point || is_year || is_noun && is_last).then_some(LabelKind::Thing)
    }
}

/// How the number at this place bounds, and whether it is itself left out.
fn bound(tokens: &[Token], at: usize) -> (Bound, bool) {
    if tokens[at].raw.starts_with('~') {
        return (Bound::About, false);
    }
    let mut before = tokens[..at].iter().rev().take(2);
    let Some(last) = before.next() else { return (Bound::Exact, false) };
    let earlier = before.next();
    let says = |token: Option<&Token>, word: &str| token.is_some_and(|token| token.says(word));
    if last.says("most")
        || last.says("within")
        || last.says("under")
        || last.says("below")
        || last.says("max")
        || last.says("to") && says(earlier, "up")
    {
        return (Bound::AtMost, false);
    }
    if last.says("least") || last.says("over") || last.says("above") || last.says("min") {
        return (Bound::AtLeast, false);
    }
    if last.says("than")
        && let Some(earlier) = earlier
    {
        let is_denial =
            |denial: &usize| tokens[*denial].sense.is(NEGATION) && reaches(tokens, *denial, at - 2);
        let is_no = (0..at - 2).filter(is_denial).count() % 2 == 1;
        let is_least = is_one_of(earlier, &MORE) != is_no;
        // Within a condition it says when, and not how many.
        let is_strict = !is_no && !tokens[..at - 2].iter().any(|token| token.sense.is(SCOPE));
        return (if is_least { Bound::AtLeast } else { Bound::AtMost }, is_strict);
    }
    if is_one_of(last, &["about", "around", "roughly", "approximately", "nearly", "almost"]) {
        return (Bound::About, false);
    }
    (Bound::Exact, false)
}

/// Words before `than` by which a number is a bound.
const MORE: [&str; 7] = ["more", "longer", "larger", "greater", "higher", "bigger", "older"];
const LESS: [&str; 6] = ["less", "fewer", "shorter", "smaller", "lower", "younger"];

fn is_one_of(token: &Token, words: &[&str]) -> bool {
    words.iter().any(|word| token.says(word))
}

/// Whether what is denied here is that it is more, or less, than a number.
fn denies_bound(tokens: &[Token], at: usize) -> bool {
    let is_bound = |word: usize| {
        let number = tokens.get(word + 2);
        tokens[word + 1].says("than")
            && number.is_some_and(|number| number.number.is_some() || number.sense.is(SPELLED))
            && (is_one_of(&tokens[word], &MORE) || is_one_of(&tokens[word], &LESS))
    };
    let last = tokens.len().saturating_sub(2);
    (at + 1..last).any(|word| is_bound(word) && reaches(tokens, at, word))
}

/// Whether a denial is one of the bound that begins here. With where, when or of what between them, it is one of the
/// rest: `do not deploy when more than 3 are away`.
fn reaches(tokens: &[Token], denial: usize, word: usize) -> bool {
    let between = match &tokens[denial + 1..word] {
        [rest @ .., last] if last.says("for") => rest,
        [.., last] if last.says("of") => return false,
        between => between,
    };
    let is_apart =
        |token: &Token| token.sense.is(SCOPE) || is_one_of(token, &["with", "that", "has", "have"]);
    !between.iter().any(is_apart)
}

/// `max 5`, `above 5`: said by the bound.
fn is_bound(tokens: &[Token], at: usize) -> bool {
    let is_word = ["max", "min", "below", "above"].iter().any(|word| tokens[at].says(word));
    is_word && tokens.get(at + 1).is_some_and(|next| next.number.is_some())
}

/// `no more than 5` is a bound, `not just` adds.
fn is_no_denial(tokens: &[Token], at: usize) -> bool {
    let next_says = |word: &str| tokens.get(at + 1).is_some_and(|next| next.says(word));
    let is_bound = tokens[at].says("no") || tokens[at].says("not");
    is_bound && ["more", "less", "just", "necessarily"].iter().any(|word| next_says(word))
}

/// What comes first, or is put first; before a number it is a bound.
fn relation(tokens: &[Token], at: usize) -> Option<Relation> {
    let token = &tokens[at];
    let next = tokens.get(at + 1)?;
    if at == 0
        || next.says("and")
        || next.number.is_some()
        || quantity::spelled(&next.text()).is_some()
    {
        return None;
    }
    if token.says("before") || token.says("after") {
        return Some(Relation::Time);
    }
    let is_choice = token.says("over")
        || token.says("instead") && next.says("of")
        || token.says("rather") && next.says("than");
    is_choice.then_some(Relation::Choice)
}

/// Whether what stands here was chosen: `use Postgres`, `store it in Redis`.
fn is_chosen(tokens: &[Token], at: usize, so_far: &Statement) -> bool {
    let mut before = tokens[..at].iter().rev().filter(|token| !token.sense.is(ARTICLE));
    let Some(last) = before.next() else { return false };
    if last.sense.is(OPENER | COPULA)
        || last.says("to") && before.next().is_some_and(|token| token.sense.is(COPULA))
    {
        return true;
    }
    let is_into = ["in", "to", "at", "on", "into"].iter().any(|word| last.says(word));
    is_into && so_far.content.iter().any(|content| content.token.sense.is(PLACING))
}

/// Whether a deed is named here: first in its clause, or behind what asks for one.
pub(super) fn is_deed(tokens: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| &tokens[at]) else { return true };
    before.mark != Mark::None || before.sense.is(MODAL) && !before.says("be")
}

/// Whether something is said of the subject here, and not of the next word.
fn is_predicate(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1);
    let stands_alone = tokens[at].mark != Mark::None
        || next.is_none_or(|next| {
            !next.sense.is_content() || next.sense.is(SCOPE) || next.number.is_some()
        });
    at > 0 && stands_alone
}
