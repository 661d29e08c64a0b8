//! Batches become one index.

use super::bytes::{Cursor, put_varint};
use super::draft::{Batch, Draft};
use super::facts::{Sight, Weighed, put_names};
use super::formula::Totals;
use super::image::{Image, Section, Writer};
use super::reader::Whole;
use super::source::Broken;
use crate::words;

/// Forms and stems. Their numbers in the index are their places in the alphabet; while counting
/// they are looked at in the order in which they were met, which keeps the frequent ones together.
struct Vocabulary<'a> {
    forms: Vec<&'a str>,
    stems: Vec<String>,
    stem_of_form: Vec<u32>,
    /// For each batch, the turn of each of its words.
    turn_of: Vec<Vec<u32>>,
    turn_of_form: Vec<u32>,
    turn_of_stem: Vec<u32>,
}

/// Not a word that any entry has.
const UNUSED: u32 = u32::MAX;

impl<'a> Vocabulary<'a> {
    fn of(batches: &'a [Batch]) -> Result<Self, Broken> {
        let mut met = Vec::new();
        let mut turn_of = Vec::new();
        for (index, batch) in batches.iter().enumerate() {
            let is_used = used(batch)?;
            for (id, word) in batch.vocabulary.iter().enumerate().filter(|(id, _)| is_used[*id]) {
                met.push((prefix(word), word.as_ref(), index, id));
            }
            turn_of.push(vec![UNUSED; batch.vocabulary.len()]);
        }
        met.sort_unstable();
        let mut forms: Vec<&str> = Vec::new();
        for (_, word, batch, id) in met {
            if forms.last() != Some(&word) {
                forms.push(word);
            }
            turn_of[batch][id] = small(forms.len() - 1);
        }
        let turn_of_form = in_turn(turn_of.iter_mut().flatten(), forms.len());
        let (stems, stem_of_form) = stems_of(&forms);
        let mut by_turn = vec![0; forms.len()];
        for (form, turn) in turn_of_form.iter().enumerate() {
            by_turn[*turn as usize] = stem_of_form[form];
        }
        let turn_of_stem = in_turn(by_turn.iter_mut(), stems.len());
        Ok(Self { forms, stems, stem_of_form, turn_of, turn_of_form, turn_of_stem })
    }
}

/// The beginning of a word as a number that orders as it does: most comparisons need no more.
fn prefix(word: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = word.len().min(8);
    bytes[..length].copy_from_slice(&word.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// All stems in order, and the place of each form's stem among them.
fn stems_of(forms: &[&str]) -> (Vec<String>, Vec<u32>) {
    let stem = |(form, word): (usize, &&str)| {
        let stem = words::stem(word);
        (prefix(&stem), stem, form)
    };
    let mut met: Vec<(u64, String, usize)> = forms.iter().enumerate().map(stem).collect();
    met.sort_unstable();
    let (mut stems, mut stem_of_form) = (Vec::<String>::new(), vec![0; forms.len()]);
    for (_, stem, form) in met {
        if stems.last() != Some(&stem) {
            stems.push(stem);
        }
        stem_of_form[form] = small(stems.len() - 1);
    }
    (stems, stem_of_form)
}

/// Replaces places in the alphabet by turns, in the order in which they come; returns the turn of
/// each place.
fn in_turn<'b>(places: impl Iterator<Item = &'b mut u32>, count: usize) -> Vec<u32> {
    let mut turns = vec![UNUSED; count];
    let mut next = 0;
    for place in places.filter(|place| **place != UNUSED) {
        let turn = &mut turns[*place as usize];
        if *turn == UNUSED {
            *turn = next;
            next += 1;
        }
        *place = *turn;
    }
    turns
}

/// Which words of a batch its entries have: those that left may have been the only ones.
fn used(batch: &Batch) -> Result<Vec<bool>, Broken> {
    if batch.is_whole {
        return Ok(vec![true; batch.vocabulary.len()]);
    }
    let mut is_used = vec![false; batch.vocabulary.len()];
    for draft in &batch.drafts {
        let mut cursor = Cursor::new(batch.words.get(draft.span.clone()).ok_or(Broken)?);
        while !cursor.is_at_end() {
            *is_used.get_mut(cursor.varint()? as usize).ok_or(Broken)? = true;
        }
    }
    Ok(is_used)
}

/// Nothing here comes near 2^32: neither words nor entries.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What is counted for a form, all in one place of memory.
#[derive(Debug, Clone, Copy)]
struct FormCount {
    form: u32,
    stem_turn: u32,
    df: u32,
    last_entry: u32,
}

/// How often the entry at hand has a stem.
#[derive(Debug, Clone, Copy, Default)]
struct InEntry {
    title: u32,
    body: u32,
}

#[derive(Debug, Clone, Default)]
struct Stem {
    df: u32,
    title_df: u32,
    last_entry: u32,
    postings: Vec<u8>,
}

struct Assembly<'a> {
    vocabulary: Vocabulary<'a>,
    /// By turn, as the two below.
    forms: Vec<FormCount>,
    in_entry: Vec<InEntry>,
    stems: Vec<Stem>,
    words: Vec<u8>,
    totals: Totals,
}

