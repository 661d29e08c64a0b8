//! Decisions: what is to be from now on, and who said so.

use super::super::sentence::{Sentence, after, has_any, words};
use super::{Before, Said, is_hedged, offset, told};

/// Words that settle something, and what they settle comes behind them.
#[rustfmt::skip]
const SETTLES: [&str; 60] = [
    "let's use", "let's keep", "let's stick with", "let's stick to", "let's go with", "let's go for", "let's drop",
    "let's switch to", "let's move to", "let's standardize on", "let's standardise on", "let's adopt", "let's pin",
    "let's settle on", "let's default to", "let's stay with", "let's stay on", "let's avoid", "let's only",
    "let's always", "let's never", "let's call it", "let's name it", "let's store", "let's make it", "let's not",
    "let's base", "let's target", "let's defer", "let's postpone", "let's support", "we'll use", "we'll go with",
    "we'll keep", "we'll stick with", "we'll drop", "we'll switch to", "we'll move to", "we'll support",
    "we'll store", "we'll target", "we'll adopt", "we'll stay", "we'll only", "we'll never", "we'll always",
    "we'll not", "we won't", "we're going with", "we're going to use", "we're switching to", "we're moving to",
    "we're keeping", "we're dropping", "we're sticking with", "we're not going to", "i'll go with", "i'd go with",
    "going with", "go with",
];
#[rustfmt::skip]
pub(super) const SETTLED: [&str; 40] = [
    "we decided", "we've decided", "we have decided", "i decided", "i've decided", "i have decided",
    "the team decided", "we agreed", "we've agreed", "we settled on", "we've settled on", "we chose", "we've chosen",
    "we opted", "we picked", "i picked", "i chose", "decision", "decided", "final decision", "the decision is",
    "from now on", "going forward", "henceforth", "from here on", "stick with", "stick to", "final answer",
    "settled on", "agreed on", "we stick with", "we stick to", "we stay with", "we stay on", "we keep using",
    "i want us to", "agreed: we", "settled: we", "sticking with", "we'd stick with",
];
/// "Let's not" and the like in front of these settles nothing.
#[rustfmt::skip]
const IDLE: [&str; 33] = [
    "worry", "get ahead", "forget", "rush", "panic", "overthink", "go there", "do that", "do this", "do it", "lunch",
    "a quick", "another", "one more", "the rest", "that next", "this one", "see", "know", "need", "be able", "a call",
    "a pause", "a break", "some cleanup", "the tests", "a dry run", "a test run", "a code review", "step by step",
    "to meet", "to talk",
    "a day",
];
/// Words that name nothing by themselves.
const VAGUE: &str = "that it this one option first second third fourth suggestion plan approach idea way thing \
    proposal yours those these a b c d 1 2 3 4 for now the your then instead of to on with in and or be is so \
    as please both either same last latter former again here there just we i you my our at by an yes ok second's \
    then";
/// How an answer to a question about the design begins.
#[rustfmt::skip]
const ANSWERS: [&str; 28] = [
    "use", "keep", "go with", "make it", "put it", "put them", "store", "show", "log", "name it", "call it",
    "group them", "group", "split", "treat", "return", "default to", "drop", "cache", "sort", "allow", "require",
    "only",
    "stay with", "stay on", "leave it", "remove", "stick with",
];
/// The same in a whole sentence.
#[rustfmt::skip]
const WAYS: [&str; 11] = [
    "we do it", "we use", "we keep", "we take", "we go with", "we store", "we call it", "we put", "we show",
    "we drop", "we only",
];
/// What people say they will do without settling anything.
#[rustfmt::skip]
const DOING: [&str; 40] = [
    "see", "need", "talk", "discuss", "check", "look", "get", "be", "have", "find", "know", "try", "revisit", "meet",
    "start", "continue", "come back", "think", "ask", "wait", "figure", "review", "let you", "let", "test", "do that",
    "do it", "do this", "go over", "go through", "catch up", "probably", "likely", "want", "take a look",
    "pick this up", "deal with", "worry", "chat", "sync",
];
#[rustfmt::skip]
const MINE: [&str; 13] = [
    "i decided", "i've decided", "we decided", "decision", "i'm going with", "i chose", "i opted", "i'll go with",
    "i picked", "design decision", "final decision", "we chose", "i settled on",
];
#[rustfmt::skip]
const REASONS: [&str; 9] = [
    "because", "since", "so that", "as it", "which avoids", "which keeps", "due to", "in order to", "to avoid",
];

/// A longer answer does more than choose.
const ANSWER_WORDS_MAX: usize = 14;
const QUESTION_CHARS_MAX: usize = 160;

