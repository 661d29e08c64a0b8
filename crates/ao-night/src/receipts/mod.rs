//! Receipts: a line a run that says what it began with and what it did, chained and sealed.
//!
//! Each line names the hash of the line before it, and ends with a seal that only the user's own key makes.
//! The key and the head (how many lines there are, and the hash of the last) lie outside of the repository, so
//! that whoever can write the repository's files can neither make a line nor take one away unseen. A new line
//! goes on from the head, whatever the file says: what was done to the file stays to be seen.

mod chain;
mod custody;
mod files;
mod last;
mod mend;
mod moved;
mod told;
mod verify;

pub use chain::{FILE, Line, Lines, Sealed, lines, read};
pub(crate) use chain::{append, unfinished, unsealed};
pub use custody::{Custody, KEY_BYTES};
pub(crate) use files::FileList;
pub use files::relist;
pub use last::{Around, Last, Outcome, last};
pub(crate) use mend::mend;
pub(crate) use told::{
    began_with, commits, of_cut_off, of_lost, of_summary, of_unsealed, with_cause,
};
pub(crate) use verify::is_as_written;
pub use verify::{Finding, Verified, What, verify};

/// Where the file is, beneath the repository.
const STATE: &str = ".agents/overnight";

/// What becomes of the receipt of a run.
#[derive(Debug)]
pub enum Receipts {
    /// It has none: a dry run, or a night that is run again.
    Off,
    /// There is no key, for this reason: it is written without a seal.
    Unsealed(String),
    Sealed(Custody),
}

impl Receipts {
    pub(crate) fn custody(&self) -> Option<&Custody> {
        match self {
            Self::Off | Self::Unsealed(_) => None,
            Self::Sealed(custody) => Some(custody),
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !matches!(self, Self::Off)
    }
}

/// The hash of a line or a file.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
