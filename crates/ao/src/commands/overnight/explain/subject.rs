//! The entry that is asked about, also one that is gone, and what nights did to it.

use std::collections::BTreeSet;

use ao_contract::{Change, ChangeOp};
use ao_corpus::certificate::of_sources;
use ao_corpus::index::{Keep, Place};
use ao_corpus::lineage::{Found, Lineage};
use ao_corpus::{Entry, Kind};
use ao_tree::shown;

use super::super::nights::{self, Night};
use crate::commands::as_of::unreadable;
use crate::commands::library::Library;
use crate::commands::show::{is_other_name, several};
use crate::failure::Failure;
use crate::repo::AGENTS;
use crate::spelling::distance;

/// So many names that are like the one that is not there are told.
const LIKE_MAX: usize = 3;
/// No chain of survivors is followed further.
const STEPS_MAX: usize = 64;

pub(super) struct Subject {
    /// From `.agents/`.
    pub(super) path: String,
    pub(super) is_there: bool,
    /// Newest first.
    pub(super) events: Vec<Event>,
    /// What was made into it, and what stands for it now, each by the one before.
    pub(super) from: Vec<String>,
    pub(super) into: Vec<String>,
}

/// What one iteration did to the entry.
pub(super) struct Event {
    pub(super) night: Night,
    pub(super) change: Change,
}

impl Subject {
    pub(super) fn find(library: &Library, name: &str) -> Result<Self, Failure> {
        let nights = nights::kept(&library.repo, library.door())?;
        let mut all: Vec<Event> = Vec::new();
        for night in nights.into_iter().rev() {
            let record = library.door().record(&night.line.id)?;
            let of_entries = record.changes.into_iter().filter(|c| Kind::of(&c.path).is_some());
            all.extend(of_entries.map(|change| Event { night: night.clone(), change }));
        }
        let today = Today::of(library)?;
        let path =
            today.own(library, name)?.map_or_else(|| gone(library, &today, &all, name), Ok)?;
        let is_there = today.paths.contains(&path);
        let (from, into) = (made_of(&all, &path), stands_for(&all, &today, &path));
        let events = all.into_iter().filter(|event| event.change.path == path).collect();
        Ok(Self { path, is_there, events, from, into })
    }
}

/// The entries as they are.
struct Today {
    lineage: Lineage,
    paths: BTreeSet<String>,
}

impl Today {
    fn of(library: &Library) -> Result<Self, Failure> {
        // Asking leaves nothing behind.
        let place = Place { keep: Keep::No, ..library.place().clone() };
        let read = place.ask(|index| {
            let paths: Result<BTreeSet<String>, _> =
                (0..index.len()).map(|entry| index.key(entry)).collect();
            Ok((Lineage::of(index)?, paths?))
        });
        let ((lineage, paths), _) = read.map_err(|error| unreadable(&error))?;
        Ok(Self { lineage, paths })
    }

    /// An entry that is there and has this name as its own.
    fn own(&self, library: &Library, name: &str) -> Result<Option<String>, Failure> {
        // A path is itself, whoever stands for it by now.
        if let Some(path) = self.paths.get(beneath(name)) {
            return Ok(Some(path.clone()));
        }
        match self.lineage.find(name) {
            Found::Entry { path, over } | Found::Orphan { path, over, .. } => {
                let first = over.into_iter().next().unwrap_or(path);
                let is_own = !is_other_name(name, &library.entry(&first)?);
                Ok(is_own.then_some(first))
            }
            Found::Several(paths) => Err(several(name, &paths)),
            Found::Nothing => Ok(None),
        }
    }
}

/// A name without what leads to `.agents/`.
fn beneath(name: &str) -> &str {
    let name = name.trim();
    name.rsplit_once(&format!("{AGENTS}/")).map_or(name, |(_, rest)| rest)
}

