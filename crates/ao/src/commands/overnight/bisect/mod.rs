//! `ao overnight bisect`: which commit made an answer worse.
//!
//! The oldest state that is kept and today's are asked first. If the answer is worse today, some
//! commit in between made it so, and half of those that are left are ruled out by each look. Whether
//! it went up and down on the way makes no difference: the commit that is named stands between a
//! state where the answer was not worse and one where it was.

mod look;
mod told;

use ao_contract::Exit;
use ao_corpus::index::{Keep, Place};
use ao_tree::shown;

use crate::cli::Global;
use crate::commands::as_of::AsOf;
use crate::commands::library::{Library, question};
use crate::failure::Failure;
use crate::printer::Printer;
use look::{Asked, DEPTH};
use told::Told;

/// Find the commit that made an answer worse
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The question is asked of the oldest state that is kept and of today's. If the entry is at a later \
place today, or gone, the commits in between are halved until one is left: at most six looks for 64 commits, beside \
these two. All commits of `ao tree log` count, also those that no night made. Where several made it worse, one of \
them is found, and what is left of it is said. An entry that a later commit added is looked at from then on.

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

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let question = question(&arguments.query, printer)?;
    let library = Library::open(global)?;
    let door = library.door();
    let history = door.history()?;
    // Nothing of a look is written down: six indexes would push out those that people ask for.
    let place = Place { keep: Keep::No, ..library.place().clone() };
    let first = match &arguments.from {
        Some(from) => AsOf::find(door, from, &place.shelf())?.count(),
        None => door.reach(&history)?,
    };
    if first >= history.len() {
        return Err(Failure::new(Exit::Failed, "there is no commit to look at")
            .hint("`ao tree log` lists the commits; --from names an earlier one"));
    }
    let asked = Asked { door, place, history, question };
    let wanted = asked.wanted(first, arguments.want.as_deref())?;
    let (want, start) = (wanted.path, wanted.start);
    let end = asked.look(asked.history.len(), &want)?;
    let mut looks = Vec::new();
    let between = match start.rank {
        None if end.rank.is_none() => {
            return Err(Failure::usage(format!(
                "{} is not among the first {DEPTH} answers, neither of the oldest state nor today",
                shown(&want)
            ))
            .hint("ask with words that it has, or begin later with --from"));
        }
        Some(best) if end.is_worse_than(best) => {
            Some(asked.halve((start.clone(), end.clone()), best, &want, &mut looks)?)
        }
        _ => None,
    };
    let (query, added_by) = (arguments.query.as_str(), wanted.added_by.as_deref());
    let told = Told { asked: &asked, query, want: &want, added_by, start, end, looks };
    told.answer(between.as_ref(), printer)?;
    Ok(Exit::Done)
}
