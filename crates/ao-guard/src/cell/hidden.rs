//! What a cell is told and nobody else: a secret that the engine or the program holds.

use std::fmt;

use zeroize::Zeroizing;

/// Bytes that are never printed, and overwritten when they are no longer needed.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(Zeroizing<Vec<u8>>);

impl Hidden {
    pub fn new(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }

    pub(super) fn with_room(count: usize) -> Self {
        Self(Zeroizing::new(vec![0; count]))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl From<Vec<u8>> for Hidden {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(***)")
    }
}