/// All entries of all batches, in the order of their keys. The keys must differ.
pub(super) fn assemble(batches: Vec<Batch>, walked_ns: i64) -> Result<Image, Broken> {
    let mut order: Vec<(&Draft, usize)> = Vec::new();
    for (index, batch) in batches.iter().enumerate() {
        order.extend(batch.drafts.iter().map(|draft| (draft, index)));
    }
    order.sort_unstable_by(|a, b| a.0.key.cmp(&b.0.key));
    let mut assembly = Assembly::new(Vocabulary::of(&batches)?);
    let mut spans = Vec::with_capacity(order.len() * 16);
    for (entry, (draft, batch)) in order.iter().enumerate() {
        let start = assembly.words.len() as u64;
        if draft.facts.sight == Sight::Shown {
            assembly.add(small(entry), draft, &batches[*batch], *batch)?;
        }
        spans.extend_from_slice(&start.to_le_bytes());
        spans.extend_from_slice(&draft.title.to_le_bytes());
        spans.extend_from_slice(&draft.tags.to_le_bytes());
    }
    let drafts: Vec<&Draft> = order.iter().map(|(draft, _)| *draft).collect();
    Ok(assembly.write(&drafts, &spans, walked_ns))
}

impl<'a> Assembly<'a> {
    fn new(vocabulary: Vocabulary<'a>) -> Self {
        let none = FormCount { form: 0, stem_turn: 0, df: 0, last_entry: UNUSED };
        let mut forms = vec![none; vocabulary.forms.len()];
        for (form, turn) in (0..).zip(&vocabulary.turn_of_form) {
            let stem = vocabulary.stem_of_form[form as usize];
            let stem_turn = vocabulary.turn_of_stem[stem as usize];
            forms[*turn as usize] = FormCount { form, stem_turn, ..none };
        }
        Self {
            forms,
            in_entry: vec![InEntry::default(); vocabulary.stems.len()],
            stems: vec![Stem::default(); vocabulary.stems.len()],
            words: Vec::new(),
            totals: Totals { entries: 0, words: 0, sum_df: 0, sum_title_df: 0 },
            vocabulary,
        }
    }

    fn add(
        &mut self,
        entry: u32,
        draft: &Draft,
        batch: &Batch,
        index: usize,
    ) -> Result<(), Broken> {
        let mut cursor = Cursor::new(batch.words.get(draft.span.clone()).ok_or(Broken)?);
        let turn_of = &self.vocabulary.turn_of[index];
        let mut met = Vec::with_capacity(draft.words as usize);
        for at in 0..draft.words {
            let count = &mut self.forms[turn_of[cursor.varint()? as usize] as usize];
            put_varint(&mut self.words, count.form);
            if count.last_entry != entry {
                count.last_entry = entry;
                count.df += 1;
            }
            let here = &mut self.in_entry[count.stem_turn as usize];
            if here.title == 0 && here.body == 0 {
                met.push((count.stem_turn, at < draft.title));
            }
            if at < draft.title + draft.tags {
                here.title += 1;
            } else {
                here.body += 1;
            }
        }
        self.totals.entries += 1;
        self.totals.words += u64::from(draft.words);
        for (turn, is_in_title) in met {
            let here = std::mem::take(&mut self.in_entry[turn as usize]);
            let stem = &mut self.stems[turn as usize];
            // Tags weigh as the title does, but only titles tell which words titles use.
            stem.title_df += u32::from(is_in_title);
            stem.close(entry, here);
        }
        Ok(())
    }

    fn write(mut self, drafts: &[&Draft], spans: &[u8], walked_ns: i64) -> Image {
        for stem in &self.stems {
            self.totals.sum_df += u64::from(stem.df);
            self.totals.sum_title_df += u64::from(stem.title_df);
        }
        let postings_bytes: usize = self.stems.iter().map(|stem| stem.postings.len()).sum();
        // Records and names come on top; a guess saves the largest copies.
        let room = self.words.len() + postings_bytes + drafts.len() * 256;
        let mut writer = Writer::with_capacity(room + room / 16);
        self.write_entries(&mut writer, drafts, spans, walked_ns);
        let forms = &self.vocabulary.forms;
        put_texts(
            &mut writer,
            Section::FormEnds,
            Section::Forms,
            forms.iter().map(|f| f.as_bytes()),
        );
        let mut records = Vec::with_capacity(forms.len() * 8);
        for (turn, stem) in self.vocabulary.turn_of_form.iter().zip(&self.vocabulary.stem_of_form) {
            records.extend_from_slice(&self.forms[*turn as usize].df.to_le_bytes());
            records.extend_from_slice(&stem.to_le_bytes());
        }
        writer.section(Section::FormRecords, &records);
        self.write_stems(&mut writer);
        writer.section(Section::Words, &self.words);
        writer.finish()
    }