/// The decision of a person's turn, if there is one.
pub(in super::super) fn find(sentences: &[Sentence<'_>], before: Before<'_>) -> Option<Said> {
    if let Some(said) = chosen(sentences, before) {
        return Some(said);
    }
    let is_decided = |(at, sentence): (usize, &Sentence<'_>)| {
        let meant = normal(sentence.meant());
        if sentence.is_question() || is_hedged(sentence) || is_open(&meant) {
            return None;
        }
        let rest = settled(&meant).or_else(|| later(&meant, before));
        let is_answer = || {
            let rest = after(&meant, &ANSWERS)?;
            (before.is_open() && at == 0 && words(&meant).count() >= 3).then_some(rest)
        };
        let is_rule =
            || has_any(&meant, &["from now on", "going forward"]).then_some(meant.as_str());
        let is_way = || {
            let rest = after(&meant, &WAYS)?;
            (before.is_open() && at == 0).then_some(rest)
        };
        let rest = rest
            .or_else(is_answer)
            .or_else(is_rule)
            .or_else(is_way)
            .or_else(|| concluded(&sentence.plain, &meant))
            .or_else(|| it_is(&meant))?;
        let is_idle = after(rest.trim_start(), &IDLE).is_some();
        (!is_idle && names_something(rest))
            .then(|| told(sentences, at, offset(sentence, sentence.meant())))
    };
    sentences.iter().enumerate().find_map(is_decided)
}

/// One of the things that the agent asked to choose from: "A or B?" "B, please."
fn chosen(sentences: &[Sentence<'_>], before: Before<'_>) -> Option<Said> {
    let first = sentences.first()?;
    let question = before.agent.filter(|_| before.was_asked)?.lines().last()?;
    let question = super::super::sentence::sentences(question).pop()?;
    let is_short = words(&first.plain).count() <= ANSWER_WORDS_MAX;
    let is_open = first.is_question() || is_hedged(first) || is_open(&first.plain);
    let is_refused = after(
        first.meant(),
        &["no", "not", "neither", "none", "don't", "i don't", "let me", "wait", "nope", "nah"],
    )
    .is_some();
    let is_one =
        has_any(&question.plain, &["or"]) && before_is_about(&question.plain, &first.plain);
    if !is_one || !is_short || is_open || is_refused {
        return None;
    }
    let mut said = told(sentences, 0, offset(first, first.meant()));
    said.question = Some(super::super::sentence::cut(question.text, QUESTION_CHARS_MAX));
    Some(said)
}

fn before_is_about(question: &str, answer: &str) -> bool {
    let agent = Some(question);
    Before { agent, ..Before::default() }.is_about(answer)
}

/// The decision that an agent tells of, with its reason.
pub(in super::super) fn of_agent(sentences: &[Sentence<'_>]) -> Option<Said> {
    let is_decided = |(at, sentence): (usize, &Sentence<'_>)| {
        let meant = normal(sentence.meant());
        let rest = after(&meant, &MINE)?;
        let is_reasoned = has_any(rest, &REASONS);
        let is_fit = !sentence.is_question() && !is_hedged(sentence) && !is_open(&meant);
        (is_fit && is_reasoned && names_something(rest))
            .then(|| told(sentences, at, offset(sentence, sentence.meant())))
    };
    sentences.iter().enumerate().find_map(is_decided)
}

/// One way of writing for several.
fn normal(meant: &str) -> String {
    let mut text = meant.to_owned();
    for (long, short) in [
        ("let us ", "let's "),
        ("lets ", "let's "),
        ("we will ", "we'll "),
        ("we are ", "we're "),
        ("i will ", "i'll "),
        ("i would ", "i'd "),
        ("we shall ", "we'll "),
        ("**", ""),
    ] {
        if text.starts_with(long) {
            text = format!("{short}{}", &text[long.len()..]);
        }
    }
    text
}

/// What is settled, behind the words that settle it.
fn settled(meant: &str) -> Option<&str> {
    let willed = || {
        let rest = after(meant, &["we'll", "we're going to", "we're gonna"])?;
        after(rest.trim_start(), &DOING).is_none().then_some(rest)
    };
    after(meant, &SETTLES).or_else(|| after(meant, &SETTLED)).or_else(willed)
}

/// "Ok, then we prefix them." What somebody only can, has or is, is not settled.
fn concluded<'a>(plain: &str, meant: &'a str) -> Option<&'a str> {
    const STATES: [&str; 22] = [
        "are", "were", "have", "had", "can", "can't", "could", "should", "need", "did", "do",
        "don't", "know", "see", "might", "may", "would", "still", "get", "got", "want", "never",
    ];
    let is_conclusion = ["ok", "okay", "then", "so", "right", "alright", "well"]
        .iter()
        .any(|word| after(plain, &[word]).is_some());
    let rest = after(meant, &["we"])?.trim_start();
    let is_fit = after(rest, &STATES).is_none() && after(rest, &DOING).is_none();
    (is_conclusion && is_fit && words(rest).count() >= 3).then_some(rest)
}

/// The same in a later part of the sentence: "Diesel goes, we chose sqlx".
fn later<'a>(meant: &'a str, before: Before<'_>) -> Option<&'a str> {
    let parts = meant.split([',', ';', ':']).skip(1).map(str::trim_start);
    parts.into_iter().find_map(|part| {
        let part =
            after(part, &["so", "then", "and", "but", "since"]).map_or(part, str::trim_start);
        let is_plain = after(
            part,
            &["we", "we'll", "we've", "we're", "let's", "from now on", "going forward"],
        )
        .is_some();
        let chosen = || {
            let rest = after(
                part,
                &["we use", "we keep", "we drop", "we take", "we go with", "we remove"],
            )?;
            before.is_open().then_some(rest)
        };
        settled(part).filter(|_| is_plain).or_else(chosen)
    })
}

/// "Postgres it is."
fn it_is(meant: &str) -> Option<&str> {
    let first = meant.split([',', ';']).next().unwrap_or(meant);
    first
        .trim_end_matches(['.', '!', ' '])
        .strip_suffix(" it is")
        .filter(|rest| words(rest).count() <= 5)
}

/// Nothing is settled yet.
fn is_open(meant: &str) -> bool {
    has_any(
        meant,
        &[
            "tbd",
            "to be decided",
            "still open",
            "later today",
            "decide later",
            "for the moment we don't know",
        ],
    )
}

fn names_something(rest: &str) -> bool {
    let is_vague = |word: &&str| VAGUE.split_whitespace().any(|vague| vague == *word);
    words(rest).any(|word| !is_vague(&word) && word.len() > 1)
        || rest.contains('x') && words(rest).any(|word| word == "x")
}
