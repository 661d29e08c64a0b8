//! Secrets: where they are kept, and how they are handed out.
//!
//! The [`store`] keeps values under names in one file that is encrypted as a whole. A [`Secret`] is
//! a value in memory: it is never printed, and it is overwritten before its memory is given back.
//!
//! What holds against whom, and what does not, is said in `docs/vault.md`.

mod name;
mod secret;
pub mod store;

pub use name::{BadName, NAME_BYTES_MAX, Name, SCHEME};
pub use secret::{BadValue, Secret, VALUE_BYTES_MAX, VALUE_BYTES_MIN};
pub use store::{Error, Files, Store};
