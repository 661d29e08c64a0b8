//! The bodies of two copies become one.

use std::collections::{BTreeMap, BTreeSet};

use super::variants::{self, Variant, WINDOWS};
use super::{SIZE_PERCENT_MAX, VARIANTS};
use crate::document::Document;
use crate::pieces::{Piece, Shape, item_mark, pieces};

/// Two pieces that share so much of the longer one are one in other words.
const LIKE_MIN: f64 = 0.5;
/// A piece of which so much stands within another one is a part of it.
const PART_MIN: f64 = 0.8;
/// Shorter pieces are no parts of others: a few common words are in every sentence.
const PART_WORDS_MIN: usize = 4;

/// How long the merged body may become, if what it must hold allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    bytes: usize,
}

impl Room {
    /// Within the limit both as a body and as a file, of which the header has grown already.
    pub(super) fn of(ours: &Document, theirs: &Document, grown: usize) -> Self {
        let most = |one: usize, other: usize| one.max(other) * SIZE_PERCENT_MAX / 100;
        let body = most(ours.body().len(), theirs.body().len());
        let header = ours.bytes().len().saturating_sub(ours.body().len()) + grown;
        let file = most(ours.bytes().len(), theirs.bytes().len()).saturating_sub(header);
        Self { bytes: body.min(file) }
    }
}

/// `ours` with every piece of `theirs` that it does not have.
pub(super) fn merge(ours: &str, theirs: &str, room: Room) -> String {
    Merger::new(ours, theirs).merge(room)
}

/// Longer pieces are looked through by a set.
const SENTENCE_WORDS: usize = 64;

/// A body with its pieces, and what each says.
struct Side<'a> {
    body: &'a str,
    pieces: Vec<Piece>,
    keys: Vec<Vec<String>>,
}

impl<'a> Side<'a> {
    fn new(body: &'a str) -> Self {
        let pieces = pieces(body);
        let keys = pieces.iter().map(|p| piece_keys(p.shape, &body[p.span.clone()])).collect();
        Self { body, pieces, keys }
    }

    fn text(&self, at: usize) -> &'a str {
        &self.body[self.pieces[at].span.clone()]
    }

    /// Each section by what its heading says, and whether it is the first, second … that says so.
    fn sections(&self) -> BTreeMap<usize, (Vec<String>, usize)> {
        let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut found = BTreeMap::from([(0, (Vec::new(), 0))]);
        for (at, piece) in self.pieces.iter().enumerate() {
            if piece.shape == Shape::Heading {
                let nth = seen.entry(self.keys[at].clone()).or_default();
                found.insert(piece.section, (self.keys[at].clone(), *nth));
                *nth += 1;
            }
        }
        found
    }
}

fn piece_keys(shape: Shape, text: &str) -> Vec<String> {
    match shape {
        // Code is what it is, to the letter.
        Shape::Code => text.lines().map(|line| line.trim_end().to_owned()).collect(),
        Shape::Item => variants::keys(&text[item_mark(text)..]),
        _ => variants::keys(text),
    }
}

struct Merger<'a> {
    ours: Side<'a>,
    theirs: Side<'a>,
    /// Every word of ours, and of what is added.
    known: BTreeSet<String>,
    /// New pieces by the section of ours that they belong to.
    added: BTreeMap<usize, Vec<usize>>,
    /// New sections: their pieces, the heading first.
    new_sections: Vec<Vec<usize>>,
    variants: Vec<Variant>,
    /// Variants that the other one had gathered already.
    gathered: Vec<usize>,
}

impl<'a> Merger<'a> {
    fn new(ours: &'a str, theirs: &'a str) -> Self {
        let (ours, theirs) = (Side::new(ours), Side::new(theirs));
        let known = variants::keys(ours.body).into_iter().collect();
        Self {
            ours,
            theirs,
            known,
            added: BTreeMap::new(),
            new_sections: Vec::new(),
            variants: Vec::new(),
            gathered: Vec::new(),
        }
    }

