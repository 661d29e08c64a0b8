//! The single way out to people: what a message may say, and the command that takes it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_guard::{Bounds, How, Input, Keeper, Program};

use crate::redact::{Ansi, Redacted, Redactor, said};
use crate::scan::{Scanner, taken_out};

/// What is sent in place of a message that holds a secret.
pub const REPLACED: &str = "[redacted by safety layer]";
/// A longer message is refused.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
const SENDING: Bounds = Bounds { time: Duration::from_secs(30), output_bytes: 64 * 1024 };
/// No file: the rules for paths do not say anything about it.
const PATH: &str = "message";

/// A message that was looked through.
#[derive(Debug)]
pub struct Judged {
    /// What may be sent.
    pub message: Redacted<String>,
    /// The rules that it matched, each once; then it was replaced.
    pub rules: Vec<String>,
    /// The message with what matched taken out.
    pub without: Redacted<String>,
}

/// Looks a message through.
pub fn judge(text: &str, scanner: &Scanner, redactor: &Redactor) -> Judged {
    // As people will see it: a colour in the middle of a key does not hide it.
    let stripped = Redactor::default().text(text, Ansi::Strip).into_inner();
    let mut rules = Vec::new();
    // Both: what a colour hides, and what a colour was only a letter of.
    for text in [text, stripped.as_str()] {
        rules.extend(scanner.scan(PATH, text.as_bytes()).into_iter().map(|found| found.rule));
    }
    let rest = taken_out(stripped.as_bytes(), scanner.scan(PATH, stripped.as_bytes()));
    rules.sort();
    rules.dedup();
    let without = redactor.text(&String::from_utf8_lossy(&rest), Ansi::Strip);
    let allowed = if rules.is_empty() { text } else { REPLACED };
    Judged { message: redactor.text(allowed, Ansi::Strip), rules, without }
}

/// Gives a message to a command on its standard input. The error says how it failed.
pub fn send(message: &Redacted<String>, program: Program, keeper: &Keeper) -> Result<(), String> {
    let program = program.input(Input::Bytes(message.get().clone().into_bytes()));
    let ended = keeper
        .run(&program, SENDING, &AtomicBool::new(false))
        .map_err(|error| error.to_string())?;
    match ended.how {
        How::Exited(0) => Ok(()),
        How::Exited(code) => {
            let complaint = said(&ended.stderr);
            let first = complaint.lines().next().unwrap_or_default();
            Err(format!("it exited with {code}: {}", ao_tree::shown(first)))
        }
        How::Signalled(signal) => Err(format!("signal {signal} ended it")),
        How::TimedOut => Err(format!("it took longer than {} s", SENDING.time.as_secs())),
        How::TooMuchOutput => Err("it said too much".into()),
        How::Stopped => Err("it was stopped".into()),
    }
}
