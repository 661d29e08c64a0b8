//! What is wrong with the curator, and what to do about each.

use std::path::PathBuf;

use ao_tree::shown;
use serde::Serialize;

use super::jobs::{self, ENDING, PROCESSING, QUEUE};
use super::status::{Pulse, pulse};
use super::{ENGINE, Settings, Worker, events};

/// What the engine said when it was asked for its models; the binary asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    Answers {
        models: Vec<String>,
    },
    /// The address is none that can be asked.
    BadUrl(String),
    /// Nobody answers, or somebody who is no Ollama.
    Silent(String),
}

impl Health {
    /// Whether a model can be had; unknown if nobody answers or none is named.
    pub fn has_model(&self, wanted: Option<&str>) -> Option<bool> {
        let (Self::Answers { models }, Some(wanted)) = (self, wanted) else { return None };
        let latest = format!("{wanted}:latest");
        Some(models.iter().any(|model| model == wanted || *model == latest))
    }
}

/// A command that would lead to another agent's world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bridge {
    pub command: String,
    /// Where it is, if it is there.
    pub path: Option<PathBuf>,
}

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub settings: &'a Settings,
    pub health: &'a Health,
    /// Another address of this machine at which an Ollama answers.
    pub elsewhere: Option<&'a str>,
    pub bridges: &'a [Bridge],
    /// Settings of the repository that do not count.
    pub left_out: &'a [String],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It does not work like this.
    Trouble,
    /// Good to know.
    Note,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    pub kind: &'static str,
    pub level: Level,
    pub what: String,
    pub remedy: String,
}

pub fn troubles(look: &Look<'_>) -> Vec<Trouble> {
    let mut found = Found(Vec::new());
    let settings = look.settings;
    if !settings.is_enabled {
        found.note(
            "switched-off",
            "the local curator is switched off",
            "set `dream.local_curator.enabled: true` in ~/.agentops/config.yaml",
        );
    }
    places(settings, &mut found);
    engine(look, &mut found);
    for setting in look.left_out {
        found.note(
            "setting-left-out",
            setting,
            "set it in ~/.agentops/config.yaml, or name the file with AGENTOPS_CONFIG",
        );
    }
    if look.bridges.iter().all(|bridge| bridge.path.is_none()) {
        let names: Vec<&str> = look.bridges.iter().map(|bridge| bridge.command.as_str()).collect();
        found.note(
            "bridge-unsupported",
            &format!(
                "the bridge to OpenClaw is unsupported: {} not found on PATH",
                names.join(" and ")
            ),
            "put one of them on PATH; nothing else needs it",
        );
    }
    if !settings.is_enabled {
        // What is switched off may lack anything.
        found.0.iter_mut().for_each(|trouble| trouble.level = Level::Note);
    }
    found.0
}

struct Found(Vec<Trouble>);

impl Found {
    fn add(&mut self, kind: &'static str, what: &str, remedy: &str) {
        let (what, remedy) = (what.to_owned(), remedy.to_owned());
        self.0.push(Trouble { kind, level: Level::Trouble, what, remedy });
    }

    fn note(&mut self, kind: &'static str, what: &str, remedy: &str) {
        let (what, remedy) = (what.to_owned(), remedy.to_owned());
        self.0.push(Trouble { kind, level: Level::Note, what, remedy });
    }
}

fn places(settings: &Settings, found: &mut Found) {
    match &settings.worker_dir {
        None => found.add(
            "worker-dir-missing",
            "no worker directory is configured, so nothing can be queued",
            "make a folder, and name it as `dream.local_curator.worker_dir` in ~/.agentops/config.yaml",
        ),
        Some(place) => match Worker::at(place) {
            None => {
                let place = shown(&place.to_string_lossy());
                found.add(
                    "worker-dir-missing",
                    &format!("the worker directory {place} is not there"),
                    &format!("run `mkdir -p {place}`, or mount what it is on"),
                );
            }
            Some(worker) => directory(&worker, found),
        },
    }
    match &settings.vault_dir {
        None => found.add(
            "vault-missing",
            "no vault folder is configured, so lint-wiki and dream-seed have no notes",
            "name the folder of your notes as `dream.local_curator.vault_dir` in ~/.agentops/config.yaml",
        ),
        Some(place) if !place.is_dir() && !ao_mutant::active("CUR-03/vault-is-not-looked-for") => {
            let place = shown(&place.to_string_lossy());
            found.add(
                "vault-missing",
                &format!("the vault folder {place} is not there"),
                "put right `dream.local_curator.vault_dir`, or mount what it is on",
            );
        }
        Some(_) => {}
    }
}

