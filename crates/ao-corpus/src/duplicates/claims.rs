//! Whether two texts that look alike also claim the same.
//!
//! The score of two texts says how much of their wording they share, not whether they agree: "set it
//! to 30 seconds" and "set it to 120 seconds" share nearly all. So before two texts are merged they
//! are laid side by side, and every place where they differ is looked at. A difference of claim is
//! another number, another unit, a negation, the opposite of a word, another name, another thing; a
//! difference of wording is a word that only colours the sentence, or one that is only on one side.
//!
//! Where a text came from is no claim: two sessions that learned the same name different sources.

use std::collections::BTreeSet;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::features::{hash, mix, stem_hash};
use super::pieces_read::PiecesRead;
use super::{signs, variants, vocabulary};
use crate::corpus::Entry;
use crate::merge::VARIANTS;
use crate::pieces::{Shape, item_mark, pieces, sentences};
use crate::spoken::without_hearsay;

/// Headings over what is no claim.
const ASIDE: [&str; 12] = [
    "source",
    "sources",
    "provenance",
    "origin",
    "references",
    "related",
    "see also",
    "session",
    "sessions",
    "links",
    "variants",
    "evidence source",
];
/// Longer remains are different texts.
const WORDS_MAX: usize = 4_000;
/// Remaining pieces that share less than this of their words do not speak of the same.
pub(super) const LIKE_MIN: f64 = 0.3;
/// Pieces that share so much of their words say the same in other words.
const SAME_MIN: f64 = 0.6;
/// Texts that each have more than this share of their own are not copies.
const OWN_MAX: f64 = 0.15;
/// A word that is gone here and comes so many words further on was moved within its sentence, as in
/// "prefer this over that".
const MOVED_WITHIN: usize = 12;
/// So many words more on one side are a sentence of their own.
const ADDED_MIN: usize = 3;
/// What stands for the mark of an item or a heading.
const MARK: &str = "-";
/// What stands for the entry's own name.
const SELF: u64 = 1;

/// Why texts are not merged that are not the same, word for word.
const NOT_ENGLISH: &str = "they are not in English, and not the same word for word";
const UNREAD: &str = "nothing shows that a sentence in which they differ is in English";

/// One word of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Lower case, without the signs around it.
    pub(crate) text: String,
    /// What it is compared by: a hash of its stem, or of itself where it is a name.
    pub(crate) key: u64,
    /// Written as a name or as code.
    pub(crate) is_name: bool,
}

/// What an entry claims, piece by piece.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    pub(super) pieces: Vec<Vec<Word>>,
    /// What earlier merges kept of other wordings, in parts.
    pub(super) variants: Vec<Vec<Word>>,
    /// Pieces that say something, and nobody knows in which language.
    unread: BTreeSet<u64>,
    /// The text word for word, if it is not in English.
    exactly: Option<String>,
}

/// How two entries' claims stand to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same words in the same order.
    Same,
    /// Other wording. Each pair is one word that stands for another.
    Wording(Vec<(String, String)>),
    /// Another claim, and which.
    Differ(Apart),
    /// One of them was written to steer its reader; why that is thought.
    Poisoned(String),
}

/// Where two texts part, and the words of each side there, as they are compared; none where no words stand
/// against each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Apart {
    pub why: String,
    pub ours: Vec<String>,
    pub theirs: Vec<String>,
}

impl Apart {
    /// Where `ours` stands against `theirs`.
    pub(super) fn of(ours: &[Word], theirs: &[Word]) -> Self {
        let texts = |side: &[Word]| side.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        let (ours, theirs) = (texts(ours), texts(theirs));
        Self { why: format!("`{}` against `{}`", ours.join(" "), theirs.join(" ")), ours, theirs }
    }

    pub(super) fn turned(self) -> Self {
        Self { why: self.why, ours: self.theirs, theirs: self.ours }
    }
}

impl From<&str> for Apart {
    fn from(why: &str) -> Self {
        Self { why: why.to_owned(), ..Self::default() }
    }
}

