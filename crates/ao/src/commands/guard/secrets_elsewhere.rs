//! Keys, sessions and histories that a variable has put elsewhere than in a home.

use std::path::{Path, PathBuf};

/// Each names a folder of them.
const FOLDERS: [&str; 22] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "GNUPGHOME",
    "PASSWORD_STORE_DIR",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "GEMINI_CLI_HOME",
    "OPENCODE_CONFIG_DIR",
    "COPILOT_HOME",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GLAB_CONFIG_DIR",
    "HELM_CONFIG_HOME",
    "GOPASS_HOMEDIR",
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "ZDOTDIR",
];
/// Each names a file, or several with colons between them.
const FILES: [&str; 34] = [
    "AO_VAULT_IDENTITY",
    "AO_VAULT_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_userconfig",
    "PIP_CONFIG_FILE",
    "UV_CONFIG_FILE",
    "CONDARC",
    "TF_CLI_CONFIG_FILE",
    "SOPS_AGE_KEY_FILE",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "BOTO_CONFIG",
    "RCLONE_CONFIG",
    "CURL_HOME",
    "WGETRC",
    "OPENCODE_CONFIG",
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "HISTFILE",
    "LESSHISTFILE",
    "PYTHON_HISTORY",
    "NODE_REPL_HISTORY",
    "SQLITE_HISTORY",
    "MYSQL_HISTFILE",
    "PSQL_HISTORY",
    "REDISCLI_HISTFILE",
];

/// What to hide of it.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// Folders, with what comes to be in them.
    pub(super) folders: Vec<PathBuf>,
    /// Single paths, where the folder that they are in holds other things, too, or is not there yet.
    pub(super) paths: Vec<PathBuf>,
}

impl Elsewhere {
    /// `is_broad` says of a folder that it cannot be hidden, since there is more in it.
    pub(super) fn find(
        variable: impl Fn(&str) -> Option<PathBuf>,
        files: &[PathBuf],
        is_broad: impl Fn(&Path) -> bool,
    ) -> Self {
        let mut found = Self::default();
        for folder in FOLDERS.into_iter().filter_map(&variable) {
            found.hide(&folder, &folder, &is_broad);
        }
        let named = FILES.into_iter().filter_map(&variable);
        let named: Vec<PathBuf> =
            named.flat_map(|value| std::env::split_paths(&value).collect::<Vec<_>>()).collect();
        for file in named.iter().chain(files) {
            found.hide(file, file.parent().unwrap_or(file), &is_broad);
        }
        found
    }

    fn hide(&mut self, path: &Path, folder: &Path, is_broad: &impl Fn(&Path) -> bool) {
        if !path.is_absolute() {
            return;
        }
        match folder.canonicalize() {
            Ok(real) if real.is_dir() && !is_broad(&real) => self.folders.push(real),
            _ => self.paths.push(path.to_owned()),
        }
    }
}
