//! The encrypted file: written whole, and read whole or not at all.
//!
//! What is encrypted can be forged by whoever knows the public key, so there is a seal in it that
//! only the identity can make, over everything that follows it.

use std::io::{Read, Write};

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
    let bytes: &[u8] = &bytes;
    let decryptor = Decryptor::new_buffered(bytes)
        .map_err(|_| damaged("it does not begin as a file of age does"))?;
    let all = identities.all().iter().map(|identity| identity as &dyn Identity);
    let mut reader = decryptor.decrypt(all).map_err(|error| match error {
        DecryptError::NoMatchingKeys => {
            Error::Foreign { vault: files.vault.clone(), identity: files.identity.clone() }
        }
        _ => damaged("its beginning was changed"),
    })?;
    let mut plain = Zeroizing::new(Vec::with_capacity(bytes.len()));
    reader.read_to_end(&mut plain).map_err(|_| damaged("it was cut or changed"))?;
    let rest = opened(&plain, identities).ok_or_else(|| damaged("its seal is not ours"))?;
    Contents::parse(rest).ok_or_else(|| damaged("its content is not of this version"))
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
    let seal = blake3::keyed_hash(&identities.seal_key(), &body);
    let recipient = identities.recipient();
    let mut sealed = Vec::with_capacity(body.len() + 1024);
    let mut encrypt = || -> std::io::Result<()> {
        let recipients = std::iter::once(&recipient as &dyn Recipient);
        let encryptor = Encryptor::with_recipients(recipients).map_err(std::io::Error::other)?;
        let mut writer = encryptor.wrap_output(&mut sealed)?;
        writer.write_all(HEAD.as_bytes())?;
        writer.write_all(seal.to_hex().as_bytes())?;
        writer.write_all(b"\n")?;
        writer.write_all(&body)?;
        writer.finish()?;
        Ok(())
    };
    encrypt().map_err(at(path))?;
    ao_tree::replace_private(path, &sealed).map_err(at(path))
}
