//! Builds, tests and checks: they run the project's own code and write its build folders, and are not
//! gated. What changes dependencies is a rule of its own; what rewrites sources names them or is in doubt.

use super::words::{Call, has};
use super::{Judged, Walk};
use crate::scope::{Change, Grant, Refusal, Rule};
use crate::shell::Word;

/// Programs, and their subcommands that build, test or check.
const BUILDERS: [(&str, &[&str]); 16] = [
    (
        "cargo",
        &[
            "b",
            "bench",
            "build",
            "c",
            "check",
            "clippy",
            "d",
            "doc",
            "locate-project",
            "metadata",
            "nextest",
            "pkgid",
            "t",
            "test",
            "tree",
            "verify-project",
        ],
    ),
    ("go", &["build", "doc", "env", "list", "test", "version", "vet"]),
    (
        "mvn",
        &["compile", "package", "test", "test-compile", "validate", "verify", "dependency:tree"],
    ),
    ("mvnw", &["compile", "package", "test", "test-compile", "validate", "verify"]),
    (
        "gradle",
        &["assemble", "build", "check", "compileJava", "dependencies", "projects", "tasks", "test"],
    ),
    (
        "gradlew",
        &["assemble", "build", "check", "compileJava", "dependencies", "projects", "tasks", "test"],
    ),
    ("dotnet", &["build", "test"]),
    ("swift", &["build", "test"]),
    ("mix", &["compile", "test"]),
    ("bazel", &["build", "query", "test"]),
    ("deno", &["check", "info", "lint", "test"]),
    ("zig", &["build", "test"]),
    ("stack", &["build", "test"]),
    ("cabal", &["build", "test"]),
    ("composer", &["show", "validate"]),
    ("bundle", &["check", "list", "show"]),
];

/// Programs that check whatever they are given.
const CHECKERS: [&str; 22] = [
    "ctest",
    "flake8",
    "golangci-lint",
    "hadolint",
    "jest",
    "markdownlint",
    "mocha",
    "mypy",
    "nox",
    "phpunit",
    "pylint",
    "pyright",
    "pytest",
    "py.test",
    "rspec",
    "shellcheck",
    "tox",
    "tsc",
    "typos",
    "vitest",
    "vue-tsc",
    "yamllint",
];

/// Programs that check or rewrite: by which option they only check, and by which they write.
const FORMATTERS: [(&str, &[&str], &[&str]); 10] = [
    ("prettier", &[], &["-w", "--write"]),
    ("eslint", &[], &["--fix"]),
    ("stylelint", &[], &["--fix"]),
    ("biome", &[], &["--write", "--apply", "--apply-unsafe", "--fix"]),
    ("gofmt", &[], &["-w"]),
    ("shfmt", &[], &["-w", "--write"]),
    ("rubocop", &[], &["-a", "-A", "--autocorrect", "--autocorrect-all"]),
    ("black", &["--check", "--diff"], &[]),
    ("isort", &["--check", "--check-only", "--diff"], &[]),
    ("rustfmt", &["--check"], &[]),
];

/// Tasks of a project by the first part of their names.
const TASKS: [&str; 15] = [
    "all",
    "bench",
    "build",
    "check",
    "ci",
    "compile",
    "coverage",
    "e2e",
    "format:check",
    "integration",
    "lint",
    "test",
    "type",
    "unit",
    "verify",
];

/// Options that lead a build elsewhere, or have it run something else.
const LEADING: [&str; 18] = [
    "-o",
    "-f",
    "-C",
    "--out",
    "--outDir",
    "--outFile",
    "--output",
    "--output-file",
    "--out-dir",
    "--target-dir",
    "--config",
    "--eval",
    "--file",
    "--makefile",
    "--directory",
    "--manifest-path",
    "--rootdir",
    "--resolve-plugins-relative-to",
];

