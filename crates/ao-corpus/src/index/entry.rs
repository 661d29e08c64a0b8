//! An entry as the index sees it.

use super::draft::Text;
use super::facts::{Facts, Sight};
use crate::corpus::Entry;
use crate::document::sections;
use crate::patterns::is_unsaid;
use crate::trust::warned;

/// Longer names are no names, and more of them no lineage; neither is kept.
const NAME_BYTES_MAX: usize = 512;
const NAMES_MAX: usize = 4096;

/// What an entry says about itself beside its words.
pub fn facts_of(entry: &Entry) -> Facts {
    let document = &entry.document;
    let is_utility = |value: &f64| (0.0..=1.0).contains(value);
    let names = |key: &str| {
        let names = document.texts(key).into_iter().map(|name| name.trim().to_owned());
        let is_name = |name: &String| !name.is_empty() && name.len() <= NAME_BYTES_MAX;
        names.filter(is_name).take(NAMES_MAX).collect::<Vec<String>>()
    };
    let mut successors = names("superseded_by");
    successors.extend(names("promoted_to"));
    Facts {
        utility: document.number("utility").filter(is_utility),
        maturity: document.maturity(),
        day: entry.date(),
        sight: if is_shown(entry) { Sight::Shown } else { Sight::Hidden },
        is_marked: warned(entry).is_some(),
        id: names("id").into_iter().next(),
        successors,
        merged_from: names("merged_from"),
    }
}

/// Whether search can find it. A pattern that nobody says any more is replaced by nothing, and no knowledge either.
pub fn is_shown(entry: &Entry) -> bool {
    entry.kind.is_searched() && !entry.document.is_hidden() && !is_unsaid(entry)
}

/// Hands the words of an entry on: the title once, tags, and every heading and section as body.
pub(super) fn with_text<T>(entry: &Entry, take: impl FnOnce(Text<'_>) -> T) -> T {
    let document = &entry.document;
    let title = entry.title();
    let tags = document.texts("tags").join(" ");
    let mut body = Vec::new();
    // The heading that is the title is not body too.
    let mut is_title_due = true;
    let sections = sections(document.body());
    for section in &sections {
        let is_first = section.level > 0 && std::mem::take(&mut is_title_due);
        if !(is_first && section.heading.ends_with(title.as_str())) {
            body.push(section.heading);
        }
        body.push(section.text);
    }
    take(Text { title: &title, tags: &tags, body: &body })
}
