//! What went out, `overnight/notifications.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// What became of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotificationStatus {
    /// The configured command took it.
    Sent,
    /// The configured command failed, or could not be started.
    Failed,
    /// No command is configured: this line is all there is.
    NoCommand,
}

/// One line of `notifications.jsonl`. It holds what was sent, never what was replaced.
/// Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Notification")]
pub struct Notification {
    /// When it was sent.
    pub at: String,
    /// What became of it.
    pub status: NotificationStatus,
    /// What was sent.
    pub text: String,
    /// The rules that the message matched; it was replaced then.
    pub rules: Vec<String>,
    /// The name of the file in the private place that keeps the message that was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
