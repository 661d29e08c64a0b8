//! `ao signals`: lessons of transcripts, taken once, with where they come from.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::night::Night;
use crate::repo::Ran;

/// A repository, and a home with the sessions of coding agents in it.
pub(crate) struct Sessions {
    pub(crate) night: Night,
    pub(crate) home: PathBuf,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let night = Night::with(3);
        let home = night.aside.path().join("home");
        fs::create_dir_all(&home).unwrap();
        Self { night, home }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.night.repo.root().canonicalize().unwrap()
    }

    pub(crate) fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn claude(&self, name: &str, text: &str) -> PathBuf {
        self.put(&format!(".claude/projects/-repo/{name}"), text)
    }

    pub(crate) fn codex(&self, name: &str, text: &str) -> PathBuf {
        self.put(&format!(".codex/sessions/2026/03/01/{name}"), text)
    }

    /// In a folder that says whose it is in a file.
    pub(crate) fn gemini(&self, name: &str, text: &str) -> PathBuf {
        self.put(".gemini/tmp/repo/.project_root", self.root().to_str().unwrap());
        self.put(&format!(".gemini/tmp/repo/chats/{name}"), text)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.night.repo.command(arguments).env("HOME", &self.home).output().unwrap())
    }

    pub(crate) fn signals(&self, more: &[&str]) -> Value {
        self.run(&[&["--json", "signals"], more].concat()).expect(0).json()
    }

    /// What comes in waits for so long.
    pub(crate) fn waiting(self) -> Self {
        self.night.configure("dream:\n  promote_after: 24h\n");
        self
    }

    /// A night in which these sessions are there.
    pub(crate) fn spend(&self, more: &[&str]) -> Value {
        let mut command = self.night.command(more);
        Ran::of(command.env("HOME", &self.home).output().unwrap()).expect(0);
        self.night.summary()
    }

    /// The files of pending learnings.
    pub(crate) fn pending(&self) -> Vec<String> {
        self.beneath("knowledge/pending/")
    }

    /// Those that were promoted, where they are now.
    pub(crate) fn promoted(&self) -> Vec<String> {
        let mut all = self.beneath("learnings/");
        all.retain(|path| self.night.repo.read(path).contains("\npromoted_from: "));
        all
    }

    fn beneath(&self, folder: &str) -> Vec<String> {
        let all = self.night.repo.tree().into_keys();
        all.filter(|path| path.starts_with(folder)).collect()
    }
}

/// A line of Claude Code.
pub(crate) fn line(folder: &Path, kind: &str, content: &Value) -> String {
    let line = json!({
        "cwd": folder, "sessionId": "s-1", "type": kind, "timestamp": "2026-03-01T10:00:00Z",
        "message": { "role": kind, "content": content },
    });
    format!("{line}\n")
}

/// A session in which the agent did something and a person said this.
pub(crate) fn session(folder: &Path, said: &str) -> String {
    let did = json!([{ "type": "text", "text": "I installed it." }]);
    line(folder, "user", &json!("Add the package."))
        + &line(folder, "assistant", &did)
        + &line(folder, "user", &json!(said))
}

pub(crate) const PNPM: &str = "no, use `pnpm add` here because the lockfile is pnpm-lock.yaml";

/// What was taken, each by its kind and its title.
fn titles(told: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = told["taken"].as_array().unwrap().iter();
    all.map(|one| (text(&one["lesson"]["kind"]), text(&one["lesson"]["title"]))).collect()
}

fn source<'a>(told: &'a Value, maker: &str) -> &'a Value {
    told["sources"].as_array().unwrap().iter().find(|one| one["maker"] == maker).unwrap()
}

