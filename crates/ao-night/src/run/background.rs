//! Work that may take long, done on a thread of its own, so that a deadline or a signal is honoured
//! wherever it is.
//!
//! What is thought out has no effects, so a thread that thinks can be left alone and ends with the
//! process. A commit has: it is asked to stop, and waited for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How often the clock and the signals are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Why the work was not waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    Time,
    Signal(usize),
    Panic(String),
}

/// What ends work before it is done.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// By the clock that never jumps.
    pub(crate) deadline: Duration,
    pub(crate) uptime: fn() -> Duration,
    /// The number of the signal that arrived, or 0.
    pub(crate) signal: Arc<AtomicUsize>,
    /// The first one that was met.
    pub(crate) met: Arc<OnceLock<Halt>>,
}

impl Limits {
    pub(crate) fn halt(&self) -> Option<Halt> {
        let halt = match self.signal.load(Ordering::Relaxed) {
            0 if (self.uptime)() >= self.deadline => Halt::Time,
            0 => return None,
            signal => Halt::Signal(signal),
        };
        self.met.get_or_init(|| halt.clone());
        Some(halt)
    }
}

/// Does `work` on another thread; `tick` is called meanwhile. Past a limit the thread is left alone,
/// unless it has a `stop` flag: then it is told to stop, and its answer is waited for.
pub(crate) fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    limits: &Limits,
    stop: Option<&AtomicBool>,
    tick: &mut dyn FnMut(),
) -> Result<T, Halt> {
    let (sender, receiver) = channel();
    let run = move || {
        // Nobody listens any more if the thread was left alone.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    };
    let started = std::thread::Builder::new().name("night".into()).spawn(run);
    if let Err(error) = started {
        return Err(Halt::Panic(format!("no thread could be started: {error}")));
    }
    loop {
        let rarely = ao_mutant::active("LOOP-30/clock-is-looked-at-rarely");
        match receiver.recv_timeout(if rarely { TICK * 600 } else { TICK }) {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(panic)) => return Err(Halt::Panic(message(panic.as_ref()))),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Halt::Panic("its thread ended without a word".into()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        tick();
        match (limits.halt(), stop) {
            (Some(halt), None) => return Err(halt),
            (Some(_), Some(stop)) => stop.store(true, Ordering::Relaxed),
            (None, _) => {}
        }
    }
}

pub(crate) fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
