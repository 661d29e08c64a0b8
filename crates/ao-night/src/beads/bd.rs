//! The words of `bd`, and what it answers.
//!
//! Its JSON comes plain, or wrapped as `{"schema_version", "data"}`, or, from some versions, with a
//! list under `items`; all are read.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use ao_contract::{MorningPacket, Severity, WorkType};
use ao_guard::cell::{Caught, Finish, Limit, Limits};
use serde_json::{Value, json};

use super::text::Text;
use crate::host::Host;

/// Where a bead says which packet it is, and what the night last wrote into it.
const PACKET_KEY: &str = "dream_packet_id";
const MARK_KEY: &str = "dream_packet_text";
/// The mark of a bead that was there before its packet: no text has it, so its text stays its author's.
const MARK_OF_OTHERS: &str = "not-from-a-night";
const ID_CHARS_MAX: usize = 128;
/// What a note repeats of a complaint.
const COMPLAINT_CHARS_MAX: usize = 200;
/// What `bd` may know besides what every program in a cell does: where its settings are.
const GRANTED: [&str; 1] = ["XDG_CONFIG_HOME"];
/// A daemon of `bd` could neither be reached from a cell nor outlive it: it need not be waited for.
const NO_DAEMON: (&str, &str) = ("BEADS_NO_DAEMON", "1");
const GRANTED_PREFIXES: [&str; 2] = ["BEADS_", "BD_"];

/// What went wrong with one call.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) what: String,
    /// No further call is worth its time.
    pub(super) is_final: bool,
}

/// What `bd` tells of a bead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bead {
    pub(super) id: String,
    pub(super) is_closed: bool,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) packet: Option<String>,
    pub(super) mark: Option<String>,
}

impl Bead {
    /// Whether it was there before its packet, so that its text is nobody's to bring up to date.
    pub(super) fn is_of_others(&self) -> bool {
        self.mark.as_deref() == Some(MARK_OF_OTHERS)
    }
}

#[derive(Debug)]
pub(super) struct Bd<'a> {
    pub(super) host: &'a Host,
    pub(super) path: PathBuf,
    /// Its own folder, the one place that it may write.
    pub(super) folder: PathBuf,
    pub(super) call: Limits,
    pub(super) stop: &'a AtomicBool,
    /// So many processes it left behind; they were ended.
    pub(super) left_behind: Cell<u32>,
}

