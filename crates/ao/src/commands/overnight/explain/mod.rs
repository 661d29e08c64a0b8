//! `ao overnight explain`: why an entry was merged, archived, promoted or left, and what would have turned it.
//!
//! What happened is told from the records; why, by the rules of the night, asked again over the corpus that the
//! deciding iteration read. Nothing is written.

mod subject;
mod told;

use ao_contract::{ChangeOp, Exit, iteration_of, run_of};
use ao_corpus::index::{Keep, Shelf};
use ao_night::explain::{Deed, Explained, Scene, Source, explain};
use ao_tree::shown;
use jiff::Timestamp;

use self::subject::{Event, Subject};
use super::nights;
use crate::cli::Global;
use crate::clock;
use crate::commands::as_of::AsOf;
use crate::commands::library::Library;
use crate::commands::trust;
use crate::config;
use crate::failure::Failure;
use crate::printer::Printer;

/// What `--as-of` calls the tree as it is.
const TODAY: &str = "today";
/// The last moment of a second.
const WITHIN_NS: i128 = 999_999_999;

/// Tell why an entry was merged, archived, promoted or left, and what would have turned it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "First each kept iteration that touched the entry, newest first, with the reason and the certificate. Then what \
every rule of the night says of it, by the very code of the night, over the corpus that the newest of them read; over today's where \
none touched it. Each signal has its threshold and the margin to it. Last, the smallest changes that turn the verdict: each was \
tried before it is shown. Nothing is written.

An entry that is gone is found by the name it had. The verdict is compared with the record; where they differ, that is said: \
somebody changed files in between, or another ao decided.

Examples:
  ao overnight explain 2026-04-01-marker
  ao overnight explain learnings/2026-04-01-marker.md --as-of 20260415T020000Z-iter-1
  ao overnight explain 2026-04-01-marker --as-of today
  ao --json overnight explain 2026-04-01-marker | jq '.rules[] | {rule, verdict, flips}'"
)]
pub(crate) struct Arguments {
    /// A path, a file's name with or without its ending, or an id; also of an entry that is gone
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// What this iteration, or the last one of this run, decided, or what the tree of `today` gives
    /// (default: the newest iteration that touched it; else, or if it only brought it, today)
    #[arg(long, value_name = "ITERATION")]
    as_of: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let library = Library::open(global)?;
    let subject = Subject::find(&library, &arguments.entry)?;
    let (mut event, mut iteration) = deciding(&library, &subject, arguments.as_of.as_deref())?;
    let (mut scene, mut doubt) = read(&library, &subject, iteration.as_deref())?;
    let mut path = asked(&scene, &subject, event);
    if path.is_none() && arguments.as_of.is_none() {
        // An iteration that brought it has decided nothing about it yet: then what holds is what holds today.
        let today = read(&library, &subject, None)?;
        if let Some(found) = asked(&today.0, &subject, None) {
            (event, iteration, path) = (None, None, Some(found));
            (scene, doubt) = today;
        }
    }
    let explained = match &path {
        Some(path) => Some(explain(&scene, path, &subject.path).map_err(|why| {
            Failure::new(
                Exit::Failed,
                format!("the rules of the night cannot be asked: {}", shown(&why)),
            )
            .hint("put right what is named, then ask again")
        })?),
        None => None,
    };
    let agrees =
        explained.as_ref().and_then(|explained| agreement(explained, event, iteration.as_deref()));
    let answer = told::Answer {
        asked: &arguments.entry,
        subject: &subject,
        iteration: iteration.as_deref(),
        event,
        scene: &scene,
        path: path.as_deref(),
        explained: explained.as_ref(),
        agrees,
        doubt,
    };
    printer.answer("overnight explain", answer.json(), &answer.text());
    Ok(Exit::Done)
}

