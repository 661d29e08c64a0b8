//! Drafts: what a model made of something, as notes that say so.
//!
//! A draft is no knowledge. It says in its header who made it of what, and that it is inference of a model; INGEST
//! takes it from there with that trust.

use std::fmt::Write as _;

use ao_contract::{CuratorSeeds, DraftedLearning};
use ao_corpus::{Document, Form};

/// The folder of the drafts in the worker's directory.
pub const DRAFTS: &str = "drafts";
/// How far a draft is to be trusted; INGEST keeps it in the header.
const TRUST: &str = "model-inference";

/// Where a draft comes from.
#[derive(Debug, Clone)]
pub(super) struct Origin<'a> {
    pub(super) job: &'a str,
    /// The runner and its model.
    pub(super) engine: &'a str,
    /// RFC 3339, UTC.
    pub(super) at: &'a str,
    /// What the model was shown.
    pub(super) sources: &'a [String],
    /// Of the bytes that it was shown.
    pub(super) hash: &'a str,
    pub(super) is_cut: bool,
}

/// Whether the words that a model quotes stand in what it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Found,
    NotFound,
}

pub(super) fn learning(
    drafted: &DraftedLearning,
    quote: Quote,
    origin: &Origin<'_>,
) -> Result<Document, String> {
    let title = line(&drafted.title);
    let mut body =
        format!("# Learning: {title}\n\n## What We Learned\n\n{}\n", prose(&drafted.learned));
    for (heading, text) in [("Why It Matters", &drafted.why), ("How To Apply", &drafted.apply)] {
        if !text.trim().is_empty() {
            let _ = write!(body, "\n## {heading}\n\n{}\n", prose(text));
        }
    }
    let _ = write!(
        body,
        "\n## Source\n\nDrafted by a model ({}) from {}.\n",
        line(origin.engine),
        named(origin)
    );
    if quote == Quote::Found {
        let _ = write!(body, "\n> {}\n", line(&drafted.quote));
    }
    let grounded = match quote {
        Quote::Found => "quoted",
        Quote::NotFound => "not quoted",
    };
    finish("learning", &title, &body, origin, Some(grounded))
}

pub(super) fn seeds(drafted: &CuratorSeeds, origin: &Origin<'_>) -> Result<Document, String> {
    let mut body = String::from("# Seeds for a dream\n");
    for seed in &drafted.seeds {
        let _ = write!(body, "\n## {}\n\n{}\n", line(&seed.title), prose(&seed.question));
        if !seed.why.trim().is_empty() {
            let _ = write!(body, "\nWhy: {}\n", prose(&seed.why));
        }
    }
    let _ = write!(
        body,
        "\n## Source\n\nDrafted by a model ({}) from {}.\n",
        line(origin.engine),
        named(origin)
    );
    finish("dream-seed", "Seeds for a dream", &body, origin, None)
}

fn finish(
    kind: &str,
    title: &str,
    body: &str,
    origin: &Origin<'_>,
    grounded: Option<&str>,
) -> Result<Document, String> {
    let bare = Document::parse(Form::Markdown, body.as_bytes().to_vec())?;
    let mut draft = bare.draft();
    draft
        .set("type", kind)
        .set("title", title)
        .set("date", origin.at.get(..10).unwrap_or_default())
        .set("maturity", "provisional")
        .set("confidence", "low")
        .set("trust", TRUST)
        .set("drafted_by", line(origin.engine))
        .set("drafted_at", origin.at)
        .set("curator_job", origin.job)
        .set("drafted_from", origin.sources.to_vec())
        .set("drafted_from_hash", origin.hash);
    if origin.is_cut {
        draft.set("drafted_from_cut", true);
    }
    if let Some(grounded) = grounded {
        draft.set("evidence", grounded);
    }
    let document = draft.finish().map_err(|error| error.to_string())?;
    match ao_corpus::looks_secret(&String::from_utf8_lossy(document.bytes())) {
        Some(what) => Err(format!("the draft seems to hold {what}")),
        None => Ok(document),
    }
}

fn named(origin: &Origin<'_>) -> String {
    origin.sources.iter().map(|source| line(source)).collect::<Vec<_>>().join(", ")
}

/// One line of text.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    ao_tree::shown(&words.join(" "))
}

/// Lines that cannot be taken for a heading, a header, a fence or a list of ours.
fn prose(text: &str) -> String {
    let lines = text.trim().lines().map(|line| {
        let bare = line.trim();
        let is_mark = bare.starts_with(['#', '`', '~', '-', '=', '>', '<']);
        if is_mark { format!("\\{bare}") } else { bare.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}
