//! What agents wrote down about the entries they met: citations, feedback, the last outcome.
//!
//! The logs are other tools' files. They are read line by line and never written here; a line that
//! cannot be used is named and stays where it is.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use ao_contract::{CitationType, Extra, LeftAlone, Open};
use ao_tree::{Disk, Fs, shown};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) const CITATIONS: &str = "ao/citations.jsonl";
pub(crate) const FEEDBACK: &str = "ao/feedback.jsonl";
const OUTCOME: &str = "ao/last-session-outcome.json";

/// A larger log is not read: it has to be cut by whoever writes it.
const LOG_BYTES_MAX: u64 = 512 * 1024 * 1024;
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// One line of a log about one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// In its file, from 1.
    pub line: usize,
    /// The entry, as the line names it.
    pub entry: String,
    pub workspace: Option<String>,
    pub session: Option<String>,
    /// When it was judged, or else cited.
    pub at: Option<Timestamp>,
    pub cited_at: Option<Timestamp>,
    /// How it was used; feedback does not say.
    pub kind: Option<Open<CitationType>>,
    pub query: Option<String>,
    pub match_confidence: Option<f64>,
    /// The judgement, if the line has one.
    pub reward: Option<f64>,
    /// Whether whoever wrote the line has moved the entry's utility already.
    pub is_spent: bool,
    /// The same for the same event, also after somebody added a judgement to the line.
    pub key: String,
}

/// How the last session ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub session: String,
    /// From 0 to 1.
    pub reward: f64,
}

#[derive(Debug, Clone, Default)]
pub struct Logs {
    /// `None` if there is no such log, which is not an empty one.
    pub citations: Option<Vec<Mention>>,
    pub feedback: Option<Vec<Mention>>,
    pub outcome: Option<Outcome>,
    /// What could not be read.
    pub unused: Vec<LeftAlone>,
}

/// The citation log as it is, for whoever reads more in it than mentions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CitationLog {
    /// Empty if there is none, or none that can be read.
    pub text: String,
    /// Why it cannot be read, if it is there and cannot.
    pub unread: Option<String>,
}

impl Logs {
    /// Reads the logs beneath `.agents/`; what is not there is `None`.
    pub fn read(agents: &Path) -> io::Result<Self> {
        let mut logs = Self::default();
        logs.citations = logs.lines(agents, CITATIONS)?;
        logs.feedback = logs.lines(agents, FEEDBACK)?;
        logs.outcome = logs.last_outcome(agents)?;
        Ok(logs)
    }

    pub fn citation_log(agents: &Path) -> io::Result<CitationLog> {
        Ok(match read_file(agents, CITATIONS, LOG_BYTES_MAX)? {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
                CitationLog { text, unread: None }
            }
            Err(why) => CitationLog { text: String::new(), unread: Some(citations_unread(&why)) },
        })
    }

    /// The citations, or why they are not known: a log that cannot be read may hold any.
    pub(crate) fn known_citations(&self) -> Result<&[Mention], String> {
        let unread = self.unused.iter().find(|left| left.path == CITATIONS);
        let unread = unread.filter(|_| !ao_mutant::active("RUN-07/unreadable-is-missing"));
        match (&self.citations, unread) {
            (Some(lines), _) => Ok(lines),
            (None, Some(left)) => Err(citations_unread(&left.why)),
            (None, None) => Err("there is no citation log".to_owned()),
        }
    }

    /// Whether a file is one of the two that get a line for each use of an entry.
    pub(crate) fn is_log(path: &str) -> bool {
        path == CITATIONS || path == FEEDBACK
    }

    /// Leaves out what was written down after a moment; a line without a time stays.
    pub fn only_until(&mut self, until: Timestamp) {
        for mentions in [&mut self.citations, &mut self.feedback].into_iter().flatten() {
            mentions.retain(|mention| mention.at.or(mention.cited_at).is_none_or(|at| at <= until));
        }
    }

    /// The same for the citation log as it is.
    pub fn log_until(log: &str, until: Timestamp) -> String {
        let is_later = |line: &str| {
            let line = mention(0, line.as_bytes()).ok();
            line.and_then(|one| one.cited_at.or(one.at)).is_some_and(|at| at > until)
        };
        log.split_inclusive('\n').filter(|line| !is_later(line)).collect()
    }

    fn lines(&mut self, agents: &Path, path: &str) -> io::Result<Option<Vec<Mention>>> {
        let Some(bytes) = self.bytes(agents, path)? else { return Ok(None) };
        let mut found = Vec::new();
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match mention(index + 1, line) {
                Ok(mention) => found.push(mention),
                Err(why) => {
                    let path = format!("{path}:{}", index + 1);
                    self.unused.push(LeftAlone { path, why, extra: Extra::new() });
                }
            }
        }
        Ok(Some(found))
    }

    fn last_outcome(&mut self, agents: &Path) -> io::Result<Option<Outcome>> {
        let Some(bytes) = self.bytes(agents, OUTCOME)? else { return Ok(None) };
        let outcome = serde_json::from_slice(&bytes)
            .map_err(|error| format!("is not JSON: {error}"))
            .and_then(|value: Value| {
                let session = value["session_id"].as_str().ok_or("names no session_id")?;
                let reward = value["reward"].as_f64().ok_or("has no reward")?;
                Ok(Outcome { session: session.to_owned(), reward: unit(reward)? })
            });
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(why) => {
                self.unused.push(LeftAlone { path: OUTCOME.into(), why, extra: Extra::new() });
                Ok(None)
            }
        }
    }

    fn bytes(&mut self, agents: &Path, path: &str) -> io::Result<Option<Vec<u8>>> {
        match read_file(agents, path, LOG_BYTES_MAX)? {
            Ok(bytes) => Ok(bytes),
            Err(why) => {
                self.unused.push(LeftAlone { path: path.into(), why, extra: Extra::new() });
                Ok(None)
            }
        }
    }
}

