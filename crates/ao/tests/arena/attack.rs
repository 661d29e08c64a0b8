//! What an attack is.

use crate::late::Change;
use crate::{by_call, by_shell, late};

/// So many attacks must come through where there is no cell.
pub(crate) const PROVED_MIN: usize = 80;

/// How one is made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Means {
    /// A script; `$V`, `$OUT`, `$W` and others are set.
    Shell(&'static str),
    /// A function of this binary, by name.
    Call,
}

/// Which cell it is tried in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Writes only in `out/`.
    Pass,
    /// Sees the whole work tree as a copy.
    Worker,
}

/// Where the ground lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// Where the cell sees the machine as it is.
    Open,
    /// In `/tmp`, of which the cell has its own with just the repository in it.
    Temporary,
}

/// How it is seen that it came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Something outside is not as it was, or a secret was said.
    Outside,
    /// A secret was said. What changes outside is no work of the attacker's.
    Said,
    /// It says so itself: what it makes is in a namespace or a process of its own, so that the
    /// control changes nothing of the machine.
    Inside,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) means: Means,
    pub(crate) place: Place,
    pub(crate) site: Site,
    pub(crate) proof: Proof,
    /// More for `ao guard run`.
    pub(crate) options: &'static [&'static str],
    /// What happens outside while it runs.
    pub(crate) meanwhile: Option<Change>,
}

pub(crate) fn all() -> Vec<Attack> {
    let mut all = by_shell::attacks();
    all.extend(by_call::attacks());
    all.extend(late::attacks());
    let mut names: Vec<_> = all.iter().map(|attack| attack.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "two attacks have one name");
    all
}
