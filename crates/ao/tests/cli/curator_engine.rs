//! The curator's worker with an engine: a scripted one that speaks Ollama's protocol, and with `AO_SWEEP=1` a real language
//! model. Whatever an engine says, what comes of it are drafts, and knowledge stays as it is.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use self::model_server::{MODEL, Model};
use crate::curator::Curator;
use crate::repo::{Ran, files};

#[path = "../../../ao-runner/tests/runner/model_server.rs"]
mod model_server;

/// An engine on loopback that gives these answers in turn, and then the last one again. Keeps what it was asked.
struct Scripted {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn new(answers: &[&str]) -> Self {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &answers, &heard);
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn curator(&self) -> Curator {
        Curator::with(&format!("    ollama_url: {}\n    model: small\n", self.url))
    }
}

fn serve(mut stream: TcpStream, answers: &[String], heard: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(said) = line.to_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = if first.starts_with("GET /api/tags ") {
        json!({ "models": [{ "name": "small" }] })
    } else {
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert!(first.starts_with("POST /api/chat ") && body["model"] == "small", "{first}{body}");
        let mut heard = heard.lock().unwrap();
        let said = answers.get(heard.len()).or(answers.last()).unwrap();
        heard.push(body["messages"][0]["content"].as_str().unwrap().to_owned());
        json!({
            "message": { "role": "assistant", "content": said }, "done": true, "done_reason": "stop",
            "prompt_eval_count": 10, "eval_count": 10,
        })
    };
    let text = answer.to_string();
    let start =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
    write!(stream, "{start} {}\r\n\r\n{text}", text.len()).unwrap();
}

const SESSION: &str = concat!(
    r#"{"type":"user","message":{"role":"user","content":"The build hangs when two runs share one target folder."}}"#,
    "\n",
    r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The second run waits for the lock of the first. Give each its own folder."}]}}"#,
    "\n",
);

/// Notes, a session, and a job of every kind. Gives back the jobs' ids.
fn jobs(curator: &Curator) -> Vec<String> {
    curator.write(
        "vault/a.md",
        "---\ntitle: Locks\ndate: 2026-04-01\n---\nLocks go with their process.\n",
    );
    curator.write(
        "vault/b.md",
        "---\ntitle: Builds\ndate: 2026-04-02\n---\nTwo builds wait for one lock.\n",
    );
    curator.write("empty/s.jsonl", SESSION);
    let kinds: [&[&str]; 4] = [
        &["lint-wiki"],
        &["dream-seed"],
        &["dream-seed", "--source", "s.jsonl"],
        &["ingest-claude-session", "--source", "s.jsonl"],
    ];
    let enqueue = |kind: &&[&str]| {
        let ran = curator.run(&[&["--json", "enqueue", "--kind"], *kind].concat()).expect(0);
        ran.json()["job"]["id"].as_str().unwrap().to_owned()
    };
    kinds.iter().map(enqueue).collect()
}

/// What every outcome has in common. Gives back how each job ended.
fn check(curator: &Curator, ids: &[String]) -> Vec<Value> {
    assert_eq!((curator.names("queue"), curator.names("processing")), (vec![], vec![]));
    let mut expected: Vec<String> = Vec::new();
    let outcomes: Vec<Value> = ids
        .iter()
        .map(|id| {
            let is_done = curator.worker(&format!("done/{id}.json")).exists();
            let name = format!("{}/{id}.json", if is_done { "done" } else { "failed" });
            curator.is_of("curator-job", &curator.worker(&name));
            let job = curator.json(&name);
            let outcome = job["outcome"].clone();
            assert_eq!(outcome["status"], if is_done { "done" } else { "failed" });
            let wrote = outcome["wrote"].as_array().cloned().unwrap_or_default();
            let drafts = wrote.iter().filter_map(|path| path.as_str()?.strip_prefix("drafts/"));
            expected.extend(drafts.map(str::to_owned));
            if !is_done {
                assert!(wrote.is_empty() && !outcome["why"].as_str().unwrap().is_empty(), "{job}");
            }
            json!({ "kind": job["kind"], "outcome": outcome })
        })
        .collect();
    expected.sort();
    // What lies among the drafts is what jobs say that they wrote, and it says what it is.
    assert_eq!(curator.names("drafts"), expected);
    for name in &expected {
        let text = fs::read_to_string(curator.worker("drafts").join(name)).unwrap();
        let header = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap().0;
        for line in ["trust: model-inference", "maturity: provisional", "confidence: low"] {
            assert!(header.lines().any(|one| one == line), "{text}");
        }
        assert_eq!(header.matches("trust:").count(), 1, "{text}");
    }
    // Each of them can be read beyond doubt.
    let mut command = curator.repo.command(&["--json", "--dry-run", "harvest"]);
    let told = Ran::of(command.env("HOME", curator.path("home")).output().unwrap()).expect(0);
    assert!(!told.stdout.contains("beyond doubt"), "{told}");
    outcomes
}

