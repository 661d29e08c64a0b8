//! What may be written, and by which rule something may not.
//!
//! A [`Policy`] is a project, what is owned in it, what is sacred in it, and what was granted. It judges
//! one path at a time, by where the path really leads and by what would become of the file.

mod dependency;
mod glob;
mod place;
mod rule;
mod sacred;
mod self_start;

use std::path::Path;

use ao_contract::SacredScopes;
use ao_tree::own_file;

pub use dependency::{ManifestKind, changed_block};
pub use glob::{BadGlob, Case, Globs};
pub use place::{Project, ProjectPath, Standing};
pub use rule::{Refusal, Rule};
pub use sacred::{Grant, Sacred};
pub use self_start::{SelfStart, SelfStartKind, WrittenFile, self_starting};

use crate::command::Class;
use crate::git::Git;
use crate::secret_paths::{ReadRules, SecretPaths, Walked, Wanted};

const SACRED_FILE: &str = ".agentops/sacred-scopes.yaml";
const SACRED_BYTES_MAX: u64 = 1024 * 1024;
/// A larger file is not read to see what of it would change.
const COMPARED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a worker owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owned {
    /// Only what these match, and nothing if there are none.
    Globs(Globs),
    /// Nobody said; only the other rules are asked.
    Unsaid,
}

impl Owned {
    /// Scopes as people type them: a glob, or the path of a file or a folder, which owns what is in it.
    pub fn scopes(scopes: &[String], root: &Path) -> Result<Self, BadGlob> {
        let mut globs = Vec::new();
        for scope in scopes {
            let beneath = Path::new(scope).strip_prefix(root).ok().and_then(Path::to_str);
            let glob = beneath.unwrap_or(scope);
            let glob = glob.strip_prefix("./").unwrap_or(glob);
            if matches!(glob, "" | ".") {
                let why = "the whole project is no scope; `**` says that everything is owned";
                return Err(BadGlob { glob: scope.clone(), why });
            }
            globs.push(glob.to_owned());
            if !glob.contains(['*', '?', '[', '{', '\\']) && !glob.ends_with('/') {
                globs.push(format!("{glob}/**"));
            }
        }
        Ok(Self::Globs(Globs::parse(globs, Case::Exact)?))
    }
}

/// What would become of a file.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// These bytes.
    To(&'a [u8]),
    Removed,
    /// Something that is not known beforehand.
    Unknown,
}

/// Whether what git tracks may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// Only what git ignores is written.
    Checked,
    Unchecked,
}

/// What may be written in a project.
#[derive(Debug)]
pub struct Policy {
    pub project: Project,
    pub owned: Owned,
    pub grants: Vec<Grant>,
    /// Destructive classes that were listed beforehand.
    pub destructive: Vec<Class>,
    pub leak: Leak,
    /// To be asked about what is tracked; without it such a question is answered with a refusal.
    pub git: Option<Git>,
    /// What is not read.
    pub secret_paths: SecretPaths,
    sacred: Sacred,
    /// The project's own globs, or why they cannot be read.
    added: Result<Globs, String>,
}

impl Policy {
    /// Everything else is as strict as can be: nothing granted, nothing destructive listed.
    pub fn new(project: Project, owned: Owned) -> Result<Self, BadGlob> {
        let added = project_sacred(project.root());
        Ok(Self {
            secret_paths: SecretPaths::new(project.root(), ReadRules::default())?,
            project,
            owned,
            grants: Vec::new(),
            destructive: Vec::new(),
            leak: Leak::Unchecked,
            git: None,
            sacred: Sacred::built_in()?,
            added,
        })
    }

    /// The secrets in a folder of which this is read.
    pub(crate) fn secrets_in(&self, folder: &Path, wanted: &Wanted) -> Walked {
        let walked = self.secret_paths.beneath(folder, wanted);
        let (Walked::Secrets { paths, why }, true, Some(git)) =
            (&walked, wanted.has_ignored_left_out, &self.git)
        else {
            return walked;
        };
        let root = self.project.root();
        let beneath: Vec<&str> = paths
            .iter()
            .filter_map(|path| path.strip_prefix(root).ok().and_then(Path::to_str))
            .collect();
        match git.ignored(&beneath) {
            Ok(ignored) => {
                let is_read = |path: &&std::path::PathBuf| {
                    let beneath = path.strip_prefix(root).ok().and_then(Path::to_str);
                    !beneath.is_some_and(|beneath| ignored.iter().any(|one| one == beneath))
                };
                let paths: Vec<_> = paths.iter().filter(is_read).cloned().collect();
                if paths.is_empty() {
                    Walked::Clean
                } else {
                    Walked::Secrets { paths, why: why.clone() }
                }
            }
            // What git cannot say is no permission.
            Err(_) => walked,
        }
    }

    /// Why the project's own sacred scopes cannot be read, if they cannot.
    pub fn sacred_trouble(&self) -> Option<&str> {
        self.added.as_ref().err().map(String::as_str)
    }

