//! A history that uses everything the door can do: three commits over all five parts, and undos of
//! the last, of the undo, and of one in the middle.
//!
//! Each step is a [`Subject`] of its own. It begins on the file system as the step before it left
//! it, with whatever that one had not yet synced, so that a promise which only holds until the next
//! commit is found out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::rc::Rc;

use ao_tree::{Action, Door, Edit, Fs, Held, Layout, Outcome, Request, UndoScope};

use crate::check::{Scene, judge_deeply};
use crate::image::Body;
use crate::sim::SimFs;
use crate::subject::{Side, Subject};
use crate::tap::Call;

pub(crate) const STATE: &str = "overnight";
const AT: &str = "2026-01-02T03:04:05Z";
const MAX_STORE_BYTES: u64 = 1 << 30;

pub(crate) fn layout() -> Layout {
    let dirs = ["learnings", "findings", "patterns", "knowledge"].map(Held::dir);
    let mut held = dirs.to_vec();
    held.push(Held::file("rpi/next-work.jsonl"));
    Layout::new(".agents", STATE, held)
}

/// The files of the held parts: what they say, and their mode.
pub(crate) type Files = BTreeMap<String, (Rc<[u8]>, u32)>;

#[derive(Debug, Clone)]
pub(crate) enum Doing {
    Apply(Vec<Edit>),
    /// The commit to take back, or the newest.
    Undo(Option<&'static str>, UndoScope),
}

/// One step of a history.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) id: String,
    pub(crate) doing: Doing,
    pub(crate) scene: Scene,
}

impl Step {
    fn do_it<F: Fs>(&self, fs: F) -> Result<(), String> {
        let door = Door::new(fs, layout()).map_err(|error| error.to_string())?;
        let outcome = match &self.doing {
            Doing::Apply(edits) => door.apply(request(&self.id, edits.clone())),
            Doing::Undo(of, scope) => undo(&door, *of, *scope, &self.id),
        };
        let outcome = outcome.map_err(|error| format!("{error:?}"))?;
        if let Some(why) = outcome.untidy {
            return Err(format!("untidy: {why}"));
        }
        match outcome.refused.first() {
            Some(refused) => Err(format!("refused {}: {}", refused.path, refused.why)),
            None => Ok(()),
        }
    }
}

pub(crate) fn request(id: &str, edits: Vec<Edit>) -> Request {
    Request {
        id: id.to_owned(),
        at: AT.to_owned(),
        why: "a test".to_owned(),
        edits,
        undo_of: Vec::new(),
        by: None,
        given: None,
        drop_folders: Vec::new(),
        max_store_bytes: MAX_STORE_BYTES,
        stop: ao_tree::Stop::default(),
    }
}

pub(crate) fn undo<F: Fs>(
    door: &Door<F>,
    of: Option<&str>,
    scope: UndoScope,
    id: &str,
) -> ao_tree::Result<Outcome> {
    let plan = door.plan_undo(of, scope)?;
    door.undo(plan, request(id, Vec::new()))
}

pub(crate) fn recover<F: Fs>(fs: F) -> Result<(), String> {
    let door = Door::new(fs, layout()).map_err(|error| error.to_string())?;
    door.recover().map(drop).map_err(|error| format!("{error:?}"))
}

impl Subject for Step {
    fn name(&self) -> String {
        self.id.clone()
    }

    fn run<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.do_it(fs)
    }

    fn recover<F: Fs>(&self, fs: F) -> Result<(), String> {
        recover(fs)
    }

    fn judge(&self, fs: &SimFs) -> Result<Side, String> {
        self.scene.judge(fs)
    }

    fn judge_deeply(&self, fs: &SimFs, side: Side) -> Result<(), String> {
        judge_deeply(self, fs, side)
    }

    fn glimpse(&self, fs: &SimFs) -> Result<(), String> {
        self.scene.glimpse(fs)
    }

    fn is_commit_point<D>(&self, call: &Call<D>) -> bool {
        matches!(call, Call::Rename { to: (_, name), .. } if is_marker(name))
    }
}

fn is_marker(name: &OsString) -> bool {
    name.to_string_lossy().starts_with("COMMIT-MARKER.")
}

pub(crate) fn write(path: &str, text: &str) -> Edit {
    edit(path, Action::Write(text.as_bytes().to_vec()))
}

pub(crate) fn delete(path: &str) -> Edit {
    edit(path, Action::Delete)
}

fn edit(path: &str, action: Action) -> Edit {
    let sources = vec!["learnings/keep.md".to_owned()];
    let (path, reason) = (path.to_owned(), "for the test".to_owned());
    Edit { path, action, mode: None, reason, sources, group: None, seen: None }
}

/// What a step deletes goes into the archive, unless it is an undo.
fn archived(doing: &Doing) -> Vec<String> {
    let Doing::Apply(edits) = doing else { return Vec::new() };
    let deleted = edits.iter().filter(|edit| edit.action == Action::Delete);
    deleted.map(|edit| edit.path.clone()).collect()
}

/// A tree of a few files in all parts but one, with modes that must survive.
pub(crate) fn tree() -> SimFs {
    let fs = SimFs::new();
    fs.put("learnings/a.md", b"learning a\n");
    put_mode(&fs, "learnings/b.md", b"learning b\n", 0o600);
    fs.put("learnings/keep.md", b"a learning that stays\n");
    fs.put("learnings/log.jsonl", b"{\"n\":1}\n");
    fs.put("learnings/sub/deep.md", b"deep down\n");
    put_mode(&fs, "findings/f1.md", b"finding 1\n", 0o755);
    fs.put("findings/f2.md", b"finding 2\n");
    fs.put("patterns/p.md", b"pattern\n");
    fs.put("rpi/next-work.jsonl", b"{\"id\":\"w1\"}\n");
    fs.put("rpi/notes.txt", b"not held\n");
    fs.put("top.txt", b"not held either\n");
    fs.settle();
    fs
}

