//! What else there is on this machine: bridges.

use std::path::{Path, PathBuf};

use ao_guard::find_program;
use ao_night::curator::Bridge;

use crate::repo::Repo;

/// Commands that lead to another agent's world.
const BRIDGES: [&str; 2] = ["openclaw", "oc-ask"];

pub(super) fn bridges(repo: &Repo) -> Vec<Bridge> {
    let root = repo.canonical();
    let told = |name: &&str| Bridge { command: (*name).to_owned(), path: find(name, &root) };
    BRIDGES.iter().map(told).collect()
}

/// Never one that the repository itself holds.
fn find(name: &str, root: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    find_program(name, &path, root).ok()
}
