//! The evening before: files with which a system's own scheduler starts the night.
//!
//! Everything here is a pure function of what the binary hands in, so the same setup is the same bytes.
//! Nothing is registered, enabled or started: the files are for a person to read, and so is the command
//! that installs them.

mod cron;
mod launchd;
mod pick;
mod quote;
mod systemd;
mod windows;
pub mod yaml;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

pub use pick::{Machine, Picked, pick};

/// Where the files go, beneath the repository.
pub const FOLDER: &str = ".agentops/generated/dream";

/// Who starts the night.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// A person does.
    Manual,
    Launchd,
    Cron,
    Systemd,
    TaskScheduler,
}

impl Scheduler {
    pub const ALL: [Self; 5] =
        [Self::Manual, Self::Launchd, Self::Cron, Self::Systemd, Self::TaskScheduler];

    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Launchd => "launchd",
            Self::Cron => "cron",
            Self::Systemd => "systemd",
            Self::TaskScheduler => "task-scheduler",
        }
    }

    /// The names of its files.
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Self::Manual => &[],
            Self::Launchd => &[launchd::FILE],
            Self::Cron => &[cron::FILE],
            Self::Systemd => &[systemd::SERVICE, systemd::TIMER],
            Self::TaskScheduler => &[windows::TASK, windows::SCRIPT],
        }
    }
}

/// A time of day, on this machine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    hour: u8,
    minute: u8,
}

impl FromStr for At {
    type Err = String;

    /// `HH:MM`, with both digits of each.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || "not a time of day from 00:00 to 23:59, such as 03:00".to_owned();
        let digits = |part: &str| {
            let is_two = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            is_two.then(|| part.parse::<u8>().ok()).flatten()
        };
        let (hour, minute) = text.split_once(':').ok_or_else(bad)?;
        let (hour, minute) = (digits(hour).ok_or_else(bad)?, digits(minute).ok_or_else(bad)?);
        let last_hour = if ao_mutant::active("RUN-04/24-is-an-hour") { 24 } else { 23 };
        if hour > last_hour || minute > 59 {
            return Err(bad());
        }
        Ok(Self { hour, minute })
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

/// The family of systems whose scheduler a file is for, and the one that it was made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The scheduler is one of this system.
    Here,
    /// Of another: the paths are those of this machine.
    Elsewhere,
}

/// What is to be started, when, and with what around it.
#[derive(Debug, Clone)]
pub struct Job {
    /// This program, by its absolute path.
    pub program: String,
    pub repository: String,
    pub at: At,
    /// All that the files set: a scheduler's own environment has none of it.
    pub path: String,
    pub home: String,
    pub user: String,
    pub origin: Origin,
    /// Of the Linux inside of a Windows, if it has a name.
    pub distribution: Option<String>,
}

/// A file that was thought out and is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub name: &'static str,
    pub text: String,
}

/// What a person types, and how to take it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    pub install: Vec<String>,
    pub remove: Vec<String>,
    /// What it does not promise.
    pub notes: Vec<String>,
}

/// A job that this scheduler cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unfit {
    pub why: String,
    pub remedy: String,
}

impl Job {
    /// The variables that every file sets.
    pub fn environment(&self) -> [(&'static str, &str); 3] {
        let home = if ao_mutant::active("RUN-12/home-is-lost") { "/" } else { &self.home };
        [("PATH", &self.path), ("HOME", home), ("USER", &self.user)]
    }

    /// The arguments after the program.
    fn arguments(&self) -> [&str; 4] {
        ["-C", &self.repository, "overnight", "start"]
    }

    /// The same line for a person's shell.
    pub fn by_hand(&self) -> String {
        let words = std::iter::once(self.program.as_str()).chain(self.arguments());
        words.map(quote::shell).collect::<Vec<_>>().join(" ")
    }

    /// Tells this repository's job from those of others in a file that they share.
    fn mark(&self) -> String {
        blake3::hash(self.repository.as_bytes()).to_hex()[..8].to_owned()
    }

    fn file(&self, name: &str) -> String {
        Path::new(&self.repository).join(FOLDER).join(name).to_string_lossy().into_owned()
    }

    /// Words that no scheduler's file can hold.
    fn check(&self) -> Result<(), Unfit> {
        let named = [
            ("the path of this program", &self.program),
            ("the path of the repository", &self.repository),
            ("PATH", &self.path),
            ("HOME", &self.home),
            ("USER", &self.user),
        ];
        for (what, value) in named {
            if value.is_empty() {
                return Err(Unfit {
                    why: format!("{what} is empty"),
                    remedy: "set it in the environment of this command".to_owned(),
                });
            }
            if value.chars().any(char::is_control) {
                return Err(Unfit {
                    why: format!("{what} has a control character in it"),
                    remedy: "schedulers' files are lines: give it a name without one".to_owned(),
                });
            }
        }
        if self.program.contains('=') {
            return Err(Unfit {
                why: "the path of this program has a `=` in it, which `env` takes for a variable"
                    .to_owned(),
                remedy: "put the program where no folder has one in its name".to_owned(),
            });
        }
        Ok(())
    }
}

/// The files of a scheduler.
pub fn files(scheduler: Scheduler, job: &Job) -> Result<Vec<File>, Unfit> {
    job.check()?;
    Ok(match scheduler {
        Scheduler::Manual => Vec::new(),
        Scheduler::Launchd => vec![launchd::agent(job)],
        Scheduler::Cron => vec![cron::table(job)?],
        Scheduler::Systemd => vec![systemd::service(job), systemd::timer(job)],
        Scheduler::TaskScheduler if ao_mutant::active("RUN-10/no-script") => {
            vec![windows::task(job)]
        }
        Scheduler::TaskScheduler => vec![windows::task(job), windows::script(job)],
    })
}

/// What a person does with them.
pub fn commands(scheduler: Scheduler, job: &Job) -> Commands {
    match scheduler {
        Scheduler::Manual => Commands {
            install: vec![job.by_hand()],
            remove: Vec::new(),
            notes: vec!["Nothing starts a night by itself: type the command when you go.".into()],
        },
        Scheduler::Launchd => launchd::commands(job),
        Scheduler::Cron => cron::commands(job),
        Scheduler::Systemd => systemd::commands(job),
        Scheduler::TaskScheduler => windows::commands(job),
    }
}

/// The first lines of every file, without the signs that make them comments.
fn heading(job: &Job, scheduler: &str, system: &str) -> Vec<String> {
    let mut lines = vec![
        format!(
            "Made by `ao overnight setup` for {scheduler}. Nothing is registered by it being here."
        ),
        "Made anew by the next setup: what is changed by hand here goes.".to_owned(),
    ];
    let is_marked = !ao_mutant::active("RUN-11/foreign-files-are-not-marked");
    if job.origin == Origin::Elsewhere && is_marked {
        lines.push(format!(
            "FOR ANOTHER SYSTEM: this is for {system}, and was made on another one. All paths are those of the machine it was made on; put them right before you use it."
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::At;

    #[test]
    fn a_time_has_four_digits_and_exists() {
        for good in ["00:00", "03:05", "23:59"] {
            assert_eq!(good.parse::<At>().unwrap().to_string(), good);
        }
        for bad in
            ["", "3:00", "03:0", "24:00", "03:60", "03-00", "03:00:00", "+3:00", "٠٣:٠٠", " 03:00"]
        {
            assert!(bad.parse::<At>().is_err(), "{bad}");
        }
    }
}
