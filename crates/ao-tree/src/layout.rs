//! Which paths of a tree the door holds, and where it keeps its own state.

use crate::path::{TreePath, fold};

/// One part of the tree that is changed and taken back with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub path: TreePath,
    pub is_dir: bool,
}

impl Held {
    /// # Panics
    /// When the path is not one that an edit could name: a layout is written in code.
    pub fn dir(path: &str) -> Self {
        Self { path: plain(path), is_dir: true }
    }

    /// # Panics
    /// As [`Held::dir`].
    pub fn file(path: &str) -> Self {
        Self { path: plain(path), is_dir: false }
    }

    fn has(&self, path: &TreePath) -> bool {
        if self.is_dir { path.beneath(&self.path).is_some() } else { *path == self.path }
    }
}

fn plain(path: &str) -> TreePath {
    TreePath::parse(path).unwrap_or_else(|doubt| panic!("{path}: {doubt}"))
}

/// What a request may name.
#[derive(Debug, Clone)]
pub(crate) enum Reach {
    Parts(Vec<Held>),
    /// Whatever it names, but nothing in these.
    AllBut(Vec<TreePath>),
}

/// Names of folders that belong to others wherever they are: to git, and to the night of that place.
const OTHERS: [&str; 2] = [".git", ".agents"];

/// The shape of a tree under transaction. The door knows no lane: whoever opens it says what it
/// holds.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The root directory's own name, for messages.
    pub root_name: String,
    /// The directory beneath the root with marker, staging, undo and history.
    pub state: String,
    /// The file beneath the root that a run locks. Doors that share paths share it.
    pub lock: String,
    pub(crate) reach: Reach,
}

impl Layout {
    /// A door that holds these parts and nothing else.
    pub fn new(root_name: &str, state: &str, held: Vec<Held>) -> Self {
        Self::of(root_name, state, Reach::Parts(held))
    }

    /// A door that holds the paths that a request names, wherever they lie, but for `but`, its own state,
    /// and every `.git` and `.agents`.
    ///
    /// # Panics
    /// As [`Held::dir`].
    pub fn all_but(root_name: &str, state: &str, but: &[&str]) -> Self {
        Self::of(root_name, state, Reach::AllBut(but.iter().map(|path| plain(path)).collect()))
    }

    /// The same with another lock.
    #[must_use]
    pub fn locked_by(self, lock: &str) -> Self {
        Self { lock: lock.to_owned(), ..self }
    }

    fn of(root_name: &str, state: &str, reach: Reach) -> Self {
        let lock = format!("{state}/run.lock");
        Self { root_name: root_name.to_owned(), state: state.to_owned(), lock, reach }
    }

    /// The parts that are walked to see what cannot be held.
    pub(crate) fn parts(&self) -> &[Held] {
        match &self.reach {
            Reach::Parts(held) => held,
            Reach::AllBut(_) => &[],
        }
    }

    /// Why no edit may name this path, if so.
    pub(crate) fn refuses(&self, path: &TreePath) -> Option<String> {
        let is_git = |name: &str| fold(name) == OTHERS[0];
        if path.names().any(is_git) && !ao_mutant::active("LOOP-06/git-is-a-slot") {
            return Some("it lies in `.git`, which is git's".to_owned());
        }
        match &self.reach {
            Reach::Parts(held) if held.iter().any(|held| held.has(path)) => None,
            Reach::Parts(_) => {
                Some(format!("it lies outside of what may change: {}", self.describe_held()))
            }
            Reach::AllBut(but) => {
                let is_beneath = |above: &str| {
                    let rest = path.as_str().strip_prefix(above);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                let is_agents = path.names().any(|name| fold(name) == OTHERS[1]);
                let is_own = is_beneath(&self.state) || is_beneath(&self.lock);
                (is_agents || is_own || but.iter().any(|path| is_beneath(path.as_str())))
                    .then(|| format!("it lies in what may not change: {}", self.describe_held()))
            }
        }
    }

    /// For messages: what may be edited.
    pub fn describe_held(&self) -> String {
        match &self.reach {
            Reach::Parts(held) => {
                let name = |held: &Held| {
                    if held.is_dir { format!("{}/", held.path) } else { held.path.to_string() }
                };
                held.iter().map(name).collect::<Vec<_>>().join(", ")
            }
            Reach::AllBut(but) => {
                let but = but.iter().map(|path| format!(", {path}")).collect::<String>();
                format!("all but .git, .agents, {}{but}", self.state)
            }
        }
    }
}
