//! The identity file: keys in the format of `age`, the newest first.

use std::fmt;

use age::secrecy::ExposeSecret;
use age::x25519::{Identity, Recipient};
use zeroize::Zeroizing;

use super::Result;
use super::error::Error;
use super::files::{Files, Which, at};

/// One, and while it is rotated two; more only if rotations were killed one after the other.
const IDENTITIES_MAX: usize = 16;
/// Names the use of the key, so that no other use gives the same.
const SEAL_CONTEXT: &str = "ao vault, seal over all names and values, version 1";

/// At least one.
pub(super) struct Identities(Vec<Identity>);

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identities(***)")
    }
}

impl Identities {
    pub(super) fn fresh() -> Self {
        Self(vec![Identity::generate()])
    }

    pub(super) fn with_fresh(&self) -> Self {
        let mut all = vec![Identity::generate()];
        all.extend(self.0.iter().take(IDENTITIES_MAX - 1).cloned());
        Self(all)
    }

    pub(super) fn newest(&self) -> Self {
        Self(self.0.iter().take(1).cloned().collect())
    }

    /// Whether a rotation was begun and not ended.
    pub(super) fn is_rotating(&self) -> bool {
        self.0.len() > 1
    }

    pub(super) fn all(&self) -> &[Identity] {
        &self.0
    }

    /// Whom everything that is written is encrypted to.
    pub(super) fn recipient(&self) -> Recipient {
        self.0[0].to_public()
    }

    pub(super) fn seal_key(&self) -> Zeroizing<[u8; blake3::KEY_LEN]> {
        seal_key(&self.0[0])
    }

    pub(super) fn read(files: &Files) -> Result<Self> {
        let damaged = |why| Error::Damaged { path: files.identity.clone(), why };
        let bytes = files.read(Which::Identity)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| damaged("it is no text"))?;
        let mut all = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // The reason could quote the line.
            all.push(line.parse().map_err(|_| damaged("a line is no identity of age (X25519)"))?);
        }
        match all.len() {
            0 => Err(damaged("there is no identity in it")),
            1..=IDENTITIES_MAX => Ok(Self(all)),
            _ => Err(damaged("there are too many identities in it")),
        }
    }

    pub(super) fn write(&self, files: &Files) -> Result<()> {
        let lines: Vec<_> = self.0.iter().map(|one| (one.to_public(), one.to_string())).collect();
        // Room for all of it at once: a text that grows leaves copies behind.
        let room = lines.iter().map(|(_, key)| key.expose_secret().len() + 128).sum();
        let mut text = Zeroizing::new(String::with_capacity(room));
        for (public, key) in &lines {
            text.push_str("# public key: ");
            text.push_str(&public.to_string());
            text.push('\n');
            text.push_str(key.expose_secret());
            text.push('\n');
        }
        let path = &files.identity;
        ao_tree::replace_private(path, text.as_bytes()).map_err(at(path))
    }
}

/// Only who has the identity can make a seal, whereas everybody who knows the public key can encrypt.
pub(super) fn seal_key(identity: &Identity) -> Zeroizing<[u8; blake3::KEY_LEN]> {
    let key = identity.to_string();
    Zeroizing::new(blake3::derive_key(SEAL_CONTEXT, key.expose_secret().as_bytes()))
}
