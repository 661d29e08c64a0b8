//! Which values must not come out.

use ao_contract::Exit;
use ao_vault::{Redactor, set_redactor};

use crate::failure::Failure;

/// A value and what it is called.
pub(crate) type Named = (String, Vec<u8>);

/// Has everything that this process writes looked through for the known values.
pub(crate) fn begin() -> Result<(), Failure> {
    let values = values()?;
    let redactor = Redactor::new(values.iter().map(|(_, value)| value)).map_err(|error| {
        Failure::new(
            Exit::Preflight,
            format!("the vault cannot be kept out of what is written: {error}"),
        )
        .hint("nothing was begun")
    })?;
    set_redactor(redactor);
    Ok(())
}

/// The values of the vault.
#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "as where a test says what they are")]
pub(crate) fn values() -> Result<Vec<Named>, Failure> {
    Ok(Vec::new())
}

/// The values of the vault; a test says what they are: `AO_KNOWN_VALUES` names a file with a JSON
/// object of them. A release has none of it.
#[cfg(debug_assertions)]
pub(crate) fn values() -> Result<Vec<Named>, Failure> {
    let Some(file) = std::env::var_os("AO_KNOWN_VALUES") else { return Ok(Vec::new()) };
    let bad = |why: &dyn std::fmt::Display| {
        Failure::new(Exit::Preflight, format!("the known values cannot be read: {why}"))
    };
    let text = std::fs::read(file).map_err(|error| bad(&error))?;
    let values: std::collections::BTreeMap<String, String> =
        serde_json::from_slice(&text).map_err(|error| bad(&format!("line {}", error.line())))?;
    Ok(values.into_iter().map(|(name, value)| (name, value.into_bytes())).collect())
}
