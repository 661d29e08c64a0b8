//! `ao retrieval-bench`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ao_contract::{BenchAsked, BenchQuestion, Exit, QuestionSource, RetrievalBench};
use ao_corpus::bench::{self, Dataset, Questions};
use ao_corpus::index::Index;
use ao_corpus::questions::{Asked, last_asked};
use ao_corpus::{Corpus, Logs};
use ao_tree::{own_file, shown};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{Printer, STRONG, paint};
use crate::repo::Repo;

const LEARNINGS: &str = "learnings";
/// A larger file is no list of questions.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Measure how well entries are found
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao retrieval-bench --live
  ao --json retrieval-bench --live > before.json
  ao retrieval-bench --live --questions before.json --min-score 0.8
  ao --json retrieval-bench --dataset sets/cranfield

The live bench asks what people asked before (from the citation log beside the corpus) and probes:
the rarest words of a sentence of an entry, without those of its title. The last questions of
ao/questions.jsonl are asked apart, and count in no mean. The same corpus and logs give the same bytes. A labelled set has corpus.jsonl, queries.jsonl and qrels.jsonl.")]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct Arguments {
    /// Ask the learnings of this repository
    #[arg(long, group = "what")]
    live: bool,
    /// Ask a labelled set
    #[arg(long, value_name = "DIR", group = "what")]
    dataset: Option<PathBuf>,
    /// Ask the entries beneath this folder instead
    #[arg(long, value_name = "DIR", requires = "live", conflicts_with = "global_learnings")]
    corpus: Option<PathBuf>,
    /// Ask the learnings in ~/.agents/ instead
    #[arg(long = "global", id = "global_learnings", requires = "live")]
    global_learnings: bool,
    /// Ask the questions of an earlier run (its JSON)
    #[arg(long, value_name = "FILE", requires = "live")]
    questions: Option<PathBuf>,
    /// Exit with 4 if nDCG@10 is below this
    #[arg(long, value_name = "SCORE", value_parser = share)]
    min_score: Option<f64>,
}

fn share(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err("expected 0 to 1".into()) }
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let found = match &arguments.dataset {
        Some(dir) => dataset(dir)?,
        None => live(arguments, global, printer)?,
    };
    let fields = serde_json::to_value(&found)
        .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    printer.answer("retrieval-bench", fields, &told(&found));
    let score = found.ndcg_at_10.get();
    match arguments.min_score {
        Some(least) if score < least => {
            printer.note(&format!("nDCG@10 {score:.4} is below {least}."));
            Ok(Exit::Refused)
        }
        _ => Ok(Exit::Done),
    }
}

fn dataset(dir: &Path) -> Result<RetrievalBench, Failure> {
    let fail = |bad: &bench::BadSet| {
        Failure::new(Exit::Failed, format!("{}: {}", shown(&dir.to_string_lossy()), shown(&bad.to_string())))
            .hint("a set has corpus.jsonl {_id,title,text}, queries.jsonl {_id,text} and qrels.jsonl {qid,did,rel}")
    };
    let set = Dataset::read(dir).map_err(|bad| fail(&bad))?;
    let score = set.score().map_err(|bad| fail(&bad))?;
    Ok(score.report())
}

