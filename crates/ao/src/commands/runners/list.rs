//! `ao runners`: what is installed, logged in and usable, found out by trying.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_runner::{Chosen, Failure as Refused, LoggedIn, Login, Origin, Settings, Way};
use serde_json::{Value, json};

use super::remedy;
use super::workshop::Workshop;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{BAD, DOUBT, GOOD, Printer, paint};

/// Of a server that is asked what it has.
const PROBE_TIME: Duration = Duration::from_secs(5);

/// What was found out of one.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    kind: Option<&'static str>,
    model: Option<String>,
    path: Option<PathBuf>,
    version: Option<String>,
    /// By which way, with which secret.
    login: Option<(Way, Option<String>)>,
    /// Nobody looked where nothing can be known without asking.
    pub(crate) is_usable: Option<bool>,
    pub(crate) problem: Option<String>,
    pub(crate) remedy: Option<String>,
}

pub(super) fn run(global: &Global, printer: &Printer) -> Result<(), Failure> {
    let workshop = Workshop::open(global, printer)?;
    let rows = all(&workshop);
    let fields: Vec<Value> = rows.iter().map(Row::fields).collect();
    let mut text = rows.iter().fold(String::new(), |text, row| text + &row.text());
    let left_out: Vec<String> = workshop.refused().iter().map(ToString::to_string).collect();
    for refused in &left_out {
        let _ = writeln!(text, "{} {refused}", paint(DOUBT, "left out:"));
    }
    printer.answer("runners", json!({ "runners": fields, "left_out": left_out }), &text);
    Ok(())
}

/// Everyone who is known, as far as trying tells.
pub(crate) fn rows(global: &Global, printer: &Printer) -> Result<Vec<Row>, Failure> {
    Ok(all(&Workshop::open(global, printer)?))
}

fn all(workshop: &Workshop) -> Vec<Row> {
    let names: Vec<_> = workshop.known().into_iter().map(|name| (name, Origin::User)).collect();
    workshop.choose(&names).iter().map(|one| row(workshop, one)).collect()
}

/// One of them.
pub(crate) fn row(workshop: &Workshop, chosen: &Chosen) -> Row {
    let mut row = Row { name: chosen.name.clone(), ..Row::default() };
    let settings = match &chosen.settings {
        Ok(settings) => settings,
        Err(failure) => {
            row.refuse(failure, None);
            return row;
        }
    };
    row.kind = Some(settings.kind.name());
    row.model.clone_from(&settings.model);
    let probed = if settings.kind.is_program() {
        probe(workshop, settings, &mut row)
    } else {
        probe_model(workshop, settings, &mut row)
    };
    if let Err(failure) = probed {
        row.refuse(&failure, Some(settings));
    } else {
        row.is_usable = Some(true);
    }
    row
}

/// As far as it goes; what is known by then stays.
fn probe(workshop: &Workshop, settings: &Settings, row: &mut Row) -> Result<(), Refused> {
    let path = workshop.find(settings)?;
    row.path = Some(path.clone());
    let login = workshop.login(settings);
    if let Ok(login) = &login {
        row.login = Some((login.way(), login.reference()));
    }
    // Its version is told also of one that is not logged in.
    let given = login.as_ref().cloned().unwrap_or(Login::None);
    let probed = workshop.make(settings, path, given).probe(&AtomicBool::new(false))?;
    row.version = Some(probed.version).filter(|version| !version.is_empty());
    login?;
    match probed.login {
        LoggedIn::No => Err(Refused::NotLoggedIn(settings.name.clone())),
        LoggedIn::Yes | LoggedIn::Granted | LoggedIn::NotNeeded => Ok(()),
    }
}

/// Whether its server answers, and has the model.
fn probe_model(workshop: &Workshop, settings: &Settings, row: &mut Row) -> Result<(), Refused> {
    let model = workshop.model(settings)?;
    if let Some(name) = &settings.auth {
        row.login = Some((Way::ApiKey, Some(name.reference())));
    }
    let there = model.list(PROBE_TIME, &AtomicBool::new(false))?;
    // `llama3` is `llama3:latest` to an Ollama.
    let is_it =
        |one: &str| one == model.name() || one.strip_suffix(":latest") == Some(model.name());
    match there.iter().find(|one| is_it(&one.name)) {
        Some(found) => {
            row.version.clone_from(&found.digest);
            Ok(())
        }
        None => Err(Refused::NotStarted(format!(
            "its server does not have the model {}",
            ao_tree::shown(model.name())
        ))),
    }
}

impl Row {
    fn refuse(&mut self, failure: &Refused, settings: Option<&Settings>) {
        self.is_usable = Some(false);
        self.problem = Some(failure.to_string());
        self.remedy = Some(remedy::of(failure, settings));
    }

    pub(crate) fn fields(&self) -> Value {
        let login =
            self.login.as_ref().map(|(way, secret)| json!({ "way": way, "secret": secret }));
        json!({
            "name": self.name,
            "kind": self.kind,
            "model": self.model,
            "installed": self.path.is_some(),
            "path": self.path.as_ref().map(|path| path.to_string_lossy()),
            "version": self.version,
            "login": login,
            "usable": self.is_usable,
            "problem": self.problem,
            "remedy": self.remedy,
        })
    }

    fn text(&self) -> String {
        let word = match self.is_usable {
            Some(true) => paint(GOOD, "usable"),
            Some(false) => paint(BAD, "not usable"),
            None => "not tried".to_owned(),
        };
        let mut text = format!("{}: {word}", ao_tree::shown(&self.name));
        if let Some(version) = &self.version {
            let _ = write!(text, ", {version}");
        }
        match &self.login {
            Some((Way::ApiKey, Some(name))) => {
                let _ = write!(text, ", with the API key {name} that only ao holds");
            }
            Some((Way::Subscription, Some(name))) => {
                let _ = write!(text, ", with the subscription of {name}");
            }
            _ => {}
        }
        text.push('\n');
        if let Some(path) = &self.path {
            let _ = writeln!(text, "  {}", ao_tree::shown(&path.to_string_lossy()));
        }
        for line in self.problem.iter().chain(&self.remedy) {
            let _ = writeln!(text, "  {}", ao_tree::shown(line));
        }
        text
    }
}
