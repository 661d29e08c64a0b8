//! What git leaves alone in the state folder. `git stash -u` and `git clean` would take a commit apart that is under
//! way, so they are told before the first one: whoever takes the lock of a run has this written.

use std::io;
use std::path::Path;

use crate::own_file;

pub const IGNORED: &str = ".gitignore";
/// It names itself, so that a stash leaves it as well. Reports, history, receipts, undo snapshots and archives are not in it: whether they are committed is a choice.
pub const IGNORED_TEXT: &str = "\
# Written by ao. These are of this machine and this moment; git must not move them.
/.*.new
/.gitignore
/COMMIT-MARKER.*
/commit.lock
/displaced/
/generation
/generation.new
/run.alive
/run.lock
/staging/
/status.json
";

/// Writes it, if it does not stand there as it should.
pub(crate) fn write(state_dir: &Path) -> io::Result<()> {
    let path = state_dir.join(IGNORED);
    let there = own_file::read(&path, IGNORED_TEXT.len() as u64);
    let is_there = there.is_ok_and(|bytes| bytes == IGNORED_TEXT.as_bytes());
    if is_there || ao_mutant::active("RUN-31/git-is-not-told") {
        return Ok(());
    }
    #[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
    let written = crate::replace_file(&path, IGNORED_TEXT.as_bytes());
    match written {
        // A commit needs room, too: before there is some, there is none to be taken apart.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        written => written,
    }
}