    fn write_entries(&self, writer: &mut Writer, drafts: &[&Draft], spans: &[u8], walked_ns: i64) {
        let newest = drafts.iter().filter(|draft| draft.facts.sight == Sight::Shown);
        let newest = newest.filter_map(|draft| draft.facts.day).max();
        let is_unreadable = |draft: &&&Draft| draft.facts.sight == Sight::Unreadable;
        let unreadable = drafts.iter().filter(is_unreadable).count() as u64;
        let whole = Whole { totals: self.totals, newest, unreadable, walked_ns };
        writer.section(Section::Totals, &whole.to_bytes());
        let keys = drafts.iter().map(|draft| draft.key.as_bytes());
        put_texts(writer, Section::PathEnds, Section::Paths, keys);
        let (mut stamps, mut weighed, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let stamp = &draft.stamp;
            stamps.extend_from_slice(&stamp.size.to_le_bytes());
            stamps.extend_from_slice(&stamp.modified_ns.to_le_bytes());
            stamps.extend_from_slice(&stamp.changed_ns.to_le_bytes());
            stamps.extend_from_slice(&stamp.inode.to_le_bytes());
            stamps.extend_from_slice(&stamp.hash.to_le_bytes());
            Weighed::of(&draft.facts).put(&mut weighed);
            lengths.extend_from_slice(&draft.words.to_le_bytes());
            let mut bytes = Vec::new();
            put_names(&draft.facts, &mut bytes);
            names.push(bytes);
        }
        writer.section(Section::Stamps, &stamps);
        writer.section(Section::Weighed, &weighed);
        put_texts(writer, Section::NameEnds, Section::Names, names.iter().map(Vec::as_slice));
        writer.section(Section::Lengths, &lengths);
        writer.section(Section::Spans, spans);
    }

    fn write_stems(&self, writer: &mut Writer) {
        let stems = &self.vocabulary.stems;
        put_texts(writer, Section::StemEnds, Section::Stems, stems.iter().map(|s| s.as_bytes()));
        let mut forms: Vec<(u32, u32)> =
            self.vocabulary.stem_of_form.iter().copied().zip(0..).collect();
        forms.sort_unstable();
        let (mut records, mut postings_end, mut forms_end) = (Vec::new(), 0_u64, 0_usize);
        let in_order =
            || self.vocabulary.turn_of_stem.iter().map(|turn| &self.stems[*turn as usize]);
        for (id, stem) in (0_u32..).zip(in_order()) {
            while forms.get(forms_end).is_some_and(|(of, _)| *of == id) {
                forms_end += 1;
            }
            postings_end += stem.postings.len() as u64;
            records.extend_from_slice(&stem.df.to_le_bytes());
            records.extend_from_slice(&stem.title_df.to_le_bytes());
            records.extend_from_slice(&postings_end.to_le_bytes());
            records.extend_from_slice(&small(forms_end).to_le_bytes());
        }
        writer.section(Section::StemRecords, &records);
        let forms: Vec<u8> = forms.iter().flat_map(|(_, form)| form.to_le_bytes()).collect();
        writer.section(Section::StemForms, &forms);
        writer.pieces(Section::Postings, in_order().map(|stem| stem.postings.as_slice()));
    }
}

impl Stem {
    /// The entry is done: what it has of this stem becomes a posting.
    fn close(&mut self, entry: u32, here: InEntry) {
        let step = entry - if self.df == 0 { 0 } else { self.last_entry };
        // Most words are once in a body; that takes no byte of its own.
        let is_plain = here.title == 0 && here.body == 1;
        put_varint(&mut self.postings, step << 1 | u32::from(is_plain));
        if !is_plain {
            put_varint(&mut self.postings, here.title);
            put_varint(&mut self.postings, here.body);
        }
        self.df += 1;
        self.last_entry = entry;
    }
}

fn put_texts<'b>(
    writer: &mut Writer,
    ends: Section,
    texts: Section,
    each: impl Iterator<Item = &'b [u8]>,
) {
    let (mut all_ends, mut all) = (Vec::new(), Vec::new());
    for text in each {
        all.extend_from_slice(text);
        all_ends.extend_from_slice(&small(all.len()).to_le_bytes());
    }
    writer.section(ends, &all_ends);
    writer.section(texts, &all);
}
