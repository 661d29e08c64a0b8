//! Lessons as pending learnings, each once.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ao_contract::{
    ChangeStatus, Extra, LeftAlone, Lesson, NightTranscripts, SchemaVersion, Signals, Taken,
    TakenFrom, TakenLesson, TranscriptSource,
};
use ao_tree::Edit;
use jiff::civil::Date;
use serde_json::Value;

use crate::corpus::Corpus;
use crate::document::{Document, Form, day};
use crate::names::{Names, slug};
use crate::pending::TAKEN_ON;
use crate::propose::Group;
use crate::taken::Ledger;
use crate::whereabouts::Whereabouts;

const FOLDER: &str = "knowledge/pending";
/// The key that says which lesson an entry was made of.
pub(crate) const HASH: &str = "transcript_hash";
/// Entries and what is written down of them.
const GROUP: Group<'_> = Group("transcripts");

#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// RFC 3339, UTC.
    pub now: &'a str,
    /// Lessons, by their places, and paths that the door would not let change.
    pub except: BTreeSet<String>,
    /// No more than so many at once; the rest is for the next time.
    pub limit: usize,
}

/// What taking lessons would change, and why.
#[derive(Debug)]
pub struct Taking {
    pub edits: Vec<Edit>,
    sources: Vec<TranscriptSource>,
    taken: Vec<TakenLesson>,
    skipped: Vec<LeftAlone>,
    waiting: u64,
}

/// The lessons that were not taken before, `limit` of them at most, and how many more there are.
pub(super) fn offer(
    lessons: Vec<Lesson>,
    corpus: &Corpus,
    ledger: &Ledger,
    limit: usize,
) -> (Vec<Lesson>, u64) {
    let known = known(corpus);
    let is_new = |lesson: &Lesson| {
        ledger.entry(TakenFrom::Transcripts, &lesson.key).is_none() && !known.contains(&lesson.key)
    };
    let mut lessons: Vec<Lesson> = lessons.into_iter().filter(is_new).collect();
    let waiting = lessons.len().saturating_sub(limit) as u64;
    lessons.truncate(limit);
    (lessons, waiting)
}

/// Makes pending learnings of what is told. `corpus` is this repository's, with the folders of
/// [`crate::CLOSED`], and `ledger` of the same tree.
pub fn take(
    corpus: &Corpus,
    told: &NightTranscripts,
    mut ledger: Ledger,
    settings: &Settings<'_>,
) -> Taking {
    let whereabouts = Whereabouts::of(corpus);
    let mut names = Names::of(corpus, &whereabouts);
    let known = known(corpus);
    // Where lessons are to wait, they wait from today on. What a transcript says of its day counts for its entry
    // alone, and not if that day is still to come.
    let today = day(settings.now);
    let mut taking = Taking {
        edits: Vec::new(),
        sources: told.sources.clone(),
        taken: Vec::new(),
        skipped: Vec::new(),
        waiting: told.waiting,
    };
    for lesson in &told.lessons {
        if ledger.entry(TakenFrom::Transcripts, &lesson.key).is_some()
            || known.contains(&lesson.key)
        {
            continue;
        }
        if taking.taken.len() >= settings.limit {
            taking.waiting += 1;
            continue;
        }
        let origin = lesson.place();
        if settings.except.contains(&origin) {
            taking.skip(origin, "it cannot be written here".to_owned());
            continue;
        }
        let Some(today) = today else {
            taking.skip(origin, "no day is known for its name".to_owned());
            continue;
        };
        let date = lesson.date.as_deref().and_then(day).map_or(today, |date| date.min(today));
        let lesson = &Lesson { date: Some(date.to_string()), ..lesson.clone() };
        let document = match draft(lesson, date, today) {
            Ok(document) => document,
            Err(why) => {
                taking.skip(origin, why);
                continue;
            }
        };
        let stem = format!("{date}-{}", slug(&lesson.title, lesson.kind.name()));
        let path = names.unique(FOLDER, &stem, "md", &lesson.key);
        let reason = format!("a {} in a transcript of {}", lesson.kind.name(), lesson.maker.name());
        taking.edits.push(GROUP.add(&path, document.bytes(), &reason, &[&origin]));
        ledger.add(Taken {
            key: lesson.key.clone(),
            from: TakenFrom::Transcripts,
            entry: path.clone(),
            at: settings.now.to_owned(),
            reward: None,
            sources: Vec::new(),
            origin: Some(origin),
            extra: Extra::new(),
        });
        taking.taken.push(TakenLesson { path, lesson: lesson.clone(), extra: Extra::new() });
    }
    taking.edits.extend(ledger.edits(GROUP));
    taking
}

