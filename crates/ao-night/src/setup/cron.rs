//! `cron.txt`: one line for a crontab, between two marks.
//!
//! The variables stand in the line itself: as lines of their own they would be those of every job beneath.

use std::fmt::Write as _;

use super::{At, Commands, File, Job, Unfit, heading, quote};

pub(super) const FILE: &str = "cron.txt";
/// Debian's cron takes no longer command.
const COMMAND_BYTES_MAX: usize = 998;

pub(super) fn table(job: &Job) -> Result<File, Unfit> {
    let command = command(job);
    if command.len() > COMMAND_BYTES_MAX {
        return Err(Unfit {
            why: format!(
                "the line for cron would have {} bytes, and cron takes {COMMAND_BYTES_MAX}",
                command.len()
            ),
            remedy: "run setup with a shorter PATH that has what the night needs, such as `PATH=/usr/local/bin:/usr/bin:/bin ao overnight setup …`".to_owned(),
        });
    }
    let (begin, end) = marks(job);
    let At { hour, minute } = job.at;
    let mut text = format!("{begin}\n");
    for line in heading(job, "cron", "a system with cron") {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str(
        "# Local time. A machine that is off or asleep then misses this night: cron does not make up for it.\n\
         # What the night says goes where cron puts a job's output, which is mail on most machines.\n",
    );
    let _ = write!(text, "{minute} {hour} * * * {command}\n{end}\n");
    Ok(File { name: FILE, text })
}

fn command(job: &Job) -> String {
    let mut words = vec!["/usr/bin/env".to_owned()];
    words.extend(
        job.environment().iter().map(|(name, value)| format!("{name}={}", quote::cron(value))),
    );
    words.push(quote::cron(&job.program));
    words.extend(job.arguments().iter().map(|word| quote::cron(word)));
    words.join(" ")
}

fn marks(job: &Job) -> (String, String) {
    let mark = job.mark();
    (format!("# ao-dream {mark} begin"), format!("# ao-dream {mark} end"))
}

pub(super) fn commands(job: &Job) -> Commands {
    let (begin, end) = marks(job);
    let without = format!("crontab -l | sed '/^{begin}$/,/^{end}$/d'");
    let file = quote::shell(&job.file(FILE));
    Commands {
        install: vec![format!("({without}; cat {file}) | crontab -")],
        remove: vec![format!("{without} | crontab -")],
        notes: vec![
            "Everything else in your crontab stays as it is, and an earlier line of this repository is replaced. With no crontab yet, `crontab -l` says so and that is fine.".into(),
            "A machine that is off or asleep at that time misses the night: cron does not make up for it.".into(),
        ],
    }
}