fn citations_unread(why: &str) -> String {
    format!("the citation log {why}")
}

/// The bytes of one file beneath `.agents/`, which is not followed if it is a link and not waited
/// for if it is a pipe; or why they cannot be had.
pub(crate) fn read_file(
    agents: &Path,
    path: &str,
    max_bytes: u64,
) -> io::Result<Result<Option<Vec<u8>>, String>> {
    let disk = Disk::open(agents)?;
    let mut dir = disk.top();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
        dir = match disk.open_dir(&dir, OsStr::new(folder)) {
            Ok(inner) => inner,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(None)),
            Err(error) => return Ok(Err(format!("cannot be opened: {error}"))),
        };
    }
    Ok(match disk.read(&dir, OsStr::new(name), max_bytes) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(format!("is larger than {max_bytes} bytes"))
        }
        Err(error) => Err(format!("cannot be read: {error}")),
    })
}

/// Fields that are added to a line after the event it tells of.
const ADDED_LATER: [&str; 5] =
    ["feedback_given", "feedback_reward", "utility_before", "utility_after", "feedback_at"];

fn mention(number: usize, line: &[u8]) -> Result<Mention, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("is longer than {LINE_BYTES_MAX} bytes"));
    }
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let fields: Extra =
        serde_json::from_slice(line).map_err(|error| format!("is not a JSON object: {error}"))?;
    let text =
        |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key)?.as_str()).map(str::to_owned);
    let number_of = |key: &str| fields.get(key).and_then(Value::as_f64);
    let entry = text(&["artifact_path", "entry", "learning_id"])
        .filter(|entry| !entry.trim().is_empty())
        .ok_or("names no entry")?;
    let time = |keys: &[&str]| text(keys).and_then(|at| at.trim().parse().ok());
    let kind = fields.get("citation_type").filter(|kind| kind.is_string());
    Ok(Mention {
        line: number,
        entry,
        workspace: text(&["workspace_path"]),
        session: text(&["session_id"]).filter(|session| !session.trim().is_empty()),
        at: time(&["feedback_at", "cited_at", "recorded_at", "at"]),
        cited_at: time(&["cited_at"]),
        kind: kind.and_then(|kind| serde_json::from_value(kind.clone()).ok()),
        query: text(&["query"]).filter(|query| !query.trim().is_empty()),
        match_confidence: number_of("match_confidence"),
        reward: reward(&fields)?,
        is_spent: number_of("utility_after").is_some(),
        key: key(&fields),
    })
}

fn reward(fields: &Extra) -> Result<Option<f64>, String> {
    let number = ["feedback_reward", "reward"].iter().find_map(|key| fields.get(*key)?.as_f64());
    let word = |key: &str, value: f64| fields.get(key)?.as_bool().filter(|is| *is).map(|_| value);
    number.or_else(|| word("helpful", 1.0)).or_else(|| word("harmful", 0.0)).map(unit).transpose()
}

fn unit(reward: f64) -> Result<f64, String> {
    match reward {
        0.0..=1.0 => Ok(reward),
        _ => Err(format!("has a reward of {reward}, which is not from 0 to 1")),
    }
}

/// Of the fields that the line was written with, in an order of their own.
fn key(fields: &Extra) -> String {
    let mut kept: Vec<_> =
        fields.iter().filter(|(key, _)| !ADDED_LATER.contains(&key.as_str())).collect();
    kept.sort_by_key(|(key, _)| key.as_str());
    let mut hash = blake3::Hasher::new();
    for (key, value) in kept {
        hash.update(format!("{}\n{value}\n", shown(key)).as_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_added_to_a_line_does_not_make_it_another_event() {
        let line = br#"{"artifact_path":"a","session_id":"s","cited_at":"2026-04-01T00:00:00Z","citation_type":"applied"}"#;
        let first = mention(1, line).unwrap();
        let later = br#"{"citation_type":"applied","artifact_path":"a","session_id":"s","cited_at":"2026-04-01T00:00:00Z","feedback_given":true,"feedback_reward":0.8}"#;
        let later = mention(9, later).unwrap();
        assert_eq!((&first.key, later.reward), (&later.key, Some(0.8)));
        let other = br#"{"artifact_path":"a","session_id":"t","cited_at":"2026-04-01T00:00:00Z","citation_type":"applied"}"#;
        assert_ne!(mention(1, other).unwrap().key, first.key);
    }

    #[test]
    fn lines_that_say_nothing_are_refused() {
        let lines: [&[u8]; 7] = [
            b"[]",
            b"{",
            b"{}",
            br#"{"artifact_path":" "}"#,
            br#"{"artifact_path":"a","reward":7}"#,
            br#"{"artifact_path":"a","reward":-1}"#,
            b"\xff\xfe",
        ];
        for line in lines {
            assert!(mention(1, line).is_err(), "{}", String::from_utf8_lossy(line));
        }
    }
}
