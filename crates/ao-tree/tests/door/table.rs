//! What an engine found, and where it says so.

use std::fmt::Write as _;
use std::io::Write as _;

/// More than this many failures in one report help nobody.
const MAX_SHOWN: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) cases: usize,
    pub(crate) bad: usize,
    pub(crate) shown: Vec<String>,
}

impl Report {
    pub(crate) fn case(&mut self, result: Result<(), String>) {
        self.cases += 1;
        if let Err(why) = result {
            self.bad += 1;
            if self.shown.len() < MAX_SHOWN {
                self.shown.push(why);
            }
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.bad += other.bad;
        self.shown.extend(other.shown);
        self.shown.truncate(MAX_SHOWN);
    }

    /// Makes the result known, and fails the test when a case was bad or too few were tried.
    pub(crate) fn conclude(&self, engine: &str, min_cases: usize) {
        println!("sweep: {engine} cases={} bad={}", self.cases, self.bad);
        append_to_table(&format!("{engine}\t{}\t{}\n", self.cases, self.bad));
        let mut said = String::new();
        for shown in &self.shown {
            let _ = write!(said, "\n\n{shown}");
        }
        assert!(self.bad == 0, "{engine}: {} of {} cases are bad{said}", self.bad, self.cases);
        assert!(self.cases >= min_cases, "{engine}: {} cases, not {min_cases}", self.cases);
    }
}

/// The long run, asked for by name; without it the same engines try less.
pub(crate) fn is_full_sweep() -> bool {
    std::env::var_os("AO_SWEEP").is_some_and(|value| value == "1")
}

fn append_to_table(line: &str) {
    let Some(path) = std::env::var_os("AO_SWEEP_TABLE") else { return };
    #[expect(clippy::disallowed_methods, reason = "the result table is no part of a user's tree")]
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
