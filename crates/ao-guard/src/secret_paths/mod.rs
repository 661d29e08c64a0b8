//! Which files an agent does not read: the one list of them, for the hook, for `guard check` and for cells.
//!
//! Three things are hidden. What the vault is made of, which the binary says. Names that hold a secret
//! wherever they stand (`anywhere.txt`, `environment.txt`). And the hidden part of a home, whose names begin with a dot:
//! all of it but what is known to hold no logins (`readable.txt`), and what is known to hold some
//! (`home.txt`) wherever it is. So a credential of a program that nobody has heard of is hidden too.

mod names;
mod walk;

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use names::{SecretNames, USUAL_DEEPER, USUAL_SECRETS};
pub use walk::{Walked, Wanted};

use crate::scope::{BadGlob, Case, Globs};

const HOME: &str = include_str!("home.txt");
const READABLE: &str = include_str!("readable.txt");
const ANYWHERE: &str = include_str!("anywhere.txt");
const ENVIRONMENT: &str = include_str!("environment.txt");

/// Folders whose entries are homes, and homes, on machines of all kinds.
const HOMES: [&str; 3] = ["/home", "/Users", "/var/home"];
const ROOTS_HOME: &str = "/root";
/// The parts of a home that are hidden without a dot.
const HIDDEN_NAMES: [&str; 2] = ["Library", "AppData"];
/// What `/proc` tells of a process: its variables, its memory, and its folders by another name.
const OF_A_PROCESS: [&str; 8] =
    ["environ", "mem", "root", "cwd", "fd", "task", "map_files", "fdinfo"];
/// Links on the way to a file are followed no further than this.
const LINKS_MAX: usize = 64;

/// How much is read of what a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDepth {
    /// The file, or the names in the folder.
    Alone,
    /// The file, or every file beneath the folder.
    Beneath,
}

/// Kinds of credential and history files in a home, as globs beneath it.
pub fn home_kinds() -> impl Iterator<Item = &'static str> {
    lines(HOME)
}

/// Parts of the hidden part of a home that may be read, as globs beneath it.
pub fn readable_kinds() -> impl Iterator<Item = &'static str> {
    lines(READABLE)
}

/// Names that hold a secret wherever they stand, as globs.
pub fn secret_names() -> impl Iterator<Item = &'static str> {
    lines(ANYWHERE)
}

/// Names of files with an environment, as globs.
pub fn environment_names() -> impl Iterator<Item = &'static str> {
    lines(ENVIRONMENT).filter(|glob| !glob.starts_with('!'))
}

/// Files that show which variables there are, and hold no values, as globs.
pub fn environment_samples() -> impl Iterator<Item = &'static str> {
    lines(ENVIRONMENT).filter_map(|glob| glob.strip_prefix('!'))
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// What the binary knows of the machine and its user.
#[derive(Debug, Clone, Default)]
pub struct ReadRules {
    /// Where the user lives.
    pub homes: Vec<PathBuf>,
    /// The vault's identity, its store, and the folders of both.
    pub vault: Vec<PathBuf>,
    /// What a person said may be read all the same.
    pub readable: Vec<PathBuf>,
    /// Variables by which a command could name a file.
    pub variables: Vec<(String, String)>,
}

#[derive(Debug)]
struct HomeGlobs {
    kinds: Globs,
    readable: Globs,
}

/// Judges paths that are to be read.
#[derive(Debug)]
pub struct SecretPaths {
    root: PathBuf,
    homes: Vec<PathBuf>,
    vault: Vec<PathBuf>,
    granted: Vec<PathBuf>,
    variables: Vec<(String, String)>,
    /// The lists of a home, read when a path lies in one.
    home: OnceLock<Option<HomeGlobs>>,
    /// What an agent keeps of its own calls in this project.
    own: Globs,
    names: Globs,
    samples: Globs,
}

