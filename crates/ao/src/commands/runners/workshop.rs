//! Runners as they are made on this machine: programs from PATH, secrets from the vault, cells for this repository.

use std::cell::OnceCell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::Exit;
use ao_guard::cell::{Authorization, Cells, Hidden};
use ao_runner::http::{self, Ollama, OpenAi};
use ao_runner::{
    Chosen, Clock, DEPTH, Kind, Login, Origin, Program, RefusedKey, Runner, RunnerTable, Settings,
    choose,
};
use ao_vault::redact::forms;
use ao_vault::{Name, Secret};

use crate::cli::Global;
use crate::commands::guard;
use crate::failure::Failure;
use crate::printer::{DOUBT, Printer, paint};
use crate::repo::Repo;
use crate::{clock, config, redaction};

type Refused = ao_runner::Failure;

const EXECUTABLE: u32 = 0o111;
/// Where it listens if nobody says otherwise.
const OLLAMA: &str = "http://127.0.0.1:11434";

/// A model that is called over HTTP.
#[derive(Debug)]
pub(crate) enum Model {
    Ollama(Ollama),
    OpenAi(OpenAi),
}

impl Model {
    /// What its server has.
    pub(crate) fn list(
        &self,
        time: Duration,
        stop: &AtomicBool,
    ) -> Result<Vec<http::Model>, Refused> {
        match self {
            Self::Ollama(model) => model.models(time, stop),
            Self::OpenAi(model) => model.models(time, stop),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Ollama(model) => model.model(),
            Self::OpenAi(model) => model.model(),
        }
    }
}

/// What all runners are made with.
#[derive(Debug)]
pub(crate) struct Workshop {
    root: PathBuf,
    here: PathBuf,
    configured: RunnerTable,
    /// Of the vault; taken out when the first one is needed.
    values: OnceCell<Vec<(Name, Secret)>>,
    cells: Cells,
}

impl Workshop {
    /// Says what of the repository's configuration is left out.
    pub(crate) fn open(global: &Global, printer: &Printer) -> Result<Self, Failure> {
        let is_runner = std::env::var_os(DEPTH).is_some();
        if is_runner && !ao_mutant::active("RUN-40/runner-asks-a-runner") {
            return Err(Failure::new(Exit::Preflight, "a runner does not ask another one").hint(
                format!("nobody was asked; {DEPTH} is set, and it is set only for a runner"),
            ));
        }
        let here = std::env::current_dir().map_err(|error| {
            Failure::new(Exit::Preflight, format!("the current directory cannot be read: {error}"))
        })?;
        // Where there is no repository there is nothing that it could say.
        let root = Repo::find(global).map_or_else(|_| here.clone(), |repo| repo.canonical());
        let configured = config::runners(&root)?;
        for refused in &configured.refused {
            printer.note(&format!("{} {refused}", paint(DOUBT, "warning:")));
        }
        let cells = guard::place::cells(&root);
        Ok(Self { root, here, configured, values: OnceCell::new(), cells })
    }

    /// What the repository's own file said of runners, and may not.
    pub(crate) fn refused(&self) -> &[RefusedKey] {
        &self.configured.refused
    }

    /// Those that are configured, and the programs that need not be.
    pub(crate) fn known(&self) -> Vec<String> {
        let mut names: Vec<String> =
            Kind::ALL.iter().filter_map(|kind| kind.program()).map(str::to_owned).collect();
        names.extend(
            self.configured
                .all
                .keys()
                .filter(|name| !names.contains(name))
                .cloned()
                .collect::<Vec<_>>(),
        );
        names
    }

    pub(crate) fn choose(&self, names: &[(String, Origin)]) -> Vec<Chosen> {
        choose(names, &self.configured, &self.here)
    }

