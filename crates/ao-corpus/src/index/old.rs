//! An index as a batch: its entries go into the next one without being read again.

use super::bytes::Cursor;
use super::draft::{Batch, Draft, Stamp};
use super::facts::Sight;
use super::image::Section;
use super::reader::Reader;
use super::source::Broken;

/// The entries of an index that `keep` gives a stamp for.
pub(super) fn batch_of(
    reader: &Reader,
    mut keep: impl FnMut(usize) -> Option<Stamp>,
) -> Result<Batch, Broken> {
    let image = &reader.image;
    let words = image.whole(Section::Words)?.into_owned();
    let lengths = image.whole(Section::Lengths)?;
    let spans = image.whole(Section::Spans)?;
    let (lengths, spans) = (lengths.as_chunks::<4>().0, spans.as_chunks::<16>().0);
    if lengths.len() != reader.entries || spans.len() != reader.entries {
        return Err(Broken);
    }
    let start_of = |entry: usize| match spans.get(entry) {
        Some(span) => usize::try_from(Cursor::new(span).u64()?).map_err(|_| Broken),
        None => Ok(words.len()),
    };
    let mut drafts = Vec::new();
    for entry in 0..reader.entries {
        let Some(stamp) = keep(entry) else { continue };
        let facts = reader.facts(entry)?;
        let mut cursor = Cursor::new(&spans[entry][8..]);
        let (title, tags) = (cursor.u32()?, cursor.u32()?);
        let span = start_of(entry)?..start_of(entry + 1)?;
        let words = u32::from_le_bytes(lengths[entry]);
        if facts.sight != Sight::Shown && !span.is_empty() {
            return Err(Broken);
        }
        drafts.push(Draft { key: reader.key(entry)?, stamp, facts, title, tags, words, span });
    }
    Ok(Batch { vocabulary: vocabulary(reader)?, words, drafts, is_whole: false })
}

fn vocabulary(reader: &Reader) -> Result<Vec<Box<str>>, Broken> {
    let (ends, forms) =
        (reader.image.whole(Section::FormEnds)?, reader.image.whole(Section::Forms)?);
    let mut start = 0;
    let mut vocabulary = Vec::new();
    for end in ends.as_chunks::<4>().0 {
        let end = u32::from_le_bytes(*end) as usize;
        let form = forms.get(start..end).ok_or(Broken)?;
        vocabulary.push(std::str::from_utf8(form).map_err(|_| Broken)?.into());
        start = end;
    }
    Ok(vocabulary)
}
