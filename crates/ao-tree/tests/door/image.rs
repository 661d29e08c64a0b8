//! One state of a file system: inodes, and the names that lead to them.
//!
//! The running file system and the bytes on the platter are both an [`Image`], and both change by
//! the same [`Change`]s. A change names the inodes it is about, so that one which is replayed after
//! a crash finds out by itself that what it was made for is not there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use ao_tree::Kind;
use rustix::io::Errno;

pub(crate) type Name = Rc<OsStr>;
/// The logical clock: one tick an operation.
pub(crate) type Tick = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ino(pub(crate) u32);

pub(crate) const ROOT: Ino = Ino(0);

impl Ino {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A hasher for images: they are hashed by the hundred thousand, and nobody attacks them.
#[derive(Debug, Default)]
struct Quick(u64);

impl Quick {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word) ^ (chunk.len() as u64) << 56);
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// A file's bytes, with their digest beside them so that an image is hashed without reading them.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) bytes: Rc<[u8]>,
    digest: u64,
}

impl Content {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut hasher = Quick::default();
        bytes.hash(&mut hasher);
        Self { bytes: bytes.into(), digest: hasher.finish() }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    File(Content),
    Dir(BTreeMap<Name, Ino>),
    Symlink,
    Special,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) body: Body,
    /// Names that lead here. A directory has one, and none once it was removed.
    pub(crate) links: u64,
    pub(crate) mode: u32,
    pub(crate) owner: u32,
    pub(crate) modified: Tick,
    pub(crate) changed: Tick,
}

impl Node {
    pub(crate) fn new(body: Body, mode: u32, tick: Tick) -> Self {
        Self { body, links: 0, mode, owner: 1000, modified: tick, changed: tick }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) => Kind::File,
            Body::Dir(_) => Kind::Dir,
            Body::Symlink => Kind::Symlink,
            Body::Special => Kind::Special,
        }
    }

    pub(crate) fn is_dir(&self) -> bool {
        matches!(self.body, Body::Dir(_))
    }

    pub(crate) fn size(&self) -> u64 {
        match &self.body {
            Body::File(content) => content.bytes.len() as u64,
            Body::Dir(entries) => entries.len() as u64,
            Body::Symlink | Body::Special => 0,
        }
    }
}

/// A place in a directory.
pub(crate) type Spot = (Ino, Name);

/// One atomic change. Create, make-directory and link are all [`Change::Add`].
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Add { to: Spot, ino: Ino },
    Move { from: Spot, to: Spot, ino: Ino, over: Option<Ino> },
    Swap { a: Spot, a_ino: Ino, b: Spot, b_ino: Ino },
    Drop { from: Spot, ino: Ino },
    Write { ino: Ino, content: Content },
    Attributes { ino: Ino, mode: u32, owner: u32, modified: Option<Tick> },
}

/// For whom a change is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// A process: the rules of system calls hold.
    Process,
    /// The disk, after a crash: a directory may have lost its own name and still be changed, and
    /// one whose removal is certain goes with all that is in it, because whatever had emptied it
    /// may be lost.
    Replay { is_certain: bool },
}

/// Which times count when two images are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    All,
    /// When files were last written. Directories were written whenever a name in them was.
    OfFiles,
}

#[derive(Debug, Clone)]
pub(crate) struct Image {
    nodes: Vec<Rc<Node>>,
}

impl Image {
    pub(crate) fn new() -> Self {
        let mut root = Node::new(Body::Dir(BTreeMap::new()), 0o755, 0);
        root.links = 1;
        Self { nodes: vec![Rc::new(root)] }
    }

    /// Gives the node the next inode number. It has no name yet.
    pub(crate) fn allocate(&mut self, node: Rc<Node>) -> Ino {
        self.nodes.push(node);
        Ino(u32::try_from(self.nodes.len() - 1).expect("a simulated disk is small"))
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, ino: Ino) -> &Node {
        &self.nodes[ino.index()]
    }

    pub(crate) fn node_mut(&mut self, ino: Ino) -> &mut Node {
        Rc::make_mut(&mut self.nodes[ino.index()])
    }

    /// The names in a directory. A removed one has none, whoever still holds it open.
    pub(crate) fn entries(&self, dir: Ino) -> Result<&BTreeMap<Name, Ino>, Errno> {
        match &self.node(dir).body {
            Body::Dir(entries) => Ok(entries),
            _ => Err(Errno::NOTDIR),
        }
    }

    pub(crate) fn lookup(&self, dir: Ino, name: &OsStr) -> Result<Option<Ino>, Errno> {
        Ok(self.entries(dir)?.get(name).copied())
    }

