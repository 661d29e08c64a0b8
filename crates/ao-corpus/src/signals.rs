//! What speaks for a text that wants to become knowledge: whether it claims something that can be
//! checked, and whether one can do something about it.
//!
//! Every signal has a published amount; their sum decides. Beyond the sum one thing is asked of
//! every text: one sentence that names something in particular.

use std::collections::BTreeSet;

use ao_contract::{Extra, Finite, Signal};

use crate::check::{Bound, Side};
use crate::document::{Document, sections};
use crate::specific;
use crate::words::{each_word, is_stop_word, stem};

/// The score at which a pending learning becomes a learning.
pub const PROMOTE_AT: f64 = 0.5;

pub const MEASURE: f64 = 0.15;
pub const CODE: f64 = 0.15;
pub const PATH: f64 = 0.15;
pub const SYMBOL: f64 = 0.10;
pub const CAUSE: f64 = 0.15;
pub const RULE: f64 = 0.15;
pub const SOURCE: f64 = 0.15;
pub const WORDS: f64 = 0.10;
pub const SURE: f64 = 0.10;
pub const RATHER_SURE: f64 = 0.05;
pub const UNSURE: f64 = -0.10;
pub const PLACEHOLDER: f64 = -0.30;

/// So many different words, those that every text has left out, are enough of a text.
const WORDS_MIN: usize = 20;
/// A sentence with something particular needs so many words of its own to be a claim.
const CLAIM_WORDS_MIN: usize = 3;
/// A rule with its reason, but nothing particular, needs more.
const RULE_WORDS_MIN: usize = 6;
const SEEN_BYTES_MAX: usize = 60;

/// Stems of words that fit any text and claim nothing.
const GENERIC: &str = "import good better best qualiti team commun care plan improv practic rememb \
    help great success learn work time thing need focus ensur consid keep mind process peopl valu \
    use make way lot much mani new today session went well done next go get general overal \
    approach understand know think feel sure alway never must meet collabor project task issu \
    problem matter result everyth someth anyth continu effort futur past stuff nice real realli \
    togeth deliv whole everyon alright fine take give look see try want like start one two three";

const CAUSES: [&str; 24] = [
    "because",
    "therefore",
    "otherwise",
    "whenever",
    "unless",
    "caused",
    "causes",
    "prevents",
    "prevented",
    "breaks",
    "broke",
    "hence",
    "masked",
    "exposed",
    "leaked",
    "truncated",
    "so that",
    "due to",
    "leads to",
    "led to",
    "results in",
    "resulted in",
    "which is why",
    "in order to",
];
const RULES: [&str; 12] = [
    "must",
    "never",
    "always",
    "should",
    "ensure",
    "avoid",
    "prefer",
    "do not",
    "don't",
    "cannot",
    "requires",
    "make sure",
];
/// Verbs that a step begins with.
const IMPERATIVES: &str = "add assert build call cap check close commit compare configure delete \
    derive disable enable fail fix increase install keep limit lock log mark measure move open \
    pass pin put read rebuild record reduce reject remove rename replace replay restart retry \
    return run set sort split start stop store take test treat turn update use validate verify \
    wait wrap write";
const PLACEHOLDERS: [&str; 6] = ["todo", "tbd", "lorem ipsum", "fill in", "fixme", "placeholder"];
const SOURCE_KEYS: [&str; 8] = [
    "source_session",
    "source_bead",
    "source-bead",
    "source_phase",
    "source-phase",
    "source_artifact",
    "source",
    "session_id",
];

/// A text, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// From 0 to 1.
    pub score: f64,
    pub signals: Vec<Signal>,
    pub has_claim: bool,
}

pub fn judge(document: &Document) -> Judgement {
    let text = Text::of(document.body());
    let mut found = Vec::new();
    let mut see = |name: &str, amount: f64, seen: Option<String>| {
        if let Some(seen) = seen {
            let amount = Finite::new(amount).unwrap_or_default();
            found.push(Signal { name: name.into(), amount, seen: cut(&seen), extra: Extra::new() });
        }
    };
    let first = |find: &dyn Fn(&str) -> Option<String>| text.sentences.iter().find_map(|s| find(s));
    see("measure", MEASURE, first(&specific::measure));
    see("code", CODE, text.code.clone().or_else(|| first(&specific::code)));
    see("path", PATH, first(&specific::path));
    see("symbol", SYMBOL, first(&specific::symbol));
    see("cause", CAUSE, first(&|sentence| phrase(sentence, &CAUSES)));
    see("rule", RULE, first(&rule));
    see("source", SOURCE, source(document));
    let words = own_words(&text.sentences.join(" "));
    see("words", WORDS, (words.len() >= WORDS_MIN).then(|| format!("{} words", words.len())));
    if let Some(confidence) = confidence(document) {
        let amount = match confidence {
            0.8.. => SURE,
            0.5.. => RATHER_SURE,
            _ => UNSURE,
        };
        see("confidence", amount, Some(confidence.to_string()));
    }
    see("placeholder", PLACEHOLDER, first(&|sentence| phrase(sentence, &PLACEHOLDERS)));
    Judgement { score: score(&found), signals: found, has_claim: text.has_claim() }
}

