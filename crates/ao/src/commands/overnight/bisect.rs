//! `ao overnight bisect`: which commit made an answer worse.
//!
//! The oldest state that is kept and today's are asked first. If the answer is worse today, some
//! commit in between made it so, and half of those that are left are ruled out by each look. Whether
//! it went up and down on the way makes no difference: the commit that is named stands between a
//! state where the answer was not worse and one where it was.

use std::fmt::Write as _;

use ao_contract::{Change, Exit, HistoryLine};
use ao_corpus::index::{Broken, Index, Keep, Place, Question};
use ao_corpus::lineage::{Found, Lineage};
use ao_corpus::search::{Asking, ranking};
use ao_tree::{Disk, Door, shown};
use serde_json::{Value, json};

use super::show;
use crate::cli::Global;
use crate::commands::as_of::{AsOf, is_iteration, unreadable};
use crate::commands::library::{Library, question};
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, Printer, STRONG, paint};

/// An entry behind so many others is not found.
const DEPTH: usize = 1000;
/// So many other changes of the commit are listed for people; JSON has all of them.
const LISTED_MAX: usize = 10;

/// Find the commit that made an answer worse
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The question is asked of the oldest state that is kept and of today's. If the entry is at a later \
place today, or gone, the commits in between are halved until one is left: at most six looks for 64 commits. All \
commits of `ao tree log` count, also those that no night made.

An entry that was merged is gone; what stands for it now is named, with its place.

What people changed by hand is in no commit. Every look sees such a file as it is now, or as the next commit found it.

Examples:
  ao overnight bisect --query 'stale lock of a dead process'
  ao overnight bisect --query 'stale lock' --want learnings/2026-04-01-lock.md
  ao --json overnight bisect --query 'stale lock' --from 2026-06-30"
)]
pub(crate) struct Arguments {
    /// The question
    #[arg(long, value_name = "TEXT")]
    query: String,
    /// The entry that should be found: a path, a name or an id (default: the first answer of the
    /// oldest state)
    #[arg(long, value_name = "ENTRY")]
    want: Option<String>,
    /// Begin with this day, moment, iteration, run or commit instead of the oldest that is kept
    #[arg(long, value_name = "DATE|ITERATION")]
    from: Option<String>,
}

/// What one state answers.
#[derive(Debug, Clone)]
struct Look {
    /// How many commits are in the state.
    count: usize,
    /// The place of the entry, from 1.
    rank: Option<usize>,
    /// What stands for an entry that is not there, and its place.
    instead: Option<(String, Option<usize>)>,
}

/// The states that can be asked.
struct Asked<'a> {
    door: &'a Door<Disk>,
    place: Place,
    history: Vec<HistoryLine>,
    question: Question,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let question = question(&arguments.query, printer)?;
    let library = Library::open(global)?;
    let door = library.door();
    let history = door.history()?;
    let first = match &arguments.from {
        Some(from) => AsOf::find(door, from)?.count(),
        None => door.reach(&history)?,
    };
    if first >= history.len() {
        return Err(Failure::new(Exit::Failed, "there is no commit to look at")
            .hint("`ao tree log` lists the commits; --from names an earlier one"));
    }
    let place = Place { keep: Keep::No, ..library.place().clone() };
    let asked = Asked { door, place, history, question };
    let want = asked.wanted(first, arguments.want.as_deref())?;
    let start = asked.look(first, &want)?;
    let Some(best) = start.rank else {
        return Err(Failure::usage(format!(
            "{} is not among the first {DEPTH} answers of the oldest state",
            shown(&want)
        ))
        .hint("ask with words that it has, or begin later with --from"));
    };
    let end = asked.look(asked.history.len(), &want)?;
    let mut looks = Vec::new();
    let between = if is_worse(&end, best) {
        Some(asked.halve((start.clone(), end.clone()), best, &want, &mut looks)?)
    } else {
        None
    };
    let told = Told { asked: &asked, query: &arguments.query, want: &want, start, end, looks };
    told.answer(between.as_ref(), printer)?;
    Ok(Exit::Done)
}

