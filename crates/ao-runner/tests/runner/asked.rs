//! One small question, and how it is asked.

use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_runner::http::Endpoint;
use ao_runner::wrap::{NONCE_BYTES, Nonce};
use ao_runner::{
    Answer, Budget, Clock, Exchange, Failure, Form, Material, Request, Runner, Usd, ask,
};
use ao_vault::{Redactor, Secret, set_redactor};
use jiff::Timestamp;
use serde_json::{Value, json};

/// What the vault of these tests knows.
pub(crate) const SECRET: &str = "sk-live-4f9QmZt7Wb2KxR8cHv";
pub(crate) const NOW: &str = "2026-04-16T02:00:00Z";

pub(crate) fn vault() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_redactor(Redactor::new([SECRET]).unwrap()));
}

pub(crate) fn clock() -> Clock {
    let now: Timestamp = NOW.parse().unwrap();
    Clock::new(move || now)
}

pub(crate) fn key() -> Secret {
    Secret::new(SECRET.as_bytes().to_vec().into()).unwrap()
}

pub(crate) fn endpoint(address: &str, key: Option<Secret>) -> Endpoint {
    vault();
    Endpoint::new(address.parse().unwrap(), key, Vec::new, clock()).unwrap()
}

pub(crate) fn form() -> Form {
    let read = |value: &Value| match value["a"].as_u64() {
        Some(_) => Ok(()),
        None => Err("a is no number".to_owned()),
    };
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"],
    });
    Form { name: "a-number", schema, read }
}

pub(crate) fn request() -> Request {
    Request {
        purpose: "test",
        prompt: "Say a.".into(),
        material: vec![Material { label: "a note".into(), text: "Say b.".into() }],
        form: form(),
        budget: Budget {
            time: Duration::from_secs(20),
            tokens: 4000,
            turns: 2,
            usd: Usd(50_000),
            output_bytes: 64 * 1024,
        },
    }
}

pub(crate) fn nonce() -> Nonce {
    Nonce::new([3; NONCE_BYTES])
}

pub(crate) fn answer(runner: &dyn Runner) -> Result<Answer, Failure> {
    ask(runner, &request(), &nonce(), &AtomicBool::new(false))
}

pub(crate) fn exchange(runner: &dyn Runner) -> Result<Exchange, Failure> {
    runner.exchange(&request(), "Say a.", &AtomicBool::new(false))
}

/// This binary once more, to run one test alone.
pub(crate) fn again(test: &str, variables: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.envs(variables.iter().copied()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Whether everything is to be looked at, and not a sample.
pub(crate) fn is_sweep() -> bool {
    std::env::var_os("AO_SWEEP").is_some_and(|value| value == "1")
}
