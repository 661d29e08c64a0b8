//! `ao overnight plan`: what tonight would do.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use ao_contract::{CloseLoop, Exit, Promotion, format_duration};
use ao_night::council::{Council, Seat};
use ao_night::tonight::{Counts, Evening, Fate, Tonight, tonight};
use ao_night::{Clock, counted};
use ao_tree::{Action, Edit, shown};
use serde_json::{Value, json};

use super::council::{self, Look};
use super::{receipts, start};
use crate::cli::Global;
use crate::clock;
use crate::config::Night;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

/// So many of a kind are shown; JSON has all of them.
const EXAMPLES: usize = 3;

/// Show what tonight would do, and do nothing
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The first iteration is thought out by the very code of the night, over the corpus as it is now: the edits
that are shown are the edits that the night makes, as long as nobody changes the corpus before. Nothing is written,
nobody is asked and no program is started.

Exit codes: 0 shown, 1 a stage of the night would fail, 6 there is no .agents/ or a commit was cut off.

Examples:
  ao overnight plan
  ao overnight plan --runner claude --queue tonight.md
  ao overnight plan --json | jq '.edits[] | .path, .reason'"
)]
pub(crate) struct Arguments {
    /// What the night is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    goal: String,
    /// The time budget, such as 8h, 90m or 1h30m
    #[arg(long, value_name = "DURATION", value_parser = start::timeout)]
    run_timeout: Option<Duration>,
    /// Who would be asked; can be given more than once
    #[arg(long, value_name = "NAME")]
    runner: Vec<String>,
    /// Items that would be put ahead of everything
    #[arg(long, value_name = "FILE")]
    queue: Option<PathBuf>,
    /// Whether a regression is let through with a warning
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    warn_only: Option<bool>,
    /// As if everything were read, changed or not
    #[arg(long)]
    full: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    if !repo.agents().is_dir() {
        let message = format!("no .agents/ in {}", repo.root.display());
        return Err(Failure::new(Exit::Preflight, message)
            .hint("run `mkdir .agents` in the repository, or name another with -C DIR"));
    }
    let night = Night::read(&repo.root)?;
    night.warn(printer);
    let asked = start::Asked {
        goal: arguments.goal.clone(),
        run_timeout: arguments.run_timeout,
        runner: arguments.runner.clone(),
        queue: arguments.queue.clone(),
        warn_only: arguments.warn_only,
        full: arguments.full,
    };
    let settings = asked.settings(&night, &repo, (global, printer))?;
    let run_timeout = settings.run_timeout;
    let council = council::council(&arguments.runner, false, &night, &repo, (global, printer))?;
    let looks = council::looks(&arguments.runner, &night, &repo, (global, printer))?;
    let root = repo.canonical();
    let (custody, _) = receipts::custody(&root);
    let (door, lock) = repo.read()?;
    let told = tonight(Evening {
        settings,
        door,
        root,
        clock: Clock { now: clock::timestamp, uptime: clock::uptime },
        council: council.as_ref(),
        program: start::program(),
        custody: custody.as_ref(),
    });
    drop(lock);
    let told = told.map_err(|why| {
        Failure::new(Exit::Failed, why)
            .hint("put right what is named; `ao --dry-run overnight start` shows the whole night")
    })?;
    let runners = runners(council.as_ref(), &looks);
    let text = text(&told, &runners, run_timeout);
    printer.answer("overnight plan", fields(&told, &runners, run_timeout), &text);
    Ok(Exit::Done)
}

/// One who would be asked.
struct Asked<'a> {
    look: &'a Look,
    seat: Option<&'a Seat>,
}

fn runners<'a>(council: Option<&'a Council>, looks: &'a [Look]) -> Vec<Asked<'a>> {
    let seats = council.map_or(&[][..], |council| council.seats.as_slice());
    let seat = |look: &Look| seats.iter().find(|seat| seat.slug == look.slug);
    looks.iter().map(|look| Asked { look, seat: seat(look) }).collect()
}

