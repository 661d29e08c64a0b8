//! `ao notify`: the single way out to people.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ao_contract::{Exit, Extra, Notification, NotificationStatus};
use ao_guard::cell::Around;
use ao_guard::{Keeper, Program};
use ao_vault::notify::{Judged, MESSAGE_BYTES_MAX, judge, send};
use ao_vault::scan::Scanner;
use ao_vault::shelf::{KEPT_DAYS, KEPT_MAX, Message, Shelf};
use ao_vault::{Ansi, out, redactor, store};
use serde_json::json;

use crate::cli::Global;
use crate::commands::guard;
use crate::commands::vault::place;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::{AGENTS, Repo, STATE};
use crate::{clock, config, redaction};

const LOG: &str = "notifications.jsonl";
/// What a program that tells people something may need of ours.
const VARIABLES: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// Tell people something, through the configured command
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The message is given to the command of `notify.command` on its standard input, and written down in
.agents/overnight/notifications.jsonl. The command is taken from your own ~/.agentops/config.yaml (or
the file that AGENTOPS_CONFIG names), never from a repository. A message in which a secret is found
is replaced by `[redacted by safety layer]`, and kept for you for 7 days (`ao vault kept`).

Exit code: 0 if it was sent, or if no command is configured; 1 if the command failed.

Examples:
  echo 'the night is over' | ao notify
  ao notify 'the night is over'
  ao --dry-run notify < message.txt      what would be sent"
)]
pub(crate) struct Arguments {
    /// What to say; standard input, if it is left out
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let text = message(arguments)?;
    let repo = Repo::find(global)?;
    let scanner = Scanner::new(&redaction::values()?)
        .map_err(|error| Failure::new(Exit::Preflight, error.to_string()))?;
    let judged = judge(&text, &scanner, &redactor());
    let command = config::notify_command(&repo.root)?;
    if command.is_none() && config::repository_names_a_notifier(&repo.root) {
        printer.note(
            "note: the repository names a command in its own configuration; that is not run. Name it in \
             ~/.agentops/config.yaml",
        );
    }
    let program = command.map(|command| program(&command, &repo.canonical())).transpose()?;
    if global.dry_run {
        let fields =
            json!({ "status": "preview", "text": judged.message.get(), "rules": judged.rules });
        printer.answer("notify", fields, &format!("{}\n", judged.message));
        return Ok(Exit::Done);
    }
    let kept = if judged.rules.is_empty() { Ok(None) } else { keep(&text, &judged).map(Some) };
    let sent = program.map(|program| send(&judged.message, program, &Keeper::this_binary()));
    let (kept, trouble) = match kept {
        Ok(kept) => (kept, None),
        Err(error) => {
            (None, Some(format!("the message was replaced and could not be kept: {error}")))
        }
    };
    let error = sent.as_ref().and_then(|sent| sent.as_ref().err().cloned());
    let line = Notification {
        at: clock::now().rfc3339(),
        status: match &sent {
            None => NotificationStatus::NoCommand,
            Some(Ok(())) => NotificationStatus::Sent,
            Some(Err(_)) => NotificationStatus::Failed,
        },
        text: judged.message.get().clone(),
        rules: judged.rules,
        kept,
        error: error.clone().or_else(|| trouble.clone()),
        extra: Extra::new(),
    };
    record(&repo, &line).map_err(|error| {
        Failure::new(Exit::Failed, format!("{LOG} cannot be written: {error}"))
            .hint("whether it was sent before that is not written down")
    })?;
    if let Some(error) = error.or(trouble) {
        return Err(Failure::new(Exit::Failed, format!("the notification: {error}"))
            .hint("`notify.command` in ~/.agentops/config.yaml names the command"));
    }
    tell(&line, printer);
    Ok(Exit::Done)
}

fn tell(line: &Notification, printer: &Printer) {
    let done = match line.status {
        NotificationStatus::Sent => "Sent.",
        _ => "Written down; no command is configured to send it.",
    };
    let mut text = format!("{done}\n");
    if !line.rules.is_empty() {
        text = format!(
            "{done} A secret was found in it ({}), so it was replaced.\n",
            line.rules.join(", ")
        );
    }
    let mut fields = json!(line);
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("at");
    }
    printer.answer("notify", fields, &text);
}

fn message(arguments: &Arguments) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if let Some(text) = &arguments.text {
        bytes.extend_from_slice(text.as_bytes());
    } else {
        let most = MESSAGE_BYTES_MAX as u64 + 1;
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|error| {
            Failure::new(Exit::Failed, format!("standard input cannot be read: {error}"))
        })?;
    }
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(Failure::usage(format!("the message has more than {MESSAGE_BYTES_MAX} bytes"))
            .hint("say less, and where the rest can be read"));
    }
    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    if text.is_empty() {
        return Err(Failure::usage("there is nothing to say").hint("`ao notify TEXT`"));
    }
    Ok(text)
}

fn program(command: &[String], root: &Path) -> Result<Program, Failure> {
    let bad = |why: String| {
        Failure::new(Exit::Preflight, format!("notify.command: {why}"))
            .hint("name a program by its absolute path, or one that is on PATH")
    };
    let Some((name, arguments)) = command.split_first() else {
        return Err(bad("it is empty".into()));
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = if Path::new(name).is_absolute() {
        PathBuf::from(name)
    } else {
        ao_guard::find_program(name, &path, root).map_err(|error| bad(error.to_string()))?
    };
    let mut program = Program::new(found).arguments(arguments);
    for name in VARIABLES {
        let value = std::env::var_os(name).map(|value| match name {
            "PATH" => ao_guard::trusted_path(&value, root),
            _ => value,
        });
        if let Some(value) = value {
            program = program.variable(name, value);
        }
    }
    Ok(program)
}

/// The private place is not in the repository, whose files are for others too.
fn keep(text: &str, judged: &Judged) -> std::io::Result<String> {
    let folder = place::kept()
        .ok_or_else(|| std::io::Error::other("neither XDG_STATE_HOME nor HOME says where"))?;
    // In a cell the vault is not opened, not even to seal.
    let vault = place::all(None)
        .unwrap_or_default()
        .into_iter()
        .find(|files| files.is_begun() && guard::place::around() != Around::Cell);
    let message = match vault {
        Some(files) => {
            Message::Sealed(store::seal_message(&files, text).map_err(std::io::Error::other)?)
        }
        None => Message::Without(judged.without.clone()),
    };
    let seconds = u64::try_from(clock::timestamp().as_second()).unwrap_or_default();
    Shelf::new(folder).keep(seconds, message)
}

fn record(repo: &Repo, line: &Notification) -> std::io::Result<()> {
    ao_tree::make_folders(&repo.root, &format!("{AGENTS}/{STATE}"))?;
    let text = serde_json::to_string(line).map_err(std::io::Error::other)?;
    out::append_line(&repo.state().join(LOG), &redactor().text(&text, Ansi::Keep))
}

const _: () = assert!(KEPT_DAYS == 7 && KEPT_MAX > 0, "the help says 7 days");
