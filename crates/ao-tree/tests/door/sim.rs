//! `SimFs`: a file system in memory that forgets what was not synced.
//!
//! A running process sees an ordinary file system. [`Journal::crash`] gives the one that a machine
//! finds after power loss; a mere kill of the process is a plain [`SimFs::branch`], for the kernel
//! lives on and has everything. While a tape runs, the state before each operation that changes or
//! syncs something is kept, so that a sweep looks at every crash point of one run.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::rc::Rc;

use ao_tree::{Entry, Fs, Kind, Leased, Space, Stat};
use rustix::io::Errno;

use crate::image::{Body, Change, Content, Image, Ino, Node, ROOT, Spot, Tick, join};
use crate::journal::Journal;

/// One tick of the logical clock, in the nanoseconds that [`Stat`] speaks.
const TICK_NS: i128 = 1_000_000;

/// A run, operation by operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tape {
    /// Before operation `k`; one more at the end, after the last.
    pub(crate) points: Vec<Journal>,
    /// What operation `k` was; empty when nobody asked for words.
    pub(crate) steps: Vec<String>,
    words: Words,
}

/// Whether a tape says what each operation was. Most are never read, and words are slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Words {
    #[default]
    Spoken,
    Silent,
}

/// A handle: clones are the same file system.
#[derive(Debug, Clone)]
pub(crate) struct SimFs {
    journal: Rc<RefCell<Journal>>,
    tape: Rc<RefCell<Option<Tape>>>,
    /// What some process has open for writing.
    writers: Rc<RefCell<BTreeSet<Ino>>>,
}

impl SimFs {
    pub(crate) fn new() -> Self {
        Self::on(Journal::new())
    }

    pub(crate) fn on(journal: Journal) -> Self {
        Self {
            journal: Rc::new(RefCell::new(journal)),
            tape: Rc::default(),
            writers: Rc::default(),
        }
    }

    /// Another file system that is now exactly as this one, pending changes included.
    pub(crate) fn branch(&self) -> Self {
        Self::on(self.journal().clone())
    }

    pub(crate) fn journal(&self) -> Ref<'_, Journal> {
        self.journal.borrow()
    }

    pub(crate) fn settle(&self) {
        self.journal.borrow_mut().settle();
    }

    pub(crate) fn record(&self) {
        self.record_with(Words::Spoken);
    }

    pub(crate) fn record_with(&self, words: Words) {
        *self.tape.borrow_mut() = Some(Tape { words, ..Tape::default() });
    }

    /// Ends the recording that [`Self::record`] began.
    pub(crate) fn take_tape(&self) -> Tape {
        let mut tape = self.tape.take().expect("a tape is running");
        tape.points.push(self.journal().clone());
        tape
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.journal().fingerprint()
    }

    pub(crate) fn appearance(&self) -> u64 {
        self.journal().appearance()
    }

    /// Notes the operation on the tape, with the state before it, and opens the journal for it.
    fn step(&self, describe: impl FnOnce(&Image) -> String) -> RefMut<'_, Journal> {
        if let Some(tape) = &mut *self.tape.borrow_mut() {
            let journal = self.journal();
            if tape.words == Words::Spoken {
                tape.steps.push(describe(&journal.now));
            }
            tape.points.push(journal.clone());
        }
        self.journal.borrow_mut()
    }

    fn look<T>(&self, see: impl FnOnce(&Image) -> Result<T, Errno>) -> io::Result<T> {
        see(&self.journal().now).map_err(io::Error::from)
    }

    fn make(&self, to: Spot, body: Body, mode: u32) -> io::Result<Ino> {
        let mut journal = self.journal.borrow_mut();
        let node = Node::new(body, mode, journal.clock + 1);
        let ino = journal.allocate(node);
        journal.change(Change::Add { to, ino })?;
        Ok(ino)
    }
}

impl Fs for SimFs {
    type Dir = Ino;
    type Lease = ();

