//! Asking before something is changed.

use std::io::BufRead;

use ao_contract::Exit;

use crate::failure::Failure;
use crate::printer;

/// Asks on the terminal; anything but yes is no.
pub(crate) fn agreed() -> Result<bool, Failure> {
    let fail = |error: std::io::Error| {
        Failure::new(Exit::Failed, format!("the terminal cannot be read: {error}"))
            .hint("run it with --yes to make the changes without a question")
    };
    printer::ask("Make these changes? [y/N] ").map_err(fail)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(fail)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
