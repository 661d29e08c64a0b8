//! A repository, and a directory of programs that stand in for others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ao_guard::Keeper;
use ao_guard::cell::{Around, Cell, Cells, Outside, Place};
use ao_night::{Host, System};

/// A test that is not through by then will never be.
const PATIENCE: Duration = Duration::from_mins(5);
pub(crate) const STAND_IN: &str = env!("CARGO_BIN_EXE_night-stand-in");

#[derive(Debug)]
pub(crate) struct Bed {
    dir: tempfile::TempDir,
}

impl Bed {
    pub(crate) fn new() -> Self {
        let bed = Self { dir: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        for name in ["repo/.beads", "bin"] {
            fs::create_dir_all(bed.at(name)).unwrap();
        }
        bed
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// Puts the stand-in on the path by another name.
    pub(crate) fn install(&self, name: &str) {
        fs::hard_link(STAND_IN, self.at("bin").join(name)).unwrap();
    }

    /// Puts a script of the shell on the path.
    pub(crate) fn script(&self, name: &str, text: &str) {
        let path = self.at("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn host(&self, system: System) -> Host {
        let path = self.at("bin").into_os_string();
        Host {
            keeper: Keeper::new(STAND_IN),
            cells: self.cells(),
            system,
            process: std::process::id(),
            environment: vec![
                ("PATH".into(), path),
                ("HOME".into(), "/somewhere".into()),
                ("BEADS_DIR".into(), "/beads".into()),
                ("SECRET_TOKEN".into(), "hush".into()),
            ],
            repository: self.at("repo"),
            beads: "bd".to_owned(),
        }
    }

    pub(crate) fn cells(&self) -> Cells {
        let mut pattern = Cell::new("", self.at("repo"));
        pattern.environment = vec![("PATH".into(), self.at("bin").into())];
        pattern.outside = Outside {
            shown: vec![self.at("repo")],
            readable: vec![self.at("bin")],
            ..Outside::default()
        };
        Cells {
            holder: STAND_IN.into(),
            temporary: vec![self.at("")],
            name: std::process::id().to_string(),
            place: Place { knowledge: ".agents".into(), ..Place::default() },
            pattern,
            around: Around::Nothing,
        }
    }

    /// Ids of the processes that are at home in the repository.
    pub(crate) fn living(&self) -> Vec<u32> {
        let here = self.at("repo");
        let is_here = |path: &Path| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == here);
        let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        processes
            .filter(|path| is_here(path))
            .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
            .collect()
    }
}

pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
