//! References to entries that go are made to lead to their survivors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::corpus::{Entry, Kind};
use crate::document::Form;
use crate::files::{in_parallel, read_one, read_one_past};
use crate::past::Past;
use crate::patterns::is_compiled;
use crate::references::{Names, Wanted, rewrite as rewrite_text};
use crate::tree::Tree;

/// The work queue, the one held part that is no folder.
pub const QUEUE: &str = "rpi/next-work.jsonl";

/// The work queue as it is and as it is to be.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Queue {
    /// A queue that is not there, too large or no text is left alone.
    pub(super) fn read(agents: &Path, past: Option<&Past>) -> Self {
        let bytes = match past {
            Some(past) => read_one_past(agents, QUEUE, past),
            None => read_one(agents, QUEUE).ok(),
        };
        Self { before: bytes.and_then(|bytes| String::from_utf8(bytes).ok()), after: None }
    }

    pub(super) fn now(&self) -> Option<&str> {
        self.after.as_deref().or(self.before.as_deref())
    }
}

/// Each move says by which names an entry was known and by which it is known now. Gives the files
/// that were rewritten, and to which entries they had referred. Only the entries of `among` are
/// looked at, if it is known that no others refer to these.
pub(super) fn rewrite(
    tree: &mut Tree,
    queue: &mut Queue,
    moves: Vec<(Names, Names)>,
    among: Option<&BTreeSet<String>>,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut moves = moves;
    leave_out_ambiguous(tree, &mut moves);
    let wanted = Wanted::new(moves.iter().map(|(old, _)| old.clone()).collect());
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let is_held = |path: &String| {
        Kind::of(path).is_some_and(|kind| !matches!(kind, Kind::Research | Kind::Wiki))
    };
    let is_among = |path: &String| {
        among.is_none_or(|among| among.contains(path)) && !tree.fixed().contains_key(path)
    };
    let wanted_paths = tree.paths().into_iter().filter(|path| is_held(path) && is_among(path));
    let paths: Vec<String> = wanted_paths.collect();
    let rewritten = in_parallel(&paths, |path| rewrite_entry(tree, path, &wanted, &moves));
    let mut referrers = BTreeMap::new();
    for (entry, targets) in rewritten.into_iter().flatten() {
        referrers.insert(entry.path.clone(), targets);
        tree.write(Arc::new(entry));
    }
    if !tree.fixed().contains_key(QUEUE)
        && let Some(text) = queue.now()
        && let Some(new) =
            rewrite_text(text, Form::JsonLine, &wanted, |at| Some(moves[at].1.clone()))
    {
        referrers.insert(QUEUE.to_owned(), targets_of(text, &wanted, &moves));
        queue.after = Some(new);
    }
    referrers
}

/// A file name or an id that another entry has too means that one as well.
fn leave_out_ambiguous(tree: &Tree, moves: &mut [(Names, Names)]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let paths = tree.paths();
    for path in &paths {
        let file = path.rsplit_once('/').map_or(path.as_str(), |(_, file)| file);
        *counts.entry(super::dedup::stem(file)).or_default() += 1;
    }
    for (old, _) in moves {
        // Those that go are no longer in the tree.
        if counts.contains_key(old.stem.as_str()) {
            old.file.clear();
            old.stem.clear();
        }
        old.former.clear();
    }
}

fn rewrite_entry(
    tree: &Tree,
    path: &str,
    wanted: &Wanted,
    moves: &[(Names, Names)],
) -> Option<(Entry, BTreeSet<String>)> {
    let entry = tree.entry(path)?;
    let document = &entry.document;
    // A page that was compiled is brought up to date as a whole.
    if document.is_pinned() || document.doubt().is_some() || is_compiled(&entry) {
        return None;
    }
    let text = std::str::from_utf8(document.bytes()).ok()?;
    // A survivor that names what it took in would name itself.
    let instead = |at: usize| {
        let new = &moves[at].1;
        (new.path != entry.path).then(|| new.clone())
    };
    let new = rewrite_text(text, document.form(), wanted, instead)?;
    let parsed = Entry::parse(path, || Ok(new.into_bytes()))?.ok()?;
    let is_whole = parsed.document.doubt().is_none() && parsed.document.keys().eq(document.keys());
    is_whole.then(|| (parsed, targets_of(text, wanted, moves)))
}

fn targets_of(text: &str, wanted: &Wanted, moves: &[(Names, Names)]) -> BTreeSet<String> {
    wanted.mentioned(text).into_iter().map(|at| moves[at].0.path.clone()).collect()
}
