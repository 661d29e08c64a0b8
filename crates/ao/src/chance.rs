//! Random bytes, from the kernel.

use std::io::Read as _;
use std::path::Path;

use ao_contract::Exit;
use ao_runner::wrap::{NONCE_BYTES, Nonce};
use ao_tree::own_file;

use crate::failure::Failure;

pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    let source = own_file::open_named(Path::new("/dev/urandom"));
    source.and_then(|mut file| file.read_exact(&mut bytes)).map_err(|error| {
        Failure::new(Exit::Preflight, format!("the kernel gives no random bytes: {error}"))
            .hint("nothing was begun")
    })?;
    Ok(bytes)
}

/// A word that nobody has seen before.
pub(crate) fn nonce() -> Result<Nonce, Failure> {
    Ok(Nonce::new(chosen(bytes()?)))
}

/// A test says which word will be used, to put it into the material. Not in a binary that is released.
#[cfg(debug_assertions)]
fn chosen(bytes: [u8; NONCE_BYTES]) -> [u8; NONCE_BYTES] {
    let said = std::env::var("AO_NONCE_TEST").ok().and_then(|number| number.parse().ok());
    said.map_or(bytes, |number: u8| [number; NONCE_BYTES])
}

#[cfg(not(debug_assertions))]
fn chosen(bytes: [u8; NONCE_BYTES]) -> [u8; NONCE_BYTES] {
    bytes
}
