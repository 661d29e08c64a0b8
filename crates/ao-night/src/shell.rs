//! The commands of shell checks, run in a cell and nowhere else.
//!
//! A command comes from a file that anybody who writes in the repository may have written. It runs in
//! a pass cell in which nothing can be written and nobody can be reached, so that all that comes of
//! it is its exit code. A code that says something else than yes or no is not read as one of them.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_guard::cell::{Caught, Cells, Finish, Limit, Limits};

use crate::outside::Outside;
use crate::plain::one_line;
use crate::verdict::Verdict;

/// How far one command may go.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(5),
    output_bytes: 1024 * 1024,
    memory_bytes: 1024 * 1024 * 1024,
    processes: 256,
    file_bytes: 64 * 1024 * 1024,
};
/// All commands of one report together.
const TIME_MAX: Duration = Duration::from_secs(15);
const COMMANDS_MAX: usize = 12;
const COMMAND_BYTES_MAX: usize = 4096;
/// What a reason repeats of a command.
const SHOWN_CHARS_MAX: usize = 80;
const COMPLAINT_CHARS_MAX: usize = 120;
/// It is there on every system; the repository and `PATH` have no say in it.
const SHELL: &str = "/bin/sh";
/// Above it a shell speaks of itself: the command could not be run, or a signal ended it.
const ANSWER_MAX: i32 = 125;

/// Whether the commands of checks are run.
#[derive(Debug, Clone, Copy)]
pub enum Shell<'a> {
    /// In such cells.
    In(&'a Cells),
    /// They are not, and why.
    Never(&'a str),
}

/// The commands that one reader of checks ran. Each is run once, however often it is asked for.
#[derive(Debug)]
pub(crate) struct Commands<'a> {
    shell: Shell<'a>,
    outside: Option<&'a Outside>,
    said: RefCell<BTreeMap<String, Verdict>>,
    count: Cell<usize>,
    spent: Cell<Duration>,
    /// Why there are no cells here: it is not tried again.
    refused: OnceCell<String>,
}

impl<'a> Commands<'a> {
    pub(crate) fn new(shell: Shell<'a>, outside: Option<&'a Outside>) -> Self {
        Self {
            shell,
            outside,
            said: RefCell::default(),
            count: Cell::new(0),
            spent: Cell::new(Duration::ZERO),
            refused: OnceCell::new(),
        }
    }

    pub(crate) fn check(&self, command: &str) -> Verdict {
        if let Some(said) = self.said.borrow().get(command) {
            return said.clone();
        }
        let run = || self.run(command).unwrap_or_else(Verdict::NotChecked);
        let verdict = match self.outside {
            Some(outside) => outside.command(command, run),
            None => run(),
        };
        self.said.borrow_mut().insert(command.to_owned(), verdict.clone());
        verdict
    }

    /// How many were asked for and not answered, and why the first of them was not.
    pub(crate) fn unanswered(&self) -> Option<(usize, String)> {
        let said = self.said.borrow();
        let mut whys = said.values().filter_map(|verdict| match verdict {
            Verdict::NotChecked(why) => Some(why),
            Verdict::True | Verdict::Done(_) => None,
        });
        let first = whys.next()?.clone();
        Some((1 + whys.count(), first))
    }

    fn run(&self, command: &str) -> Result<Verdict, String> {
        let cells = match self.shell {
            Shell::In(cells) => cells,
            Shell::Never(why) => return Err(why.to_owned()),
        };
        if command.trim().is_empty() {
            return Err("the check names no command".into());
        }
        if command.len() > COMMAND_BYTES_MAX || command.contains('\0') {
            return Err(format!(
                "its command is none: it has a zero byte or more than {COMMAND_BYTES_MAX} bytes"
            ));
        }
        if let Some(why) = self.refused.get() {
            return Err(why.clone());
        }
        if self.count.get() == COMMANDS_MAX {
            return Err(format!("no more than {COMMANDS_MAX} commands are run for one report"));
        }
        let left = TIME_MAX.saturating_sub(self.spent.get());
        if left.is_zero() {
            let seconds = TIME_MAX.as_secs();
            return Err(format!("the commands before it took all the {seconds} s that there are"));
        }
        self.count.set(self.count.get() + 1);
        let mut cell = cells.cell(SHELL);
        cell.arguments = ["-c", "--", command].map(Into::into).into();
        cell.limits = Limits { time: LIMITS.time.min(left), ..LIMITS };
        // Whoever asked is waiting; when they are gone the cell goes with them.
        let caught = cells.run(&cell, &AtomicBool::new(false)).map_err(|refusal| {
            let why = format!("there is no cell for its command: {refusal}");
            self.refused.get_or_init(|| ao_tree::shown(&why)).clone()
        })?;
        self.spent.set(self.spent.get() + caught.report.took);
        judge(command, &caught, cell.limits.time)
    }
}

fn judge(command: &str, caught: &Caught, time: Duration) -> Result<Verdict, String> {
    let command = one_line(command, SHOWN_CHARS_MAX);
    let because = match caught.report.finish {
        Finish::Exited(0) => return Ok(Verdict::True),
        Finish::Exited(code @ 1..=ANSWER_MAX) => {
            let complaint = complaint(&caught.stderr);
            return Ok(Verdict::Done(format!("`{command}` ended with {code}{complaint}")));
        }
        Finish::Exited(code) => {
            format!("ended with {code}, which is no answer{}", complaint(&caught.stderr))
        }
        Finish::Signalled(signal) => format!("was ended by signal {signal}"),
        Finish::Ended(Limit::Time) => {
            format!("did not end within {} s", time.as_secs_f64())
        }
        Finish::Ended(Limit::Output) => "said too much and was ended".to_owned(),
        Finish::Ended(Limit::Memory) => "took too much memory and was ended".to_owned(),
        Finish::Ended(Limit::Processes) => "started too many processes and was ended".to_owned(),
        Finish::Exposed => "was ended, as a secret file came to be in the repository".to_owned(),
        Finish::Stopped | Finish::Lost => "was ended from outside".to_owned(),
    };
    Err(format!("`{command}` {because}"))
}

/// Why it says so, where it does: one who cannot write or ask somebody may say no for that reason.
fn complaint(stderr: &[u8]) -> String {
    let text = ao_vault::said(stderr);
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => format!(": {}", one_line(line, COMPLAINT_CHARS_MAX)),
        None => String::new(),
    }
}