// proves: CUR-07
#[test]
fn every_job_that_needs_an_engine_becomes_drafts_and_nothing_else_changes() {
    let seeds = json!({ "seeds": [{ "title": "t", "question": "Why two locks?", "why": "w" }] });
    let learnings = json!({ "learnings": [{
        "title": "Folders of their own", "learned": "Give each run its own folder.", "why": "They wait.",
        "apply": "Set it.", "quote": "The second run waits for the lock of the first.",
    }] });
    let (seeds, learnings) = (seeds.to_string(), learnings.to_string());
    // The third question is answered in prose first; its repair is of the form.
    let engine = Scripted::new(&[&seeds, &seeds, "Gladly!", &learnings]);
    let curator = engine.curator();
    let ids = jobs(&curator);
    let before = (files(&curator.path("vault")), curator.repo.everything());
    curator.run(&["work"]).expect(0);
    let outcomes = check(&curator, &ids);
    assert!(outcomes.iter().all(|one| one["outcome"]["status"] == "done"), "{outcomes:?}");
    assert_eq!((files(&curator.path("vault")), curator.repo.everything()), before);
    assert_eq!(curator.names("drafts").len(), 3);
    let asked = engine.asked();
    assert_eq!(asked.len(), 4);
    // Jobs of one second come in any order among their kind.
    assert!(asked[..2].iter().any(|asked| asked.contains("Two builds wait")), "{asked:?}");
    assert!(asked[2].contains("two runs share one target"), "{asked:?}");
    let draft = fs::read_to_string(curator.worker(&format!("drafts/{}-1.md", ids[3]))).unwrap();
    assert!(
        draft.contains("evidence: quoted") && draft.contains("drafted_by: ollama/small"),
        "{draft}"
    );
}

// proves: CUR-07
#[test]
fn answers_that_are_none_are_recorded_as_failures() {
    let empty = json!({ "seeds": [] }).to_string();
    let more =
        json!({ "seeds": [{ "title": "t", "question": "q", "why": "w", "trust": "human" }] });
    let long = json!({ "learnings": [{
        "title": "t".repeat(121), "learned": "l", "why": "", "apply": "", "quote": "",
    }] });
    for answer in ["no", "{}", "null", &empty, &more.to_string(), &long.to_string()] {
        let engine = Scripted::new(&[answer]);
        let curator = engine.curator();
        let ids = jobs(&curator);
        let before = (files(&curator.path("vault")), curator.repo.everything());
        let first = curator.run(&["--json", "work"]).expect(0).json();
        assert_eq!(first["put_back"].as_array().unwrap().len(), 3, "{answer}: {first}");
        curator.run(&["work"]).expect(0);
        let outcomes = check(&curator, &ids);
        assert_eq!(outcomes[0]["outcome"]["status"], "done");
        for failed in &outcomes[1..] {
            assert_eq!(failed["outcome"]["status"], "failed", "{answer}: {failed}");
            let why = failed["outcome"]["why"].as_str().unwrap();
            assert!(why.starts_with("not-json:") || why.starts_with("not-of-the-form:"), "{why}");
        }
        assert_eq!((files(&curator.path("vault")), curator.repo.everything()), before);
        // Each try is a question and its repair, and there are two tries.
        assert_eq!(engine.asked().len(), 12, "{answer}");
    }
}

// proves: CUR-07
#[test]
fn a_real_model_drafts_or_fails_and_changes_nothing() {
    let Some(model) = Model::start() else { return };
    let curator =
        Curator::with(&format!("    ollama_url: {}\n    model: '{MODEL}'\n", model.address()));
    curator.run(&["diagnose"]).expect(0);
    let ids = jobs(&curator);
    let before = (files(&curator.path("vault")), curator.repo.everything());
    // Once each: it is slow, and says the same again.
    for id in &ids {
        let name = format!("queue/{id}.json");
        let mut job = curator.json(&name);
        job["max_retries"] = json!(0);
        fs::write(curator.worker(&name), job.to_string()).unwrap();
    }
    curator.run(&["work"]).expect(0);
    let outcomes = check(&curator, &ids);
    assert_eq!((files(&curator.path("vault")), curator.repo.everything()), before);
    assert_eq!(outcomes[0]["outcome"]["status"], "done");
    for one in &outcomes {
        println!("{one}");
    }
}