    fn top(&self) -> Ino {
        ROOT
    }

    fn open_dir(&self, at: &Ino, name: &OsStr) -> io::Result<Ino> {
        self.look(|image| {
            let ino = image.find(*at, name)?;
            if image.node(ino).is_dir() { Ok(ino) } else { Err(Errno::NOTDIR) }
        })
    }

    /// Backwards, so that nobody comes to rely on the order.
    fn list(&self, dir: &Ino) -> io::Result<Vec<Entry>> {
        self.look(|image| {
            let entries = image.entries(*dir)?.iter().rev();
            Ok(entries
                .map(|(name, ino)| Entry { name: (**name).into(), stat: stat(image, *ino) })
                .collect())
        })
    }

    fn stat(&self, dir: &Ino, name: &OsStr) -> io::Result<Option<Stat>> {
        self.look(|image| Ok(image.lookup(*dir, name)?.map(|ino| stat(image, ino))))
    }

    fn stat_dir(&self, dir: &Ino) -> io::Result<Stat> {
        self.look(|image| Ok(stat(image, *dir)))
    }

    fn read(&self, dir: &Ino, name: &OsStr, max_bytes: u64) -> io::Result<Vec<u8>> {
        self.look(|image| match &image.node(image.find(*dir, name)?).body {
            Body::File(content) if content.bytes.len() as u64 > max_bytes => Err(Errno::FBIG),
            Body::File(content) => Ok(content.bytes.to_vec()),
            _ => Err(Errno::INVAL),
        })
    }

    fn lease(&self, dir: &Ino, name: &OsStr) -> io::Result<Leased<()>> {
        let ino = self.look(|image| image.find(*dir, name))?;
        Ok(if self.writers.borrow().contains(&ino) { Leased::Refused } else { Leased::Held(()) })
    }

    fn may_change(&self, dir: &Ino) -> io::Result<bool> {
        self.look(|image| Ok(image.node(*dir).mode & 0o200 != 0))
    }

    fn create(&self, dir: &Ino, name: &OsStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        drop(self.step(|image| format!("create {}", image.spell((dir, name)))));
        let ino = self.make((*dir, name.into()), Body::File(Content::new(&[])), mode)?;
        // No bytes cannot be torn.
        if bytes.is_empty() {
            return Ok(());
        }
        let content = Content::new(bytes);
        Ok(self.journal.borrow_mut().change(Change::Write { ino, content })?)
    }

    fn reserve(&self, dir: &Ino, name: &OsStr, _bytes: u64) -> io::Result<()> {
        self.create(dir, name, b"", 0o600)
    }

    fn make_dir(&self, dir: &Ino, name: &OsStr, mode: u32) -> io::Result<()> {
        drop(self.step(|image| format!("make_dir {}", image.spell((dir, name)))));
        self.make((*dir, name.into()), Body::Dir(BTreeMap::new()), mode).map(drop)
    }

    fn copy_attributes(&self, from: (&Ino, &OsStr), to: (&Ino, &OsStr)) -> io::Result<()> {
        let mut journal = self.step(|image| image.spell_two("copy_attributes", from, "->", to));
        let source = journal.now.node(journal.now.find(*from.0, from.1)?).clone();
        let ino = journal.now.find(*to.0, to.1)?;
        let modified = source.is_dir().then_some(source.modified);
        let change = Change::Attributes { ino, mode: source.mode, owner: source.owner, modified };
        Ok(journal.change(change)?)
    }

    fn link(&self, from: (&Ino, &OsStr), to: (&Ino, &OsStr)) -> io::Result<()> {
        let mut journal = self.step(|image| image.spell_two("link", from, "->", to));
        let ino = journal.now.find(*from.0, from.1)?;
        if journal.now.node(ino).is_dir() {
            return Err(Errno::PERM.into());
        }
        Ok(journal.change(Change::Add { to: spot(to), ino })?)
    }

