//! What happened in a night, counted for the line that the engine prints.

use std::fmt;
use std::time::Duration;

use super::account::Found;

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) took: Duration,
    pub(super) starts: usize,
    pub(super) cut: usize,
    pub(super) resumed: usize,
    pub(super) failed: usize,
    pub(super) acts: usize,
    pub(super) commits: usize,
    pub(super) found: Found,
}

impl Seen {
    pub(super) fn add(&mut self, other: &Self) {
        self.starts += other.starts;
        self.cut += other.cut;
        self.resumed += other.resumed;
        self.failed += other.failed;
        self.acts += other.acts;
        self.commits += other.commits;
        self.found = other.found;
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { starts, cut, resumed, failed, acts, commits, found, .. } = self;
        write!(
            f,
            "{starts} starts, {cut} killed, {resumed} resumed, {failed} failed as asked, {commits} commits, \
             {acts} acts of others; {found:?}"
        )
    }
}
