//! The store: one file with all names and values, encrypted as a whole to one identity.
//!
//! The identity is a file of its own, in the format that `age` has for it. Everything that changes
//! either file happens under one lock, and each is replaced whole.
//!
//! A rotation touches both. It first adds the new identity before the old one, then encrypts the
//! values to the new one, then the messages that are kept, then takes the old one away: at every moment the identities that stand in
//! the file open what stands in the other. One that was killed is finished by whoever writes next.

mod contents;
mod error;
mod files;
mod identity;
mod lock;
mod message;
mod sealed;

use crate::name::Name;
use crate::secret::Secret;

use contents::Contents;
pub use contents::ENTRIES_MAX;
pub use error::Error;
pub use files::{Files, Which};
use identity::Identities;
use lock::{Lock, Sharing};
pub use message::{seal_message, unseal_message};

pub type Result<T> = std::result::Result<T, Error>;

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Created,
    Replaced,
    /// The value was this one already.
    Same,
    Removed,
}

/// What `init` found or made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    Made,
    /// There was an identity and no vault: the vault was made for it.
    MadeForIdentity,
    /// Both are there, and one opens the other.
    WasThere,
}

/// A vault that was opened and read as a whole.
#[derive(Debug)]
pub struct Store {
    contents: Contents,
}

impl Store {
    /// Makes an identity and an empty vault, where they are not there yet.
    pub fn init(files: &Files) -> Result<Begun> {
        files.prepare()?;
        let _lock = Lock::take_or_make(files, Sharing::Alone)?;
        let (has_identity, has_vault) =
            (files.is_there(Which::Identity)?, files.is_there(Which::Vault)?);
        match (has_identity, has_vault) {
            (true, true) => {
                read(files)?;
                Ok(Begun::WasThere)
            }
            // A new identity would never open it.
            (false, true) => Err(files.missing(Which::Identity)),
            (true, false) => {
                let identities = Identities::read(files)?;
                sealed::write(files, &identities, &Contents::default())?;
                Ok(Begun::MadeForIdentity)
            }
            (false, false) => {
                let identities = Identities::fresh();
                identities.write(files)?;
                sealed::write(files, &identities, &Contents::default())?;
                Ok(Begun::Made)
            }
        }
    }

    /// Reads everything, or nothing.
    pub fn open(files: &Files) -> Result<Self> {
        let _lock = Lock::take(files, Sharing::Shared)?;
        let (_, contents) = read(files)?;
        Ok(Self { contents })
    }

    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.contents.entries().keys()
    }

    pub fn get(&self, name: &Name) -> Result<&Secret> {
        self.contents.entries().get(name).ok_or_else(|| Error::NoSuchName(name.clone()))
    }

    /// Whether this is one of the values.
    pub fn has_value(&self, bytes: &[u8]) -> bool {
        self.contents.entries().values().any(|secret| secret.expose() == bytes)
    }

    /// Everything that must not be seen, for whoever looks for it.
    pub fn into_values(self) -> impl Iterator<Item = (Name, Secret)> {
        self.contents.into_entries().into_iter()
    }
}

/// Keeps a value under a name, instead of the one that was there.
pub fn write(files: &Files, name: &Name, secret: Secret) -> Result<Change> {
    change(files, |contents| contents.put(name.clone(), secret))
}

pub fn remove(files: &Files, name: &Name) -> Result<Change> {
    change(files, |contents| {
        contents.take(name).map(|_| Change::Removed).ok_or_else(|| Error::NoSuchName(name.clone()))
    })
}

/// Makes a new identity and encrypts everything to it. Gives the number of values.
pub fn rotate(files: &Files) -> Result<usize> {
    let _lock = Lock::take(files, Sharing::Alone)?;
    let (identities, contents) = read(files)?;
    let both = identities.with_fresh();
    both.write(files)?;
    sealed::write(files, &both, &contents)?;
    message::seal_anew(files, &both)?;
    both.newest().write(files)?;
    Ok(contents.entries().len())
}

fn change(files: &Files, act: impl FnOnce(&mut Contents) -> Result<Change>) -> Result<Change> {
    let _lock = Lock::take(files, Sharing::Alone)?;
    let (identities, mut contents) = read(files)?;
    let change = act(&mut contents)?;
    if change != Change::Same || identities.is_rotating() {
        sealed::write(files, &identities, &contents)?;
    }
    if identities.is_rotating() {
        message::seal_anew(files, &identities)?;
        // Now that nothing is encrypted to the old one any more.
        identities.newest().write(files)?;
    }
    Ok(change)
}

fn read(files: &Files) -> Result<(Identities, Contents)> {
    let identities = Identities::read(files)?;
    let contents = sealed::read(files, &identities)?;
    Ok((identities, contents))
}

#[cfg(test)]
mod tests;