    pub(crate) fn apply(&mut self, change: &Change, tick: Tick, by: By) -> Result<(), Errno> {
        match change {
            Change::Add { to, ino } => self.add(to, *ino, tick, by),
            Change::Move { from, to, ino, .. } => self.rename(from, to, *ino, tick, by),
            Change::Swap { a, a_ino, b, b_ino } => self.swap((a, *a_ino), (b, *b_ino), tick, by),
            Change::Drop { from, ino } => self.remove(from, *ino, tick, by),
            Change::Write { ino, content } => {
                self.write(*ino, content.clone(), tick);
                Ok(())
            }
            Change::Attributes { ino, mode, owner, modified } => {
                let node = self.node_mut(*ino);
                (node.mode, node.owner, node.changed) = (*mode, *owner, tick);
                node.modified = modified.unwrap_or(node.modified);
                Ok(())
            }
        }
    }

    pub(crate) fn write(&mut self, ino: Ino, content: Content, tick: Tick) {
        let node = self.node_mut(ino);
        (node.body, node.modified, node.changed) = (Body::File(content), tick, tick);
    }

    fn add(&mut self, to: &Spot, ino: Ino, tick: Tick, by: By) -> Result<(), Errno> {
        self.expect_live(to.0, by)?;
        if self.lookup(to.0, &to.1)?.is_some() {
            return Err(Errno::EXIST);
        }
        self.set_name(to, ino, tick);
        Ok(())
    }

    fn rename(
        &mut self,
        from: &Spot,
        to: &Spot,
        ino: Ino,
        tick: Tick,
        by: By,
    ) -> Result<(), Errno> {
        self.expect_at(from, ino, by)?;
        self.expect_live(to.0, by)?;
        self.expect_outside(ino, to.0)?;
        if let Some(over) = self.lookup(to.0, &to.1)? {
            // Two names of one file: the system call does nothing and says it went well.
            if over == ino {
                return Ok(());
            }
            match (self.node(ino).is_dir(), self.node(over).is_dir()) {
                (true, false) => return Err(Errno::NOTDIR),
                (false, true) => return Err(Errno::ISDIR),
                _ => self.clear_name(to, over, tick, by)?,
            }
        }
        self.take_name(from, ino, tick);
        self.set_name(to, ino, tick);
        Ok(())
    }

    fn swap(&mut self, a: (&Spot, Ino), b: (&Spot, Ino), tick: Tick, by: By) -> Result<(), Errno> {
        self.expect_at(a.0, a.1, by)?;
        self.expect_at(b.0, b.1, by)?;
        self.expect_outside(a.1, b.0.0)?;
        self.expect_outside(b.1, a.0.0)?;
        self.take_name(a.0, a.1, tick);
        self.take_name(b.0, b.1, tick);
        self.set_name(a.0, b.1, tick);
        self.set_name(b.0, a.1, tick);
        Ok(())
    }

    fn remove(&mut self, from: &Spot, ino: Ino, tick: Tick, by: By) -> Result<(), Errno> {
        self.expect_at(from, ino, by)?;
        self.clear_name(from, ino, tick, by)
    }

    /// A directory without a name is gone: no process can put anything into it.
    fn expect_live(&self, dir: Ino, by: By) -> Result<(), Errno> {
        if by == By::Process && self.node(dir).links == 0 { Err(Errno::NOENT) } else { Ok(()) }
    }

    fn expect_at(&self, spot: &Spot, ino: Ino, by: By) -> Result<(), Errno> {
        self.expect_live(spot.0, by)?;
        if self.lookup(spot.0, &spot.1)? == Some(ino) { Ok(()) } else { Err(Errno::NOENT) }
    }

    /// A directory cannot be moved beneath itself.
    fn expect_outside(&self, moved: Ino, into: Ino) -> Result<(), Errno> {
        let Body::Dir(entries) = &self.node(moved).body else { return Ok(()) };
        if moved == into {
            return Err(Errno::INVAL);
        }
        entries.values().try_for_each(|child| self.expect_outside(*child, into))
    }

    fn set_name(&mut self, spot: &Spot, ino: Ino, tick: Tick) {
        self.touch_names(spot.0, tick).insert(spot.1.clone(), ino);
        let node = self.node_mut(ino);
        (node.links, node.changed) = (node.links + 1, tick);
    }

    fn take_name(&mut self, spot: &Spot, ino: Ino, tick: Tick) {
        self.touch_names(spot.0, tick).remove(&spot.1);
        let node = self.node_mut(ino);
        (node.links, node.changed) = (node.links - 1, tick);
    }

