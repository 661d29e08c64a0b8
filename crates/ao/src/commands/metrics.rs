//! `ao metrics`: how the knowledge is doing.

use std::fmt::Write as _;
use std::sync::Arc;

use ao_contract::{Exit, MetricsHealth, Unit};
use ao_corpus::fitness::{self, Inputs, METRICS, fitness};
use ao_corpus::health::{Told, health};
use ao_corpus::{Corpus, Logs, SEARCHED, Tree, latest_day};
use ao_tree::shown;

use super::as_of::AsOf;
use super::flywheel::{unreadable, unwritable};
use super::library::Library;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, Printer, STRONG, paint};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// How much of the knowledge is used, with what evidence, how old it is, and how fit
    Health(Arguments),
}

/// How much of the knowledge is used, with what evidence, how old it is, and how fit
#[derive(Debug, clap::Args)]
#[command(
    after_help = "sigma            retrievable entries cited in the last 10 sessions, over all retrievable ones
rho              those of them that were cited with evidence, over those that were cited
delta            the mean age of retrievable entries in days
escape velocity  whether sigma × rho is more than delta / 100
r1, b1           entries newer than 30 days, and older than 90 days and never cited, per session

What cannot be known is null in JSON, with the reason under `absent`. Nothing is written.

Examples:
  ao metrics health
  ao metrics health --json
  ao metrics health --as-of 2026-04-01
  ao metrics health --as-of 20260415T020000Z-iter-1"
)]
pub(crate) struct Arguments {
    /// Measure the corpus as it was at the end of this day or moment, and against that day, or as it
    /// was after this iteration, run or commit (default: as it is, against the newest day in it)
    #[arg(long, value_name = "DATE|ITERATION")]
    as_of: Option<String>,
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let Command::Health(arguments) = command;
    let library = Library::open_as_of(global, arguments.as_of.as_deref())?;
    let agents = library.repo.agents();
    let mut logs = Logs::read(&agents).map_err(|error| unreadable(&error))?;
    let mut log = Logs::citation_log(&agents).map_err(|error| unreadable(&error))?;
    let (read, told) = match library.as_of() {
        None => (Corpus::read(&agents, &SEARCHED), None),
        Some(as_of) => {
            logs.only_until(as_of.until());
            log.text = Logs::log_until(&log.text, as_of.until());
            let told = library.ask_told(printer, |_| Ok(()))?.1;
            (Corpus::read_past(&agents, &SEARCHED, as_of.past()), told)
        }
    };
    let corpus = Arc::new(read.map_err(|error| unreadable(&error))?);
    let day = library.as_of().and_then(AsOf::day);
    let tree = Tree::of(Arc::clone(&corpus));
    let questions = fitness::questions(&corpus, &log);
    let latest = latest_day(clock::now().day());
    let inputs = Inputs {
        as_of: day,
        latest,
        retrieval: fitness::retrieval(&corpus, &questions).map(|bench| bench.ndcg_at_10.get()),
        copies: Ok(fitness::copies(&tree)),
    };
    let root = library.repo.canonical();
    drop(library);
    let asked = Told { root: &root, as_of: day, latest };
    let mut report = health(&corpus, &logs, &fitness(&corpus, &inputs), asked);
    if let Some(told) = told {
        report.extra.insert("corpus_as_of".into(), told);
    }
    for left in &report.left {
        let (path, why) = (shown(&left.path), shown(&left.why));
        printer.note(&format!("{} {path}: {why}", paint(DOUBT, "note:")));
    }
    let fields = serde_json::to_value(&report).map_err(|error| unwritable(&error))?;
    printer.answer("metrics health", fields, &text(&report));
    Ok(Exit::Done)
}

fn text(report: &MetricsHealth) -> String {
    let mut text = String::new();
    let mut row = |name: &str, key: &str, value: Option<String>| {
        let reason = || {
            let reason = report.absent.get(key).map_or("", String::as_str);
            paint(FAINT, &format!("unknown: {reason}"))
        };
        let _ = writeln!(text, "{name:<18}{}", value.unwrap_or_else(reason));
    };
    let unit = |value: &Unit| format!("{:.3}", value.get());
    row("as of", "as_of", Some(report.as_of.clone().unwrap_or_else(|| "no date at all".into())));
    row("sigma", "sigma", report.sigma.as_ref().map(unit));
    row("rho", "rho", report.rho.as_ref().map(unit));
    row("delta", "delta", report.delta.as_ref().map(|days| format!("{:.1} days", days.get())));
    let escape = report.escape_velocity.map(|is| if is { "reached" } else { "not reached" });
    row("escape velocity", "escape_velocity", escape.map(str::to_owned));
    let dominance = &report.loop_dominance;
    let loops = dominance.r1.as_ref().zip(dominance.b1.as_ref()).map(|(r1, b1)| {
        let dominant = dominance.dominant.as_deref().unwrap_or_default();
        format!("r1 {:.2}, b1 {:.2} a session: {dominant}", r1.get(), b1.get())
    });
    row("loop dominance", "loop_dominance", loops);
    let stock = report.knowledge_stock.iter().filter(|(_, count)| **count > 0);
    let stock: Vec<String> = stock.map(|(kind, count)| format!("{count} {kind}")).collect();
    let stock = if stock.is_empty() { "nothing".to_owned() } else { stock.join(", ") };
    row("knowledge stock", "knowledge_stock", Some(stock));
    let composite = format!("{:.3}", report.fitness.composite.get());
    let _ = writeln!(text, "{:<18}{}", "fitness", paint(STRONG, &composite));
    for metric in METRICS {
        let value = report.fitness.metrics.get(metric.name).map_or_else(
            || {
                let reason = report.fitness.absent.get(metric.name).map_or("", String::as_str);
                paint(FAINT, &format!("unknown: {reason}"))
            },
            unit,
        );
        let _ = writeln!(text, "  {:<16}{value}", metric.name);
    }
    text
}