/// What signals come to, from 0 to 1.
pub fn score(signals: &[Signal]) -> f64 {
    let sum = signals.iter().fold(0.0, |sum, signal| sum + signal.amount.get());
    (sum.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

/// Whether a score is enough.
pub fn needed(score: f64) -> Bound {
    Bound { name: "score", value: score, side: Side::AtLeast, bound: PROMOTE_AT }
}

/// How sure its author was: by the header, or by a line such as `**Confidence**: high`.
pub(crate) fn confidence(document: &Document) -> Option<f64> {
    let said = || labelled(document.body(), "confidence").map(|word| word.to_lowercase());
    document.confidence().or_else(|| match said()?.as_str() {
        "high" => Some(0.9),
        "medium" => Some(0.6),
        "low" => Some(0.3),
        other => other.parse().ok().filter(|value| (0.0..=1.0).contains(value)),
    })
}

/// The value of a line such as `**Session**: s-1` or `Session: s-1`.
pub(crate) fn labelled(body: &str, label: &str) -> Option<String> {
    body.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim().trim_matches(['*', '-', ' ', '_']);
        let value = value.trim().trim_matches(['*', ' ']).trim();
        (name.eq_ignore_ascii_case(label) && !value.is_empty()).then(|| value.to_owned())
    })
}

/// The claims of a text: its sentences, without headings and labels; and its code, apart.
struct Text {
    sentences: Vec<String>,
    code: Option<String>,
}

impl Text {
    fn of(body: &str) -> Self {
        let mut text = Self { sentences: Vec::new(), code: None };
        for section in sections(body) {
            if !is_source(section.heading) {
                text.add(section.text);
            }
        }
        text
    }

    fn add(&mut self, part: &str) {
        let mut paragraph = String::new();
        let mut is_code = false;
        for line in part.lines() {
            let bare = line.trim();
            if bare.starts_with("```") || bare.starts_with("~~~") {
                is_code = !is_code;
            } else if is_code {
                self.code = self.code.take().or_else(|| specific::line_of_code(bare));
            } else if bare.is_empty() || is_label(bare) {
                self.end(&mut paragraph);
            } else {
                let (item, is_item) = without_bullet(bare);
                if is_item {
                    self.end(&mut paragraph);
                }
                paragraph.push_str(item);
                paragraph.push(' ');
            }
        }
        self.end(&mut paragraph);
    }

    fn end(&mut self, paragraph: &mut String) {
        let text = std::mem::take(paragraph);
        let mut rest = text.trim();
        while !rest.is_empty() {
            let is_end = |(at, c): &(usize, char)| {
                matches!(c, '.' | '!' | '?')
                    && rest[at + 1..].chars().next().is_none_or(char::is_whitespace)
            };
            let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at + 1);
            self.sentences.push(rest[..end].to_owned());
            rest = rest[end..].trim_start();
        }
    }

    /// Whether one sentence says something of something in particular, or gives a rule with its
    /// reason in words that are not everybody's.
    fn has_claim(&self) -> bool {
        let is_claim = |sentence: &String| {
            let words = own_words(sentence).len();
            let is_specific = specific::any(sentence);
            let is_reasoned = rule(sentence).is_some() && phrase(sentence, &CAUSES).is_some();
            (is_specific && words >= CLAIM_WORDS_MIN) || (is_reasoned && words >= RULE_WORDS_MIN)
        };
        let is_code_explained =
            || self.code.is_some() && own_words(&self.sentences.join(" ")).len() >= RULE_WORDS_MIN;
        self.sentences.iter().any(is_claim) || is_code_explained()
    }
}

fn is_source(heading: &str) -> bool {
    const SOURCES: [&str; 4] = ["source", "evidence", "reference", "provenance"];
    let heading = heading.to_lowercase();
    SOURCES.iter().any(|word| heading.starts_with(word))
}

fn is_label(line: &str) -> bool {
    line.starts_with("**") && line.contains("**:") || line.starts_with("<!--")
}

fn without_bullet(line: &str) -> (&str, bool) {
    let rest = line.strip_prefix(['-', '*', '+', '>']);
    let rest = rest.or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then(|| line[digits..].strip_prefix(['.', ')'])).flatten()
    });
    match rest.filter(|rest| rest.starts_with(' ')) {
        Some(rest) => (rest.trim_start(), true),
        None => (line, false),
    }
}

/// The different words of a text that not every text has.
fn own_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    each_word(text, |word| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_stop_word(word) && !is_number {
            let stem = stem(word);
            if !GENERIC.split_whitespace().any(|generic| generic == stem) {
                words.insert(stem);
            }
        }
    });
    words
}

fn rule(sentence: &str) -> Option<String> {
    let first = sentence.split_whitespace().next()?;
    let first = first.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_step = IMPERATIVES.split_whitespace().any(|verb| verb == first);
    if is_step { Some(first) } else { phrase(sentence, &RULES) }
}

/// The first of the phrases that stands in the sentence as whole words.
fn phrase(sentence: &str, phrases: &[&str]) -> Option<String> {
    let lower = sentence.to_lowercase();
    let padded: String =
        lower.chars().map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' }).collect();
    let words: Vec<&str> = padded.split_whitespace().collect();
    let text = format!(" {} ", words.join(" "));
    phrases.iter().find(|phrase| text.contains(&format!(" {phrase} "))).map(|p| (*p).to_owned())
}

fn source(document: &Document) -> Option<String> {
    let key = SOURCE_KEYS.iter().find(|key| document.has(key));
    let section = || {
        let all = sections(document.body());
        all.into_iter().find(|s| is_source(s.heading) && !s.text.trim().is_empty())
    };
    key.map(|key| (*key).to_owned())
        .or_else(|| section().map(|section| section.heading.to_owned()))
        .or_else(|| labelled(document.body(), "source"))
        .or_else(|| labelled(document.body(), "evidence"))
}

fn cut(text: &str) -> String {
    let end = (0..=SEEN_BYTES_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text[..end.unwrap_or(0)].to_owned()
}
