//! What the engines put to the test: a protocol that changes a file system from one whole state to
//! another, and a recovery that leaves one of the two.

use std::collections::HashMap;

use ao_tree::Fs;

use crate::journal::Journal;
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

    /// What may be seen by somebody who reads at any moment, also in the middle.
    fn glimpse(&self, _fs: &SimFs) -> Result<(), String> {
        Ok(())
    }

    /// From this call on the protocol does not go back.
    fn is_commit_point<D>(&self, call: &Call<D>) -> bool;
}

/// Judges trees, and remembers how: most crashes come down to the same few.
pub(crate) struct Judge<'a, S> {
    subject: &'a S,
    /// By how a tree looks.
    judged: HashMap<u64, Result<Side, String>>,
    glimpsed: HashMap<u64, Result<(), String>>,
}

impl<'a, S: Subject> Judge<'a, S> {
    pub(crate) fn new(subject: &'a S) -> Self {
        Self { subject, judged: HashMap::new(), glimpsed: HashMap::new() }
    }

    /// The side of a recovered file system, with all that is promised of it.
    pub(crate) fn side(&mut self, fs: &SimFs) -> Result<Side, String> {
        let subject = self.subject;
        let judge = || {
            let side = subject.judge(fs)?;
            subject.judge_deeply(fs, side)?;
            Ok(side)
        };
        self.judged.entry(fs.appearance()).or_insert_with(judge).clone()
    }

    pub(crate) fn glimpse(&mut self, at: &Journal) -> Result<(), String> {
        let subject = self.subject;
        let look = || subject.glimpse(&SimFs::on(at.clone()));
        self.glimpsed.entry(at.appearance()).or_insert_with(look).clone()
    }

    /// As [`Self::side`], when there is only one that it may be.
    pub(crate) fn side_is(&mut self, fs: &SimFs, required: Option<Side>) -> Result<Side, String> {
        let side = self.side(fs)?;
        match required {
            Some(required) if required != side => {
                Err(format!("{side:?}, though {required:?} was settled"))
            }
            _ => Ok(side),
        }
    }
}
