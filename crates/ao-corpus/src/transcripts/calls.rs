//! Which tools an agent called last, so that what comes back is known to be of one.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A result comes right behind its call, and few are under way at once.
const CALLS_MAX: usize = 32;
/// Longer ids or names are none.
const NAME_BYTES_MAX: usize = 128;

/// The last calls, each with the name of its tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Calls {
    all: VecDeque<(String, String)>,
}

impl Calls {
    pub(super) fn begun(&mut self, block: &Value) {
        let text = |key: &str| block[key].as_str().filter(|text| text.len() <= NAME_BYTES_MAX);
        let (Some(id), Some(name)) = (text("id"), text("name")) else { return };
        // Whoever calls two things by one id has neither: it would not be known whose result it is.
        if self.tool(id).is_some_and(|known| known != name) {
            self.all.retain(|(known, _)| known != id);
            return;
        }
        if self.all.len() >= CALLS_MAX {
            self.all.pop_front();
        }
        self.all.push_back((id.to_owned(), name.to_owned()));
    }

    pub(super) fn tool(&self, id: &str) -> Option<&str> {
        self.all.iter().rev().find(|(known, _)| known == id).map(|(_, name)| name.as_str())
    }
}
