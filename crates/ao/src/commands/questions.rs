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
/// No key is shorter.
const KEY_BYTES_MIN: usize = 10;

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
    let is_wanted = !logging.no_log && !global.dry_run && library.as_of().is_none();
    let question = question.trim();
    if !is_wanted || question.len() > QUESTION_BYTES_MAX {
        return;
    }
    if !config::keeps_questions(&library.repo.root) || has_secret(question) {
        return;
    }
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

/// One with a secret in it is not kept at all: with the secret taken out it is another question. The public rules take
/// longer to make ready than a search takes, so they are asked only where a key could be.
fn has_secret(question: &str) -> bool {
    let is_code =
        |word: &str| word.len() >= KEY_BYTES_MIN && word.bytes().any(|b| b.is_ascii_digit());
    let may_hold_key =
        question.contains(['=', ':', '@']) || question.split_whitespace().any(is_code);
    let is_seen = |scanner: Scanner| !scanner.scan("question", question.as_bytes()).is_empty();
    redactor().is_in(question.as_bytes()) || may_hold_key && Scanner::new(&[]).map_or(true, is_seen)
}

fn append(library: &Library, line: &AskedQuestion) -> std::io::Result<()> {
    let agents = library.repo.agents();
    ao_tree::make_folders(&agents, "ao")?;
    let line = serde_json::to_string(line).map_err(std::io::Error::other)?;
    let line = redactor().text(&line, Ansi::Keep);
    ao_vault::out::append_note(&agents.join(LOG), &line, LOG_BYTES_MAX)
}
