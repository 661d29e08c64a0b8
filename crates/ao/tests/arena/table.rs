//! The table of the arena, in the docs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::run::{Result, Row};

const HEAD: &str = "\
# The arena

Each attack is run with no cell as an ordinary user (*control*), in a cell of tier A and in one of tier B, on ground of its
own, and what became of it is seen from outside. *Through*: the attack came through. *Held*: nothing outside changed and
no secret was said. *No cell*: this tier has no cell of the kind, and nothing is started. *Absent*: this kernel does not have
what is attacked. Made by `cargo test -p ao --test arena` (with `UPDATE_ARENA=1`), which also compares the machine's settings before
and after.

";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/arena.md")
}

fn render(rows: &[Row]) -> String {
    let mut text = HEAD.to_owned();
    let count = |result: fn(&Row) -> Result, wanted: Result| {
        rows.iter().filter(|row| row.is_proved() && result(row) == wanted).count()
    };
    let proved = rows.iter().filter(|row| row.is_proved()).count();
    let _ = writeln!(
        text,
        "{} attacks; {proved} come through with no cell. Of those tier A holds {}; tier B holds {}, and starts no cell for {}.\n",
        rows.len(),
        count(|row| row.tier_a, Result::Held),
        count(|row| row.tier_b, Result::Held),
        count(|row| row.tier_b, Result::NoCell),
    );
    text.push_str("| group | attack | control | tier A | tier B |\n|---|---|---|---|---|\n");
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            row.attack.group, row.attack.name, row.control, row.tier_a, row.tier_b
        );
    }
    text
}

/// Writes the table, or compares it with the one that is there. What this kernel does not have is
/// taken as it was written.
pub(crate) fn settle(rows: &[Row]) -> Option<String> {
    let text = render(rows);
    if env::var_os("UPDATE_ARENA").is_some() {
        fs::write(file(), text).unwrap();
        return None;
    }
    let written = fs::read_to_string(file()).unwrap_or_default();
    let is_there = |line: &str| written.lines().any(|other| other == line);
    let differs = |row: &&Row| {
        row.control != Result::Absent
            && !text
                .lines()
                .filter(|line| line.contains(&format!("| {} |", row.attack.name)))
                .all(is_there)
    };
    let names: Vec<_> = rows.iter().filter(differs).map(|row| row.attack.name).collect();
    (!names.is_empty()).then(|| format!("docs/arena.md is not up to date: {}", names.join(", ")))
}