    /// As [`Self::take_name`], for good: a directory must be empty or loses what is in it.
    fn clear_name(&mut self, spot: &Spot, ino: Ino, tick: Tick, by: By) -> Result<(), Errno> {
        if let Body::Dir(entries) = &self.node(ino).body
            && !entries.is_empty()
        {
            if by != (By::Replay { is_certain: true }) {
                return Err(Errno::NOTEMPTY);
            }
            for (name, child) in entries.clone() {
                self.clear_name(&(ino, name), child, tick, by)?;
            }
        }
        self.take_name(spot, ino, tick);
        Ok(())
    }

    fn touch_names(&mut self, dir: Ino, tick: Tick) -> &mut BTreeMap<Name, Ino> {
        let node = self.node_mut(dir);
        (node.modified, node.changed) = (tick, tick);
        match &mut node.body {
            Body::Dir(entries) => entries,
            _ => unreachable!("checked by expect_live and lookup"),
        }
    }

    /// Forgets what no name leads to, as a file system check does, and counts links anew.
    pub(crate) fn forget_unreachable(&mut self) {
        let mut links = vec![0; self.nodes.len()];
        for ino in self.beneath(ROOT) {
            links[ino.index()] += 1;
        }
        for (node, links) in self.nodes.iter_mut().zip(links) {
            if node.links != links {
                Rc::make_mut(node).links = links;
            }
        }
    }

    /// Every inode beneath and including this one, once for each name.
    pub(crate) fn beneath(&self, top: Ino) -> Vec<Ino> {
        let mut found = vec![top];
        let mut next = 0;
        while let Some(ino) = found.get(next).copied() {
            if let Body::Dir(entries) = &self.node(ino).body {
                found.extend(entries.values());
            }
            next += 1;
        }
        found
    }

    /// The path by which a directory is reached now, for a reader of the trace.
    pub(crate) fn path_of(&self, dir: Ino) -> String {
        self.find_path(ROOT, dir, "").unwrap_or_else(|| format!("(removed directory {})", dir.0))
    }

    fn find_path(&self, at: Ino, wanted: Ino, path: &str) -> Option<String> {
        if at == wanted {
            return Some(path.to_owned());
        }
        let Body::Dir(entries) = &self.node(at).body else { return None };
        entries.iter().find_map(|(name, child)| self.find_path(*child, wanted, &join(path, name)))
    }

    /// A change in words; a directory that moved since is named by where it is now.
    pub(crate) fn spell_change(&self, change: &Change) -> String {
        let spot = |spot: &Spot| join(&self.path_of(spot.0), &spot.1);
        match change {
            Change::Add { to, ino } => format!("name {} of inode {}", spot(to), ino.0),
            Change::Move { from, to, .. } => format!("move {} -> {}", spot(from), spot(to)),
            Change::Swap { a, b, .. } => format!("exchange {} <-> {}", spot(a), spot(b)),
            Change::Drop { from, ino } => format!("removal of {} (inode {})", spot(from), ino.0),
            Change::Write { ino, content } => {
                format!("{} bytes of inode {}", content.bytes.len(), ino.0)
            }
            Change::Attributes { ino, mode, .. } => format!("mode {mode:o} of inode {}", ino.0),
        }
    }

    /// A number for all that a process could find out by looking: names, inodes, bytes, attributes.
    pub(crate) fn fingerprint(&self, times: Times) -> u64 {
        let mut hasher = Quick::default();
        self.hash_node(ROOT, times, &mut hasher);
        hasher.finish()
    }

    fn hash_node(&self, ino: Ino, times: Times, hasher: &mut Quick) {
        let node = self.node(ino);
        (ino, node.links, node.mode).hash(hasher);
        match times {
            Times::All => (node.modified, node.changed).hash(hasher),
            Times::OfFiles if !node.is_dir() => node.modified.hash(hasher),
            Times::OfFiles => {}
        }
        match &node.body {
            Body::File(content) => content.digest.hash(hasher),
            Body::Dir(entries) => {
                entries.len().hash(hasher);
                for (name, child) in entries {
                    name.hash(hasher);
                    self.hash_node(*child, times, hasher);
                }
            }
            Body::Symlink => 1_u8.hash(hasher),
            Body::Special => 2_u8.hash(hasher),
        }
    }
}

pub(crate) fn join(path: &str, name: &OsStr) -> String {
    let name = name.display();
    if path.is_empty() { name.to_string() } else { format!("{path}/{name}") }
}
