//! Whom an entry refers to: by `[[link]]`, by the name of a file, or in a field of its header.
//!
//! Only names that stand as names are looked for. Reading every word of every text for ids would
//! cost more than all the rest of the landscape.

use ao_corpus::Document;

/// Fields of a header that name other entries.
const FIELDS: [&str; 9] = [
    "related",
    "related_to",
    "see_also",
    "references",
    "refs",
    "links",
    "depends_on",
    "supersedes",
    "promoted_from",
];
const ENDINGS: [&str; 2] = [".md", ".jsonl"];
/// A file's name has no more bytes.
const NAME_BYTES_MAX: usize = 255;
/// More than this is an index page, which is no sign that topics are related.
const REFERENCES_AN_ENTRY: usize = 64;

/// The names of other entries in a document, without folders and endings.
pub(super) fn of(document: &Document) -> Vec<String> {
    // One walk over the header is cheaper than a question for each of the fields.
    let fields = document.keys().filter(|key| FIELDS.contains(key));
    let texts = fields.flat_map(|key| document.texts(key));
    let mut names: Vec<String> =
        texts.filter_map(|text| name(text.trim()).map(str::to_owned)).collect();
    let body = document.body();
    names.extend(links(body).map(str::to_owned));
    names.extend(files(body).map(str::to_owned));
    names.sort_unstable();
    names.dedup();
    names.truncate(REFERENCES_AN_ENTRY);
    names
}

/// The last part of a path, without its ending.
fn name(text: &str) -> Option<&str> {
    let last = text.rsplit('/').next().unwrap_or(text);
    let stem = ENDINGS.iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(last);
    (!stem.is_empty() && stem.len() <= NAME_BYTES_MAX).then_some(stem)
}

fn links(body: &str) -> impl Iterator<Item = &str> {
    body.split("[[").skip(1).filter_map(|rest| {
        let end = rest
            .char_indices()
            .take(NAME_BYTES_MAX)
            .find(|(_, c)| matches!(c, ']' | '|' | '#' | '\n'))?;
        if end.1 == '\n' { None } else { name(rest[..end.0].trim()) }
    })
}

fn files(body: &str) -> impl Iterator<Item = &str> {
    ENDINGS.iter().flat_map(|ending| body.match_indices(ending)).filter_map(|(at, ending)| {
        let is_end =
            body[at + ending.len()..].chars().next().is_none_or(|c| c == '.' || !is_name_char(c));
        let before = &body[..at];
        let start = before
            .rfind(|c| !is_name_char(c))
            .map_or(0, |sign| sign + before[sign..].chars().next().map_or(1, char::len_utf8));
        if is_end { name(&before[start..]) } else { None }
    })
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use ao_corpus::Form;

    use super::*;

    #[test]
    fn names_are_found_where_they_are_names() {
        let text = "---\nrelated: [L-7, learnings/2026-01-02-x.md]\n---\nSee ../research/deep-dive.md, \
                    [[linked|shown]], [[é]], notes.mdx and a.b.md. [[open\n";
        let document = Document::parse(Form::Markdown, text.into()).unwrap();
        assert_eq!(of(&document), ["2026-01-02-x", "L-7", "a.b", "deep-dive", "linked", "é"]);
    }
}
