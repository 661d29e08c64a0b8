//! `git`: what looks, what is destructive, and that everything else writes what git keeps.

use std::path::PathBuf;

use super::words::{Call, has, is_listed};
use super::{Class, Effect, Judged, Walk};
use crate::scope::{Refusal, Rule};
use crate::shell::Word;

/// Subcommands that only look, whatever their options, but for those that write a file or start a
/// program.
const LOOKING: &str = "\
    annotate blame cat-file check-attr check-ignore cherry count-objects describe diff \
    diff-files diff-index diff-tree for-each-ref grep help log ls-files ls-remote ls-tree \
    merge-base name-rev range-diff rev-list rev-parse shortlog show status version";
const WRITING_OPTIONS: [&str; 7] = [
    "--output",
    "--open-files-in-pager",
    "--ext-diff",
    "--textconv",
    "--upload-pack",
    "--exec",
    "--web",
];
/// Settings that change how something looks.
const HARMLESS_SETTINGS: [&str; 3] = ["color.", "core.quotepath=", "log."];
const NO_PAGER: &str = "core.pager=cat";

impl Walk<'_> {
    pub(super) fn judge_git(&mut self, call: &Call<'_>) -> Option<Judged> {
        (call.name == "git").then(|| {
            let (subcommand, rest) = parts(call)?;
            self.remember_git(call);
            if has(rest, &["--help"]) {
                return self.reads(call);
            }
            if !is_looking(subcommand, rest) {
                return Err(Refusal::new(
                    Rule::Git,
                    format!("git {subcommand}"),
                    "it changes what git keeps, or files that are not known beforehand",
                ));
            }
            // A word that nobody knows could be `--output=FILE`.
            call.all_known()?;
            let is_pager = |word: &Word| word.text.starts_with("-O");
            if has(rest, &WRITING_OPTIONS) || rest.iter().any(is_pager) {
                return Err(call.doubt("one of its options writes or starts something"));
            }
            for pair in call.arguments.windows(2).filter(|pair| pair[0].text == "-C") {
                self.remember_place(&pair[1])?;
            }
            self.reads(call)
        })
    }
}

impl Walk<'_> {
    /// Every folder in which git would look for its repository.
    fn remember_git(&mut self, call: &Call<'_>) {
        let mut folders = call.directories.to_vec();
        for pair in call.arguments.windows(2).filter(|pair| pair[0].text == "-C") {
            folders = folders.iter().map(|folder| folder.join(&pair[1].text)).collect();
        }
        self.asked_git.extend(folders);
    }

    /// A folder with `HEAD`, `objects` and `refs` is a repository to git, whose settings name programs.
    pub(super) fn judge_asked_git(&mut self) -> Judged {
        let root = self.policy.project.root();
        let written: Vec<PathBuf> = self
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Writes { path } => Some(root.join(path)),
                Effect::Reads { .. } | Effect::Builds { .. } => None,
            })
            .collect();
        if self.is_lost && !self.asked_git.is_empty() && !written.is_empty() {
            return Err(super::doubt("git", "nobody can say in which folder it would look"));
        }
        for folder in &self.asked_git {
            for above in folder.ancestors().take_while(|above| above.starts_with(root)) {
                if above.join(".git").exists() {
                    break;
                }
                let head = above.join("HEAD");
                if written.contains(&head) || head.exists() && above.join("objects").exists() {
                    let why = "the folder is a repository of its own, whose settings name programs";
                    return Err(super::doubt("git", why));
                }
            }
        }
        Ok(())
    }
}

/// The subcommand and what follows it.
fn parts<'a>(call: &Call<'a>) -> Result<(&'a str, &'a [Word]), Refusal> {
    let mut at = 0;
    while let Some(word) = call.arguments.get(at) {
        let text = word.known().ok_or_else(|| call.doubt("one of its words is not known"))?;
        match text {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" | "--bare" => {
                at += 1;
            }
            "-C" => at += 2,
            "-c" => {
                let setting = call.arguments.get(at + 1).and_then(Word::known).unwrap_or_default();
                let is_harmless = setting == NO_PAGER
                    || HARMLESS_SETTINGS.iter().any(|harmless| setting.starts_with(harmless));
                if !is_harmless {
                    return Err(call.doubt("a setting can make git start a program"));
                }
                at += 2;
            }
            "--version" | "--help" => return Ok(("version", &[])),
            _ if text.starts_with('-') => {
                return Err(call.doubt("one of its options is not known"));
            }
            _ => return Ok((text, &call.arguments[at + 1..])),
        }
    }
    Ok(("help", &[]))
}