fn live(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<RetrievalBench, Failure> {
    let (word, agents, folder) = place(arguments, global)?;
    // Only the repository's own corpus is under its lock.
    let lock = if word == LEARNINGS { Some(Repo::find(global)?.read()?) } else { None };
    let unread = |error: std::io::Error| {
        let path = agents.join(&folder);
        Failure::new(Exit::Preflight, format!("{}: {error}", shown(&path.to_string_lossy())))
            .hint("name a folder of entries with --corpus DIR")
    };
    let mut corpus = Corpus::read_learnings(&agents, &folder).map_err(unread)?;
    drop(lock);
    corpus.entries.retain(|entry| entry.kind.is_searched());
    let log = Logs::citation_log(&agents).map_err(unread)?;
    let citations = bench::citations(&log.text);
    let (questions, past) = if let Some(file) = &arguments.questions {
        apart(fixed(file)?)
    } else {
        let live = bench::live_questions(&corpus, &citations);
        (Questions { log_unread: log.unread, ..live }, last_asked(&agents))
    };
    if questions.list.is_empty() {
        let path = agents.join(&folder);
        return Err(Failure::new(
            Exit::Preflight,
            format!("there are no entries in {}", shown(&path.to_string_lossy())),
        )
        .hint("write some, or name another folder with --corpus DIR"));
    }
    let broken = |error: ao_corpus::index::Broken| Failure::new(Exit::Failed, error.to_string());
    let index = Index::of_entries(&corpus.entries).map_err(broken)?;
    let scores = bench::score(&index, &questions).map_err(broken)?;
    let mut found = bench::live_report(word, &index, &questions, &scores);
    if ao_mutant::active("RUN-22/names-the-folder") {
        found.corpus = agents.to_string_lossy().into_owned();
    }
    let past = Asked::of(&past, &citations);
    let answered = past.answered(&index).map_err(broken)?;
    add_past(&mut found, &past, &answered);
    if let Some(why) = &found.citation_log_unread {
        printer.note(&format!("Past questions are missing: {}", shown(why)));
    }
    if !corpus.left.is_empty() {
        printer.note(&format!("{} files were left aside.", corpus.left.len()));
    }
    Ok(found)
}

/// What is asked: a word for it, the folder above it, and its name there.
fn place(
    arguments: &Arguments,
    global: &Global,
) -> Result<(&'static str, PathBuf, String), Failure> {
    if arguments.global_learnings && !ao_mutant::active("RUN-23/global-is-ignored") {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).ok_or_else(|| {
            Failure::new(Exit::Preflight, "HOME is not set")
                .hint("name the folder with --corpus DIR")
        })?;
        return Ok(("global", Path::new(&home).join(crate::repo::AGENTS), LEARNINGS.to_owned()));
    }
    let named = arguments.corpus.as_ref();
    let Some(dir) = named.filter(|_| !ao_mutant::active("RUN-23/corpus-is-ignored")) else {
        return Ok((LEARNINGS, Repo::find(global)?.agents(), LEARNINGS.to_owned()));
    };
    let whole = std::path::absolute(dir)
        .map_err(|error| Failure::usage(format!("{}: {error}", shown(&dir.to_string_lossy()))))?;
    match (whole.parent(), whole.file_name().and_then(std::ffi::OsStr::to_str)) {
        (Some(above), Some(name)) => Ok(("directory", above.to_owned(), name.to_owned())),
        _ => Err(Failure::usage(format!(
            "{} is no folder of entries",
            shown(&dir.to_string_lossy())
        ))),
    }
}

/// Past questions count apart: what they are is known from their texts.
fn apart(all: Questions) -> (Questions, Vec<String>) {
    let is_past = |question: &BenchQuestion| question.source == QuestionSource::Asked;
    let (past, list) = all.list.into_iter().partition::<Vec<_>, _>(is_past);
    (
        Questions { list, log_unread: all.log_unread },
        past.into_iter().map(|question| question.query).collect(),
    )
}

/// No mean changes by them.
fn add_past(found: &mut RetrievalBench, past: &Asked, answered: &[bool]) {
    if past.is_empty() {
        return;
    }
    let one = |(query, answered): (&str, &bool)| BenchQuestion {
        source: QuestionSource::Asked,
        query: query.to_owned(),
        expected: Vec::new(),
        ndcg_at_10: None,
        answered: Some(*answered),
    };
    found.questions.extend(past.texts().zip(answered).map(one));
    let count = answered.iter().filter(|one| **one).count() as u64;
    found.asked = Some(BenchAsked { questions: answered.len() as u64, answered: count });
}

fn fixed(file: &Path) -> Result<Questions, Failure> {
    let fail = |why: &str| {
        Failure::usage(format!("{}: {why}", shown(&file.to_string_lossy())))
            .hint("it is what `ao --json retrieval-bench --live` wrote")
    };
    let text = read(file).map_err(|error| fail(&error.to_string()))?;
    bench::read_questions(&text).map_err(|why| fail(&shown(&why)))
}

fn read(file: &Path) -> std::io::Result<String> {
    Ok(String::from_utf8_lossy(&own_file::read_named(file, FILE_BYTES_MAX)?).into_owned())
}

fn told(found: &RetrievalBench) -> String {
    let mut text = String::new();
    let measures = [
        ("nDCG@10", &found.ndcg_at_10),
        ("recall@5", &found.recall_at_5),
        ("recall@10", &found.recall_at_10),
        ("MRR@10", &found.mrr_at_10),
        ("MAP", &found.map),
    ];
    for (name, value) in measures {
        let _ = writeln!(text, "{:<10} {:.4}", paint(STRONG, name), value.get());
    }
    let _ = writeln!(text, "{} queries over {} entries", found.queries, found.entries);
    if found.queries_left_out > 0 {
        let _ = writeln!(text, "{} left out: nothing is right for them", found.queries_left_out);
    }
    for source in &found.sources {
        let name = match source.source {
            QuestionSource::Citation => "past questions",
            QuestionSource::Probe => "probes",
            QuestionSource::Asked => "asked",
        };
        let _ = writeln!(text, "{name:<15} {:.4} over {}", source.ndcg_at_10.get(), source.queries);
    }
    if let Some(asked) = &found.asked {
        let (answered, questions) = (asked.answered, asked.questions);
        let _ = writeln!(
            text,
            "{answered} of the last {questions} that were asked have an answer; they count in no mean"
        );
    }
    text
}
