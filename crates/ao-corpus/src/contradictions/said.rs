//! The sentences of an entry that may claim something, and what they are said about.

use std::borrow::Cow;
use std::ops::Range;

use jiff::civil::Date;

use super::lexicon::{GENERIC, SCOPE, SURROUNDINGS};
use super::tokens::{SENTENCE_BYTES_MAX, Token, tokens};
use crate::corpus::{Entry, Kind};
use crate::document::Form;
use crate::duplicates::is_aside_heading;
use crate::patterns::is_unsaid;
use crate::pieces::{Shape, item_mark, pieces, sentences};
use crate::prune::is_expired;
use crate::spoken::{spoken, without_comments};

/// Sentences of one entry that are looked at.
const SENTENCES_MAX: usize = 400;
/// Fields of the header that say something in a sentence.
const FIELDS: [&str; 3] = ["title", "summary", "pattern"];
/// Fields that say what an entry is about. Two that say different things are about different things.
const ABOUT: [&str; 8] = [
    "scope",
    "applies_to",
    "component",
    "platform",
    "service",
    "project",
    "language",
    "environment",
];
/// Fields by which an entry names another that it came from or replaced.
const LINEAGE: [&str; 7] = [
    "merged_from",
    "supersedes",
    "superseded_by",
    "promoted_from",
    "promoted_to",
    "derived_from",
    "replaces",
];

/// Where a sentence stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Field(&'static str),
    Body(Range<usize>),
}

/// Whether an entry has a say: what is hidden, past its term, dealt with or a warning by itself has not.
pub(super) fn has_a_say(entry: &Entry, today: Date) -> bool {
    let document = &entry.document;
    let is_kind = matches!(entry.kind, Kind::Learning | Kind::Pattern | Kind::Knowledge)
        || entry.is_open_finding();
    is_kind
        && document.form() == Form::Markdown
        && document.doubt().is_none()
        && !document.is_hidden()
        && !is_unsaid(entry)
        && !is_anti_pattern(entry)
        && (!is_expired(entry, today) || ao_mutant::active("RUN-44/what-is-over-has-a-say"))
}

fn is_anti_pattern(entry: &Entry) -> bool {
    entry.document.text("maturity").is_some_and(|word| word.eq_ignore_ascii_case("anti-pattern"))
}

/// Calls `each` with the sentences of an entry: those of its header, then those of its body. What stands under
/// a heading that sets another scope is told with that heading.
pub(super) fn each_sentence(entry: &Entry, mut each: impl FnMut(Place, &str, Option<&str>)) {
    let document = &entry.document;
    for key in FIELDS {
        if let Some(text) = document.text(key).filter(|text| text.len() <= SENTENCE_BYTES_MAX) {
            each(Place::Field(key), &text, None);
        }
    }
    let body = spoken(entry);
    let (mut is_aside, mut heading, mut count) = (false, None, 0);
    for piece in pieces(&body) {
        let text = &body[piece.span.clone()];
        if piece.shape == Shape::Heading {
            is_aside = is_aside_heading(text);
            let is_title = piece.section == 1;
            heading = (!is_title && sets_scope(text)).then_some(text);
        }
        if is_aside || matches!(piece.shape, Shape::Code | Shape::Row) || count > SENTENCES_MAX {
            continue;
        }
        let mark = match piece.shape {
            Shape::Item => item_mark(text),
            Shape::Heading if piece.section == 1 => {
                text.len() - text.trim_start_matches(['#', ' ']).len()
            }
            Shape::Heading => continue,
            _ => 0,
        };
        let mut tell = |range: Range<usize>| {
            count += 1;
            if range.len() <= SENTENCE_BYTES_MAX {
                let span = piece.span.start + range.start..piece.span.start + range.end;
                each(Place::Body(span), &text[range], heading);
            }
        };
        // A sentence of running text is cut already.
        if piece.shape == Shape::Sentence {
            tell(0..text.len());
        } else {
            for range in sentences(&text[mark..]) {
                tell(mark + range.start..mark + range.end);
            }
        }
    }
}

