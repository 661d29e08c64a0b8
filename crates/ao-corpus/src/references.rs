//! Who refers to whom, by path, file name, id or `[[link]]`.
//!
//! Two questions are asked of a text. *Does it mention this entry?* is answered generously: what is
//! mentioned is not taken away. *Where exactly, to write another name there?* is answered only where
//! the name stands as a name: a path, a file name, a link, a value of its own, or a name that cannot
//! be an ordinary word. Whatever is not rewritten still leads to the survivor by its lineage.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::corpus::Entry;
use crate::document::Form;

/// Shorter names are words.
const NAME_BYTES_MIN: usize = 3;

/// The names of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// From `.agents/`.
    pub path: String,
    pub file: String,
    pub stem: String,
    pub id: Option<String>,
    /// Names of entries that it took in.
    pub former: Vec<String>,
}

impl Names {
    pub fn of(entry: &Entry) -> Self {
        let former = entry.document.texts("merged_from");
        Self {
            path: entry.path.clone(),
            file: entry.name().to_owned(),
            stem: entry.stem().to_owned(),
            id: entry.document.text("id").map(|id| id.trim().to_owned()),
            former: former.into_iter().map(|name| name.trim().to_owned()).collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let names = [Some(&self.path), Some(&self.file), Some(&self.stem), self.id.as_ref()];
        names.into_iter().flatten().chain(&self.former).map(String::as_str)
    }
}

/// Entries that are looked for in texts.
#[derive(Debug, Default)]
pub struct Wanted {
    targets: Vec<Names>,
    /// Only looked up, never walked through: its order makes no difference.
    by_name: HashMap<String, Vec<usize>>,
    /// Whether any name has so many bytes: most words of a text are shorter.
    lengths: Vec<bool>,
    shortest: usize,
    /// Names with signs that end a word: these are looked for letter by letter.
    odd: Vec<(String, usize)>,
}

impl Wanted {
    pub fn new(targets: Vec<Names>) -> Self {
        let mut wanted = Self { targets, shortest: usize::MAX, ..Self::default() };
        for (target, names) in wanted.targets.iter().enumerate() {
            for name in names.all().filter(|name| name.len() >= NAME_BYTES_MIN) {
                if name.chars().all(is_name_char) {
                    if wanted.lengths.len() <= name.len() {
                        wanted.lengths.resize(name.len() + 1, false);
                    }
                    wanted.lengths[name.len()] = true;
                    wanted.shortest = wanted.shortest.min(name.len());
                    let known = wanted.by_name.entry(name.to_owned()).or_default();
                    if !known.contains(&target) {
                        known.push(target);
                    }
                } else {
                    wanted.odd.push((name.to_owned(), target));
                }
            }
        }
        wanted
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The entries, by their places in the list, that a text mentions in any way.
    pub fn mentioned(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for span in runs(text) {
            found.extend(self.meant(&text[span]));
        }
        let odd = self.odd.iter().filter(|(name, _)| text.contains(name.as_str()));
        found.extend(odd.map(|(_, target)| *target));
        found
    }

    fn has_length(&self, bytes: usize) -> bool {
        self.lengths.get(bytes).copied().unwrap_or_default()
    }

    /// Which entries a run of name characters may mean.
    fn meant<'a>(&'a self, run: &'a str) -> impl Iterator<Item = usize> + 'a {
        // What is shorter than every name has no name in it.
        let run = if run.len() < self.shortest { "" } else { run };
        let last = memchr::memrchr(b'/', run.as_bytes()).map_or(run, |at| &run[at + 1..]);
        let stem = memchr::memrchr(b'.', last.as_bytes()).map_or(last, |at| &last[..at]);
        let find = |name: &str| {
            if self.has_length(name.len()) { self.by_name.get(name) } else { None }
        };
        let names = [run, last, stem].map(find);
        names.into_iter().flatten().flatten().copied()
    }

    /// The text with the names of entries replaced; `None` if it names none of them. `instead` gives
    /// the names that an entry has now.
    pub fn rewritten(
        &self,
        text: &str,
        instead: impl Fn(usize) -> Option<Names>,
    ) -> Option<String> {
        let mut new = String::new();
        let mut at = 0;
        for (span, name) in self.replacements(text, instead) {
            new.push_str(&text[at..span.start]);
            new.push_str(&name);
            at = span.end;
        }
        (at > 0).then(|| {
            new.push_str(&text[at..]);
            new
        })
    }

    fn replacements(
        &self,
        text: &str,
        instead: impl Fn(usize) -> Option<Names>,
    ) -> Vec<(Range<usize>, String)> {
        let mut found = Vec::new();
        for span in runs(text) {
            let run = &text[span.clone()];
            let Some(target) = self.one_meant(run) else { continue };
            let Some(new) = instead(target) else { continue };
            // Copies may share an id, and then nothing has to be written.
            let old = &self.targets[target];
            if let Some((inner, name)) = replacement(text, &span, old, &new)
                && run[inner.clone()] != *name
            {
                found.push((span.start + inner.start..span.start + inner.end, name));
            }
        }
        found
    }

    /// A run is rewritten only if it can mean no other.
    fn one_meant(&self, run: &str) -> Option<usize> {
        let mut meant = self.meant(run);
        let first = meant.next()?;
        meant.all(|other| other == first).then_some(first)
    }
}

/// What is to stand in a run instead, and where in it.
fn replacement(
    text: &str,
    span: &Range<usize>,
    old: &Names,
    new: &Names,
) -> Option<(Range<usize>, String)> {
    let run = &text[span.clone()];
    let tail = |name: &str| {
        let rest = run.strip_suffix(name)?;
        (rest.is_empty() || rest.ends_with('/')).then_some(rest.len()..run.len())
    };
    if let Some(range) = tail(&old.path) {
        return Some((range, new.path.clone()));
    }
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let is_moved = folder(&old.path) != folder(&new.path);
    if let Some(range) = tail(&old.file) {
        // Where the file was named by its folder too, the folder must still be right.
        let is_bare = range.start == 0;
        return (is_bare || !is_moved).then(|| (range, new.file.clone()));
    }
    let is_name = is_distinctive(run) || is_linked(text, span) || is_value(text, span);
    if !is_name {
        return None;
    }
    if run == old.stem {
        return Some((0..run.len(), new.stem.clone()));
    }
    if old.id.as_deref() == Some(run) {
        return Some((0..run.len(), new.id.clone().unwrap_or_else(|| new.stem.clone())));
    }
    None
}

/// No ordinary word has a digit and a dash in it.
fn is_distinctive(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_digit()) && name.contains(['-', '_'])
}

/// `[[name]]`, `[[name|shown]]`, `[[name#heading]]`.
fn is_linked(text: &str, span: &Range<usize>) -> bool {
    text[..span.start].ends_with("[[") && text[span.end..].starts_with([']', '|', '#'])
}

/// In quotes by itself, as a value of JSON or of a header.
fn is_value(text: &str, span: &Range<usize>) -> bool {
    let (before, after) = (&text[..span.start], &text[span.end..]);
    let is_quoted = |sign: char| before.ends_with(sign) && after.starts_with(sign);
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let key = line.trim_end();
    let is_field = key.ends_with(':')
        && !key.contains(' ')
        && after.trim_start_matches([' ', '\r']).starts_with('\n');
    is_quoted('"') || is_quoted('\'') || is_field
}

fn is_name_char(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => IS_NAME_BYTE[usize::from(byte)],
        _ => c.is_alphanumeric(),
    }
}

