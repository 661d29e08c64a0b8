//! Whose word a learning is: a pattern is no more to be trusted than the least of its sources.

use ao_contract::Trust;

use crate::document::Document;
use crate::trust::{UNSAID, of_header};

/// What is trusted less speaks for no pattern.
const LEAST: Trust = Trust::Tool;

/// The word by which an entry is not to be trusted enough to speak for a pattern.
pub(super) fn low(document: &Document) -> Option<&'static str> {
    of_header(document).filter(|trust| *trust < LEAST).map(Trust::name)
}

/// The lowest trust of several entries; `None` where none of them says.
pub(super) fn lowest<'a>(documents: impl Iterator<Item = &'a Document>) -> Option<&'static str> {
    let all: Vec<Option<Trust>> = documents.map(of_header).collect();
    let is_said = all.iter().any(Option::is_some);
    let lowest = all.into_iter().map(|trust| trust.unwrap_or(UNSAID)).min();
    lowest.filter(|_| is_said).map(Trust::name)
}
