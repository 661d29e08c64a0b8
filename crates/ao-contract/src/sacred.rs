//! What a project holds sacred beside the built-in set, `.agentops/sacred-scopes.yaml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sacred scopes of a project. Closed: a key that nobody knows is a mistake, and a mistake here
/// would leave something open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Sacred scopes")]
#[serde(deny_unknown_fields)]
pub struct SacredScopes {
    /// Globs of paths that no agent writes, relative to the project: `*` stays in a folder, `**` is any
    /// number of folders. What is beneath a folder that matches is sacred too.
    pub sacred: Vec<String>,
}