impl SecretPaths {
    /// The lists are our own, and a unit test reads them all; an error here is a mistake of ours.
    pub fn new(root: &Path, rules: ReadRules) -> Result<Self, BadGlob> {
        let folded = |globs: Vec<&str>| Globs::parse(globs, Case::Folded);
        let both = |paths: Vec<PathBuf>| {
            let mut all: Vec<PathBuf> = Vec::new();
            for path in paths.into_iter().filter(|path| path.is_absolute()) {
                all.extend([lexical(&path), resolved(&path)]);
            }
            all.retain(|path| path.parent().is_some());
            all.sort();
            all.dedup();
            all
        };
        // What Claude Code keeps of its own calls in this project, and asks to be read.
        let own: String = root
            .to_string_lossy()
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .collect();
        let memory = format!(".claude/projects/{own}/memory");
        let results = format!(".claude/projects/{own}/*/tool-results");
        Ok(Self {
            root: root.to_owned(),
            homes: both(rules.homes),
            vault: both(rules.vault),
            granted: both(rules.readable),
            variables: rules.variables,
            home: OnceLock::new(),
            own: folded(vec![&memory, &results])?,
            names: folded(secret_names().chain(environment_names()).collect())?,
            samples: folded(environment_samples().collect())?,
        })
    }

    /// What a variable says that the text itself does not set.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    /// Why an agent does not read this absolute path, if it does not: by its words, and by where its links
    /// lead.
    pub fn why_hidden(&self, path: &Path, depth: ReadDepth) -> Option<String> {
        if path.starts_with("/dev") {
            return None;
        }
        let words = lexical(path);
        let real = resolved(path);
        let is_led = real != words && !ao_mutant::active("SCO-08/links-are-not-followed");
        let places = [Some(&words), is_led.then_some(&real)];
        places.into_iter().flatten().find_map(|place| self.one(place, depth))
    }

    fn one(&self, path: &Path, depth: ReadDepth) -> Option<String> {
        if is_of_a_process(path) {
            return Some("it is what another process knows".into());
        }
        let is_whole = depth == ReadDepth::Beneath;
        let vaults = || self.vault.iter();
        if vaults().any(|kept| path.starts_with(kept) || is_whole && kept.starts_with(path)) {
            return Some("it is the vault, or holds it".into());
        }
        if self.granted.iter().any(|granted| path.starts_with(granted)) {
            return None;
        }
        self.name(path).or_else(|| self.in_a_home(path, is_whole))
    }

    fn home_globs(&self) -> Option<&HomeGlobs> {
        let read = || {
            let kinds = Globs::parse(home_kinds(), Case::Folded).ok()?;
            Some(HomeGlobs { kinds, readable: Globs::parse(readable_kinds(), Case::Folded).ok()? })
        };
        self.home.get_or_init(read).as_ref()
    }

    /// A name that is secret wherever it stands.
    fn name(&self, path: &Path) -> Option<String> {
        let beneath = path.strip_prefix(&self.root).unwrap_or(path);
        let beneath = beneath.to_string_lossy();
        let beneath = beneath.trim_start_matches('/');
        let glob = self.names.covering(beneath)?;
        let is_sample = self.samples.matching(beneath).is_some();
        (!is_sample).then(|| format!("its name is that of a secret (`{glob}`)"))
    }

    fn in_a_home(&self, path: &Path, is_whole: bool) -> Option<String> {
        for home in self.homes_around(path) {
            let is_own = path.starts_with(&self.root) && self.root.starts_with(&home);
            if is_own && self.root != home {
                continue;
            }
            let beneath = path.strip_prefix(&home).unwrap_or(path).to_string_lossy();
            if beneath.is_empty() {
                if is_whole && self.root != home {
                    return Some("it is a home, with all its keys and histories".into());
                }
                continue;
            }
            if self.own.covering(&beneath).is_some() {
                continue;
            }
            let Some(globs) = self.home_globs() else {
                return Some("the list of what is readable in a home cannot be read".into());
            };
            if let Some(glob) = globs.kinds.covering(&beneath) {
                return Some(format!(
                    "it holds credentials, a history or private texts (`{glob}`)"
                ));
            }
            if is_whole && let Some(glob) = globs.kinds.beneath(&beneath) {
                return Some(format!("beneath it are credentials or a history (`{glob}`)"));
            }
            let first = beneath.split('/').next().unwrap_or_default();
            let is_hidden = first.starts_with('.') || HIDDEN_NAMES.contains(&first);
            let is_listing = !is_whole && path.is_dir()
                || ao_mutant::active("SCO-08/what-nobody-listed-is-read");
            if is_hidden && !is_own && !is_listing && globs.readable.covering(&beneath).is_none() {
                return Some("nobody knows that this part of a home holds no credentials".into());
            }
        }
        let holds_one = is_whole && self.root != *path && !path.starts_with(&self.root);
        let is_above = |home: &Path| home.starts_with(path) && home != path;
        let homes = HOMES.iter().map(Path::new).chain([Path::new(ROOTS_HOME)]);
        if holds_one
            && (homes.chain(self.homes.iter().map(PathBuf::as_path)).any(is_above)
                || HOMES.iter().any(|homes| path == Path::new(homes)))
        {
            return Some("homes are beneath it, with all their keys and histories".into());
        }
        None
    }

