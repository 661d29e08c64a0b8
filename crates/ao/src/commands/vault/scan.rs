//! `ao vault scan`: secrets in files and in the index.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ao_contract::Exit;
use ao_tree::own_file;
use ao_vault::scan::{FILE_BYTES_MAX, Finding, Scanner, Unread, walk};
use serde_json::{Value, json};

use super::{git, git_says, no_git};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{Printer, STRONG, paint};
use crate::redaction;
use crate::repo::Repo;

/// Look for secrets in files, or in what is about to be committed
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Looks for the values of the vault in every form that programs write them in, and for what the
public rules of Gitleaks know. Tells places and rules, never what stands there. With no PATH: the
files of the repository that git does not ignore. A line that says `gitleaks:allow` is left to its
author, but for values of the vault.

Exit code: 5 if something was found, 0 if not. What could not be read is named; with --strict-exit
that is a 3.

Examples:
  ao vault scan                        the repository
  ao vault scan --staged               what `git commit` would take
  ao vault scan --json notes/ .env     these"
)]
pub(crate) struct Arguments {
    /// Files and folders
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What git's index has and the newest commit has not, as it stands in the index
    #[arg(long, conflicts_with = "paths")]
    staged: bool,
}

#[derive(Default)]
struct Scanned {
    files: usize,
    findings: Vec<Finding>,
    unread: Vec<Unread>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let scanner = Scanner::new(&redaction::values()?)
        .map_err(|error| Failure::new(Exit::Preflight, error.to_string()))?;
    let mut seen = Scanned::default();
    if arguments.staged {
        let repo = Repo::find(global)?;
        let staged = git(&repo).ok_or_else(no_git)?.staged().map_err(|why| git_says(&why))?;
        for file in staged {
            seen.files += 1;
            seen.findings.extend(scanner.scan(&file.path.to_string_lossy(), &file.bytes));
        }
    } else if arguments.paths.is_empty() {
        let repo = Repo::find(global)?;
        let files = git(&repo).ok_or_else(no_git)?.files().map_err(|why| git_says(&why))?;
        for file in files {
            seen.file(&scanner, &repo.root.join(&file), &file);
        }
    } else {
        for path in &arguments.paths {
            let found = walk(path).map_err(|error| {
                let path = ao_tree::shown(&path.to_string_lossy());
                Failure::new(Exit::Failed, format!("{path}: {error}"))
                    .hint("nothing was looked at; name files and folders that are there")
            })?;
            seen.unread.extend(found.unread);
            for file in found.files {
                seen.file(&scanner, &file, &file);
            }
        }
    }
    Ok(seen.tell(&scanner, global, printer))
}

impl Scanned {
    fn file(&mut self, scanner: &Scanner, file: &Path, named: &Path) {
        match read(file) {
            Ok(Some(bytes)) => {
                self.files += 1;
                self.findings.extend(scanner.scan(&named.to_string_lossy(), &bytes));
            }
            Ok(None) => {}
            Err(why) => self.unread.push(Unread { path: named.to_owned(), why }),
        }
    }

    fn tell(&self, scanner: &Scanner, global: &Global, printer: &Printer) -> Exit {
        let unusable = scanner.unusable();
        let mut text = String::new();
        for finding in &self.findings {
            let place = finding.place.map_or(String::new(), |(line, at)| format!(":{line}:{at}"));
            let path = ao_tree::shown(&finding.path);
            let rule = paint(STRONG, &finding.rule);
            let _ = writeln!(text, "{path}{place}: {rule}: {}", finding.about);
        }
        let fields = json!({
            "files": self.files,
            "rules": scanner.rules(),
            "findings": self.findings.iter().map(told).collect::<Vec<_>>(),
            "unread": self.unread.iter().map(|unread| {
                json!({ "path": unread.path.to_string_lossy(), "why": unread.why })
            }).collect::<Vec<_>>(),
            "unusable_rules": unusable,
        });
        printer.answer("vault scan", fields, &text);
        for unread in &self.unread {
            let path = ao_tree::shown(&unread.path.to_string_lossy());
            printer.note(&format!("note: {path} was not looked at: {}", unread.why));
        }
        for rule in &unusable {
            printer.note(&format!("note: a rule cannot be used: {rule}"));
        }
        let (found, files) = (self.findings.len(), self.files);
        printer.note(&format!("{found} found in {files} files"));
        let is_whole = self.unread.is_empty() && unusable.is_empty();
        match self.findings.is_empty() {
            false => {
                printer.note(
                    "Take them out and use `vault://NAME` in their place; a secret that was seen by \
                     others has to be made anew.",
                );
                Exit::Found
            }
            true if !is_whole && global.strict_exit => Exit::Degraded,
            true => Exit::Done,
        }
    }
}

fn told(finding: &Finding) -> Value {
    json!({
        "path": finding.path,
        "line": finding.place.map(|(line, _)| line),
        "column": finding.place.map(|(_, column)| column),
        "rule": finding.rule,
        "about": finding.about,
    })
}

/// The bytes of a plain file. One that is gone, or a link, has none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink() || found.is_dir()) {
        return Ok(None);
    }
    // One that git lists may have been deleted since.
    own_file::read_if_any(path, FILE_BYTES_MAX).map_err(|error| error.to_string())
}
