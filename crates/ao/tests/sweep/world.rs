//! The world that `ao` is attacked in: a small repository, three sets of edits over all five
//! subpaths, and what the tree must be after each of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::stat::{Mode, umask};
use nix::sys::statvfs::statvfs;
use serde_json::json;
use tempfile::TempDir;

use crate::tree::{Kind, Node, Tree, long_ago};

/// What a commit holds, relative to `.agents/`.
pub(crate) const HELD: [&str; 5] =
    ["learnings", "findings", "patterns", "knowledge", "rpi/next-work.jsonl"];
/// Where `ao` keeps its own state, relative to the repository.
pub(crate) const STATE: &str = ".agents/overnight";
pub(crate) const RECOVER: [&str; 2] = ["tree", "recover"];
/// Long enough to be written in more than one piece by a careless writer.
const LARGE_BYTES: usize = 10_000;

/// Two engines at a time, the larger of their images, and room to spare.
const MEMORY_BYTES_MIN: u64 = 1 << 30;

/// Path relative to `.agents/`, and the new content; `None` deletes.
pub(crate) type Edit = (String, Option<String>);

/// A directory for the worlds of one engine, gone when the engine is.
pub(crate) struct Arena {
    dir: TempDir,
    made: AtomicUsize,
}

impl Arena {
    /// In memory where the machine has enough of it: thousands of worlds are made, and what a kill
    /// leaves behind does not depend on the disk.
    pub(crate) fn new() -> Self {
        // New files and folders get the modes that the expectations name, whoever runs this.
        umask(Mode::from_bits_truncate(0o022));
        let shm = Path::new("/dev/shm");
        let is_roomy = statvfs(shm).is_ok_and(|space| {
            space.blocks_available() * space.fragment_size() >= MEMORY_BYTES_MIN
        });
        let dir = if is_roomy { TempDir::new_in(shm) } else { TempDir::new() }.unwrap();
        Self { dir, made: AtomicUsize::new(0) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A name that no other world or file of this arena has.
    pub(crate) fn fresh(&self, what: &str) -> PathBuf {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        self.path().join(format!("{what}-{number}"))
    }

    pub(crate) fn world(&self, start: &Tree) -> World {
        World::at(self.fresh("world"), start)
    }

    /// Writes an edits file and gives its path, ready for the command line.
    pub(crate) fn edits_file(&self, edits: &[Edit]) -> String {
        let path = self.fresh("edits");
        std::fs::write(&path, edits_json(edits)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// One repository on disk, gone when it is dropped.
pub(crate) struct World {
    pub(crate) root: PathBuf,
}

impl World {
    pub(crate) fn at(root: PathBuf, start: &Tree) -> Self {
        std::fs::create_dir(&root).unwrap();
        let world = Self { root };
        start.write(&world.root);
        world
    }

    /// A path beneath `.agents/`.
    pub(crate) fn agents(&self, path: &str) -> PathBuf {
        self.root.join(".agents").join(path)
    }

    /// A path in `ao`'s own state.
    pub(crate) fn state(&self, path: &str) -> PathBuf {
        self.root.join(STATE).join(path)
    }

    pub(crate) fn has_marker(&self) -> bool {
        std::fs::read_dir(self.state("")).is_ok_and(|mut entries| {
            entries.any(|entry| {
                entry.unwrap().file_name().as_encoded_bytes().starts_with(b"COMMIT-MARKER.")
            })
        })
    }

    /// Everything but `ao`'s own state.
    pub(crate) fn tree(&self) -> Tree {
        Tree::read(&self.root, Some(STATE))
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
        command.arg("-C").arg(&self.root).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that must succeed.
    pub(crate) fn must(&self, args: &[&str]) -> Result<Output, String> {
        let output = self.run(args);
        if output.status.success() {
            return Ok(output);
        }
        Err(format!("`ao {}` failed: {}", args.join(" "), shown(&output)))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The arena removes what could not be removed here.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// How a command ended, for a message.
pub(crate) fn shown(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    format!("{}; stdout: {}; stderr: {}", output.status, text(&output.stdout), text(&output.stderr))
}

/// One command on one state of the world, and what it must make of the tree.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// The whole repository before the command, `ao`'s own state included.
    pub(crate) start: Tree,
    pub(crate) args: Vec<String>,
    /// The tree before and after, without `ao`'s own state.
    pub(crate) before: Tree,
    pub(crate) after: Tree,
    /// What the commit may replace, relative to the repository.
    pub(crate) edited: BTreeSet<String>,
}

impl Scenario {
    pub(crate) fn args(&self) -> Vec<&str> {
        self.args.iter().map(String::as_str).collect()
    }
}

/// A history of three commits, then the undo of the third, the undo of that undo, and an undo
/// of everything.
pub(crate) fn scenarios(arena: &Arena) -> Vec<Scenario> {
    let mut history = Vec::new();
    let mut trees = vec![corpus()];
    let world = arena.world(&trees[0]);
    for (name, id, edits) in [
        ("apply-1", "c1", first_edits()),
        ("apply-2", "c2", second_edits()),
        ("apply-3", "c3", third_edits()),
    ] {
        let file = arena.edits_file(&edits);
        let after = edited_tree(trees.last().unwrap(), &edits);
        history.push(scenario(&world, name, &apply_args(&file, id), &after));
        trees.push(after);
    }
    let undo = ["tree", "undo"].map(str::to_owned);
    history.push(scenario(&world, "undo", &undo, &trees[2]));
    history.push(scenario(&world, "undo-undo", &undo, &trees[3]));
    let undo_all = ["tree", "undo", "c1"].map(str::to_owned);
    history.push(scenario(&world, "undo-all", &undo_all, &trees[0]));
    history
}

pub(crate) fn apply_args(file: &str, id: &str) -> Vec<String> {
    ["tree", "apply", file, "--id", id].map(str::to_owned).to_vec()
}

/// Notes the state before the command, then lets it run undisturbed: the next one starts there.
/// What it makes must be `expected`, but for directories that it emptied.
fn scenario(world: &World, name: &'static str, args: &[String], expected: &Tree) -> Scenario {
    let start = Tree::read(&world.root, None);
    let before = world.tree();
    world.must(&args.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let after = world.tree();
    let difference = expected.without_empty_dirs().difference(&after.without_empty_dirs());
    assert!(difference.is_empty(), "{name}, undisturbed, gives another tree:\n{difference}");
    let edited = changed_paths(&before, &after);
    Scenario { name, start, args: args.to_vec(), before, after, edited }
}

fn changed_paths(before: &Tree, after: &Tree) -> BTreeSet<String> {
    let all = before.0.keys().chain(after.0.keys());
    all.filter(|path| before.bytes(path) != after.bytes(path)).cloned().collect()
}

/// The repository before the first commit, with odd modes and old times.
pub(crate) fn corpus() -> Tree {
    let large = "A line of a long page.\n".repeat(LARGE_BYTES / 23);
    let files = [
        ("src/main.txt", 0o644, "Not ours.\n"),
        (".agents/README.md", 0o644, "Not held.\n"),
        (".agents/learnings/a.md", 0o644, "---\nid: a\n---\nFirst.\n"),
        (".agents/learnings/b.md", 0o640, "Second.\n"),
        (".agents/learnings/empty.md", 0o644, ""),
        (".agents/learnings/log.jsonl", 0o644, "{\"n\":0}\n"),
        (".agents/learnings/nested/deep/c.md", 0o600, "Deep.\n"),
        (".agents/learnings/nested/deep/d.md", 0o644, "Deep too.\n"),
        (".agents/findings/f1.md", 0o664, "Finding one.\n"),
        (".agents/findings/f2.md", 0o644, "Finding two.\n"),
        (".agents/patterns/p1.md", 0o600, "Pattern one.\n"),
        (".agents/patterns/p2.md", 0o444, "Pattern two, read-only.\n"),
        (".agents/knowledge/k1.md", 0o644, "Page one.\n"),
        (".agents/knowledge/large.md", 0o644, large.as_str()),
        (".agents/knowledge/wiki/k2.md", 0o755, "Page two, executable.\n"),
        (".agents/rpi/next-work.jsonl", 0o640, "{\"id\":\"w1\"}\n"),
        (".agents/rpi/notes.md", 0o644, "Beside a held file, not held.\n"),
    ];
    let mut tree = Tree::default();
    for (index, (path, mode, text)) in files.into_iter().enumerate() {
        put(&mut tree, path, text, mode);
        let node = tree.0.get_mut(path).unwrap();
        node.modified = long_ago(u64::try_from(index).unwrap());
    }
    tree.0.get_mut(".agents/learnings/nested").unwrap().mode = 0o750;
    tree.0.get_mut(".agents/patterns").unwrap().mode = 0o700;
    tree
}

/// Adds, changes and deletes, in every subpath; one page is long, one directory is new.
fn first_edits() -> Vec<Edit> {
    vec![
        write("learnings/a.md", "---\nid: a\n---\nFirst, told better.\n"),
        write("learnings/new.md", "New.\n"),
        delete("learnings/nested/deep/c.md"),
        write("findings/f1.md", "Finding one, checked.\n"),
        delete("findings/f2.md"),
        write("findings/2026/f3.md", "Finding three.\n"),
        write("patterns/p1.md", "Pattern one, seen twice.\n"),
        write("knowledge/k3.md", &"Another long page.\n".repeat(LARGE_BYTES / 19)),
        delete("knowledge/k1.md"),
        write("rpi/next-work.jsonl", "{\"id\":\"w1\"}\n{\"id\":\"w2\"}\n"),
    ]
}

fn second_edits() -> Vec<Edit> {
    vec![
        write("learnings/b.md", "Second, changed.\n"),
        delete("learnings/new.md"),
        write("findings/f4.md", "Finding four.\n"),
        delete("patterns/p2.md"),
        write("knowledge/wiki/k2.md", "Page two, changed.\n"),
        write("rpi/next-work.jsonl", "{\"id\":\"w2\"}\n"),
    ]
}

/// Brings back a name that was deleted, and changes again what was changed.
fn third_edits() -> Vec<Edit> {
    vec![
        write("learnings/a.md", "First, told once more.\n"),
        write("findings/f2.md", "Finding two is back.\n"),
        delete("findings/2026/f3.md"),
        write("patterns/p3.md", "Pattern three.\n"),
        delete("knowledge/k3.md"),
        write("rpi/next-work.jsonl", "{\"id\":\"w2\"}\n{\"id\":\"w3\"}\n"),
    ]
}

pub(crate) fn write(path: &str, content: &str) -> Edit {
    (path.to_owned(), Some(content.to_owned()))
}

pub(crate) fn delete(path: &str) -> Edit {
    (path.to_owned(), None)
}

fn edits_json(edits: &[Edit]) -> String {
    let edits: Vec<_> = edits
        .iter()
        .map(|(path, content)| match content {
            Some(content) => json!({
                "op": "write", "path": path, "content": content,
                "reason": "the sweep writes it", "sources": ["sweep"],
            }),
            None => json!({ "op": "delete", "path": path, "reason": "the sweep deletes it" }),
        })
        .collect();
    json!({ "schema_version": 1, "why": "sweep", "edits": edits }).to_string()
}

/// What the edits make of a tree, worked out without `ao`.
pub(crate) fn edited_tree(before: &Tree, edits: &[Edit]) -> Tree {
    const NEW_FILE_MODE: u32 = 0o644;
    let mut tree = before.clone();
    for (path, content) in edits {
        let path = format!(".agents/{path}");
        match content {
            Some(content) => {
                let mode = tree.0.get(&path).map_or(NEW_FILE_MODE, |node| node.mode);
                put(&mut tree, &path, content, mode);
            }
            None => {
                tree.0.remove(&path);
            }
        }
    }
    tree
}

fn put(tree: &mut Tree, path: &str, text: &str, mode: u32) {
    const DIR_MODE: u32 = 0o755;
    let node = |kind, mode| Node { kind, mode, inode: 0, links: 1, modified: long_ago(0) };
    for (end, _) in path.match_indices('/') {
        tree.0.entry(path[..end].to_owned()).or_insert_with(|| node(Kind::Dir, DIR_MODE));
    }
    tree.0.insert(path.to_owned(), node(Kind::File(text.as_bytes().to_vec()), mode));
}