fn fields(told: &Tonight, runners: &[Asked<'_>], run_timeout: Duration) -> Value {
    let Counts { entries, pending, harvest_sources, harvest_entries, drafts, transcripts, queue } =
        &told.counts;
    let lessons = told.signals.as_ref().map(|signals| signals.taken.len());
    let waiting = told.signals.as_ref().map(|signals| signals.waiting);
    let (fate, why) = fate(&told.fate);
    let asked = |one: &Asked<'_>| {
        let budget = one.seat.map(|seat| {
            json!({
                "time": format_duration(seat.budget.time),
                "tokens": seat.budget.tokens,
                "turns": seat.budget.turns,
                "usd_micros": seat.budget.usd.0,
            })
        });
        json!({
            "name": one.look.name,
            "model": one.seat.and_then(|seat| seat.model.clone()),
            "looks_usable": one.look.trouble.is_none(),
            "trouble": one.look.trouble,
            "budget": budget,
        })
    };
    json!({
        "stages": STAGES,
        "steps": told.steps,
        "sources": {
            "entries": entries, "pending": pending, "harvest_sources": harvest_sources,
            "harvest_entries": harvest_entries, "drafts": drafts, "queue": queue,
            "transcripts": transcripts, "lessons": lessons, "lessons_waiting": waiting,
        },
        "unchanged_since": told.unchanged_since,
        "first_iteration": { "fate": fate, "why": why, "edits": told.edits.len() },
        "more_to_harvest": told.has_more,
        "waiting": told.closing.as_ref().map(for_person),
        "poisoned": told.harvest.as_ref().map(|harvest| &harvest.poisoned),
        "edits": told.edits.iter().map(edit).collect::<Vec<_>>(),
        "examples": examples(told),
        "runners": runners.iter().map(asked).collect::<Vec<_>>(),
        "run_timeout": format_duration(run_timeout),
        "estimate": told.estimate.map(|estimate| {
            json!({ "median": format_duration(estimate.took), "nights": estimate.nights })
        }),
    })
}

/// What is not promoted without a person.
fn for_person(closing: &CloseLoop) -> Vec<Value> {
    let waiting = closing.pending.iter().filter(|one| one.waits_for_person);
    waiting
        .map(|one| json!({ "path": one.path, "trust": one.trust, "why": one.trust_why, "signs": one.signs }))
        .collect()
}

const STAGES: [&str; 4] = ["INGEST", "REDUCE", "MEASURE", "COMMIT"];

/// As the record of an iteration has it.
fn edit(edit: &Edit) -> Value {
    let op = if matches!(edit.action, Action::Delete) { "delete" } else { "write" };
    let sources = edit.sources.iter();
    let sources: Vec<&String> = sources
        .filter(|source| !source.starts_with(ao_corpus::certificate::SOURCE_PREFIX))
        .collect();
    json!({ "path": edit.path, "op": op, "reason": edit.reason, "sources": sources })
}

fn fate(fate: &Fate) -> (&'static str, Option<&str>) {
    match fate {
        Fate::Nothing => ("nothing-to-do", None),
        Fate::Committed => ("committed", None),
        Fate::Rescued(why) => ("committed-with-a-rescue", Some(why)),
        Fate::Halted(why) => ("halted", Some(why)),
    }
}

/// The first few of each kind, with the reason.
fn examples(told: &Tonight) -> Value {
    let mut merges = Vec::new();
    let mut prunes = Vec::new();
    let mut patterns = Vec::new();
    if let Some(defrag) = &told.defrag {
        for merge in defrag.merges.iter().take(EXAMPLES) {
            let members: Vec<&String> = merge.members.iter().map(|member| &member.path).collect();
            let (into, reason) = (&merge.survivor, &merge.reason);
            merges.push(json!({ "into": into, "members": members, "reason": reason }));
        }
        for prune in defrag.prunes.iter().take(EXAMPLES) {
            prunes.push(json!({ "path": prune.path, "reason": prune.reason }));
        }
        for pattern in defrag.patterns.iter().take(EXAMPLES) {
            patterns.push(
                json!({ "path": pattern.path, "change": pattern.change, "reason": pattern.why }),
            );
        }
    }
    let promoted = told.closing.iter().flat_map(|closing| &closing.pending);
    let promoted = promoted.filter(|one| one.verdict == Promotion::Promoted).take(EXAMPLES);
    let promotions: Vec<Value> = promoted
        .map(|one| json!({ "path": one.path, "to": one.promoted_to, "reason": one.reason }))
        .collect();
    let taken = told.harvest.iter().flat_map(|harvest| &harvest.harvested).take(EXAMPLES);
    let taken: Vec<Value> = taken
        .map(|one| json!({ "path": one.path, "from": format!("{}:{}", one.repo, one.original_path) }))
        .collect();
    let lessons = told.signals.iter().flat_map(|signals| &signals.taken).take(EXAMPLES);
    let lessons: Vec<Value> = lessons
        .map(|one| json!({ "path": one.path, "reason": format!("{} at {}", one.lesson.kind.name(), one.lesson.place()) }))
        .collect();
    let waiting = told.closing.iter().flat_map(|closing| &closing.pending);
    let waiting = waiting.filter(|one| one.waits_for_person).take(EXAMPLES);
    let waiting: Vec<Value> = waiting
        .map(|one| json!({ "path": one.path, "trust": one.trust, "reason": one.reason }))
        .collect();
    json!({
        "merges": merges, "prunes": prunes, "patterns": patterns, "promotions": promotions, "harvested": taken,
        "lessons": lessons, "waiting": waiting,
    })
}

