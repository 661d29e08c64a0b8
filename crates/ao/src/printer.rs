//! Data on standard output, everything else on standard error.

use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use ao_contract::Exit;
use serde_json::{Map, Value, json};

use crate::cli::Global;
use crate::failure::Failure;

pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const DOUBT: Style = AnsiColor::Yellow.on_default();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();

#[derive(Debug)]
pub(crate) struct Printer {
    is_json: bool,
    is_quiet: bool,
}

/// Text in a colour, where colours are wanted.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

impl Printer {
    pub(crate) fn new(global: &Global) -> Self {
        if global.no_color {
            anstream::ColorChoice::Never.write_global();
        }
        Self { is_json: global.json, is_quiet: global.quiet }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// The answer to a command: `fields` as JSON, or `text` for people.
    pub(crate) fn answer(&self, command: &str, fields: Value, text: &str) {
        if self.is_json {
            let mut object = Map::new();
            object.insert("schema_version".into(), 1.into());
            object.insert("command".into(), command.into());
            if let Value::Object(fields) = fields {
                object.extend(fields);
            }
            data(&format!("{:#}\n", Value::Object(object)));
        } else {
            data(text);
        }
    }

    /// What is good to know while waiting; left out when asked to be quiet.
    pub(crate) fn note(&self, text: &str) {
        if !self.is_quiet {
            say(text);
        }
    }

    pub(crate) fn failure(&self, failure: &Failure) -> Exit {
        let mut text = format!("{} {}", paint(BAD.bold(), "error:"), failure.message);
        for hint in &failure.hints {
            let _ = write!(text, "\n{} {hint}", paint(STRONG, "hint:"));
        }
        say(&text);
        if self.is_json {
            let error = json!({ "exit": failure.exit.code(), "message": failure.message, "hints": failure.hints });
            let object = json!({ "schema_version": 1, "error": error });
            data(&format!("{object:#}\n"));
        }
        failure.exit
    }
}

fn data(text: &str) {
    // A closed pipe is the reader's way to say "enough".
    let _ = anstream::stdout().lock().write_all(text.as_bytes());
}

fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
