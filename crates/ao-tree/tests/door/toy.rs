//! A protocol small enough to see through: one file is replaced by temp, sync, rename, sync.
//!
//! It is here to show that the engines bite. Each of its steps is needed, so that a toy which
//! leaves one out must be caught.

use std::ffi::OsStr;

use ao_tree::Fs;

use crate::sim::SimFs;
use crate::subject::{Side, Subject};
use crate::tap::Call;

const OLD: &[u8] = b"what was there before";
const NEW: &[u8] = b"what is there afterwards";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toy {
    Whole,
    NoFileSync,
    NoDirSync,
    /// Writes the new bytes by removing the old file first.
    RemoveFirst,
    /// A recovery that leaves the temp file where it is.
    NoCleanUp,
    /// Syncs again when a sync failed, and believes the second answer.
    RetriesSync,
}

impl Toy {
    pub(crate) fn start() -> SimFs {
        let fs = SimFs::new();
        fs.put("file", OLD);
        fs.settle();
        fs
    }

    fn replace<F: Fs>(self, fs: &F) -> std::io::Result<()> {
        let (top, temp, file) = (fs.top(), OsStr::new("file.tmp"), OsStr::new("file"));
        fs.create(&top, temp, NEW, 0o644)?;
        match self {
            Self::NoFileSync => {}
            Self::RetriesSync => {
                fs.sync_file(&top, temp).or_else(|_| fs.sync_file(&top, temp))?;
            }
            _ => fs.sync_file(&top, temp)?,
        }
        if self == Self::RemoveFirst {
            fs.remove_file(&top, file)?;
        }
        fs.rename((&top, temp), (&top, file))?;
        if self == Self::NoDirSync { Ok(()) } else { fs.sync_dir(&top) }
    }

    fn clean_up<F: Fs>(self, fs: &F) -> std::io::Result<()> {
        let (top, temp) = (fs.top(), OsStr::new("file.tmp"));
        if self != Self::NoCleanUp && fs.stat(&top, temp)?.is_some() {
            fs.remove_file(&top, temp)?;
            fs.sync_dir(&top)?;
        }
        Ok(())
    }
}

impl Subject for Toy {
    fn name(&self) -> String {
        format!("toy {self:?}")
    }

    fn run<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.replace(&fs).map_err(|error| {
            // Whoever fails cleans up; whether that works is not known here.
            let _ = self.clean_up(&fs);
            error.to_string()
        })
    }

    /// Syncs in any case: what it says is settled must stay so, also when the run that did it was
    /// killed before its last sync.
    fn recover<F: Fs>(&self, fs: F) -> Result<(), String> {
        let done = self.clean_up(&fs).and_then(|()| fs.sync_dir(&fs.top()));
        done.map_err(|error| error.to_string())
    }

    fn judge(&self, fs: &SimFs) -> Result<Side, String> {
        if fs.bytes("file.tmp").is_some() {
            return Err("the temp file is left over".to_owned());
        }
        match fs.bytes("file").as_deref() {
            Some(OLD) => Ok(Side::Before),
            Some(NEW) => Ok(Side::After),
            Some(other) => Err(format!("torn: {:?}", String::from_utf8_lossy(other))),
            None => Err("the file is lost".to_owned()),
        }
    }

    fn is_commit_point<D>(&self, call: &Call<D>) -> bool {
        matches!(call, Call::Rename { .. })
    }
}
