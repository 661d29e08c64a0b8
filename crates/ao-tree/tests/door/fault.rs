//! `FaultFs`: operation number `k` fails, or the process stops there.

use std::cell::{Cell, RefCell};

use ao_tree::Fs;
use rustix::io::Errno;

use crate::explore::unharmed;
use crate::image::Ino;
use crate::sim::SimFs;
use crate::subject::{Judge, Side, Subject};
use crate::table::Report;
use crate::tap::{Call, Policy, Tap, Verdict};

pub(crate) type FaultFs<F> = Tap<F, Fault<<F as Fs>::Dir>>;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This once, and without effect.
    Once(Errno),
    /// The operation took effect, and was said to have failed.
    Done(Errno),
    /// Half of a new file was written.
    Part(Errno),
    /// From here on, everything that takes space.
    FullDisk,
    /// From here on, everything that changes or syncs.
    Broken(Errno),
    /// From here on, everything: the process is gone.
    Stop,
}

impl Kind {
    const ONCE: [Self; 5] = [
        Self::Once(Errno::IO),
        Self::Once(Errno::NOSPC),
        Self::Once(Errno::INTR),
        Self::Once(Errno::ROFS),
        Self::Once(Errno::ACCESS),
    ];

    /// What can happen to a call. Nobody runs out of space while reading.
    fn of<D: Clone>(call: &Call<D>) -> Vec<Self> {
        if call.is_look() {
            return vec![Self::Once(Errno::IO), Self::Once(Errno::INTR), Self::Once(Errno::ACCESS)];
        }
        let mut kinds = Self::ONCE.to_vec();
        kinds.extend([Self::Broken(Errno::IO), Self::Broken(Errno::ROFS), Self::Stop]);
        if call.is_change() {
            kinds.push(Self::Done(Errno::IO));
        }
        if call.takes_space() {
            kinds.push(Self::FullDisk);
        }
        if matches!(call, Call::Create { .. }) {
            kinds.extend([Self::Part(Errno::NOSPC), Self::Part(Errno::IO)]);
        }
        kinds
    }

    /// A file that may not be read is no fault: its edit is refused, and the rest goes on.
    fn refuses_edit<D>(self, call: &Call<D>) -> bool {
        self == Self::Once(Errno::ACCESS) && matches!(call, Call::OpenDir(..) | Call::Read(..))
    }

    /// Nothing stands in the way of cleaning up after it.
    fn lets_clean_up(self) -> bool {
        matches!(self, Self::Once(_) | Self::Done(_) | Self::Part(_) | Self::FullDisk)
    }
}

#[derive(Debug)]
pub(crate) struct Fault<D> {
    at: usize,
    kind: Option<Kind>,
    calls: RefCell<Vec<Call<D>>>,
    hit: Cell<bool>,
}

impl<D: Clone> Fault<D> {
    pub(crate) fn new(at: usize, kind: Kind) -> Self {
        Self { at, kind: Some(kind), calls: RefCell::default(), hit: Cell::new(false) }
    }

    /// Only writes down what is called.
    pub(crate) fn none() -> Self {
        Self { at: 0, kind: None, calls: RefCell::default(), hit: Cell::new(false) }
    }

    pub(crate) fn calls(&self) -> Vec<Call<D>> {
        self.calls.borrow().clone()
    }

    fn strike<F: Fs<Dir = D>>(&self, fs: &F, call: &Call<D>, kind: Kind) -> Verdict {
        let is_first = !self.hit.replace(true);
        match kind {
            Kind::Once(errno) if is_first => Verdict::Fail(errno),
            Kind::Done(errno) if is_first => match call.perform(fs) {
                Ok(()) => Verdict::Fail(errno),
                Err(_) => Verdict::Go,
            },
            Kind::Part(errno) if is_first => {
                part_written(fs, call);
                Verdict::Fail(errno)
            }
            Kind::FullDisk if call.takes_space() => Verdict::Fail(Errno::NOSPC),
            Kind::Broken(errno) if !call.is_look() => Verdict::Fail(errno),
            Kind::Stop => Verdict::Fail(Errno::IO),
            _ => Verdict::Go,
        }
    }
}

fn part_written<F: Fs>(fs: &F, call: &Call<F::Dir>) {
    if let Call::Create { to, bytes, mode } = call {
        // When even that fails, nothing is left behind, which is the other kind.
        let _ = fs.create(&to.0, &to.1, &bytes[..bytes.len() / 2], *mode);
    }
}

impl<F: Fs> Policy<F> for Fault<F::Dir> {
    fn before(&self, fs: &F, call: &Call<F::Dir>) -> Verdict {
        let number = self.calls.borrow().len();
        self.calls.borrow_mut().push(call.clone());
        match self.kind {
            Some(kind) if number >= self.at => self.strike(fs, call, kind),
            _ => Verdict::Go,
        }
    }
}

