//! What an index says, read as it is asked for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use jiff::civil::Date;

use super::bytes::Cursor;
use super::draft::Stamp;
use super::facts::{Facts, WEIGHED_BYTES, Weighed, pack, read_names, unpack};
use super::formula::Totals;
use super::image::{Image, Section};
use super::source::Broken;

const STAMP_BYTES: usize = 40;
const STEM_BYTES: usize = 20;

/// What is known of the whole corpus.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub(super) totals: Totals,
    /// The newest day that any shown entry says.
    pub(super) newest: Option<Date>,
    /// Files that should be entries and cannot be read as such.
    pub(super) unreadable: u64,
    /// When the walk began that this index is of; nanoseconds since the epoch.
    pub(super) walked_ns: i64,
}

impl Whole {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Totals { entries, words, sum_df, sum_title_df } = self.totals;
        let mut bytes = Vec::new();
        for number in [entries, words, sum_df, sum_title_df, self.unreadable] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.walked_ns.to_le_bytes());
        bytes.extend_from_slice(&pack(self.newest).to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let mut cursor = Cursor::new(bytes);
        let totals = Totals {
            entries: cursor.u64()?,
            words: cursor.u64()?,
            sum_df: cursor.u64()?,
            sum_title_df: cursor.u64()?,
        };
        let (unreadable, walked_ns) = (cursor.u64()?, cursor.i64()?);
        Ok(Self { totals, unreadable, walked_ns, newest: unpack(cursor.u32()?)? })
    }
}

/// A stem of the dictionary.
#[derive(Debug, Clone)]
pub(super) struct StemRecord {
    pub(super) df: u32,
    pub(super) title_df: u32,
    postings: std::ops::Range<usize>,
    forms: std::ops::Range<usize>,
}

type Numbers = HashMap<Box<[u8]>, usize>;

/// Where words are, in memory, for whoever asks tens of thousands of questions.
#[derive(Debug)]
struct Quick {
    stems: Numbers,
    forms: Numbers,
}

/// An index that is open.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) image: Image,
    pub(super) whole: Whole,
    pub(super) entries: usize,
    /// For each entry, what its length sets against a count.
    pub(super) resistance: Vec<f64>,
    /// Made when a contest is first asked for.
    quick: OnceLock<Quick>,
}

impl Reader {
    pub(super) fn new(image: Image) -> Result<Self, Broken> {
        let whole = Whole::read(&image.whole(Section::Totals)?)?;
        let lengths = image.whole(Section::Lengths)?;
        let (lengths, _) = lengths.as_chunks::<4>();
        let resistance: Vec<f64> = lengths
            .iter()
            .map(|words| whole.totals.resistance(u32::from_le_bytes(*words)))
            .collect();
        let entries = image.range_of(Section::PathEnds).len() / 4;
        if entries != resistance.len() {
            return Err(Broken);
        }
        Ok(Self { image, whole, entries, resistance, quick: OnceLock::new() })
    }

    /// Makes many questions quick; gives the number of stems.
    pub(super) fn prepare(&self) -> Result<usize, Broken> {
        if let Some(quick) = self.quick.get() {
            return Ok(quick.stems.len());
        }
        let stems = self.numbers(Section::StemEnds, Section::Stems)?;
        let forms = self.numbers(Section::FormEnds, Section::Forms)?;
        Ok(self.quick.get_or_init(|| Quick { stems, forms }).stems.len())
    }

    fn numbers(&self, ends: Section, texts: Section) -> Result<Numbers, Broken> {
        let count = self.image.range_of(ends).len() / 4;
        (0..count).map(|at| Ok((self.image.text(ends, texts, at)?.into(), at))).collect()
    }

    pub(super) fn key(&self, entry: usize) -> Result<String, Broken> {
        let bytes = self.image.text(Section::PathEnds, Section::Paths, entry)?;
        String::from_utf8(bytes.into_owned()).map_err(|_| Broken)
    }

    pub(super) fn weighed(&self, entry: usize) -> Result<Weighed, Broken> {
        Weighed::read(&self.image.record::<WEIGHED_BYTES>(Section::Weighed, entry)?)
    }

    pub(super) fn weights(&self, entry: usize) -> Result<Facts, Broken> {
        let Weighed { utility, maturity, day, sight, is_marked } = self.weighed(entry)?;
        Ok(Facts { utility, maturity, day, sight, is_marked, ..Facts::default() })
    }

    pub(super) fn facts(&self, entry: usize) -> Result<Facts, Broken> {
        let mut facts = self.weights(entry)?;
        let names = self.image.text(Section::NameEnds, Section::Names, entry)?;
        read_names(&names, &mut facts)?;
        Ok(facts)
    }

    /// The stem's number, by its spelling.
    pub(super) fn find_stem(&self, stem: &str) -> Result<Option<usize>, Broken> {
        match self.quick.get() {
            Some(quick) => Ok(quick.stems.get(stem.as_bytes()).copied()),
            None => self.find(Section::StemEnds, Section::Stems, stem),
        }
    }

    pub(super) fn find_entry(&self, key: &str) -> Result<Option<usize>, Broken> {
        self.find(Section::PathEnds, Section::Paths, key)
    }

