//! Which repository is meant, and the door to its knowledge.

use std::path::{Path, PathBuf};

use ao_contract::Exit;
use ao_tree::{Disk, Door, Held, Holder, Layout, ReadLock, RunLock};

use crate::cli::Global;
use crate::clock::{self, Moment};
use crate::commands::overnight::receipts;
use crate::failure::Failure;

pub(crate) const AGENTS: &str = ".agents";
pub(crate) const STATE: &str = "overnight";

/// What a night may change, and takes back as one.
pub(crate) fn layout() -> Layout {
    Layout::new(
        AGENTS,
        STATE,
        vec![
            Held::dir("learnings"),
            Held::dir("findings"),
            Held::dir("patterns"),
            Held::dir("knowledge"),
            if ao_mutant::active("LOOP-06/all-of-rpi-is-held") {
                Held::dir("rpi")
            } else {
                Held::file("rpi/next-work.jsonl")
            },
        ],
    )
}

#[derive(Debug, Clone)]
pub(crate) struct Repo {
    pub(crate) root: PathBuf,
}

/// Why bytes may not come into the tree.
fn secret(bytes: &[u8]) -> Option<&'static str> {
    ao_vault::redactor()
        .is_in(bytes)
        .then_some("it holds a value of the vault; name it `vault://NAME` instead")
}

impl Repo {
    /// The repository that was named, or the nearest one above the current directory: the first
    /// folder with `.agents/` or `.git` in it.
    pub(crate) fn find(global: &Global) -> Result<Self, Failure> {
        if let Some(root) = &global.repo {
            return Ok(Self { root: root.clone() });
        }
        let here = std::env::current_dir().map_err(|error| {
            Failure::new(Exit::Preflight, format!("the current directory cannot be read: {error}"))
        })?;
        let is_root = |dir: &&Path| {
            [AGENTS, ".git"].iter().any(|name| std::fs::symlink_metadata(dir.join(name)).is_ok())
        };
        let root = here.ancestors().find(is_root).ok_or_else(|| {
            Failure::new(Exit::Preflight, format!("no {AGENTS}/ in {} or above it", here.display()))
                .hint(format!("run `mkdir {AGENTS}` in the repository, or name it with -C DIR"))
        })?;
        Ok(Self { root: root.to_owned() })
    }

    /// Where it really is, for comparing with paths that others wrote down.
    pub(crate) fn canonical(&self) -> PathBuf {
        self.root.canonicalize().unwrap_or_else(|_| self.root.clone())
    }

    pub(crate) fn agents(&self) -> PathBuf {
        self.root.join(AGENTS)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.agents().join(STATE)
    }

    pub(crate) fn door(&self) -> Result<Door<Disk>, Failure> {
        Ok(Door::open_root(&self.agents(), layout())?.doubting(secret))
    }

    /// Takes the lock of a run; the second value says who had left it behind, if somebody had.
    pub(crate) fn lock(&self, now: Moment) -> Result<RunLock, Failure> {
        let holder = Holder {
            process: std::process::id(),
            process_start: ao_tree::process_start(),
            host: ao_tree::host(),
            started_at: now.rfc3339(),
        };
        Ok(RunLock::take(&self.state(), &holder)?)
    }

    /// Has the report and the receipt of a night tell of its commit that was finished just now. Should it fail, the
    /// next night does it.
    pub(crate) fn amend(&self, door: &Door<Disk>, recovery: &ao_tree::Recovery, now: Moment) {
        if recovery.finished.is_none() {
            return;
        }
        let root = self.canonical();
        let (custody, _) = receipts::custody(&root);
        let places = ao_night::Amending {
            root: &root,
            state: &self.state(),
            door,
            custody: custody.as_ref(),
            program: None,
            now: now.rfc3339(),
        };
        let _ = ao_night::amend(&places);
    }

    /// The door for a reader: no commit is published while the lock lives, and none is cut off.
    pub(crate) fn read(&self) -> Result<(Door<Disk>, ReadLock), Failure> {
        let door = self.door()?;
        let lock = ao_tree::share(&self.state())?;
        match door.interrupted()? {
            Some(id) => Err(ao_tree::Error::Interrupted { id }.into()),
            None => Ok((door, lock)),
        }
    }
}

/// The door for a writer: locked, and recovered from whatever was cut off before.
pub(crate) struct Writer {
    pub(crate) door: Door<Disk>,
    pub(crate) recovery: ao_tree::Recovery,
    pub(crate) lock_left_by: Option<String>,
    pub(crate) now: Moment,
    pub(crate) lock: RunLock,
}

impl Writer {
    pub(crate) fn open(repo: &Repo) -> Result<Self, Failure> {
        let now = clock::now();
        let door = repo.door()?;
        if ao_mutant::active("RUN-15/recovers-before-the-lock") {
            door.recover()?;
        }
        let lock = repo.lock(now).inspect_err(|_| {
            if ao_mutant::active("LOOP-20/refused-start-recovers") {
                let _ = door.recover();
            }
        })?;
        let recovery = door.recover()?;
        repo.amend(&door, &recovery, now);
        Ok(Self { door, recovery, lock_left_by: lock.left_by.clone(), now, lock })
    }
}
