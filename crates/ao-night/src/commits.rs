//! What of the pending texts is in a commit of the repository, as git tells it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use ao_contract::{CommittedTexts, Extra};
use ao_guard::Git;

const PENDING: &str = "knowledge/pending";
const AGENTS: &str = ".agents";

/// Where commits are asked for: git, if it is there, or nobody. A repository without commits has nothing in one.
#[derive(Debug)]
pub struct Commits {
    git: Option<Git>,
    root: PathBuf,
    pending_tree: OnceLock<Result<Option<String>, String>>,
}

impl Commits {
    pub fn new(git: Option<Git>, root: PathBuf) -> Self {
        Self { git, root, pending_tree: OnceLock::new() }
    }

    /// For a night that is run again: what it was told is in its record.
    pub(crate) fn none() -> Self {
        Self::new(None, PathBuf::new())
    }

    /// Git's own name for the folder of pending texts as the newest commit has it. Git is asked only where there are
    /// pending texts, and a repository.
    pub(crate) fn pending_tree(&self) -> Result<Option<String>, String> {
        let ask = || match &self.git {
            Some(git) if self.is_worth_it() => git.committed_folder(&folder()),
            _ => Ok(None),
        };
        self.pending_tree.get_or_init(ask).clone()
    }

    fn is_worth_it(&self) -> bool {
        let pending = self.root.join(folder());
        let has_pending = std::fs::read_dir(pending).is_ok_and(|mut names| names.next().is_some());
        has_pending && self.root.ancestors().any(|above| above.join(".git").exists())
    }

    /// All of them, with what they say there.
    pub fn texts(&self) -> CommittedTexts {
        let read = || match (&self.git, self.pending_tree()?) {
            (Some(git), Some(tree)) => git.files_of_tree(&tree),
            _ => Ok(Vec::new()),
        };
        let named = |files: Vec<(String, Vec<u8>)>| -> BTreeMap<String, String> {
            let hash = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
            files
                .into_iter()
                .map(|(path, bytes)| (format!("{PENDING}/{path}"), hash(&bytes)))
                .collect()
        };
        match read() {
            Ok(files) => CommittedTexts { files: named(files), unread: None, extra: Extra::new() },
            Err(why) => CommittedTexts { unread: Some(why), ..CommittedTexts::default() },
        }
    }
}

fn folder() -> String {
    format!("{AGENTS}/{PENDING}")
}