    fn rename(&self, from: (&Ino, &OsStr), to: (&Ino, &OsStr)) -> io::Result<()> {
        let mut journal = self.step(|image| image.spell_two("rename", from, "->", to));
        let ino = journal.now.find(*from.0, from.1)?;
        let over = journal.now.lookup(*to.0, to.1)?;
        Ok(journal.change(Change::Move { from: spot(from), to: spot(to), ino, over })?)
    }

    fn rename_new(&self, from: (&Ino, &OsStr), to: (&Ino, &OsStr)) -> io::Result<()> {
        let mut journal = self.step(|image| image.spell_two("rename_new", from, "->", to));
        let ino = journal.now.find(*from.0, from.1)?;
        if journal.now.lookup(*to.0, to.1)?.is_some() {
            return Err(Errno::EXIST.into());
        }
        Ok(journal.change(Change::Move { from: spot(from), to: spot(to), ino, over: None })?)
    }

    fn exchange(&self, a: (&Ino, &OsStr), b: (&Ino, &OsStr)) -> io::Result<()> {
        let mut journal = self.step(|image| image.spell_two("exchange", a, "<->", b));
        let a_ino = journal.now.find(*a.0, a.1)?;
        let b_ino = journal.now.find(*b.0, b.1)?;
        Ok(journal.change(Change::Swap { a: spot(a), a_ino, b: spot(b), b_ino })?)
    }

    fn remove_file(&self, dir: &Ino, name: &OsStr) -> io::Result<()> {
        let mut journal = self.step(|image| format!("remove_file {}", image.spell((dir, name))));
        let ino = journal.now.find(*dir, name)?;
        if journal.now.node(ino).is_dir() {
            return Err(Errno::ISDIR.into());
        }
        Ok(journal.change(Change::Drop { from: (*dir, name.into()), ino })?)
    }

    fn remove_dir(&self, dir: &Ino, name: &OsStr) -> io::Result<()> {
        let mut journal = self.step(|image| format!("remove_dir {}", image.spell((dir, name))));
        let ino = journal.now.find(*dir, name)?;
        if !journal.now.node(ino).is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        Ok(journal.change(Change::Drop { from: (*dir, name.into()), ino })?)
    }

    fn sync_file(&self, dir: &Ino, name: &OsStr) -> io::Result<()> {
        let mut journal = self.step(|image| format!("sync_file {}", image.spell((dir, name))));
        let ino = journal.now.find(*dir, name)?;
        journal.sync_file(ino);
        Ok(())
    }

    fn sync_dir(&self, dir: &Ino) -> io::Result<()> {
        self.step(|image| format!("sync_dir {}/", image.path_of(*dir))).sync_dir(*dir);
        Ok(())
    }

    fn sync_tree(&self, dir: &Ino) -> io::Result<()> {
        self.step(|image| format!("sync_tree {}/", image.path_of(*dir))).sync_tree(*dir);
        Ok(())
    }

    fn space(&self) -> io::Result<Space> {
        Ok(Space { free_bytes: 1 << 40, is_read_only: false })
    }
}

impl Image {
    fn find(&self, dir: Ino, name: &OsStr) -> Result<Ino, Errno> {
        self.lookup(dir, name)?.ok_or(Errno::NOENT)
    }

    fn spell(&self, (dir, name): (&Ino, &OsStr)) -> String {
        join(&self.path_of(*dir), name)
    }

    fn spell_two(&self, verb: &str, a: (&Ino, &OsStr), arrow: &str, b: (&Ino, &OsStr)) -> String {
        format!("{verb} {} {arrow} {}", self.spell(a), self.spell(b))
    }
}

fn spot((dir, name): (&Ino, &OsStr)) -> Spot {
    (*dir, name.into())
}

