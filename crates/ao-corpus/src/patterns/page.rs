//! The page of a compiled pattern: a header and a block that are ours, and around them whatever a person writes.
//!
//! The block ends with a seal over what is in it. A block whose seal does not fit was changed by somebody, and is
//! theirs from then on: nothing in the page is changed any more.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ao_contract::Maturity;
use serde_json::json;

use super::statement::MARKS;
use crate::corpus::{Entry, Kind};
use crate::document::{Document, Form};

/// The learnings that a page was compiled from and that still say it.
pub const COMPILED_FROM: &str = "compiled_from";
pub const COMPILED_KEY: &str = "compiled_key";
pub const COMPILED_AT: &str = "compiled_at";
/// Learnings that no longer say it.
pub const WITHDRAWN: &str = "withdrawn_sources";
/// The status of a page with fewer sources than a pattern needs.
pub const WEAKENED: &str = "weakened";
const STATUS: &str = "status";

const START: &str = "<!-- ao:compiled -->\n";
const END: &str = "<!-- /ao:compiled ";
const END_CLOSE: &str = " -->";
const SAID_BY: &str = "Said by:\n\n";
const NO_LONGER: &str = "\nNo longer:\n\n";
const SEAL_LETTERS: usize = 16;
const TITLE_BYTES_MAX: usize = 120;
/// A block of more bytes is none of ours.
const BLOCK_BYTES_MAX: usize = 256 * 1024;

/// A learning that is cited, with its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cited {
    pub(super) path: String,
    pub(super) words: String,
}

/// What a page says in its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// In the words of one of the sources.
    pub(super) claim: String,
    pub(super) sources: Vec<Cited>,
    /// Sources that no longer say it, and why.
    pub(super) withdrawn: Vec<Cited>,
}

impl Block {
    fn inside(&self) -> String {
        let line = |cited: &Cited| format!("- `{}`: {}\n", cited.path, cited.words);
        let mut text = format!("> {}\n\n{SAID_BY}", self.claim);
        text.extend(self.sources.iter().map(line));
        if !self.withdrawn.is_empty() {
            text.push_str(NO_LONGER);
            text.extend(self.withdrawn.iter().map(line));
        }
        text
    }

    fn text(&self) -> String {
        let inside = self.inside();
        format!("{START}{inside}{END}{}{END_CLOSE}", seal(&inside))
    }

    /// Reads a block that cites just these, in this order: the header names them, so that no name can be taken for
    /// the words behind it.
    fn parse(inside: &str, said: &[Cow<'_, str>], gone: &[Cow<'_, str>]) -> Option<Self> {
        let (claim, rest) = inside.strip_prefix("> ")?.split_once("\n\n")?;
        let mut rest = rest.strip_prefix(SAID_BY)?;
        let sources = list(&mut rest, said)?;
        if !gone.is_empty() {
            rest = rest.strip_prefix(NO_LONGER)?;
        }
        let withdrawn = list(&mut rest, gone)?;
        let block = Self { claim: claim.to_owned(), sources, withdrawn };
        (block.inside() == inside).then_some(block)
    }
}

