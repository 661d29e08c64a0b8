//! Where the vault is, and that what this process knows stays in it.

use std::path::{Path, PathBuf};

use ao_contract::Exit;
use ao_vault::Files;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};

use crate::failure::Failure;

const FOLDER: &str = "ao";
const IDENTITY: &str = "identity.txt";
const VAULT: &str = "vault.age";
const KEPT: &str = "sealed";
const RECEIPTS: &str = "receipts";
const IDENTITY_VARIABLE: &str = "AO_VAULT_IDENTITY";
const VAULT_VARIABLE: &str = "AO_VAULT_FILE";
/// Too small for a core, and the one number that also keeps the kernel from piping one to a
/// program that collects them.
const CORE_BYTES: u64 = 1;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "The vault")]
pub(crate) struct Where {
    /// The file with the key [default: ao/identity.txt in the folder for configuration]
    #[arg(long, value_name = "FILE", env = IDENTITY_VARIABLE, hide_env_values = true)]
    identity: Option<PathBuf>,
    /// The file with the values [default: ao/vault.age in the folder for data]
    #[arg(long, value_name = "FILE", env = VAULT_VARIABLE, hide_env_values = true)]
    vault: Option<PathBuf>,
}

impl Where {
    fn names_a_file(&self) -> bool {
        self.identity.is_some() || self.vault.is_some()
    }

    pub(crate) fn files(&self) -> Result<Files, Failure> {
        let whole = |path: &Path| std::path::absolute(path).ok();
        let identity = match &self.identity {
            Some(path) => whole(path),
            None => own("XDG_CONFIG_HOME", ".config").map(|folder| folder.join(IDENTITY)),
        };
        let vault = match &self.vault {
            Some(path) => whole(path),
            None => own("XDG_DATA_HOME", ".local/share").map(|folder| folder.join(VAULT)),
        };
        let user = rustix::process::geteuid().as_raw();
        match (identity, vault) {
            (Some(identity), Some(vault)) => {
                let kept = kept().unwrap_or_else(|| vault.with_file_name(KEPT));
                Ok(Files { identity, vault, kept, user })
            }
            _ => Err(Failure::new(
                Exit::Preflight,
                "there is no place for the vault: HOME is not set",
            )
            .hint("set HOME, or name both files with --identity and --vault")),
        }
    }
}

/// The usual vault, and the one that was typed if it is another. Where one is named and cannot be found,
/// what it holds cannot be known: that is an error. None at all is none.
pub(crate) fn all(typed: Option<&Where>) -> Result<Vec<Files>, Failure> {
    let usual = Where {
        identity: std::env::var_os(IDENTITY_VARIABLE).map(PathBuf::from),
        vault: std::env::var_os(VAULT_VARIABLE).map(PathBuf::from),
    };
    let mut all = Vec::new();
    for one in [Some(&usual), typed].into_iter().flatten() {
        match one.files() {
            Ok(files) => all.push(files),
            Err(failure) if one.names_a_file() => return Err(failure),
            Err(_) => {}
        }
    }
    all.dedup();
    Ok(all)
}

/// Everything of the vault that a cell must not show, and the key that receipts are sealed with, for what was typed and for what is usual.
pub(crate) fn hidden(typed: Option<&Where>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = receipts().into_iter().collect();
    // Nothing is started where a vault cannot be found.
    for files in all(typed).unwrap_or_default() {
        paths.push(files.kept);
        for path in [files.identity, files.vault] {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let name = name.to_string_lossy();
            paths.push(folder.join(format!(".{name}.new")));
            paths.push(folder.join(format!("{name}.lock")));
            paths.push(path);
        }
    }
    paths
}

/// Where messages are that were replaced, whichever vault they are sealed for.
pub(crate) fn kept() -> Option<PathBuf> {
    own("XDG_STATE_HOME", ".local/state").map(|folder| folder.join(KEPT))
}

/// Where the key of the receipts is, and the heads of their chains.
pub(crate) fn receipts() -> Option<PathBuf> {
    own("XDG_STATE_HOME", ".local/state").map(|folder| folder.join(RECEIPTS))
}

fn own(variable: &str, beneath_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let folder = absolute(variable).or_else(|| Some(absolute("HOME")?.join(beneath_home)))?;
    Some(folder.join(FOLDER))
}

/// No core, and no other process of the same user may look in.
pub(crate) fn keep_memory_to_ourselves() -> Result<(), Failure> {
    let keep = || {
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        let most =
            getrlimit(Resource::Core).maximum.map_or(CORE_BYTES, |most| most.min(CORE_BYTES));
        setrlimit(Resource::Core, Rlimit { current: Some(most), maximum: Some(most) })
    };
    keep().map_err(|error| {
        Failure::new(Exit::Preflight, format!("memory cannot be kept private: {error}"))
            .hint("nothing was read; PR_SET_DUMPABLE and RLIMIT_CORE are needed")
    })
}