impl Bd<'_> {
    /// The bead of a packet. If there are several, an open one, and always the same.
    pub(super) fn look_up(&self, packet: &str) -> Result<Option<Bead>, Trouble> {
        let field = format!("{PACKET_KEY}={packet}");
        let answer = self.call("list", ["--metadata-field", &field, "--all", "--json"])?;
        let beads = read(&answer).ok_or_else(|| unreadable("list"))?;
        let is_it = |bead: &Bead| bead.packet.as_ref().is_none_or(|named| named == packet);
        Ok(beads
            .into_iter()
            .filter(is_it)
            .min_by(|a, b| (a.is_closed, &a.id).cmp(&(b.is_closed, &b.id))))
    }

    /// The bead of this id.
    pub(super) fn show(&self, id: &str) -> Result<Bead, Trouble> {
        let odd = |what: String| Trouble { what, is_final: false };
        let shown = ao_tree::shown(id);
        if !is_id(id) {
            return Err(odd(format!("`{shown}` is not an id of bd")));
        }
        let answer = self.call("show", [id, "--json"])?;
        let beads = read(&answer).ok_or_else(|| unreadable("show"))?;
        let found = beads.into_iter().find(|bead| bead.id == id);
        found.ok_or_else(|| odd(format!("bd has no bead {shown}")))
    }

    /// Links a bead that somebody else made to a packet. Its text stays theirs.
    pub(super) fn adopt(&self, id: &str, packet: &str) -> Result<(), Trouble> {
        let words = [
            format!("--set-metadata={PACKET_KEY}={packet}"),
            format!("--set-metadata={MARK_KEY}={MARK_OF_OTHERS}"),
        ];
        self.change(id, words)
    }

    /// Makes a bead; gives its id.
    pub(super) fn create(&self, packet: &MorningPacket, text: &Text) -> Result<String, Trouble> {
        let metadata = json!({ PACKET_KEY: packet.id, MARK_KEY: text.mark() });
        let words = [
            format!("--title={}", text.title),
            format!("--description={}", text.body),
            format!("--type={}", kind(packet)),
            format!("--priority={}", priority(packet)),
            format!("--metadata={metadata}"),
            "--json".to_owned(),
        ];
        let answer = self.call("create", words)?;
        match read(&answer).as_deref() {
            Some([bead]) => Ok(bead.id.clone()),
            _ => Err(unreadable("create")),
        }
    }

    /// Makes a bead say what its packet says now.
    pub(super) fn update(&self, id: &str, text: &Text) -> Result<(), Trouble> {
        let words = [
            format!("--title={}", text.title),
            format!("--description={}", text.body),
            format!("--set-metadata={MARK_KEY}={}", text.mark()),
        ];
        self.change(id, words)
    }

    fn change(&self, id: &str, words: impl IntoIterator<Item = String>) -> Result<(), Trouble> {
        let ends = ["--json", "--", id].map(str::to_owned);
        let answer = self.call("update", words.into_iter().chain(ends))?;
        match read(&answer).as_deref() {
            Some([bead]) if bead.id == id => Ok(()),
            _ => Err(unreadable("update")),
        }
    }

    fn call(
        &self,
        verb: &str,
        words: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Value, Trouble> {
        let may_see = |name: &str| {
            let is_its_own = GRANTED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
            GRANTED.contains(&name) || (is_its_own && name != NO_DAEMON.0)
        };
        let cells = &self.host.cells;
        let mut cell = cells.cell(self.path.clone());
        cell.arguments =
            [verb.into()].into_iter().chain(words.into_iter().map(Into::into)).collect();
        let known = self.host.environment.iter();
        let known = known.filter(|(name, _)| name.to_str().is_some_and(may_see));
        cell.environment.extend(known.cloned());
        cell.environment.push((NO_DAEMON.0.into(), NO_DAEMON.1.into()));
        cell.writable = vec![self.folder.clone()];
        cell.limits = self.call;
        let caught = cells.run(&cell, self.stop).map_err(|refusal| {
            let why = ao_tree::shown(&refusal.to_string());
            Trouble {
                what: format!("bd was not run: there is no cell for it: {why}"),
                is_final: true,
            }
        })?;
        self.left_behind.set(self.left_behind.get().saturating_add(caught.report.left_behind));
        let (what, is_final) = match caught.report.finish {
            Finish::Exited(0) => match serde_json::from_slice(&caught.stdout) {
                Ok(answer) => return Ok(answer),
                Err(_) => return Err(unreadable(verb)),
            },
            Finish::Exited(code) => (format!("failed with {code}{}", complaint(&caught)), false),
            Finish::Signalled(signal) => (format!("was ended by signal {signal}"), false),
            Finish::Ended(Limit::Output) => ("said too much and was ended".to_owned(), false),
            Finish::Ended(Limit::Time) => {
                let seconds = self.call.time.as_secs_f64();
                (format!("did not answer within {seconds} s and was ended"), true)
            }
            Finish::Ended(limit) => (format!("went over its bound of {limit} and was ended"), true),
            Finish::Exposed => {
                ("was ended, as a secret file came to be in the repository".to_owned(), true)
            }
            Finish::Stopped => ("was ended because the run is ending".to_owned(), true),
            Finish::Lost => ("was ended from outside".to_owned(), true),
        };
        Err(Trouble { what: format!("`bd {verb}` {what}"), is_final })
    }
}

fn unreadable(verb: &str) -> Trouble {
    let what = format!("`bd {verb}` gave an answer that cannot be read");
    Trouble { what, is_final: false }
}

