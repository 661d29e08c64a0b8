//! `ao guard hook`: calls of a strange shape, and what stands in the project when a command is judged.

use std::fs;

use serde_json::json;

use crate::guard_hook::{Desk, SCOPES, allowed, refused};
use crate::guard_texts::{DAILY, STRANGE};

// pitfall 30
#[test]
fn calls_of_a_strange_shape_are_refused() {
    let desk = Desk::new();
    let one = json!({ "old_string": "one", "new_string": "two" });
    let astray = json!({ "old_string": "one", "new_string": "two", "file_path": "x" });
    let patch =
        |body: &str| json!({ "command": format!("*** Begin Patch\n{body}\n*** End Patch") });
    for (tool, input) in [
        ("MultiEdit", json!({ "file_path": "dreams/a.md", "edits": [one, astray] })),
        ("MultiEdit", json!({ "file_path": "x", "edits": [one] })),
        ("MultiEdit", json!({ "file_path": "dreams/a.md", "edits": [[one]] })),
        ("MultiEdit", json!({ "file_path": "dreams/a.md", "edits": { "0": one } })),
        ("Write", json!({ "file_path": "dreams/a.md", "content": "", "FilePath": "x" })),
        ("Write", json!({ "file_path": "dreams/a.md", "content": "", "path": "x" })),
        ("Write", json!({ "file_path": ["dreams/a.md", "x"], "content": "" })),
        ("Write", json!({ "file_path": { "path": "dreams/a.md" }, "content": "" })),
        ("Write", json!({ "file_path": "dreams/a.md\nx", "content": "" })),
        ("Write", json!({ "file_path": "dreams/a.md", "content": ["x"] })),
        ("Write", json!({ "FILE_PATH": "dreams/a.md", "content": "" })),
        ("Write", json!({ "tool_input": { "file_path": "dreams/a.md", "content": "" } })),
        ("Edit", json!({ "file_path": "dreams/a.md", "old_string": 1, "new_string": "x" })),
        (
            "Edit",
            json!({ "file_path": "dreams/a.md", "old_string": "a", "new_string": "b", "replace_all": "yes" }),
        ),
        ("NotebookEdit", json!({ "notebook_path": "dreams/n.ipynb", "file_path": "x" })),
        ("NotebookEdit", json!({ "notebook_path": "x.ipynb" })),
        ("Bash", json!({ "command": ["touch", "x"] })),
        ("Bash", json!({ "command": "ls\u{0}; touch x" })),
        ("Bash", json!({ "tool_input": { "command": "ls" } })),
        ("Bash ", json!({ "command": "ls" })),
        ("Read\u{0}", json!({ "file_path": "src/main.rs" })),
        ("Grep", json!({ "pattern": "KEY", "glob": ".env" })),
        ("mcp__fs__edit_file", json!({ "path": "dreams/a.md" })),
    ] {
        refused(desk.call("claude", tool, &input), &format!("{tool} {input}"));
    }
    for (tool, input) in [
        ("exec_command", json!({ "cmd": "ls", "shell": "./dreams/evil" })),
        ("exec_command", json!({ "cmd": "ls", "shell": ["bash"] })),
        ("exec_command", json!({ "cmd": "touch a", "workdir": "dreams", "cwd": "canonical" })),
        ("exec_command", json!({ "cmd": "touch a", "workdir": "canonical" })),
        ("exec_command", json!({ "cmd": "touch a", "workdir": "dreams/.." })),
        ("exec_command", json!({ "cmd": "touch a", "workdir": "dreams/link" })),
        ("exec_command", json!({ "cmd": "touch a", "workdir": "/tmp" })),
        ("shell", json!({ "command": ["touch", "x"] })),
        ("shell", json!({ "command": ["bash", "-c", "ls", "&&", "touch", "x"], "workdir": [] })),
        ("shell", json!({ "command": ["sh", "-c", "[[ -n a || touch x ]]"] })),
        ("shell", json!({ "command": [["touch"], "x"] })),
        ("shell", json!({ "command": [] })),
        ("write_stdin", json!({ "session_id": 1, "chars": "touch x\n" })),
        ("apply_patch", json!({ "command": "*** Begin Patch\n*** End Patch", "input": "x" })),
        ("apply_patch", patch("*** Add File: dreams/n.md\n+a\n *** Delete File: x")),
        ("apply_patch", patch("*** Add File: dreams/n.md\n+a\n\n*** Delete File: x")),
        ("apply_patch", patch("*** Add File: dreams/n.md\n+a\n*** Add File: x\n+a")),
        ("apply_patch", patch("*** Delete File: dreams/a.md\n*** Move to: x")),
        ("apply_patch", patch("*** Update File: x\n*** Move to: dreams/n.md\n@@\n-a\n+b")),
        ("apply_patch", patch("*** Update File: dreams/a.md\n@@\n-one\n+two\n*** Move to: x")),
        ("apply_patch", patch("*** Add File: dreams/n.md\n+a\n*** End Patch\n*** Add File: x\n+a")),
    ] {
        refused(desk.call("codex", tool, &input), &format!("{tool} {input}"));
    }
    // Numbers that no reader agrees on.
    let number = desk.payload("claude", "Bash", &json!({ "command": "ls", "timeout": 1 }));
    for odd in ["1e999", "-", "01", "NaN", "0x10"] {
        let payload = number.replace("\"timeout\":1", &format!("\"timeout\":{odd}"));
        refused(desk.ask("claude", &SCOPES, payload.as_bytes()), odd);
    }
    let large = number.replace("\"timeout\":1", "\"timeout\":18446744073709551616");
    allowed(&desk.ask("claude", &SCOPES, large.as_bytes()), "a large number is a number");
    for shell in ["bash", "/bin/zsh"] {
        let input = json!({ "cmd": "ls", "shell": shell, "workdir": "src" });
        allowed(&desk.call("codex", "exec_command", &input), shell);
    }
}