fn stat(image: &Image, ino: Ino) -> Stat {
    let node = image.node(ino);
    Stat {
        kind: node.kind(),
        mode: node.mode,
        owner: node.owner,
        links: if node.is_dir() { 2 } else { node.links },
        size: node.size(),
        inode: u64::from(ino.0),
        device: 1,
        modified_ns: nanoseconds(node.modified),
        changed_ns: nanoseconds(node.changed),
        is_mount_point: false,
        is_fixed: false,
    }
}

fn nanoseconds(tick: Tick) -> i128 {
    i128::from(tick) * TICK_NS
}

/// What one path holds, for those who set the scene and those who look at the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) bytes: Rc<[u8]>,
    pub(crate) mode: u32,
    pub(crate) inode: u32,
    pub(crate) modified: Tick,
    pub(crate) links: u64,
}

/// The hand of a person or of the test itself: paths instead of handles, durable at once, and on
/// no tape.
impl SimFs {
    /// All that is beneath a path, by paths from the top; nothing when it is not there.
    pub(crate) fn tree(&self, path: &str) -> BTreeMap<String, Seen> {
        let mut found = BTreeMap::new();
        let image = &self.journal().now;
        if let Some(ino) = image.resolve(path) {
            image.see(ino, path, &mut found);
        }
        found
    }

    /// A copy of the tree, as `cp -r` makes one.
    pub(crate) fn moved(&self) -> Self {
        let copy = Self::new();
        // So that no inode has the number that it had.
        copy.put("passing", b"");
        copy.delete("passing");
        for (path, seen) in self.tree("").iter().filter(|(path, _)| !path.is_empty()) {
            let body = match seen.kind {
                Kind::File => Body::File(Content::new(&seen.bytes)),
                Kind::Dir => Body::Dir(BTreeMap::new()),
                Kind::Symlink => Body::Symlink,
                Kind::Special => Body::Special,
            };
            copy.put_body(path, body, seen.mode);
        }
        copy.settle();
        copy
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<Rc<[u8]>> {
        let image = &self.journal().now;
        match &image.node(image.resolve(path)?).body {
            Body::File(content) => Some(content.bytes.clone()),
            _ => None,
        }
    }

    pub(crate) fn bytes_of(&self, ino: Ino) -> Option<Rc<[u8]>> {
        match &self.journal().now.node(ino).body {
            Body::File(content) => Some(content.bytes.clone()),
            _ => None,
        }
    }

    /// Adds the last name of a path to a folder that somebody stands in.
    pub(crate) fn put_in(&self, dir: Ino, path: &str, bytes: &[u8]) {
        let journal = &mut *self.journal.borrow_mut();
        let name: Rc<OsStr> = OsStr::new(path.rsplit('/').next().unwrap_or(path)).into();
        let ground = journal.now.way_to(path);
        let ino =
            journal.allocate(Node::new(Body::File(Content::new(bytes)), 0o644, journal.clock + 1));
        journal.by_hand(Change::Add { to: (dir, name), ino }, &ground);
    }

    /// Adds a file, with the directories above it, or replaces one as an editor does.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        self.put_body(path, Body::File(Content::new(bytes)), 0o644);
    }

    pub(crate) fn put_body(&self, path: &str, body: Body, mode: u32) {
        let (dir, name) = self.make_parents(path);
        let journal = &mut *self.journal.borrow_mut();
        let ground = journal.now.way_to(path);
        let ino = journal.allocate(Node::new(body, mode, journal.clock + 1));
        match journal.now.lookup(dir, &name).expect("parents are directories") {
            None => journal.by_hand(Change::Add { to: (dir, name), ino }, &ground),
            Some(over) => {
                let temp: Spot = (dir, OsStr::new(".person-temp").into());
                journal.by_hand(Change::Add { to: temp.clone(), ino }, &ground);
                let to = (dir, name);
                let change = Change::Move { from: temp, to, ino, over: Some(over) };
                journal.by_hand(change, &ground);
            }
        }
    }