impl Claims {
    pub fn of(entry: &Entry) -> Self {
        let document = &entry.document;
        let id = document.text("id").map(|id| id.to_lowercase());
        let own = [Some(entry.stem().to_lowercase()), Some(entry.name().to_lowercase()), id];
        let (mut claims, mut read) = (Self::default(), PiecesRead::default());
        for key in ["title", "summary", "pattern", "detection_question", "checklist_item"] {
            if let Some(text) = document.text(key) {
                claims.add(&text, Shape::Sentence, &mut read);
            }
        }
        let body = without_hearsay(document);
        let (mut is_aside, mut is_variants) = (false, false);
        for piece in pieces(&body) {
            let text = &body[piece.span.clone()];
            if piece.shape == Shape::Heading {
                is_aside = is_aside_heading(text);
                is_variants = text.eq_ignore_ascii_case(VARIANTS);
            }
            if is_variants && piece.shape == Shape::Item {
                claims.variants.extend(variants::parts(text));
            }
            if is_aside {
                continue;
            }
            // An item may hold several sentences; the first has its mark.
            let mark = if piece.shape == Shape::Item { item_mark(text) } else { text.len() };
            let first = sentences(&text[mark..]).first().map_or(text.len(), |s| mark + s.end);
            claims.add(&text[..first], piece.shape, &mut read);
            for sentence in sentences(&text[first..]) {
                claims.add(&text[first..][sentence], Shape::Sentence, &mut read);
            }
        }
        for word in claims.pieces.iter_mut().flatten() {
            if own.iter().flatten().any(|name| *name == word.text) {
                word.key = SELF;
            }
        }
        let unread = claims.pieces.iter().zip(&read.unread).filter(|(_, is_unread)| **is_unread);
        claims.unread = unread.map(|(piece, _)| joined(piece)).collect();
        claims.exactly = read.exactly();
        claims.pieces.retain(|piece| !piece.is_empty());
        claims.drop_repeated();
        claims
    }

    fn add(&mut self, text: &str, shape: Shape, read: &mut PiecesRead) {
        let words = words_of(text, shape);
        read.piece(text, shape, &words);
        self.pieces.push(words);
    }

    /// A title in the header and again in the body is one claim.
    fn drop_repeated(&mut self) {
        let mut seen = BTreeSet::new();
        self.pieces.retain(|piece| seen.insert(joined(piece)));
    }

    /// Whether one of these pieces says something in no known language. The same in other words is in the language of
    /// what it stands for.
    fn has_unread(&self, own: &[&[Word]], other: &Self) -> bool {
        let is_read = |piece: &[Word]| {
            let read = other.pieces.iter().filter(|there| !other.unread.contains(&joined(there)));
            read.map(|there| likeness(piece, there)).any(|like| like >= SAME_MIN)
        };
        own.iter().any(|piece| self.unread.contains(&joined(piece)) && !is_read(piece))
    }

