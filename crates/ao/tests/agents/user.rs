//! Who runs an agent.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::install::{Installed, say_left_out};

/// Nobody on this machine; files of the test are given to it.
const ORDINARY: u32 = 1000;
const ENTER: u32 = 0o1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    This,
    /// Somebody without rights, if the tests are run by root.
    Ordinary,
}

impl User {
    /// Root and an ordinary user, where both can be had.
    pub(crate) fn all(installed: &Installed) -> Vec<Self> {
        if !nix::unistd::geteuid().is_root() {
            return vec![Self::This];
        }
        let needed = [installed.folder(), Path::new(env!("CARGO_BIN_EXE_ao"))];
        let is_closed =
            |folder: &&Path| fs::metadata(folder).unwrap().permissions().mode() & ENTER == 0;
        let closed = needed.iter().flat_map(|path| path.ancestors()).find(is_closed);
        if let Some(closed) = closed {
            let closed = closed.display();
            say_left_out(&format!("agents as an ordinary user: {closed} is closed to others"));
            return vec![Self::This];
        }
        vec![Self::This, Self::Ordinary]
    }

    pub(crate) fn is_root(self) -> bool {
        self == Self::This && nix::unistd::geteuid().is_root()
    }

    /// The command runs as this user.
    pub(crate) fn runs(self, command: &mut Command) {
        if self == Self::Ordinary {
            command.uid(ORDINARY).gid(ORDINARY);
        }
    }

    /// Gives a folder and all in it to this user.
    pub(crate) fn owns(self, path: &Path) {
        if self != Self::Ordinary {
            return;
        }
        std::os::unix::fs::lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
        if path.is_dir() && !path.is_symlink() {
            for entry in fs::read_dir(path).unwrap() {
                self.owns(&entry.unwrap().path());
            }
        }
    }
}
