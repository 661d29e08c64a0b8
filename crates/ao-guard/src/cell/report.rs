//! How it went in the cell.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::layer::{Layer, Missing};
use super::tier::{Floor, Tier};

/// A bound at which everything in a cell is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    Time,
    Output,
    Memory,
    Processes,
}

impl Limit {
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Output => "output",
            Self::Memory => "memory",
            Self::Processes => "processes",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    Exited(i32),
    Signalled(i32),
    /// It went too far, and everything was ended.
    Ended(Limit),
    /// A secret came to be in a project, and everything was ended before it was read, if that was in time.
    Exposed,
    /// The one who wanted it no longer does.
    Stopped,
    /// The first process of the cell ended before it could say how the program did.
    Lost,
}

/// What one stream brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bytes {
    pub counted: u64,
}

/// Something that this program refused by itself, with its rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    pub rule: String,
    pub what: String,
}

/// A program that has ended, and its cell with it.
#[derive(Debug, Clone)]
pub struct Report {
    pub tier: Tier,
    /// What this tier does not have.
    pub missing: Vec<Missing>,
    /// So many attacks were tried from inside before the start; none came through.
    pub attacks_held: u32,
    pub finish: Finish,
    pub stdout: Bytes,
    pub stderr: Bytes,
    pub refused: Vec<Refused>,
    /// Through the network door.
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub took: Duration,
    pub cpu: Duration,
    /// Of the largest process.
    pub memory_bytes: u64,
    /// So many processes were still there when the program ended, and were ended.
    pub left_behind: u32,
    pub survivors: u32,
}

/// Nothing was started, or it was ended before it could do anything.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(
        "this machine can hold a program only in tier {tier}, and the floor is {floor}: {}",
        shown(missing)
    )]
    BelowFloor { tier: Tier, floor: Floor, missing: Vec<Missing> },
    #[error("the cell cannot be built: {}: {why}", layer.name())]
    CannotBuild { layer: Layer, why: String },
    #[error("the cell does not hold: {}", escapes(attacks))]
    Escaped { attacks: Vec<(Layer, String)> },
    #[error("{what} needs tier A, and this machine has tier {tier}: {}", shown(missing))]
    NeedsTierA { what: &'static str, tier: Tier, missing: Vec<Missing> },
    #[error("could not start {}: {source}", program.display())]
    NotStarted { program: PathBuf, source: io::Error },
    #[error("could not make the cell: {0}")]
    Io(#[from] io::Error),
    #[error("the holder of the cell was ended from outside")]
    HolderLost,
    #[error("this is a cell already, and a cell has none in it")]
    Inside,
}

fn shown(missing: &[Missing]) -> String {
    let each: Vec<_> =
        missing.iter().map(|one| format!("{} ({})", one.layer.name(), one.why)).collect();
    each.join(", ")
}

fn escapes(attacks: &[(Layer, String)]) -> String {
    let each: Vec<_> = attacks
        .iter()
        .map(|(layer, attack)| format!("{attack} came through ({})", layer.name()))
        .collect();
    each.join(", ")
}