    pub(super) fn all(&self) -> Vec<&[Word]> {
        self.pieces.iter().map(Vec::as_slice).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Lays two texts side by side.
    pub fn compare(&self, other: &Self) -> Verdict {
        if (self.exactly.is_some() || other.exactly.is_some())
            && !ao_mutant::active("LOOP-25/every-language-is-english")
        {
            let is_same = self.exactly == other.exactly;
            return if is_same { Verdict::Same } else { Verdict::Differ(NOT_ENGLISH.into()) };
        }
        let (ours, theirs) = remains(&self.pieces, &other.pieces);
        if self.has_unread(&ours, other) || other.has_unread(&theirs, self) {
            return Verdict::Differ(UNREAD.into());
        }
        if let Some(apart) = variants::apart(self, other, (&ours, &theirs)) {
            return Verdict::Differ(apart);
        }
        if ours.is_empty() && theirs.is_empty() {
            return Verdict::Same;
        }
        let Sides { ours, theirs, alone } = side_by_side(ours, theirs);
        if let Some(why) = alone.doubt(self, other) {
            return Verdict::Differ(why.as_str().into());
        }
        if ours.len().max(theirs.len()) > WORDS_MAX {
            return Verdict::Differ("too much of them differs".into());
        }
        differences(&ours, &theirs)
    }
}

pub(crate) fn is_aside_heading(heading: &str) -> bool {
    let bare = heading.trim_matches(|c: char| c == '#' || c == ':' || c.is_whitespace());
    ASIDE.iter().any(|aside| bare.eq_ignore_ascii_case(aside))
}

/// The words of a piece of text.
pub(crate) fn words_of(text: &str, shape: Shape) -> Vec<Word> {
    // A mark is a word, so that a word in its place stands for it; its number is no number.
    let (mark, text) = match shape {
        Shape::Item => (Some(MARK), &text[item_mark(text)..]),
        Shape::Heading => (Some(MARK), text.trim_start_matches('#')),
        _ => (None, text),
    };
    let mut is_code = shape == Shape::Code;
    let mut found: Vec<Word> = Vec::new();
    found.extend(mark.map(|mark| Word { text: mark.into(), key: 0, is_name: false }));
    let (state, text) = if shape == Shape::Item { signs::task(text) } else { (None, text) };
    found.extend(state.map(sign));
    for raw in text.split_whitespace() {
        let ticks = raw.matches('`').count();
        let has_code = is_code || ticks > 0;
        if shape != Shape::Code && ticks % 2 == 1 {
            is_code = !is_code;
        }
        found.extend(signs::parts(raw).filter_map(|part| word_of(part, has_code)));
    }
    if signs::asks(text) {
        found.push(sign(signs::QUESTION));
    }
    found
}

/// A sign that stands for a word.
fn sign(text: &str) -> Word {
    Word { text: text.to_owned(), key: hash(text.as_bytes()), is_name: true }
}

/// Where these words stand in a text, one behind the other.
pub(super) fn place_of(text: &str, words: &[String]) -> Option<std::ops::Range<usize>> {
    let is_written = |word: &&String| *word != MARK && !signs::is_put_in(word);
    let wanted: Vec<&String> = words.iter().filter(is_written).collect();
    let mut found: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for raw in text.split_whitespace() {
        let from = raw.as_ptr() as usize - text.as_ptr() as usize;
        let words = signs::parts(raw).filter_map(|part| word_of(part, false));
        found.extend(words.map(|word| (from..from + raw.len(), word.text)));
    }
    if wanted.is_empty() {
        return None;
    }
    let is_here = |run: &&[(std::ops::Range<usize>, String)]| {
        run.iter().zip(&wanted).all(|((_, word), wanted)| word == *wanted)
    };
    let run = found.windows(wanted.len()).find(is_here)?;
    Some(run.first()?.0.start..run.last()?.0.end)
}

fn word_of(raw: &str, in_code: bool) -> Option<Word> {
    if signs::is_one(raw) {
        return Some(sign(raw));
    }
    let bare = raw.trim_start_matches(is_before).trim_end_matches(is_behind);
    let has_sense = bare.chars().any(|c| c.is_alphanumeric() || is_operator(c));
    if !has_sense {
        return None;
    }
    let text = bare.to_lowercase();
    let letters = bare.chars().filter(|c| c.is_uppercase()).count();
    let is_name = in_code || letters > 1 || bare.starts_with('-') || bare.bytes().any(is_of_names);
    let is_plain = text.bytes().all(|byte| byte.is_ascii_lowercase());
    let key = if is_plain && !in_code { stem_hash(&text) } else { hash(text.as_bytes()) };
    Some(Word { text, key, is_name })
}

/// Signs in front of a word that are none of it. `matches!` is a table; a search in a text is not, and every word of
/// every text comes through here.
fn is_before(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '"' | '\'' | '*' | '_' | '`' | '“' | '‘' | '«' | '|')
}

