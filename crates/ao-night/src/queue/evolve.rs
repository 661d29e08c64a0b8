//! What the roadmaps of `evolve` say in a line: an id in backquotes, and what blocks the item.
//!
//! ```text
//! 1. `rig-difc` — Extract the subsystems.
//!    blocker: `rig-8z29` (land as minimum unblocker first)
//! 2. `rig-imjw` — Converge the inventory. (blocker: `rig-difc`)
//! ```
//!
//! A word in backquotes is an id for sure only where the line begins with it and a dash or a colon follows: in
//! "Fix `lock.rs`" it is none.

use super::QueueItem;

const BLOCKER: &str = "blocker:";
const ID_CHARS_MAX: usize = 128;

impl QueueItem {
    /// Takes the words of its line, the id and what blocks it apart.
    pub(super) fn name(&mut self, line: &str) {
        let line = match without_blockers(line) {
            Some((rest, ids)) => {
                self.blocked_by(ids);
                rest
            }
            None => line.to_owned(),
        };
        if let Some((id, words)) = leading_id(&line) {
            words.clone_into(&mut self.title);
            if self.title.is_empty() {
                id.clone_into(&mut self.title);
            }
            self.id = Some(id.to_owned());
        } else {
            self.mentioned = quoted(&line).map(|(_, id, _)| id.to_owned());
            self.title = line;
        }
    }

    pub(super) fn blocked_by(&mut self, ids: Vec<String>) {
        for id in ids {
            if !self.blockers.contains(&id) {
                self.blockers.push(id);
            }
        }
    }
}

/// Whether a line says what blocks the item above it, indented or not.
pub(super) fn begins_with_blocker(line: &str) -> bool {
    line.get(..BLOCKER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BLOCKER))
}

/// What a line beneath an item says that blocks it; the backquotes may be missing there.
pub(super) fn blockers(line: &str) -> Vec<String> {
    if let Some((_, ids)) = without_blockers(line) {
        return ids;
    }
    if !begins_with_blocker(line) {
        return Vec::new();
    }
    let word = line[BLOCKER.len()..].split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches([',', ';', '.']);
    if is_id(word) { vec![word.to_owned()] } else { Vec::new() }
}

/// A line without ``blocker: `ID`, `ID` ``, in brackets or not, and the ids.
fn without_blockers(line: &str) -> Option<(String, Vec<String>)> {
    let at = line.to_ascii_lowercase().find(BLOCKER)?;
    let (before, rest) = (&line[..at], line[at + BLOCKER.len()..].trim_start());
    if before.ends_with(char::is_alphanumeric) {
        return None;
    }
    let (mut ids, mut after) = (Vec::new(), rest);
    while let Some((between, id, rest)) = quoted(after) {
        let is_next = if ids.is_empty() { between.is_empty() } else { is_separator(between) };
        if !is_next {
            break;
        }
        ids.push(id.to_owned());
        after = rest;
    }
    if ids.is_empty() {
        return None;
    }
    let (before, after) = match before.trim_end().strip_suffix('(') {
        Some(before) => (before, after.trim_start().strip_prefix(')').unwrap_or(after)),
        None => (before, after),
    };
    let words: Vec<&str> = before.split_whitespace().chain(after.split_whitespace()).collect();
    Some((words.join(" "), ids))
}

/// What stands between two ids of one list.
fn is_separator(text: &str) -> bool {
    matches!(text.trim(), "," | ";" | "and" | "&" | "+")
}

/// The id that a line begins with, and the words behind it.
fn leading_id(line: &str) -> Option<(&str, &str)> {
    let (before, id, after) = quoted(line)?;
    let words = after.trim_start();
    let bare = words.strip_prefix(['—', '–', '-', ':']).unwrap_or(words);
    let is_apart = words.is_empty() || bare.len() < words.len();
    let is_id = before.is_empty() && is_apart && !ao_mutant::active("LOOP-19/ids-are-words");
    is_id.then(|| (id, bare.trim()))
}

/// The first words in backquotes, if they are an id, with what stands before and after them.
fn quoted(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = line.split_once('`')?;
    let (id, after) = rest.split_once('`')?;
    is_id(id).then_some((before, id, after))
}

fn is_id(text: &str) -> bool {
    text.len() <= ID_CHARS_MAX
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::super::read;

    // proves: LOOP-19
    #[test]
    fn ids_and_blockers_are_told_from_words() {
        for (line, id, title, blockers) in [
            ("1. `a-1` — Do it", Some("a-1"), "Do it", &[][..]),
            ("* `a.1`: Do it", Some("a.1"), "Do it", &[]),
            ("- `a_1` - Do `b` it", Some("a_1"), "Do `b` it", &[]),
            ("2. `a-1`", Some("a-1"), "a-1", &[]),
            ("- [ ] `a-1` – Do it (blocker: `b-2`) now", Some("a-1"), "Do it now", &["b-2"]),
            ("- `a-1` — Do it Blocker:`b-2`", Some("a-1"), "Do it", &["b-2"]),
            ("- `lock.rs` hangs", None, "`lock.rs` hangs", &[]),
            ("- Fix `lock.rs` — today", None, "Fix `lock.rs` — today", &[]),
            ("- `cargo test` — fails", None, "`cargo test` — fails", &[]),
            ("- a blocker: none", None, "a blocker: none", &[]),
            ("- unblocker: `b`", None, "unblocker: `b`", &[]),
            ("- Do it\n  blocker: b-2, soon", None, "Do it", &["b-2"]),
            ("- Do it\nBlocker: `b-2`\n  blocker: `b-2`", None, "Do it", &["b-2"]),
            ("- Do it\n  blocker: `b-2`, `c-3`", None, "Do it", &["b-2", "c-3"]),
            (
                "- `a-1` — Do it (blocker: `b-2` and `c-3`) `d`",
                Some("a-1"),
                "Do it `d`",
                &["b-2", "c-3"],
            ),
            ("- Do it\n  needs a word, blocker: later", None, "Do it", &[]),
        ] {
            let queue = read(line.as_bytes()).unwrap();
            assert!(queue.unheard.is_empty(), "{line}");
            let [item] = &queue.items[..] else { panic!("{line}: {queue:?}") };
            assert_eq!(item.id.as_deref(), id, "{line}");
            assert_eq!(
                (item.title.as_str(), item.blockers.as_slice()),
                (title, &blockers.iter().map(|&one| one.to_owned()).collect::<Vec<_>>()[..]),
                "{line}"
            );
        }
        let mentioned = |line: &str| read(line.as_bytes()).unwrap().items[0].mentioned.clone();
        assert_eq!(mentioned("- Land `a-1` first").as_deref(), Some("a-1"));
        assert_eq!(mentioned("- Run `make all`"), None);
    }
}
