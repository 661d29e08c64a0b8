//! The encrypted file: written whole, and read whole or not at all.
//!
//! What is encrypted can be forged by whoever knows the public key, so there is a seal in it that
//! only the identity can make, over everything that follows it.

use std::io::{self, Read, Write};

use age::{DecryptError, Decryptor, Encryptor, Identity, Recipient};
use zeroize::Zeroizing;

use super::Result;
use super::contents::Contents;
use super::error::Error;
use super::files::{Files, Which, at};
use super::identity::{Identities, seal_key};

/// The first line: what this is, and the seal.
const HEAD: &str = "ao-vault 1 ";
const SEAL_BYTES: usize = 64;
const HEAD_BYTES: usize = HEAD.len() + SEAL_BYTES + 1;

pub(super) fn read(files: &Files, identities: &Identities) -> Result<Contents> {
    let damaged = |why| Error::Damaged { path: files.vault.clone(), why };
    let bytes = files.read(Which::Vault)?;
    let plain = decrypt(identities, &bytes).map_err(|closed| match closed {
        Closed::Foreign => {
            Error::Foreign { vault: files.vault.clone(), identity: files.identity.clone() }
        }
        Closed::Damaged(why) => damaged(why),
    })?;
    let rest = opened(&plain, identities).ok_or_else(|| damaged("its seal is not ours"))?;
    Contents::parse(rest).ok_or_else(|| damaged("its content is not of this version"))
}

/// Why it does not open.
pub(super) enum Closed {
    Foreign,
    Damaged(&'static str),
}

/// All of it, or nothing.
pub(super) fn decrypt(
    identities: &Identities,
    sealed: &[u8],
) -> std::result::Result<Zeroizing<Vec<u8>>, Closed> {
    let decryptor = Decryptor::new_buffered(sealed)
        .map_err(|_| Closed::Damaged("it does not begin as a file of age does"))?;
    let all = identities.all().iter().map(|identity| identity as &dyn Identity);
    let mut reader = decryptor.decrypt(all).map_err(|error| match error {
        DecryptError::NoMatchingKeys => Closed::Foreign,
        _ => Closed::Damaged("its beginning was changed"),
    })?;
    let mut plain = Zeroizing::new(Vec::with_capacity(sealed.len()));
    reader.read_to_end(&mut plain).map_err(|_| Closed::Damaged("it was cut or changed"))?;
    Ok(plain)
}

/// What stands behind a seal that one of the identities made.
fn opened<'a>(plain: &'a [u8], identities: &Identities) -> Option<&'a [u8]> {
    let (head, rest) = plain.split_at_checked(HEAD_BYTES)?;
    let seal = head.strip_prefix(HEAD.as_bytes())?.strip_suffix(b"\n")?;
    let seal = blake3::Hash::from_hex(seal).ok()?;
    let mut keys = identities.all().iter().map(seal_key);
    // Compared in constant time.
    keys.any(|key| blake3::keyed_hash(&key, rest) == seal).then_some(rest)
}

pub(super) fn write(files: &Files, identities: &Identities, contents: &Contents) -> Result<()> {
    let path = &files.vault;
    let body = contents.to_bytes();
    let seal = blake3::keyed_hash(&identities.seal_key(), &body).to_hex();
    let parts = [HEAD.as_bytes(), seal.as_bytes(), b"\n", &body];
    let sealed = encrypt(identities, &parts).map_err(at(path))?;
    ao_tree::replace_private(path, &sealed).map_err(at(path))
}

/// For whoever has the newest identity.
pub(super) fn encrypt(identities: &Identities, parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let recipient = identities.recipient();
    let recipients = std::iter::once(&recipient as &dyn Recipient);
    let encryptor = Encryptor::with_recipients(recipients).map_err(io::Error::other)?;
    let mut sealed = Vec::with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 1024);
    let mut writer = encryptor.wrap_output(&mut sealed)?;
    for part in parts {
        writer.write_all(part)?;
    }
    writer.finish()?;
    Ok(sealed)
}
