//! The user's own program: the question on standard input, the answer on standard output.

use ao_guard::cell::Cell;

use super::line::{Ask, Line, Output};
use crate::answer::{Cost, Said, Usage};
use crate::failure::Failure;

pub(super) fn line(ask: &Ask<'_>) -> Line {
    Line { input: ask.with_schema(), ..Line::default() }
}

/// One that reaches nobody spends nothing.
pub(super) fn read(output: &Output<'_>, cell: &Cell) -> Result<(String, Usage), Failure> {
    let cost = if cell.reachable().is_empty() { Cost::Free } else { Cost::Unknown };
    let answer = output.answered(Some(output.stdout.to_owned()))?;
    Ok((answer, Usage { tokens: Said::Nothing, turns: 1, cost }))
}
