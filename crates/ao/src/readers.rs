//! The readers' lock. It is never held while something is printed: whoever reads the other end of a pipe may take
//! hours, and no commit can be made meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ao_tree::ReadLock;

#[derive(Default)]
struct Held {
    locks: Vec<(u64, ReadLock)>,
    next: u64,
    /// Notes that wait until no lock is held.
    notes: Vec<String>,
}

static HELD: Mutex<Held> = Mutex::new(Held { locks: Vec::new(), next: 0, notes: Vec::new() });

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds the readers' lock until it is dropped, or something is printed.
#[derive(Debug)]
pub(crate) struct Readers(u64);

impl Readers {
    pub(crate) fn hold(lock: ReadLock) -> Self {
        let mut held = held();
        held.next += 1;
        let number = held.next;
        held.locks.push((number, lock));
        Self(number)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let mut held = held();
        held.locks.retain(|(number, _)| *number != self.0);
        let notes =
            if held.locks.is_empty() { std::mem::take(&mut held.notes) } else { Vec::new() };
        drop(held);
        for note in notes {
            crate::printer::say(&note);
        }
    }
}

/// Keeps a note for later if it cannot be printed now.
pub(crate) fn keep(note: &str) -> bool {
    let mut held = held();
    let is_held = !held.locks.is_empty() && !ao_mutant::active("LOOP-04/printed-under-the-lock");
    if is_held {
        held.notes.push(note.to_owned());
    }
    is_held
}

/// Gives all locks back, and what was kept for later.
pub(crate) fn release() -> Vec<String> {
    if ao_mutant::active("LOOP-04/printed-under-the-lock") {
        return Vec::new();
    }
    let mut held = held();
    held.locks.clear();
    std::mem::take(&mut held.notes)
}