fn is_looking(subcommand: &str, rest: &[Word]) -> bool {
    let first = rest.first().map(|word| word.text.as_str());
    let is_only = |options: &[&str]| {
        rest.iter().all(|word| {
            word.known().is_some_and(|text| {
                options
                    .iter()
                    .any(|option| text == *option || text.starts_with(&format!("{option}=")))
            })
        })
    };
    match subcommand {
        "branch" => {
            let listing = first.is_some_and(|first| {
                matches!(
                    first,
                    "--list" | "-l" | "--contains" | "--merged" | "--no-merged" | "--points-at"
                )
            });
            let plain = [
                "-a",
                "-r",
                "-v",
                "-vv",
                "-av",
                "-avv",
                "--all",
                "--show-current",
                "--sort",
                "--format",
                "--no-color",
                "--column",
            ];
            listing && !has(rest, &["-d", "-D", "-m", "-M", "-c", "-C", "-f", "-u"])
                || is_only(&plain)
        }
        "tag" => {
            matches!(first, None | Some("-l" | "--list" | "--contains" | "--points-at" | "-n"))
        }
        "remote" => is_only(&["-v", "--verbose"]) || matches!(first, Some("show" | "get-url")),
        "config" => matches!(
            first,
            Some("--get" | "--get-all" | "--get-regexp" | "--list" | "-l" | "get" | "list")
        ),
        "stash" => matches!(first, Some("list" | "show")),
        "worktree" => first == Some("list"),
        "submodule" => matches!(first, None | Some("status" | "summary")),
        "reflog" => matches!(first, None | Some("show" | "list" | "exists")),
        "notes" => matches!(first, None | Some("list" | "show")),
        // `view` runs what follows it.
        "bisect" => first == Some("log"),
        "symbolic-ref" => {
            rest.iter().filter(|word| !word.text.starts_with('-')).count() <= 1
                && !has(rest, &["-d", "--delete"])
        }
        _ => is_listed(LOOKING, subcommand),
    }
}

/// The destructive class of a git command, and what of it is.
pub(super) fn destructive(call: &Call<'_>) -> Option<(Class, &'static str)> {
    // An option that is not known is refused elsewhere; here the subcommand may stand anywhere.
    let words = call.arguments;
    let at = words.iter().position(|word| {
        matches!(
            word.text.as_str(),
            "push"
                | "reset"
                | "branch"
                | "clean"
                | "stash"
                | "reflog"
                | "update-ref"
                | "tag"
                | "gc"
                | "filter-branch"
                | "filter-repo"
                | "checkout"
                | "switch"
                | "worktree"
        )
    })?;
    let rest = &words[at + 1..];
    match words[at].text.as_str() {
        "push" => {
            let is_plus = rest.iter().any(|word| word.text.starts_with('+'));
            let is_removed = rest.iter().any(|word| word.text.starts_with(':'));
            if has(rest, &["-d", "--delete", "--prune", "--mirror"]) || is_removed {
                return Some((Class::BranchDeletion, "it deletes what others have"));
            }
            let forced = ["-f", "--force", "--force-with-lease", "--force-if-includes"];
            (has(rest, &forced) || is_plus)
                .then_some((Class::ForcedPush, "it overwrites what others have"))
        }
        "reset" => has(rest, &["--hard", "--merge"])
            .then_some((Class::HardReset, "it throws away what is not committed")),
        "checkout" | "switch" => has(rest, &["-f", "--force", "--discard-changes"])
            .then_some((Class::HardReset, "it throws away what is not committed")),
        "branch" => has(rest, &["-d", "-D", "--delete"])
            .then_some((Class::BranchDeletion, "it deletes a branch")),
        "update-ref" | "tag" => has(rest, &["-d", "--delete"])
            .then_some((Class::BranchDeletion, "it deletes a reference")),
        "clean" => (!has(rest, &["-n", "--dry-run"]))
            .then_some((Class::RecursiveRemoval, "it removes what git does not track")),
        "worktree" => (rest.first().is_some_and(|word| word.text == "remove"))
            .then_some((Class::RecursiveRemoval, "it removes a work tree")),
        "stash" => rest
            .first()
            .is_some_and(|word| matches!(word.text.as_str(), "drop" | "clear"))
            .then_some((Class::HardReset, "it throws away what was put aside")),
        "reflog" => rest
            .first()
            .is_some_and(|word| matches!(word.text.as_str(), "expire" | "delete"))
            .then_some((Class::DisabledProtection, "it forgets what could be brought back")),
        "gc" => has(rest, &["--prune"])
            .then_some((Class::DisabledProtection, "it forgets what could be brought back")),
        _ => Some((Class::HardReset, "it rewrites history")),
    }
}
