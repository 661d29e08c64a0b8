//! What the probes came to.

use ao_contract::{Extra, HaulProbe, HaulProbeKind, LongHaul};

/// So many probes in a row that changed nothing end the long haul.
const STREAK_MAX: u64 = 2;

/// What a probe came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tried {
    /// The morning has something by it that it had not before.
    Changed(String),
    Nothing(String),
}

/// The record of a long haul while it goes on.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) told: LongHaul,
}

impl Tally {
    pub(crate) fn count(&mut self, kind: HaulProbeKind, packet: Option<String>, tried: Tried) {
        let (changed, told) = match tried {
            Tried::Changed(told) => (true, told),
            Tried::Nothing(told) => (false, told),
        };
        self.told.active = true;
        self.told.probe_count += 1;
        self.told.zero_delta_probe_streak =
            if changed && !ao_mutant::active("REP-10/streak-is-a-total") {
                0
            } else {
                self.told.zero_delta_probe_streak + u64::from(!changed)
            };
        let probe = kind.into();
        self.told.probes.push(HaulProbe { probe, packet, changed, told, extra: Extra::new() });
    }

    pub(crate) fn is_in_vain(&self) -> bool {
        let more = u64::from(ao_mutant::active("REP-10/three-in-vain"));
        self.told.zero_delta_probe_streak >= STREAK_MAX + more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: REP-10
    #[test]
    fn two_in_a_row_that_change_nothing_end_it_and_one_that_does_begins_anew() {
        let mut tally = Tally::default();
        assert!(!tally.told.active);
        let mut streaks = Vec::new();
        for changed in [false, true, false, false] {
            let tried = if changed { Tried::Changed } else { Tried::Nothing };
            tally.count(HaulProbeKind::PacketCorroboration, None, tried(String::new()));
            streaks.push((tally.told.zero_delta_probe_streak, tally.is_in_vain()));
        }
        assert_eq!(streaks, [(1, false), (0, false), (1, false), (2, true)]);
        assert!(tally.told.active);
        assert_eq!((tally.told.probe_count, tally.told.probes.len()), (4, 4));
    }
}
