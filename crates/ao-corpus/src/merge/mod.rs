//! Two copies become one, and nothing that either says is lost.
//!
//! The better copy stays as it is, byte for byte. What only the other has is added: sentences, items
//! and code to the section they belong to, fields to the header, counts to the counts. Where both
//! have the same sentence in other words, the other words are kept in a short list of variants.
//! `merged_from` tells what an entry took in, through any number of merges.

mod body;
mod fields;
mod variants;

use std::sync::Arc;

use crate::corpus::Entry;
use crate::document::EditError;

/// Names of what an entry took in: file names without their endings, and ids.
pub const MERGED_FROM: &str = "merged_from";
/// What the entries that were taken in had said otherwise in their headers, by their names.
pub const MERGED_FIELDS: &str = "merged_fields";
/// The heading over sentences in other words.
pub const VARIANTS: &str = "## Variants";
/// A merge of two texts that differ in a few words is at most so many times the longer, in percent.
pub const SIZE_PERCENT_MAX: usize = 120;

/// The survivor with everything that only `other` has.
pub fn merge(survivor: &Entry, other: &Entry) -> Result<Entry, EditError> {
    // As it was written if that can be; a field that leans on another one is written anew.
    let document = merge_in(survivor, other, fields::Style::Raw)
        .or_else(|_| merge_in(survivor, other, fields::Style::Anew))?;
    Ok(Entry { path: survivor.path.clone(), kind: survivor.kind, document })
}

fn merge_in(
    survivor: &Entry,
    other: &Entry,
    style: fields::Style,
) -> Result<crate::document::Document, EditError> {
    let mut draft = survivor.document.draft();
    fields::merge(&mut draft, survivor, other, style);
    let header = draft.finish()?;
    let (ours, theirs) = (&survivor.document, &other.document);
    let grown = header.bytes().len() - ours.bytes().len().min(header.bytes().len());
    let room = body::Room::of(ours, theirs, grown);
    draft.set_body(&body::merge(ours.body(), theirs.body(), room));
    draft.finish()
}

/// As [`merge`], of several copies.
pub fn merge_all(survivor: &Entry, others: &[Arc<Entry>]) -> Result<Entry, EditError> {
    let (first, rest) = match others {
        [] => return Err(EditError::NotExact("nothing to merge".into())),
        [first, rest @ ..] => (first, rest),
    };
    rest.iter().try_fold(merge(survivor, first)?, |merged, other| merge(&merged, other))
}
