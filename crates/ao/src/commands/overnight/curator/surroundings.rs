//! What else there is on this machine: runners for the council, and bridges.

use std::path::{Path, PathBuf};

use ao_guard::find_program;
use ao_night::curator::Bridge;
use serde_json::{Value, json};

use crate::repo::Repo;

/// Programs that the council knows how to ask.
const RUNNERS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];
/// Commands that lead to another agent's world.
const BRIDGES: [&str; 2] = ["openclaw", "oc-ask"];

/// The runners of the second tier that are installed. This is the one place that says so here.
pub(super) fn runners(repo: &Repo) -> Vec<Value> {
    let root = repo.canonical();
    let told = |name: &&str| {
        let path = find(name, &root);
        json!({ "name": name, "is_found": path.is_some(), "path": path })
    };
    RUNNERS.iter().map(told).collect()
}

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