fn text(told: &Tonight, runners: &[Asked<'_>], run_timeout: Duration) -> String {
    let mut text = String::from("Tonight, if nobody changes the corpus before:\n");
    let counts = &told.counts;
    let some = |count: Option<u64>, one: &str, many: &str| {
        count.map_or_else(|| format!("{many} not read"), |count| counted(count, one, many))
    };
    let _ = writeln!(
        text,
        "  sources   {}, {}, {} to harvest ({}), {}, {}",
        some(counts.entries, "entry", "entries"),
        some(counts.pending, "pending", "pending"),
        counted(counts.harvest_sources, "repository", "repositories"),
        some(counts.harvest_entries, "entry", "entries"),
        some(counts.drafts, "draft", "drafts"),
        counted(counts.queue, "queue item", "queue items")
    );
    if let Some(count) = counts.transcripts.filter(|count| *count > 0) {
        let _ = writeln!(
            text,
            "            {} of coding agents",
            counted(count, "transcript", "transcripts")
        );
    }
    match &told.unchanged_since {
        Some(run) => {
            let _ = writeln!(
                text,
                "  loop      nothing changed since run {run}: nothing is read again"
            );
        }
        None => loop_text(told, &mut text),
    }
    let _ = writeln!(text, "  then      {}", told.steps.join(", "));
    for one in runners {
        let name = shown(&one.look.name);
        let budget = one.seat.map_or_else(String::new, |seat| {
            let time = format_duration(seat.budget.time);
            format!(", at most {time} and {} tokens a question", seat.budget.tokens)
        });
        let looks = match &one.look.trouble {
            None => "looks usable (it was not asked)".to_owned(),
            Some(why) => format!("cannot be asked: {}", shown(why)),
        };
        let _ = writeln!(text, "  runner    {name}: {looks}{budget}");
    }
    let limit = format_duration(run_timeout);
    let _ = match told.estimate {
        Some(estimate) => writeln!(
            text,
            "  time      {limit} at most; about {} by the last {} like it",
            format_duration(estimate.took),
            counted(estimate.nights, "night", "nights")
        ),
        None => {
            writeln!(text, "  time      {limit} at most; no earlier night tells how long it takes")
        }
    };
    text
}

fn loop_text(told: &Tonight, text: &mut String) {
    let count = counted(told.edits.len(), "edit", "edits");
    let _ = match &told.fate {
        Fate::Nothing => writeln!(text, "  loop      nothing to do"),
        Fate::Committed => writeln!(text, "  loop      {count} in the first iteration"),
        Fate::Rescued(why) => {
            writeln!(text, "  loop      {count}, let through with a warning: {}", shown(why))
        }
        Fate::Halted(why) => {
            writeln!(text, "  loop      {count}, which would be halted: {}", shown(why))
        }
    };
    let examples = examples(told);
    let word = |value: &Value| shown(value.as_str().unwrap_or_default());
    for (kind, key) in [
        ("merges", "into"),
        ("prunes", "path"),
        ("patterns", "path"),
        ("promotions", "path"),
        ("harvested", "path"),
        ("lessons", "path"),
        ("waiting", "path"),
    ] {
        for one in examples[kind].as_array().into_iter().flatten() {
            let why = if kind == "harvested" { &one["from"] } else { &one["reason"] };
            let _ = writeln!(text, "    {kind:<11}{}: {}", word(&one[key]), word(why));
        }
    }
    let waits = told.closing.as_ref().map_or(0, |closing| closing.waiting);
    if waits > 0 {
        let _ = writeln!(text, "    {waits} not promoted without a person: `ao trust` lists them");
    }
    if let Some(waiting) =
        told.signals.as_ref().map(|signals| signals.waiting).filter(|count| *count > 0)
    {
        let _ = writeln!(text, "    {waiting} more lessons wait for the next night");
    }
    if told.has_more {
        let _ = writeln!(text, "    more is left to harvest: further iterations follow");
    }
}
