//! A repository to look at.

use std::fs;
use std::path::{Path, PathBuf};

use ao_night::Place;
use tempfile::TempDir;

pub(crate) struct Ground {
    dir: TempDir,
    agents: PathBuf,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let agents = dir.path().join(".agents");
        fs::create_dir(&agents).unwrap();
        Self { dir, agents }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn agents(&self) -> &Path {
        &self.agents
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { root: self.root(), agents: self.agents(), outside: None }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