/// Takes the lines about these off the beginning of a text.
fn list(rest: &mut &str, paths: &[Cow<'_, str>]) -> Option<Vec<Cited>> {
    let mut found = Vec::new();
    for path in paths {
        let line = rest.strip_prefix("- `")?.strip_prefix(path.as_ref())?.strip_prefix("`: ")?;
        let (words, after) = line.split_once('\n')?;
        found.push(Cited { path: path.clone().into_owned(), words: words.to_owned() });
        *rest = after;
    }
    Some(found)
}

/// Whether a name can stand in a block: on one line, and without its marks.
pub(super) fn is_citable(path: &str) -> bool {
    !path.contains(char::is_control) && !MARKS.iter().any(|mark| path.contains(mark))
}

fn seal(inside: &str) -> String {
    let hash = blake3::hash(inside.as_bytes()).to_hex();
    hash[..SEAL_LETTERS].to_owned()
}

/// Where the block is in a text, its marks included, and what is in it with its seal.
fn find(text: &str) -> Option<(Range<usize>, &str, &str)> {
    let start = text.find(START)?;
    let from = start + START.len();
    let inside = from + text[from..].find(END)?;
    let close = inside + END.len();
    let end = close + text[close..].find(END_CLOSE)?;
    let seal = &text[close..end];
    let is_sane = end - start <= BLOCK_BYTES_MAX && !seal.contains('\n');
    is_sane.then(|| (start..end + END_CLOSE.len(), &text[from..inside], seal))
}

/// Whether an entry is a page that was compiled.
pub fn is_compiled(entry: &Entry) -> bool {
    entry.kind == Kind::Pattern && entry.document.has(COMPILED_FROM)
}

/// Whether a page that was compiled has fewer sources than a pattern needs.
pub fn is_weakened(entry: &Entry) -> bool {
    is_compiled(entry) && entry.document.text(STATUS).as_deref() == Some(WEAKENED)
}

/// Whether nobody says any more what a page was compiled of: then it is no knowledge.
pub fn is_unsaid(entry: &Entry) -> bool {
    is_compiled(entry) && entry.document.texts(COMPILED_FROM).is_empty()
}

/// Where in the body of a compiled page its sources are listed.
pub(crate) fn lists_of(entry: &Entry) -> Option<Range<usize>> {
    if !is_compiled(entry) {
        return None;
    }
    let (span, inside, _) = find(entry.document.body())?;
    let at = inside.find(SAID_BY)?;
    Some(span.start + START.len() + at..span.end)
}

/// The page without what we wrote of its sources: what is left is what a person refers to.
pub(crate) fn without_own(text: &str) -> Option<String> {
    let (span, _, _) = find(text)?;
    let ours = [COMPILED_FROM, WITHDRAWN];
    let is_ours = |line: &str| {
        ours.iter().any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
    };
    let head = text[..span.start].split_inclusive('\n').filter(|line| !is_ours(line));
    Some(head.chain([&text[span.end..]]).collect())
}

/// A page that was compiled.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) entry: Arc<Entry>,
    pub(super) block: Block,
}

impl Page {
    /// Reads a page; the error says why it is left alone.
    pub(super) fn read(entry: &Arc<Entry>) -> Result<Self, String> {
        let document = &entry.document;
        if document.doubt().is_some() {
            return Err("its header cannot be read beyond doubt".into());
        }
        if document.is_pinned() {
            return Err("it is pinned".into());
        }
        let changed = || "its list of sources was changed by hand and is left as it is".to_owned();
        let (_, inside, known) = find(document.body()).ok_or_else(changed)?;
        if seal(inside) != known {
            return Err(changed());
        }
        let (said, gone) = (document.texts(COMPILED_FROM), document.texts(WITHDRAWN));
        let block = Block::parse(inside, &said, &gone).ok_or_else(changed)?;
        Ok(Self { entry: Arc::clone(entry), block })
    }

    /// The page with another block; everything else is as it was.
    pub(super) fn with(
        &self,
        block: &Block,
        is_weak: bool,
        day: Option<&str>,
        trust: Option<&str>,
    ) -> Result<Entry, String> {
        let document = &self.entry.document;
        let body = document.body();
        let Some((span, _, _)) = find(body) else { return Err("its block is gone".into()) };
        let body = format!("{}{}{}", &body[..span.start], block.text(), &body[span.end..]);
        let mut draft = document.draft();
        draft.set(COMPILED_FROM, paths(&block.sources));
        if block.withdrawn.is_empty() {
            draft.remove(WITHDRAWN);
        } else {
            draft.set(WITHDRAWN, paths(&block.withdrawn));
        }
        let status = document.text(STATUS);
        match status.as_deref() {
            Some(WEAKENED) if !is_weak => drop(draft.remove(STATUS)),
            None if is_weak => drop(draft.set(STATUS, WEAKENED)),
            // A person's own word for it stays.
            _ => {}
        }
        if let Some(day) = day {
            draft.set(COMPILED_AT, day);
        }
        if let Some(trust) = trust {
            draft.set("trust", trust);
        }
        let document = draft.set_body(&body).finish().map_err(|error| error.to_string())?;
        Ok(Entry { path: self.entry.path.clone(), kind: Kind::Pattern, document })
    }
}

fn paths(cited: &[Cited]) -> Vec<String> {
    cited.iter().map(|one| one.path.clone()).collect()
}

/// What a new page is made of.
pub(super) struct Fresh<'a> {
    pub(super) block: Block,
    pub(super) key: String,
    /// The newest day of its sources.
    pub(super) date: Option<String>,
    pub(super) day: Option<&'a str>,
    pub(super) trust: Option<&'a str>,
}

