//! Progress on a terminal, and quiet lines elsewhere.

use std::time::Duration;

use ao_contract::{RunNow, RunStage, format_duration};
use ao_night::Watch;

use crate::printer::{self, FAINT, Printer, STRONG, Stream, paint};

pub(super) struct Terminal<'a> {
    printer: &'a Printer,
    is_screen: bool,
    line: String,
    told: Option<(RunStage, Option<u32>)>,
    found: usize,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(printer: &'a Printer) -> Self {
        let is_screen = printer::is_screen(Stream::Talk) && !printer.is_quiet();
        Self { printer, is_screen, line: String::new(), told: None, found: 0 }
    }

    /// Takes the line of progress away.
    pub(super) fn end(&mut self) {
        if self.is_screen && !self.line.is_empty() {
            printer::progress("");
            self.line.clear();
        }
    }
}

impl Watch for Terminal<'_> {
    fn see(&mut self, now: &RunNow) {
        for found in now.found.iter().skip(self.found) {
            self.end();
            self.printer.note(&format!("  {}", ao_tree::shown(found)));
        }
        self.found = now.found.len();
        let iteration = now.iteration.map_or(String::new(), |index| format!("iteration {index} "));
        if self.is_screen {
            let left = format_duration(Duration::from_secs(now.seconds_left));
            let line = format!(
                "{iteration}{} {} {}",
                paint(STRONG, now.stage.name()),
                ao_tree::shown(&now.doing),
                paint(FAINT, &format!("({left} left)"))
            );
            if line != self.line {
                printer::progress(&line);
                self.line = line;
            }
        } else if self.told != Some((now.stage, now.iteration)) {
            self.printer.note(&format!("{iteration}{}", now.stage.name()));
        }
        self.told = Some((now.stage, now.iteration));
    }
}