/// The iteration whose decision is told, and what it did to the entry; no id for today's tree.
fn deciding<'a>(
    library: &Library,
    subject: &'a Subject,
    as_of: Option<&str>,
) -> Result<(Option<&'a Event>, Option<String>), Failure> {
    let Some(asked) = as_of else {
        let event = subject.events.iter().find(|event| event.night.taken_back_by.is_none());
        return Ok((event, event.map(|event| event.night.line.id.clone())));
    };
    if asked == TODAY {
        return Ok((None, None));
    }
    let history = library.door().history()?;
    let is_asked =
        |id: &str| iteration_of(id).is_some() && (id == asked || run_of(id) == Some(asked));
    let line = history.iter().rfind(|line| is_asked(&line.id)).ok_or_else(|| {
        Failure::usage(format!("there is no iteration or run {}", shown(asked))).hint(
            "`ao overnight log` lists the iterations; `--as-of today` takes the tree as it is",
        )
    })?;
    let event = subject.events.iter().find(|event| event.night.line.id == line.id);
    Ok((event, Some(line.id.clone())))
}

/// The corpus that an iteration read, or today's; and whether it is known what the entry was.
fn read(
    library: &Library,
    subject: &Subject,
    iteration: Option<&str>,
) -> Result<(Scene, Option<String>), Failure> {
    let (door, root) = (library.door(), library.repo.canonical());
    let mut source = Source {
        root,
        past: None,
        door: None,
        now: clock::now().rfc3339(),
        today: clock::now().day(),
        promote_after: config::promote_after(&library.repo.root)?,
        promote_at: config::promote_at(&library.repo.root)?,
        committed: trust::commits(&library.repo).texts(),
    };
    let mut doubt = None;
    if let Some(id) = iteration {
        let history = door.history()?;
        let at = history.iter().position(|line| line.id == id).unwrap_or(history.len());
        // Explaining leaves nothing behind, also no cache.
        let shelf = Shelf::new(&library.repo.agents(), Keep::No);
        let state = AsOf::after(door, (&history, at), id, &shelf)?;
        doubt = state.doubt_of(door, &subject.path)?;
        let mut past = state.past().clone();
        if let Some(line) = history.get(at) {
            source.now.clone_from(&line.at);
            source.today = nights::day_of(&library.repo, line).unwrap_or(source.today);
            // What was said up to then was known to it; the line has no parts of a second.
            let until = line.at.parse::<Timestamp>().map(|at| at.as_nanosecond() + WITHIN_NS);
            past.until_ns = until.ok().and_then(|ns| i64::try_from(ns).ok()).unwrap_or(i64::MAX);
        }
        source.past = Some(past);
    } else {
        source.door = Some(library.repo.door()?);
        // A night reads them first: what it takes can be a copy of what is here, or refer to it.
        if !config::harvest_from(&library.repo.root)?.is_empty() {
            let why = "a night harvests first, and that is not asked here: it can change the verdict; `ao \
                       overnight plan` asks it";
            doubt = Some(why.to_owned());
        }
    }
    let scene = Scene::read(source).map_err(|why| {
        Failure::new(Exit::Failed, format!("the corpus cannot be read: {}", shown(&why)))
            .hint("look at what is named, then ask again; `ao tree verify` lists what is damaged")
    })?;
    Ok((scene, doubt))
}

/// The entry that the rules are asked about: itself, or what it was made of.
fn asked(scene: &Scene, subject: &Subject, event: Option<&Event>) -> Option<String> {
    let sources = event.into_iter().flat_map(|event| &event.change.sources);
    let mut names = std::iter::once(&subject.path).chain(sources);
    names.find(|path| scene.entry(path).is_some()).cloned()
}

/// Whether the rules say what the record says; not known of today.
fn agreement(
    explained: &Explained,
    event: Option<&Event>,
    iteration: Option<&str>,
) -> Option<Result<(), String>> {
    iteration?;
    let recorded = event.map(|event| Deed {
        is_delete: event.change.op == ChangeOp::Delete,
        reason: event.change.reason.clone(),
    });
    let told = |deed: &Option<Deed>| match deed {
        Some(deed) => format!("`{}`", deed.reason),
        None => "that it was left alone".to_owned(),
    };
    if recorded == explained.deed {
        return Some(Ok(()));
    }
    Some(Err(format!(
        "the record says {}, the rules of this ao over what is known of that state say {}",
        told(&recorded),
        told(&explained.deed)
    )))
}
