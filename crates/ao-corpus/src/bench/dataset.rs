//! Labelled sets: documents, queries and what is right for each.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use ao_tree::own_file;
use serde_json::Value;

use super::measures::Measures;
use crate::index::{Facts, Index, Question, Text};
use crate::search::{Asking, search};

/// Mean average precision looks this deep.
pub const DEPTH: usize = 1000;
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What is wrong with a set, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {why}", if *line > 0 { format!(", line {line}") } else { String::new() })]
pub struct BadSet {
    pub file: &'static str,
    /// 0 for the file as a whole.
    pub line: usize,
    pub why: String,
}

struct Asked {
    id: String,
    text: String,
    group: Option<String>,
}

/// A set in memory.
pub struct Dataset {
    /// By group: id, title, text.
    documents: BTreeMap<Option<String>, BTreeMap<String, (String, String)>>,
    /// In the order of their ids.
    queries: Vec<Asked>,
    right: BTreeMap<String, BTreeMap<String, f64>>,
}

impl std::fmt::Debug for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dataset").field("queries", &self.queries.len()).finish_non_exhaustive()
    }
}

/// What a set scored.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetScore {
    pub documents: u64,
    pub queries: u64,
    /// Queries that nothing is right for.
    pub left_out: u64,
    pub mean: Measures,
}

impl Dataset {
    pub fn read(dir: &Path) -> Result<Self, BadSet> {
        let mut documents: BTreeMap<_, BTreeMap<String, (String, String)>> = BTreeMap::new();
        let mut ids = BTreeSet::new();
        each_line(dir, "corpus.jsonl", |value| {
            let id = name(value, "_id")?;
            if !ids.insert(id.clone()) {
                return Err(format!("the id {id:?} is there twice"));
            }
            let (title, body) = (text(value, "title")?, text(value, "text")?);
            documents.entry(group(value)?).or_default().insert(id, (title, body));
            Ok(())
        })?;
        let mut queries = BTreeMap::new();
        each_line(dir, "queries.jsonl", |value| {
            let id = name(value, "_id")?;
            let asked = Asked { id: id.clone(), text: text(value, "text")?, group: group(value)? };
            match queries.insert(id, asked) {
                Some(asked) => Err(format!("the id {:?} is there twice", asked.id)),
                None => Ok(()),
            }
        })?;
        let mut right: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
        each_line(dir, "qrels.jsonl", |value| {
            let (query, document) = (name(value, "qid")?, name(value, "did")?);
            if !queries.contains_key(&query) {
                return Err(format!("there is no query {query:?}"));
            }
            if !ids.contains(&document) {
                return Err(format!("there is no document {document:?}"));
            }
            let label = value.get("rel").and_then(Value::as_f64).ok_or("`rel` is not a number")?;
            match right.entry(query).or_default().insert(document, label) {
                Some(other) if other.total_cmp(&label).is_ne() => {
                    Err("the same query and document have another `rel` above".into())
                }
                _ => Ok(()),
            }
        })?;
        for labels in right.values_mut() {
            labels.retain(|_, label| *label > 0.0);
        }
        Ok(Self { documents, queries: queries.into_values().collect(), right })
    }

    /// Asks every query, with the ranking that search has.
    pub fn score(&self) -> Result<DatasetScore, BadSet> {
        let none = BTreeMap::new();
        let right = |asked: &Asked| self.right.get(&asked.id).unwrap_or(&none);
        let mut by_group: BTreeMap<&Option<String>, Vec<&Asked>> = BTreeMap::new();
        for asked in self.queries.iter().filter(|asked| !right(asked).is_empty()) {
            by_group.entry(&asked.group).or_default().push(asked);
        }
        let mut measured = BTreeMap::new();
        for (group, asked) in by_group {
            let index = self.index(group.as_ref())?;
            let scores = crate::files::in_parallel(&asked, |asked| {
                let asking = Asking { limit: DEPTH, as_of: None };
                let hits = search(&index, &Question::new(&asked.text), asking).ok()?;
                let ranking: Vec<String> = hits.into_iter().map(|hit| hit.path).collect();
                Some(Measures::of(&ranking, right(asked)))
            });
            for (asked, score) in asked.iter().zip(scores) {
                measured.insert(&asked.id, score.ok_or_else(broken)?);
            }
        }
        if measured.is_empty() {
            let why = "no query has anything that is right for it".to_owned();
            return Err(BadSet { file: "qrels.jsonl", line: 0, why });
        }
        Ok(DatasetScore {
            documents: self.documents.values().map(|group| group.len() as u64).sum(),
            queries: measured.len() as u64,
            left_out: (self.queries.len() - measured.len()) as u64,
            mean: Measures::mean(measured.values()),
        })
    }

    fn index(&self, group: Option<&String>) -> Result<Index, BadSet> {
        let none = BTreeMap::new();
        let documents = self.documents.get(&group.cloned()).unwrap_or(&none);
        let bodies: Vec<[&str; 1]> = documents.values().map(|(_, body)| [body.as_str()]).collect();
        let texts = documents.iter().zip(&bodies).map(|((id, (title, _)), body)| {
            (id.clone(), Facts::default(), Text { title, tags: "", body })
        });
        Index::of_texts(texts).map_err(|_| broken())
    }
}

/// An index that was never written cannot be broken; should it be, nothing is scored.
fn broken() -> BadSet {
    BadSet { file: "corpus.jsonl", line: 0, why: "cannot be indexed".into() }
}

fn each_line(
    dir: &Path,
    file: &'static str,
    mut take: impl FnMut(&Value) -> Result<(), String>,
) -> Result<(), BadSet> {
    let bad = |line: usize, why: String| BadSet { file, line, why };
    let opened =
        own_file::open_named(&dir.join(file)).map_err(|error| bad(0, error.to_string()))?;
    let mut reader = BufReader::new(opened);
    let mut count = 0;
    for number in 1.. {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(|error| bad(number, error.to_string()))? == 0 {
            break;
        }
        if line.len() as u64 >= LINE_BYTES_MAX {
            return Err(bad(number, format!("longer than {LINE_BYTES_MAX} bytes")));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let value: Value =
            serde_json::from_slice(&line).map_err(|error| bad(number, error.to_string()))?;
        take(&value).map_err(|why| bad(number, why))?;
        count += 1;
    }
    if count == 0 { Err(bad(0, "is empty".into())) } else { Ok(()) }
}

/// An id: a text or a whole number.
fn name(value: &Value, key: &str) -> Result<String, String> {
    match value.get(key) {
        Some(Value::String(name)) if !name.is_empty() => Ok(name.clone()),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        Some(_) => Err(format!("`{key}` is no id")),
        None => Err(format!("`{key}` is missing")),
    }
}

fn text(value: &Value, key: &str) -> Result<String, String> {
    match value.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        // A document without a title is one.
        None | Some(Value::Null) if key == "title" => Ok(String::new()),
        Some(_) => Err(format!("`{key}` is no text")),
        None => Err(format!("`{key}` is missing")),
    }
}

fn group(value: &Value) -> Result<Option<String>, String> {
    match value.get("group") {
        None | Some(Value::Null) => Ok(None),
        Some(_) => name(value, "group").map(Some),
    }
}
