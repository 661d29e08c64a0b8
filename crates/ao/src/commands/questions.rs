//! What was asked, for the nights to come: `ao/questions.jsonl`.

use ao_contract::{AskedBy, AskedQuestion, Extra};
use ao_corpus::questions::{LOG, LOG_BYTES_MAX, QUESTION_BYTES_MAX};
use ao_vault::scan::Scanner;
use ao_vault::{Ansi, redactor};

use super::library::Library;
use crate::cli::Global;
use crate::clock;
use crate::config;

/// So many of the entries that came back are named.
const TOP_MAX: usize = 3;
/// No key is shorter, and none without a figure in it shorter than this.
const KEY_BYTES_MIN: usize = 10;
const LETTERS_MIN: usize = 16;

/// Taken by the commands that are asked something.
#[derive(Debug, clap::Args)]
pub(crate) struct Logging {
    /// Do not write down what is asked, as with `questions.keep: false`
    #[arg(long)]
    no_log: bool,
}

/// Writes down what was asked and what came back, by their paths. A log that cannot be written is no trouble of
/// whoever asks, so nothing is said of it; in a cell, or where the tree may only be read, there is none.
pub(crate) fn log(
    logging: &Logging,
    (library, global): (&Library, &Global),
    (by, question): (AskedBy, &str),
    found: &[&str],
) {
    // Of an earlier state, whether today's has an answer is no question.
    let is_wanted = !global.dry_run && library.as_of().is_none();
    if !is_wanted || !may_keep(logging, library, question) {
        return;
    }
    let question = question.trim();
    let line = AskedQuestion {
        asked_at: clock::now().rfc3339(),
        by: by.into(),
        question: question.to_owned(),
        answered: found.len() as u64,
        top: found.iter().take(TOP_MAX).map(ToString::to_string).collect(),
        extra: Extra::new(),
    };
    let _ = append(library, &line);
}

/// Whether a question may be written down, in whatever log.
pub(crate) fn may_keep(logging: &Logging, library: &Library, question: &str) -> bool {
    let question = question.trim();
    !logging.no_log
        && question.len() <= QUESTION_BYTES_MAX
        && config::keeps_questions(&library.repo.root)
        && !has_secret(question)
}

/// One with a secret in it is not kept at all: with the secret taken out it is another question. The public rules take
/// longer to make ready than a search takes, so they are asked only where a key could be.
fn has_secret(question: &str) -> bool {
    let may_hold_key =
        question.contains(['=', ':', '@']) || question.split_whitespace().any(may_be_key);
    let is_seen = |scanner: Scanner| !scanner.scan("question", question.as_bytes()).is_empty();
    redactor().is_in(question.as_bytes()) || may_hold_key && Scanner::new(&[]).map_or(true, is_seen)
}

/// A word that nobody would say: with figures in it, or long, and joined, or with capitals that begin nothing.
fn may_be_key(word: &str) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_odd = word.contains('_') || word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    word.len() >= KEY_BYTES_MIN && has_digit || word.len() >= LETTERS_MIN && is_odd
}

fn append(library: &Library, line: &AskedQuestion) -> std::io::Result<()> {
    let agents = library.repo.agents();
    ao_tree::make_folders(&agents, "ao")?;
    let line = serde_json::to_string(line).map_err(std::io::Error::other)?;
    let line = redactor().text(&line, Ansi::Keep);
    ao_vault::out::append_note(&agents.join(LOG), &line, LOG_BYTES_MAX)
}
