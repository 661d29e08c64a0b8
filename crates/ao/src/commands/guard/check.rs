//! `ao guard check`: would this be written?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ao_contract::Exit;
use ao_guard::{Change, Effect, Leak, Policy, Refusal};
use ao_tree::own_file;
use serde_json::{Value, json};

use super::log::{self, Asked};
use super::policy::{Rules, Unscoped};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{BAD, GOOD, Printer, paint};
use crate::repo::Repo;

const CONTENT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Say of paths, or of a command, whether an agent may write them
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A path is refused if it leads out of the project, is no plain file, lies outside of the scopes,
is sacred, or could be committed to git. Exit 5 if anything was refused; each refusal has its rule.

Examples:
  ao guard check --scope dreams dreams/note.md          may a dream write this?
  ao guard check --tracked --scope 'src/**' src/a.rs    may a worker that owns src/?
  ao guard check --tracked --content new.json package.json
  ao guard check --tracked --scope 'src/**' --command 'sed -i s/a/b/ src/a.rs && make test'
  ao --json guard check --tracked --scope 'src/**' --commands texts.jsonl
  ao guard check --read src/main.rs ~/.ssh/config       may an agent read these?
  ao --json guard check --argv -- git push --force"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    rules: Rules,
    /// Allow what git tracks or would track
    #[arg(long)]
    tracked: bool,
    /// What would stand at the path, for manifests, of which only a part may change
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "argv"])]
    content: Option<PathBuf>,
    /// Judge this shell text instead of paths
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["paths", "argv"])]
    command: Option<String>,
    /// Judge each of these shell texts: a file with a JSON string on every line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "argv", "command", "content"])]
    commands: Option<PathBuf>,
    /// Say whether the paths may be read, not whether they may be written
    #[arg(long, conflicts_with_all = ["content", "command", "argv"])]
    read: bool,
    /// The words are a program and its arguments, not paths
    #[arg(long)]
    argv: bool,
    /// Paths, relative to the project or absolute
    #[arg(value_name = "PATH", required_unless_present_any = ["command", "commands"])]
    paths: Vec<String>,
}

type Judged = Result<Vec<Effect>, Refusal>;

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let leak = if arguments.tracked { Leak::Unchecked } else { Leak::Checked };
    let policy = arguments.rules.policy(&repo, Unscoped::Unsaid, leak)?;
    let content = arguments.content.as_ref().map(|file| read(file)).transpose()?;
    let root = policy.project.root().to_owned();
    let judged: Vec<(String, Judged)> = if let Some(text) = &arguments.command {
        vec![("command".into(), policy.judge_shell(text, &root))]
    } else if let Some(file) = &arguments.commands {
        let judge = |text: String| {
            let judged = policy.judge_shell(&text, &root);
            (text, judged)
        };
        texts(file)?.into_iter().map(judge).collect()
    } else if arguments.argv {
        vec![("command".into(), policy.judge_argv(&arguments.paths, &root))]
    } else {
        let change = content.as_deref().map_or(Change::Unknown, Change::To);
        let paths = arguments.paths.iter();
        let judge = |path: &str| {
            if arguments.read { judge_read(&policy, path) } else { judge(&policy, path, change) }
        };
        paths.map(|path| (path.clone(), judge(path))).collect()
    };
    for (_, judged) in judged.iter().filter(|_| !global.dry_run) {
        log::note(&root, Asked { by: "check", harness: None, tool: None }, judged);
    }
    tell(&policy, &judged, printer);
    let is_clean = judged.iter().all(|(_, judged)| judged.is_ok());
    Ok(if is_clean { Exit::Done } else { Exit::Found })
}

fn judge(policy: &Policy, path: &str, change: Change<'_>) -> Judged {
    let path = policy.project.path_of(path, policy.project.root())?;
    policy.judge(&path, change)?;
    Ok(vec![Effect::Writes { path: path.as_str().to_owned() }])
}

fn judge_read(policy: &Policy, path: &str) -> Judged {
    policy.judge_read_path(path, policy.project.root())?;
    Ok(vec![Effect::Reads { program: path.to_owned() }])
}

fn tell(policy: &Policy, judged: &[(String, Judged)], printer: &Printer) {
    let mut text = String::new();
    let mut results = Vec::new();
    for (subject, judged) in judged {
        let shown = ao_tree::shown(subject);
        match judged {
            Ok(effects) => {
                let _ = writeln!(text, "{} {shown}", paint(GOOD, "allowed"));
                results
                    .push(json!({ "subject": subject, "allowed": true, "effects": told(effects) }));
            }
            Err(refusal) => {
                let (rule, why) = (refusal.rule.name(), ao_tree::shown(&refusal.why));
                let _ = writeln!(text, "{} {shown}: {why} [{rule}]", paint(BAD, "refused"));
                results.push(json!({
                    "subject": subject,
                    "allowed": false,
                    "rule": rule,
                    "why": refusal.why,
                    "refused": refusal.subject,
                }));
            }
        }
    }
    if let Some(trouble) = policy.sacred_trouble() {
        printer.note(&format!("note: .agentops/sacred-scopes.yaml: {}", ao_tree::shown(trouble)));
    }
    printer.answer("guard check", json!({ "results": results }), &text);
}

fn told(effects: &[Effect]) -> Vec<Value> {
    let one = |effect: &Effect| match effect {
        Effect::Reads { program } => json!({ "reads": program }),
        Effect::Builds { program } => json!({ "builds": program }),
        Effect::Writes { path } => json!({ "writes": path }),
    };
    effects.iter().map(one).collect()
}

/// Shell texts, each a JSON string on a line of its own.
fn texts(file: &Path) -> Result<Vec<String>, Failure> {
    let bytes = read(file)?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let filled = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    let text = |(at, line): (usize, &[u8])| {
        serde_json::from_slice(line).map_err(|error| {
            Failure::usage(format!("{}: line {}: {error}", file.display(), at + 1))
        })
    };
    filled.map(text).collect()
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let fail = |why: String| Failure::usage(format!("{}: {why}", file.display()));
    own_file::read_named(file, CONTENT_BYTES_MAX).map_err(|error| fail(error.to_string()))
}