/// Signs behind it.
fn is_behind(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '"' | '\'' | '*' | '_' | '`' | '”' | '’' | '»' | '|' | '…')
        || matches!(c, ',' | '.' | ';' | ':' | '!' | '?')
}

fn is_operator(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '!' | '+' | '%' | '&' | '^' | '~' | '/')
}

/// Signs that make a name of a word.
fn is_of_names(byte: u8) -> bool {
    matches!(byte, b'_' | b'/' | b'.' | b':' | b'=' | b'<' | b'>' | b'$' | b'#' | b'@' | b'\\')
        || matches!(byte, b'(' | b')' | b'{' | b'}' | b'[' | b']')
}

/// What a piece is compared by.
fn joined(piece: &[Word]) -> u64 {
    piece.iter().fold(0, |key, word| mix(key ^ word.key))
}

/// The pieces of each side that the other does not have.
pub(super) fn remains<'a>(
    ours: &'a [Vec<Word>],
    theirs: &'a [Vec<Word>],
) -> (Vec<&'a [Word]>, Vec<&'a [Word]>) {
    let keys = |side: &[Vec<Word>]| side.iter().map(|p| joined(p)).collect::<BTreeSet<u64>>();
    let (our_keys, their_keys) = (keys(ours), keys(theirs));
    let without = |side: &'a [Vec<Word>], keys: &BTreeSet<u64>| {
        side.iter().filter(|p| !keys.contains(&joined(p))).map(Vec::as_slice).collect()
    };
    (without(ours, &their_keys), without(theirs, &our_keys))
}

/// What remains of two texts, in one order; and the pieces that have no counterpart.
struct Sides {
    ours: Vec<Word>,
    theirs: Vec<Word>,
    alone: Alone,
}

#[derive(Default)]
struct Alone {
    ours: Vec<Vec<Word>>,
    theirs: Vec<Vec<Word>>,
}

fn side_by_side(ours: Vec<&[Word]>, theirs: Vec<&[Word]>) -> Sides {
    let mut alone = Alone::default();
    let mut placed: Vec<(usize, Vec<Word>)> = Vec::new();
    let mut is_met = vec![false; ours.len()];
    for piece in theirs {
        let best = (0..ours.len())
            .map(|at| (likeness(ours[at], piece), at))
            .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
        match best {
            Some((like, at)) if like >= LIKE_MIN => {
                is_met[at] = true;
                placed.push((at, piece.to_vec()));
            }
            _ => alone.theirs.push(piece.to_vec()),
        }
    }
    placed.sort_by_key(|(at, _)| *at);
    let theirs = placed.into_iter().flat_map(|(_, piece)| piece).collect::<Vec<_>>();
    let mut kept = Vec::new();
    for (at, piece) in ours.into_iter().enumerate() {
        // One of ours may be the second half of one of theirs that lost its stop.
        if is_met[at] || contained(piece, &theirs) >= 0.5 {
            kept.extend_from_slice(piece);
        } else {
            alone.ours.push(piece.to_vec());
        }
    }
    Sides { ours: kept, theirs, alone }
}

/// How much of the smaller piece is in the larger one.
pub(super) fn likeness(one: &[Word], other: &[Word]) -> f64 {
    let (small, large) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    contained(small, large)
}

#[expect(clippy::cast_precision_loss, reason = "pieces are short")]
fn contained(part: &[Word], whole: &[Word]) -> f64 {
    let is_in = |word: &&Word| whole.iter().any(|other| other.key == word.key);
    if part.is_empty() { 0.0 } else { part.iter().filter(is_in).count() as f64 / part.len() as f64 }
}