/// Texts are mostly ASCII, and every letter of a corpus is looked at.
const IS_NAME_BYTE: [bool; 128] = {
    let mut is_name = [false; 128];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let sign = byte as u8;
        is_name[byte] = sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'-' | b'.' | b'/');
        byte += 1;
    }
    is_name
};

/// Runs of characters that names are made of, without the signs that only stand around them.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = next(text, at, is_name_char)?;
            let end = next(text, start, |c| !is_name_char(c)).unwrap_or(text.len());
            at = end;
            // In JSON a backslash makes the letter after it a sign.
            let start = if text[..start].ends_with('\\') {
                start + text[start..].chars().next().map_or(0, char::len_utf8)
            } else {
                start
            };
            let bare = text[start..end].trim_end_matches(['.', '-', '/']);
            let end = start + bare.len();
            let start = end - bare.trim_start_matches(['.', '-', '/']).len();
            if start < end {
                return Some(start..end);
            }
        }
    })
}

/// Where the next such character is. A search for a closure in a text decodes every character, and
/// almost all of them are bytes.
fn next(text: &str, from: usize, is_it: impl Fn(char) -> bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let c = match bytes[at] {
            byte if byte.is_ascii() => char::from(byte),
            _ => text[at..].chars().next()?,
        };
        if is_it(c) {
            return Some(at);
        }
        at += c.len_utf8();
    }
    None
}

