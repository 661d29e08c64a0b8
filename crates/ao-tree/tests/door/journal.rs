//! What is on the platter, and what is only on its way there.
//!
//! The model is weaker than any file system people use, and atomic per operation:
//!
//! - A change of names is durable once *every* directory it touches was synced after it. Until
//!   then it may or may not have happened, independently of all other changes.
//! - A file's bytes are durable once the file was synced. Until then they may be all there, or
//!   none, or half of them, or a full length of zeros.
//! - Attributes are changes like any other, durable with a sync of what they belong to: a crash
//!   that loses a `chmod` is as real as one that loses a name, and costs the model nothing.
//! - What is durably removed needs no sync of its own any more: whatever was pending inside that
//!   directory, or in that file's bytes, is decided.
//!
//! After a crash the chosen changes are replayed in order; one that finds its ground gone is
//! skipped. An inode number is never used twice.

use std::ffi::OsStr;
use std::rc::Rc;

use rustix::io::Errno;

use crate::image::{By, Change, Content, Image, Ino, Node, Spot, Tick, Times};

/// How one pending change comes out of a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Not on disk; of a write: the file is empty.
    Lost,
    Kept,
    /// Half of the bytes.
    Half,
    /// The length is there, the bytes are not.
    Zeros,
}

impl Fate {
    pub(crate) const OF_A_NAME: &[Self] = &[Self::Lost, Self::Kept];
    pub(crate) const OF_BYTES: &[Self] = &[Self::Lost, Self::Kept, Self::Half, Self::Zeros];
}

#[derive(Debug, Clone)]
struct Pending {
    change: Rc<Change>,
    tick: Tick,
    /// What must be synced before this change is durable; none left: it is.
    awaiting: [Option<Ino>; 2],
}

