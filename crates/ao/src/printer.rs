//! Data on standard output, everything else on standard error, and all of it redacted.
//!
//! Nothing else in the program touches the two streams: the lint sees to that.
#![expect(clippy::disallowed_methods, reason = "this is the room that prints")]

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use ao_contract::Exit;
use ao_vault::{Ansi, Redacted, redactor};
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

/// A value of a file or a variable as one line of a message, with its control characters escaped.
pub(crate) fn excerpt(value: &str, chars_max: usize) -> String {
    let line = ao_tree::shown(value);
    let mut text: String = line.chars().take(chars_max).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text
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

    /// Before anything was asked for.
    pub(crate) fn plain() -> Self {
        Self { is_json: false, is_quiet: false }
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
            json_data(&Value::Object(object));
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
            json_data(&object);
        }
        failure.exit
    }
}

/// One of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Data,
    /// Standard error.
    Talk,
}

const CLEAR_LINE: &str = "\r\x1b[2K";

/// Whether a person sees it.
pub(crate) fn is_screen(stream: Stream) -> bool {
    match stream {
        Stream::Data => io::stdout().is_terminal(),
        Stream::Talk => io::stderr().is_terminal(),
    }
}

/// A line that replaces the one before it, on a terminal.
pub(crate) fn progress(line: &str) {
    let _ = put(Stream::Talk, &format!("{CLEAR_LINE}{line}"));
}

/// A question, whose answer stands behind it.
pub(crate) fn ask(question: &str) -> io::Result<()> {
    put(Stream::Talk, question)
}

/// What another program said goes on as it is, but a terminal is not acted upon.
pub(crate) fn pass_on(stream: Stream, bytes: &Redacted<Vec<u8>>) -> io::Result<()> {
    let plain = is_screen(stream).then(|| unacted(bytes.get()));
    let bytes = plain.as_ref().map_or(bytes.get().as_slice(), |text| text.as_bytes());
    match stream {
        Stream::Data => {
            io::stdout().write_all(bytes)?;
            io::stdout().flush()
        }
        Stream::Talk => io::stderr().write_all(bytes),
    }
}

/// What the reader of the command line has to say, and its colours.
pub(crate) fn usage(error: &clap::Error) {
    let stream = if error.use_stderr() { Stream::Talk } else { Stream::Data };
    let text = error.render().ansi().to_string();
    match stream {
        Stream::Data => data(&text),
        Stream::Talk => drop(put(stream, &text)),
    }
}

/// Has a panic told as everything else is.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        say(&format!("thread '{}' {panic}", thread.name().unwrap_or("of no name")));
    }));
}

fn json_data(object: &Value) {
    // Each string by itself: what JSON does to line breaks and sequences must not hide a value.
    if let Ok(bytes) = redactor().json(object) {
        data(&String::from_utf8_lossy(bytes.get()));
    }
}

fn data(text: &str) {
    if let Err(error) = put(Stream::Data, text)
        // A closed pipe is the reader's way to say "enough".
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = UNWRITTEN.set(error.to_string());
    }
}

/// Why an answer was not written, if that was so.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// The exit code of the process: whoever did not get the answer is not told that all is well.
pub(crate) fn delivered(code: u8) -> u8 {
    let Some(why) = UNWRITTEN.get().filter(|_| code == Exit::Done.code()) else { return code };
    let failure = Failure::new(Exit::Failed, format!("the answer could not be written: {why}"))
        .hint("what the command did is done; make room, then ask again");
    Printer::plain().failure(&failure).code()
}

fn say(text: &str) {
    let _ = put(Stream::Talk, &format!("{text}\n"));
}

/// The only write of text. Where colours are not wanted they are taken out first, with whatever else a
/// terminal would not show: what is looked through is what comes out.
fn put(stream: Stream, text: &str) -> io::Result<()> {
    let choice = match stream {
        Stream::Data => anstream::AutoStream::choice(&io::stdout()),
        Stream::Talk => anstream::AutoStream::choice(&io::stderr()),
    };
    let text = match choice {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        _ => text.to_owned(),
    };
    let text = redactor().text(&text, Ansi::Keep);
    match stream {
        Stream::Data => {
            let mut output = io::stdout().lock();
            output.write_all(text.get().as_bytes())?;
            output.flush()
        }
        Stream::Talk => io::stderr().lock().write_all(text.get().as_bytes()),
    }
}

fn unacted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| line.split('\t').map(ao_tree::shown).collect::<Vec<_>>().join("\t"))
        .collect();
    lines.join("\n")
}
