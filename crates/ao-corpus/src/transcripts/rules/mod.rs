//! The rules by which lessons are found. English only: what is said in other languages is passed over.

pub(super) mod correction;
pub(super) mod decision;
pub(super) mod failures;
mod house;
mod order;
mod phrases;
mod weight;

use std::collections::HashSet;
use std::sync::LazyLock;

use super::sentence::{Sentence, after, has_any};

/// What a rule found: which sentence says it, and where in the turn it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// The words of the one who said it.
    pub(super) claim: String,
    pub(super) title: String,
    /// What the agent had asked, where it is answered. These are not the words of the one who answers.
    pub(super) question: Option<String>,
}

/// What was going on when a person spoke.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Before<'a> {
    /// Whether the agent had done or said anything.
    pub(super) has_agent: bool,
    /// What the agent said or ran last.
    pub(super) agent: Option<&'a str>,
    /// What the person had said before that.
    pub(super) person: Option<&'a str>,
    /// Whether that was a question.
    pub(super) was_asked: bool,
    /// Whether the person had asked what should be.
    pub(super) had_asked: bool,
    /// Whether the person stopped the agent to say it.
    pub(super) is_refusal: bool,
}

impl Before<'_> {
    /// Whether somebody is to choose: what is said then decides, and contradicts nobody.
    fn is_open(self) -> bool {
        self.was_asked || self.had_asked
    }

    /// Whether a sentence is about what the agent said or did.
    fn is_about(self, plain: &str) -> bool {
        self.agent.is_some_and(|agent| share(agent, plain))
    }

    /// Whether a sentence is about what the person had asked for.
    fn is_on(self, plain: &str) -> bool {
        self.person.is_some_and(|person| share(person, plain))
    }
}

/// Whether two texts have a word in common.
fn share(one: &str, other: &str) -> bool {
    let one = one.to_lowercase();
    let said: Vec<&str> = stems(&one).collect();
    stems(other).any(|stem| said.contains(&stem))
}

/// Words that are about nothing.
const COMMON: &str = "this that with from have what when then here there your they them into only also just more need make \
    made uses used using done adde adds will woul shou coul plea were been some such each very even than like want know \
    about does didn isn't don't it's that's which where while after befo the you and for not can't has had are was its our all any one out way who how why may get got set new too yes let now see use add run put try can did say";

/// Every beginning of these: all words of what an agent said are looked up, each time somebody answers.
static COMMON_STARTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let starts = |word: &'static str| (1..=word.len()).filter_map(|end| word.get(..end));
    COMMON.split_whitespace().flat_map(starts).collect()
});

/// The beginnings of the words of a text, by which two texts are seen to be about one thing.
fn stems(text: &str) -> impl Iterator<Item = &str> {
    let stem = |word: &'_ str| word.char_indices().nth(4).map_or(word.len(), |(at, _)| at);
    super::sentence::words(text)
        .filter(|word| word.chars().count() >= 3)
        .map(move |word| &word[..stem(word)])
        .filter(|stem| !COMMON_STARTS.contains(stem))
}

/// Whether a person asks what should be.
pub(super) fn asks_for_a_choice(sentences: &[Sentence<'_>]) -> bool {
    sentences.iter().any(|sentence| {
        sentence.is_question()
            && (after(
                sentence.meant(),
                &[
                    "which",
                    "should",
                    "shall",
                    "where should",
                    "what should",
                    "how should",
                    "how do we",
                    "do we",
                    "what would you",
                    "what do you propose",
                    "what do you suggest",
                    "how many",
                    "what database",
                    "what about",
                ],
            )
            .is_some()
                || has_any(
                    &sentence.plain,
                    &["should we", "propose", "suggest", "recommend", "what would you"],
                ))
    })
}

const TITLE_CHARS_MAX: usize = 90;
const CLAIM_CHARS_MAX: usize = 600;
/// A reason in the next sentence belongs to what it is for.
const REASON_CHARS_MAX: usize = 240;
#[rustfmt::skip]
const REASONS: [&str; 14] = [
    "because", "since", "otherwise", "that way", "we", "the", "it", "it's", "this", "they", "our", "that's", "there",
    "reason",
];

/// The words of a sentence and of a reason behind it.
fn told(sentences: &[Sentence<'_>], at: usize, from: usize) -> Said {
    let text = sentences[at].text;
    let text = text.get(from..).unwrap_or(text);
    let own = begun(text);
    let title = super::sentence::cut(own.trim_end_matches(['.', '!', ' ']), TITLE_CHARS_MAX);
    let mut claim = own.clone();
    if !claim.ends_with(['.', '!', '?', ':']) {
        claim.push('.');
    }
    if let Some(next) = sentences.get(at + 1)
        && !next.is_question()
        && next.text.chars().count() <= REASON_CHARS_MAX
        && after(&next.plain, &REASONS).is_some()
    {
        claim.push(' ');
        claim.push_str(next.text);
    }
    Said { claim: super::sentence::cut(&claim, CLAIM_CHARS_MAX), title, question: None }
}

/// Without signs before it, and with a capital letter.
fn begun(text: &str) -> String {
    let text = text.trim_start_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '`' | '"' | '(' | '-' | '/')
    });
    let text = text.trim_start_matches(['-', ' ']);
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// How much of a sentence's text stands before its last so many bytes, if both have the same letters there.
fn offset(sentence: &Sentence<'_>, rest: &str) -> usize {
    // Ticks and quotes shorten the plain form; where that happened before the rest, all is told.
    let from = sentence.plain.len() - rest.len();
    let is_same = |text: &str| text.to_lowercase() == sentence.plain[..from];
    match sentence.text.get(..from) {
        Some(text) if is_same(text) => from,
        _ => 0,
    }
}

/// Words that say that something is not settled.
#[rustfmt::skip]
const HEDGES: [&str; 16] = [
    "maybe", "perhaps", "might", "not sure", "what if", "wonder", "wondering", "haven't decided", "not decided",
    "can't decide", "undecided", "before we decide", "we could", "i could", "i guess", "suppose",
];

fn is_hedged(sentence: &Sentence<'_>) -> bool {
    has_any(&sentence.plain, &HEDGES)
        || after(sentence.meant(), &["if", "when", "unless", "once", "while", "whether"]).is_some()
}
