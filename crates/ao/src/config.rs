//! The configuration files: the repository's over the user's own, and both over the defaults.

use std::path::{Path, PathBuf};

use ao_contract::{Config, Exit};

use crate::failure::Failure;

const FILE: &str = ".agentops/config.yaml";
/// A larger file is not a configuration.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const REPORT_DIR: &str = ".agents/overnight/latest";
const UNDO_DAYS: u64 = 90;
const UNDO_MAX_MB: u64 = 1024;
const CHECKPOINT_MAX_MB: u64 = 512;
const REPORT_DIR: &str = ".agents/overnight/latest";

/// What the door is told, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) undo_days: u64,
    pub(crate) undo_max_mb: u64,
    pub(crate) checkpoint_max_mb: u64,
}

impl Limits {
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let mut limits = Self {
            undo_days: UNDO_DAYS,
            undo_max_mb: UNDO_MAX_MB,
            checkpoint_max_mb: CHECKPOINT_MAX_MB,
        };
        for path in files(root) {
            limits.take(&read(&path)?);
        }
        if let Some(value) = from_environment("AGENTOPS_DREAM_CHECKPOINT_MAX_MB")? {
            limits.checkpoint_max_mb = value;
        }
        Ok(limits)
    }

    fn take(&mut self, config: &Config) {
        self.undo_days = config.undo.days.map_or(self.undo_days, u64::from);
        self.undo_max_mb = config.undo.max_mb.unwrap_or(self.undo_max_mb);
        self.checkpoint_max_mb = config.dream.checkpoint_max_mb.unwrap_or(self.checkpoint_max_mb);
    }
}

/// The repositories to harvest, as they were written down: by the environment, or else by the
/// strongest file that says.
pub(crate) fn harvest_from(root: &Path) -> Result<Vec<String>, Failure> {
    if let Some(named) = std::env::var_os("AGENTOPS_DREAM_HARVEST_FROM") {
        let named = named.to_string_lossy();
        return Ok(named.split(':').filter(|one| !one.is_empty()).map(str::to_owned).collect());
    }
    let mut said = Vec::new();
    for path in files(root) {
        said = read(&path)?.dream.harvest_from.unwrap_or(said);
    }
    Ok(said)
}

/// The folder of a run's artifacts: by the environment, by the strongest file that says, or the usual
/// one. A relative one is relative to the repository.
pub(crate) fn report_dir(root: &Path) -> Result<PathBuf, Failure> {
    let mut said = REPORT_DIR.to_owned();
    for path in files(root) {
        said = read(&path)?.dream.report_dir.unwrap_or(said);
    }
    let named = std::env::var_os("AGENTOPS_DREAM_REPORT_DIR").filter(|named| !named.is_empty());
    Ok(root.join(named.map_or_else(|| PathBuf::from(said), PathBuf::from)))
}

/// The weaker file first.
fn files(root: &Path) -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("AGENTOPS_CONFIG") {
        return vec![PathBuf::from(named)];
    }
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(FILE));
    home.into_iter().chain([root.join(FILE)]).filter(|path| path.exists()).collect()
}

fn read(path: &Path) -> Result<Config, Failure> {
    let refuse = |why: String| {
        Failure::new(Exit::Usage, format!("{}: {why}", path.display()))
            .hint("`ao schema config` says what the file may hold")
    };
    let size = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(refuse(format!("larger than {FILE_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    if text.trim().is_empty() {
        return Ok(Config::default());
    }
    serde_saphyr::from_str(&text)
        .map_err(|error| refuse(error.to_string().trim_start_matches("error: ").to_owned()))
}

fn from_environment(name: &str) -> Result<Option<u64>, Failure> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    let number = value.to_str().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| {
        Failure::usage(format!("{name} must be a whole number, and is {}", value.display()))
    })
}
