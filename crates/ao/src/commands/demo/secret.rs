//! An act of the demo: a program that has a secret and says it in every way it can.

use std::path::Path;

use ao_guard::{Ended, Input, Keeper, Program};
use ao_tree::own_file;
use ao_vault::{Ansi, MARK, redactor};
use serde_json::{Value, json};

use super::{BOUNDS, Stage, broken};
use crate::failure::Failure;
use crate::printer::{BAD, GOOD, Printer, STRONG, paint};

const HOME: &str = "home";
/// Made up: it opens nothing.
const VALUE: &str = "made-up/4f9aC71e+5d20Bq6x";
const WAYS: [(&str, &str); 5] = [
    ("as it is", "echo \"$KEY\""),
    ("in base64", "printf 'x%s' \"$KEY\" | base64"),
    ("in hex", "printf %s \"$KEY\" | od -An -v -tx1 | tr -d ' \\n'; echo"),
    ("in two writes", "printf %.9s \"$KEY\"; sleep 0.1; echo \"${KEY#?????????}\""),
    ("in red and blue", "printf '\\033[31m%.9s\\033[34m' \"$KEY\"; echo \"${KEY#?????????}\""),
];

/// Of base64, the digits that stand for bits of the neighbours too.
const EDGES: usize = 4;

/// What came out.
pub(super) struct Untold {
    /// Why nothing was shown, if nothing was.
    missing: Option<String>,
    is_held: bool,
}

impl Untold {
    pub(super) fn json(&self) -> Value {
        json!({ "held": self.missing.is_none().then_some(self.is_held), "not_shown": self.missing })
    }

    pub(super) fn is_good(&self) -> bool {
        self.is_held || self.missing.is_some()
    }
}

impl Stage {
    pub(super) fn keep_secret(&self, printer: &Printer) -> Result<Untold, Failure> {
        ao_tree::make_folders(&self.repo.root, HOME).map_err(|error| broken(&error))?;
        let number = paint(STRONG, "7.");
        printer.note(&format!("{number} `ao vault run KEY`: a program that has a secret says it"));
        for (arguments, input) in
            [(["vault", "init"].as_slice(), ""), (&["vault", "write", "KEY"], VALUE)]
        {
            let ended = self.at_home(arguments, input)?;
            if !ended.is_success() {
                return Err(broken(&String::from_utf8_lossy(&ended.stderr)));
            }
        }
        let script: Vec<&str> = WAYS.iter().map(|(_, way)| *way).collect();
        let script = script.join("\n");
        let ended =
            self.at_home(&["-q", "vault", "run", "KEY", "--", "/bin/sh", "-c", &script], "")?;
        if !ended.is_success() {
            let why = String::from_utf8_lossy(&ended.stderr)
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned();
            printer.note(&format!("   cannot be shown on this machine: {why}"));
            return Ok(Untold { missing: Some(why), is_held: false });
        }
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        let mut lines = said.lines();
        let mut is_held = true;
        for (way, _) in WAYS {
            let line = redactor().text(lines.next().unwrap_or_default(), Ansi::Strip);
            let line = line.get();
            is_held &= line.contains(MARK) && line.len() <= MARK.len() + EDGES;
            printer.note(&format!("   {way:<37} {}", ao_tree::shown(line)));
        }
        let found = files_with_value(&self.repo.root).map_err(|error| broken(&error))?;
        is_held &= found == 0 && lines.next().is_none();
        let verdict = if is_held { paint(GOOD, "kept") } else { paint(BAD, "not kept") };
        printer.note(&format!("   {verdict}; files beneath it with the secret in them: {found}"));
        Ok(Untold { missing: None, is_held })
    }

    /// `ao`, for somebody whose home is in here.
    fn at_home(&self, arguments: &[&str], input: &str) -> Result<Ended, Failure> {
        let program = Program::new(&self.program)
            .arguments(arguments)
            .variable("HOME", self.repo.root.join(HOME))
            .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
            .directory(&self.repo.root)
            .input(Input::Bytes(input.as_bytes().to_vec()));
        Keeper::this_binary().run(&program, BOUNDS, &false.into()).map_err(|error| broken(&error))
    }
}

fn files_with_value(folder: &Path) -> std::io::Result<usize> {
    let mut found = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            found += files_with_value(&path)?;
        } else if path.is_file() {
            let bytes = own_file::read(&path, super::FILE_BYTES_MAX)?;
            found += usize::from(bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes()));
        }
    }
    Ok(found)
}