// proves: LOOP-24
#[test]
fn a_correction_becomes_a_pending_learning_with_its_place_once() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    let told = sessions.signals(&[]);
    assert_eq!(told["status"], "committed", "{told:#}");
    let [path] = sessions.pending().try_into().unwrap();
    let text = sessions.night.repo.read(&path);
    for part in [
        "trust: user\n",
        "date: 2026-03-01\n",
        "source_session: s-1\n",
        "~/.claude/projects/-repo/a.jsonl:3",
        "Use `pnpm add` here because the lockfile is pnpm-lock.yaml.",
        "line 3",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // It claims something, so the rules of promotion can judge it.
    let judged = sessions.run(&["--json", "flywheel", "close-loop", "--dry-run"]).expect(0).json();
    let kept =
        judged["pending"].as_array().unwrap().iter().find(|one| one["path"] == path.as_str());
    assert!(!kept.unwrap()["reason"].as_str().unwrap().contains("no concrete claim"), "{judged:#}");
    let before = sessions.night.repo.tree();
    let again = sessions.signals(&[]);
    assert_eq!(again["status"], "nothing-changed", "{again:#}");
    assert_eq!(source(&again, "claude")["read"], 0, "{again:#}");
    assert!(before == sessions.night.repo.tree());
    // The cache is one: without it everything is read again, and nothing is taken again.
    fs::remove_dir_all(sessions.night.repo.agents().join("ao/index")).unwrap();
    let again = sessions.signals(&[]);
    assert_eq!(titles(&again), [], "{again:#}");
    assert_eq!(source(&again, "claude")["read"], 1, "{again:#}");
    // Whoever throws it away does not get it again.
    fs::remove_file(sessions.night.repo.agents().join(&path)).unwrap();
    assert_eq!(titles(&sessions.signals(&[])), []);
    assert_eq!(sessions.pending(), Vec::<String>::new());
}

// proves: LOOP-24
#[test]
fn what_is_taken_back_can_be_taken_again() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    let told = sessions.signals(&[]);
    let taken = sessions.night.repo.tree();
    sessions.run(&["tree", "undo", told["id"].as_str().unwrap()]).expect(0);
    assert_eq!(sessions.pending(), Vec::<String>::new());
    assert_eq!(sessions.signals(&[])["taken"].as_array().unwrap().len(), 1);
    assert_eq!(
        taken.keys().collect::<Vec<_>>(),
        sessions.night.repo.tree().keys().collect::<Vec<_>>()
    );
}

#[test]
fn of_a_session_that_goes_on_only_the_rest_is_read() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let first = session(&root, PNPM);
    let path = sessions.claude("a.jsonl", &first);
    sessions.signals(&[]);
    // The agent's words and the person's come in two parts, the last line is not whole yet.
    let next = line(&root, "user", &json!("no, never push to main, open a pull request"));
    let (begun, rest) = next.split_at(40);
    fs::write(&path, format!("{first}{begun}")).unwrap();
    let told = sessions.signals(&[]);
    assert_eq!((titles(&told), &source(&told, "claude")["bytes"]), (Vec::new(), &0.into()));
    fs::write(&path, format!("{first}{begun}{rest}")).unwrap();
    let told = sessions.signals(&[]);
    assert_eq!(source(&told, "claude")["bytes"], next.len(), "{told:#}");
    assert_eq!(titles(&told)[0].1, "Never push to main, open a pull request");
    assert_eq!(told["taken"][0]["lesson"]["line"], 4);
    // The same as if it had been read at once.
    let at_once = Sessions::new();
    let moved = fs::read_to_string(&path).unwrap();
    at_once.claude(
        "a.jsonl",
        &moved.replace(root.to_str().unwrap(), at_once.root().to_str().unwrap()),
    );
    let all = at_once.signals(&["--dry-run"]);
    let lesson = all["taken"].as_array().unwrap().iter().find(|one| one["lesson"]["line"] == 4);
    assert_eq!(lesson.unwrap()["lesson"], told["taken"][0]["lesson"]);
    // One that was written anew is read anew, though it is longer than before.
    let other = session(&root, "no, use tabs in Makefiles instead of spaces") + &next + &next;
    fs::write(&path, other).unwrap();
    assert_eq!(titles(&sessions.signals(&[]))[0].1, "Use tabs in Makefiles instead of spaces");
}

