//! Where the key of the receipts is, as the library is told.

use std::io;
use std::path::Path;

use ao_night::receipts::{Custody, Receipts};

use super::super::vault::place;
use crate::chance;
use crate::cli::Global;

/// For a night. A night is not refused for want of a key: its receipt then has no seal, and that is said.
pub(super) fn receipts(root: &Path, global: &Global) -> Receipts {
    if global.dry_run {
        return Receipts::Off;
    }
    let Some(folder) = place::receipts() else {
        return Receipts::Unsealed("neither XDG_STATE_HOME nor HOME says where a key is".into());
    };
    let fresh = || chance::bytes().map_err(|failure| io::Error::other(failure.message));
    match Custody::open(&folder, root, fresh) {
        Ok(custody) => Receipts::Sealed(custody),
        Err(error) => Receipts::Unsealed(format!("{}: {error}", folder.display())),
    }
}

/// For a look: nothing is made. The second value says why there is none, if something is wrong with it.
pub(crate) fn custody(root: &Path) -> (Option<Custody>, Option<String>) {
    let Some(folder) = place::receipts() else {
        return (None, Some("neither XDG_STATE_HOME nor HOME says where the key is".into()));
    };
    match Custody::look(&folder, root) {
        Ok(custody) => (custody, None),
        Err(error) => (None, Some(format!("{}: {error}", folder.display()))),
    }
}
