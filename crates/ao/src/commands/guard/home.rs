//! What lies in a home: what of it may be seen in a cell, and what never may.
//!
//! A home is hidden as a whole. This file says what is shown of it all the same, and refuses what would
//! show a key, a token, a session or a history.

use std::path::{Path, PathBuf};

use ao_tree::own_file;

use super::place::SECRETS;

/// Configuration that programs need and that holds no key, unless somebody put one into a line: then
/// it is not shown.
const CONFIGURATION: [&str; 13] = [
    ".gitconfig",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
    ".cargo/config.toml",
    ".config/go/env",
    ".config/mise/config.toml",
    ".tool-versions",
    ".editorconfig",
    ".inputrc",
    ".vimrc",
    ".tmux.conf",
    ".config/starship.toml",
];
const CONFIGURATION_BYTES_MAX: u64 = 256 * 1024;
/// Of the machine: nobody's work.
const SYSTEM: [&str; 20] = [
    "/", "/bin", "/boot", "/dev", "/dev/shm", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt",
    "/opt", "/proc", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var",
];

/// Where the user lives: as the environment says, and as the system does. All paths are real ones.
#[derive(Debug, Clone)]
pub(super) struct Homes {
    all: Vec<PathBuf>,
}

impl Homes {
    pub(super) fn new(named: &[PathBuf]) -> Self {
        let mut all: Vec<PathBuf> =
            named.iter().filter_map(|home| home.canonicalize().ok()).collect();
        all.retain(|home| home.is_dir() && home.parent().is_some());
        all.dedup();
        Self { all }
    }

    pub(super) fn all(&self) -> &[PathBuf] {
        &self.all
    }

    /// Whether a path is a home or above one.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        self.all.iter().any(|home| home.starts_with(path))
    }

    /// The place of secrets that a real path is, holds or lies in.
    pub(super) fn secret_place(&self, path: &Path) -> Option<PathBuf> {
        self.all.iter().find_map(|home| {
            let mut places = SECRETS.iter().map(|place| home.join(place));
            places.find(|place| path.starts_with(place) || place.starts_with(path))
        })
    }

    /// Whether a tree may be shown because somebody works in it. Nobody works in a place of secrets, and
    /// the home itself is shown only to one who stands in it and has made it a repository.
    pub(super) fn may_work_in(&self, tree: &Path, standing: &Path, is_repository: bool) -> bool {
        if self.is_above(tree) {
            return is_repository && tree == standing && self.all.iter().any(|home| home == tree);
        }
        let Some(beneath) = self.all.iter().find_map(|home| tree.strip_prefix(home).ok()) else {
            return !is_of_the_machine(tree);
        };
        let lies_in_secret = SECRETS.iter().any(|place| beneath.starts_with(place));
        let is_dotted = beneath.iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
        !lies_in_secret && (is_repository || !is_dotted) && self.secret_place(tree).is_none()
    }

    /// What is secret by its place where the home is the repository itself.
    pub(super) fn secrets_at(&self, tree: &Path) -> Vec<PathBuf> {
        if !self.all.iter().any(|home| home == tree) {
            return Vec::new();
        }
        let whole = [".config", ".local", ".cache", ".var", ".cargo"];
        whole.iter().chain(&SECRETS).map(|name| tree.join(name)).collect()
    }

    /// Configuration that may be read: where it is beneath the home, and where it really is.
    pub(super) fn configuration(&self) -> Vec<(PathBuf, PathBuf)> {
        // Programs look in the first one.
        let Some(home) = self.all.first() else { return Vec::new() };
        let real = |name: &str| Some((name.into(), home.join(name).canonicalize().ok()?));
        let files = CONFIGURATION.iter().filter_map(|name| real(name));
        files.filter(|(_, file): &(PathBuf, PathBuf)| is_clean(file)).collect()
    }
}

/// Whether a folder is nobody's work.
pub(super) fn is_of_the_machine(folder: &Path) -> bool {
    SYSTEM.iter().any(|system| folder == Path::new(system))
}

/// Whether no line of a file looks as if it had a key in it.
fn is_clean(file: &Path) -> bool {
    let Some(bytes) = read(file) else { return false };
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    let has_login = |line: &str| {
        line.split("://").skip(1).any(|rest| {
            let host = rest.split(['/', '"', '\'', ' ']).next().unwrap_or_default();
            host.contains('@')
        })
    };
    let says = ["token", "passw", "secret", "_auth", "apikey", "api_key", "authorization"];
    !text.lines().any(|line| has_login(line) || says.iter().any(|word| line.contains(word)))
}

fn read(file: &Path) -> Option<Vec<u8>> {
    own_file::read(file, CONFIGURATION_BYTES_MAX).ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn nobody_works_in_a_place_of_secrets() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let homes = Homes::new(&[home.clone(), "/nonexistent".into()]);
        let may = |path: &str, is_repository| {
            let tree = home.join(path);
            homes.may_work_in(&tree, &tree, is_repository)
        };
        for path in ["code/app", "Documents/x", "go/src/a"] {
            assert!(may(path, true) && may(path, false), "{path}");
        }
        assert!(may(".dotfiles", true) && may(".config/nvim", true));
        for path in [".dotfiles", ".config/nvim", "x/.hidden", ".local/share"] {
            assert!(!may(path, false), "{path}");
        }
        for path in [".ssh", ".ssh/sub", ".config", ".config/gh", ".aws", ".password-store/a"] {
            assert!(!may(path, true) && !may(path, false), "{path}");
        }
        assert!(homes.may_work_in(&home, &home, true) && !homes.may_work_in(&home, &home, false));
        assert!(!homes.may_work_in(&home, &home.join("notes"), true));
        assert!(!homes.may_work_in(Path::new("/"), Path::new("/"), true));
        assert!(!homes.may_work_in(Path::new("/etc"), Path::new("/etc"), false));
    }

    #[test]
    fn a_line_with_a_login_is_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        for (text, clean) in [
            ("[user]\n\tname = a\n\temail = a@b.example\n", true),
            ("[url \"https://github.com/\"]\n\tinsteadOf = gh:\n", true),
            ("[url \"https://me:x@github.com/\"]\n\tinsteadOf = gh:\n", false),
            ("[http]\n\textraHeader = Authorization: Basic x\n", false),
            ("token = \"x\"\n", false),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(is_clean(&file), clean, "{text}");
        }
    }
}