/// A folder with these names is a repository to git, and its settings name programs that git starts.
#[test]
fn git_is_not_asked_in_a_repository_of_the_agents_making() {
    let desk = Desk::new();
    let ask = |text: &str| desk.call("claude", "Bash", &json!({ "command": text }));
    let texts = [
        "git -C dreams diff",
        "cd dreams && git status",
        "cd dreams/sub && git log",
        "git -C dreams/sub log",
    ];
    for text in texts {
        allowed(&ask(text), text);
    }
    for folder in ["objects", "refs"] {
        fs::create_dir(desk.repo.root().join("dreams").join(folder)).unwrap();
    }
    fs::write(desk.repo.root().join("dreams/HEAD"), "ref: refs/heads/main\n").unwrap();
    for text in texts {
        refused(ask(text), text);
    }
    allowed(&ask("git -C src status"), "elsewhere");
}

/// A pattern stands for names, and a name can look like an option.
#[test]
fn a_pattern_is_not_taken_where_a_name_looks_like_an_option() {
    let desk = Desk::new();
    let texts = ["cd dreams && sort *", "cd dreams && tar tf *", "cd dreams && sed p ?.md"];
    let ask = |text: &str| desk.call("claude", "Bash", &json!({ "command": text }));
    for text in texts {
        allowed(&ask(text), text);
    }
    fs::write(desk.repo.root().join("dreams/-o.md"), "").unwrap();
    for text in texts {
        refused(ask(text), text);
    }
    allowed(&ask("cd dreams && sort ./*.md"), "beneath a folder no name is an option");
}

/// By hand it is the same judge.
#[test]
fn a_check_by_hand_says_what_the_hook_says() {
    let desk = Desk::new();
    let check = |text: &str| {
        let command = ["--tracked", "--command", text];
        desk.repo.run(&[&["guard", "check"], &SCOPES[..], &command].concat())
    };
    for text in STRANGE {
        check(text).expect(5);
    }
    for text in DAILY {
        check(text).expect(0);
    }
}