impl Taking {
    /// What is offered, of what was found.
    pub fn offered(
        found: super::Found,
        corpus: &Corpus,
        ledger: &Ledger,
        limit: usize,
    ) -> NightTranscripts {
        let (lessons, waiting) = offer(found.lessons, corpus, ledger, limit);
        NightTranscripts { sources: found.sources, lessons, waiting, extra: Extra::new() }
    }

    fn skip(&mut self, path: String, why: String) {
        self.skipped.push(LeftAlone { path, why, extra: Extra::new() });
    }

    pub fn taken(&self) -> &[TakenLesson] {
        &self.taken
    }

    pub fn sources(&self) -> &[TranscriptSource] {
        &self.sources
    }

    pub fn skipped(&self) -> &[LeftAlone] {
        &self.skipped
    }

    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Takes back what is told of edits that were not made; all of them are one group.
    pub fn hold_back(&mut self, paths: &BTreeSet<String>) {
        if self.edits.iter().any(|edit| paths.contains(&edit.path)) {
            self.taken.clear();
        }
    }

    /// The result as it is published, once it is known what became of the edits.
    pub fn report(&self, status: ChangeStatus, id: Option<String>) -> Signals {
        Signals {
            schema_version: SchemaVersion,
            status,
            id,
            sources: self.sources.clone(),
            taken: self.taken.clone(),
            skipped: self.skipped.clone(),
            waiting: self.waiting,
            extra: Extra::new(),
        }
    }
}

/// The lessons that entries were made of, also those that a merge kept of another entry: whoever lost the
/// ledger still knows these.
fn known(corpus: &Corpus) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for entry in &corpus.entries {
        if memchr::memmem::find(entry.document.bytes(), HASH.as_bytes()).is_some() {
            hashes(&Value::Object(entry.document.fields().into_owned()), &mut known);
        }
    }
    known
}

fn hashes(value: &Value, known: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(hash) if key == HASH => drop(known.insert(hash.clone())),
                    _ => hashes(value, known),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| hashes(item, known)),
        _ => {}
    }
}

/// What the agent had said before is left out: the entry would be found by it, and tell a model's words, or
/// the very thing that was corrected, as its own.
fn draft(lesson: &Lesson, date: Date, today: Date) -> Result<Document, String> {
    let mut body = format!("# {}\n\n{}\n", lesson.title, lesson.claim);
    let (kind, file, line) = (lesson.kind.name(), &lesson.file, lesson.line);
    let _ = write!(body, "\n## Source\n\nA {kind} in `{file}`, line {line}.\n");
    let empty = Document::parse(Form::Markdown, body.into_bytes())?;
    let mut draft = empty.draft();
    draft
        .set("type", "learning")
        .set("date", date.to_string())
        .set(TAKEN_ON, today.to_string())
        .set("trust", lesson.trust.name())
        .set("source", lesson.place())
        .set("transcript_kind", lesson.kind.name())
        .set(HASH, lesson.key.as_str());
    if let Some(session) = &lesson.session {
        draft.set("source_session", ao_tree::shown(session));
    }
    draft.finish().map_err(|error| error.to_string())
}