/// An entry that is gone: by its path or its file's name, or by the id that it had.
fn gone(library: &Library, today: &Today, all: &[Event], name: &str) -> Result<String, Failure> {
    let bare = beneath(name);
    let is_named = |path: &str| {
        let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        [path, file, stem].contains(&bare) || path.strip_suffix(".md") == Some(bare)
    };
    let deleted = all.iter().filter(|event| event.change.op == ChangeOp::Delete);
    let named: BTreeSet<&String> =
        all.iter().map(|event| &event.change.path).filter(|path| is_named(path)).collect();
    match named.len() {
        0 => {}
        1 => return Ok(named.into_iter().next().cloned().unwrap_or_default()),
        _ => {
            let paths: Vec<String> = named.into_iter().cloned().collect();
            return Err(several(name, &paths));
        }
    }
    for event in deleted {
        if id_of(library, event).as_deref() == Some(bare) {
            return Ok(event.change.path.clone());
        }
    }
    match today.lineage.find(name) {
        // The name of something that it took in before there was a history.
        Found::Entry { path, .. } => Ok(path),
        _ => Err(nothing(name, today, all)),
    }
}

/// The id that a deleted entry had, where its bytes are kept.
fn id_of(library: &Library, event: &Event) -> Option<String> {
    let before = event.change.before.as_ref()?;
    let kept = ao_tree::Kept { commit: event.night.line.id.clone(), hash: before.hash.clone() };
    let bytes = library.door().kept(&kept).ok()?;
    let entry = Entry::parse(&event.change.path, || Ok(bytes))?.ok()?;
    entry.document.text("id").map(|id| id.trim().to_owned())
}

/// What was merged into it, or it was promoted from.
fn made_of(all: &[Event], path: &str) -> Vec<String> {
    let successor =
        |change: &Change| of_sources(&change.sources).and_then(|certificate| certificate.successor);
    let is_into = |event: &&Event| {
        event.change.op == ChangeOp::Delete && successor(&event.change).as_deref() == Some(path)
    };
    let mut from: Vec<String> =
        all.iter().filter(is_into).map(|event| event.change.path.clone()).collect();
    let added = all.iter().filter(|e| e.change.path == path && e.change.op == ChangeOp::Add);
    from.extend(added.flat_map(|event| event.change.sources.iter().cloned()));
    from.dedup();
    from
}

/// What stands for an entry that is gone, step by step.
fn stands_for(all: &[Event], today: &Today, path: &str) -> Vec<String> {
    let mut into: Vec<String> = Vec::new();
    let mut at = path.to_owned();
    for _ in 0..STEPS_MAX {
        if today.paths.contains(&at) {
            break;
        }
        let went = all.iter().find(|e| e.change.path == at && e.change.op == ChangeOp::Delete);
        let Some(event) = went else { break };
        let certificate = of_sources(&event.change.sources);
        let next = certificate.and_then(|certificate| certificate.successor).or_else(|| {
            // A pending one became what was added in its place.
            let is_of = |e: &&Event| e.change.op == ChangeOp::Add && e.change.sources.contains(&at);
            let is_learning = |e: &&Event| Kind::of(&e.change.path) == Some(Kind::Learning);
            let mut made = all.iter().filter(is_of);
            let made = made.clone().find(is_learning).or_else(|| made.next());
            made.map(|event| event.change.path.clone())
        });
        match next {
            Some(next) if !into.contains(&next) => {
                into.push(next.clone());
                at = next;
            }
            _ => break,
        }
    }
    into
}

fn nothing(name: &str, today: &Today, all: &[Event]) -> Failure {
    let stem = |path: &str| {
        let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned()
    };
    let wanted = stem(name.trim());
    let known = today.paths.iter().chain(all.iter().map(|event| &event.change.path));
    let names: BTreeSet<String> = known.map(|path| stem(path)).collect();
    let most = (wanted.chars().count() / 3).max(2);
    let mut like: Vec<(usize, String)> = names
        .into_iter()
        .map(|name| {
            let is_part = !wanted.is_empty() && name.contains(&wanted);
            (if is_part { 0 } else { distance(&wanted, &name) }, name)
        })
        .filter(|(distance, _)| *distance <= most)
        .collect();
    like.sort();
    let failure =
        Failure::usage(format!("there is no entry `{}`, and no night knew one", shown(name)));
    let like: Vec<String> = like.iter().take(LIKE_MAX).map(|(_, name)| shown(name)).collect();
    if like.is_empty() {
        return failure.hint("`ao search` finds entries by what they say");
    }
    failure.hint(format!("names like it: {}", like.join(", ")))
}
