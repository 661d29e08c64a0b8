//! Somebody else who works in the same tree, while the door does.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use ao_tree::Fs;

use crate::image::Ino;
use crate::sim::SimFs;
use crate::tap::{Call, Policy, Tap, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Writes a new file, or replaces the one there by a rename as editors do.
    Put,
    /// Writes into the file that is there.
    EditInPlace,
    /// Adds a line to the file that is there.
    Append,
    Delete,
    /// Writes into the file that was there when the commit began, through a handle kept open.
    EditThroughHandle,
    AppendThroughHandle,
    /// Writes a new file into the folder in which they stood when the commit began.
    PutFromWithin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) deed: Deed,
    pub(crate) path: &'static str,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.deed, self.path)
    }
}

/// Files that [`crate::scenario::short`] changes, deletes and adds, and files that it leaves alone.
pub(crate) const ACTS: &[Act] = &[
    Act { deed: Deed::Put, path: "learnings/person.md" },
    Act { deed: Deed::Put, path: "learnings/person/inner.md" },
    Act { deed: Deed::Put, path: "learnings/keep.md" },
    Act { deed: Deed::Put, path: "learnings/a.md" },
    Act { deed: Deed::Put, path: "learnings/b.md" },
    Act { deed: Deed::Put, path: "knowledge/k.md" },
    Act { deed: Deed::Put, path: "knowledge/person.md" },
    Act { deed: Deed::Put, path: "findings/f2.md" },
    Act { deed: Deed::Put, path: "patterns/p.md" },
    Act { deed: Deed::EditInPlace, path: "learnings/keep.md" },
    Act { deed: Deed::EditInPlace, path: "learnings/a.md" },
    Act { deed: Deed::EditInPlace, path: "learnings/b.md" },
    Act { deed: Deed::Append, path: "learnings/log.jsonl" },
    Act { deed: Deed::Append, path: "rpi/next-work.jsonl" },
    Act { deed: Deed::Delete, path: "learnings/keep.md" },
    Act { deed: Deed::Delete, path: "learnings/sub/deep.md" },
    Act { deed: Deed::Delete, path: "learnings/a.md" },
    Act { deed: Deed::Delete, path: "rpi/next-work.jsonl" },
    Act { deed: Deed::EditThroughHandle, path: "learnings/keep.md" },
    Act { deed: Deed::EditThroughHandle, path: "learnings/a.md" },
    Act { deed: Deed::EditThroughHandle, path: "learnings/b.md" },
    Act { deed: Deed::AppendThroughHandle, path: "learnings/a.md" },
    Act { deed: Deed::AppendThroughHandle, path: "rpi/next-work.jsonl" },
    Act { deed: Deed::PutFromWithin, path: "learnings/person.md" },
    Act { deed: Deed::PutFromWithin, path: "findings/person.md" },
];

/// An act at a call, with what this person writes: no two write the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) at: usize,
    pub(crate) act: Act,
    pub(crate) number: usize,
}

/// What a person found at their path, and when they came.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) visit: Visit,
    pub(crate) saw: Option<Rc<[u8]>>,
    /// Before this operation of the tape.
    pub(crate) at_step: usize,
}

impl Visit {
    pub(crate) fn text(&self) -> Vec<u8> {
        format!("what person {} wrote\n", self.number).into_bytes()
    }

    pub(crate) fn line(&self) -> Vec<u8> {
        format!("{{\"id\":\"of person {}\"}}\n", self.number).into_bytes()
    }

    pub(crate) fn appends(&self) -> bool {
        matches!(self.act.deed, Deed::Append | Deed::AppendThroughHandle)
    }

    pub(crate) fn holds_open(&self) -> bool {
        matches!(
            self.act.deed,
            Deed::EditThroughHandle | Deed::AppendThroughHandle | Deed::PutFromWithin
        )
    }

    /// `None` when there was nothing to do it to.
    pub(crate) fn perform(&self, fs: &SimFs, handle: Option<Ino>) -> Option<Done> {
        let path = self.act.path;
        let saw = match handle {
            Some(ino) if self.act.deed != Deed::PutFromWithin => fs.bytes_of(ino),
            _ => fs.bytes(path),
        };
        let added = |bytes: &[u8]| [bytes, &self.line()].concat();
        match (self.act.deed, &saw, handle) {
            (Deed::Put, ..) => fs.put(path, &self.text()),
            (Deed::EditInPlace, Some(_), _) => fs.edit_in_place(path, &self.text()),
            (Deed::Append, Some(bytes), _) => fs.edit_in_place(path, &added(bytes)),
            (Deed::Delete, Some(_), _) => fs.delete(path),
            (Deed::EditThroughHandle, _, Some(ino)) => fs.edit_inode(ino, |_| self.text()),
            (Deed::AppendThroughHandle, _, Some(ino)) => fs.edit_inode(ino, added),
            (Deed::PutFromWithin, None, Some(ino)) => fs.put_in(ino, path, &self.text()),
            _ => return None,
        }
        if let Some(ino) = handle {
            fs.close(ino);
        }
        Some(Done { visit: *self, saw, at_step: fs.steps_on_tape() })
    }
}

/// Comes by at the calls of their visits.
#[derive(Debug)]
pub(crate) struct People {
    visits: Vec<(Visit, Option<Ino>)>,
    calls: Cell<usize>,
    done: RefCell<Vec<Done>>,
}

pub(crate) type PeopledFs = Tap<SimFs, People>;

impl People {
    /// Whoever holds a file open opened it now.
    pub(crate) fn new(visits: &[Visit], fs: &SimFs) -> Self {
        let opened = |visit: &Visit| {
            let path = visit.act.path;
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_within = visit.act.deed == Deed::PutFromWithin;
            let handle = fs.inode(if is_within { folder } else { path });
            if let Some(ino) = handle.filter(|_| visit.holds_open()) {
                fs.open_for_writing(ino);
            }
            (*visit, handle.filter(|_| visit.holds_open()))
        };
        Self {
            visits: visits.iter().map(opened).collect(),
            calls: Cell::new(0),
            done: RefCell::default(),
        }
    }

    /// Who came when all was done.
    pub(crate) fn come_late(&self, fs: &SimFs) {
        for (visit, handle) in self.visits.iter().filter(|visit| visit.0.at >= self.calls.get()) {
            self.done.borrow_mut().extend(visit.perform(fs, *handle));
        }
    }

    /// What came of the visits, in order; one that found nothing to do is not there.
    pub(crate) fn done(&self) -> Vec<Done> {
        self.done.borrow().clone()
    }
}

impl Policy<SimFs> for People {
    fn before(&self, fs: &SimFs, _call: &Call<<SimFs as Fs>::Dir>) -> Verdict {
        let call = self.calls.replace(self.calls.get() + 1);
        for (visit, handle) in self.visits.iter().filter(|(visit, _)| visit.at == call) {
            self.done.borrow_mut().extend(visit.perform(fs, *handle));
        }
        Verdict::Go
    }
}
