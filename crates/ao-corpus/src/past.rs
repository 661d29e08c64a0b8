//! A tree as it was: today's files, but for those that are known to have been otherwise.

use jiff::Timestamp;

/// How an earlier state differs from what lies in the tree.
#[derive(Debug, Clone)]
pub struct Past {
    /// Names the state, also among the caches; the same name is the same state.
    pub name: String,
    /// The end of it, in nanoseconds since the epoch.
    pub until_ns: i64,
    /// Where kept versions lie, beneath `.agents/`.
    pub folder: String,
    /// What is known of it.
    pub known: ao_tree::Past,
}

impl Past {
    /// The end of it.
    pub fn until(&self) -> Timestamp {
        Timestamp::from_nanosecond(i128::from(self.until_ns)).unwrap_or(Timestamp::MAX)
    }
}
