//! Secrets: what must not come out of `ao`, and finding what did.
//!
//! [`redact`] takes the vault's values out of whatever is written, printed or sent, and [`out`] is where
//! it goes from there. [`scan`] looks through files, [`notify`]
//! through messages, and [`sealed`] keeps those that were replaced.

pub mod notify;
pub mod out;
pub mod redact;
pub mod scan;
pub mod sealed;

pub use redact::{Ansi, MARK, Redacted, Redactor, redactor, set_redactor};
