//! What the configuration says, resolved by the binary.

use std::path::PathBuf;

use ao_contract::JobKind;

/// The only engine there is.
pub const ENGINE: &str = "ollama";
/// Where Ollama listens unless somebody says otherwise.
pub const URL: &str = "http://127.0.0.1:11434";
/// How many jobs an hour, unless somebody says otherwise.
pub const HOURLY_CAP: u32 = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Nobody switched it off.
    pub is_enabled: bool,
    pub engine: String,
    pub url: String,
    pub model: Option<String>,
    pub worker_dir: Option<PathBuf>,
    /// The folder of the notes.
    pub vault_dir: Option<PathBuf>,
    pub hourly_cap: u32,
    pub allowed: Vec<JobKind>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            is_enabled: true,
            engine: ENGINE.to_owned(),
            url: URL.to_owned(),
            model: None,
            worker_dir: None,
            vault_dir: None,
            hourly_cap: HOURLY_CAP,
            allowed: JobKind::ALL.to_vec(),
        }
    }
}

impl Settings {
    /// Whether anybody named a place for it.
    pub fn is_configured(&self) -> bool {
        self.worker_dir.is_some()
    }
}
