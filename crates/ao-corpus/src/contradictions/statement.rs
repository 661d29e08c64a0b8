//! What a sentence claims: of what, whether it is so or not so, and which values.
//!
//! Most sentences claim nothing that could be held against another: they tell what happened, ask, quote or
//! guess. Those give no statement.

use super::clause::is_deed;
use super::lexicon::{
    COPULA, CUE, EXCEPTION, GENERIC, HEDGE, NEGATION, ORDER, PLURAL, PRONOUN, REASON, REPORT, RULE,
};
use super::quantity::Quantity;
use super::tokens::{Mark, Token};

/// Words of the subject; more are several claims.
const CONTENT_MAX: usize = 16;
/// Labels that stand before a claim and belong to no subject.
const HEADS: [&str; 16] = [
    "rule",
    "lesson",
    "note",
    "takeaway",
    "decision",
    "learning",
    "recommendation",
    "policy",
    "finding",
    "pattern",
    "tip",
    "warning",
    "important",
    "fix",
    "guidance",
    "action",
];
/// What stands behind these is a question, an idea or an example.
const NOT_OURS: [&str; 12] = [
    "option",
    "alternative",
    "proposal",
    "idea",
    "rejected",
    "considered",
    "question",
    "example",
    "myth",
    "claim",
    "hypothesis",
    "quote",
];

/// One word of the subject, at its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    pub(super) token: Token<'a>,
    pub(super) key: u32,
    pub(super) place: Place,
    /// The word before it, articles left out, lets something be chosen here.
    pub(super) is_chosen: bool,
    /// A number that is a name: `step 3`.
    pub(super) label: Option<LabelKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelKind {
    /// `step 3`: another number is another thing.
    Thing,
    /// `port 80`, `Node 18`: another number may be another claim of the same thing.
    Claim,
}

/// What a word does in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The deed that is asked for or denied.
    Deed,
    /// What is said of the subject: `is safe`.
    Predicate,
    /// Where and when it holds.
    Scope,
    Other,
}

/// What comes first, or is put first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Time,
    Choice,
}

#[derive(Debug, Clone)]
pub(super) struct Statement<'a> {
    pub(super) sentence: &'a str,
    pub(super) content: Vec<Content<'a>>,
    /// Whether it says that it is not so.
    pub(super) is_denied: bool,
    pub(super) values: Vec<(Quantity, &'a str)>,
    /// How many words of the content come before `before` or `over`; for `after`, they are the later ones.
    pub(super) order: Option<(Relation, usize, bool)>,
    /// It is about something that was named in another sentence.
    pub(super) is_about_it: bool,
    /// The word that made it a denial, for people.
    pub(super) denied_by: Option<&'a str>,
}

/// Everything that a sentence claims. `sentence` is what the tokens were cut from.
pub(super) fn statements<'a>(sentence: &'a str, tokens: &[Token<'a>]) -> Vec<Statement<'a>> {
    let mut found = Vec::new();
    if !may_claim(sentence) || tokens.iter().any(|token| token.sense.is(EXCEPTION)) {
        return found;
    }
    let mut rest = without_head(tokens);
    if rest.first().is_some_and(|first| NOT_OURS.iter().any(|word| first.says(word))) {
        return found;
    }
    while !rest.is_empty() {
        let end = clause_end(rest);
        let (clause, after) = rest.split_at(end.at);
        found.extend(statement(sentence, clause));
        if end.is_last {
            break;
        }
        rest = after;
    }
    found
}

/// Questions and quotations are not what the entry says.
fn may_claim(sentence: &str) -> bool {
    let bare = sentence.trim_start_matches(['*', '_', ' ']);
    !sentence.trim_end_matches(['*', '_', '"', ')']).ends_with('?')
        && !bare.starts_with(['>', '"', '“', '«', '‘', '~'])
}

/// `Rule: never …` is the rule.
fn without_head<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    match tokens {
        [head, rest @ ..]
            if head.mark == Mark::Colon && HEADS.iter().any(|word| head.says(word)) =>
        {
            rest
        }
        _ => tokens,
    }
}

