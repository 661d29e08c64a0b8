//! Whether an iteration may be committed.

use ao_corpus::fitness::{Fitness, Regression, regressions};

use crate::settings::Gate;

/// What speaks against an iteration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Doubt {
    Regression(Vec<Regression>),
    /// So many deltas in a row were under epsilon.
    Plateau(u32),
}

impl Doubt {
    pub(crate) fn reason(&self, epsilon: f64) -> String {
        match self {
            Self::Regression(fallen) => {
                let told = |fell: &Regression| {
                    format!("{} dropped {} below floor {}", fell.metric, fell.drop, fell.floor)
                };
                fallen.iter().map(told).collect::<Vec<_>>().join("; ")
            }
            Self::Plateau(window) => {
                format!("{window} consecutive iterations below epsilon {epsilon}")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    Commit,
    /// Committed all the same: a rescue is spent.
    Rescue(Doubt),
    Halt(Doubt),
}

/// `deltas` are those of the run, this iteration's last.
pub(crate) fn judge(
    (before, after): (&Fitness, &Fitness),
    deltas: &[f64],
    (epsilon, window): (f64, u32),
    gate: Gate,
    rescues: u32,
) -> Verdict {
    let fallen = regressions(before, after);
    let last = deltas.len().checked_sub(window as usize).map(|from| &deltas[from..]);
    let is_small = |delta: &f64| {
        if ao_mutant::active("LOOP-11/sign-counts") {
            *delta < epsilon
        } else {
            delta.abs() < epsilon
        }
    };
    let is_flat = last.is_some_and(|last| {
        if ao_mutant::active("LOOP-11/one-is-enough") {
            last.iter().any(is_small)
        } else {
            last.iter().all(is_small)
        }
    });
    let doubt = match (fallen.is_empty(), is_flat) {
        (false, _) => Doubt::Regression(fallen),
        (true, true) => Doubt::Plateau(window),
        (true, false) => return Verdict::Commit,
    };
    let is_let_through = match doubt {
        Doubt::Plateau(_) => ao_mutant::active("LOOP-11/strict-goes-on"),
        Doubt::Regression(_) => ao_mutant::active("LOOP-12/strict-commits"),
    };
    if (gate == Gate::WarnOnly || is_let_through) && rescues > 0 {
        Verdict::Rescue(doubt)
    } else {
        Verdict::Halt(doubt)
    }
}
