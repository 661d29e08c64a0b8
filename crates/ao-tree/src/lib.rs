//! The door: the only room that writes a user's tree.
//!
//! A transaction is proposed as edits, staged beside the tree as a whole new state, made durable,
//! decided by one marker, exchanged in, recorded, and can be taken back. Whatever happens on the
//! way, the tree is afterwards wholly what it was or wholly what it should become.
//!
//! What may be relied on:
//! - A file is always wholly old or wholly new, and so is each held part.
//! - A reader that shares `commit.lock` ([`share`]) or compares the generation counter sees exactly
//!   one generation of all parts.
//! - A raw reader of several parts may, for an instant, combine two generations.
//! - What others write meanwhile is never lost.
//!
//! The door knows no lane: what it holds is said by a [`Layout`].

mod apply;
mod chained;
mod commit;
mod compare;
mod diff;
mod disk;
mod door;
mod error;
mod expire;
mod fs;
mod history;
mod ignored;
mod late;
mod layout;
mod leftovers;
mod lock;
pub mod own_file;
mod past;
mod path;
mod plan;
mod preflight;
mod private;
mod recover;
mod script;
mod snapshot;
mod stage;
mod undo;
mod verify;
mod write;

pub use apply::{FinalEdits, Judge, Outcome, Preview, Request, Stop};
pub use chained::{put_program, take_program};
pub use diff::FileDiff;
pub use disk::Disk;
pub use door::{Door, Doubt};
pub use error::{Error, Result};
pub use fs::{Entry, Fs, Kind, Name, Space, Stat};
pub use ignored::{IGNORED, IGNORED_TEXT};
pub use layout::{Held, Layout};
pub use leftovers::sweep;
pub use lock::{Holder, ReadLock, RunLock, at_work, holder, host, process_start, share};
pub use past::{Kept, Past, Uncertain};
pub use path::{TreePath, fold, shown};
pub use plan::{Action, EDITS_MAX, Edit, FILE_BYTES_MAX, Refused, Seen};
pub use private::{make_private_folder, replace_private, write_private};
pub use recover::Recovery;
pub use snapshot::Left;
pub use undo::{UndoPlan, UndoScope};
pub use verify::{Damage, Verification};
pub use write::{
    append_line, append_note, cut_end, make_folders, may_be_written, move_aside, remove_all,
    remove_cache, remove_settings, replace_cache, replace_file, replace_settings,
};