struct End {
    at: usize,
    /// What follows is no claim of its own.
    is_last: bool,
}

/// Where a claim ends: at its reasons, at another clause, or where the next rule begins.
fn clause_end(tokens: &[Token]) -> End {
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let before = &tokens[at - 1];
        let next = tokens.get(at + 1);
        let is_reason = token.sense.is(REASON)
            && !(token.says("since") && next.is_some_and(|next| is_point_in_time(next)));
        let is_purpose =
            token.says("to") && next.is_some_and(|next| next.says("avoid") || next.says("prevent"));
        if is_reason || is_purpose {
            return End { at, is_last: true };
        }
        if before.mark == Mark::Break {
            return End { at, is_last: false };
        }
        let is_rule = token.sense.is(RULE)
            || (token.says("do") && next.is_some_and(|next| next.says("not")))
            || token.says("don't");
        if is_rule && (before.mark == Mark::Comma || before.says("and")) {
            return End { at, is_last: false };
        }
    }
    End { at: tokens.len(), is_last: true }
}

fn is_point_in_time(token: &Token) -> bool {
    token.number.is_some() || token.is_name || token.says("version")
}

fn statement<'a>(sentence: &'a str, tokens: &[Token<'a>]) -> Option<Statement<'a>> {
    if !is_claim(tokens) {
        return None;
    }
    let mut made = Statement {
        sentence,
        content: Vec::new(),
        is_denied: false,
        values: Vec::new(),
        order: None,
        is_about_it: tokens.iter().take(2).any(|token| token.sense.is(PRONOUN)),
        denied_by: None,
    };
    let mut is_scope = false;
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let used = made.take(tokens, at, &mut is_scope);
        if token.mark == Mark::Comma {
            is_scope = false;
        }
        at += used.max(1);
    }
    (!made.content.is_empty() && made.content.len() <= CONTENT_MAX).then_some(made)
}

fn is_claim(tokens: &[Token]) -> bool {
    let mut has_cue = false;
    for (at, token) in tokens.iter().enumerate() {
        let sense = token.sense;
        if sense.is(HEDGE) {
            return false;
        }
        let before = at.checked_sub(1).map(|at| &tokens[at]);
        // `must be kept` is no tale, `kept` alone is one.
        let is_participle = before.is_some_and(|before| before.sense.is(COPULA | NEGATION));
        if sense.is(REPORT) && !is_participle {
            return false;
        }
        if token.says("used") && tokens.get(at + 1).is_some_and(|next| next.says("to")) {
            return false;
        }
        let is_plural = || before.is_some_and(|b| b.sense.is_content() && b.raw.ends_with('s'));
        has_cue |= sense.is(CUE) || (sense.is(PLURAL) && is_plural());
        has_cue |= sense.is(ORDER) && is_deed(tokens, at);
        has_cue |= token.mark == Mark::Colon && tokens[at + 1..].iter().any(|t| t.number.is_some());
    }
    has_cue
}

impl Statement<'_> {
    /// Whether it says what holds unless something else is said: there is one such value.
    pub(super) fn is_default(&self) -> bool {
        let is_said = |word: &str| word.starts_with("default") || word.starts_with("Default");
        self.sentence.split_whitespace().any(is_said)
    }

    /// Whether it tells by itself what it is about.
    pub(super) fn says_its_subject(&self) -> bool {
        let is_specific = |c: &Content<'_>| !c.token.sense.is(GENERIC) && c.label.is_none();
        self.keys().len() > 1 && self.content.iter().any(is_specific) && !self.is_about_it
    }

    /// The keys of the subject, each once and in order.
    pub(super) fn keys(&self) -> Vec<u32> {
        let mut keys: Vec<u32> = self.content.iter().map(|content| content.key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
