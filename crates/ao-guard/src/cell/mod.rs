//! The cell: a place in which a foreign program can do its work and nothing else.
//!
//! A second process of this same binary (the holder) stays outside, and a third (the first process
//! of the cell) builds the walls from inside and takes them down with its own death. The program
//! itself is the fourth. Before it starts, its process attacks the walls that were just built.
//!
//! ```text
//! ao ──socket── holder ──┤ first process ── program ── its children
//!  └───── stdout, stderr ┤─────────────────────┘
//! ```
//!
//! What holds what, and what is not reached, is said in `docs/cell.md`.

mod attack;
mod authorization;
mod build;
mod calls;
mod cells;
mod confine;
mod cover;
mod door;
mod echo;
mod filter;
mod first;
mod gateway;
mod grant;
mod hidden;
mod holder;
mod late;
mod layer;
mod links;
mod maps;
mod merge;
mod message;
mod order;
mod paths;
mod policy;
mod readable;
mod report;
mod request;
mod rules;
mod scratch;
mod start;
mod supervise;
mod sys;
mod tier;
mod tls;
mod view;
mod writes;

pub use authorization::{Authorization, BadAuthorization};
pub use cells::{Around, Caught, Cells};
pub use echo::FILLERS;
pub use grant::{BadGrant, Grant};
pub use hidden::Hidden;
pub(crate) use holder::serve;
pub use layer::{Layer, Missing};
pub use order::{Begins, Cell, Limits, Outside, Toolchain};
pub use paths::{PathRefusal, Place, admit};
pub use report::{Bytes, Finish, Limit, Refusal, Refused, Report};
pub use scratch::Scratch;
pub use supervise::{Sink, Source};
pub use tier::{Floor, Tier, UnknownTier};
pub use writes::{Change, Snapshot, Stamp, Write, between, snapshot, upper_writes};
