//! A cassette as a runner.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ao_contract::{CassetteLine, CassetteUsage, Money};
use ao_guard::cell::Refused;
use ao_tree::own_file;
use jiff::Timestamp;
use serde_json::Value;

use super::failure;
use crate::answer::{Cost, Said, Usage};
use crate::failure::Failure;
use crate::line;
use crate::request::{Request, Usd};
use crate::runner::{Exchange, Runner};
use crate::wrap::Nonce;

/// Of a night with many long questions.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Of two texts that differ, in a message.
const AROUND_CHARS: usize = 40;

/// The recorded exchanges of a run; each is played once.
#[derive(Debug)]
pub struct Cassette {
    lines: Vec<CassetteLine>,
    is_played: Mutex<Vec<bool>>,
}

#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} line {line}: {why}", path.display())]
    Damaged { path: PathBuf, line: usize, why: String },
}

impl Cassette {
    /// Reads all of it. A last line without its end was never recorded: the run was killed on it.
    pub fn open(path: &Path) -> Result<Self, CassetteError> {
        let io = |source| CassetteError::Io { path: path.to_owned(), source };
        let bytes = own_file::read(path, FILE_BYTES_MAX).map_err(io)?;
        let text = String::from_utf8_lossy(&bytes);
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let mut lines = Vec::new();
        for (number, text) in text[..whole].lines().enumerate() {
            let damaged = |why: String| CassetteError::Damaged {
                path: path.to_owned(),
                line: number + 1,
                why,
            };
            let line: CassetteLine =
                serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
            if line.answer.is_some() == line.failure.is_some() {
                return Err(damaged("neither an answer nor a failure, or both".to_owned()));
            }
            lines.push(line);
        }
        let is_played = Mutex::new(vec![false; lines.len()]);
        Ok(Self { lines, is_played })
    }

    /// Who was asked, each once and in order.
    pub fn runners(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for line in &self.lines {
            if !names.contains(&line.runner.as_str()) {
                names.push(&line.runner);
            }
        }
        names
    }

    /// The word around the material of the next question to this runner, so that the same text is asked.
    pub fn nonce(&self, runner: &str) -> Result<Nonce, Failure> {
        let is_played = self.is_played();
        let next = self.next(runner, &is_played).ok_or_else(|| no_more(runner))?;
        Nonce::recorded(&self.lines[next].nonce)
            .ok_or_else(|| Failure::NotRecorded("its nonce is none".to_owned()))
    }

    /// When the next question to this runner was asked.
    pub fn at(&self, runner: &str) -> Option<Timestamp> {
        let next = self.next(runner, &self.is_played())?;
        self.lines[next].at.parse().ok()
    }

    /// What was recorded and not asked for.
    pub fn left(&self) -> usize {
        self.is_played().iter().filter(|is_played| !**is_played).count()
    }

    fn is_played(&self) -> MutexGuard<'_, Vec<bool>> {
        self.is_played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, runner: &str, is_played: &[bool]) -> Option<usize> {
        let runner = line::plain(runner);
        (0..self.lines.len()).find(|at| !is_played[*at] && self.lines[*at].runner == runner)
    }
}

fn no_more(runner: &str) -> Failure {
    Failure::NotRecorded(format!("{runner} was not asked again"))
}

/// A runner of a cassette: it answers as that one did, to the same questions in the same order.
#[derive(Debug)]
pub struct Played<'a> {
    pub name: &'a str,
    pub cassette: &'a Cassette,
}

impl Runner for Played<'_> {
    fn name(&self) -> &str {
        self.name
    }

    /// Of the last exchange that was played.
    fn refused(&self) -> Vec<Refused> {
        let is_played = self.cassette.is_played();
        let name = line::plain(self.name);
        let lines = self.cassette.lines.iter().zip(is_played.iter());
        let last = lines.rev().find(|(line, is_played)| **is_played && line.runner == name);
        let refused = last.map(|(line, _)| line.refused.clone()).unwrap_or_default();
        refused.into_iter().map(|one| Refused { rule: one.rule, what: one.what }).collect()
    }

    fn exchange(
        &self,
        request: &Request,
        question: &str,
        stop: &AtomicBool,
    ) -> Result<Exchange, Failure> {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let mut is_played = self.cassette.is_played();
        let next = self.cassette.next(self.name, &is_played).ok_or_else(|| no_more(self.name))?;
        let line = &self.cassette.lines[next];
        if let Some(difference) = difference(line, request, question) {
            return Err(Failure::NotRecorded(difference));
        }
        is_played[next] = true;
        match (&line.answer, &line.failure) {
            (Some(text), _) => Ok(Exchange {
                text: text.clone(),
                usage: line.usage.as_ref().map(usage).unwrap_or_default(),
                took: Duration::from_millis(line.took_ms),
                exit: line.exit,
            }),
            (None, Some(recorded)) => Err(failure::played(recorded)),
            (None, None) => Err(no_more(self.name)),
        }
    }
}

/// What is asked now and was not asked then. Values of the vault are taken out of both.
fn difference(line: &CassetteLine, request: &Request, question: &str) -> Option<String> {
    let (then, now) = (line::plain(&line.question), line::plain(question));
    if then != now {
        let same = then.bytes().zip(now.bytes()).take_while(|(one, two)| one == two).count();
        return Some(format!(
            "the question differs at byte {same}: recorded {:?}, asked {:?}",
            around(&then, same),
            around(&now, same)
        ));
    }
    if line.purpose != request.purpose {
        return Some(format!("it was asked for {}, and now for {}", line.purpose, request.purpose));
    }
    if line.form.name != request.form.name {
        return Some(format!("the form was {}, and now is {}", line.form.name, request.form.name));
    }
    if plain(&line.form.schema) != plain(&request.form.schema) {
        return Some(format!("the schema of {} is another one", line.form.name));
    }
    None
}

fn plain(value: &Value) -> String {
    line::plain(&value.to_string())
}

fn around(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at);
    text[start..].chars().take(AROUND_CHARS).collect()
}

fn usage(usage: &CassetteUsage) -> Usage {
    let usd = Usd(usage.usd_micros);
    Usage {
        tokens: usage.tokens.map_or(Said::Nothing, Said::ByRunner),
        turns: usage.turns,
        cost: match usage.money {
            Money::Unknown => Cost::Unknown,
            Money::Real => Cost::Real(usd),
            Money::Imputed => Cost::Imputed(usd),
            Money::Free => Cost::Free,
        },
    }
}