impl Alone {
    /// Pieces that only one side has are added to the other by a merge; unless they take something
    /// back, or both sides have much of their own.
    fn doubt(&self, ours: &Claims, theirs: &Claims) -> Option<String> {
        for word in self.ours.iter().chain(&self.theirs).flatten() {
            let denies = vocabulary::is_negation(&word.text) || signs::denies(&word.text);
            if denies || vocabulary::is_retraction(&word.text) {
                return Some(format!("a sentence that only one has says `{}`", word.text));
            }
        }
        let is_much = |own: &[Vec<Word>], all: &Claims| {
            let count = |side: &[Vec<Word>]| side.iter().map(Vec::len).sum::<usize>();
            #[expect(clippy::cast_precision_loss, reason = "texts are short")]
            let share = count(own) as f64 / count(&all.pieces).max(1) as f64;
            share > OWN_MAX
        };
        (is_much(&self.ours, ours) && is_much(&self.theirs, theirs))
            .then(|| "each has much that the other has not".into())
    }
}

pub(super) fn differences(ours: &[Word], theirs: &[Word]) -> Verdict {
    let keys = |side: &[Word]| side.iter().map(|word| word.key).collect::<Vec<_>>();
    let ops = capture_diff_slices(Algorithm::Myers, &keys(ours), &keys(theirs));
    let mut stand_ins = Vec::new();
    let mut gone: Vec<(usize, &Word)> = Vec::new();
    let mut come: Vec<(usize, &Word)> = Vec::new();
    for apart in ops.chunk_by(|one, other| is_equal(one) == is_equal(other)) {
        let (first, last) = (&apart[0], &apart[apart.len() - 1]);
        if is_equal(first) {
            continue;
        }
        let old = &ours[first.old_range().start..last.old_range().end];
        let new = &theirs[first.new_range().start..last.new_range().end];
        if flips(old, new) {
            return Verdict::Differ(Apart::of(old, new));
        }
        let at = first.old_range().start;
        gone.extend(old.iter().filter(|word| is_claim(word)).map(|word| (at, word)));
        come.extend(new.iter().filter(|word| is_claim(word)).map(|word| (at, word)));
        stand_ins.extend(pairs(old, new));
    }
    let is_moved = |(at, word): &&(usize, &Word)| {
        let near = |(there, other): &(usize, &Word)| {
            other.key == word.key && *there != *at && there.abs_diff(*at) <= MOVED_WITHIN
        };
        come.iter().any(near)
    };
    if let Some((_, word)) = gone.iter().find(is_moved) {
        return Verdict::Differ(format!("`{}` stands at another place", word.text).as_str().into());
    }
    Verdict::Wording(stand_ins)
}

pub(super) fn is_equal(op: &DiffOp) -> bool {
    matches!(op, DiffOp::Equal { .. })
}

/// Whether a word carries a claim by itself.
fn is_claim(word: &Word) -> bool {
    word.is_name || has_number(word) || !vocabulary::is_colour(&word.text)
}

fn has_number(word: &Word) -> bool {
    word.text.bytes().any(|byte| byte.is_ascii_digit()) || vocabulary::is_spelled_number(&word.text)
}

/// Whether the claim is another one where `old` stands on one side and `new` on the other.
pub(super) fn flips(old: &[Word], new: &[Word]) -> bool {
    let denies = |w: &&Word| vocabulary::is_negation(&w.text) || signs::denies(&w.text);
    let negations = |side: &[Word]| side.iter().filter(denies).count();
    if negations(old) != negations(new) {
        return true;
    }
    let one_sided = if old.is_empty() { new } else { old };
    if old.is_empty() || new.is_empty() {
        let turns = |w: &Word| {
            vocabulary::is_weak(&w.text)
                || vocabulary::is_retraction(&w.text)
                || signs::is_put_in(&w.text)
        };
        return one_sided.iter().any(turns);
    }
    let (ours, theirs) = (measures(old), measures(new));
    if !ours.is_empty() && !theirs.is_empty() && ours != theirs {
        return true;
    }
    let differ = |is_one: fn(&str) -> bool| {
        let of = |side: &[Word]| -> Vec<String> {
            side.iter().filter(|w| is_one(&w.text)).map(|w| w.text.clone()).collect()
        };
        let (ours, theirs) = (of(old), of(new));
        !ours.is_empty() && !theirs.is_empty() && ours != theirs
    };
    if differ(vocabulary::is_times) || differ(vocabulary::is_bound) {
        return true;
    }
    let is_clash = |one: &Word, other: &Word| {
        let units = vocabulary::is_unit(&one.text)
            && vocabulary::is_unit(&other.text)
            && short_unit(&one.text) != short_unit(&other.text);
        let names = one.is_name && other.is_name && !has_number(one) && !has_number(other);
        let ways = vocabulary::is_manner(&one.text) && vocabulary::is_manner(&other.text);
        let is_apart = units || names || ways || vocabulary::are_opposites(&one.text, &other.text);
        one.key != other.key && is_apart
    };
    if old.len() == new.len() {
        old.iter().zip(new).any(|(one, other)| is_clash(one, other))
    } else {
        old.iter().any(|one| new.iter().any(|other| is_clash(one, other)))
    }
}

