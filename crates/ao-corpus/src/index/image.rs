//! The bytes of an index: a header, sections, and a check value for every block of it.
//!
//! The same bytes are searched in memory and lie in the cache, so what is found cannot depend on
//! where they come from.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::bytes::Cursor;
use super::source::{BLOCK_BYTES, Blocks, Broken, CHECK_BYTES, Source, check_of};

const MAGIC: [u8; 8] = *b"ao-index";
/// Changes with the layout, with the words and with what is read from an entry.
const VERSION: u32 = 4;
const SECTIONS: usize = 18;
/// Magic, version, body length, section ends, the check values' own value, the header's own.
const HEADER_BYTES: usize = 8 + 4 + 8 + SECTIONS * 8 + CHECK_BYTES + CHECK_BYTES;
/// A body larger than this is not one of ours.
const BODY_BYTES_MAX: u64 = 16 << 30;

/// The parts of an index, in the order in which they lie in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// The words of each entry, in order. The largest part stands first: it becomes the image
    /// without being copied.
    Words,
    /// Counts of the whole.
    Totals,
    /// Entries in the order of their paths: where each path ends, and the paths.
    PathEnds,
    Paths,
    /// What the file system said of each file, and a hash of what was read.
    Stamps,
    Weighed,
    NameEnds,
    Names,
    /// How many words each entry has.
    Lengths,
    /// Where each entry's words are, and how many of them are title and tags.
    Spans,
    /// Words as they are written, sorted.
    FormEnds,
    Forms,
    FormRecords,
    /// Stems, sorted.
    StemEnds,
    Stems,
    StemRecords,
    /// The forms of each stem.
    StemForms,
    /// The entries of each stem, with counts.
    Postings,
}

/// Collects sections in order.
#[derive(Debug, Default)]
pub(super) struct Writer {
    body: Vec<u8>,
    ends: Vec<u64>,
}

impl Writer {
    pub(super) fn starting_with(section: Section, bytes: Vec<u8>) -> Self {
        debug_assert_eq!(section as usize, 0, "this is not the first section");
        let end = bytes.len() as u64;
        Self { body: bytes, ends: vec![end] }
    }

    pub(super) fn section(&mut self, section: Section, bytes: &[u8]) {
        self.pieces(section, [bytes]);
    }

    pub(super) fn pieces<'b>(
        &mut self,
        section: Section,
        pieces: impl IntoIterator<Item = &'b [u8]>,
    ) {
        debug_assert_eq!(self.ends.len(), section as usize, "sections come in order");
        for piece in pieces {
            self.body.extend_from_slice(piece);
        }
        self.ends.push(self.body.len() as u64);
    }

    pub(super) fn finish(self) -> Image {
        let mut ends = [0; SECTIONS];
        for (slot, end) in ends.iter_mut().zip(&self.ends) {
            *slot = usize::try_from(*end).unwrap_or(usize::MAX);
        }
        Image { source: Source::Memory(self.body), ends, sealed: Sealed::No }
    }
}

/// Whether the check values and the header already stand behind the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sealed {
    Yes,
    No,
}

#[derive(Debug)]
pub(super) struct Image {
    source: Source,
    ends: [usize; SECTIONS],
    sealed: Sealed,
}

impl Image {
    pub(super) fn range_of(&self, section: Section) -> Range<usize> {
        let index = section as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start..self.ends[index]
    }