    /// Where the program is.
    pub(crate) fn find(&self, settings: &Settings) -> Result<PathBuf, Refused> {
        let named = settings.command.first().map(String::as_str).or(settings.kind.program());
        let name = named
            .ok_or_else(|| Refused::NotStarted(format!("{} is not a program", settings.kind)))?;
        if name.contains('/') {
            return at(Path::new(name));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        ao_guard::find_program(name, &path, &self.root)
            .map_err(|missing| match missing.name {
                _ if ao_mutant::active("RUN-39/binary-is-not-named") => "a program".to_owned(),
                name => name,
            })
            .map_err(Refused::Missing)
    }

    /// What it is known by: the secret that is configured, or else the first of the usual ones that the vault has.
    pub(crate) fn login(&self, settings: &Settings) -> Result<Login, Refused> {
        let missing = || Refused::NotLoggedIn(settings.name.clone());
        let mut names = settings.usual_secrets();
        if let Some(name) = &settings.auth {
            names = vec![name.as_str().to_owned()];
        }
        let values = if names.is_empty() { &[] } else { self.values()? };
        let find = |name: &String| values.iter().find(|(other, _)| other.as_str() == name);
        let found = names.iter().find_map(find);
        if found.is_none() && settings.auth.is_some() {
            return Err(missing());
        }
        let Some((name, secret)) = found else {
            return if settings.kind == Kind::Command { Ok(Login::None) } else { Err(missing()) };
        };
        // By its last part: one may have several of them.
        let last = name.as_str().rsplit('/').next();
        if let Some(variable) = settings.kind.token_variable().filter(|one| Some(*one) == last) {
            if settings.kind == Kind::Codex && settings.endpoint.is_some() {
                return Err(Refused::NotStarted(
                    "a subscription of codex is served at one place: leave its endpoint out"
                        .to_owned(),
                ));
            }
            let value = Hidden::new(secret.expose());
            return Ok(Login::Token { name: name.clone(), variable, value });
        }
        let grant = match (settings.api()?, settings.net.as_slice()) {
            (Some(endpoint), _) => endpoint.place,
            (None, [one]) => one.clone(),
            (None, _) => {
                return Err(Refused::NotStarted(format!(
                    "the secret of {} is for one host: name it alone in runners.{}.net",
                    ao_tree::shown(&settings.name),
                    ao_tree::shown(&settings.name)
                )));
            }
        };
        Authorization::new(grant, name.reference(), secret.expose(), forms, guard::authorities)
            .map(Login::Key)
            .map_err(|bad| Refused::NotStarted(format!("{}: {bad}", name.reference())))
    }

    fn values(&self) -> Result<&[(Name, Secret)], Refused> {
        if let Some(values) = self.values.get() {
            return Ok(values);
        }
        let values = redaction::values().map_err(|failure| Refused::NotStarted(failure.message))?;
        Ok(self.values.get_or_init(|| values))
    }

    pub(crate) fn program(&self, settings: &Settings) -> Result<Program, Refused> {
        if !settings.kind.is_program() {
            return Err(Refused::NotStarted(format!("{} is not a program", settings.kind)));
        }
        let path = self.find(settings)?;
        let login = self.login(settings)?;
        Ok(self.make(settings, path, login))
    }

    /// Whoever is called over HTTP, by the engine itself.
    pub(crate) fn model(&self, settings: &Settings) -> Result<Model, Refused> {
        let named = ao_tree::shown(&settings.name);
        let unsaid =
            |key: &str| Refused::NotStarted(format!("runners.{named}.{key} is not configured"));
        let address = match (&settings.endpoint, settings.kind) {
            (Some(endpoint), _) => endpoint.clone(),
            (None, Kind::Ollama) => OLLAMA
                .parse()
                .map_err(|bad: http::BadAddress| Refused::NotStarted(bad.to_string()))?,
            (None, _) => return Err(unsaid("endpoint")),
        };
        let model = settings.model.clone().ok_or_else(|| unsaid("model"))?;
        let key = settings.auth.as_ref().map(|name| self.secret(name, settings)).transpose()?;
        let clock = Clock::new(clock::timestamp);
        let endpoint = http::Endpoint::new(address, key, guard::authorities, clock)
            .map_err(|bad| Refused::NotStarted(format!("{named}: {bad}")))?;
        Ok(match settings.kind {
            Kind::Ollama => Model::Ollama(Ollama::new(&settings.name, endpoint, model)),
            _ => Model::OpenAi(OpenAi::new(&settings.name, endpoint, model)),
        })
    }

    fn secret(&self, name: &Name, settings: &Settings) -> Result<Secret, Refused> {
        let found = self.values()?.iter().find(|(other, _)| other == name);
        found
            .map(|(_, secret)| secret.clone())
            .ok_or_else(|| Refused::NotLoggedIn(settings.name.clone()))
    }

    /// Whatever it is.
    pub(crate) fn runner(
        &self,
        settings: &Settings,
    ) -> Result<Box<dyn Runner + Send + Sync>, Refused> {
        if settings.kind.is_program() {
            return Ok(Box::new(self.program(settings)?));
        }
        Ok(match self.model(settings)? {
            Model::Ollama(model) => Box::new(model),
            Model::OpenAi(model) => Box::new(model),
        })
    }

    pub(crate) fn make(&self, settings: &Settings, path: PathBuf, login: Login) -> Program {
        Program::new(settings.clone(), path, login, self.cells.clone(), clock::timestamp)
    }
}

fn at(path: &Path) -> Result<PathBuf, Refused> {
    let shown = || ao_tree::shown(&path.to_string_lossy());
    let Ok(found) = std::fs::metadata(path) else { return Err(Refused::Missing(shown())) };
    if !path.is_absolute() {
        return Err(Refused::NotStarted(format!("{} is not an absolute path", shown())));
    }
    if !found.is_file() || found.permissions().mode() & EXECUTABLE == 0 {
        return Err(Refused::NotStarted(format!("{} cannot be executed", shown())));
    }
    path.canonicalize().map_err(|error| Refused::NotStarted(format!("{}: {error}", shown())))
}
