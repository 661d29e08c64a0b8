//! The programs that this process descends from, as the kernel tells them.

use std::io::Read;
use std::path::Path;

use ao_tree::own_file;
use rustix::process::{Pid, getpid};

use crate::cell::HOLDER;
use crate::process::look_at;

/// Deeper lines of descent are not followed.
const ANCESTORS_MAX: usize = 64;
const NAMES_BYTES_MAX: u64 = 4096;
/// Of what these run, the script is the program.
const INTERPRETERS: [&str; 9] =
    ["node", "nodejs", "bun", "deno", "python", "python3", "ruby", "MainThread", "env"];

/// What the processes above this one are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ancestors {
    /// The nearest first. Of an interpreter also the name of its script.
    pub names: Vec<String>,
    /// One of them holds a cell.
    pub hold_a_cell: bool,
}

impl Ancestors {
    /// Those of this process. What went, or cannot be read, is left out: that is no proof of a person, either way.
    pub fn of_this_process() -> Self {
        let mut found = Self::default();
        let mut next = look_at(getpid()).and_then(|this| this.parent);
        for _ in 0..ANCESTORS_MAX {
            let Some(id) = next else { break };
            found.add(id);
            next = look_at(id).and_then(|process| process.parent);
        }
        found
    }

    fn add(&mut self, id: Pid) {
        let name = read(id, "comm");
        let name = String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned();
        let arguments = read(id, "cmdline");
        let words: Vec<String> = arguments
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        self.hold_a_cell |= words.get(1).is_some_and(|word| word == HOLDER);
        let program = words.first().map(|word| bare(word)).unwrap_or_default();
        let is_interpreter = [&name, &program]
            .iter()
            .any(|name| INTERPRETERS.contains(&name.as_str()) || name.starts_with("python3."));
        if is_interpreter {
            let script = words.iter().skip(1).find(|word| !word.starts_with('-'));
            self.names.extend(script.map(|word| bare(word)));
        }
        self.names.push(program);
        self.names.push(name);
    }
}

/// The last name of a path, without the ending of a script.
fn bare(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let endings = [".js", ".mjs", ".cjs", ".py", ".exe"];
    let bare = endings.iter().find_map(|ending| name.strip_suffix(ending));
    bare.unwrap_or(name).trim_start_matches('-').to_owned()
}

fn read(id: Pid, what: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = format!("/proc/{}/{what}", id.as_raw_nonzero());
    if let Ok(file) = own_file::open(Path::new(&file)) {
        let _ = file.take(NAMES_BYTES_MAX).read_to_end(&mut bytes);
    }
    bytes
}