/// Every fault at every so-manieth operation of one run, `(first, stride)`.
pub(crate) fn faults<S: Subject>(
    subject: &S,
    start: &SimFs,
    (first, stride): (usize, usize),
) -> Report {
    let mut report = Report::default();
    let fs = start.branch();
    let tap = FaultFs::new(fs.clone(), Fault::none());
    let ran = subject.run(tap.clone());
    report.case(unharmed(subject, &fs, ran));
    let calls = tap.policy().calls();
    let commit = calls.iter().position(|call| subject.is_commit_point(call));
    let commit = commit.expect("an undisturbed run has a commit point");
    let mut judge = Judge::new(subject);
    for (at, call) in calls.iter().enumerate().skip(first).step_by(stride) {
        for kind in Kind::of(call).into_iter().filter(|kind| !kind.refuses_edit(call)) {
            let fault = OneFault { subject, start, at, kind };
            report.case(fault.in_run(at < commit, &mut judge));
        }
    }
    report
}

/// Every fault at every operation of a recovery from this state.
pub(crate) fn faults_in_recovery<S: Subject>(subject: &S, start: &SimFs) -> Report {
    let mut report = Report::default();
    let tap = FaultFs::new(start.branch(), Fault::none());
    if let Err(why) = subject.recover(tap.clone()) {
        report.case(Err(format!("{}: recovery failed: {why}", subject.name())));
        return report;
    }
    let mut judge = Judge::new(subject);
    for (at, call) in tap.policy().calls().iter().enumerate() {
        for kind in Kind::of(call) {
            report.case(OneFault { subject, start, at, kind }.in_recovery(&mut judge));
        }
    }
    report
}

/// One kind of fault at one call.
struct OneFault<'a, S> {
    subject: &'a S,
    start: &'a SimFs,
    at: usize,
    kind: Kind,
}

impl<S: Subject> OneFault<'_, S> {
    fn tapped(&self) -> (SimFs, FaultFs<SimFs>) {
        let fs = self.start.branch();
        (fs.clone(), FaultFs::new(fs, Fault::new(self.at, self.kind)))
    }

    fn in_run(&self, is_before_commit: bool, judge: &mut Judge<S>) -> Result<(), String> {
        let (fs, tap) = self.tapped();
        let ran = self.subject.run(tap.clone());
        let puts_back = ran.is_err() && is_before_commit && self.kind.lets_clean_up();
        let required = match ran {
            Ok(()) => Some(Side::After),
            Err(_) => is_before_commit.then_some(Side::Before),
        };
        self.never_synced_again(&tap.policy().calls(), &ran)
            .and_then(|()| if puts_back { needs_no_recovery(&fs, judge) } else { Ok(()) })
            .and_then(|()| self.settles(&fs, required, judge))
            .map_err(|why| self.tell(&why, &ran, |tap| self.subject.run(tap)))
    }

    fn in_recovery(&self, judge: &mut Judge<S>) -> Result<(), String> {
        let (fs, tap) = self.tapped();
        let recovered = self.subject.recover(tap);
        self.settles(&fs, None, judge)
            .map_err(|why| self.tell(&why, &recovered, |tap| self.subject.recover(tap)))
    }

    /// Recovery on a healthy file system gives one side, and the required one if there is one.
    fn settles(
        &self,
        fs: &SimFs,
        required: Option<Side>,
        judge: &mut Judge<S>,
    ) -> Result<(), String> {
        self.subject.recover(fs.clone()).map_err(|why| format!("recovery failed: {why}"))?;
        judge.side_is(fs, required).map(drop)
    }

    /// A failed sync may have thrown the bytes away: the next one says yes and means nothing.
    fn never_synced_again(
        &self,
        calls: &[Call<Ino>],
        ran: &Result<(), String>,
    ) -> Result<(), String> {
        let failed = &calls[self.at];
        if !failed.is_sync() || !matches!(self.kind, Kind::Once(_)) {
            return Ok(());
        }
        if ran.is_ok() {
            return Err("a sync failed, and the run says that all went well".to_owned());
        }
        let mut later = calls[self.at + 1..].iter().take_while(|call| !call.is_change());
        if later.any(|call| call.is_same_sync(failed)) {
            return Err("a sync that failed was tried again".to_owned());
        }
        Ok(())
    }

    /// Does it once more and writes down what happens.
    fn tell(
        &self,
        why: &str,
        said: &Result<(), String>,
        again: impl FnOnce(FaultFs<SimFs>) -> Result<(), String>,
    ) -> String {
        let (fs, tap) = self.tapped();
        fs.record();
        let _ = again(tap);
        let trace = fs.take_tape().steps.join("\n  ");
        let (name, kind, at) = (self.subject.name(), self.kind, self.at);
        format!("{name}: {why}\n{kind:?} at call {at}; it said {said:?}; what it did:\n  {trace}")
    }
}

/// A run that failed before its commit point puts everything back by itself.
fn needs_no_recovery(fs: &SimFs, judge: &mut Judge<impl Subject>) -> Result<(), String> {
    let side = judge.side_is(fs, Some(Side::Before));
    side.map(drop).map_err(|why| format!("without recovery: {why}"))
}