    fn merge(mut self, room: Room) -> String {
        self.sort_out();
        let body = self.with_added();
        let newline = newline(self.ours.body);
        let lists = WINDOWS.map(|window| self.variant_lines(window));
        let fits = |list: &&Vec<String>| {
            let heading = VARIANTS.len() + 3 * newline.len();
            let size: usize = list.iter().map(|line| line.len() + newline.len()).sum();
            body.len() + heading + size <= room.bytes
        };
        match lists.iter().find(fits).or(lists.last()) {
            Some(list) if !list.is_empty() => with_variants(body, list, newline),
            _ => body,
        }
    }

    /// Decides for each of their pieces where it belongs.
    fn sort_out(&mut self) {
        let have: BTreeSet<Vec<String>> = self.ours.keys.iter().cloned().collect();
        let (our_sections, their_sections) = (self.ours.sections(), self.theirs.sections());
        let mut opened: BTreeMap<usize, usize> = BTreeMap::new();
        for at in 0..self.theirs.pieces.len() {
            let keys = &self.theirs.keys[at];
            let Piece { shape, section, .. } = self.theirs.pieces[at];
            if keys.is_empty() || have.contains(keys) {
                continue;
            }
            let heading = &their_sections[&section];
            if shape != Shape::Heading && is_variants(&heading.0) {
                self.gathered.push(at);
            } else if let Some(there) = self.likened(at) {
                let text = self.theirs.text(at).to_owned();
                if let Some(variant) = Variant::of(&text, &there, &self.known) {
                    self.known.extend(variant.words());
                    self.variants.push(variant);
                }
            } else if let Some((own, _)) = our_sections.iter().find(|(_, other)| *other == heading)
                && shape != Shape::Heading
            {
                self.known.extend(keys.iter().cloned());
                self.added.entry(*own).or_default().push(at);
            } else {
                self.known.extend(keys.iter().cloned());
                let place = *opened.entry(section).or_insert_with(|| {
                    self.new_sections.push(Vec::new());
                    self.new_sections.len() - 1
                });
                self.new_sections[place].push(at);
            }
        }
    }

