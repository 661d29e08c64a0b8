//! Runners that are programs: each question is one start of one program in a cell of its own.
//!
//! Whoever is asked reads the question from its standard input, in a home that is its own and empty but for what we
//! put there, with a folder for temporary files and nothing else to write. It reaches its own API and nobody else. What
//! a program's command line and environment look like, how its output is read and which of its failures is which is in
//! one module each.

mod claude;
mod codex;
mod command;
mod gemini;
mod limit;
mod line;
mod opencode;
mod probe;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use ao_guard::cell::{Begins, Caught, Cell, Cells, Finish, Grant, Limit, Limits, Refusal, Refused};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) use self::opencode::provider;
pub use self::probe::{LoggedIn, Probed};
use crate::failure::Failure;
use crate::http::{Address, BadAddress};
use crate::kind::Kind;
use crate::login::{Login, Way};
use crate::request::Request;
use crate::runner::{Exchange, Runner};
use crate::settings::Settings;

use self::line::{Ask, Line, Output};

/// How deep a program stands beneath the one who asked first. Whoever finds it set asks nobody: a runner has no
/// budget to give.
pub const DEPTH: &str = "AO_RUNNER_DEPTH";
/// What a runner may hold; a model in memory is none of these programs.
const MEMORY_BYTES: u64 = 4 << 30;
/// With its threads.
const PROCESSES: u32 = 512;
/// Of one file, and of its home: no answer is written there.
const FILE_BYTES: u64 = 256 << 20;
const SIGTERM: i32 = 15;
/// How a shell, and some programs, say that a signal ended them.
const BY_SIGNAL: i32 = 128;

/// A program that can be asked.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    /// Absolute.
    path: PathBuf,
    login: Login,
    cells: Cells,
    now: fn() -> Timestamp,
    refused: Mutex<Vec<Refused>>,
}

impl Kind {
    /// What is looked for on PATH; none of a user's own program.
    pub fn program(self) -> Option<&'static str> {
        (self.is_program() && self != Self::Command).then(|| self.name())
    }

    /// The variable that its maker documents for the token of a subscription.
    pub fn token_variable(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some(claude::TOKEN),
            Self::Codex => Some(codex::TOKEN),
            _ => None,
        }
    }
}

impl Settings {
    /// The names in the vault that are looked for where the configuration names none, best first.
    pub fn usual_secrets(&self) -> Vec<String> {
        let key = match self.kind {
            Kind::Claude => Some("ANTHROPIC_API_KEY".to_owned()),
            Kind::Codex => Some("OPENAI_API_KEY".to_owned()),
            Kind::Gemini => Some("GEMINI_API_KEY".to_owned()),
            Kind::OpenCode => opencode::key_name(self.model.as_deref()),
            Kind::Ollama | Kind::OpenAi | Kind::Command => None,
        };
        self.kind.token_variable().map(str::to_owned).into_iter().chain(key).collect()
    }

    /// Where its API listens.
    pub fn api(&self) -> Result<Option<Address>, Failure> {
        if let Some(endpoint) = &self.endpoint {
            return Ok(Some(endpoint.clone()));
        }
        let usual = match self.kind {
            Kind::Claude => Some(claude::API),
            Kind::Codex => Some(codex::API),
            Kind::Gemini => Some(gemini::API),
            Kind::OpenCode => Some(opencode::api(self.model.as_deref())?),
            Kind::Ollama | Kind::OpenAi | Kind::Command => None,
        };
        let bad = |bad: BadAddress| Failure::NotStarted(bad.to_string());
        usual.map(|api| api.parse().map_err(bad)).transpose()
    }
}

impl Program {
    /// `path` is where the program really is; `now` asks the clock.
    pub fn new(
        settings: Settings,
        path: PathBuf,
        login: Login,
        cells: Cells,
        now: fn() -> Timestamp,
    ) -> Self {
        Self { settings, path, login, cells, now, refused: Mutex::default() }
    }

    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// The cell without what is asked.
    fn cell(&self, limits: Limits) -> Result<Cell, Failure> {
        let mut cell = self.cells.cell(&self.path);
        cell.begins = Begins::AtHome;
        cell.limits = limits;
        cell.arguments = self.settings.command.iter().skip(1).map(OsString::from).collect();
        cell.grants = self.grants()?;
        if ao_mutant::active("RUN-35/writes-the-repository") {
            cell.writable.push(cell.directory.clone());
        }
        match &self.login {
            Login::None => {}
            Login::Key(key) => {
                cell.authorizations.push(key.clone());
                // Where the engine adds the key no tunnel is let through, and a proxy would be asked for one.
                for name in ["NO_PROXY", "no_proxy"] {
                    set(&mut cell, name, "127.0.0.1");
                }
            }
            Login::Token { variable, value, .. } => {
                cell.secrets.push((OsString::from(variable), value.clone()));
            }
        }
        set(&mut cell, DEPTH, "1");
        // Times that it tells are told so.
        set(&mut cell, "TZ", "UTC");
        if !cell.environment.iter().any(|(name, _)| name == "USER") {
            set(&mut cell, "USER", "ao");
        }
        Ok(cell)
    }

    /// What it may reach without the engine's key.
    fn grants(&self) -> Result<Vec<Grant>, Failure> {
        let mut grants = self.settings.net.clone();
        match &self.login {
            Login::Key(key) => grants.retain(|grant| *grant != key.grant),
            Login::Token { .. } if self.settings.kind == Kind::Codex => {
                // A subscription is not served where keys are.
                grants.extend(codex::SUBSCRIPTION.parse::<Grant>().ok());
            }
            Login::Token { .. } => {
                grants.extend(self.settings.api()?.map(|endpoint| endpoint.place));
            }
            Login::None => {}
        }
        let mut each: Vec<Grant> = Vec::new();
        for grant in grants {
            if !each.contains(&grant) {
                each.push(grant);
            }
        }
        Ok(each)
    }

