//! Files that some program runs without being asked: a hook, a task, an instruction to an agent.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ao_tree::own_file;
use serde::Serialize;

use super::glob::{Case, Globs};

/// A larger one is named without being read.
const READ_BYTES_MAX: u64 = 1024 * 1024;

/// On what occasion a file is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelfStartKind {
    GitHook,
    GitFilter,
    GitSubmodule,
    FolderEnvironment,
    EditorTask,
    DevContainer,
    AgentSettings,
    AgentInstructions,
    PackageScript,
    ShellStartup,
    TestSetup,
    BuildSettings,
    Workflow,
}

/// A file that runs by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SelfStart {
    pub path: PathBuf,
    pub kind: SelfStartKind,
    /// "runs by itself when you …"
    pub when: &'static str,
}

/// A file that a program wrote.
#[derive(Debug, Clone)]
pub struct WrittenFile {
    pub path: PathBuf,
    /// Its path in the folder that was writable.
    pub beneath: PathBuf,
    /// Where its bytes are, if it was written in a copy.
    pub bytes: PathBuf,
}

impl SelfStartKind {
    const ALL: [Self; 13] = [
        Self::GitHook,
        Self::GitFilter,
        Self::GitSubmodule,
        Self::FolderEnvironment,
        Self::EditorTask,
        Self::DevContainer,
        Self::AgentSettings,
        Self::AgentInstructions,
        Self::PackageScript,
        Self::ShellStartup,
        Self::TestSetup,
        Self::BuildSettings,
        Self::Workflow,
    ];

    pub fn when(self) -> &'static str {
        match self {
            Self::GitHook => "commit, push, merge or check out in this folder",
            Self::GitFilter => {
                "have git look at files here, if a filter or driver of that name is set up"
            }
            Self::GitSubmodule => "update submodules",
            Self::FolderEnvironment => "enter the folder",
            Self::EditorTask => "open the folder in an editor",
            Self::DevContainer => "open the folder in a container",
            Self::AgentSettings => "start an agent in the folder",
            Self::AgentInstructions => "ask an agent something in the folder",
            Self::PackageScript => "install the package or its dependencies",
            Self::ShellStartup => "start a shell with this folder as your home",
            Self::TestSetup => "run Python or its tests here",
            Self::BuildSettings => "build here",
            Self::Workflow => "push to a host that runs workflows",
        }
    }

    /// Of the paths, whatever is in the file. Folders are named for everything in them.
    pub(super) fn globs(self) -> &'static [&'static str] {
        match self {
            Self::GitHook => &[
                "**/.git/{hooks,config,info}",
                "**/.husky",
                "**/.githooks",
                "**/hooks/{pre-commit,commit-msg,post-commit,pre-push,post-checkout,post-merge,pre-rebase,prepare-commit-msg,post-rewrite,pre-receive,post-receive,update,fsmonitor-watchman}",
                "**/{.pre-commit-config.yaml,lefthook.yml}",
            ],
            Self::GitFilter => &["**/.gitattributes"],
            Self::GitSubmodule => &["**/.gitmodules"],
            Self::FolderEnvironment => &["**/.{envrc,mise.toml,autoenv,in}"],
            Self::EditorTask => &[
                "**/.vscode/{tasks,settings,launch}.json",
                "**/.idea/{runConfigurations,workspace.xml}",
                "**/.zed/{tasks,settings}.json",
                "**/.{exrc,nvimrc,nvim.lua,vimrc,dir-locals.el}",
            ],
            Self::DevContainer => &["**/.devcontainer", "**/.devcontainer.json"],
            Self::AgentSettings => &["**/.{claude,codex,cursor,gemini,opencode}", "**/.mcp.json"],
            Self::AgentInstructions => &["**/{AGENTS,CLAUDE,GEMINI}{,.local}.md"],
            Self::PackageScript => &["**/package.json", "**/.pnpmfile.{cjs,mjs}", "**/.yarnrc.yml"],
            Self::ShellStartup => {
                &["**/.{bashrc,bash_profile,bash_login,profile,zshrc,zshenv,zprofile,inputrc}"]
            }
            Self::TestSetup => &["**/{conftest,sitecustomize,usercustomize}.py"],
            Self::BuildSettings => &["**/.cargo/config{,.toml}", "**/build.rs"],
            Self::Workflow => &["**/.github/workflows"],
        }
    }

    /// What tells the file from a harmless one of its name, in small letters; nothing where the name is enough.
    fn signs(self) -> &'static [&'static str] {
        match self {
            Self::PackageScript => &[
                "\"preinstall\"",
                "\"install\"",
                "\"postinstall\"",
                "\"prepare\"",
                "\"prepublish\"",
                "hooks",
                "plugins",
                "yarnpath",
            ],
            Self::GitFilter => &["filter", "diff", "merge"],
            _ => &[],
        }
    }
}

/// What of these files runs by itself. A file that cannot be read is named for its name.
pub fn self_starting(files: impl IntoIterator<Item = WrittenFile>) -> Vec<SelfStart> {
    static GLOBS: OnceLock<Vec<(SelfStartKind, Globs)>> = OnceLock::new();
    let globs = GLOBS.get_or_init(|| {
        let parsed =
            |kind: SelfStartKind| Some((kind, Globs::parse(kind.globs(), Case::Folded).ok()?));
        SelfStartKind::ALL.into_iter().filter_map(parsed).collect()
    });
    let mut found = Vec::new();
    for WrittenFile { path, beneath, bytes } in files {
        let name = beneath.to_string_lossy();
        let kinds = globs.iter().filter(|(_, globs)| globs.covering(&name).is_some());
        let kind = kinds.map(|(kind, _)| *kind).find(|kind| has_sign(&bytes, kind.signs()));
        found.extend(kind.map(|kind| SelfStart { path, kind, when: kind.when() }));
    }
    found
}

fn has_sign(path: &Path, signs: &[&str]) -> bool {
    if signs.is_empty() {
        return true;
    }
    let Some(text) = text_of(path) else { return true };
    let text = text.to_ascii_lowercase();
    // In JSON a letter of a name may be spelt out.
    signs.iter().any(|sign| text.contains(sign)) || text.contains("\\u00")
}

/// Of a plain file that is not too large, without waiting for anybody.
fn text_of(path: &Path) -> Option<String> {
    let bytes = own_file::read(path, READ_BYTES_MAX).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_globs_that_can_be_read() {
        for kind in SelfStartKind::ALL {
            assert!(Globs::parse(kind.globs(), Case::Folded).is_ok(), "{kind:?}");
        }
        let paths = ["a/.envrc", ".VSCODE/tasks.json", "hooks/pre-commit", "a.txt"];
        let written = |path: &str| WrittenFile {
            path: Path::new("/home/.claude").join(path),
            beneath: path.into(),
            bytes: path.into(),
        };
        let found = self_starting(paths.map(written));
        let kinds: Vec<_> = found.iter().map(|one| one.kind).collect();
        assert_eq!(
            kinds,
            [SelfStartKind::FolderEnvironment, SelfStartKind::EditorTask, SelfStartKind::GitHook]
        );
    }
}