    /// The pieces of ours that say most of what this one of theirs says. One that lost its stop is
    /// two of ours.
    fn likened(&self, at: usize) -> Option<String> {
        if self.theirs.pieces[at].shape == Shape::Code {
            return None;
        }
        let keys = &self.theirs.keys[at];
        let is_part = |small: &[String], large: &[String]| {
            small.len() >= PART_WORDS_MIN && shared(small, large) >= PART_MIN
        };
        let mut best = (LIKE_MIN, None);
        let mut parts = Vec::new();
        for (own, theirs) in self.ours.keys.iter().enumerate() {
            if self.ours.pieces[own].shape == Shape::Code {
                continue;
            }
            let longer = if keys.len() > theirs.len() { keys } else { theirs };
            let shorter = if keys.len() > theirs.len() { theirs } else { keys };
            let like = shared(longer, shorter);
            if like > best.0 || like >= best.0 && best.1.is_none() {
                best = (like, Some(own));
            }
            if is_part(theirs, keys) || is_part(keys, theirs) {
                parts.push(own);
            }
        }
        parts.extend(best.1.filter(|own| !parts.contains(own)));
        parts.sort_unstable();
        let texts: Vec<&str> = parts.into_iter().map(|own| self.ours.text(own)).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    /// Ours with what is new at the end of each section, and new sections at the end.
    fn with_added(&self) -> String {
        let newline = newline(self.ours.body);
        let mut body = self.ours.body.to_owned();
        for (section, places) in self.added.iter().rev() {
            let (at, last) = self.section_end(*section);
            let text = self.block(places, last, newline);
            let text =
                if at == 0 { format!("{}{newline}{newline}", text.trim_start()) } else { text };
            body.insert_str(at, &text);
        }
        for places in &self.new_sections {
            if ao_mutant::active("LOOP-25/section-is-lost") {
                continue;
            }
            end_line(&mut body, newline);
            let text = self.block(places, None, newline);
            body.push_str(newline);
            body.push_str(text.trim_start_matches(['\r', '\n']));
            body.push_str(newline);
        }
        body
    }

    /// Where a section of ours ends, and with which piece.
    fn section_end(&self, section: usize) -> (usize, Option<usize>) {
        let last = self.ours.pieces.iter().rposition(|piece| piece.section == section);
        (last.map_or(0, |last| self.ours.pieces[last].span.end), last)
    }

    /// New pieces, in the form of the piece that they follow.
    fn block(&self, places: &[usize], follows: Option<usize>, newline: &str) -> String {
        let mut text = String::new();
        let mut before = follows.map(|last| self.ours.pieces[last].shape);
        let mut item = follows.map_or("", |last| self.ours.text(last)).to_owned();
        for place in places {
            let Piece { shape, .. } = self.theirs.pieces[*place];
            let raw = self.theirs.text(*place).replace("\r\n", "\n");
            // A sentence among items is one of them.
            let is_item =
                before == Some(Shape::Item) && matches!(shape, Shape::Item | Shape::Sentence);
            let written = match (before, shape) {
                _ if is_item => {
                    item = format!("{}{}", next_mark(&item), bare(&raw, shape));
                    format!("\n{item}")
                }
                (Some(Shape::Sentence), Shape::Sentence) => format!(" {raw}"),
                (Some(Shape::Row), Shape::Row) => format!("\n{raw}"),
                _ => {
                    item.clone_from(&raw);
                    format!("\n\n{raw}")
                }
            };
            before = Some(if is_item { Shape::Item } else { shape });
            text.push_str(&written.replace('\n', newline));
        }
        text
    }

    fn variant_lines(&self, window: Option<usize>) -> Vec<String> {
        let gathered = self.gathered.iter().map(|place| one_line(self.theirs.text(*place)));
        let told = self.variants.iter().map(|variant| format!("- {}", variant.told(window)));
        gathered.chain(told).collect()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The body with these lines under its variants.
fn with_variants(mut body: String, lines: &[String], newline: &str) -> String {
    let found = pieces(&body);
    let head = found.iter().rposition(|piece| {
        piece.shape == Shape::Heading && is_variants(&variants::keys(&body[piece.span.clone()]))
    });
    if let Some(head) = head {
        let section = found[head].section;
        let last = found.iter().rposition(|piece| piece.section == section).unwrap_or(head);
        let gap = if last == head { format!("{newline}{newline}") } else { newline.to_owned() };
        body.insert_str(found[last].span.end, &format!("{gap}{}", lines.join(newline)));
        return body;
    }
    end_line(&mut body, newline);
    if !body.is_empty() {
        body.push_str(newline);
    }
    let list = lines.join(newline);
    [body.as_str(), VARIANTS, newline, newline, &list, newline].concat()
}

fn is_variants(heading: &[String]) -> bool {
    heading.iter().map(String::as_str).eq(["variants"])
}

/// How much of a piece stands in another one.
#[expect(clippy::cast_precision_loss, reason = "pieces are short")]
fn shared(piece: &[String], other: &[String]) -> f64 {
    // A set of a sentence's words costs more than to look at each of them.
    let shared = if other.len() <= SENTENCE_WORDS {
        piece.iter().filter(|key| other.contains(key)).count()
    } else {
        let other: BTreeSet<&String> = other.iter().collect();
        piece.iter().filter(|key| other.contains(key)).count()
    };
    if piece.is_empty() { 0.0 } else { shared as f64 / piece.len() as f64 }
}

fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if at > 0 && text.as_bytes()[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

fn end_line(body: &mut String, newline: &str) {
    if !body.is_empty() && !body.ends_with('\n') {
        body.push_str(newline);
    }
}

/// The mark for the item after this one: the same sign, or the next number.
fn next_mark(item: &str) -> String {
    let mark = &item[..item_mark(item)];
    let digits: String = mark.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u64>() {
        Ok(number) => mark.replacen(&digits, &(number + 1).to_string(), 1),
        Err(_) if mark.is_empty() => "- ".into(),
        Err(_) => mark.to_owned(),
    }
}

fn bare(raw: &str, shape: Shape) -> &str {
    if shape == Shape::Item { &raw[item_mark(raw)..] } else { raw }
}
