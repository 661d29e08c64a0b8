//! One look: what a state answers, and where the wanted entry stands in it.

use ao_contract::{HistoryLine, Record};
use ao_corpus::index::{Broken, Index, Place, Question};
use ao_corpus::lineage::{Found, Lineage};
use ao_corpus::search::{Asking, ranking};
use ao_tree::{Disk, Door, shown};

use crate::commands::as_of::{AsOf, unreadable};
use crate::failure::Failure;

/// An entry behind so many others is not found.
pub(super) const DEPTH: usize = 1000;
/// So many entries are named where a name means several.
const NAMED_MAX: usize = 10;

/// What one state answers.
#[derive(Debug, Clone)]
pub(super) struct Look {
    /// How many commits are in the state.
    pub(super) count: usize,
    /// The place of the entry, from 1.
    pub(super) rank: Option<usize>,
    /// Whether the state has it at all.
    pub(super) is_there: bool,
    /// What stands before it.
    ahead: Vec<String>,
    /// What stands for an entry that is not there, and its place.
    pub(super) instead: Option<(String, Option<usize>)>,
}

impl Look {
    /// What stands before the entry, and did not in an earlier look.
    pub(super) fn new_ahead(&self, earlier: &Look) -> Vec<&str> {
        let ahead = self.ahead.iter().filter(|path| !earlier.ahead.contains(path));
        ahead.map(String::as_str).collect()
    }

    pub(super) fn is_worse_than(&self, best: usize) -> bool {
        self.rank.is_none_or(|rank| rank > best)
    }
}

/// The entry that is looked for, and the first look at it.
pub(super) struct Wanted {
    pub(super) path: String,
    pub(super) start: Look,
    /// The commit that added it, if the oldest state does not have it.
    pub(super) added_by: Option<String>,
}

/// What the oldest state has by the name that was given.
enum Meant {
    One(Look, String),
    Several(Vec<String>),
    Nothing,
}

/// The states that can be asked.
pub(super) struct Asked<'a> {
    pub(super) door: &'a Door<Disk>,
    pub(super) place: Place,
    pub(super) history: Vec<HistoryLine>,
    pub(super) question: Question,
}

