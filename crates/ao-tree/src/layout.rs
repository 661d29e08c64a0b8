//! Which parts of a tree the door holds, and where it keeps its own state.

use crate::path::TreePath;

/// One part of the tree that is changed and taken back as a unit.
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
}

fn plain(path: &str) -> TreePath {
    TreePath::parse(path).unwrap_or_else(|doubt| panic!("{path}: {doubt}"))
}

/// The shape of a tree under transaction. The door knows no lane: whoever opens it says what it
/// holds.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The root directory's own name, as the staging tree repeats it.
    pub root_name: String,
    /// The directory, directly beneath the root, with lock, marker, staging, undo and history.
    pub state: String,
    pub held: Vec<Held>,
}

impl Layout {
    pub fn new(root_name: &str, state: &str, held: Vec<Held>) -> Self {
        Self { root_name: root_name.to_owned(), state: state.to_owned(), held }
    }

    /// The index of the held part that this path lies in (or is).
    pub(crate) fn part_of(&self, path: &TreePath) -> Option<usize> {
        self.held.iter().position(|held| {
            if held.is_dir { path.beneath(&held.path).is_some() } else { *path == held.path }
        })
    }

    /// For messages: what may be edited.
    pub fn describe_held(&self) -> String {
        let names: Vec<String> = self
            .held
            .iter()
            .map(|held| if held.is_dir { format!("{}/", held.path) } else { held.path.to_string() })
            .collect();
        names.join(", ")
    }
}
