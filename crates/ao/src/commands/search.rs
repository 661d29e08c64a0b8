//! `ao search`

use std::fmt::Write as _;

use ao_contract::{AskedBy, Exit, Trust};
use ao_corpus::Kind;
use ao_corpus::index::Question;
use ao_corpus::passage::{Snippet, snippet};
use ao_corpus::patterns::{WEAKENED, is_weakened};
use ao_corpus::search::{Asking, Explanation, Hit, explain, search};
use ao_corpus::trust::warned;
use ao_tree::shown;
use serde_json::{Value, json};

use super::as_of::AsOf;
use super::library::{self, Library};
use super::questions::{self, Logging};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, GOOD, Printer, STRONG, paint};
use crate::repo::AGENTS;

const SNIPPET_CHARS: usize = 160;
const SHOWN_DEFAULT: usize = 10;
const SHOWN_MAX: usize = 1000;

/// Find entries of the corpus by what they say
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao search lock held by a dead process
  ao search \"commit marker\" -k 3 --explain
  ao --json search flaky tests --as-of 2026-06-30
  ao search flaky tests --as-of 20260415T020000Z-iter-1

Words are compared by their stems; a title counts more than a body, and words that stand together
count more when they are found together. Utility, maturity, freshness and trust move a score by a few
percent at most; --explain shows every amount. What was superseded or promoted is not shown.

As of an earlier state, what ao changed since is read from the undo store. What people changed since
is not in it: such files are read as they are now, and named.

What is asked of the corpus as it is now is written down in .agents/ao/questions.jsonl, for the night to
tell whether it would be answered; not with --no-log, --dry-run, or `questions.keep: false`.")]
pub(crate) struct Arguments {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Show the best N
    #[arg(short = 'k', long = "limit", value_name = "N", default_value_t = SHOWN_DEFAULT)]
    limit: usize,
    /// Ask the corpus as it was at the end of this day or moment (later entries are not shown), or
    /// after this iteration, run or commit
    #[arg(long, value_name = "DATE|ITERATION")]
    as_of: Option<String>,
    /// Show the numbers that each score is made of
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    logging: Logging,
}

struct Shown {
    hit: Hit,
    title: String,
    /// How far it is trusted, where that is less than `code`.
    trust: Option<Trust>,
    is_pending: bool,
    /// A pattern that fewer learnings say by now than a pattern needs.
    is_weakened: bool,
    snippet: Snippet,
    explanation: Option<Explanation>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let query = arguments.query.join(" ");
    if !(1..=SHOWN_MAX).contains(&arguments.limit) {
        return Err(Failure::usage(format!("-k is from 1 to {SHOWN_MAX}")));
    }
    let question = library::question(&query, printer)?;
    let library = Library::open_as_of(global, arguments.as_of.as_deref())?;
    let as_of = library.as_of().and_then(AsOf::day);
    let asking = Asking { limit: arguments.limit, as_of };
    let (found, told) = library.ask_told(printer, |index| {
        let hits = search(index, &question, asking)?;
        let tell = |hit: Hit| {
            let told = arguments.explain.then(|| explain(index, &question, &hit)).transpose()?;
            Ok((hit, told))
        };
        hits.into_iter().map(tell).collect::<Result<Vec<_>, _>>()
    })?;
    let shown = look_up(&library, &question, found)?;
    let results: Vec<Value> = shown.iter().map(as_json).collect();
    let mut text = String::new();
    for (place, one) in shown.iter().enumerate() {
        write_one(&mut text, place + 1, one);
    }
    if shown.is_empty() {
        printer.note("Nothing found.");
    }
    let mut fields = json!({ "query": query, "results": results });
    if let Some(told) = told {
        fields["corpus_as_of"] = told;
    }
    printer.answer("search", fields, &text);
    let found: Vec<&str> = shown.iter().map(|one| one.hit.path.as_str()).collect();
    questions::log(&arguments.logging, (&library, global), (AskedBy::Search, &query), &found);
    Ok(Exit::Done)
}

