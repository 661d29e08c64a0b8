//! What an engine found, and where it says so.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// More examples than this in one report help nobody.
const SHOWN_MAX: usize = 400;

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) cases: usize,
    pub(crate) bad: usize,
    /// By its first line: how often it was said, and the whole of it once.
    pub(crate) kinds: BTreeMap<String, (usize, String)>,
}

impl Report {
    pub(crate) fn case(&mut self, result: Result<(), String>) {
        self.cases += 1;
        if let Err(why) = result {
            self.bad += 1;
            self.note(1, why);
        }
    }

    fn note(&mut self, count: usize, why: String) {
        let kind = why.lines().next().unwrap_or_default().to_owned();
        let (seen, example) = self.kinds.entry(kind).or_insert((0, why.clone()));
        *seen += count;
        // The shortest story is the one to read.
        if why.len() < example.len() {
            *example = why;
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.bad += other.bad;
        for (count, why) in other.kinds.into_values() {
            self.note(count, why);
        }
    }

    /// Makes the result known, and fails the test when a case was bad or too few were tried.
    pub(crate) fn conclude(&self, engine: &str, min_cases: usize) {
        println!("sweep: {engine} cases={} bad={}", self.cases, self.bad);
        append_to_table(&format!("{engine}\t{}\t{}\n", self.cases, self.bad));
        let counts = self.kinds.iter().map(|(kind, (count, _))| format!("{count:>8} x {kind}\n"));
        let examples = self.kinds.values().take(SHOWN_MAX).map(|(_, why)| format!("\n{why}\n"));
        let said: String = counts.chain(examples).collect();
        assert!(self.bad == 0, "{engine}: {} of {} cases are bad\n{said}", self.bad, self.cases);
        assert!(self.cases >= min_cases, "{engine}: {} cases, not {min_cases}", self.cases);
    }
}

/// The long run, asked for by name; without it the same engines try less.
pub(crate) fn is_full_sweep() -> bool {
    std::env::var_os("AO_SWEEP").is_some_and(|value| value == "1")
}

/// Writes a file into the directory of the result table, or where the table usually is.
pub(crate) fn write_beside_table(name: &str, text: &str) {
    let table = std::env::var_os("AO_SWEEP_TABLE").map(PathBuf::from);
    let usual = || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sweep");
    let dir = table.and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_else(usual);
    #[expect(clippy::disallowed_methods, reason = "results are no part of a user's tree")]
    let written = std::fs::create_dir_all(&dir).and_then(|()| std::fs::write(dir.join(name), text));
    written.unwrap_or_else(|error| panic!("cannot write {name} to {}: {error}", dir.display()));
}

fn append_to_table(line: &str) {
    let Some(path) = std::env::var_os("AO_SWEEP_TABLE") else { return };
    #[expect(clippy::disallowed_methods, reason = "the result table is no part of a user's tree")]
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
