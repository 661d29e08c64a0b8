//! The patterns that several schemas share.

/// RFC 3339 in UTC: `2026-04-09T02:15:03Z`.
pub(crate) const UTC: &str = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$";

/// A BLAKE3 hash in lower-case hexadecimal.
pub(crate) const HASH: &str = "^[0-9a-f]{64}$";

/// A day, `2026-04-09`.
pub(crate) const DAY: &str = r"^\d{4}-\d{2}-\d{2}$";
