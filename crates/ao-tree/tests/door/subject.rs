//! What the engines put to the test: a protocol that changes a file system from one whole state to
//! another, and a recovery that leaves one of the two.

use ao_tree::Fs;

use crate::sim::SimFs;
use crate::tap::Call;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Before,
    After,
}

pub(crate) trait Subject {
    fn name(&self) -> String;

    /// The protocol. An error is its own account of why it did not go through.
    fn run<F: Fs>(&self, fs: F) -> Result<(), String>;

    fn recover<F: Fs>(&self, fs: F) -> Result<(), String>;

    /// On which side a recovered file system is; an error when it is on neither, and why.
    fn judge(&self, fs: &SimFs) -> Result<Side, String>;

    /// Promises that are too slow to ask of every case. The engines ask them once of each distinct
    /// recovered file system.
    fn judge_deeply(&self, _fs: &SimFs, _side: Side) -> Result<(), String> {
        Ok(())
    }

    /// From this call on the protocol does not go back.
    fn is_commit_point<D>(&self, call: &Call<D>) -> bool;
}
