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
const HOSTILE_STARTS: [&str; 14] = [
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

/// Variables that only change how something looks, or where a server is.
const FOR_ALL: [&str; 24] = [
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "GIT_OPTIONAL_LOCKS",
    "GIT_PAGER",
    "GIT_TERMINAL_PROMPT",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PAGER",
    "PGDATABASE",
    "PGHOST",
    "PGPASSWORD",
    "PGPORT",
    "PGUSER",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Whether any program may get it.
pub(super) fn is_harmless_to_all(name: &str) -> bool {
    FOR_ALL.contains(&name) || name.starts_with("LC_")
}

/// Whether a variable may be given this value.
pub(super) fn assignment(name: &str, value: &Word) -> Judged {
    let is_name = !name.is_empty()
        && !name.starts_with(|l: char| l.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        // What stands between brackets is run.
        return Err(doubt(name, "it is no plain variable"));
    }
    // Some shells have `path` for `PATH`.
    let folded = name.to_ascii_uppercase();
    let is_hostile = HOSTILE.contains(&folded.as_str())
        || HOSTILE_STARTS.iter().any(|start| folded.starts_with(start))
        || HOSTILE_ENDS.iter().any(|end| folded.ends_with(end));
    let is_harmless = HARMLESS.iter().any(|(harmless, wanted)| {
        name == *harmless && (wanted.is_empty() || value.known() == Some(wanted))
    });
    if is_hostile && !is_harmless {
        return Err(doubt(name, "this variable can make a program start another one"));
    }
    Ok(())
}
