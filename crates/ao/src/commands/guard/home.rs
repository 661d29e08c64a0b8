//! What lies in a home: what of it may be seen in a cell, and what never may.
//!
//! A home is hidden as a whole. This file says what is shown of it all the same, and refuses what would
//! show a key, a token, a session or a history.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

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
/// A line with one of these may have a login in it.
const SAYS: [&str; 10] = [
    "token",
    "passw",
    "sshpass",
    "secret",
    "_auth",
    "apikey",
    "api_key",
    "authorization",
    "cookie:",
    "--user ",
];
/// Names of settings that are logins.
const KEYS: [&str; 6] = ["pass", "pat", "oauth", "cookie", "auth", "credentials"];
const KEY_ENDINGS: [&str; 3] = ["pass", "apikey", "privatekey"];
/// How keys of some makers begin.
const MAKERS: [&str; 12] = [
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_",
    "rk_",
    "xox",
    "npm_",
    "hf_",
    "pypi-",
];
/// The shortest word that is taken for a key, and the fewest digits of one.
const KEY_LETTERS_MIN: usize = 20;
const KEY_DIGITS_MIN: usize = 3;
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
    let text = String::from_utf8_lossy(&bytes);
    let has_login = |line: &str| {
        line.split("://").skip(1).any(|rest| {
            let host = rest.split(['/', '"', '\'', ' ']).next().unwrap_or_default();
            host.contains('@')
        })
    };
    let says = |line: &str| SAYS.iter().any(|word| line.contains(word));
    let is_login = |line: &str| has_login(line) || says(line) || is_key(line);
    // Letters of both cases are looked at before they are made small.
    !text.to_lowercase().lines().any(is_login) && !text.lines().any(has_random_word)
}

/// Whether a line sets something that is called like a login: `smtpPass = …`, `oauth = …`.
fn is_key(line: &str) -> bool {
    let Some((name, value)) = line.split_once(['=', ':']) else { return false };
    let name = name.trim().trim_matches(['"', '\'']);
    let name = name.rsplit([' ', '.', '_', '-']).next().unwrap_or_default();
    let is_named = KEYS.contains(&name) || KEY_ENDINGS.iter().any(|end| name.ends_with(end));
    is_named && !value.trim().is_empty()
}

/// Whether a word of a line looks like a key: long, and of small and capital letters and digits, or with
/// the beginning that a maker gives to its own. What signs commits is named by something like it.
fn has_random_word(line: &str) -> bool {
    let lower = line.to_lowercase();
    if lower.contains("signingkey") || lower.contains("ssh-") {
        return false;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    line.split(|c| !is_part(c)).filter(|word| word.len() >= KEY_LETTERS_MIN).any(|word| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
        let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        digits >= KEY_DIGITS_MIN && is_mixed || MAKERS.iter().any(|start| word.starts_with(start))
    })
}

/// A regular file of no more than the bound. It lies in a home, where nobody else can put a pipe.
fn read(file: &Path) -> Option<Vec<u8>> {
    let found = std::fs::symlink_metadata(file).ok()?;
    if !found.is_file() || found.len() > CONFIGURATION_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(CONFIGURATION_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
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
            ("[sendemail]\n\tsmtpPass = hunter2\n", false),
            ("[github]\n\toauth = x\n", false),
            ("[a]\n\tb = ghp_0123456789abcdefghij\n", false),
            ("let g:k = \"sk-proj-abcdefghijklmnopqrst\"\n", false),
            ("let g:k = 'aB3dE5gH7jK9mN1pQ3sT'\n", false),
            ("[core]\n\tsshCommand = sshpass -p x ssh\n", false),
            (
                "[http]\n\tcookiefile = ~/.gitcookies\n[credential]\n\thelper = pass-git-helper\n",
                true,
            ),
            ("[user]\n\tsigningkey = 0123456789ABCDEF0123456789abcdef01234567\n", true),
            ("[user]\n\tsigningkey = ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabc\n", true),
            ("[alias]\n\tlg = log --graph --pretty=format:'%h %s'\n", true),
            ("[init]\n\tdefaultBranch = main\n[push]\n\tautoSetupRemote = true\n", true),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(is_clean(&file), clean, "{text}");
        }
    }
}
