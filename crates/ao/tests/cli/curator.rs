//! The local curator from outside: its settings, its queue, its troubles.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::night::Night;
use crate::repo::{Ran, TestRepo, files};

/// A repository whose owner has a worker directory and a vault elsewhere.
pub(crate) struct Curator {
    pub(crate) repo: TestRepo,
    place: TempDir,
}

impl Curator {
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// With more lines of its section.
    pub(crate) fn with(more: &str) -> Self {
        let curator = Self { repo: TestRepo::new(), place: tempfile::tempdir().unwrap() };
        for folder in ["worker", "vault", "home", "empty"] {
            fs::create_dir(curator.path(folder)).unwrap();
        }
        curator.configure(more);
        curator
    }

    pub(crate) fn configure(&self, more: &str) {
        let text = format!(
            "dream:\n  local_curator:\n    worker_dir: {}\n    vault_dir: {}\n{more}",
            self.path("worker").display(),
            self.path("vault").display(),
        );
        self.write("home/.agentops/config.yaml", &text);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn worker(&self, name: &str) -> PathBuf {
        self.path("worker").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.repo.command(&[]);
        command.env("HOME", self.path("home")).current_dir(self.path("empty"));
        command.args(["overnight", "curator"]).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// With the clock set forward by so many seconds.
    pub(crate) fn later(&self, seconds: u64, arguments: &[&str]) -> Ran {
        self.write("clock", &seconds.to_string());
        let mut command = self.command(arguments);
        Ran::of(command.env("AO_CLOCK", self.path("clock")).output().unwrap())
    }

    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.worker(folder)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.worker(name)).unwrap()).unwrap()
    }

    /// Whether a file is of a format that `ao` publishes.
    pub(crate) fn is_of(&self, format: &str, path: &Path) {
        self.repo.run(&["schema", format, "--check", path.to_str().unwrap()]).expect(0);
    }
}

