//! The commands by which a person decides something: no agent runs them.

use super::Judged;
use super::words::{has, operands};
use crate::person::Decision;
use crate::scope::{Refusal, Rule};
use crate::shell::Word;

/// The options of `ao` whose value is the next word, which may stand before the command.
pub(super) const VALUED: [&str; 2] = ["-C", "--repo"];

/// Refuses what only a person decides, wherever the binary lies. Words that are not known beforehand are refused with
/// everything else that nobody can read.
pub(super) fn judge(words: &[Word]) -> Judged {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let is_ours = program.known().is_some_and(|name| name.rsplit('/').next() == Some("ao"));
    if !is_ours || ao_mutant::active("GRD-07/the-hook-lets-agents-decide") {
        return Ok(());
    }
    let said: Vec<Option<&str>> =
        operands(arguments, &VALUED).into_iter().map(Word::known).collect();
    let is_it = |decision: &Decision| {
        let is_named = decision
            .words()
            .iter()
            .enumerate()
            .all(|(at, word)| said.get(at).is_some_and(|said| *said == Some(*word)));
        is_named && decision.option().is_none_or(|option| has(arguments, &[option]))
    };
    match Decision::ALL.into_iter().find(is_it) {
        Some(decision) => Err(Refusal::new(
            Rule::Decision,
            decision.command(),
            "only a person decides this, in a terminal of their own",
        )),
        None => Ok(()),
    }
}
