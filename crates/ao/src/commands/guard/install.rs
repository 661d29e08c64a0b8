//! `ao guard install` and `uninstall`: a host's settings, with the hook and without it.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use ao_contract::{ChangeOp, Exit};
use ao_guard::host::{self, Edited};
use ao_guard::{Decision, Harness, Owned};
use ao_tree::{FileDiff, own_file};
use serde_json::json;

use super::hook::{Asked, Host};
use crate::cli::Global;
use crate::commands::agreed::agreed;
use crate::failure::Failure;
use crate::person;
use crate::printer::{self, Printer, Stream};
use crate::repo::Repo;

/// However the hook ends that does not allow a call: hosts refuse on a 2 alone, and one of them only if
/// there is a reason too, which a hook that was killed does not give.
const OTHERWISE: &str = " || { echo 'ao guard did not let it through' >&2; exit 2; }";

/// Have a host ask the guard before each tool call
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The hook goes into the project's .claude/settings.json or .codex/hooks.json. The change is
shown first; on a terminal ao asks, elsewhere --yes agrees beforehand. With no --scope every
write is refused. What is given here is what the hook is started with; running it again
replaces it.

Examples:
  ao guard install --harness claude --scope 'src/**' --scope 'tests/**'
  ao guard install --harness claude --scope 'src/**' --grant dependencies --tool mcp__db__query
  ao guard install --harness codex --scope dreams --leak --yes"
)]
pub(crate) struct Install {
    /// Whose settings
    #[arg(long, value_name = "HOST")]
    harness: Host,
    #[command(flatten)]
    asked: Asked,
    /// Make the change without asking
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Take the hook out of a host's settings again
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The settings become what they were, byte for byte; what was added to them since stays.

Examples:
  ao guard uninstall --harness claude
  ao guard uninstall --harness codex --yes"
)]
pub(crate) struct Uninstall {
    /// Whose settings
    #[arg(long, value_name = "HOST")]
    harness: Host,
    /// Make the change without asking
    #[arg(long, short = 'y')]
    yes: bool,
}

pub(crate) fn install(
    arguments: &Install,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let root = Repo::find(global)?.canonical();
    Owned::scopes(&arguments.asked.rules.scope, &root).map_err(|bad| {
        Failure::usage(bad.to_string()).hint("globs are relative to the project, such as `src/**`")
    })?;
    let harness = arguments.harness.harness();
    let command = command(arguments, &root)?;
    let settings = Settings::read(&root, harness)?;
    let edited = host::install(settings.text.as_deref(), harness, &command);
    let change = Change {
        name: "guard install",
        decision: Decision::InstallHook,
        settings,
        edited,
        yes: arguments.yes,
    };
    let exit = change.make(&root, global, printer)?;
    if harness == Harness::Codex && !global.json {
        printer.note(
            "Codex runs a hook only after it was trusted, and skips it without a word until then: trust this \
             project in Codex, type /hooks there, look at the hook and trust it. After every change of the \
             hook it has to be trusted again. Older versions also need `codex_hooks = true` under \
             [features] in config.toml.",
        );
    }
    Ok(exit)
}

pub(crate) fn uninstall(
    arguments: &Uninstall,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let root = Repo::find(global)?.canonical();
    let harness = arguments.harness.harness();
    let settings = Settings::read(&root, harness)?;
    let edited = match &settings.text {
        Some(text) => host::uninstall(text, harness),
        None => Ok(Edited::Unchanged),
    };
    let change = Change {
        name: "guard uninstall",
        decision: Decision::UninstallHook,
        settings,
        edited,
        yes: arguments.yes,
    };
    change.make(&root, global, printer)
}

/// What the host runs. Whatever goes wrong with it, also that it is not there, ends with a 2: everything
/// else would be a permission.
fn command(arguments: &Install, root: &Path) -> Result<String, Failure> {
    let harness = arguments.harness.harness();
    let project = match harness {
        Harness::Claude => "\"$CLAUDE_PROJECT_DIR\"".to_owned(),
        Harness::Codex => quoted(&root.to_string_lossy()),
    };
    let mut command =
        format!("{} -C {project} guard hook --harness {}", program(root)?, harness.name());
    let Asked { rules, leak, tool } = &arguments.asked;
    let lists = [
        ("--scope", &rules.scope),
        ("--grant", &rules.grant),
        ("--destructive", &rules.destructive),
        ("--readable", &rules.readable),
        ("--tool", tool),
    ];
    for (option, values) in lists {
        for value in values {
            for word in [option, &quoted(value)] {
                command.push(' ');
                command.push_str(word);
            }
        }
    }
    if *leak {
        command.push_str(" --leak");
    }
    command.push_str(OTHERWISE);
    Ok(command)
}

