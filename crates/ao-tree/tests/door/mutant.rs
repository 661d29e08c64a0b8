//! `MutantFs`: the protocol stays as it is, and the file system under it misbehaves as if a step
//! had been left out or done too late.
//!
//! A mutant that no engine can tell from the real protocol must be explained by a rule that says
//! why the step or the order makes no difference; one that nothing explains is a hole in the
//! engines, or a step that the protocol does not need.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::fmt;

use ao_tree::Fs;

use crate::explore::{Reach, Ways, first_bad, unharmed};
use crate::sim::SimFs;
use crate::subject::{Side, Subject};
use crate::tap::{Call, Policy, Tap, Verdict};

pub(crate) type MutantFs<F> = Tap<F, Mutant<<F as Fs>::Dir>>;

/// A step is the number of a call that changes or syncs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    Omit(usize),
    /// The first happens only after the second.
    Delay(usize, usize),
    /// Recovery does not see what tells it to go forward.
    Blind,
}

#[derive(Debug)]
pub(crate) struct Mutant<D> {
    mutation: Mutation,
    steps: Cell<usize>,
    held: RefCell<Option<Call<D>>>,
}

impl<D> Mutant<D> {
    pub(crate) fn new(mutation: Mutation) -> Self {
        Self { mutation, steps: Cell::new(0), held: RefCell::new(None) }
    }
}

impl<F: Fs> Policy<F> for Mutant<F::Dir> {
    fn before(&self, _fs: &F, call: &Call<F::Dir>) -> Verdict {
        if call.is_look() {
            return Verdict::Go;
        }
        let step = self.steps.replace(self.steps.get() + 1);
        match self.mutation {
            Mutation::Omit(omitted) if step == omitted => Verdict::Pretend,
            Mutation::Delay(delayed, _) if step == delayed => {
                *self.held.borrow_mut() = Some(call.clone());
                Verdict::Pretend
            }
            _ => Verdict::Go,
        }
    }

    fn after(&self, fs: &F, call: &Call<F::Dir>) {
        if let Mutation::Delay(_, until) = self.mutation
            && !call.is_look()
            && self.steps.get() == until + 1
            && let Some(held) = self.held.take()
        {
            // Done too late it may fail. Nobody hears of it, and the engines see the result.
            let _ = held.perform(fs);
        }
    }

    fn hides(&self, name: &OsStr) -> bool {
        self.mutation == Mutation::Blind && name.to_string_lossy().starts_with("COMMIT-MARKER.")
    }
}

/// A subject whose recovery cannot see the marker.
struct Blinded<'a, S>(&'a S);

impl<S: Subject> Subject for Blinded<'_, S> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn run<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.0.run(fs)
    }

    fn recover<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.0.recover(MutantFs::new(fs, Mutant::new(Mutation::Blind)))
    }

    fn judge(&self, fs: &SimFs) -> Result<Side, String> {
        self.0.judge(fs)
    }

    fn is_commit_point<D>(&self, call: &Call<D>) -> bool {
        self.0.is_commit_point(call)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    PlainRun,
    Stop,
    PowerLoss,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PlainRun => "plain run",
            Self::Stop => "FaultFs stop",
            Self::PowerLoss => "SimFs crash",
        })
    }
}

/// The weakest engine that tells this mutant from the real protocol. They are asked in the order
/// of what they cost.
pub(crate) fn caught_by(
    subject: &impl Subject,
    start: &SimFs,
    mutation: Mutation,
    reach: Reach,
) -> Option<Engine> {
    if mutation == Mutation::Blind {
        return caught(&Blinded(subject), start, mutation, reach);
    }
    caught(subject, start, mutation, reach)
}

fn caught(
    subject: &impl Subject,
    start: &SimFs,
    mutation: Mutation,
    reach: Reach,
) -> Option<Engine> {
    let fs = start.branch();
    fs.record();
    let ran = subject.run(MutantFs::new(fs.clone(), Mutant::new(mutation)));
    let tape = fs.take_tape();
    if unharmed(subject, &fs, ran).is_err() {
        return Some(Engine::PlainRun);
    }
    let engines = [(Engine::Stop, Ways::KillOnly), (Engine::PowerLoss, Ways::PowerLossOnly)];
    let found =
        engines.into_iter().find(|(_, ways)| first_bad(subject, &tape, reach, *ways).is_some());
    found.map(|(engine, _)| engine)
}
