//! Whose word a learning is, as its header says: a pattern is no more to be trusted than the least of its sources.

use crate::document::Document;

const TRUST: &str = "trust";
/// From the highest on. An entry that does not say is of the repository's own people, `code`.
const ORDER: [&str; 3] = ["user", "code", "tool"];
const UNSAID: usize = 1;

/// The word by which an entry is not to be trusted enough to speak for a pattern.
pub(super) fn low(document: &Document) -> Option<String> {
    let word = document.text(TRUST)?.trim().to_lowercase();
    (!ORDER.contains(&word.as_str())).then_some(word)
}

/// The lowest trust of several entries; `None` where none of them says.
pub(super) fn lowest<'a>(documents: impl Iterator<Item = &'a Document>) -> Option<&'static str> {
    let mut lowest = 0;
    let mut is_said = false;
    for document in documents {
        let word = document.text(TRUST).map(|word| word.trim().to_lowercase());
        is_said |= word.is_some();
        let place = word.and_then(|word| ORDER.iter().position(|known| *known == word));
        lowest = lowest.max(place.unwrap_or(UNSAID));
    }
    is_said.then(|| ORDER[lowest])
}
