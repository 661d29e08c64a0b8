//! `ao overnight curator diagnose`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_night::curator::{ENGINE, Health, Level, Look, troubles};
use serde_json::json;

use super::{engine, settings, surroundings};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{BAD, FAINT, GOOD, Printer, paint};
use crate::repo::Repo;

/// 0 if nothing is wrong, 5 if something is; what is only good to know changes nothing.
pub(super) fn run(global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let settings::Resolved { settings, left_out } = settings::resolve(&repo)?;
    let health = engine::health(&settings.url);
    let is_there = matches!(health, Health::Answers { .. }) || settings.engine != ENGINE;
    let elsewhere = if is_there { None } else { engine::elsewhere(&settings.url) };
    let found = troubles(&Look {
        settings: &settings,
        health: &health,
        elsewhere,
        bridges: &surroundings::bridges(&repo),
        left_out: &left_out,
    });
    let mut text = String::new();
    for trouble in &found {
        let word = match trouble.level {
            Level::Trouble => paint(BAD, "trouble"),
            Level::Note => paint(FAINT, "note"),
        };
        let _ = writeln!(text, "{word} {}\n  {}", trouble.what, trouble.remedy);
    }
    let is_well = found.iter().all(|trouble| trouble.level == Level::Note);
    if is_well {
        let _ = writeln!(text, "{}", paint(GOOD, "nothing is wrong"));
    }
    let fields = json!({ "is_well": is_well, "troubles": found });
    printer.answer("overnight curator diagnose", fields, &text);
    Ok(if is_well { Exit::Done } else { Exit::Found })
}