fn look_up(
    library: &Library,
    question: &Question,
    found: Vec<(Hit, Option<Explanation>)>,
) -> Result<Vec<Shown>, Failure> {
    found
        .into_iter()
        .map(|(hit, explanation)| {
            let entry = library.entry(&hit.path)?;
            let snippet = snippet(&entry, question, SNIPPET_CHARS);
            let is_pending = entry.kind == Kind::Pending;
            let (title, trust) = (entry.title(), warned(&entry));
            let is_weakened = is_weakened(&entry);
            Ok(Shown { hit, title, trust, is_pending, is_weakened, snippet, explanation })
        })
        .collect()
}

fn as_json(one: &Shown) -> Value {
    let Hit { path, score, relevance, amounts, confidence, .. } = &one.hit;
    let mut value = json!({
        "path": format!("{AGENTS}/{path}"),
        "title": one.title,
        "score": score,
        "relevance": relevance,
        "confidence": confidence,
        "snippet": one.snippet.text,
    });
    if let Some(trust) = one.trust {
        value["trust"] = trust.name().into();
    }
    if one.is_pending {
        value["pending"] = true.into();
    }
    if one.is_weakened {
        value["weakened"] = true.into();
    }
    if let Some(explanation) = &one.explanation {
        let parts: Vec<Value> = explanation
            .parts
            .iter()
            .map(|part| {
                json!({
                    "kind": part.kind.name(),
                    "words": part.words,
                    "worth": part.worth,
                    "in_title": part.in_title,
                    "in_body": part.in_body,
                    "adds": part.adds,
                })
            })
            .collect();
        value["explain"] = json!({
            "parts": parts,
            "relevance": explanation.relevance,
            "amounts": {
                "utility": amounts.utility,
                "maturity": amounts.maturity,
                "freshness": amounts.freshness,
                "trust": amounts.trust,
            },
            "factor": amounts.factor(),
            "score": explanation.score,
        });
    }
    value
}

fn write_one(text: &mut String, place: usize, one: &Shown) {
    let _ = writeln!(
        text,
        "{place:>2}. {}  {}",
        paint(STRONG, &shown(&one.title)),
        paint(FAINT, &format!("{:.3}", one.hit.score))
    );
    let path = paint(FAINT, &shown(&format!("{AGENTS}/{}", one.hit.path)));
    let trust = one.trust.map(|trust| format!("trust: {trust}"));
    let pending = one.is_pending.then(|| "not promoted".to_owned());
    let weakened = one.is_weakened.then(|| WEAKENED.to_owned());
    let words: Vec<String> = pending.into_iter().chain(trust).chain(weakened).collect();
    let _ = if words.is_empty() {
        writeln!(text, "    {path}")
    } else {
        writeln!(text, "    {path}  {}", paint(DOUBT, &format!("({})", words.join(", "))))
    };
    if !one.snippet.text.is_empty() {
        let _ = writeln!(text, "    {}", marked(&one.snippet));
    }
    if let Some(explanation) = &one.explanation {
        write_explanation(text, explanation);
    }
}

/// The snippet with the question's words in colour. Each piece is made harmless by itself, so no
/// sequence can form across them.
fn marked(snippet: &Snippet) -> String {
    let mut text = String::new();
    let mut at = 0;
    for mark in &snippet.marks {
        text.push_str(&shown(&snippet.text[at..mark.start]));
        text.push_str(&paint(GOOD, &shown(&snippet.text[mark.clone()])));
        at = mark.end;
    }
    text.push_str(&shown(&snippet.text[at..]));
    text
}

fn write_explanation(text: &mut String, explanation: &Explanation) {
    for part in &explanation.parts {
        let places = format!("title {}, body {}", part.in_title, part.in_body);
        let _ = writeln!(
            text,
            "      {:+9.4}  {:<10} {:<28} {places}, worth {:.4}",
            part.adds,
            part.kind.name(),
            shown(&part.words),
            part.worth
        );
    }
    let amounts = &explanation.amounts;
    let _ = writeln!(text, "      {:9.4}  relevance", explanation.relevance);
    let _ = writeln!(
        text,
        "      × {:.4}   1 {:+.4} utility {:+.4} maturity {:+.4} freshness {:+.4} trust",
        amounts.factor(),
        amounts.utility,
        amounts.maturity,
        amounts.freshness,
        amounts.trust
    );
    let _ = writeln!(text, "      {:9.4}  score", explanation.score);
}