impl Pending {
    fn is_durable(&self) -> bool {
        self.awaiting == [None, None]
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Journal {
    /// What every process sees.
    pub(crate) now: Image,
    /// What a crash leaves for certain.
    disk: Image,
    /// In order; durable ones wait here only for an earlier one that touches the same inode.
    log: Vec<Pending>,
    pub(crate) clock: Tick,
}

impl Journal {
    pub(crate) fn new() -> Self {
        let image = Image::new();
        Self { now: image.clone(), disk: image, log: Vec::new(), clock: 1 }
    }

    /// An inode without a name costs nothing, so that it is on disk at once.
    pub(crate) fn allocate(&mut self, node: Node) -> Ino {
        let node = Rc::new(node);
        self.disk.allocate(node.clone());
        self.now.allocate(node)
    }

    pub(crate) fn change(&mut self, change: Change) -> Result<(), Errno> {
        self.now.apply(&change, self.clock + 1, By::Process)?;
        self.clock += 1;
        let awaiting = awaited(&change);
        self.log.push(Pending { change: Rc::new(change), tick: self.clock, awaiting });
        Ok(())
    }

    /// A change by someone who syncs what they do, and with it the ground they stand on: a file
    /// that was saved in a directory is there after a crash, and so is the way to it.
    pub(crate) fn by_hand(&mut self, change: Change, ground: &[Ino]) {
        self.change(change).expect("a person does only what is possible");
        for pending in &mut self.log {
            if awaited(&pending.change).iter().flatten().any(|ino| ground.contains(ino)) {
                pending.awaiting = [None, None];
            }
        }
        self.log.last_mut().expect("just logged").awaiting = [None, None];
        self.sync(&[]);
    }

    pub(crate) fn sync_file(&mut self, file: Ino) {
        self.sync(&[file]);
    }

    pub(crate) fn sync_dir(&mut self, dir: Ino) {
        self.sync(&[dir]);
    }

    pub(crate) fn sync_tree(&mut self, dir: Ino) {
        self.sync(&self.now.beneath(dir));
    }

    /// All that was ever done is durable, as after a clean shutdown.
    pub(crate) fn settle(&mut self) {
        self.disk = self.now.clone();
        self.log.clear();
    }

    fn sync(&mut self, inos: &[Ino]) {
        self.clock += 1;
        let mut synced = vec![false; self.now.len()];
        inos.iter().for_each(|ino| synced[ino.0 as usize] = true);
        loop {
            for pending in &mut self.log {
                for slot in &mut pending.awaiting {
                    slot.take_if(|ino| synced[ino.0 as usize]);
                }
            }
            let gone = self.log.iter().filter(|pending| pending.is_durable()).find_map(|pending| {
                let ino = self.removed(&pending.change)?;
                (!synced[ino.0 as usize]).then_some(ino)
            });
            match gone {
                Some(ino) => synced[ino.0 as usize] = true,
                None => break,
            }
        }
        self.fold();
    }

    /// The inode that lost its last name by this change, if it did.
    fn removed(&self, change: &Change) -> Option<Ino> {
        let ino = match change {
            Change::Drop { ino, .. } => *ino,
            Change::Move { over, .. } => (*over)?,
            _ => return None,
        };
        (self.now.node(ino).links == 0).then_some(ino)
    }

    /// Moves durable changes to the disk, unless an earlier pending one is about the same inodes.
    fn fold(&mut self) {
        let mut blocked = vec![false; self.now.len()];
        let disk = &mut self.disk;
        self.log.retain(|pending| {
            let touched = touched(&pending.change);
            let mut inos = touched.iter().flatten();
            if pending.is_durable() && !inos.any(|ino| blocked[ino.0 as usize]) {
                // A replayed change whose ground is gone is skipped; that is the model.
                let certain = By::Replay { is_certain: true };
                let _ = disk.apply(&pending.change, pending.tick, certain);
                return false;
            }
            touched.iter().flatten().for_each(|ino| blocked[ino.0 as usize] = true);
            true
        });
    }

    /// A number for all that a process could find out by looking.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.now.fingerprint(Times::All)
    }

    /// As [`Self::fingerprint`], of what a judge looks at: whatever happened on the way, two trees
    /// that look the same are judged the same.
    pub(crate) fn appearance(&self) -> u64 {
        self.now.fingerprint(Times::OfFiles)
    }

    /// How many syncs are still awaited, all in all.
    pub(crate) fn waits(&self) -> usize {
        self.log.iter().map(|pending| pending.awaiting.iter().flatten().count()).sum()
    }

    /// What the newest change awaits; `None` when it was made with others or synced at once.
    pub(crate) fn newest_wait(&self) -> Option<[Option<Ino>; 2]> {
        self.wait_of(self.clock)
    }

    /// What the change of this tick awaits, if it is still pending.
    pub(crate) fn wait_of(&self, tick: Tick) -> Option<[Option<Ino>; 2]> {
        self.log.iter().find(|pending| pending.tick == tick).map(|pending| pending.awaiting)
    }

    /// Whether the marker's name is still on its way to the disk.
    pub(crate) fn waits_for_marker(&self) -> bool {
        let is_marker = |name: &OsStr| name.to_string_lossy().starts_with("COMMIT-MARKER.");
        self.log.iter().any(|pending| match &*pending.change {
            Change::Move { to, .. } => !pending.is_durable() && is_marker(&to.1),
            _ => false,
        })
    }

    /// Whether the newest changes of two states are about different names and inodes.
    pub(crate) fn are_independent(one: &Self, other: &Self) -> bool {
        let newest = |journal: &Self| journal.log.last().map(|pending| pending.change.clone());
        let (Some(one), Some(other)) = (newest(one), newest(other)) else { return false };
        let (one, other) = (subjects(&one), subjects(&other));
        let is_apart = |spots: &[&Spot], inos: &[Ino], others: &(Vec<&Spot>, Vec<Ino>)| {
            let spots_apart = spots.iter().all(|(dir, name)| {
                !others.1.contains(dir)
                    && !others.0.iter().any(|spot| spot.0 == *dir && spot.1 == *name)
            });
            spots_apart && !inos.iter().any(|ino| others.1.contains(ino))
        };
        is_apart(&one.0, &one.1, &other) && is_apart(&other.0, &other.1, &one)
    }

    /// The fates that each pending change may meet, in order.
    pub(crate) fn open_fates(&self) -> Vec<&'static [Fate]> {
        let pending = self.log.iter().filter(|pending| !pending.is_durable());
        pending
            .map(|pending| match *pending.change {
                Change::Write { .. } => Fate::OF_BYTES,
                _ => Fate::OF_A_NAME,
            })
            .collect()
    }

