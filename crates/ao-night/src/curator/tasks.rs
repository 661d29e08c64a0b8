//! One job, done. Whatever comes of it lies in the worker's directory; the notes and the corpus are only read.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ao_contract::{
    CuratorJob, CuratorLearnings, CuratorSeeds, Extra, JobKind, JobOutcome, JobStatus,
};
use ao_corpus::Document;
use ao_runner::wrap::Nonce;
use ao_runner::{Failure, Material, Request, Runner, ask};
use ao_vault::{Ansi, out, redactor};
use jiff::Timestamp;
use serde_json::Value;

use super::draft::{self, DRAFTS, Origin, Quote};
use super::error::{Error, io};
use super::queue::at;
use super::transcript::{self, Chunk, clean};
use super::vault::{self, Note, Vault};
use super::{Settings, Worker, lint, prompts};

const FINDINGS: &str = "findings";
/// A model is shown so many notes, the newest first.
const NOTES_MAX: usize = 12;
const NOTE_CHARS_MAX: usize = 2000;
/// Shorter words stand in every text.
const QUOTE_CHARS_MIN: usize = 12;

/// Why a job was not done.
#[derive(Debug)]
pub(super) enum Fault {
    /// It counts: the job is tried once more, or failed.
    Job(String),
    /// Nobody could be asked: the job waits, and so do the others that need the engine.
    Away(String),
    Stopped,
}

/// Everything that a job needs.
pub(super) struct Bench<'a> {
    pub(super) worker: &'a Worker,
    pub(super) settings: &'a Settings,
    pub(super) engine: Option<&'a dyn Runner>,
    pub(super) nonce: &'a dyn Fn() -> Option<Nonce>,
    pub(super) stop: &'a AtomicBool,
}

/// Whether what a job works on is there; the error says what is missing.
pub(super) fn is_fit(job: &CuratorJob, settings: &Settings) -> Result<(), Error> {
    match (job.kind, &job.source) {
        (JobKind::IngestClaudeSession, _) | (JobKind::DreamSeed, Some(_)) => Ok(()),
        (JobKind::LintWiki | JobKind::DreamSeed, _) => vault::place(settings).map(|_| ()),
    }
}