impl Fresh<'_> {
    pub(super) fn title(&self) -> String {
        title(&self.block.claim)
    }

    pub(super) fn entry(&self, path: &str) -> Result<Entry, String> {
        let title = self.title();
        let text = format!("# {title}\n\n{}\n", self.block.text());
        let document = Document::parse(Form::Markdown, text.into_bytes())?;
        let mut draft = document.draft();
        draft.set("title", title).set("type", "pattern");
        if let Some(date) = &self.date {
            draft.set("date", date.as_str());
        }
        draft.set("maturity", json!(Maturity::Provisional)).set("utility", 0.5);
        if let Some(trust) = self.trust {
            draft.set("trust", trust);
        }
        if let Some(day) = self.day {
            draft.set(COMPILED_AT, day);
        }
        draft.set(COMPILED_KEY, self.key.as_str()).set(COMPILED_FROM, paths(&self.block.sources));
        let document = draft.finish().map_err(|error| error.to_string())?;
        Ok(Entry { path: path.to_owned(), kind: Kind::Pattern, document })
    }
}

/// A claim as a heading: without its stop, and not too long.
fn title(claim: &str) -> String {
    let bare = claim.trim_end_matches('.');
    if bare.len() <= TITLE_BYTES_MAX {
        return bare.to_owned();
    }
    let end = bare.floor_char_boundary(TITLE_BYTES_MAX);
    let end = bare[..end].rfind(' ').unwrap_or(end);
    format!("{} …", &bare[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Block {
        let cited = |path: &str, words: &str| Cited { path: path.into(), words: words.into() };
        Block {
            claim: "Close the pool.".into(),
            sources: vec![
                cited("learnings/a.md", "Close it."),
                cited("learnings/b.md", "Shut it."),
            ],
            withdrawn: Vec::new(),
        }
    }

    fn page() -> Entry {
        let fresh = Fresh {
            block: block(),
            key: "close pool".into(),
            date: None,
            day: Some("2026-04-01"),
            trust: None,
        };
        fresh.entry("patterns/close-the-pool.md").unwrap()
    }

    #[test]
    fn a_page_reads_back_and_keeps_what_a_person_wrote() {
        let entry = page();
        assert_eq!(Page::read(&Arc::new(page())).unwrap().block, block());
        let text = String::from_utf8(entry.document.bytes().to_vec()).unwrap();
        let own = text.replace("# Close", "Mine, in learnings/a.md.\n\n# Close")
            + "\n## Notes\n\nMy own words.\n";
        let own = own.replace("type: pattern", "type: pattern # really\nowner: me");
        let entry =
            Entry::parse("patterns/x.md", || Ok(own.clone().into_bytes())).unwrap().unwrap();
        let page = Page::read(&Arc::new(entry)).unwrap();
        let mut more = block();
        more.withdrawn = vec![more.sources.remove(0)];
        let after = page.with(&more, true, Some("2026-04-02"), None).unwrap();
        let after = String::from_utf8(after.document.bytes().to_vec()).unwrap();
        for kept in [
            "Mine, in learnings/a.md.\n\n# Close",
            "\n## Notes\n\nMy own words.\n",
            "type: pattern # really\nowner: me\n",
        ] {
            assert!(after.contains(kept), "{after}");
        }
        assert!(
            after.contains("status: weakened\n")
                && after.contains("withdrawn_sources: [learnings/a.md]\n"),
            "{after}"
        );
        let left = without_own(&after).unwrap();
        assert!(
            left.contains("Mine, in learnings/a.md") && !left.contains("learnings/b.md"),
            "{left}"
        );
    }

    #[test]
    fn a_block_that_somebody_changed_is_theirs() {
        let text = String::from_utf8(page().document.bytes().to_vec()).unwrap();
        for changed in [
            text.replace("Shut it.", "Shut it always."),
            text.replace("- `learnings/b.md`: Shut it.\n", ""),
            text.replace("[learnings/a.md, learnings/b.md]", "[learnings/a.md]"),
            text.replace("<!-- ao:compiled -->", ""),
        ] {
            assert_ne!(changed, text);
            let entry =
                Entry::parse("patterns/x.md", || Ok(changed.into_bytes())).unwrap().unwrap();
            assert!(Page::read(&Arc::new(entry)).unwrap_err().contains("by hand"));
        }
    }
}