/// The numbers of one side, with their units where these are written to them.
pub(crate) fn measures(side: &[Word]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, word) in side.iter().enumerate() {
        if !has_number(word) {
            continue;
        }
        let unit = side.get(at + 1).filter(|next| vocabulary::is_unit(&next.text));
        let text = match unit {
            Some(unit) => format!("{}{}", word.text, short_unit(&unit.text)),
            None => split_unit(&word.text),
        };
        found.push(text.replace(',', ""));
    }
    found
}

fn short_unit(unit: &str) -> String {
    let short = match unit {
        "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "min",
        "hr" | "hrs" | "hour" | "hours" => "h",
        "millisecond" | "milliseconds" => "ms",
        "percent" => "%",
        other => other.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(other),
    };
    short.to_owned()
}

fn split_unit(text: &str) -> String {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    if vocabulary::is_unit(unit) {
        format!("{number}{}", short_unit(unit))
    } else {
        text.to_owned()
    }
}

/// Words of both sides that stand for each other and each carry a claim.
fn pairs(old: &[Word], new: &[Word]) -> Vec<(String, String)> {
    let is_both = |(one, other): &(&Word, &Word)| is_claim(one) && is_claim(other);
    let text = |(one, other): (&Word, &Word)| (one.text.clone(), other.text.clone());
    let differ = |(one, other): &(&Word, &Word)| {
        one.key != other.key
            && !is_slip(&one.text, &other.text)
            && short_unit(&one.text) != short_unit(&other.text)
    };
    if old.len() == new.len() {
        return old.iter().zip(new).filter(is_both).filter(differ).map(text).collect();
    }
    // One word was replaced, and a sentence was added behind or before it.
    let (short, long) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let is_colour = |word: &Word| !is_claim(word);
    if long.len() >= short.len() + ADDED_MIN {
        let from_start = short.iter().zip(long).filter(is_both).count();
        let from_end = short.iter().rev().zip(long.iter().rev()).filter(is_both).count();
        if from_start.min(from_end) == 0 || short.iter().all(is_colour) {
            return Vec::new();
        }
    }
    let claims = |side: &'_ [Word]| -> Vec<Word> {
        side.iter().filter(|word| is_claim(word)).cloned().collect()
    };
    let (ours, theirs) = (claims(old), claims(new));
    ours.iter().zip(&theirs).filter(differ).map(text).collect()
}

/// Two spellings of one word: two neighbouring letters exchanged, or one doubled.
fn is_slip(one: &str, other: &str) -> bool {
    let squeeze = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.dedup();
        letters
    };
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let is_word = a.len() > 4 && a.iter().chain(&b).all(|c| c.is_alphabetic());
    let differing: Vec<usize> = if a.len() == b.len() {
        (0..a.len()).filter(|at| a[*at] != b[*at]).collect()
    } else {
        vec![]
    };
    let is_swap = matches!(differing[..], [x, y] if y == x + 1 && a[x] == b[y] && a[y] == b[x]);
    is_word && (is_swap || squeeze(one) == squeeze(other))
}
