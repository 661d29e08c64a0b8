//! Secrets: where they are kept, how they are handed out, and that they come out nowhere else.
//!
//! The [`store`] keeps values under names in one file that is encrypted as a whole. A [`Secret`] is
//! a value in memory: it is never printed, and it is overwritten before its memory is given back.
//! [`redact`] takes the values out of whatever is written, printed or sent, and [`out`] is where it
//! goes from there. [`scan`] looks through files, [`notify`] through messages, and [`shelf`] keeps
//! those that were replaced.
//!
//! What holds against whom, and what does not, is said in `docs/vault.md`.

mod name;
pub mod notify;
pub mod out;
pub mod redact;
pub mod scan;
mod secret;
pub mod shelf;
pub mod store;

pub use name::{BadName, NAME_BYTES_MAX, Name, SCHEME};
pub use redact::{Ansi, MARK, Redacted, Redactor, redactor, said, set_redactor};
pub use secret::{BadValue, Secret, VALUE_BYTES_MAX, VALUE_BYTES_MIN};
pub use store::{Error, Files, Store};