fn is_worse(look: &Look, best: usize) -> bool {
    look.rank.is_none_or(|rank| rank > best)
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
            let state = AsOf::after(self.door, &self.history, count, "")?;
            self.place.ask_past(state.past(), ask)
        };
        Ok(asked.map_err(|error| unreadable(&error))?.0)
    }

    /// The path of the entry that is looked for.
    fn wanted(&self, first: usize, want: Option<&str>) -> Result<String, Failure> {
        let Some(want) = want else {
            let asking = Asking { limit: 1, as_of: None };
            let best = self.ask(first, |index| ranking(index, &self.question, asking))?;
            return best.into_iter().next().ok_or_else(|| {
                Failure::usage("the oldest state has no answer to this question")
                    .hint("ask with other words, or begin later with --from")
            });
        };
        match self.ask(first, |index| Ok(Lineage::of(index)?.find(want)))? {
            Found::Entry { path, .. } | Found::Orphan { path, .. } => Ok(path),
            Found::Several(paths) => {
                let few: Vec<String> =
                    paths.iter().take(LISTED_MAX).map(|path| shown(path)).collect();
                Err(Failure::usage(format!("`{}` names {} entries", shown(want), paths.len()))
                    .hint(format!("give the path of one: {}", few.join(", "))))
            }
            Found::Nothing => {
                Err(Failure::usage(format!("the oldest state has no entry `{}`", shown(want)))
                    .hint("begin later with --from, when it was there"))
            }
        }
    }

    fn look(&self, count: usize, want: &str) -> Result<Look, Failure> {
        let asking = Asking { limit: DEPTH, as_of: None };
        self.ask(count, |index| {
            let ranked = ranking(index, &self.question, asking)?;
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
            Ok(Look { count, rank, instead })
        })
    }

    /// The two neighbouring states between which the answer became worse.
    fn halve(
        &self,
        (mut good, mut bad): (Look, Look),
        best: usize,
        want: &str,
        looks: &mut Vec<Look>,
    ) -> Result<(Look, Look), Failure> {
        while bad.count - good.count > 1 {
            let look = self.look(usize::midpoint(good.count, bad.count), want)?;
            looks.push(look.clone());
            if is_worse(&look, best) {
                bad = look;
            } else {
                good = look;
            }
        }
        Ok((good, bad))
    }

    fn name(&self, count: usize) -> Option<&str> {
        count.checked_sub(1).map(|last| self.history[last].id.as_str())
    }
}

/// What is told at the end.
struct Told<'a> {
    asked: &'a Asked<'a>,
    query: &'a str,
    want: &'a str,
    start: Look,
    end: Look,
    looks: Vec<Look>,
}

impl Told<'_> {
    fn answer(&self, between: Option<&(Look, Look)>, printer: &Printer) -> Result<(), Failure> {
        let mut text = String::new();
        let mut found = Value::Null;
        match between {
            None => {
                let _ = writeln!(
                    text,
                    "{} is no worse than it was: {} then, {} now.",
                    shown(self.want),
                    rank(&self.start),
                    rank(&self.end)
                );
            }
            Some((good, bad)) => found = self.found(good, bad, &mut text)?,
        }
        let commits = self.end.count - self.start.count;
        let _ = writeln!(
            text,
            "{}",
            paint(
                FAINT,
                &format!("{commits} commits, {} looks between the ends.", self.looks.len())
            )
        );
        if let Some(why) = self.doubt()? {
            printer.note(&format!("{} {}: {why}", paint(DOUBT, "note:"), shown(self.want)));
        }
        let fields = json!({
            "query": self.query,
            "want": self.want,
            "commits": commits,
            "looks": self.looks.len(),
            "looked_at": self.looks.iter().map(|look| self.json(look)).collect::<Vec<_>>(),
            "oldest": self.json(&self.start),
            "newest": self.json(&self.end),
            "found": found,
        });
        printer.answer("overnight bisect", fields, &text);
        Ok(())
    }

    fn found(&self, good: &Look, bad: &Look, text: &mut String) -> Result<Value, Failure> {
        let line = &self.asked.history[bad.count - 1];
        let record = self.asked.door.record(&line.id)?;
        let (own, others): (Vec<&Change>, Vec<&Change>) =
            record.changes.iter().partition(|change| change.path == self.want);
        let before = match self.asked.name(good.count) {
            Some(id) => format!("after {}", shown(id)),
            None => "before the first commit".to_owned(),
        };
        let id = paint(STRONG, &shown(&line.id));
        let _ = writeln!(text, "{id}  {}", paint(FAINT, &shown(&line.at)));
        let _ = writeln!(text, "{}", shown(&line.why));
        let _ = writeln!(
            text,
            "{}: {} {before}, {} after this one",
            shown(self.want),
            rank(good),
            rank(bad)
        );
        if let Some((path, at)) = &bad.instead {
            let place = at.map_or("not found".to_owned(), |at| format!("answer {at}"));
            let _ = writeln!(text, "{} stands for it: {place}", shown(path));
        }
        text.push('\n');
        for change in own.iter().chain(others.iter().take(LISTED_MAX)) {
            show::write_change(text, change);
        }
        if others.len() > LISTED_MAX {
            let _ = writeln!(text, "… and {} more", others.len() - LISTED_MAX);
        }
        Ok(json!({
            "commit": line.id,
            "is_iteration": is_iteration(&line.id),
            "at": line.at,
            "why": line.why,
            "rank_before": good.rank,
            "rank_after": bad.rank,
            "instead": bad.instead.as_ref().map(|(path, at)| json!({ "path": path, "rank": at })),
            "change": own.first().map(|change| show::as_json(change)),
            "other_changes": others.iter().map(|change| show::as_json(change)).collect::<Vec<_>>(),
        }))
    }

    /// Whether somebody changed the entry by hand, so that a look may not have seen it as it was.
    fn doubt(&self) -> Result<Option<String>, Failure> {
        let Asked { door, history, .. } = self.asked;
        let known = AsOf::after(door, history, self.start.count, "")?;
        known.doubt_of(door, self.want)
    }

    fn json(&self, look: &Look) -> Value {
        json!({ "after": self.asked.name(look.count), "rank": look.rank })
    }
}

fn rank(look: &Look) -> String {
    look.rank.map_or("gone".to_owned(), |rank| format!("answer {rank}"))
}