    /// The homes that this path lies in, or is.
    fn homes_around(&self, path: &Path) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> =
            self.homes.iter().filter(|home| path.starts_with(home)).cloned().collect();
        let mut names = path.components();
        for homes in HOMES {
            if let Ok(beneath) = path.strip_prefix(homes)
                && let Some(Component::Normal(user)) = beneath.components().next()
            {
                found.push(Path::new(homes).join(user));
            }
        }
        if names.nth(1).is_some() && path.starts_with(ROOTS_HOME) {
            found.push(ROOTS_HOME.into());
        }
        found.sort();
        found.dedup();
        found
    }
}

fn is_of_a_process(path: &Path) -> bool {
    let mut names = path.components().skip(1);
    let is_proc = names.next() == Some(Component::Normal("proc".as_ref()));
    let is_process = names.next().is_some_and(|name| {
        let name = name.as_os_str().to_string_lossy();
        matches!(&*name, "self" | "thread-self") || name.bytes().all(|byte| byte.is_ascii_digit())
    });
    let what = names.next().map(|name| name.as_os_str().to_string_lossy().into_owned());
    is_proc && is_process && what.is_some_and(|what| OF_A_PROCESS.contains(&what.as_str()))
}

/// The path without `.` and `..`, by its words alone.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(name) => plain.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}

/// Where a path leads, as far as there is something.
fn resolved(path: &Path) -> PathBuf {
    let mut place = PathBuf::from("/");
    let mut left: Vec<std::ffi::OsString> =
        path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
    let mut links = 0;
    while let Some(name) = left.pop() {
        match Path::new(&name).components().next() {
            Some(Component::RootDir) => place = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(place.pop()),
            Some(Component::Normal(_)) => {
                let next = place.join(&name);
                match std::fs::read_link(&next) {
                    Ok(target) if links < LINKS_MAX => {
                        links += 1;
                        left.extend(target.components().rev().map(|p| p.as_os_str().to_owned()));
                    }
                    _ => place = next,
                }
            }
            _ => {}
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_can_be_read_and_says_what_it_means() {
        let home = Path::new("/somewhere/u");
        let rules = ReadRules { homes: vec![home.into()], ..ReadRules::default() };
        let paths = SecretPaths::new(Path::new("/somewhere/u/p"), rules).unwrap();
        assert!(paths.home_globs().is_some());
        let is_hidden = |path: &str| paths.why_hidden(&home.join(path), ReadDepth::Alone).is_some();
        for path in [".ssh/id", ".config/new/token", "p/.env", "p/a/id_rsa", "Library/x", "x.kdbx"]
        {
            assert!(is_hidden(path), "{path}");
        }
        for path in ["p/.github/x.yml", "p/.env.example", "notes.md", ".cargo/registry/x", "p/..x"]
        {
            assert!(!is_hidden(path), "{path}");
        }
        let is_whole =
            |path: &str| paths.why_hidden(&home.join(path), ReadDepth::Beneath).is_some();
        assert!(is_whole("") && is_whole("..") && is_whole(".m2") && !is_whole(".m2/repository"));
    }
}
