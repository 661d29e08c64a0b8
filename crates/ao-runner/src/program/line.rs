//! What a program is started with, and what came of it.

use ao_guard::cell::Cell;
use jiff::Timestamp;
use serde_json::Value;

use super::limit;
use super::set;
use crate::failure::Failure;
use crate::login::Way;
use crate::request::Budget;

/// Of what a program says of a failure.
const REASON_CHARS_MAX: usize = 300;

/// How programs say that a limit is reached, and that they are not known to their API.
const LIMITED: [&str; 6] =
    ["hit your", "usage limit", "rate limit", "rate_limit", "quota", "resource_exhausted"];
const UNKNOWN: [&str; 7] = [
    "not logged in",
    "invalid api key",
    "invalid_api_key",
    "unauthorized",
    "authentication",
    "/login",
    "auth method",
];

/// One question, as a program is asked it.
#[derive(Debug)]
pub(super) struct Ask<'a> {
    pub(super) question: &'a str,
    pub(super) schema: &'a Value,
    pub(super) budget: &'a Budget,
    pub(super) model: Option<&'a str>,
    /// Where its API is to be found, if that is not the usual place.
    pub(super) base: Option<&'a str>,
    /// What stands where a key would; none where the program has a token, or needs nothing.
    pub(super) placeholder: Option<&'a str>,
}

impl Ask<'_> {
    /// For a program that has no other way to be told the form.
    pub(super) fn with_schema(&self) -> String {
        format!(
            "{}\n\nAnswer with one JSON value of this JSON Schema, and nothing around it:\n{}\n",
            self.question, self.schema
        )
    }
}

/// A command line with all that belongs to it.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(&'static str, String)>,
    /// In its home.
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) input: String,
}

impl Line {
    pub(super) fn arguments(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|&one| one.to_owned()));
    }

    pub(super) fn put(self, cell: &mut Cell) {
        cell.arguments.extend(self.arguments.into_iter().map(Into::into));
        for (name, value) in self.environment {
            set(cell, name, &value);
        }
        cell.files.extend(self.files.into_iter().map(|(path, text)| (path.into(), text)));
        cell.input = self.input.into_bytes();
    }
}

/// What a program that ended by itself left.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) runner: &'a str,
    pub(super) stdout: &'a str,
    pub(super) stderr: &'a str,
    pub(super) exit: i32,
    pub(super) way: Way,
    pub(super) now: Timestamp,
}

impl Output<'_> {
    /// What a failure is by what the program says of it. An answer is never looked at this way: it may say anything.
    pub(super) fn failure(&self, reason: &str) -> Failure {
        let small = reason.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| small.contains(word));
        // A status stands by itself: a port may have the same digits.
        let has_status = |status: &str| {
            small.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == status)
        };
        let reason = brief(reason);
        if has_status("429") || says(&LIMITED) {
            self.limited(&small)
        } else if has_status("401") || says(&UNKNOWN) {
            self.not_logged_in()
        } else if reason.is_empty() {
            Failure::Broken(format!("it ended with {} and said nothing", self.exit))
        } else {
            Failure::Broken(format!("it ended with {}: {reason}", self.exit))
        }
    }

    pub(super) fn limited(&self, reason: &str) -> Failure {
        Failure::RateLimited {
            runner: self.runner.to_owned(),
            until: limit::ends(reason, self.now),
        }
    }

    pub(super) fn not_logged_in(&self) -> Failure {
        Failure::NotLoggedIn(self.runner.to_owned())
    }

    /// An answer counts only of a program that is content with itself.
    pub(super) fn answered(&self, text: Option<String>) -> Result<String, Failure> {
        let text = text.filter(|text| !text.trim().is_empty());
        match (self.exit, text) {
            (0, Some(text)) => Ok(text),
            (0, None) => Err(Failure::Broken("it ended with 0 and without an answer".to_owned())),
            (code, Some(_)) => Err(Failure::Broken(format!(
                "it ended with {code} after it had answered; the answer is not used"
            ))),
            (_, None) => Err(self.failure(last_line(self.stderr))),
        }
    }
}

/// The end of what was said is what it ended with.
fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
}

/// One line, and not too much of it.
pub(super) fn brief(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    ao_tree::shown(&line.chars().take(REASON_CHARS_MAX).collect::<String>())
}

/// The objects of an output that is a row of them, a line each. What is no object is left out.
pub(super) fn events(text: &str) -> impl Iterator<Item = Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok())
        .filter(Value::is_object)
}

/// What a program counted, all together. Nobody becomes cheap by counts that do not fit into a number.
pub(super) fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