    /// Whether this change may be made.
    pub fn judge(&self, path: &ProjectPath, change: Change<'_>) -> Result<Standing, Refusal> {
        self.judge_words(path)?;
        let standing = self.project.look(path)?;
        self.judge_dependencies(path, change, standing)?;
        self.judge_migration(path, standing)?;
        if self.leak == Leak::Checked {
            self.judge_leak(path)?;
        }
        Ok(standing)
    }

    /// The rules that need nothing but the path.
    pub fn judge_words(&self, path: &ProjectPath) -> Result<(), Refusal> {
        let text = path.as_str();
        let refuse = |rule, why: String| Err(Refusal::new(rule, text, why));
        if let Some((rule, what)) = self.sacred.rule_for(text, &self.grants) {
            let why = match rule {
                Rule::Sacred => format!("{what} is never written by an agent"),
                _ => format!("{what} is written only with the grant `{rule}`"),
            };
            return refuse(rule, why);
        }
        if let Some(glob) = self.added.as_ref().ok().and_then(|globs| globs.covering(text)) {
            return refuse(Rule::SacredProject, format!("{SACRED_FILE} holds `{glob}` sacred"));
        }
        let is_owned = match &self.owned {
            Owned::Globs(globs) if globs.is_empty() => {
                return refuse(Rule::Scope, "no scope was given, so nothing is written".into());
            }
            Owned::Globs(globs) => globs.matching(text).is_some(),
            Owned::Unsaid => false,
        };
        match (&self.owned, &self.added) {
            (_, Err(why)) if !is_owned => {
                refuse(Rule::SacredUnreadable, format!("{SACRED_FILE} cannot be read: {why}"))
            }
            (Owned::Globs(_), _) if !is_owned => {
                refuse(Rule::Scope, "no glob of the scope matches".into())
            }
            _ => Ok(()),
        }
    }

    fn judge_dependencies(
        &self,
        path: &ProjectPath,
        change: Change<'_>,
        standing: Standing,
    ) -> Result<(), Refusal> {
        let Some(kind) = ManifestKind::of(path.name()) else { return Ok(()) };
        if self.grants.contains(&Grant::Dependencies) {
            return Ok(());
        }
        let refuse = |why: String| Err(Refusal::new(Rule::Dependencies, path.as_str(), why));
        let after = match change {
            Change::To(bytes) => Some(bytes),
            Change::Removed => None,
            Change::Unknown => {
                return refuse("nobody can say whether its dependency block would change".into());
            }
        };
        let before = match standing {
            Standing::Nothing => None,
            _ => Some(self.read(path)?),
        };
        match changed_block(kind, before.as_deref(), after) {
            Ok(None) => Ok(()),
            Ok(Some(block)) => {
                refuse(format!("{block} is changed only with the grant `dependencies`"))
            }
            Err(why) => refuse(format!("its dependency block cannot be compared: {why}")),
        }
    }

    fn judge_migration(&self, path: &ProjectPath, standing: Standing) -> Result<(), Refusal> {
        if standing != Standing::File || !self.sacred.is_migration(path.as_str()) {
            return Ok(());
        }
        let refuse = |why: &str| Err(Refusal::new(Rule::Migration, path.as_str(), why));
        let Some(git) = &self.git else {
            return refuse("git cannot be asked whether this migration is committed");
        };
        match git.is_committed(path.as_str()) {
            Ok(false) => Ok(()),
            Ok(true) => refuse("a committed migration is not changed; add a new one"),
            Err(why) => refuse(&format!("git cannot say whether it is committed: {why}")),
        }
    }

    fn judge_leak(&self, path: &ProjectPath) -> Result<(), Refusal> {
        let refuse = |why: &str| Err(Refusal::new(Rule::Leak, path.as_str(), why));
        let Some(git) = &self.git else { return refuse("there is no git to ask") };
        match git.leak(path.as_str()) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => refuse(&why),
            Err(why) => refuse(&format!("git cannot say whether it is ignored: {why}")),
        }
    }

    /// The file as it is, for comparing with what it would become.
    pub fn read(&self, path: &ProjectPath) -> Result<Vec<u8>, Refusal> {
        let whole = self.project.root().join(path.as_str());
        let refuse = |why: String| Refusal::new(Rule::Doubt, path.as_str(), why);
        own_file::read(&whole, COMPARED_BYTES_MAX).map_err(|error| refuse(error.to_string()))
    }
}

/// The globs that a project itself holds sacred, or why they cannot be read. No file: none.
pub fn project_sacred(root: &Path) -> Result<Globs, String> {
    let file = root.join(SACRED_FILE);
    let text = match own_file::read_text(&file, SACRED_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Globs::parse([""; 0], Case::Folded).map_err(|bad| bad.to_string());
        }
        text => text.map_err(|error| error.to_string())?,
    };
    let scopes: SacredScopes = serde_saphyr::from_str(&text).map_err(|error| error.to_string())?;
    Globs::parse(scopes.sacred, Case::Folded).map_err(|bad| bad.to_string())
}