// proves: LOOP-24
#[test]
fn only_sessions_of_this_repository_are_read() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let say = |what: &str| format!("no, use {what} here instead of npm");
    let mut sibling = root.clone().into_os_string();
    sibling.push("-other");
    sessions.claude("own.jsonl", &session(&root, &say("pnpm")));
    sessions.claude("below.jsonl", &session(&root.join("web/app"), &say("yarn")));
    sessions.claude("sibling.jsonl", &session(Path::new(&sibling), &say("bun")));
    sessions.claude("above.jsonl", &session(root.parent().unwrap(), &say("deno")));
    sessions.claude("dots.jsonl", &session(&root.join("../elsewhere"), &say("corepack")));
    sessions.claude("unsaid.jsonl", &session(Path::new(""), &say("volta")));
    // A session that leaves the repository is not followed.
    let away = session(&root, "thanks") + &session(Path::new("/elsewhere"), &say("nvm"));
    sessions.claude("away.jsonl", &away);
    // Another name of the repository is the repository.
    let link = sessions.night.aside.path().join("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    sessions.claude("link.jsonl", &session(&link, &say("brew")));
    let meta = |folder: &Path, what: &str| {
        let meta = json!({ "type": "session_meta", "payload": { "id": "c-1", "cwd": folder } });
        let item = |role: &str, text: &str| {
            json!({
                "type": "response_item", "timestamp": "2026-03-02T10:00:00Z",
                "payload": { "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] },
            })
        };
        format!("{meta}\n{}\n{}\n", item("assistant", "Done."), item("user", &say(what)))
    };
    sessions.codex("rollout-own.jsonl", &meta(&root, "cargo"));
    sessions.codex("rollout-other.jsonl", &meta(Path::new(&sibling), "pip"));
    let chat = |what: &str| {
        json!({ "sessionId": "g-1", "messages": [
        { "type": "gemini", "content": "Done.", "timestamp": "2026-03-03T10:00:00Z" },
        { "type": "user", "content": say(what), "timestamp": "2026-03-03T10:00:00Z" },
    ] })
        .to_string()
    };
    // SHA-256 of `/elsewhere`, and no hash at all.
    sessions.gemini("own.json", &chat("uv"));
    sessions.put(".gemini/tmp/0123abcd/chats/other.json", &chat("poetry"));
    let told = sessions.signals(&["--dry-run"]);
    let mut found: Vec<String> = titles(&told).into_iter().map(|(_, title)| title).collect();
    found.sort();
    let own = ["brew", "cargo", "pnpm", "uv", "yarn"];
    assert_eq!(found, own.map(|what| format!("Use {what} here instead of npm")), "{told:#}");
    let claude = source(&told, "claude");
    assert_eq!(
        (&claude["files"], &claude["own"], &claude["elsewhere"]),
        (&8.into(), &4.into(), &4.into())
    );
}

#[test]
fn a_folder_of_gemini_is_known_by_the_hash_of_its_project() {
    let sessions = Sessions::new();
    let sum = std::process::Command::new("sh")
        .args(["-c", "printf %s \"$1\" | sha256sum | cut -c1-64", "sh"])
        .arg(sessions.root())
        .output()
        .unwrap();
    let hash = String::from_utf8(sum.stdout).unwrap().trim().to_owned();
    assert_eq!(hash.len(), 64);
    let chat = json!({ "messages": [
        { "type": "gemini", "content": "Done." },
        { "type": "user", "content": [{ "text": "no, use tabs instead of spaces in Makefiles" }] },
    ] });
    sessions.put(
        &format!(".gemini/tmp/{hash}/chats/a.json"),
        &serde_json::to_string_pretty(&chat).unwrap(),
    );
    let told = sessions.signals(&["--dry-run"]);
    assert_eq!(titles(&told).len(), 1, "{told:#}");
    assert_eq!(told["taken"][0]["lesson"]["line"], 7, "{told:#}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    let before = (sessions.night.all_files(), crate::repo::files(&sessions.home));
    let told = sessions.signals(&["--dry-run"]);
    assert_eq!(titles(&told).len(), 1);
    sessions.run(&["--dry-run", "signals"]).expect(0);
    assert!(before == (sessions.night.all_files(), crate::repo::files(&sessions.home)));
    // For people, too, and with a schema.
    let text = sessions.run(&["signals", "--dry-run"]).expect(0).stdout;
    assert!(text.contains("correction (user)") && text.contains("a.jsonl:3"), "{text}");
    let mut fields = told.clone();
    for key in ["command", "commit"] {
        fields.as_object_mut().unwrap().remove(key);
    }
    ao_contract::check("signals", &fields).unwrap();
    assert!(sessions.run(&["signals", "--help"]).expect(0).stdout.contains("Examples:"));
}

#[test]
fn one_no_in_the_configuration_is_enough() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    sessions.night.configure("dream:\n  transcripts: true\n");
    sessions.signals(&["--dry-run"]);
    sessions.put(".agentops/config.yaml", "dream:\n  transcripts: false\n");
    let refused = sessions.run(&["signals"]).expect(6);
    assert!(refused.stderr.contains("dream.transcripts"), "{refused}");
    let summary = sessions.spend(&[]);
    assert_eq!(sessions.pending(), Vec::<String>::new());
    assert_eq!(summary["iterations"][0]["ingest"]["transcripts"], Value::Null);
}

#[test]
fn commands_that_worked_in_the_end_and_failures_with_their_fix_are_learned() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let mut text = line(&root, "user", &json!("Run the tests."));
    let mut number = 0;
    let mut run = |command: &str, error: Option<&str>| {
        number += 1;
        let id = format!("t{number}");
        let used = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]);
        let content = error.map_or("ok".to_owned(), |error| format!("Exit code 1\n{error}"));
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": error.is_some() }]);
        line(&root, "assistant", &used) + &line(&root, "user", &result)
    };
    text += &run("npm run test", Some("npm error Missing script: \"test\""));
    text += &run("npm run test:unit", None);
    text += &run(
        "cargo test -p api",
        Some("error[E0433]: failed to resolve: use of undeclared type `Utc`"),
    );
    text += &run("grep -r Utc src", Some("no such file"));
    text += &run(
        "cargo test -p api",
        Some("error[E0433]: failed to resolve: use of undeclared type `Utc`"),
    );
    text += &line(
        &root,
        "assistant",
        &json!([{ "type": "tool_use", "id": "e1", "name": "Edit", "input": { "file_path": "api/src/time.rs" } }]),
    );
    text += &run("cargo test -p api", None);
    // Another task that works is no variant of one that failed its tests.
    text += &run("cargo test -p web", Some("test result: FAILED. 1 failed"));
    text += &run("cargo test -p cli", None);
    sessions.claude("a.jsonl", &text);
    let told = sessions.signals(&["--dry-run"]);
    let lessons: Vec<(&str, &str)> = told["taken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["lesson"]["trust"].as_str().unwrap(), one["lesson"]["claim"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        lessons,
        [
            (
                "tool",
                "Run `npm run test:unit`: `npm run test` fails with “npm error Missing script: \"test\"”."
            ),
            (
                "tool",
                "`cargo test -p api` failed 2 times with “error[E0433]: failed to resolve: use of undeclared type 'Utc'”; it worked after a change to `api/src/time.rs`."
            ),
        ],
        "{told:#}"
    );
}

#[test]
fn what_programs_noted_for_themselves_is_a_models_word() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let slug: String = root
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let note = "# Memory\n\n- Run `make seed` before the e2e tests, otherwise the login page is empty\n- be nice\n";
    sessions.put(&format!(".claude/projects/{slug}/memory/MEMORY.md"), note);
    sessions.put(".claude/projects/-elsewhere/memory/MEMORY.md", &note.replace("seed", "weed"));
    let named = format!(
        "# Task Group: ours\napplies_to: cwd={}; reuse\n- The importer needs `LANG=C.UTF-8` in CI\n# Task Group: other\napplies_to: cwd=/elsewhere\n- The relay needs `LANG=C` in CI\n",
        root.display()
    );
    sessions.put(".codex/memories/MEMORY.md", &named);
    let told = sessions.signals(&["--dry-run"]);
    let mut found: Vec<&str> = told["taken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["lesson"]["claim"].as_str().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "Run `make seed` before the e2e tests, otherwise the login page is empty",
            "The importer needs `LANG=C.UTF-8` in CI",
        ],
        "{told:#}"
    );
    assert!(told["taken"].as_array().unwrap().iter().all(|one| one["lesson"]["trust"] == "model"));
}
