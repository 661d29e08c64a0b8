//! What was said is recorded, and plays back as it was.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::CassetteLine;
use ao_runner::cassette::{Cassette, CassetteError, Played, Recorded, Tape};
use ao_runner::http::Ollama;
use ao_runner::wrap::{NONCE_BYTES, Nonce};
use ao_runner::{
    Answer, Cost, Exchange, Failure, Material, Request, Runner, Said, Usage, Usd, ask,
};
use serde_json::json;

use crate::asked::{NOW, SECRET, clock, endpoint, nonce, request, vault};
use crate::server::{Act, Server, chat, json_reply};

/// Answers once after the other.
#[derive(Debug)]
struct Told(RefCell<Vec<Result<Exchange, Failure>>>);

impl Runner for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn exchange(&self, _: &Request, _: &str, _: &AtomicBool) -> Result<Exchange, Failure> {
        self.0.borrow_mut().remove(0)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a script has answers and failures")]
fn said(text: &str) -> Result<Exchange, Failure> {
    let usage = Usage { tokens: Said::ByRunner(9), turns: 1, cost: Cost::Imputed(Usd(3)) };
    Ok(Exchange { text: text.into(), usage, took: Duration::from_micros(1_234_567), exit: Some(0) })
}

fn asked(runner: &dyn Runner, request: &Request, nonce: &Nonce) -> Result<Answer, Failure> {
    ask(runner, request, nonce, &AtomicBool::new(false))
}

/// Asks while it is recorded; each question has a word of its own.
fn record(
    results: Vec<Result<Exchange, Failure>>,
    requests: &[Request],
) -> (tempfile::TempDir, PathBuf, Vec<Result<Answer, Failure>>) {
    vault();
    let folder = tempfile::tempdir().unwrap();
    let tape = Tape::new(folder.path(), "20260416T020000Z", clock()).unwrap();
    let told = Told(RefCell::new(results));
    let answers = requests.iter().zip(1..).map(|(request, number)| {
        let nonce = Nonce::new([number; NONCE_BYTES]);
        let recorded = Recorded { runner: &told, model: Some("small"), nonce: &nonce, tape: &tape };
        asked(&recorded, request, &nonce)
    });
    let answers = answers.collect();
    assert!(told.0.borrow().is_empty(), "all of it was asked for");
    let path = folder.path().join("cassettes/20260416T020000Z.jsonl");
    assert_eq!(tape.path(), path);
    (folder, path, answers)
}

fn play(cassette: &Cassette, request: &Request) -> Result<Answer, Failure> {
    let played = Played { name: "told", cassette };
    asked(&played, request, &cassette.nonce("told")?)
}

#[test]
fn what_was_recorded_plays_back_as_it_was() {
    let limited = Failure::RateLimited { runner: "told".into(), until: Some(NOW.parse().unwrap()) };
    let results = vec![
        said("{\"a\":1}"),
        said("{}"),
        said("{\"a\":2}"),
        Err(limited),
        said("no"),
        said("no"),
    ];
    let requests = [request(), request(), request(), request()];
    let (_folder, path, answers) = record(results, &requests);
    assert!(answers[1].as_ref().unwrap().is_repaired);
    assert_eq!(answers[3].as_ref().unwrap_err().kind(), "not-json");
    let cassette = Cassette::open(&path).unwrap();
    assert_eq!((cassette.left(), cassette.runners()), (6, vec!["told"]));
    assert_eq!(cassette.at("told"), Some(NOW.parse().unwrap()));
    for (request, answer) in requests.iter().zip(&answers) {
        assert_eq!(&play(&cassette, request), answer);
    }
    assert_eq!(cassette.left(), 0);
    let over = play(&cassette, &request()).unwrap_err();
    assert!(
        over.kind() == "not-recorded" && over.to_string().contains("was not asked again"),
        "{over}"
    );
    // Every line is of the published form and says all of it.
    let text = std::fs::read_to_string(&path).unwrap();
    for line in text.lines() {
        ao_contract::check("cassette", &serde_json::from_str(line).unwrap()).unwrap();
    }
    let first: CassetteLine = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((first.runner.as_str(), first.model.as_deref()), ("told", Some("small")));
    assert_eq!((first.exit, first.took_ms, first.at.as_str()), (Some(0), 1234, NOW));
    assert_eq!((first.nonce, first.budget.tokens), ("01".repeat(NONCE_BYTES), 4000));
    assert!(
        first.question.contains("Say b.") && first.question.contains(&"01".repeat(NONCE_BYTES))
    );
}

#[test]
fn another_question_is_refused_and_what_differs_is_said() {
    let (_folder, path, _) = record(vec![said("{\"a\":1}")], &[request()]);
    let change = |change: fn(&mut Request)| {
        let mut request = request();
        change(&mut request);
        let cassette = Cassette::open(&path).unwrap();
        let failure = play(&cassette, &request).unwrap_err();
        assert_eq!((failure.kind(), cassette.left()), ("not-recorded", 1));
        failure.to_string()
    };
    let prompt = change(|request| request.prompt = "Say c.".into());
    assert!(
        prompt.contains("differs at byte 4: recorded \"a.") && prompt.contains("asked \"c."),
        "{prompt}"
    );
    let material = change(|request| request.material[0].text = "Say é.".into());
    assert!(material.contains("recorded \"b.") && material.contains("asked \"é."), "{material}");
    assert!(
        change(|request| request.purpose = "other").contains("asked for test, and now for other")
    );
    assert!(
        change(|request| request.form.name = "b-number").contains("a-number, and now is b-number")
    );
    assert!(
        change(|request| request.form.schema = json!({})).contains("schema of a-number is another")
    );
    let cassette = Cassette::open(&path).unwrap();
    let other = Played { name: "other", cassette: &cassette };
    assert_eq!(asked(&other, &request(), &nonce()).unwrap_err().kind(), "not-recorded");
    // Another word around the same material is another text.
    let played = Played { name: "told", cassette: &cassette };
    assert_eq!(asked(&played, &request(), &nonce()).unwrap_err().kind(), "not-recorded");
    // What it may cost now makes no other question.
    let mut cheaper = request();
    cheaper.budget.tokens = 7;
    assert!(play(&cassette, &cheaper).is_ok());
}

#[test]
fn a_secret_is_not_recorded_and_the_replay_still_finds_its_place() {
    let mut secret = request();
    secret.material.push(Material { label: "env".into(), text: format!("KEY=\"{SECRET}\"\n") });
    let leak = || said(&format!("{{\"a\":1,\"b\":\"{SECRET}\"}}"));
    let results = vec![
        leak(),
        said("{\"a\":1}"),
        leak(),
        leak(),
        said(&format!("no JSON, but {SECRET}")),
        said("{\"a\":2}"),
        Err(Failure::Broken(SECRET.into())),
    ];
    let requests = [secret.clone(), request(), secret, request()];
    let (_folder, path, answers) = record(results, &requests);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(SECRET) && text.contains("***REDACTED***"), "{text}");
    assert!(answers[0].as_ref().unwrap().is_repaired);
    // An answer that was refused for its secret is refused again, though the secret is gone.
    assert_eq!(answers[1].as_ref().unwrap_err().kind(), "unsafe");
    let cassette = Cassette::open(&path).unwrap();
    for (request, answer) in requests.iter().zip(&answers).take(3) {
        assert_eq!(&play(&cassette, request), answer);
    }
    assert_eq!(play(&cassette, &requests[3]), Err(Failure::Broken("***REDACTED***".into())));
}