/// Answers every request with this, until the test ends.
pub(crate) fn engine(status: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

const LINT: [&str; 3] = ["enqueue", "--kind", "lint-wiki"];
const EVENT: [&str; 11] = [
    "event",
    "--source",
    "lint",
    "--severity",
    "warn",
    "--action",
    "look",
    "--target",
    "council",
    "--budget",
    "2",
];

// proves: RUN-06
#[test]
fn each_command_of_the_curator_is_there() {
    let curator = Curator::with("    ollama_url: http://127.0.0.1:1\n");
    for (arguments, code, field) in [
        (&["status"][..], 0, "queue"),
        (&["diagnose"], 5, "troubles"),
        (&LINT, 0, "job"),
        (&["compact", "--dry-run"], 0, "compaction"),
        (&EVENT, 0, "event"),
    ] {
        let told = curator.run(&[&["--json"], arguments].concat()).expect(code).json();
        assert!(!told[field].is_null() && told["schema_version"] == 1, "{arguments:?}: {told}");
    }
    curator.run(&["dance"]).expect(2);
}

// proves: CUR-01
// pitfall 23
#[test]
fn without_a_configuration_nothing_is_written_anywhere() {
    let curator = Curator::new();
    fs::remove_file(curator.path("home/.agentops/config.yaml")).unwrap();
    let before = (files(curator.place.path()), curator.repo.everything());
    for command in [&LINT[..], &EVENT, &["compact", "--apply"], &["work"]] {
        let ran = curator.run(command).expect(6);
        assert!(ran.stderr.contains("worker_dir"), "{ran}");
    }
    let status = curator.run(&["status", "--json"]).expect(0).json();
    assert_eq!((&status["is_configured"], &status["queue"]), (&json!(false), &Value::Null));
    curator.run(&["diagnose"]).expect(5);
    // A configured directory that is not there may be a disk that is not mounted: it is not made.
    curator.configure("");
    fs::remove_dir(curator.path("worker")).unwrap();
    curator.run(&LINT).expect(6);
    assert!(!curator.path("worker").exists());
    // An empty word is none, and not the current directory.
    curator.write("home/.agentops/config.yaml", "dream: { local_curator: { worker_dir: '' } }\n");
    curator.run(&LINT).expect(6);
    curator.configure("    enabled: false\n");
    fs::create_dir(curator.path("worker")).unwrap();
    let off = curator.run(&LINT).expect(6);
    assert!(off.stderr.contains("switched off"), "{off}");
    fs::remove_file(curator.path("home/.agentops/config.yaml")).unwrap();
    assert_eq!((files(curator.place.path()), curator.repo.everything()), before);
}

// proves: CUR-01
#[test]
fn each_setting_counts_from_the_file_and_from_the_environment() {
    let curator = Curator::with(
        "    engine: ollama\n    ollama_url: http://127.0.0.1:9\n    model: small\n    hourly_cap: 7\n    \
         allowed_job_kinds: [lint-wiki]\n",
    );
    let told = |command: &mut Command| {
        Ran::of(command.output().unwrap()).expect(0).json()["settings"].clone()
    };
    let status = ["status", "--json"];
    let by_file = json!({
        "engine": "ollama", "ollama_url": "http://127.0.0.1:9", "model": "small", "hourly_cap": 7,
        "worker_dir": curator.path("worker"), "vault_dir": curator.path("vault"),
        "allowed_job_kinds": ["lint-wiki"],
    });
    assert_eq!(told(&mut curator.command(&status)), by_file);
    let by_environment = json!({
        "engine": "other", "ollama_url": "http://127.0.0.1:8", "model": "large", "hourly_cap": 5,
        "worker_dir": curator.path("empty"), "vault_dir": curator.path("home"),
        "allowed_job_kinds": ["dream-seed", "lint-wiki"],
    });
    let mut command = curator.command(&status);
    for (key, value) in by_environment.as_object().unwrap() {
        let value = match value {
            Value::Array(kinds) => {
                kinds.iter().map(|kind| kind.as_str().unwrap()).collect::<Vec<_>>().join(",")
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        command.env(format!("AGENTOPS_DREAM_LOCAL_CURATOR_{}", key.to_uppercase()), value);
    }
    assert_eq!(told(&mut command), by_environment);
}

// proves: CUR-01
#[test]
fn every_other_command_works_without_a_curator() {
    let night = Night::with_copies();
    for words in [
        &["harvest"][..],
        &["overnight", "plan"],
        &["overnight", "start", "--no-keep-awake"],
        &["overnight", "report"],
        &["runners"],
    ] {
        night.repo.run(words).expect(0);
    }
}

// proves: CUR-04
#[test]
fn a_job_is_one_whole_file() {
    let curator = Curator::new();
    let session = curator.path("s.jsonl");
    fs::write(&session, "x".repeat(100)).unwrap();
    let source = session.to_str().unwrap();
    let dry = curator.run(&["--dry-run", "enqueue", "--kind", "lint-wiki"]).expect(0);
    assert!(dry.stdout.starts_with("Would queue") && curator.names("").is_empty(), "{dry}");
    let ran = curator
        .run(&[
            "--json",
            "enqueue",
            "--kind",
            "ingest-claude-session",
            "--source",
            source,
            "--chunk-end",
            "64",
        ])
        .expect(0)
        .json();
    let id = ran["job"]["id"].as_str().unwrap();
    assert_eq!(curator.names("queue"), [format!("{id}.json")]);
    let path = curator.worker("queue").join(format!("{id}.json"));
    assert_eq!(ran["path"], path.canonicalize().unwrap().to_str().unwrap());
    curator.is_of("curator-job", &path);
    let job = curator.json(&format!("queue/{id}.json"));
    let parts: Vec<&str> = id.splitn(2, '-').collect();
    assert!(parts[0].len() == 16 && parts[0].ends_with('Z'), "{id}");
    let hex = id.rsplit_once('-').unwrap().1;
    assert!(hex.len() == 8 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert!(id.contains("-ingest-claude-session-"));
    assert_eq!(job["max_retries"], 1);
    assert_eq!(job["source"], json!({ "path": source, "chunk_start": 0, "chunk_end": 64 }));
    // A source is made absolute: the worker runs elsewhere.
    fs::write(curator.path("empty/t.jsonl"), "y\n").unwrap();
    let ran = curator.run(&["--json", "enqueue", "--kind", "dream-seed", "--source", "t.jsonl"]);
    let named = ran.expect(0).json()["job"]["source"]["path"].as_str().unwrap().to_owned();
    assert!(Path::new(&named).is_absolute() && named.ends_with("empty/t.jsonl"), "{named}");
}

// proves: CUR-04
#[test]
fn what_is_no_job_or_not_allowed_is_refused() {
    let curator = Curator::with("    allowed_job_kinds: [lint-wiki, ingest-claude-session]\n");
    fs::write(curator.path("empty/s.jsonl"), "x").unwrap();
    std::os::unix::fs::symlink("s.jsonl", curator.path("empty/link.jsonl")).unwrap();
    let made = Command::new("mkfifo").arg(curator.path("empty/pipe.jsonl")).status().unwrap();
    assert!(made.success());
    let refused = curator.run(&["enqueue", "--kind", "dream-seed"]).expect(4);
    assert!(refused.stderr.contains("allowed_job_kinds"), "{refused}");
    let ingest = ["enqueue", "--kind", "ingest-claude-session"];
    for (more, why) in [
        (&["--kind", "edit-corpus"][..], "kind"),
        (&[], "none was named"),
        (&["--chunk-start", "1"], "no source"),
        (&["--source", "absent.jsonl"], "absent.jsonl"),
        (&["--source", "link.jsonl"], "not a plain file"),
        (&["--source", "pipe.jsonl"], "not a plain file"),
        (&["--source", "s.jsonl", "--chunk-start", "1"], "holds nothing"),
        (&["--source", "s.jsonl", "--chunk-start", "5", "--chunk-end", "9"], "begins at 5"),
        (&["--source", "s.jsonl", "--chunk-end", "300000"], "larger than"),
    ] {
        let arguments = if more.first() == Some(&"--kind") {
            [&["enqueue"], more].concat()
        } else {
            [&ingest[..], more].concat()
        };
        let ran = curator.run(&arguments).expect(2);
        assert!(ran.stderr.contains(why), "{arguments:?}: {ran}");
    }
    curator.run(&["enqueue", "--kind", "lint-wiki", "--source", "s.jsonl"]).expect(2);
    assert!(curator.names("queue").is_empty());
}

// proves: CUR-04
// pitfall 23
#[test]
fn the_hourly_cap_holds() {
    let curator = Curator::with("    hourly_cap: 3\n");
    for _ in 0..3 {
        curator.run(&LINT).expect(0);
    }
    let over = curator.run(&LINT).expect(75);
    assert!(over.stderr.contains("hourly cap") && over.stderr.contains("later"), "{over}");
    curator.run(&["--dry-run", "enqueue", "--kind", "lint-wiki"]).expect(75);
    // Wherever a job lies, it counts.
    for (name, folder) in curator.names("queue").iter().zip(["processing", "done", "failed"]) {
        fs::create_dir(curator.worker(folder)).unwrap();
        fs::rename(curator.worker("queue").join(name), curator.worker(folder).join(name)).unwrap();
        curator.run(&LINT).expect(75);
    }
    assert!(curator.names("queue").is_empty());
    curator.later(3500, &LINT).expect(75);
    curator.later(3700, &LINT).expect(0);
    // A clock that was set back gives nobody more, and neither does a file that cannot be read.
    curator.configure("    hourly_cap: 5\n");
    fs::write(curator.worker("queue/zz.json"), "{").unwrap();
    curator.run(&LINT).expect(75);
    fs::remove_file(curator.worker("queue/zz.json")).unwrap();
    curator.run(&LINT).expect(0);
    curator.run(&LINT).expect(75);
}

// proves: CUR-04
// pitfall 23
#[test]
fn of_many_at_once_no_more_than_the_cap_get_in() {
    const AT_ONCE: usize = 16;
    let curator = Curator::with("    hourly_cap: 5\n");
    let all: Vec<_> = (0..AT_ONCE).map(|_| curator.command(&LINT).spawn().unwrap()).collect();
    let codes: Vec<i32> =
        all.into_iter().map(|child| Ran::of(child.wait_with_output().unwrap()).code).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 5, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == 75).count(), AT_ONCE - 5, "{codes:?}");
    assert_eq!(curator.names("queue").len(), 5);
}

// proves: CUR-04
#[test]
fn killed_at_any_moment_a_job_is_whole_or_absent() {
    let curator = Curator::with("    hourly_cap: 100000\n");
    killed_everywhere(&curator, &LINT, || {
        for name in curator.names("queue").iter().filter(|name| !name.starts_with('.')) {
            let job = curator.json(&format!("queue/{name}"));
            assert_eq!(name.strip_suffix(".json"), job["id"].as_str());
            fs::remove_file(curator.worker("queue").join(name)).unwrap();
        }
    });
    // What the killed ones left half-written is gone.
    curator.run(&LINT).expect(0);
    assert!(curator.names("queue").iter().all(|name| !name.starts_with('.')));
}

/// Whatever changes a file.
const CALLS: [&str; 8] =
    ["openat", "write", "fsync", "fdatasync", "rename", "unlink", "mkdir", "flock"];
/// More of one kind than one command makes.
const CALLS_MAX: usize = 400;

/// Kills a command at the n-th call of each kind, for every n. `check` looks at what is left.
pub(crate) fn killed_everywhere(curator: &Curator, arguments: &[&str], check: impl Fn()) {
    let mut killed = 0;
    for call in CALLS {
        for number in 1.. {
            assert!(number < CALLS_MAX, "{arguments:?} never came to its end");
            let own = curator.command(arguments);
            let mut strace = Command::new("strace");
            strace
                .args(["-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"])
                .arg(format!("inject={call}:signal=KILL:when={number}"))
                .arg(own.get_program())
                .args(own.get_args())
                .env_clear()
                .env("HOME", curator.path("home"))
                .current_dir(curator.path("empty"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let is_whole = strace.status().unwrap().success();
            check();
            if is_whole {
                break;
            }
            killed += 1;
        }
    }
    assert!(killed > 12, "only {killed} kills: is strace there?");
}

// proves: CUR-02, CUR-08
#[test]
fn status_tells_what_is_configured_and_what_answers() {
    let models = r#"{"models":[{"name":"gemma4:e4b"},{"model":"small:latest"}]}"#;
    let url = engine("200 OK", models);
    let curator = Curator::with(&format!(
        "    ollama_url: {url}\n    model: small\n    hourly_cap: 7\nrunners:\n  house: {{ kind: ollama, model: small, endpoint: '{url}' }}\n"
    ));
    curator.run(&LINT).expect(0);
    curator.write("worker/processing/odd.json", "{}");
    curator.write(
        "worker/logs/status.json",
        &json!({ "pid": std::process::id(), "mood": "good" }).to_string(),
    );
    for name in ["claude", "opencode", "oc-ask"] {
        curator.write(&format!("bin/{name}"), "#!/bin/sh\n");
        let path = curator.path(&format!("bin/{name}"));
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let with_path = |mut command: Command| {
        let output = command.env("PATH", curator.path("bin")).output().unwrap();
        Ran::of(output).expect(0).json()
    };
    let status = with_path(curator.command(&["status", "--json"]));
    assert_eq!(status["is_configured"], true);
    assert_eq!(status["settings"]["hourly_cap"], 7);
    assert_eq!(status["settings"]["ollama_url"], url);
    assert_eq!(
        status["engine"],
        json!({ "is_healthy": true, "models": ["gemma4:e4b", "small:latest"] })
    );
    assert_eq!(status["model"], json!({ "name": "small", "is_available": true }));
    assert_eq!(status["queue"]["depth"], 1);
    assert_eq!(status["queue"]["processing"], 1);
    assert_eq!(
        (&status["worker"]["state"], &status["worker"]["status"]["mood"]),
        (&json!("alive"), &json!("good"))
    );
    let found: Vec<&str> = status["runners"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|runner| runner["installed"] == true)
        .map(|runner| runner["name"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["claude", "opencode"]);
    // There is one list of them.
    let mut listed = curator.repo.command(&["runners", "--json"]);
    listed.env("HOME", curator.path("home"));
    let listed = with_path(listed);
    assert_eq!(status["runners"], listed["runners"]);
    assert!(listed["runners"].as_array().unwrap().iter().any(|one| one["name"] == "house"));
    assert_eq!(status["bridge"]["is_supported"], true);
    let without = curator.run(&["status", "--json"]).expect(0).json();
    assert_eq!(without["bridge"]["is_supported"], false);
    let text = curator.run(&["status"]).expect(0);
    assert!(text.stdout.contains("1 wait"), "{text}");
    curator.configure(&format!("    ollama_url: {url}\n    model: large\n"));
    let status = curator.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["model"], json!({ "name": "large", "is_available": false }));
}

// proves: CUR-03
// proves: CUR-08
#[test]
fn each_trouble_is_named_with_its_remedy() {
    let url = engine("200 OK", r#"{"models":[{"name":"small"}]}"#);
    let curator = Curator::with(&format!("    ollama_url: {url}\n    model: small\n"));
    let kinds = |ran: &Ran| -> Vec<String> {
        let told = ran.json();
        let troubles = told["troubles"].as_array().unwrap().clone();
        for trouble in &troubles {
            assert!(!trouble["remedy"].as_str().unwrap().is_empty(), "{trouble}");
        }
        let is_trouble = |trouble: &&Value| trouble["level"] == "trouble";
        troubles.iter().filter(is_trouble).map(|t| t["kind"].as_str().unwrap().to_owned()).collect()
    };
    let well = curator.run(&["--json", "diagnose"]).expect(0);
    assert!(kinds(&well).is_empty(), "{well}");
    assert!(
        well.stdout.contains("bridge-unsupported") && well.stdout.contains("openclaw and oc-ask")
    );
    let only = |what: &str| {
        let ran = curator.run(&["--json", "diagnose"]).expect(5);
        assert_eq!(kinds(&ran), [what], "{ran}");
        ran
    };
    fs::rename(curator.path("worker"), curator.path("away")).unwrap();
    assert!(only("worker-dir-missing").stdout.contains("mkdir -p"));
    fs::rename(curator.path("away"), curator.path("worker")).unwrap();
    fs::rename(curator.path("vault"), curator.path("away")).unwrap();
    only("vault-missing");
    fs::rename(curator.path("away"), curator.path("vault")).unwrap();
    curator.configure(&format!("    ollama_url: {url}\n    model: large\n"));
    assert!(only("model-absent").stdout.contains("ollama pull large"));
    curator.configure(&format!("    ollama_url: {url}\n"));
    only("model-absent");
    let other = engine("404 Not Found", "no");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let redirect = engine("302 Found", r#"{"models":[]}"#);
    let closed = format!("http://{closed}");
    for wrong in [&other, &closed, &redirect, "ftp://box:1", "http://a@b", "ollama"] {
        curator.configure(&format!("    ollama_url: {wrong:?}\n    model: small\n"));
        only("endpoint-wrong");
    }
    curator.configure("    engine: other\n    model: small\n");
    only("engine-unsupported");
    curator.configure(&format!("    ollama_url: {url}\n    model: small\n"));
    // A process that has ended.
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    curator.write("worker/logs/status.json", &json!({ "pid": gone.id() }).to_string());
    assert!(only("worker-stale").stdout.contains(&gone.id().to_string()));
    // Another process has its number by now.
    let reused = json!({ "pid": std::process::id(), "process_start": 1 });
    curator.write("worker/logs/status.json", &reused.to_string());
    only("worker-stale");
    curator.write("worker/logs/status.json", "[]");
    only("status-unreadable");
    fs::remove_file(curator.worker("logs/status.json")).unwrap();
    curator.write("worker/queue/a.json", "{\u{1b}[31m");
    let unread = only("job-unreadable");
    assert!(!curator.run(&["diagnose"]).stdout.contains('\u{1b}'), "{unread}");
    fs::remove_file(curator.worker("queue/a.json")).unwrap();
    curator.write("worker/events/pending.jsonl", "no event\n");
    only("events-unreadable");
}

// proves: CUR-02
#[test]
fn a_repository_cannot_send_texts_or_files_elsewhere() {
    let curator =
        Curator::with("    hourly_cap: 9\n    allowed_job_kinds: [lint-wiki, dream-seed]\n");
    let own = "dream:\n  local_curator:\n    worker_dir: /tmp\n    vault_dir: ../x\n    ollama_url: http://evil.example:1\n    \
        hourly_cap: 50\n    allowed_job_kinds: [dream-seed, ingest-claude-session]\n";
    let file = curator.repo.root().join(".agentops/config.yaml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, own).unwrap();
    let status = curator.run(&["--json", "status"]).expect(0).json();
    let settings = &status["settings"];
    assert_eq!(settings["worker_dir"], curator.path("worker").to_str().unwrap());
    assert_eq!(settings["ollama_url"], "http://127.0.0.1:11434");
    assert_eq!(settings["hourly_cap"], 9);
    assert_eq!(settings["allowed_job_kinds"], json!(["dream-seed"]));
    assert_eq!(status["left_out"].as_array().unwrap().len(), 3, "{status}");
    let shown = curator.run(&["status"]).expect(0).stdout;
    for (key, value, why) in [
        ("worker_dir", "/tmp", "outside of the repository"),
        ("vault_dir", "../x", "outside of the repository"),
        ("ollama_url", "http://evil.example:1", "another machine"),
    ] {
        let line = shown.lines().find(|line| line.contains(&format!("local_curator.{key}")));
        let line = line.unwrap_or_else(|| panic!("{key}: {shown}"));
        for part in ["refused", value, why, "~/.agentops/config.yaml"] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    let warned = curator.run(&["enqueue", "--kind", "dream-seed"]).expect(0);
    assert!(warned.stderr.contains("local_curator.ollama_url is refused"), "{warned}");
    // What lies in the repository, and this machine's own engine, is the repository's to name.
    fs::create_dir(curator.repo.root().join("curator")).unwrap();
    fs::remove_file(curator.path("home/.agentops/config.yaml")).unwrap();
    fs::write(
        &file,
        "dream:\n  local_curator:\n    worker_dir: curator\n    ollama_url: http://localhost:1\n",
    )
    .unwrap();
    curator.run(&LINT).expect(0);
    assert!(curator.repo.root().join("curator/queue").is_dir());
    // A link that leads out of it is not in it.
    std::os::unix::fs::symlink(curator.path("empty"), curator.repo.root().join("out")).unwrap();
    fs::write(&file, "dream:\n  local_curator:\n    worker_dir: out\n").unwrap();
    curator.run(&LINT).expect(6);
    assert!(fs::read_dir(curator.path("empty")).unwrap().next().is_none());
    // The environment is the user's.
    let output = curator
        .command(&LINT)
        .env("AGENTOPS_DREAM_LOCAL_CURATOR_WORKER_DIR", curator.path("worker"))
        .output()
        .unwrap();
    Ran::of(output).expect(0);
}
