//! How much of the cell this machine can give.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// From all of it to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// Every layer.
    A,
    /// No user namespaces: Landlock, system call filter, and an end of the whole tree by adoption.
    B,
    /// Another operating system. Nothing is built for one yet, so nothing is started there.
    C,
    /// Nothing that holds.
    D,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        })
    }
}

/// The weakest tier in which a program may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Floor {
    A,
    #[default]
    B,
}

impl Floor {
    pub fn admits(self, tier: Tier) -> bool {
        match self {
            Self::A => tier == Tier::A,
            Self::B => tier <= Tier::B,
        }
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no floor; there are A and B")]
pub struct UnknownTier(String);

impl FromStr for Floor {
    type Err = UnknownTier;

    fn from_str(text: &str) -> Result<Self, UnknownTier> {
        match text {
            "A" | "a" => Ok(Self::A),
            "B" | "b" => Ok(Self::B),
            other => Err(UnknownTier(other.to_owned())),
        }
    }
}