    /// The pending changes in words, in the same order.
    pub(crate) fn spell_open(&self) -> Vec<String> {
        let pending = self.log.iter().filter(|pending| !pending.is_durable());
        pending.map(|pending| self.now.spell_change(&pending.change)).collect()
    }

    /// The file system after power loss, when the pending changes meet these fates.
    pub(crate) fn crash(&self, fates: &[Fate]) -> Self {
        let mut disk = self.disk.clone();
        let mut fates = fates.iter();
        for pending in &self.log {
            let is_certain = pending.is_durable();
            let fate = if is_certain { Some(&Fate::Kept) } else { fates.next() };
            let fate = *fate.expect("one fate for each pending change");
            replay(&mut disk, pending, fate, By::Replay { is_certain });
        }
        disk.forget_unreachable();
        Self { now: disk.clone(), disk, log: Vec::new(), clock: self.clock + 1 }
    }
}

fn replay(disk: &mut Image, pending: &Pending, fate: Fate, by: By) {
    if fate == Fate::Kept {
        // As in `fold`: skipped when its ground is gone.
        let _ = disk.apply(&pending.change, pending.tick, by);
    } else if let Change::Write { ino, content } = &*pending.change {
        disk.write(*ino, torn(content, fate), pending.tick);
    }
}

fn torn(content: &Content, fate: Fate) -> Content {
    let bytes = &content.bytes;
    match fate {
        Fate::Kept => content.clone(),
        Fate::Lost => Content::new(&[]),
        Fate::Half => Content::new(&bytes[..bytes.len() / 2]),
        Fate::Zeros => Content::new(&vec![0; bytes.len()]),
    }
}

/// The places that a change writes, and the inodes that it gives and takes names.
fn subjects(change: &Change) -> (Vec<&Spot>, Vec<Ino>) {
    match change {
        Change::Add { to, ino } => (vec![to], vec![*ino]),
        Change::Move { from, to, ino, over } => {
            (vec![from, to], over.iter().copied().chain([*ino]).collect())
        }
        Change::Swap { a, a_ino, b, b_ino } => (vec![a, b], vec![*a_ino, *b_ino]),
        Change::Drop { from, ino } => (vec![from], vec![*ino]),
        Change::Write { ino, .. } | Change::Attributes { ino, .. } => (vec![], vec![*ino]),
    }
}

/// What must be synced for a change to be durable.
fn awaited(change: &Change) -> [Option<Ino>; 2] {
    match change {
        Change::Add { to, .. } => [Some(to.0), None],
        Change::Move { from, to, .. } => [Some(from.0), Some(to.0)],
        Change::Swap { a, b, .. } => [Some(a.0), Some(b.0)],
        Change::Drop { from, .. } => [Some(from.0), None],
        Change::Write { ino, .. } | Change::Attributes { ino, .. } => [Some(*ino), None],
    }
}

/// All inodes that a change reads or writes.
fn touched(change: &Change) -> [Option<Ino>; 4] {
    match change {
        Change::Add { to, ino } => [Some(to.0), Some(*ino), None, None],
        Change::Move { from, to, ino, over } => [Some(from.0), Some(to.0), Some(*ino), *over],
        Change::Swap { a, a_ino, b, b_ino } => [Some(a.0), Some(b.0), Some(*a_ino), Some(*b_ino)],
        Change::Drop { from, ino } => [Some(from.0), Some(*ino), None, None],
        Change::Write { ino, .. } | Change::Attributes { ino, .. } => {
            [Some(*ino), None, None, None]
        }
    }
}
