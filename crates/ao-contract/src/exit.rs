//! What a command's exit code says. Scripts and schedulers rely on it, so it never changes meaning.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// It failed; the message says what, and nothing is lost.
    Failed = 1,
    /// It was asked for in a way that cannot be understood (for the hook: refused).
    Usage = 2,
    /// Done, but degraded or with work left; only with `--strict-exit`.
    Degraded = 3,
    /// A gate refused what was proposed.
    Refused = 4,
    /// A guard was violated, or a check found something.
    Found = 5,
    /// The place is not fit for the work: nothing was begun.
    Preflight = 6,
    /// Not now: a lock is held, it is quiet time, or a quota is spent. Try again later.
    Deferred = 75,
}

impl Exit {
    pub const ALL: [Exit; 8] = [
        Exit::Done,
        Exit::Failed,
        Exit::Usage,
        Exit::Degraded,
        Exit::Refused,
        Exit::Found,
        Exit::Preflight,
        Exit::Deferred,
    ];

    pub fn code(self) -> u8 {
        self as u8
    }
}
