//! What must hold for a piece of work to be worth doing still.
//!
//! A packet is read hours after it was made, so it carries checks that are made again then. One that
//! this program does not know, or cannot read, is kept and counts as not made: it is no reason to
//! lose the packet.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Extra;

/// One check. Paths are relative to the repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
// As for the summary, the derived reader becomes a private function: it would also take the number of
// a variant for its name.
#[serde(remote = "Self", tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Check {
    /// Something is at this path.
    PathExists {
        /// The path.
        path: String,
    },
    /// Nothing is at this path.
    PathAbsent {
        /// The path.
        path: String,
    },
    /// A file holds this text.
    TextInFile {
        /// The file.
        path: String,
        /// The text, to the letter.
        text: String,
    },
    /// A file is there and does not hold this text.
    TextNotInFile {
        /// The file.
        path: String,
        /// The text, to the letter.
        text: String,
    },
    /// A file has the content that it had.
    FileHash {
        /// The file.
        path: String,
        /// The BLAKE3 of its bytes, as 64 hexadecimal digits.
        hash: String,
    },
    /// An entry of the corpus is there, and nothing replaced it.
    Entry {
        /// Its path, its file's name, its id, or a name that it took over in a merge.
        entry: String,
    },
    /// A finding is there and not resolved.
    FindingOpen {
        /// Its path, its file's name or its id.
        finding: String,
    },
    /// An item of the work queue is there and not consumed.
    QueueItemOpen {
        /// Its id, or its title where it has no id.
        item: String,
    },
    /// A command ends with 0. It is run in the cell only.
    Shell {
        /// The command.
        command: String,
    },
    /// A check that this program does not know. It is kept.
    #[serde(untagged)]
    Other(Extra),
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Extra::deserialize(deserializer)?;
        if !fields.get("kind").is_some_and(Value::is_string) {
            return Ok(Self::Other(fields));
        }
        Ok(Self::deserialize(Value::Object(fields.clone())).unwrap_or(Self::Other(fields)))
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}
