//! `ao lookup`

use ao_contract::{AskedBy, Citation, CitationType, Exit, Extra, Finite, Maybe};
use ao_corpus::Entry;
use ao_corpus::lookup::{Given, Lookup, Source, lookup, tokens};
use ao_corpus::search::{Hit, search_promoted};
use ao_vault::{Ansi, redactor};
use serde_json::json;

use super::library::{self, Library};
use super::questions::{self, Logging};
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::AGENTS;

const TOKENS_DEFAULT: usize = 1500;
const TOKENS: std::ops::RangeInclusive<usize> = 100..=200_000;
const ENTRIES_DEFAULT: usize = 5;
const ENTRIES_MAX: usize = 50;
const SESSION_UNKNOWN: &str = "unknown";
const LOG: &str = "ao/citations.jsonl";

/// Give an agent what the corpus knows about something, and record that it was given
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao lookup how are commits recovered
  ao lookup flaky tests --tokens 800 --session s-42

The answer is Markdown for a prompt: the best passages of the best entries, each quoted in a block
that its text cannot end. What is trusted less than `code` says so; what waits to be promoted is not
given. A token is taken to be four bytes. One line an entry is added to
.agents/ao/citations.jsonl, not with --dry-run; and what was asked to .agents/ao/questions.jsonl. With
--no-log or `questions.keep: false`, and where a secret is in it, neither says what was asked.")]
pub(crate) struct Arguments {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// No more than N tokens, of four bytes each
    #[arg(long, value_name = "N", default_value_t = TOKENS_DEFAULT)]
    tokens: usize,
    /// From the best N entries
    #[arg(short = 'k', long = "limit", value_name = "N", default_value_t = ENTRIES_DEFAULT)]
    limit: usize,
    /// The session that asks; else `CLAUDE_SESSION_ID` or `AO_SESSION`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    logging: Logging,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if !TOKENS.contains(&arguments.tokens) {
        let (least, most) = (TOKENS.start(), TOKENS.end());
        return Err(Failure::usage(format!("--tokens is from {least} to {most}")));
    }
    if !(1..=ENTRIES_MAX).contains(&arguments.limit) {
        return Err(Failure::usage(format!("-k is from 1 to {ENTRIES_MAX}")));
    }
    let query = arguments.query.join(" ");
    let question = library::question(&query, printer)?;
    let library = Library::open(global)?;
    let limit = arguments.limit;
    let hits = library.ask(printer, |index| search_promoted(index, &question, limit))?;
    let entries: Vec<Entry> =
        hits.iter().map(|hit| library.entry(&hit.path)).collect::<Result<_, _>>()?;
    let sources: Vec<Source<'_>> =
        hits.iter().zip(&entries).map(|(hit, entry)| Source { entry, score: hit.score }).collect();
    let found = lookup(&query, &question, &sources, arguments.tokens);
    if found.given.is_empty() {
        printer.note("Nothing found.");
    }
    // That an entry was given is recorded; for what, only where questions are.
    let kept = questions::may_keep(&arguments.logging, &library, &query).then_some(query.as_str());
    let citations = citations(&found, &hits, kept, &session(arguments), &library);
    answer(&found, &hits, &query, printer);
    let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    questions::log(&arguments.logging, (&library, global), (AskedBy::Lookup, &query), &paths);
    if global.dry_run {
        return Ok(Exit::Done);
    }
    match record(&library, &citations) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => {
            printer
                .note(&format!("The citations could not be recorded in {AGENTS}/{LOG}: {error}"));
            Ok(if global.strict_exit { Exit::Degraded } else { Exit::Done })
        }
    }
}

fn session(arguments: &Arguments) -> String {
    let from = |name: &str| std::env::var(name).ok().filter(|id| !id.trim().is_empty());
    let named = arguments.session.clone().filter(|id| !id.trim().is_empty());
    named
        .or_else(|| from("CLAUDE_SESSION_ID"))
        .or_else(|| from("AO_SESSION"))
        .unwrap_or_else(|| SESSION_UNKNOWN.to_owned())
}

fn confidence_of<'a>(hits: &'a [Hit], given: &Given) -> Option<&'a Hit> {
    hits.iter().find(|hit| hit.path == given.path)
}

fn citations(
    found: &Lookup,
    hits: &[Hit],
    query: Option<&str>,
    session: &str,
    library: &Library,
) -> Vec<Citation> {
    let cited_at = clock::now().rfc3339();
    let cite = |given: &Given| Citation {
        artifact_path: format!("{AGENTS}/{}", given.path),
        session_id: session.to_owned(),
        cited_at: cited_at.clone(),
        citation_type: CitationType::Retrieved.into(),
        workspace_path: Maybe::Value(library.repo.root.to_string_lossy().into_owned()),
        model_vendor: Maybe::Absent,
        query: query.map(str::to_owned).into(),
        metric_namespace: Maybe::Absent,
        match_confidence: confidence_of(hits, given)
            .and_then(|hit| Finite::new(hit.confidence))
            .into(),
        match_provenance: Maybe::Value("ao lookup".to_owned()),
        section_heading: given.heading.clone().into(),
        section_locator: Maybe::Absent,
        feedback_given: Maybe::Absent,
        feedback_reward: Maybe::Absent,
        utility_before: Maybe::Absent,
        utility_after: Maybe::Absent,
        feedback_at: Maybe::Absent,
        extra: Extra::new(),
    };
    found.given.iter().map(cite).collect()
}

fn record(library: &Library, citations: &[Citation]) -> std::io::Result<()> {
    if citations.is_empty() {
        return Ok(());
    }
    let agents = library.repo.agents();
    ao_tree::make_folders(&agents, "ao")?;
    let log = agents.join(LOG);
    if std::fs::symlink_metadata(&log).is_ok_and(|found| !found.is_file()) {
        return Err(std::io::Error::other("it is not a file"));
    }
    for citation in citations {
        let line = serde_json::to_string(citation).map_err(std::io::Error::other)?;
        ao_vault::out::append_line(&log, &redactor().text(&line, Ansi::Keep))?;
    }
    Ok(())
}

fn answer(found: &Lookup, hits: &[Hit], query: &str, printer: &Printer) {
    let entries: Vec<_> = found
        .given
        .iter()
        .map(|given| {
            let hit = confidence_of(hits, given);
            let mut entry = json!({
                "path": format!("{AGENTS}/{}", given.path),
                "section": given.heading,
                "score": hit.map(|hit| hit.score),
                "confidence": hit.map(|hit| hit.confidence),
            });
            if let Some(trust) = given.trust {
                entry["trust"] = trust.name().into();
            }
            if given.is_weakened {
                entry["weakened"] = true.into();
            }
            entry
        })
        .collect();
    let fields = json!({
        "query": query,
        "tokens": tokens(&found.markdown),
        "entries": entries,
        "markdown": found.markdown,
    });
    printer.answer("lookup", fields, &found.markdown);
}
