//! Programs that manage the packages of a project: its scripts, and its dependencies.

use super::build::{CHECKERS, FORMATTERS, is_task};
use super::words::{Call, has, is_listed};
use super::{Judged, Walk};
use crate::scope::{Change, Grant, Refusal, Rule};
use crate::shell::Word;

pub(super) const DEPENDENCY_VERBS: [&str; 12] = [
    "add",
    "remove",
    "rm",
    "uninstall",
    "un",
    "update",
    "up",
    "upgrade",
    "install",
    "i",
    "link",
    "dedupe",
];

impl Walk<'_> {
    /// Changes the manifest in the folder where it runs.
    pub(super) fn dependencies(&mut self, call: &Call<'_>, manifest: &str) -> Judged {
        if !self.policy.grants.contains(&Grant::Dependencies) {
            let why = "dependencies are changed only with the grant `dependencies`";
            return Err(Refusal::new(Rule::Dependencies, &call.name, why));
        }
        self.write_word(&Word::literal(manifest), Change::Unknown, call.directories)
    }

    pub(super) fn packages(&mut self, call: &Call<'_>) -> Judged {
        let looking = [
            "ls", "list", "outdated", "view", "info", "why", "explain", "root", "bin", "prefix",
            "audit", "ping",
        ];
        let own = call.arguments.split(|word| word.text == "--").next().unwrap_or_default();
        if has(own, &["--prefix", "--dir", "--cwd", "-g", "--global", "--script-shell"]) {
            return Err(call.doubt("an option leads it elsewhere"));
        }
        let Some((verb, rest)) = call.subcommand() else {
            return if call.name == "yarn" { self.builds(call) } else { self.reads(call) };
        };
        let operands = rest.iter().filter(|word| !word.text.starts_with('-')).count();
        match verb {
            "test" | "t" | "tst" | "ci" => self.plain_build(call),
            "install" | "i" if operands == 0 => self.builds(call),
            "run" | "run-script" => match rest.first().and_then(Word::known) {
                Some(script) if is_task(script) => self.plain_build(call),
                _ => Err(call.doubt("nobody can say what this script would write")),
            },
            verb if DEPENDENCY_VERBS.contains(&verb) => self.dependencies(call, "package.json"),
            verb if looking.contains(&verb) && !rest.iter().any(|word| word.text == "fix") => {
                self.reads(call)
            }
            verb if call.name != "npm" && is_task(verb) => self.plain_build(call),
            "exec" => self.call(rest, call.stdin, call.before, call.directories),
            _ => Err(call.doubt("nobody can say what this would write")),
        }
    }

    /// A program of the project's own; one that would be fetched first is another matter.
    pub(super) fn npx(&mut self, call: &Call<'_>) -> Judged {
        let at = call
            .arguments
            .iter()
            .position(|word| word.text != "--no-install" && word.text != "--no");
        let words = call.arguments.get(at.unwrap_or(0)..).unwrap_or_default();
        let name = words.first().and_then(Word::known).unwrap_or_default();
        let is_known =
            is_listed(CHECKERS, name) || FORMATTERS.iter().any(|(program, ..)| *program == name);
        if !is_known {
            return Err(call.doubt("nobody can say what this program would write"));
        }
        self.call(words, call.stdin, call.before, call.directories)
    }
}
