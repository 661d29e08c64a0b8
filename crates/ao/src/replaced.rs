//! Flags of the existing `ao` that are not here, and what to use instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

const DAEMON: &str = "there is no daemon: `ao overnight setup` writes the files of a scheduler that starts the nights";
const OUTPUT: &str = "--json prints JSON, and without it there is text";
const CONFIG: &str = "the variable AGENTOPS_CONFIG names the file";

const REPLACED: [(&str, &str); 9] = [
    ("--daemon-submit", DAEMON),
    ("--daemon-url", DAEMON),
    ("--daemon-token", DAEMON),
    ("--daemon-fallback", DAEMON),
    ("--daemon-wait", DAEMON),
    ("--daemon-timeout", DAEMON),
    ("--output", OUTPUT),
    ("-o", OUTPUT),
    ("--config", CONFIG),
];

/// What to use in the place of a flag that nobody knows here.
pub(crate) fn instead(error: &clap::Error) -> Option<&'static str> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    REPLACED.iter().find(|(replaced, _)| replaced == flag).map(|(_, instead)| *instead)
}