impl Asked<'_> {
    /// Asks the state after `count` commits.
    fn ask<T>(
        &self,
        count: usize,
        ask: impl Fn(&Index) -> Result<T, Broken>,
    ) -> Result<T, Failure> {
        let asked = if count == self.history.len() {
            self.place.ask(ask)
        } else {
            let state = self.state(count)?;
            self.place.ask_past(state.past(), ask)
        };
        Ok(asked.map_err(|error| unreadable(&error))?.0)
    }

    pub(super) fn state(&self, count: usize) -> Result<AsOf, Failure> {
        AsOf::after(self.door, (&self.history, count), "", &self.place.shelf())
    }

    /// The entry that is looked for, in the state after `first` commits; or, if it came later, in
    /// the state after the commit that added it.
    pub(super) fn wanted(&self, first: usize, want: Option<&str>) -> Result<Wanted, Failure> {
        let found = self.ask(first, |index| {
            let ranked = self.ranked(index)?;
            let path = match want {
                None => ranked.first().cloned(),
                Some(want) => match Lineage::of(index)?.find(want) {
                    Found::Entry { path, .. } | Found::Orphan { path, .. } => Some(path),
                    Found::Several(paths) => return Ok(Meant::Several(paths)),
                    Found::Nothing => None,
                },
            };
            Ok(match path {
                Some(path) => Meant::One(look(index, first, &path, &ranked)?, path),
                None => Meant::Nothing,
            })
        })?;
        match (found, want) {
            (Meant::One(start, path), _) => Ok(Wanted { path, start, added_by: None }),
            (Meant::Several(paths), _) => Err(several(want.unwrap_or_default(), &paths)),
            (Meant::Nothing, Some(want)) => self.added(first, want),
            (Meant::Nothing, None) => Err(Failure::usage(
                "the oldest state has no answer to this question",
            )
            .hint("ask with other words, name an entry with --want, or begin later with --from")),
        }
    }

    /// The first commit since then that added a file of this name.
    fn added(&self, first: usize, want: &str) -> Result<Wanted, Failure> {
        for (index, line) in self.history.iter().enumerate().skip(first) {
            let record: Record = self.door.record_of(line)?;
            let added = record.changes.iter().filter(|change| change.before.is_none());
            let added: Vec<String> = added
                .map(|change| change.path.clone())
                .filter(|path| is_named(path, want))
                .collect();
            if let [path] = added.as_slice() {
                let start = self.look(index + 1, path)?;
                return Ok(Wanted { path: path.clone(), start, added_by: Some(line.id.clone()) });
            }
            if !added.is_empty() {
                return Err(several(want, &added));
            }
        }
        let shown = shown(want);
        Err(Failure::usage(format!(
            "the oldest state has no entry `{shown}`, and no commit added one"
        ))
        .hint("`ao show` finds an entry by any name that it has or had"))
    }

    pub(super) fn look(&self, count: usize, want: &str) -> Result<Look, Failure> {
        self.ask(count, |index| look(index, count, want, &self.ranked(index)?))
    }

    fn ranked(&self, index: &Index) -> Result<Vec<String>, Broken> {
        ranking(index, &self.question, Asking { limit: DEPTH, as_of: None })
    }

    /// The two neighbouring states between which the answer became worse.
    pub(super) fn halve(
        &self,
        (mut good, mut bad): (Look, Look),
        best: usize,
        want: &str,
        looks: &mut Vec<Look>,
    ) -> Result<(Look, Look), Failure> {
        while bad.count - good.count > 1 {
            let look = self.look(usize::midpoint(good.count, bad.count), want)?;
            looks.push(look.clone());
            if look.is_worse_than(best) {
                bad = look;
            } else {
                good = look;
            }
        }
        Ok((good, bad))
    }

    /// The newest commit of a state.
    pub(super) fn name(&self, count: usize) -> Option<&str> {
        count.checked_sub(1).map(|last| self.history[last].id.as_str())
    }
}

fn look(index: &Index, count: usize, want: &str, ranked: &[String]) -> Result<Look, Broken> {
    let place = |path: &str| ranked.iter().position(|one| one == path).map(|at| at + 1);
    let rank = place(want);
    let instead = match rank {
        Some(_) => None,
        None => match Lineage::of(index)?.find(want) {
            Found::Entry { path, .. } if path != want => {
                let at = place(&path);
                Some((path, at))
            }
            _ => None,
        },
    };
    let ahead = rank.map_or(&[][..], |rank| &ranked[..rank - 1]).to_vec();
    let is_there = index.find(want)?.is_some();
    Ok(Look { count, rank, is_there, ahead, instead })
}

/// Whether a file may be meant by a path, a name or a name without its ending.
fn is_named(path: &str, want: &str) -> bool {
    let want = want.strip_prefix(".agents/").unwrap_or(want);
    let is_whole = |path: &str| path == want || path.ends_with(&format!("/{want}"));
    is_whole(path) || path.rsplit_once('.').is_some_and(|(stem, _)| is_whole(stem))
}

fn several(want: &str, paths: &[String]) -> Failure {
    let few: Vec<String> = paths.iter().take(NAMED_MAX).map(|path| shown(path)).collect();
    Failure::usage(format!("`{}` names {} entries", shown(want), paths.len()))
        .hint(format!("give the path of one: {}", few.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_meant_by_its_path_its_name_and_its_stem() {
        let path = "learnings/2026/lock.md";
        for want in [path, ".agents/learnings/2026/lock.md", "lock.md", "lock", "2026/lock"] {
            assert!(is_named(path, want), "{want}");
        }
        for want in ["ock", "lock.m", "learnings", "2026", ""] {
            assert!(!is_named(path, want), "{want}");
        }
    }
}
