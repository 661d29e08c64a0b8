//! The walls of a cell, by name.

use serde::{Deserialize, Serialize};

/// One wall. Each has an attack of its own that only it stops, so that a missing one is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// User ids of its own, so that all the others can be had without being root.
    UserNamespace,
    /// Everything that exists can be read, and nothing of it changed.
    ReadOnly,
    /// Locks, secrets and sockets are not there.
    Masks,
    /// The work tree is a copy that takes all changes.
    Overlay,
    /// No process of the outside can be named; all of the inside end together.
    Processes,
    /// No shared memory and no message queue of the outside.
    Ipc,
    /// A host name of its own.
    Hostname,
    /// No network at all.
    Network,
    /// No power of root, not even over the cell.
    Capabilities,
    /// No program gives more rights than its caller has.
    NoNewPrivileges,
    /// The kernel's own list of what may be written.
    Landlock,
    /// The kernel's own list of what may be asked of it.
    Seccomp,
    /// Bounds for each process.
    Limits,
    /// No file that somebody else left open.
    Descriptors,
}

impl Layer {
    pub const ALL: [Self; 14] = [
        Self::UserNamespace,
        Self::ReadOnly,
        Self::Masks,
        Self::Overlay,
        Self::Processes,
        Self::Ipc,
        Self::Hostname,
        Self::Network,
        Self::Capabilities,
        Self::NoNewPrivileges,
        Self::Landlock,
        Self::Seccomp,
        Self::Limits,
        Self::Descriptors,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::UserNamespace => "user-namespace",
            Self::ReadOnly => "read-only",
            Self::Masks => "masks",
            Self::Overlay => "overlay",
            Self::Processes => "processes",
            Self::Ipc => "ipc",
            Self::Hostname => "hostname",
            Self::Network => "network",
            Self::Capabilities => "capabilities",
            Self::NoNewPrivileges => "no-new-privileges",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Limits => "limits",
            Self::Descriptors => "descriptors",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// A wall that is not there, and what stands in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub layer: Layer,
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_is_written_as_it_is_named() {
        for layer in Layer::ALL {
            assert_eq!(serde_json::to_value(layer).unwrap(), layer.name());
            assert_eq!(Layer::by_name(layer.name()), Some(layer));
        }
        assert_eq!(Layer::by_name("moat"), None);
    }
}
