//! Builds, tests and checks: they run the project's own code and write its build folders, and are not
//! gated. What changes dependencies is a rule of its own; what rewrites sources names them or is in doubt.

use super::packages::DEPENDENCY_VERBS;
use super::words::{Call, has, is_listed};
use super::{Judged, Walk};
use crate::scope::Change;
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
pub(super) const CHECKERS: &str = "\
    ctest flake8 golangci-lint hadolint jest markdownlint mocha mypy nox phpunit pylint pyright \
    pytest py.test rspec shellcheck tox tsc vitest vue-tsc yamllint";

/// Programs that check or rewrite: by which option they only check, and by which they write.
pub(super) const FORMATTERS: [(&str, &[&str], &[&str]); 11] = [
    ("typos", &[], &["-w", "--write-changes"]),
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
const LEADING: &str = "\
    --basetemp --build-file --cache-location --cacheDirectory --confcutdir --config --cov-report \
    --coverageDirectory --directory --eval --file --fix --import --init-script --junit-xml \
    --junitxml --loader --log-file --log-junit --makefile --manifest-path --out --out-dir \
    --outDir --outFile --output --output-file --outputFile --plugin --project-dir --require \
    --resolve-plugins-relative-to --rootdir --rulesdir --target-dir --test-reporter-destination \
    -C -I -b -c -coverprofile -cpuprofile -exec -f -memprofile -modfile -o -outputdir -overlay \
    -r -toolexec -trace -vettool";

/// Options that may stand before a subcommand and change nothing of what it does.
const QUIET: &str = "-q -v -B -ntp --quiet --verbose --offline --locked";

impl Walk<'_> {
    pub(super) fn judge_build(&mut self, call: &Call<'_>) -> Option<Judged> {
        let name = call.name.as_str();
        if let Some((_, verbs)) = BUILDERS.iter().find(|(builder, _)| *builder == name) {
            return Some(self.builder(call, verbs));
        }
        if is_listed(CHECKERS, name) {
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
    pub(super) fn plain_build(&mut self, call: &Call<'_>) -> Judged {
        let own: &[Word] = match call.arguments.iter().position(|word| word.text == "--") {
            Some(at) => &call.arguments[..at],
            None => call.arguments,
        };
        let is_leading = own.iter().any(|word| {
            let name = word.text.split('=').next().unwrap_or(&word.text);
            // To these it means all packages, or a release.
            let is_recursive =
                name == "-r" && matches!(call.name.as_str(), "cargo" | "pnpm" | "yarn");
            is_listed(LEADING, name) && !is_recursive
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
        let is_quiet = |word: &&Word| is_listed(QUIET, &word.text);
        let verb = arguments.iter().find(|word| !is_quiet(word)).and_then(Word::known);
        let verb = verb.unwrap_or_default();
        if call.name == "cargo" && verb == "fmt" && has(arguments, &["--check"]) {
            return self.builds(call);
        }
        if verbs.contains(&verb) {
            // Of these every word is a goal, and a setting can name a program.
            let is_goals = matches!(call.name.as_str(), "mvn" | "mvnw" | "gradle" | "gradlew");
            let is_plain = |word: &Word| {
                let text = word.text.as_str();
                verbs.contains(&text)
                    || text == "-DskipTests"
                    || text.starts_with("-Dtest=")
                    || text.starts_with('-') && !text.starts_with("-D") && !text.starts_with("-p")
            };
            if is_goals && !arguments.iter().all(is_plain) {
                return Err(call.doubt("one of its words names something else to be run"));
            }
            return self.plain_build(call);
        }
        if matches!(call.name.as_str(), "cargo" | "go") && DEPENDENCY_VERBS.contains(&verb) {
            return self
                .dependencies(call, if call.name == "go" { "go.mod" } else { "Cargo.toml" });
        }
        Err(call.doubt("nobody can say what this would write"))
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
                    if call.all_known().is_ok()
                        && rest.iter().filter(|word| !word.text.starts_with('-')).count() <= 1 =>
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
            ("node", Some("--check" | "-c" | "-v")) | ("php", Some("-l"))
                if call.arguments[1..].len() <= 1
                    && call.arguments[1..]
                        .iter()
                        .all(|word| word.known().is_some_and(|text| !text.starts_with('-'))) =>
            {
                self.reads(call)
            }
            _ => Err(call.doubt("it runs a program that nobody has read")),
        }
    }
}

/// Whether a program builds or checks, whoever installed it.
pub(super) fn is_checker(name: &str) -> bool {
    is_listed(CHECKERS, name) || FORMATTERS.iter().any(|(program, ..)| *program == name)
}

pub(super) fn is_task(name: &str) -> bool {
    TASKS.iter().any(|task| {
        name.strip_prefix(task).is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with([':', '-', '_', '.'])
                || rest == "s"
                || rest == "check"
        })
    })
}