#[test]
fn a_cassette_is_whole_but_for_a_last_line_that_was_cut() {
    let (_folder, path, _) =
        record(vec![said("{\"a\":1}"), said("{\"a\":2}")], &[request(), request()]);
    let whole = std::fs::read_to_string(&path).unwrap();
    let first = whole.find('\n').unwrap() + 1;
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    assert_eq!(Cassette::open(&path).unwrap().left(), 1);
    for bad in [
        format!("{}x\n{}", &whole[..first - 9], &whole[first..]),
        whole.replace("\"answer\"", "\"anzwer\""),
    ] {
        std::fs::write(&path, bad).unwrap();
        assert!(matches!(Cassette::open(&path), Err(CassetteError::Damaged { line: 1, .. })));
    }
    assert!(matches!(Cassette::open(&path.with_extension("none")), Err(CassetteError::Io { .. })));
    let folder = tempfile::tempdir().unwrap();
    for bad in ["../x", "a/b", "", "a b"] {
        assert!(Tape::new(folder.path(), bad, clock()).is_err(), "{bad:?}");
    }
}

#[test]
fn a_night_over_http_plays_back_without_the_server() {
    let server = Server::start(|_, count| match count {
        0 => json_reply(200, &chat("{\"a\":1}")),
        1 => Act::Reply(429, vec![("Retry-After", "90".into())], String::new()),
        _ => json_reply(200, &chat("{\"b\":1}")),
    });
    let folder = tempfile::tempdir().unwrap();
    let tape = Tape::new(folder.path(), "run", clock()).unwrap();
    let runner = Ollama::new("told", endpoint(&server.address(), None), "small");
    let nonce = nonce();
    let recorded =
        Recorded { runner: &runner, model: Some(runner.model()), nonce: &nonce, tape: &tape };
    let answers: Vec<_> = (0..3).map(|_| asked(&recorded, &request(), &nonce)).collect();
    assert_eq!(server.asked().len(), 4);
    let cassette = Cassette::open(tape.path()).unwrap();
    let again: Vec<_> = (0..3).map(|_| play(&cassette, &request())).collect();
    assert_eq!(again, answers);
    assert_eq!((server.asked().len(), cassette.left()), (4, 0));
}
