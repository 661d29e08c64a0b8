//! Deliberate faults, so that a test that claims a clause can be seen to fail.
//!
//! A mutant is one small wrong decision in the code of a clause, named `CLAUSE/what-is-wrong`:
//!
//! ```
//! let waits = std::time::Duration::from_secs(if ao_mutant::active("RUN-44/waits-a-day") { 86_400 } else { 0 });
//! # assert!(waits.is_zero());
//! ```
//!
//! `./mutants` builds the tests with the feature `armed`, switches on one mutant after the other, and runs
//! the tests that claim its clause. Without the feature every call is the constant `false`, so the fault
//! is not in the program.

#[cfg(all(feature = "armed", not(debug_assertions)))]
compile_error!("a release build has no mutants: leave the feature `armed` out");

/// Whether this fault is switched on.
#[cfg(not(feature = "armed"))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "the fault is to be removed by the compiler")]
pub const fn active(_mutant: &str) -> bool {
    false
}

/// Whether this fault is switched on.
///
/// The file is named when the tests are built: many of them start the binary with an empty environment.
#[cfg(feature = "armed")]
pub fn active(mutant: &str) -> bool {
    use std::sync::LazyLock;
    static SWITCHED_ON: LazyLock<String> = LazyLock::new(|| {
        let file = option_env!("AO_MUTANT_FILE").unwrap_or_default();
        std::fs::read_to_string(file).unwrap_or_default()
    });
    SWITCHED_ON.trim_end() == mutant
}