const DEPENDENCY_VERBS: [&str; 12] = [
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
    pub(super) fn judge_build(&mut self, call: &Call<'_>) -> Option<Judged> {
        let name = call.name.as_str();
        if let Some((_, verbs)) = BUILDERS.iter().find(|(builder, _)| *builder == name) {
            return Some(self.builder(call, verbs));
        }
        if CHECKERS.contains(&name) {
            return Some(self.plain_build(call));
        }
        if let Some((_, checking, writing)) =
            FORMATTERS.iter().find(|(program, ..)| *program == name)
        {
            return Some(self.formatter(call, checking, writing));
        }
        match name {
            "npm" | "pnpm" | "yarn" | "bun" => Some(self.packages(call)),
            "npx" | "bunx" => Some(self.npx(call)),
            "make" | "gmake" | "ninja" | "just" | "task" | "rake" => Some(self.task(call)),
            "ruff" => Some(self.ruff(call)),
            "cmake" => Some(self.cmake(call)),
            "python" | "python3" => Some(self.python(call)),
            "node" | "php" => Some(self.interpreter(call)),
            _ => None,
        }
    }

    /// Runs the project's own code, as long as nothing leads it elsewhere.
    fn plain_build(&mut self, call: &Call<'_>) -> Judged {
        let own: &[Word] = match call.arguments.iter().position(|word| word.text == "--") {
            Some(at) => &call.arguments[..at],
            None => call.arguments,
        };
        let is_leading = own.iter().any(|word| {
            LEADING
                .iter()
                .any(|option| word.text == *option || word.text.starts_with(&format!("{option}=")))
        });
        if is_leading {
            return Err(call.doubt("an option leads it elsewhere"));
        }
        call.all_known()?;
        self.builds(call)
    }

    fn builder(&mut self, call: &Call<'_>, verbs: &[&str]) -> Judged {
        let arguments = match call.arguments.first() {
            Some(toolchain) if toolchain.text.starts_with('+') => &call.arguments[1..],
            _ => call.arguments,
        };
        let verb = arguments.first().and_then(Word::known).unwrap_or_default();
        if call.name == "cargo" && verb == "fmt" && has(arguments, &["--check"]) {
            return self.builds(call);
        }
        if verbs.contains(&verb) {
            if has(arguments, &["--fix"]) {
                return Err(call.doubt("it rewrites files that are not known beforehand"));
            }
            return self.plain_build(call);
        }
        if matches!(call.name.as_str(), "cargo" | "go") && DEPENDENCY_VERBS.contains(&verb) {
            return self
                .dependencies(call, if call.name == "go" { "go.mod" } else { "Cargo.toml" });
        }
        Err(call.doubt("nobody can say what this would write"))
    }

    /// Changes the manifest in the folder where it runs.
    fn dependencies(&mut self, call: &Call<'_>, manifest: &str) -> Judged {
        if !self.policy.grants.contains(&Grant::Dependencies) {
            let why = "dependencies are changed only with the grant `dependencies`";
            return Err(Refusal::new(Rule::Dependencies, &call.name, why));
        }
        self.write_word(&Word::literal(manifest), Change::Unknown, call.directories)
    }

    fn packages(&mut self, call: &Call<'_>) -> Judged {
        let looking = [
            "ls", "list", "outdated", "view", "info", "why", "explain", "root", "bin", "prefix",
            "audit", "ping",
        ];
        if has(call.arguments, &["--prefix", "--dir", "--cwd", "-g", "--global", "--script-shell"])
        {
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
    fn npx(&mut self, call: &Call<'_>) -> Judged {
        let at = call
            .arguments
            .iter()
            .position(|word| word.text != "--no-install" && word.text != "--no");
        let words = call.arguments.get(at.unwrap_or(0)..).unwrap_or_default();
        let name = words.first().and_then(Word::known).unwrap_or_default();
        let is_known =
            CHECKERS.contains(&name) || FORMATTERS.iter().any(|(program, ..)| *program == name);
        if !is_known {
            return Err(call.doubt("nobody can say what this program would write"));
        }
        self.call(words, call.stdin, call.before, call.directories)
    }

    fn task(&mut self, call: &Call<'_>) -> Judged {
        let is_plain = call.arguments.iter().all(|word| {
            let text = word.text.as_str();
            word.known().is_some()
                && (is_task(text)
                    || text.starts_with("-j")
                    || matches!(text, "-k" | "-n" | "-s" | "-B" | "--silent" | "--dry-run")
                    || text.bytes().all(|byte| byte.is_ascii_digit()))
        });
        if !is_plain {
            return Err(call.doubt("nobody can say what this task would write"));
        }
        self.builds(call)
    }

    fn formatter(&mut self, call: &Call<'_>, checking: &[&str], writing: &[&str]) -> Judged {
        let is_writing =
            has(call.arguments, writing) || !checking.is_empty() && !has(call.arguments, checking);
        if !is_writing {
            return self.plain_build(call);
        }
        call.all_known()?;
        let files = call.operands(&["--config", "--ignore-path", "-l", "--line-length"]);
        if files.is_empty() || has(call.arguments, &["--config", "--plugin", "--rulesdir"]) {
            return Err(call.doubt("it rewrites files that are not known beforehand"));
        }
        for file in files {
            for path in self.paths(file, call.directories)? {
                if self.policy.judge(&path, Change::Unknown)? == crate::scope::Standing::Folder {
                    return Err(call.doubt("it rewrites files that are not known beforehand"));
                }
            }
        }
        self.builds(call)
    }

    fn ruff(&mut self, call: &Call<'_>) -> Judged {
        match call.subcommand() {
            Some(("check", rest)) if !has(rest, &["--fix", "--add-noqa", "--unsafe-fixes"]) => {
                self.plain_build(call)
            }
            Some(("format", rest)) if has(rest, &["--check", "--diff"]) => self.plain_build(call),
            _ => Err(call.doubt("it rewrites files that are not known beforehand")),
        }
    }

    fn cmake(&mut self, call: &Call<'_>) -> Judged {
        if call.arguments.first().and_then(Word::known) == Some("--build")
            && !has(call.arguments, &["--target"])
        {
            return self.builds(call);
        }
        Err(call.doubt("it writes files that are not known beforehand"))
    }

    fn python(&mut self, call: &Call<'_>) -> Judged {
        match call.arguments {
            [option, module, rest @ ..] if option.known() == Some("-m") => match module.known() {
                Some("unittest") => self.builds(call),
                Some("json.tool")
                    if rest.iter().filter(|word| !word.text.starts_with('-')).count() <= 1 =>
                {
                    self.reads(call)
                }
                Some(
                    "pytest" | "mypy" | "flake8" | "pylint" | "black" | "isort" | "ruff" | "pip"
                    | "tox" | "nox",
                ) => self.call(&call.arguments[1..], call.stdin, call.before, call.directories),
                _ => Err(call.doubt("nobody can say what this module would write")),
            },
            _ => self.interpreter(call),
        }
    }

    fn interpreter(&mut self, call: &Call<'_>) -> Judged {
        match (call.name.as_str(), call.arguments.first().and_then(Word::known)) {
            ("node", Some("--test"))
                if !has(call.arguments, &["-r", "--require", "--import", "-e", "--loader"]) =>
            {
                self.builds(call)
            }
            ("node", Some("--check" | "-c" | "-v")) | ("php", Some("-l")) => self.reads(call),
            _ => Err(call.doubt("it runs a program that nobody has read")),
        }
    }
}

fn is_task(name: &str) -> bool {
    TASKS.iter().any(|task| {
        name.strip_prefix(task).is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with([':', '-', '_', '.'])
                || rest == "s"
                || rest == "check"
        })
    })
}