/// The first line of what it complained about, with a colon before it.
fn complaint(ended: &Caught) -> String {
    let said = if ended.stderr.trim_ascii().is_empty() { &ended.stdout } else { &ended.stderr };
    let text = match serde_json::from_slice::<Value>(said) {
        Ok(Value::Object(fields)) => match fields.get("error") {
            Some(Value::String(error)) => error.clone(),
            _ => String::new(),
        },
        _ => String::from_utf8_lossy(said).into_owned(),
    };
    let text = ao_vault::said(text.as_bytes());
    match text.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => {
            let line: String = line.chars().take(COMPLAINT_CHARS_MAX).collect();
            format!(": {}", ao_tree::shown(&line))
        }
        None => String::new(),
    }
}

fn kind(packet: &MorningPacket) -> &'static str {
    match packet.kind.known() {
        Some(WorkType::Bug) => "bug",
        Some(WorkType::Feature) => "feature",
        Some(WorkType::TechDebt) => "chore",
        _ => "task",
    }
}

/// From 0, the highest.
fn priority(packet: &MorningPacket) -> u8 {
    match packet.severity.rank() {
        Severity::Critical => 0,
        Severity::High => 1,
        Severity::Medium => 2,
        Severity::Low => 3,
    }
}

/// The beads of an answer, whatever it is wrapped in; none if it is something else.
fn read(answer: &Value) -> Option<Vec<Bead>> {
    match answer {
        Value::Null => Some(Vec::new()),
        Value::Array(rows) => rows.iter().map(bead).collect(),
        Value::Object(fields) if fields.contains_key("id") => bead(answer).map(|one| vec![one]),
        Value::Object(fields) => match ["data", "items", "issues"].map(|key| fields.get(key)) {
            [Some(inner), ..] | [None, Some(inner), _] | [None, None, Some(inner)] => read(inner),
            [None, None, None] => None,
        },
        Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn bead(row: &Value) -> Option<Bead> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let metadata = |key: &str| row.get("metadata")?.get(key)?.as_str().map(str::to_owned);
    let id = text("id").filter(|id| is_id(id))?;
    Some(Bead {
        id,
        is_closed: matches!(text("status").as_deref(), Some("closed" | "tombstone")),
        title: text("title"),
        description: text("description"),
        packet: metadata(PACKET_KEY),
        mark: metadata(MARK_KEY),
    })
}

/// An id goes into reports and onto command lines: it is a plain word, or it is none.
fn is_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    id.len() <= ID_CHARS_MAX
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(answer: &Value) -> Option<Vec<String>> {
        read(answer).map(|beads| beads.into_iter().map(|bead| bead.id).collect())
    }

    #[test]
    fn every_shape_of_an_answer_is_read() {
        let row = json!({ "id": "na-1", "title": "a" });
        let list = json!([row]);
        let wrapped = json!({ "schema_version": 1, "data": list });
        let one_wrapped = json!({ "schema_version": 1, "data": row });
        let items = json!({ "schema_version": 1, "items": list });
        let versioned = json!({ "schema_version": 1, "id": "na-1", "data": "a field of its own" });
        for answer in [&row, &list, &wrapped, &one_wrapped, &items, &versioned] {
            assert_eq!(ids(answer), Some(vec!["na-1".to_owned()]), "{answer}");
        }
        for answer in [json!(null), json!([]), json!({ "schema_version": 1, "data": null })] {
            assert_eq!(ids(&answer), Some(Vec::new()), "{answer}");
        }
    }

    #[test]
    fn what_is_no_bead_is_no_answer() {
        let bad = ["", "-rf", "a b", "a\nb", "../x", "a/b", "é", &"a".repeat(129)];
        for id in bad {
            assert_eq!(ids(&json!([{ "id": id }])), None, "{id:?}");
        }
        for answer in [json!({}), json!("na-1"), json!([7]), json!({ "error": "no" })] {
            assert_eq!(ids(&answer), None, "{answer}");
        }
    }
}