    /// Somebody opens a file for writing.
    pub(crate) fn open_for_writing(&self, ino: Ino) {
        self.writers.borrow_mut().insert(ino);
    }

    pub(crate) fn close(&self, ino: Ino) {
        self.writers.borrow_mut().remove(&ino);
    }

    pub(crate) fn inode(&self, path: &str) -> Option<Ino> {
        self.journal().now.resolve(path)
    }

    /// Writes into the file that is there.
    pub(crate) fn edit_in_place(&self, path: &str, bytes: &[u8]) {
        let journal = &mut *self.journal.borrow_mut();
        let ino = journal.now.resolve(path).expect("a person edits what is there");
        let ground = [journal.now.way_to(path).as_slice(), &[ino]].concat();
        journal.by_hand(Change::Write { ino, content: Content::new(bytes) }, &ground);
    }

    /// Writes into a file by a handle to it, whatever its name is now.
    pub(crate) fn edit_inode(&self, ino: Ino, edit: impl FnOnce(&[u8]) -> Vec<u8>) {
        let journal = &mut *self.journal.borrow_mut();
        if let Body::File(content) = &journal.now.node(ino).body {
            let content = Content::new(&edit(&content.bytes));
            journal.by_hand(Change::Write { ino, content }, &[ino]);
        }
    }

    pub(crate) fn delete(&self, path: &str) {
        let journal = &mut *self.journal.borrow_mut();
        let (dir, name) = journal.now.resolve_parent(path).expect("a person deletes what is there");
        let ino = journal.now.find(dir, &name).expect("a person deletes what is there");
        let ground = journal.now.way_to(path);
        journal.by_hand(Change::Drop { from: (dir, name), ino }, &ground);
    }

    /// How many operations the running tape has.
    pub(crate) fn steps_on_tape(&self) -> usize {
        self.tape.borrow().as_ref().map_or(0, |tape| tape.points.len())
    }

    fn make_parents(&self, path: &str) -> Spot {
        let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut at = ROOT;
        for part in parents.split('/').filter(|part| !part.is_empty()) {
            let part: Rc<OsStr> = OsStr::new(part).into();
            let journal = &mut *self.journal.borrow_mut();
            let found = journal.now.lookup(at, &part).expect("parents are directories");
            at = found.unwrap_or_else(|| {
                let body = Body::Dir(BTreeMap::new());
                let ino = journal.allocate(Node::new(body, 0o755, journal.clock + 1));
                journal.by_hand(Change::Add { to: (at, part), ino }, &[at]);
                ino
            });
        }
        (at, OsStr::new(name).into())
    }
}

impl Image {
    fn resolve(&self, path: &str) -> Option<Ino> {
        let parts = path.split('/').filter(|part| !part.is_empty());
        parts.into_iter().try_fold(ROOT, |at, part| self.lookup(at, OsStr::new(part)).ok()?)
    }

    /// The directories on the way to a path, from the top.
    fn way_to(&self, path: &str) -> Vec<Ino> {
        let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
        std::iter::once("").chain(ends).filter_map(|above| self.resolve(above)).collect()
    }

    fn resolve_parent(&self, path: &str) -> Option<Spot> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        Some((self.resolve(parent)?, OsStr::new(name).into()))
    }

    fn see(&self, ino: Ino, path: &str, found: &mut BTreeMap<String, Seen>) {
        let node = self.node(ino);
        let bytes = match &node.body {
            Body::File(content) => content.bytes.clone(),
            _ => Rc::default(),
        };
        let Node { mode, modified, links, .. } = *node;
        let seen = Seen { kind: node.kind(), bytes, mode, inode: ino.0, modified, links };
        found.insert(path.to_owned(), seen);
        if let Body::Dir(entries) = &node.body {
            for (name, child) in entries {
                self.see(*child, &join(path, name), found);
            }
        }
    }
}