/// `ao` where that is this very program, so that others can share the settings; its path elsewhere.
pub(crate) fn program(root: &Path) -> Result<String, Failure> {
    let this = std::env::current_exe().and_then(|exe| exe.canonicalize()).map_err(|error| {
        Failure::new(Exit::Failed, format!("where this program is cannot be said: {error}"))
    })?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = ao_guard::find_program("ao", &path, root).ok();
    if found.and_then(|found| found.canonicalize().ok()).as_ref() == Some(&this) {
        return Ok("ao".into());
    }
    Ok(quoted(&this.to_string_lossy()))
}

/// One word for a shell, whatever is in it.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

struct Settings {
    file: &'static str,
    path: PathBuf,
    text: Option<String>,
}

impl Settings {
    fn read(root: &Path, harness: Harness) -> Result<Self, Failure> {
        let file = host::settings_file(harness);
        let path = root.join(file);
        let refuse = |why: &dyn std::fmt::Display| unfit(file, why);
        let folder = path.parent().unwrap_or(root);
        if std::fs::symlink_metadata(folder).is_ok_and(|found| !found.is_dir()) {
            return Err(refuse(&"its folder is a link, or no folder"));
        }
        let text = settings_text(&path).map_err(|error| refuse(&error))?;
        Ok(Self { file, path, text })
    }
}

fn settings_text(path: &Path) -> std::io::Result<Option<String>> {
    match own_file::read_text(path, host::SETTINGS_BYTES_MAX as u64) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

fn unfit(file: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Preflight, format!("{file}: {}", ao_tree::shown(&why.to_string())))
        .hint("nothing was changed; put the file right, then run the command again")
}

struct Change {
    name: &'static str,
    decision: Decision,
    settings: Settings,
    edited: Result<Edited, String>,
    yes: bool,
}

impl Change {
    fn make(self, root: &Path, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
        let Self { name, decision, settings, edited, yes } = self;
        let edited = edited.map_err(|why| unfit(settings.file, &why))?;
        let after = match &edited {
            Edited::Unchanged => {
                let fields = json!({ "file": settings.file, "status": "nothing-to-do" });
                printer.answer(name, fields, "Nothing to do.\n");
                return Ok(Exit::Done);
            }
            Edited::To(text) => Some(text.clone().into_bytes()),
            Edited::Removed => None,
        };
        let op = match (&settings.text, &after) {
            (None, _) => ChangeOp::Add,
            (_, None) => ChangeOp::Delete,
            _ => ChangeOp::Change,
        };
        let before = settings.text.clone().map(String::into_bytes);
        if !global.dry_run {
            person::decides(decision, root)?;
        }
        let diff = FileDiff { path: settings.file.into(), op, before, after }.unified();
        let can_ask =
            std::io::stdin().is_terminal() && printer::is_screen(Stream::Talk) && !global.json;
        let told = |status: &str| json!({ "file": settings.file, "status": status, "diff": diff });
        if global.dry_run || !yes && !can_ask {
            printer.answer(name, told("preview"), &diff);
            if !global.dry_run {
                printer.note("Nothing was changed. Run it with --yes to make this change.");
            }
            return Ok(Exit::Done);
        }
        if !yes {
            printer.note(&diff);
            if !agreed()? {
                printer.note("Nothing was changed.");
                return Ok(Exit::Done);
            }
        }
        settings.write(root, &edited).map_err(|error| {
            Failure::new(Exit::Failed, format!("{}: {error}", settings.file))
                .hint("put right what is named, then run the command again")
        })?;
        let text = if yes {
            format!("{diff}Changed {}.\n", settings.file)
        } else {
            format!("Changed {}.\n", settings.file)
        };
        printer.answer(name, told("changed"), &text);
        Ok(Exit::Done)
    }
}

impl Settings {
    fn write(&self, root: &Path, edited: &Edited) -> std::io::Result<()> {
        // Somebody may have edited it while the change was looked at.
        if settings_text(&self.path)? != self.text {
            return Err(std::io::Error::other("it was changed by somebody else just now"));
        }
        match edited {
            Edited::Unchanged => Ok(()),
            Edited::Removed => ao_tree::remove_settings(&self.path),
            Edited::To(text) => {
                let folder =
                    Path::new(self.file).parent().and_then(Path::to_str).unwrap_or_default();
                ao_tree::make_folders(root, folder)?;
                ao_tree::replace_settings(&self.path, text.as_bytes())
            }
        }
    }
}
