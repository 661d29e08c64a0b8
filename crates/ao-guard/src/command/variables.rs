//! Variables, and which of them are not to be set.

use super::{Judged, doubt};
use crate::shell::Word;

/// Variables by which a program can be made to start another one, to find another one, or to write
/// elsewhere: by their whole names, by how they begin and by how they end.
const HOSTILE: [&str; 12] = [
    "AR",
    "CC",
    "CXX",
    "ENV",
    "HOME",
    "IFS",
    "LD",
    "PATH",
    "PROMPT_COMMAND",
    "PS4",
    "SHELL",
    "ZDOTDIR",
];
const HOSTILE_STARTS: [&str; 15] = [
    "BASH",
    "CARGO_",
    "DYLD_",
    "GIT_",
    "GLIBC_",
    "JAVA_TOOL",
    "LD_",
    "LESS",
    "NODE_",
    "NPM_CONFIG",
    "PERL",
    "PYTHON",
    "RUBY",
    "RUSTC",
    "npm_config",
];
const HOSTILE_ENDS: [&str; 22] = [
    "BROWSER",
    "CMD",
    "COMMAND",
    "CONF",
    "CONFIG",
    "EDITOR",
    "EXEC",
    "FLAGS",
    "GLOBIGNORE",
    "HOOK",
    "HOOKS",
    "LINKER",
    "OPTIONS",
    "OPTS",
    "PAGER",
    "PATH",
    "PRELOAD",
    "RC",
    "RUNNER",
    "VISUAL",
    "WRAPPER",
    "_HOME",
];

/// Of those, the ones that do no harm, with the value that does none (any, if there is no value).
const HARMLESS: [(&str, &str); 11] = [
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("CARGO_INCREMENTAL", ""),
    ("CARGO_NET_OFFLINE", ""),
    ("CARGO_TERM_COLOR", ""),
    ("NODE_ENV", ""),
    ("PYTHONDONTWRITEBYTECODE", ""),
    ("PYTHONHASHSEED", ""),
    ("PYTHONUNBUFFERED", ""),
];

/// Whether a variable may be given this value.
pub(super) fn assignment(name: &str, value: &Word) -> Judged {
    let is_hostile = HOSTILE.contains(&name)
        || HOSTILE_STARTS.iter().any(|start| name.starts_with(start))
        || HOSTILE_ENDS.iter().any(|end| name.ends_with(end));
    let is_harmless = HARMLESS.iter().any(|(harmless, wanted)| {
        name == *harmless && (wanted.is_empty() || value.known() == Some(wanted))
    });
    if is_hostile && !is_harmless {
        return Err(doubt(name, "this variable can make a program start another one"));
    }
    Ok(())
}
