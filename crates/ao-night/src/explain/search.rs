//! The smallest changes that turn a verdict.

use super::{Alteration, Checked, Flip};

/// So many changes that each turn it are told.
const TOLD_MAX: usize = 4;
/// So many pairs are tried where no single one turns it.
const PAIRS_MAX: usize = 40;
pub(super) const NONE_FOUND: &str =
    "none was found: no single change that was tried turns it, and no two of them together";

/// Tries each change by itself, and pairs of them if none is enough. `ask` says what becomes of the entry with
/// the changes made; `None` where they cannot be made.
pub(super) fn search(
    tried: &[Alteration],
    verdict: &str,
    ask: impl Fn(&[Alteration]) -> Option<String>,
) -> Vec<Flip> {
    let turned = |changes: &[Alteration]| {
        let other = ask(changes).filter(|other| other != verdict)?;
        Some(Flip { changes: changes.to_vec(), verdict: other, checked: Checked::Night })
    };
    let single = tried.iter().filter_map(|one| turned(std::slice::from_ref(one)));
    let singles: Vec<Flip> = single.take(TOLD_MAX).collect();
    if !singles.is_empty() {
        return singles;
    }
    let pairs = tried.iter().enumerate().flat_map(|(at, one)| {
        tried[at + 1..].iter().map(move |other| [one.clone(), other.clone()])
    });
    pairs.take(PAIRS_MAX).find_map(|pair| turned(&pair)).into_iter().collect()
}
