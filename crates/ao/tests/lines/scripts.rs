//! The scripts of this machine: what its packages bring along, read and never run.

use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 10] = [
    "/var/lib/dpkg/info",
    "/etc/init.d",
    "/etc/cron.daily",
    "/etc/profile.d",
    "/usr/lib/git-core",
    "/usr/share/doc",
    "/usr/share/bash-completion/completions",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib/node_modules",
];
const SCRIPTS_MAX: usize = 1500;
const SCRIPT_BYTES_MAX: u64 = 128 * 1024;
const ENTRIES_MAX: usize = 60_000;
const DEPTH_MAX: usize = 6;
const PIECES_MAX: usize = 200_000;
/// Statements go over several lines.
const LINES_TOGETHER: usize = 5;

/// Pieces of real scripts.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    pub(crate) count: usize,
    /// One to a few lines that stand together.
    pub(crate) pieces: Vec<String>,
    /// Expansions, as they were written: `${…}`, `$(…)`, `` `…` ``.
    pub(crate) expansions: Vec<String>,
}

pub(crate) fn collect() -> Scripts {
    let mut scripts = Scripts::default();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut entries = 0;
    for folder in FOLDERS {
        walk(Path::new(folder), 0, &mut entries, &mut paths);
    }
    paths.sort();
    // Evenly from all of them, the same on each run of one machine.
    let step = (paths.len() / SCRIPTS_MAX).max(1);
    for path in paths.iter().step_by(step) {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let is_shell = path.extension().is_some_and(|end| {
            ["postinst", "preinst", "postrm", "prerm", "sh", "bash"].iter().any(|e| end == *e)
        }) || path.starts_with("/usr/share/bash-completion")
            || text
                .lines()
                .next()
                .is_some_and(|first| first.starts_with("#!") && first.contains("sh"));
        if !is_shell {
            continue;
        }
        scripts.count += 1;
        take(&text, &mut scripts);
    }
    scripts
}

fn walk(folder: &Path, depth: usize, entries: &mut usize, paths: &mut Vec<PathBuf>) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    for entry in listed.flatten() {
        *entries += 1;
        if *entries > ENTRIES_MAX {
            return;
        }
        let Ok(stat) = entry.metadata() else { continue };
        if stat.is_dir() && depth < DEPTH_MAX {
            walk(&entry.path(), depth + 1, entries, paths);
        } else if stat.is_file() && stat.len() <= SCRIPT_BYTES_MAX {
            paths.push(entry.path());
        }
    }
}

fn take(text: &str, scripts: &mut Scripts) {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    for at in 0..lines.len() {
        if scripts.pieces.len() > PIECES_MAX {
            return;
        }
        let many = 1 + at % LINES_TOGETHER;
        let piece = lines[at..lines.len().min(at + many)].join("\n");
        if !lines[at].trim_start().starts_with('#') && piece.len() < 600 {
            scripts.pieces.push(piece);
        }
    }
    for (start, _) in text.match_indices(['$', '`']) {
        let rest = &text[start..];
        let close = match rest.as_bytes() {
            [b'$', b'{', ..] => '}',
            [b'$', b'(', ..] => ')',
            [b'`', ..] => '`',
            _ => continue,
        };
        let end = rest.char_indices().skip(2).take(120).find(|(_, letter)| *letter == close);
        if let Some((end, _)) = end {
            scripts.expansions.push(rest[..=end].to_owned());
        }
    }
}
