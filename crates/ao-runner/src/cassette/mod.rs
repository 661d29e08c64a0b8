//! Every exchange as it was, and a runner that plays it back.
//!
//! One file a run, `overnight/cassettes/RUN.jsonl`, a line an exchange, written when the exchange is over. The
//! values of the vault are taken out of it, as out of everything. So whoever asks again is compared
//! with them taken out, too.

mod failure;
mod play;
mod record;

use std::io;
use std::path::{Path, PathBuf};

pub use play::{Cassette, CassetteError, Played};
pub use record::{Recorded, Tape};

/// In the folder of the nights.
pub const FOLDER: &str = "cassettes";

/// Where the cassette of a run is; an id that is none is refused.
pub fn path(overnight: &Path, run_id: &str) -> io::Result<PathBuf> {
    ao_contract::check_id(run_id)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    Ok(overnight.join(FOLDER).join(format!("{run_id}.jsonl")))
}
