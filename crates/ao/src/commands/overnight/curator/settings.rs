//! The curator's settings: the environment over the user's own file, and what a repository may add.
//!
//! A repository may switch it off, lower the cap, allow fewer kinds of jobs and name a model. An endpoint counts only
//! if it is this machine's own, and a folder only if it lies in the repository: otherwise a repository could
//! send what people wrote to a host of its choosing, or have files written anywhere.

use std::path::{Path, PathBuf};

use ao_contract::{CuratorConfig, JobKind};
use ao_corpus::harvest::{self, Source};
use ao_night::curator::{DRAFTS, Settings, Worker};
use ao_runner::http::Address;

use super::failure;
use crate::cli::Global;
use crate::config::{self, ConfigLayer, Whose};
use crate::failure::Failure;
use crate::printer::{DOUBT, Printer, paint};
use crate::repo::Repo;

/// Where a setting counts that a repository may not make.
pub(super) const REMEDY: &str = "set it in ~/.agentops/config.yaml";

#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) settings: Settings,
    /// What the repository said and does not count, in words.
    pub(crate) left_out: Vec<String>,
}

pub(crate) fn resolve(repo: &Repo) -> Result<Resolved, Failure> {
    let mut user = CuratorConfig::default();
    let mut own = CuratorConfig::default();
    for ConfigLayer { whose, config, .. } in config::layers(&repo.root)? {
        let said = config.dream.local_curator;
        match whose {
            Whose::User => user = over(said, user),
            Whose::Repository => own = said,
        }
    }
    let places = Places { root: repo.canonical(), home: home() };
    let mut left_out = Vec::new();
    let admitted = admitted(own, &places, &mut left_out);
    let said = merged(admitted, user);
    let defaults = Settings::default();
    let settings = Settings {
        is_enabled: said.enabled.unwrap_or(true),
        engine: said.engine.unwrap_or(defaults.engine),
        url: said.ollama_url.unwrap_or(defaults.url),
        model: said.model,
        worker_dir: said.worker_dir.map(|name| places.of(&name)),
        vault_dir: said
            .vault_dir
            .filter(|_| !ao_mutant::active("CUR-01/vault-is-ignored"))
            .map(|name| places.of(&name)),
        hourly_cap: said.hourly_cap.unwrap_or(defaults.hourly_cap),
        allowed: said.allowed_job_kinds.unwrap_or(defaults.allowed),
    };
    Ok(Resolved { settings, left_out })
}

/// The drafts that INGEST may take in, if there are any.
pub(crate) fn drafts(repo: &Repo, printer: &Printer) -> Result<Option<Source>, Failure> {
    let settings = noted(repo, printer)?;
    if ao_mutant::active("CUR-01/must-be-configured") && !settings.is_configured() {
        return Err(failure::of(&ao_night::curator::Error::NoWorkerDir));
    }
    let worker_dir = settings.worker_dir.filter(|_| settings.is_enabled);
    Ok(worker_dir.and_then(|place| harvest::drafts(&place, DRAFTS, "curator")))
}

/// The settings; what of the repository's does not count is told.
pub(super) fn noted(repo: &Repo, printer: &Printer) -> Result<Settings, Failure> {
    let Resolved { settings, left_out } = resolve(repo)?;
    warn(&left_out, printer);
    Ok(settings)
}

fn warn(left_out: &[String], printer: &Printer) {
    for left in left_out {
        printer.note(&format!("{} {left}; {REMEDY}", paint(DOUBT, "warning:")));
    }
}

/// The settings, and the directory that they name.
pub(super) fn open(global: &Global, printer: &Printer) -> Result<(Settings, Worker), Failure> {
    let settings = noted(&Repo::find(global)?, printer)?;
    let worker = Worker::open(&settings).map_err(|error| failure::of(&error))?;
    Ok((settings, worker))
}

/// Where a name in the configuration leads.
struct Places {
    root: PathBuf,
    home: Option<PathBuf>,
}

impl Places {
    /// From home, or else from the repository.
    fn of(&self, name: &str) -> PathBuf {
        match (name.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.root.join(name),
        }
    }

