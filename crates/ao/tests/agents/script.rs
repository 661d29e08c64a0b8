//! What the mock tells an agent to do, and how it is seen from outside that it was done.

use std::os::unix::fs::PermissionsExt;

use crate::ground::Ground;

/// One call of a tool.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) act: Act,
    pub(crate) reach: Reach,
    pub(crate) trace: Trace,
}

/// With which tool.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// The agent's own tool for files; the content is one line.
    Write { path: String, line: &'static str },
    /// Its tool for changing a part of a file; some want to have read the file before.
    Edit { path: String, old: &'static str, new: &'static str },
    /// Its tool for reading a file.
    Look(String),
    /// The agent's shell.
    Run(String),
}

/// How far out of the scope it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Scope,
    /// Out of the scope, in the repository, or a link in the scope that leads out of it: a copy of the
    /// repository is enough for it.
    Repo,
    /// Out of the repository.
    Beyond,
}

/// What is there once it has happened.
#[derive(Debug)]
pub(crate) enum Trace {
    /// A path beneath the ground with this content; that of a link is where it leads.
    Content(&'static str, &'static str),
    /// Something is at this path beneath the ground, or is not any more.
    There(&'static str),
    Gone(&'static str),
    Mode(&'static str, u32),
    Commits(usize),
    Connection,
    Process,
}

impl Trace {
    pub(crate) fn is_there(&self, ground: &Ground) -> bool {
        match self {
            Self::Content(path, content) => {
                ground.everything().get(*path).is_some_and(|entry| entry.content == *content)
            }
            Self::There(path) => ground.path(path).exists(),
            Self::Gone(path) => !ground.path(path).exists(),
            Self::Mode(path, mode) => {
                let found = std::fs::metadata(ground.path(path)).unwrap();
                found.permissions().mode() & 0o777 == *mode
            }
            Self::Commits(count) => ground.commits() == *count,
            Self::Connection => ground.was_connected_to(),
            Self::Process => !ground.processes().is_empty(),
        }
    }
}

/// All of it, the honest write first. Where an agent reads its commands and would not run them, they are
/// put so that it does: it is the cell that must hold.
pub(crate) fn steps(ground: &Ground) -> Vec<Step> {
    let at = |path: &str| ground.path(path).to_str().unwrap().to_owned();
    let write = |path: &str| Act::Write { path: at(path), line: "bad" };
    let run = |command: &str| Act::Run(command.to_owned());
    let step = |name, reach, act, trace| Step { name, act, reach, trace };
    let daemon =
        format!("setsid sh -c 'sleep 50; : {}' > /dev/null 2>&1 < /dev/null &", ground.name());
    let profile = at("home/.profile");
    let port = ground.port();
    vec![
        step(
            "the write in the scope",
            Reach::Scope,
            Act::Write { path: at("repo/scope/in.txt"), line: "in" },
            Trace::Content("repo/scope/in.txt", "in\n"),
        ),
        step(
            "an absolute path outside",
            Reach::Beyond,
            write("outside/new.txt"),
            Trace::Content("outside/new.txt", "bad\n"),
        ),
        step(
            "a path that climbs out",
            Reach::Beyond,
            write("repo/scope/../../outside/up.txt"),
            Trace::Content("outside/up.txt", "bad\n"),
        ),
        step(
            "a tracked file beside the scope",
            Reach::Repo,
            run("echo bad > scope/../kept.txt"),
            Trace::Content("repo/kept.txt", "bad\n"),
        ),
        step(
            "a symlink beside the scope",
            Reach::Repo,
            run("ln -s ../outside away"),
            Trace::Content("repo/away", "../outside"),
        ),
        step(
            "a symlink in the scope that leads out",
            Reach::Repo,
            run("ln -s ../../outside scope/link"),
            Trace::Content("repo/scope/link", "../../outside"),
        ),
        step(
            "a new file through a symlink that was there",
            Reach::Beyond,
            write("repo/scope/old-link/through.txt"),
            Trace::Content("outside/through.txt", "bad\n"),
        ),
        step(
            "an old file through it",
            Reach::Beyond,
            run("echo bad >> scope/old-link/there.txt"),
            Trace::Content("outside/there.txt", "there\nbad\n"),
        ),
        step(
            "a hard link to a file outside",
            Reach::Beyond,
            run("ln ../outside/there.txt scope/hard"),
            Trace::Content("repo/scope/hard", "there\nbad\n"),
        ),
        step(
            "the mode of a file",
            Reach::Repo,
            run("chmod 600 kept.txt"),
            Trace::Mode("repo/kept.txt", 0o600),
        ),
        step("a commit", Reach::Repo, run("git add -A && git commit -q -m bad"), Trace::Commits(2)),
        step(
            "a hook of git",
            Reach::Repo,
            run("sh -c 'echo bad > .git/hooks/post-commit'"),
            Trace::Content("repo/.git/hooks/post-commit", "bad\n"),
        ),
        step(
            "a file in the home",
            Reach::Beyond,
            run(&format!("sh -c 'echo bad >> {profile}'")),
            Trace::Content("home/.profile", "profile\nbad\n"),
        ),
        step(
            "a port that was not granted",
            Reach::Beyond,
            run(&format!("bash -c 'echo bad > /dev/tcp/127.0.0.1/{port}'")),
            Trace::Connection,
        ),
        // The call works; what it started must be gone.
        step("a process that stays", Reach::Scope, run(&daemon), Trace::Process),
    ]
}
