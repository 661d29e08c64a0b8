//! Messages that are kept for the owner alone.

use zeroize::Zeroizing;

use super::Result;
use super::error::Error;
use super::files::{Files, at};
use super::identity::Identities;
use super::lock::{Lock, Sharing};
use super::sealed::{Closed, decrypt, encrypt};
use crate::shelf::{Kept, Shelf};

/// Makes a message unreadable to all but who has the identity.
pub fn seal_message(files: &Files, message: &str) -> Result<Vec<u8>> {
    let _lock = Lock::take(files, Sharing::Shared)?;
    let identities = Identities::read(files)?;
    encrypt(&identities, &[message.as_bytes()]).map_err(at(&files.kept))
}

/// The message again.
pub fn unseal_message(files: &Files, kept: &Kept) -> Result<Zeroizing<Vec<u8>>> {
    let _lock = Lock::take(files, Sharing::Shared)?;
    let path = files.kept.join(&kept.name);
    let sealed = Shelf::new(&files.kept).read(kept).map_err(at(&path))?;
    decrypt(&Identities::read(files)?, &sealed).map_err(|closed| match closed {
        Closed::Foreign => Error::Foreign { vault: path, identity: files.identity.clone() },
        Closed::Damaged(why) => Error::Damaged { path, why },
    })
}

/// So that the older identities are not needed for them. One that none of them opens stays as it is.
pub(super) fn seal_anew(files: &Files, identities: &Identities) -> Result<()> {
    let shelf = Shelf::new(&files.kept);
    let failed = |error| at(&files.kept)(error);
    for kept in shelf.list().map_err(failed)?.iter().filter(|kept| kept.is_sealed) {
        let Ok(sealed) = shelf.read(kept) else { continue };
        if let Ok(plain) = decrypt(identities, &sealed) {
            let anew = encrypt(identities, &[&plain]).map_err(failed)?;
            shelf.replace(kept, &anew).map_err(failed)?;
        }
    }
    Ok(())
}