    /// Some bytes of a section.
    #[inline]
    pub(super) fn part(
        &self,
        section: Section,
        part: Range<usize>,
    ) -> Result<std::borrow::Cow<'_, [u8]>, Broken> {
        let whole = self.range_of(section);
        if part.start > part.end || part.end > whole.len() {
            return Err(Broken);
        }
        self.source.range(whole.start + part.start..whole.start + part.end)
    }

    pub(super) fn whole(&self, section: Section) -> Result<std::borrow::Cow<'_, [u8]>, Broken> {
        self.source.range(self.range_of(section))
    }

    /// One of the records of a section that are `N` bytes each.
    #[inline]
    pub(super) fn record<const N: usize>(
        &self,
        section: Section,
        index: usize,
    ) -> Result<[u8; N], Broken> {
        let start = index.checked_mul(N).ok_or(Broken)?;
        let bytes = self.part(section, start..start.checked_add(N).ok_or(Broken)?)?;
        bytes.as_ref().try_into().map_err(|_| Broken)
    }

    /// A text of a section of texts, whose ends another section has.
    pub(super) fn text(
        &self,
        ends: Section,
        texts: Section,
        index: usize,
    ) -> Result<std::borrow::Cow<'_, [u8]>, Broken> {
        let end_of = |index: usize| {
            self.record::<4>(ends, index).map(|bytes| u32::from_le_bytes(bytes) as usize)
        };
        let start = if index == 0 { 0 } else { end_of(index - 1)? };
        self.part(texts, start..end_of(index)?)
    }

    /// With everything read, and checked.
    pub(super) fn into_memory(self) -> Result<Self, Broken> {
        let body = self.source.range(0..self.ends[SECTIONS - 1])?.into_owned();
        Ok(Self { source: Source::Memory(body), ..self })
    }

    /// As a file. The check values are appended in place: half a million entries should not be
    /// in memory twice.
    pub(super) fn as_file(&mut self) -> Option<&[u8]> {
        let Source::Memory(file) = &mut self.source else { return None };
        if self.sealed == Sealed::No {
            let body = file.len();
            let mut checks = Vec::with_capacity((body / BLOCK_BYTES + 1) * CHECK_BYTES);
            for block in file.chunks(BLOCK_BYTES) {
                checks.extend_from_slice(&check_of(block));
            }
            file.extend_from_slice(&checks);
            let header_start = file.len();
            file.extend_from_slice(&MAGIC);
            file.extend_from_slice(&VERSION.to_le_bytes());
            file.extend_from_slice(&(body as u64).to_le_bytes());
            for end in self.ends {
                file.extend_from_slice(&(end as u64).to_le_bytes());
            }
            file.extend_from_slice(&check_of(&checks));
            let check = check_of(&file[header_start..]);
            file.extend_from_slice(&check);
            self.sealed = Sealed::Yes;
        }
        Some(file)
    }

    /// Opens what [`Image::as_file`] made: the header (which stands at the end) is checked now,
    /// the rest when it is read.
    pub(super) fn open(file: File) -> Result<Self, Broken> {
        let length = file.metadata().map_err(|_| Broken)?.len();
        let header_start = length.checked_sub(HEADER_BYTES as u64).ok_or(Broken)?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, header_start).map_err(|_| Broken)?;
        let (head, check) = header.split_at(HEADER_BYTES - CHECK_BYTES);
        if check_of(head) != check {
            return Err(Broken);
        }
        let mut cursor = Cursor::new(head);
        let (magic, version) = (cursor.array::<8>()?, cursor.u32()?);
        let body = cursor.u64()?;
        if magic != MAGIC || version != VERSION || body > BODY_BYTES_MAX {
            return Err(Broken);
        }
        let body = usize::try_from(body).map_err(|_| Broken)?;
        let mut ends = [0; SECTIONS];
        let mut before = 0;
        for end in &mut ends {
            *end = usize::try_from(cursor.u64()?).map_err(|_| Broken)?;
            if *end < before || *end > body {
                return Err(Broken);
            }
            before = *end;
        }
        let check: [u8; CHECK_BYTES] = cursor.array()?;
        let mut checks = vec![0; body.div_ceil(BLOCK_BYTES) * CHECK_BYTES];
        if body as u64 + checks.len() as u64 != header_start {
            return Err(Broken);
        }
        file.read_exact_at(&mut checks, body as u64).map_err(|_| Broken)?;
        if check_of(&checks) != check {
            return Err(Broken);
        }
        let (checks, _) = checks.as_chunks::<CHECK_BYTES>();
        let source = Source::File(Blocks::new(file, body, checks.to_vec()));
        Ok(Self { source, ends, sealed: Sealed::No })
    }
}
