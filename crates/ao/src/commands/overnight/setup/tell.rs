//! What a setup says.

use std::fmt::Write as _;

use ao_night::setup::{FOLDER, Scheduler};
use ao_tree::shown;
use serde_json::{Value, json};

use super::Setup;
use super::edit::Edited;
use super::probe::{Check, Verdict};
use crate::printer::{BAD, DOUBT, GOOD, Printer, STRONG, paint};

pub(super) fn tell(setup: &Setup, printer: &Printer) {
    printer.answer("overnight setup", fields(setup), &text(setup));
}

fn fields(setup: &Setup) -> Value {
    let Setup { choice, job, edited, files, commands, preflight, .. } = setup;
    let files: Vec<Value> = files
        .iter()
        .map(|planned| {
            json!({
                "path": format!("{FOLDER}/{}", planned.file.name),
                "status": planned.status.name(),
                "text": planned.file.text,
            })
        })
        .collect();
    let environment: serde_json::Map<String, Value> = job
        .environment()
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).into()))
        .collect();
    json!({
        "applied": setup.is_applied,
        "scheduler": {
            "mode": choice.scheduler.name(),
            "why": choice.why,
            "lacks": choice.lacks,
        },
        "at": (choice.scheduler != Scheduler::Manual).then(|| job.at.to_string()),
        "config": {
            "path": Edited::path(),
            "status": config_status(edited),
            "diff": edited.diff,
        },
        "files": files,
        "left_over": setup.left_over,
        "install": commands.install,
        "remove": commands.remove,
        "notes": commands.notes,
        "by_hand": job.by_hand(),
        "path_left_out": setup.dropped,
        "preflight": {
            "ok": preflight.is_good(),
            "environment": environment,
            "checks": preflight.checks,
        },
    })
}

fn config_status(edited: &Edited) -> &'static str {
    if edited.is_same() {
        "unchanged"
    } else if edited.is_new() {
        "new"
    } else {
        "changed"
    }
}

/// Each line by itself: what a name could do to a terminal it does not do.
fn lines(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => shown(line) + "\n",
            None => shown(line) + "\n",
        })
        .collect()
}

fn text(setup: &Setup) -> String {
    let Setup { choice, job, edited, commands, .. } = setup;
    let mut text = String::new();
    let head = |text: &str| paint(STRONG, text);
    let _ = writeln!(text, "{} {} ({})", head("Scheduler:"), choice.scheduler.name(), choice.why);
    if choice.scheduler != Scheduler::Manual {
        let _ = writeln!(text, "{} {} every day, local time", head("Time:"), job.at);
    }
    if let Some(lacks) = choice.lacks {
        let _ = writeln!(text, "{} {lacks}", paint(DOUBT, "Not for this machine as it is:"));
    }
    let _ = writeln!(text, "\n{} {}", head(Edited::path()), config_status(edited));
    text.push_str(&lines(&edited.diff));
    for planned in &setup.files {
        let name = format!("{FOLDER}/{}", planned.file.name);
        let _ = writeln!(text, "\n{} {}", head(&name), planned.status.name());
        text.push_str(&lines(&planned.file.text));
    }
    if !setup.left_over.is_empty() {
        let names = setup.left_over.join(", ");
        let _ = writeln!(
            text,
            "\nOf an earlier setup, and left as they are: {names}. If you installed one, take it back, or two schedulers start a night."
        );
    }
    text.push_str(&preflight(setup));
    let begin = match choice.scheduler {
        Scheduler::Manual => "To start a night:",
        _ => "To install it, which ao never does by itself:",
    };
    list(&mut text, begin, &commands.install);
    if !commands.remove.is_empty() {
        list(&mut text, "To take it back:", &commands.remove);
    }
    text.push('\n');
    for note in &commands.notes {
        let _ = writeln!(text, "{}", shown(note));
    }
    let is_same =
        edited.is_same() && setup.files.iter().all(|planned| planned.status == super::Status::Same);
    text.push_str(match (setup.is_applied, is_same) {
        (_, true) => "Everything is so already; nothing was written.\n",
        (true, false) => "The configuration and the files are written. Nothing is registered, enabled or started.\n",
        (false, false) => "Nothing was changed; --apply writes what is shown.\n",
    });
    text
}

fn list(text: &mut String, head: &str, each: &[String]) {
    let _ = writeln!(text, "\n{}", paint(STRONG, head));
    for line in each {
        let _ = writeln!(text, "  {}", shown(line));
    }
}

fn preflight(setup: &Setup) -> String {
    let head = "Preflight, with the night's own PATH, HOME and USER and nothing else:";
    let mut text = format!("\n{}\n", paint(STRONG, head));
    for Check { name, verdict, found, remedy } in &setup.preflight.checks {
        let word = match verdict {
            Verdict::Good => paint(GOOD, "good "),
            Verdict::Doubt => paint(DOUBT, "doubt"),
            Verdict::Bad => paint(BAD, "bad  "),
        };
        let _ = writeln!(text, "  {word} {}: {}", shown(name), shown(found));
        if let Some(remedy) = remedy {
            let _ = writeln!(text, "        {}", shown(remedy));
        }
    }
    if !setup.dropped.is_empty() {
        let _ = writeln!(
            text,
            "  Left out of PATH (not there, not absolute, or in the repository): {}",
            setup.dropped.join(", ")
        );
    }
    text
}