    /// The form's number and how many entries have it.
    pub(super) fn find_form(&self, form: &str) -> Result<Option<(u32, u32)>, Broken> {
        let found = match self.quick.get() {
            Some(quick) => quick.forms.get(form.as_bytes()).copied(),
            None => self.find(Section::FormEnds, Section::Forms, form)?,
        };
        let Some(found) = found else { return Ok(None) };
        let record = self.image.record::<8>(Section::FormRecords, found)?;
        let df = Cursor::new(&record).u32()?;
        Ok(Some((u32::try_from(found).map_err(|_| Broken)?, df)))
    }

    fn find(&self, ends: Section, texts: Section, text: &str) -> Result<Option<usize>, Broken> {
        let (mut low, mut high) = (0, self.image.range_of(ends).len() / 4);
        while low < high {
            let middle = low.midpoint(high);
            match self.image.text(ends, texts, middle)?.as_ref().cmp(text.as_bytes()) {
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    pub(super) fn stem(&self, id: usize) -> Result<StemRecord, Broken> {
        let read = |id: usize| -> Result<(u32, u32, usize, usize), Broken> {
            let record = self.image.record::<STEM_BYTES>(Section::StemRecords, id)?;
            let mut cursor = Cursor::new(&record);
            let (df, title_df) = (cursor.u32()?, cursor.u32()?);
            let postings = usize::try_from(cursor.u64()?).map_err(|_| Broken)?;
            Ok((df, title_df, postings, cursor.u32()? as usize))
        };
        let (postings_start, forms_start) = match id {
            0 => (0, 0),
            _ => read(id - 1).map(|(_, _, postings, forms)| (postings, forms))?,
        };
        let (df, title_df, postings, forms) = read(id)?;
        let (postings, forms) = (postings_start..postings, forms_start..forms);
        Ok(StemRecord { df, title_df, postings, forms })
    }

    /// Calls `each` with the forms of a stem.
    pub(super) fn each_form(&self, stem: &StemRecord, each: impl FnMut(u32)) -> Result<(), Broken> {
        let part = stem.forms.start * 4..stem.forms.end * 4;
        let bytes = self.image.part(Section::StemForms, part)?;
        bytes.as_chunks::<4>().0.iter().map(|form| u32::from_le_bytes(*form)).for_each(each);
        Ok(())
    }

    /// Calls `each` with entry, count in title and tags, and count in the body.
    #[inline]
    pub(super) fn each_posting(
        &self,
        record: &StemRecord,
        mut each: impl FnMut(usize, u32, u32),
    ) -> Result<(), Broken> {
        let bytes = self.image.part(Section::Postings, record.postings.clone())?;
        let mut cursor = Cursor::new(&bytes);
        let mut entry = 0;
        for _ in 0..record.df {
            let step = cursor.varint()?;
            entry += (step >> 1) as usize;
            if entry >= self.entries {
                return Err(Broken);
            }
            if step & 1 == 1 {
                each(entry, 0, 1);
            } else {
                let title = cursor.varint()?;
                each(entry, title, cursor.varint()?);
            }
        }
        Ok(())
    }

    /// The words of an entry.
    pub(super) fn words(&self, entry: usize) -> Result<EntryWords<'_>, Broken> {
        let record = self.image.record::<16>(Section::Spans, entry)?;
        let mut cursor = Cursor::new(&record);
        let start = usize::try_from(cursor.u64()?).map_err(|_| Broken)?;
        let (title, tags) = (cursor.u32()?, cursor.u32()?);
        let end = if entry + 1 < self.entries {
            let next = self.image.record::<16>(Section::Spans, entry + 1)?;
            usize::try_from(Cursor::new(&next).u64()?).map_err(|_| Broken)?
        } else {
            self.image.range_of(Section::Words).len()
        };
        Ok(EntryWords { title, tags, bytes: self.image.part(Section::Words, start..end)? })
    }
}

/// The words of an entry in order: title, tags, body.
#[derive(Debug)]
pub(super) struct EntryWords<'a> {
    pub(super) title: u32,
    pub(super) tags: u32,
    bytes: Cow<'a, [u8]>,
}

impl EntryWords<'_> {
    /// Calls `each` with the place and the form.
    #[inline]
    pub(super) fn each(&self, mut each: impl FnMut(u32, u32)) -> Result<(), Broken> {
        let mut cursor = Cursor::new(&self.bytes);
        let mut at = 0;
        while !cursor.is_at_end() {
            each(at, cursor.varint()?);
            at += 1;
        }
        Ok(())
    }
}

/// What an index says about files, for comparing with what is there now.
pub(super) fn stamps(image: &Image) -> Result<Vec<Stamp>, Broken> {
    let bytes = image.whole(Section::Stamps)?;
    let (records, rest) = bytes.as_chunks::<STAMP_BYTES>();
    if !rest.is_empty() {
        return Err(Broken);
    }
    records.iter().map(|record| read_stamp(record)).collect()
}

fn read_stamp(record: &[u8]) -> Result<Stamp, Broken> {
    let mut cursor = Cursor::new(record);
    Ok(Stamp {
        size: cursor.u64()?,
        modified_ns: cursor.i64()?,
        changed_ns: cursor.i64()?,
        inode: cursor.u64()?,
        hash: cursor.u64()?,
    })
}