fn directory(worker: &Worker, found: &mut Found) {
    match pulse(worker) {
        Pulse::Stale { pid, .. } => found.add(
            "worker-stale",
            &format!("logs/status.json names the process {pid}, which is gone"),
            "run `ao overnight curator work`: it takes up what that worker left, and writes the status anew",
        ),
        Pulse::Unreadable(why) => found.add(
            "status-unreadable",
            &format!("logs/status.json cannot be read: {why}"),
            "remove the file; the next worker writes it anew",
        ),
        Pulse::None | Pulse::Ended(_) | Pulse::Alive(_) => {}
    }
    for folder in [QUEUE, PROCESSING] {
        let Ok(listed) = worker.files(folder, ENDING) else {
            found.add(
                "queue-unreadable",
                &format!("{folder}/ cannot be read"),
                "look at its permissions; it must be a folder of yours",
            );
            continue;
        };
        let unread = |name: &String| {
            jobs::read(worker, folder, name).err().map(|why| format!("{}: {why}", shown(name)))
        };
        for what in listed.names.iter().filter_map(unread) {
            found.add(
                "job-unreadable",
                &format!("{folder}/{what}"),
                "remove it, or let `ao overnight curator work` set it aside in failed/",
            );
        }
        // The worker does not touch what is no file.
        for name in &listed.odd {
            let what = format!("{folder}/{name}: it is not a plain file");
            found.add("job-unreadable", &what, "remove it; no job is read from it");
        }
    }
    match events::unreadable(worker) {
        Ok(0) => {}
        Ok(count) => found.add(
            "events-unreadable",
            &format!("{count} lines of events/*.jsonl cannot be read"),
            "look at them; `ao schema curator-event` and `ao schema curator-ledger` say what they should be",
        ),
        Err(error) => {
            found.add("events-unreadable", &error.to_string(), "look at the file and its permissions");
        }
    }
}

fn engine(look: &Look<'_>, found: &mut Found) {
    let settings = look.settings;
    if settings.engine != ENGINE {
        found.add(
            "engine-unsupported",
            &format!("the engine {:?} is not known", shown(&settings.engine)),
            "set `dream.local_curator.engine: ollama`",
        );
        return;
    }
    let url = shown(&settings.url);
    let remedy = match look.elsewhere {
        Some(other) => {
            format!("an Ollama answers at {other}: set `dream.local_curator.ollama_url` to that")
        }
        None => {
            "start it with `ollama serve`, or put right `dream.local_curator.ollama_url`".to_owned()
        }
    };
    match look.health {
        Health::Answers { .. } => {}
        Health::BadUrl(why) => found.add(
            "endpoint-wrong",
            &format!("{url} cannot be asked: {why}"),
            "write it as http://HOST:PORT in `dream.local_curator.ollama_url`",
        ),
        Health::Silent(why) => {
            found.add("endpoint-wrong", &format!("no Ollama answers at {url}: {why}"), &remedy);
        }
    }
    match (&settings.model, look.health.has_model(settings.model.as_deref())) {
        (None, _) => found.add(
            "model-absent",
            "no model is configured",
            "name one as `dream.local_curator.model`; `ollama list` shows those that are there",
        ),
        (Some(model), Some(false)) => {
            let model = shown(model);
            found.add(
                "model-absent",
                &format!("the engine has no model {model}"),
                &format!(
                    "run `ollama pull {model}`, or name another as `dream.local_curator.model`"
                ),
            );
        }
        (Some(_), _) => {}
    }
}
