//! `ao guard audit`: what changed, and was not owned?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ao_contract::{Exit, GuardManifest};
use ao_guard::audit::{self, Finding, Verdict, What};
use ao_guard::{Grant, Owned, Sacred};
use ao_tree::own_file;
use ao_vault::{Ansi, redactor};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::{BAD, FAINT, GOOD, Printer, paint};
use crate::repo::Repo;

const MANIFEST_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Say what changed since a moment, and was not owned
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The engine looks at every file of the project and of .git itself: tracked, untracked or ignored,
hooks, configuration and references too. What changed and is not owned is a violation, and so is
anything sacred, whoever owns it; exit 5 if there is one.

The state before is kept outside of the project, in ~/.local/state/ao/audit, or in --file FILE.

Examples:
  ao guard audit --begin                   before the work
  ao guard audit --owned 'src/**'          after it: what changed and is not in src/?
  ao guard audit --upper DIR --owned 'src/**'   the same of what an overlay took in
  ao --json guard audit --owned dreams --file /var/tmp/before.json"
)]
pub(crate) struct Arguments {
    /// Keep the state of now, to be compared with later
    #[arg(long, conflicts_with_all = ["owned", "grant"])]
    begin: bool,
    /// Own what this matches: a glob, or the path of a file or a folder (with all that is in it)
    #[arg(long, value_name = "GLOB")]
    owned: Vec<String>,
    /// Grant what is sacred without a grant
    #[arg(long, value_name = "WHAT", value_parser = ["authentication", "billing"])]
    grant: Vec<String>,
    /// Keep the state in this file, or compare with it
    #[arg(long, value_name = "FILE", conflicts_with = "upper")]
    file: Option<PathBuf>,
    /// Look at the upper directory of an overlay over the project instead
    #[arg(long, value_name = "DIR", conflicts_with = "begin")]
    upper: Option<PathBuf>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let root = Repo::find(global)?.canonical();
    if let Some(upper) = &arguments.upper {
        let rules = Rules::of(arguments, &root, printer)?;
        let Rules { owned, sacred, grants } = &rules;
        let findings = audit::compare_upper(upper, &root, owned, sacred, grants);
        let findings = findings.map_err(|error| unreadable(upper, &error))?;
        return Ok(tell(None, &findings, printer));
    }
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => usual_file(&root)?,
    };
    if arguments.begin {
        begin(&root, &file, global, printer)
    } else {
        end(&root, &file, arguments, printer)
    }
}

/// What is owned, sacred and granted.
struct Rules {
    owned: Owned,
    sacred: Sacred,
    grants: Vec<Grant>,
}

impl Rules {
    fn of(arguments: &Arguments, root: &Path, printer: &Printer) -> Result<Self, Failure> {
        let bad = |bad: ao_guard::BadGlob| {
            Failure::usage(bad.to_string())
                .hint("globs are relative to the project, such as `src/**`")
        };
        let owned = Owned::scopes(&arguments.owned, root).map_err(bad)?;
        let mut sacred = Sacred::built_in().map_err(bad)?;
        match ao_guard::project_sacred(root) {
            Ok(globs) => sacred.add(globs),
            Err(why) => printer.note(&format!(
                "note: .agentops/sacred-scopes.yaml cannot be read: {}",
                ao_tree::shown(&why)
            )),
        }
        let is_granted = |grant: &Grant| arguments.grant.iter().any(|name| name == grant.name());
        let grants = Grant::ALL.into_iter().filter(is_granted).collect();
        Ok(Self { owned, sacred, grants })
    }
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {error}", path.display()))
        .hint("put right what is named, then run the command again")
}

/// Where the state of a project is kept if nobody says where: not in the project, whose worker could
/// change it.
fn usual_file(root: &Path) -> Result<PathBuf, Failure> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .ok_or_else(|| {
            Failure::usage("neither XDG_STATE_HOME nor HOME says where the state can be kept")
                .hint("name a file with --file FILE")
        })?;
    let name = root.to_string_lossy().replace('%', "%25").replace('/', "%2F");
    Ok(state.join("ao/audit").join(format!("{name}.json")))
}

fn take(root: &Path) -> Result<GuardManifest, Failure> {
    audit::take(root, clock::now().rfc3339()).map_err(|error| unreadable(root, &error))
}

