//! Batches become one index.

use super::bytes::{Cursor, put_varint};
use super::draft::{Batch, Draft};
use super::facts::{Sight, Weighed, put_names};
use super::formula::Totals;
use super::image::{Image, Section, Writer};
use super::postings::{Counts, Postings};
use super::reader::Whole;
use super::source::Broken;
use super::vocabulary::{UNUSED, Vocabulary, small};

/// What is counted for a form, all in one place of memory.
#[derive(Debug, Clone, Copy)]
struct FormCount {
    form: u32,
    stem_turn: u32,
    df: u32,
    last_entry: u32,
}

struct Assembly<'a> {
    vocabulary: Vocabulary<'a>,
    /// By turn, as the two below.
    forms: Vec<FormCount>,
    in_entry: Vec<Counts>,
    postings: Postings,
    words: Vec<u8>,
    totals: Totals,
}

/// All entries of all batches, in the order of their keys. The keys must differ.
pub(super) fn assemble(mut batches: Vec<Batch>, walked_ns: i64) -> Result<Image, Broken> {
    let texts: Vec<Vec<u8>> =
        batches.iter_mut().map(|batch| std::mem::take(&mut batch.words)).collect();
    let mut order: Vec<(&Draft, usize)> = Vec::new();
    for (index, batch) in batches.iter().enumerate() {
        order.extend(batch.drafts.iter().map(|draft| (draft, index)));
    }
    order.sort_unstable_by(|a, b| a.0.key.cmp(&b.0.key));
    // Memory that grows is paid for several times over; the same words take about the same room again.
    let room = texts.iter().map(Vec::len).sum::<usize>();
    let mut assembly = Assembly::new(Vocabulary::of(&batches, &texts)?, room);
    let mut spans = Vec::with_capacity(order.len() * 16);
    for (entry, (draft, batch)) in order.iter().enumerate() {
        let start = assembly.words.len() as u64;
        if draft.facts.sight == Sight::Shown {
            assembly.add(small(entry), draft, &texts[*batch], *batch)?;
        }
        spans.extend_from_slice(&start.to_le_bytes());
        spans.extend_from_slice(&draft.title.to_le_bytes());
        spans.extend_from_slice(&draft.tags.to_le_bytes());
    }
    // All words are in the index now; half a million entries should not be in memory twice.
    drop(texts);
    let drafts: Vec<&Draft> = order.iter().map(|(draft, _)| *draft).collect();
    Ok(assembly.write(&drafts, &spans, walked_ns))
}

impl<'a> Assembly<'a> {
    fn new(vocabulary: Vocabulary<'a>, words_bytes: usize) -> Self {
        let none = FormCount { form: 0, stem_turn: 0, df: 0, last_entry: UNUSED };
        let mut forms = vec![none; vocabulary.forms.len()];
        for (form, turn) in (0..).zip(&vocabulary.turn_of_form) {
            let stem = vocabulary.stem_of_form[form as usize];
            let stem_turn = vocabulary.turn_of_stem[stem as usize];
            forms[*turn as usize] = FormCount { form, stem_turn, ..none };
        }
        Self {
            forms,
            in_entry: vec![Counts::default(); vocabulary.stems.len()],
            postings: Postings::new(vocabulary.stems.len()),
            words: Vec::with_capacity(words_bytes + words_bytes / 4),
            totals: Totals { entries: 0, words: 0, sum_df: 0, sum_title_df: 0 },
            vocabulary,
        }
    }

    fn add(&mut self, entry: u32, draft: &Draft, text: &[u8], batch: usize) -> Result<(), Broken> {
        let mut cursor = Cursor::new(text.get(draft.span.clone()).ok_or(Broken)?);
        let turn_of = &self.vocabulary.turn_of[batch];
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
            // Tags weigh as the title does, but only titles tell which words titles use.
            self.postings.chains[turn as usize].title_df += u32::from(is_in_title);
            self.postings.push(turn, entry, here);
        }
        if self.postings.is_full() { Err(Broken) } else { Ok(()) }
    }

    fn write(mut self, drafts: &[&Draft], spans: &[u8], walked_ns: i64) -> Image {
        for chain in &self.postings.chains {
            self.totals.sum_df += u64::from(chain.df);
            self.totals.sum_title_df += u64::from(chain.title_df);
        }
        let mut writer = Writer::starting_with(Section::Words, std::mem::take(&mut self.words));
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
        put_texts(writer, Section::StemEnds, Section::Stems, stems.iter().map(String::as_bytes));
        let mut forms: Vec<(u32, u32)> =
            self.vocabulary.stem_of_form.iter().copied().zip(0..).collect();
        forms.sort_unstable();
        let (mut records, mut postings_end, mut forms_end) = (Vec::new(), 0_u64, 0_usize);
        let in_order = || self.vocabulary.turn_of_stem.iter().copied();
        for (id, turn) in (0_u32..).zip(in_order()) {
            let chain = &self.postings.chains[turn as usize];
            while forms.get(forms_end).is_some_and(|(of, _)| *of == id) {
                forms_end += 1;
            }
            postings_end += u64::from(chain.bytes);
            records.extend_from_slice(&chain.df.to_le_bytes());
            records.extend_from_slice(&chain.title_df.to_le_bytes());
            records.extend_from_slice(&postings_end.to_le_bytes());
            records.extend_from_slice(&small(forms_end).to_le_bytes());
        }
        writer.section(Section::StemRecords, &records);
        let forms: Vec<u8> = forms.iter().flat_map(|(_, form)| form.to_le_bytes()).collect();
        writer.section(Section::StemForms, &forms);
        writer.pieces(Section::Postings, in_order().flat_map(|turn| self.postings.pieces(turn)));
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