    /// Where the program finds its API: on its own loopback, where the engine adds the key, or as it was configured.
    fn base(&self, cell: &Cell) -> Result<Option<String>, Failure> {
        let path = self.settings.api()?.map(|endpoint| endpoint.base).unwrap_or_default();
        match &self.login {
            Login::Key(key) => {
                let at = cell.forward(&key.grant).ok_or_else(|| {
                    Failure::NotStarted(format!("{} is not in the door", key.grant))
                })?;
                Ok(Some(format!("http://{at}{path}")))
            }
            _ => Ok(self.settings.endpoint.as_ref().map(ToString::to_string)),
        }
    }

    fn line(&self, cell: &Cell, request: &Request, question: &str) -> Result<Line, Failure> {
        let schema = sendable(&request.form.schema);
        let base = self.base(cell)?;
        let ask = Ask {
            question,
            schema: &schema,
            budget: &request.budget,
            model: self.settings.model.as_deref(),
            base: base.as_deref(),
            placeholder: match &self.login {
                Login::Key(key) => Some(key.placeholder.as_str()),
                _ => None,
            },
        };
        match self.settings.kind {
            Kind::Claude => Ok(claude::line(&ask)),
            Kind::Codex => Ok(codex::line(&ask)),
            Kind::Gemini => Ok(gemini::line(&ask)),
            Kind::OpenCode => opencode::line(&ask),
            Kind::Command => Ok(command::line(&ask)),
            Kind::Ollama | Kind::OpenAi => {
                Err(Failure::NotStarted(format!("{} is no program", self.settings.kind)))
            }
        }
    }

    /// Runs it to its end; what it said and its exit code, if it ended by itself.
    fn run(&self, cell: &Cell, stop: &AtomicBool) -> Result<(Caught, i32), Failure> {
        let caught = self.cells.run(cell, stop).map_err(|refusal| self.not_run(&refusal))?;
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.clone_from(&caught.report.refused);
        drop(refused);
        let limits = &cell.limits;
        // It may have ended before it was.
        let said = caught.report.stdout.counted.saturating_add(caught.report.stderr.counted);
        if said > limits.output_bytes {
            return Err(Failure::TooLong(limits.output_bytes));
        }
        match caught.report.finish {
            Finish::Exited(code) => {
                if code == BY_SIGNAL + SIGTERM {
                    return Err(Failure::Broken("it was ended by SIGTERM (exit 143)".to_owned()));
                }
                Ok((caught, code))
            }
            Finish::Signalled(signal) => {
                Err(Failure::Broken(format!("it was ended by signal {signal}")))
            }
            Finish::Ended(Limit::Time) => Err(Failure::TimedOut(limits.time)),
            Finish::Ended(Limit::Output) => Err(Failure::TooLong(limits.output_bytes)),
            Finish::Ended(limit) => {
                Err(Failure::OverBudget(format!("it was ended at its bound of {limit}")))
            }
            Finish::Exposed => Err(Failure::Broken(
                "it was ended, as a secret file came to be in the repository".to_owned(),
            )),
            Finish::Stopped => Err(Failure::Stopped),
            Finish::Lost => Err(Failure::Broken("its cell was lost".to_owned())),
        }
    }

    fn not_run(&self, refusal: &Refusal) -> Failure {
        match refusal {
            Refusal::NotStarted { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Failure::Missing(self.path.display().to_string())
            }
            refusal => Failure::NotStarted(ao_tree::shown(&refusal.to_string())),
        }
    }
}

impl Runner for Program {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn login(&self) -> Way {
        self.login.way()
    }

    fn refused(&self) -> Vec<Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn exchange(
        &self,
        request: &Request,
        question: &str,
        stop: &AtomicBool,
    ) -> Result<Exchange, Failure> {
        let budget = &request.budget;
        if self.login.way() != Way::None {
            budget.for_account()?;
        }
        let mut cell = self.cell(Limits {
            time: budget.time,
            output_bytes: budget.output_bytes,
            memory_bytes: MEMORY_BYTES,
            processes: PROCESSES,
            file_bytes: FILE_BYTES,
        })?;
        let line = self.line(&cell, request, question)?;
        line.put(&mut cell);
        let (caught, exit) = self.run(&cell, stop)?;
        let output = Output {
            runner: &self.settings.name,
            stdout: &String::from_utf8_lossy(&caught.stdout),
            stderr: &String::from_utf8_lossy(&caught.stderr),
            exit,
            way: self.login.way(),
            now: (self.now)(),
        };
        let (text, usage) = match self.settings.kind {
            Kind::Claude => claude::read(&output),
            Kind::Codex => codex::read(&output),
            Kind::Gemini => gemini::read(&output),
            Kind::OpenCode => opencode::read(&output),
            _ => command::read(&output, &cell),
        }?;
        Ok(Exchange { text, usage, took: caught.report.took, exit: Some(exit) })
    }
}

fn set(cell: &mut Cell, name: &str, value: &str) {
    cell.environment.retain(|(other, _)| other != name);
    cell.environment.push((name.into(), value.into()));
}

/// Without what only names the schema: some programs would look for it.
fn sendable(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove("$schema");
        map.shift_remove("$id");
    }
    schema
}