fn begin(root: &Path, file: &Path, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let fail = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Failed, format!("{}: {error}", file.display()))
            .hint("name another file with --file FILE")
    };
    let whole = std::path::absolute(file).map_err(|error| fail(&error))?;
    let folder = whole.parent().unwrap_or(Path::new("/"));
    // The folders may not be there yet; the deepest that is says where the file would really be.
    let real = folder.ancestors().find_map(|folder| folder.canonicalize().ok());
    if whole.starts_with(root) || real.is_none_or(|real| real.starts_with(root)) {
        return Err(Failure::usage(format!("{} lies in the project", file.display()))
            .hint("what is watched cannot keep the record of itself; name a file outside of it"));
    }
    let manifest = take(root)?;
    if !global.dry_run {
        let relative = folder.to_string_lossy();
        ao_tree::make_folders(Path::new("/"), relative.trim_start_matches('/'))
            .map_err(|error| fail(&error))?;
        let text = serde_json::to_vec(&manifest).map_err(|error| fail(&error))?;
        let text = redactor().bytes(&text, Ansi::Keep);
        ao_vault::out::replace_file(&whole, &text).map_err(|error| fail(&error))?;
    }
    let (entries, unread) = (manifest.entries.len(), manifest.unread.len());
    let done = if global.dry_run { "Would keep" } else { "Kept" };
    let text = format!("{done} the state of {entries} entries in {}.\n", file.display());
    let fields = json!({ "file": file, "entries": entries, "unread": manifest.unread });
    printer.answer("guard audit", fields, &text);
    if unread > 0 {
        printer.note(&format!("note: {unread} entries could not be looked at"));
    }
    Ok(Exit::Done)
}

fn end(
    root: &Path,
    file: &Path,
    arguments: &Arguments,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let before = read(file)?;
    if before.root != audit::name_of(root) {
        return Err(Failure::usage(format!(
            "{} is the state of {}",
            file.display(),
            ao_tree::shown(&before.root)
        ))
        .hint("name the project with -C DIR, or another file with --file FILE"));
    }
    let Rules { owned, sacred, grants } = &Rules::of(arguments, root, printer)?;
    let after = take(root)?;
    let findings = audit::compare(&before, &after, owned, sacred, grants);
    Ok(tell(Some(&before.taken_at), &findings, printer))
}

fn read(file: &Path) -> Result<GuardManifest, Failure> {
    let fail = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Preflight, format!("{}: {error}", file.display()))
            .hint("`ao guard audit --begin` keeps the state to compare with")
    };
    let text = own_file::read(file, MANIFEST_BYTES_MAX).map_err(|error| fail(&error))?;
    serde_json::from_slice(&text).map_err(|error| fail(&error))
}

fn tell(since: Option<&str>, findings: &[Finding], printer: &Printer) -> Exit {
    let mut text = String::new();
    for finding in findings {
        let (what, fields) = match &finding.what {
            What::Added => ("added", String::new()),
            What::Removed => ("removed", String::new()),
            What::Changed(fields) => ("changed", format!(" ({})", fields.join(", "))),
        };
        let style = if finding.verdict.is_violation() { BAD } else { GOOD };
        let verdict = paint(style, &format!("{:<14}", finding.verdict.name()));
        let _ = writeln!(text, "{verdict} {what} {}{fields}", ao_tree::shown(&finding.path));
    }
    let violations = findings.iter().filter(|finding| finding.verdict.is_violation()).count();
    let moment =
        since.map_or_else(|| "in the upper directory".into(), |since| format!("since {since}"));
    let moment = paint(FAINT, &moment);
    let _ = match (findings.len(), violations) {
        (0, _) => writeln!(text, "Nothing changed {moment}."),
        (changed, 0) => writeln!(text, "{changed} changed, all of it owned, {moment}."),
        (changed, count) => {
            writeln!(text, "{changed} changed, {count} of it in violation, {moment}.")
        }
    };
    let rows: Vec<Value> = findings.iter().map(row).collect();
    let fields = json!({
        "since": since,
        "changed": findings.len(),
        "violations": violations,
        "findings": rows,
    });
    printer.answer("guard audit", fields, &text);
    if violations == 0 { Exit::Done } else { Exit::Found }
}

fn row(finding: &Finding) -> Value {
    let (what, fields): (&str, &[&str]) = match &finding.what {
        What::Added => ("added", &[]),
        What::Removed => ("removed", &[]),
        What::Changed(fields) => ("changed", fields),
    };
    json!({
        "path": finding.path,
        "what": what,
        "fields": fields,
        "verdict": finding.verdict.name(),
        "is_violation": finding.verdict != Verdict::Owned,
    })
}