impl Bench<'_> {
    pub(super) fn run(&self, job: &CuratorJob, now: Timestamp) -> Result<JobOutcome, Fault> {
        match job.kind {
            JobKind::LintWiki => self.lint(job, now),
            JobKind::DreamSeed => self.seed(job, now),
            JobKind::IngestClaudeSession => self.ingest(job, now),
        }
    }

    fn lint(&self, job: &CuratorJob, now: Timestamp) -> Result<JobOutcome, Fault> {
        let folder = vault::place(self.settings).map_err(fault)?;
        let found = lint(folder, &job.id, now).map_err(fault)?;
        let name = format!("{FINDINGS}/{}.json", job.id);
        self.worker.folder(FINDINGS).map_err(fault)?;
        let bytes = redactor().json(&found).map_err(|error| Fault::Job(error.to_string()))?;
        let is_astray = ao_mutant::active("CUR-07/findings-go-to-the-notes");
        let path = if is_astray { folder.join("findings.md") } else { self.worker.path(&name) };
        out::replace_file(&path, &bytes)
            .map_err(|error| fault(io(format!("write {name}"))(error)))?;
        Ok(JobOutcome { faults: Some(found.total), ..outcome(vec![name]) })
    }

    fn ingest(&self, job: &CuratorJob, now: Timestamp) -> Result<JobOutcome, Fault> {
        let source = job.source.as_ref().ok_or_else(|| Fault::Job("it names no source".into()))?;
        let Chunk { text, hash, is_cut } = transcript::session(source).map_err(Fault::Job)?;
        let name = format!("{} {}-{}", source.path, source.chunk_start, source.chunk_end);
        let material = vec![Material { label: "a part of a session".into(), text: text.clone() }];
        let value = self.ask(&prompts::learnings(material))?;
        let answer: CuratorLearnings =
            ao_contract::read(&value).map_err(|error| Fault::Job(error.to_string()))?;
        let origin = Origin {
            job: &job.id,
            engine: &self.engine_name(),
            at: &at(now),
            sources: &[name],
            hash: &hash,
            is_cut,
        };
        let mut drafts = Vec::new();
        for (number, drafted) in answer.learnings.iter().enumerate() {
            let quote = quoted(&drafted.quote, &text);
            let made = draft::learning(drafted, quote, &origin).map_err(Fault::Job)?;
            drafts.push((format!("{}-{}.md", job.id, number + 1), made));
        }
        self.leave(job, &drafts)
    }

    fn seed(&self, job: &CuratorJob, now: Timestamp) -> Result<JobOutcome, Fault> {
        let (material, hash, is_cut) = match &job.source {
            Some(source) => {
                let chunk = transcript::text(source).map_err(Fault::Job)?;
                let label = format!("{} {}-{}", source.path, source.chunk_start, source.chunk_end);
                (vec![Material { label, text: chunk.text }], chunk.hash, chunk.is_cut)
            }
            None => self.notes()?,
        };
        let sources: Vec<String> = material.iter().map(|piece| piece.label.clone()).collect();
        let value = self.ask(&prompts::seeds(material))?;
        let answer: CuratorSeeds =
            ao_contract::read(&value).map_err(|error| Fault::Job(error.to_string()))?;
        let origin = Origin {
            job: &job.id,
            engine: &self.engine_name(),
            at: &at(now),
            sources: &sources,
            hash: &hash,
            is_cut,
        };
        let made = draft::seeds(&answer, &origin).map_err(Fault::Job)?;
        self.leave(job, &[(format!("{}.md", job.id), made)])
    }

    /// The newest notes of the vault, by their own dates and then by their paths.
    fn notes(&self) -> Result<(Vec<Material>, String, bool), Fault> {
        let vault = Vault::read(vault::place(self.settings).map_err(fault)?).map_err(fault)?;
        let date = |note: &Note| note.document.day("date").or_else(|| ao_corpus::day(note.stem()));
        let is_told = |note: &&Note| {
            !note.document.body().trim().is_empty()
                && ao_corpus::looks_secret(note.text()).is_none()
        };
        let mut notes: Vec<&Note> = vault.notes.iter().filter(is_told).collect();
        notes.sort_by(|a, b| date(b).cmp(&date(a)).then_with(|| a.path.cmp(&b.path)));
        let is_cut = notes.len() > NOTES_MAX;
        notes.truncate(NOTES_MAX);
        if notes.is_empty() {
            return Err(Fault::Job("the vault holds no note to think about".into()));
        }
        let mut hasher = blake3::Hasher::new();
        let mut material = Vec::new();
        for note in notes {
            hasher.update(note.document.bytes());
            let text: String = note.document.body().chars().take(NOTE_CHARS_MAX).collect();
            material.push(Material { label: ao_tree::shown(&note.path), text: clean(&text) });
        }
        Ok((material, hasher.finalize().to_hex().to_string(), is_cut))
    }

    fn ask(&self, request: &Request) -> Result<Value, Fault> {
        let runner = self.engine.ok_or_else(|| Fault::Away("there is no engine".into()))?;
        let nonce = (self.nonce)().ok_or_else(|| Fault::Away("no random bytes".into()))?;
        let answer = ask(runner, request, &nonce, self.stop).map_err(|failure| {
            let why = format!("{}: {failure}", failure.kind());
            match failure {
                Failure::Stopped => Fault::Stopped,
                Failure::Missing(_)
                | Failure::NotLoggedIn(_)
                | Failure::RateLimited { .. }
                | Failure::NotStarted(_) => Fault::Away(why),
                _ => Fault::Job(why),
            }
        })?;
        Ok(answer.value)
    }

    fn engine_name(&self) -> String {
        let name = self.engine.map_or("none", Runner::name);
        match &self.settings.model {
            Some(model) => format!("{name}/{model}"),
            None => name.to_owned(),
        }
    }

    /// Writes the drafts of a job. Those of an earlier try that was killed go.
    fn leave(&self, job: &CuratorJob, drafts: &[(String, Document)]) -> Result<JobOutcome, Fault> {
        let folder = self.worker.folder(DRAFTS).map_err(fault)?;
        let mut wrote = Vec::new();
        for (name, document) in drafts {
            let bytes = redactor().bytes(document.bytes(), Ansi::Strip);
            write_draft(&folder, name, &bytes)?;
            wrote.push(format!("{DRAFTS}/{name}"));
        }
        let start = format!("{}-", job.id);
        let mut old = self.worker.files(DRAFTS, ".md").map_err(fault)?.names;
        old.retain(|name| name.starts_with(&start) && !drafts.iter().any(|(new, _)| new == name));
        if !old.is_empty() {
            ao_tree::remove_all(&folder, &old)
                .map_err(|error| fault(io(format!("clear {DRAFTS}"))(error)))?;
        }
        Ok(outcome(wrote))
    }
}

fn write_draft(
    folder: &Path,
    name: &str,
    bytes: &ao_vault::Redacted<Vec<u8>>,
) -> Result<(), Fault> {
    out::replace_file(&folder.join(name), bytes)
        .map_err(|error| fault(io(format!("write {DRAFTS}/{name}"))(error)))
}

fn outcome(wrote: Vec<String>) -> JobOutcome {
    JobOutcome { status: JobStatus::Done, wrote, faults: None, why: None, extra: Extra::new() }
}

/// Words alone are compared: a model breaks lines where it likes.
fn quoted(quote: &str, text: &str) -> Quote {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let quote = words(quote);
    let is_there = quote.chars().count() >= QUOTE_CHARS_MIN && words(text).contains(&quote);
    if is_there { Quote::Found } else { Quote::NotFound }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn fault(error: Error) -> Fault {
    Fault::Job(error.to_string())
}