/// A file with its references rewritten. Of a file of JSON lines only lines that are JSON are
/// touched.
pub fn rewrite(
    text: &str,
    form: Form,
    wanted: &Wanted,
    instead: impl Fn(usize) -> Option<Names>,
) -> Option<String> {
    if form == Form::Markdown {
        return wanted.rewritten(text, instead);
    }
    let mut is_changed = false;
    let mut new = String::new();
    for line in text.split_inclusive('\n') {
        let is_json = serde_json::from_str::<&serde_json::value::RawValue>(line.trim()).is_ok();
        match wanted.rewritten(line, &instead).filter(|_| is_json) {
            Some(line) => {
                is_changed = true;
                new.push_str(&line);
            }
            None => new.push_str(line),
        }
    }
    is_changed.then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, id: Option<&str>) -> Names {
        let file = path.rsplit_once('/').unwrap().1;
        Names {
            path: path.into(),
            file: file.into(),
            stem: file.rsplit_once('.').unwrap().0.into(),
            id: id.map(Into::into),
            former: Vec::new(),
        }
    }

    #[test]
    fn names_are_replaced_where_they_are_names() {
        let old = names("learnings/2026-04-01-old.md", Some("L-7"));
        let new = names("learnings/2026-03-01-new.md", Some("L-3"));
        let word = names("learnings/retry.md", None);
        let wanted = Wanted::new(vec![old, word]);
        let to = |text: &str| wanted.rewritten(text, |_| Some(new.clone()));
        for (before, after) in [
            ("see 2026-04-01-old.md.", "see 2026-03-01-new.md."),
            ("[x](../learnings/2026-04-01-old.md#why)", "[x](../learnings/2026-03-01-new.md#why)"),
            ("[[2026-04-01-old|old]]", "[[2026-03-01-new|old]]"),
            ("by L-7, too", "by L-3, too"),
            ("[[retry]] and retry.md", "[[2026-03-01-new]] and 2026-03-01-new.md"),
            ("superseded_by: retry\n", "superseded_by: 2026-03-01-new\n"),
            ("{\"a\":\"\\n2026-04-01-old\\u00e9\"}", "{\"a\":\"\\n2026-03-01-new\\u00e9\"}"),
        ] {
            assert_eq!(to(before).as_deref(), Some(after), "{before}");
        }
        for other in
            ["retry it", "2026-04-01-older.md", "2026-04-01-old-2", "x/L-70", "other/retry.md.bak"]
        {
            assert_eq!(to(other), None, "{other}");
        }
        assert_eq!(wanted.mentioned("retry it").len(), 1);
        assert!(wanted.mentioned("retries L-71").is_empty());
    }

    #[test]
    fn lines_that_are_no_json_stay_as_they_are() {
        let wanted = Wanted::new(vec![names("learnings/2026-04-01-old.md", None)]);
        let new = names("learnings/n.md", None);
        let text = "{\"a\": \"2026-04-01-old.md\",\"z\":1.0}\r\nnot json 2026-04-01-old.md\n";
        let after = rewrite(text, Form::JsonLine, &wanted, |_| Some(new.clone())).unwrap();
        assert_eq!(after, text.replacen("2026-04-01-old.md", "n.md", 1));
    }
}