/// `## On macOS`, `## Version 2`.
pub(super) fn sets_scope(heading: &str) -> bool {
    let mut words = Vec::new();
    tokens(heading, &mut words);
    let is_first = words.first().is_some_and(|word| word.sense.is(SCOPE));
    is_first || words.iter().any(|word| word.sense.is(SURROUNDINGS) || word.number.is_some())
}

/// The sentence at a place, as it is written.
pub(super) fn sentence_at<'a>(entry: &'a Entry, place: &Place) -> Option<Cow<'a, str>> {
    match place {
        Place::Field(key) => entry.document.text(key),
        // A comment is within one sentence, or it is between two.
        Place::Body(span) => entry.document.body().get(span.clone()).map(without_comments),
    }
}

/// What an entry is about, as far as its title and its header say.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// Every word of the title.
    title: Vec<u32>,
    /// Those that tell one subject from another.
    specific: Vec<u32>,
    surroundings: Vec<u32>,
    about: Vec<(usize, String)>,
}

impl Context {
    pub(super) fn of(entry: &Entry, heading: Option<&str>) -> Self {
        let mut context = Self::default();
        let title = entry.document.title();
        let mut words: Vec<Token> = Vec::new();
        tokens(title.as_deref().unwrap_or_default(), &mut words);
        let title: Vec<Token> = words.clone();
        tokens(heading.unwrap_or_default(), &mut words);
        for token in title.iter().filter(|token| token.sense.is_content()) {
            context.title.push(token.sense.key);
            if !token.sense.is(GENERIC) && token.number.is_none() {
                context.specific.push(token.sense.key);
            }
        }
        let surrounding = |token: &&Token| token.sense.is(SURROUNDINGS);
        context.surroundings.extend(title.iter().filter(surrounding).map(|token| token.sense.key));
        context
            .surroundings
            .extend(words.iter().filter(|t| t.sense.is_content()).map(|t| t.sense.key));
        for (at, key) in ABOUT.iter().enumerate() {
            let said = entry.document.text(key);
            context.about.extend(said.map(|text| (at, text.trim().to_lowercase())));
        }
        context
    }

    /// Where what is said holds: all that [`Context::holds_with`] asks for.
    pub(super) fn holds(&self) -> (&[(usize, String)], &[u32]) {
        (&self.about, &self.surroundings)
    }

    /// Whether what two entries say may hold at one place, where their statements have these words in common.
    pub(super) fn holds_with(&self, other: &Self, shared: &[u32]) -> bool {
        let says_other = |(at, text): &(usize, String)| {
            other.about.iter().any(|(there, other)| at == there && text != other)
        };
        if self.about.iter().any(says_other) {
            return false;
        }
        let is_apart = |one: &Self, two: &Self| {
            let is_known = |key: &&u32| two.surroundings.contains(key) || shared.contains(key);
            !one.surroundings.iter().all(|key| is_known(&key))
        };
        !is_apart(self, other) && !is_apart(other, self)
    }

    /// Where the statements alone do not say what they are about, the titles must.
    pub(super) fn has_title_like(&self, other: &Self) -> bool {
        let is_specific = self.specific.iter().any(|key| other.specific.contains(key));
        let shared = self.title.iter().filter(|key| other.title.contains(key)).count();
        is_specific || 2 * shared > self.title.len().max(other.title.len())
    }
}

/// By what an entry is known, and which others it came from or replaced.
#[derive(Debug)]
pub(super) struct Kin {
    file: String,
    stem: String,
    id: Option<String>,
    others: Vec<String>,
}

impl Kin {
    pub(super) fn of(entry: &Entry) -> Self {
        let others = LINEAGE.iter().flat_map(|key| entry.document.texts(key));
        Self {
            file: entry.name().to_owned(),
            stem: entry.stem().to_owned(),
            id: entry.document.text("id").map(std::borrow::Cow::into_owned),
            others: others.map(|name| name.trim().to_owned()).collect(),
        }
    }

    /// Whether one of the two came from the other or replaced it.
    pub(super) fn is_of_one_lineage(&self, other: &Self) -> bool {
        self.names(other) || other.names(self)
    }

    fn names(&self, other: &Self) -> bool {
        self.others.iter().any(|name| {
            name.ends_with(&other.file) || *name == other.stem || other.id.as_ref() == Some(name)
        })
    }
}
