//! A real language model behind both runners, with `AO_SWEEP=1` only.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_runner::cassette::{Cassette, Played, Recorded, Tape};
use ao_runner::http::{Ollama, OpenAi};
use ao_runner::ledger::{FILE, Ledger, Limits};
use ao_runner::{Answer, Cost, Failure, Form, Metered, Nature, Request, Runner, Said, ask};
use serde_json::{Value, json};

use crate::asked::{clock, endpoint, nonce, request};
use crate::model_server::{MODEL, Model};

fn runners(model: &Model) -> [Box<dyn Runner>; 2] {
    let address = model.address();
    [
        Box::new(Ollama::new("one", endpoint(&address, None), MODEL)),
        Box::new(OpenAi::new("two", endpoint(&format!("{address}/v1"), None), MODEL)),
    ]
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
    for runner in runners(&model) {
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
    for runner in runners(&model) {
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
    let address = model.address();
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