    /// Whether it lies in the repository, with every link followed.
    fn is_inside(&self, name: &str) -> bool {
        let place = self.of(name);
        let has_above = place.components().any(|part| part == std::path::Component::ParentDir);
        let there = place.ancestors().find(|above| above.symlink_metadata().is_ok());
        let real = there.and_then(|there| there.canonicalize().ok());
        !has_above && place != self.root && real.is_some_and(|real| real.starts_with(&self.root))
    }
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// What of a repository's settings counts.
fn admitted(own: CuratorConfig, places: &Places, left_out: &mut Vec<String>) -> CuratorConfig {
    let mut leave = |key: &str, value: &str, why: &str| {
        let value = ao_tree::shown(value);
        left_out.push(format!(
            "the repository's own dream.local_curator.{key} is refused: {value} {why}"
        ));
    };
    let mut folder = |key: &str, name: Option<String>| {
        let name = said(name)?;
        if places.is_inside(&name) {
            return Some(name);
        }
        leave(key, &name, "lies outside of the repository");
        None
    };
    let worker_dir = folder("worker_dir", own.worker_dir);
    let vault_dir = folder("vault_dir", own.vault_dir);
    let ollama_url = said(own.ollama_url).filter(|url| {
        let is_here = url.parse::<Address>().is_ok_and(|one| one.is_this_machine());
        if !is_here {
            leave("ollama_url", url, "is another machine");
        }
        is_here
    });
    CuratorConfig { worker_dir, vault_dir, ollama_url, ..own }
}

/// The user's own word, or else the repository's; of limits the stricter one.
fn merged(own: CuratorConfig, user: CuratorConfig) -> CuratorConfig {
    let kinds = |user: Vec<JobKind>, own: &[JobKind]| {
        user.into_iter().filter(|kind| own.contains(kind)).collect()
    };
    CuratorConfig {
        enabled: match (own.enabled, user.enabled) {
            (Some(false), _) => Some(false),
            (own, user) => user.or(own),
        },
        engine: said(user.engine).or(said(own.engine)),
        ollama_url: said(user.ollama_url).or(own.ollama_url),
        // What is nearer to the notes knows better which model is meant.
        model: said(own.model).or(said(user.model)),
        worker_dir: said(user.worker_dir).or(own.worker_dir),
        vault_dir: said(user.vault_dir).or(own.vault_dir),
        hourly_cap: match (own.hourly_cap, user.hourly_cap) {
            (Some(own), Some(user)) => Some(own.min(user)),
            (own, user) => own.or(user),
        },
        allowed_job_kinds: match (own.allowed_job_kinds, user.allowed_job_kinds) {
            (Some(own), Some(user)) => Some(kinds(user, &own)),
            (own, user) => own.or(user),
        },
    }
}

/// An empty word says nothing.
fn said(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// What the user says in one place, over what is said in a weaker one.
fn over(stronger: CuratorConfig, weaker: CuratorConfig) -> CuratorConfig {
    CuratorConfig {
        enabled: stronger.enabled.or(weaker.enabled),
        engine: said(stronger.engine).or(weaker.engine),
        ollama_url: said(stronger.ollama_url).or(weaker.ollama_url),
        model: said(stronger.model).or(weaker.model),
        worker_dir: said(stronger.worker_dir).or(weaker.worker_dir),
        vault_dir: said(stronger.vault_dir).or(weaker.vault_dir),
        hourly_cap: stronger.hourly_cap.or(weaker.hourly_cap),
        allowed_job_kinds: stronger.allowed_job_kinds.or(weaker.allowed_job_kinds),
    }
}

/// A kind of job by its name.
pub(super) fn kind(text: &str) -> Result<JobKind, String> {
    let found = JobKind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| {
        let names: Vec<&str> = JobKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("there is no such kind of job; there are {}", names.join(", "))
    })
}

/// An absolute path, for a file that is written down.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        Failure::usage(format!("{}: {error}", ao_tree::shown(&path.to_string_lossy())))
    })
}
