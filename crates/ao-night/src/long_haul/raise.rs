//! When a packet is raised: published numbers, one step at a time, never down.

use ao_contract::{Level, Open, Support, SupportKind};

/// From low to medium, so many independent supports.
pub(super) const TO_MEDIUM: usize = 2;
/// From medium to high; at least one of them is no text of the corpus.
pub(super) const TO_HIGH: usize = 3;

/// What the next step asks for; `None` where there is none.
pub(super) fn needed(level: Level) -> Option<usize> {
    match level {
        Level::Low => Some(TO_MEDIUM),
        Level::Medium => Some(TO_HIGH),
        Level::High => None,
    }
}

/// The next level and the supports that are used up for it, if there are enough.
pub(super) fn raised(level: Level, supports: &[Support]) -> Option<(Level, Vec<Support>)> {
    let count = needed(level)?;
    let (texts, outside): (Vec<_>, Vec<_>) = supports.iter().partition(|one| is_text(one));
    let (next, used): (Level, Vec<&Support>) = match level {
        // What is no text of the corpus is kept for the step that asks for it.
        Level::Low => (Level::Medium, texts.into_iter().chain(outside).take(count).collect()),
        Level::Medium => {
            let (first, rest) = outside.split_first()?;
            let others = texts.into_iter().chain(rest.iter().copied());
            (Level::High, std::iter::once(*first).chain(others).take(count).collect())
        }
        Level::High => return None,
    };
    (used.len() == count).then(|| (next, used.into_iter().cloned().collect()))
}

/// Whether somebody who writes in the corpus can write it.
fn is_text(support: &Support) -> bool {
    !matches!(
        support.kind,
        Open::Known(SupportKind::Night | SupportKind::Metric | SupportKind::File)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use SupportKind::{Entry, File, Finding, Metric, Night};

    fn supports(kinds: &[SupportKind]) -> Vec<Support> {
        let support = |(nth, kind): (usize, &SupportKind)| Support {
            kind: (*kind).into(),
            at: format!("{nth}"),
            says: String::new(),
            extra: ao_contract::Extra::new(),
        };
        kinds.iter().enumerate().map(support).collect()
    }

    // proves: REP-10
    #[test]
    fn one_step_on_enough_and_never_down() {
        for (level, kinds, next, used) in [
            (Level::Low, &[][..], None, ""),
            (Level::Low, &[Entry], None, ""),
            (Level::Low, &[Entry, Finding], Some(Level::Medium), "01"),
            (Level::Low, &[File, Entry, Entry], Some(Level::Medium), "12"),
            (Level::Low, &[Entry, Entry, File, Entry, Entry], Some(Level::Medium), "01"),
            (Level::Medium, &[Entry, File], None, ""),
            // However many texts there are.
            (Level::Medium, &[Entry, Entry, Entry, Finding, Entry], None, ""),
            (Level::Medium, &[Entry, Entry, Entry, File], Some(Level::High), "301"),
            (Level::Medium, &[Metric, Night, File], Some(Level::High), "012"),
            (Level::High, &[Entry, Entry, File, Metric], None, ""),
        ] {
            let found = raised(level, &supports(kinds));
            let told: String =
                found.iter().flat_map(|(_, used)| used.iter().map(|one| one.at.as_str())).collect();
            assert_eq!((found.map(|(level, _)| level), told.as_str()), (next, used), "{kinds:?}");
        }
    }
}
