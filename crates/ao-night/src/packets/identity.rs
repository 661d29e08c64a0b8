//! What makes two pieces of work the same one, in this night and in the next.
//!
//! An id is made from what the work is about (a finding, two entries, a metric), never from how it is
//! worded, counted or ranked.

const PREFIX: &str = "dream-";
const DIGITS: usize = 16;

/// The id of the work that these parts name.
pub(crate) fn id_of(kind: &str, parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [kind].iter().chain(parts) {
        // With its length before it no part can run into the next.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    format!("{PREFIX}{}", &hasher.finalize().to_hex()[..DIGITS])
}

/// Whether an id is one that a night gave.
pub(crate) fn is_packet_id(id: &str) -> bool {
    let digits = id.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_stable_and_apart() {
        // A change of this one makes every queue and every bead of every user see double.
        assert_eq!(id_of("finding", &["f-2026-04-01-001"]), "dream-a4061506e9a4cfcf");
        assert_ne!(id_of("a", &["bc"]), id_of("ab", &["c"]));
        assert_ne!(id_of("a", &["b", "c"]), id_of("a", &["bc"]));
        assert!(is_packet_id(&id_of("x", &[])));
        for other in ["dream-1", "dream-0D9FA4D5F2E0D7A1", "0d9fa4d5f2e0d7a1", ""] {
            assert!(!is_packet_id(other), "{other}");
        }
    }
}
