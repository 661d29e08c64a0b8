//! Keys, sessions and histories that a variable has put elsewhere than in a home.

use std::path::{Path, PathBuf};

use super::home::{Homes, is_of_the_machine};

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
    /// Folders, with what comes to be in them, and files in folders of the machine.
    pub(super) hidden: Vec<PathBuf>,
    /// Single paths, where the folder that they are in holds other things, too, or is not there yet.
    pub(super) paths: Vec<PathBuf>,
}

impl Elsewhere {
    /// `files` are secret, too. `is_shared` says of a folder that more is in it than what somebody has put
    /// there with a file, and `homes` never become hidden this way: they are already.
    pub(super) fn find(
        variable: impl Fn(&str) -> Option<PathBuf>,
        files: &[PathBuf],
        homes: &Homes,
        is_shared: impl Fn(&Path) -> bool,
    ) -> Self {
        let mut found = Self::default();
        for folder in FOLDERS.into_iter().filter_map(&variable) {
            found.hide(&folder, &folder, homes, &|_| false);
        }
        let named = FILES.into_iter().filter_map(&variable);
        let named = named.flat_map(|value| std::env::split_paths(&value).collect::<Vec<_>>());
        for file in named.chain(files.iter().cloned()) {
            found.hide(&file, file.parent().unwrap_or(&file), homes, &is_shared);
        }
        found
    }

    fn hide(
        &mut self,
        path: &Path,
        folder: &Path,
        homes: &Homes,
        is_shared: &impl Fn(&Path) -> bool,
    ) {
        // `/dev/null` is a way to say that there is none.
        let is_kernels = ["/dev", "/proc", "/sys"].iter().any(|own| path.starts_with(own));
        if !path.is_absolute() || is_kernels {
            return;
        }
        match folder.canonicalize() {
            Ok(real) if is_of_the_machine(&real) => self.hidden.push(path.to_owned()),
            Ok(real) if real.is_dir() && !homes.is_above(&real) && !is_shared(&real) => {
                self.hidden.push(real);
            }
            _ => self.paths.push(path.to_owned()),
        }
    }

    /// Whether a folder is hidden by this.
    pub(super) fn hides(&self, folder: &Path) -> bool {
        self.hidden.iter().any(|hidden| folder.starts_with(hidden))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_hidden_unless_there_is_more_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["configuration", "work", "kube"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        let variable = |name: &str| match name {
            "XDG_CONFIG_HOME" => Some(root.join("configuration")),
            "CODEX_HOME" => Some(root.join("not-there")),
            "KUBECONFIG" => Some(root.join("kube/config")),
            "NETRC" => Some(root.join("work/netrc")),
            "HISTFILE" => Some("/dev/null".into()),
            "PIP_CONFIG_FILE" => Some("/etc/pip.conf".into()),
            "PGPASSFILE" => Some("relative".into()),
            _ => None,
        };
        let identity = [root.join("kube/identity.txt")];
        let homes = Homes::new(&[]);
        let found = Elsewhere::find(variable, &identity, &homes, |folder| folder.ends_with("work"));
        let mut hidden = found.hidden;
        hidden.dedup();
        assert_eq!(hidden[0], root.join("configuration"));
        assert!(hidden.contains(&root.join("kube")) && hidden.contains(&"/etc/pip.conf".into()));
        assert_eq!(hidden.len(), 4, "{hidden:?}");
        assert_eq!(found.paths, [root.join("not-there"), root.join("work/netrc")]);
    }
}
