//! Edits, in the one form in which this room proposes them: each with what was seen, so that what
//! somebody wrote since is not overwritten, and in groups that are made as a whole.

use ao_tree::{Action, Edit, Seen};

/// Edits that are made together or not at all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group<'a>(pub(crate) &'a str);

impl Group<'_> {
    /// A file that is not there.
    pub(crate) fn add(self, path: &str, bytes: &[u8], reason: &str, sources: &[&str]) -> Edit {
        self.edit(path, Action::Write(bytes.to_vec()), Seen::Nothing, (reason, sources))
    }

    /// A file that says something else so far.
    pub(crate) fn change(
        self,
        path: &str,
        (before, after): (&[u8], &[u8]),
        reason: &str,
        sources: &[&str],
    ) -> Edit {
        self.edit(path, Action::Write(after.to_vec()), Seen::bytes(before), (reason, sources))
    }

    pub(crate) fn delete(self, path: &str, before: &[u8], reason: &str, sources: &[&str]) -> Edit {
        self.edit(path, Action::Delete, Seen::bytes(before), (reason, sources))
    }

    fn edit(
        self,
        path: &str,
        action: Action,
        seen: Seen,
        (reason, sources): (&str, &[&str]),
    ) -> Edit {
        Edit {
            path: path.to_owned(),
            action,
            mode: None,
            reason: reason.to_owned(),
            sources: sources.iter().map(|source| (*source).to_owned()).collect(),
            group: Some(self.0.to_owned()),
            seen: Some(seen),
        }
    }
}
