//! Random bytes, from the kernel.

use std::fs::File;
use std::io::Read as _;

use ao_contract::Exit;

use crate::failure::Failure;

pub(super) fn bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).map_err(
        |error| {
            Failure::new(Exit::Preflight, format!("the kernel gives no random bytes: {error}"))
                .hint("nothing was begun")
        },
    )?;
    Ok(bytes)
}