/// As [`tree`], with entries that the door cannot hold and must leave alone.
pub(crate) fn tree_with_strangers() -> SimFs {
    let fs = tree();
    fs.put_body("learnings/link.md", Body::Symlink, 0o777);
    fs.put_body("learnings/sub/pipe", Body::Special, 0o644);
    fs.put_body("findings/socket", Body::Special, 0o755);
    fs.settle();
    fs
}

fn put_mode(fs: &SimFs, path: &str, bytes: &[u8], mode: u32) {
    fs.put_body(path, Body::File(crate::image::Content::new(bytes)), mode);
}

/// Adds, changes, deletes, a new subdirectory, and a part that was not there.
fn first() -> Vec<Edit> {
    vec![
        write("learnings/a.md", "learning a, better\n"),
        write("learnings/new.md", "a new learning\n"),
        delete("findings/f1.md"),
        write("rpi/next-work.jsonl", "{\"id\":\"w1\"}\n{\"id\":\"w2\"}\n"),
    ]
}

fn second() -> Vec<Edit> {
    vec![
        write("knowledge/k.md", "knowledge\n"),
        write("patterns/p.md", "pattern, better\n"),
        write("learnings/sub2/x.md", "in a new directory\n"),
        delete("learnings/b.md"),
    ]
}

fn third() -> Vec<Edit> {
    vec![
        write("learnings/keep.md", "a learning that changed after all\n"),
        write("findings/f2.md", "finding 2, better\n"),
        write("patterns/q/r.md", "a pattern further down\n"),
        write("knowledge/k2.md", "more knowledge\n"),
        delete("learnings/sub/deep.md"),
        write("rpi/next-work.jsonl", "{\"id\":\"w2\"}\n{\"id\":\"w3\"}\n"),
    ]
}

/// One commit that has every kind of edit once and is short enough for every pair of its steps.
pub(crate) fn short() -> Vec<Edit> {
    vec![
        write("learnings/a.md", "learning a, better\n"),
        delete("learnings/b.md"),
        delete("findings/f1.md"),
        write("knowledge/k.md", "knowledge\n"),
        write("rpi/next-work.jsonl", "{\"id\":\"w2\"}\n"),
    ]
}

/// A step and the file system that it begins on.
pub(crate) type Begun = (Step, SimFs);

pub(crate) fn history() -> Vec<Begun> {
    let mut telling = Telling::new(tree());
    telling.apply("c1", first());
    telling.apply("c2", second());
    telling.apply("c3", third());
    telling.undo("u3", None, UndoScope::FromHereOn, 2);
    telling.undo("uu3", None, UndoScope::FromHereOn, 3);
    telling.undo_only_second("u2");
    telling.begun
}

/// The same three commits where some entries cannot be held.
pub(crate) fn history_with_strangers() -> Vec<Begun> {
    let mut telling = Telling::new(tree_with_strangers());
    telling.apply("s1", first());
    telling.apply("s2", second());
    telling.undo("su", None, UndoScope::FromHereOn, 1);
    telling.begun
}

pub(crate) fn one_commit() -> Begun {
    one_commit_of(short())
}

pub(crate) fn one_commit_of(edits: Vec<Edit>) -> Begun {
    let mut telling = Telling::new(tree());
    telling.apply("m1", edits);
    telling.begun.remove(0)
}

/// Builds a history step by step; what each step should give is worked out here, from the edits
/// alone and without the door.
struct Telling {
    fs: SimFs,
    begun: Vec<Begun>,
    /// The files before the first step, after it, after the second, and so on.
    states: Vec<Files>,
}

impl Telling {
    fn new(fs: SimFs) -> Self {
        let states = vec![crate::check::held_files(&fs)];
        Self { fs, begun: Vec::new(), states }
    }

    fn apply(&mut self, id: &str, edits: Vec<Edit>) {
        let mut after = self.states.last().expect("never empty").clone();
        for edit in &edits {
            match &edit.action {
                Action::Delete => drop(after.remove(&edit.path)),
                Action::Write(bytes) => {
                    let mode = after.get(&edit.path).map_or(0o644, |(_, mode)| *mode);
                    after.insert(edit.path.clone(), (bytes.as_slice().into(), mode));
                }
            }
        }
        self.step(id, Doing::Apply(edits), after);
    }

    /// Takes back to the state of this number.
    fn undo(&mut self, id: &str, of: Option<&'static str>, scope: UndoScope, state: usize) {
        let after = self.states[state].clone();
        self.step(id, Doing::Undo(of, scope), after);
    }

    /// No later step touched what the second commit did.
    fn undo_only_second(&mut self, id: &str) {
        let mut after = self.states.last().expect("never empty").clone();
        for edit in second() {
            match self.states[1].get(&edit.path) {
                Some(file) => drop(after.insert(edit.path, file.clone())),
                None => drop(after.remove(&edit.path)),
            }
        }
        self.step(id, Doing::Undo(Some("c2"), UndoScope::Only), after);
    }

    fn step(&mut self, id: &str, doing: Doing, after: Files) {
        let start = self.fs.branch();
        let scene = Scene::new(&start, id, after.clone(), archived(&doing));
        let step = Step { id: id.to_owned(), doing, scene };
        // A step that fails here is found by every engine that runs it.
        let _ = step.run(self.fs.clone());
        self.states.push(after);
        self.begun.push((step, start));
    }
}
