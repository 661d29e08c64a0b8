//! `POST {base}/chat/completions`, and servers that cannot do all of it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_runner::http::{Model, OpenAi};
use ao_runner::ledger::{FILE, Ledger, Limits};
use ao_runner::{Cost, Failure, Metered, Nature, Request, Runner, Said, Usage, Usd, ask};
use serde_json::{Value, json};

use crate::asked::{SECRET, answer, clock, endpoint, exchange, form, key, nonce, request};
use crate::server::{Act, Asked, Server, completion, json_reply};

fn openai(server: &Server) -> OpenAi {
    OpenAi::new("remote", endpoint(&format!("{}/v1/", server.address()), None), "small")
}

fn format(asked: &Asked) -> &str {
    asked.body["response_format"]["type"].as_str().unwrap_or("plain")
}

fn refused(message: &str) -> Act {
    json_reply(400, &json!({ "error": { "message": message, "type": "invalid_request_error" } }))
}

#[test]
fn it_is_asked_with_the_schema_and_the_key_and_answers() {
    let server = Server::saying(json_reply(200, &completion("{\"a\":1}")));
    let address = format!("{}/v1", server.address());
    let runner = OpenAi::new("remote", endpoint(&address, Some(key())), "small");
    let answer = answer(&runner).unwrap();
    assert_eq!(answer.value, json!({ "a": 1 }));
    let usage = Usage { tokens: Said::ByRunner(111), turns: 1, cost: Cost::Unknown };
    assert_eq!(answer.usage, usage, "a key says that there is an account");
    let [asked] = server.asked().try_into().unwrap();
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(asked.field("authorization"), Some(&*format!("Bearer {SECRET}")));
    let told = &asked.body["response_format"]["json_schema"];
    assert_eq!((&told["schema"], &told["name"]), (&form().schema, &json!("a-number")));
    assert_eq!((&asked.body["temperature"], &asked.body["stream"]), (&json!(0), &json!(false)));
    assert!(asked.body["max_tokens"].as_u64().unwrap() < 4000);
}

#[test]
fn a_server_is_asked_the_way_it_can_take_and_found_out_once() {
    for (takes, asked_first) in [
        ("json_object", &["json_schema", "json_object", "json_object"][..]),
        ("plain", &["json_schema", "json_object", "plain", "plain"]),
    ] {
        let server = Server::start(move |asked, _| {
            if format(asked) == takes {
                json_reply(200, &completion("{\"a\":1}"))
            } else {
                refused("this response_format is not known")
            }
        });
        let runner = openai(&server);
        assert_eq!(answer(&runner).unwrap().usage.cost, Cost::Free);
        answer(&runner).unwrap();
        let formats: Vec<_> = server.asked().iter().map(|asked| format(asked).to_owned()).collect();
        assert_eq!(formats, asked_first);
        // The schema goes along in words then.
        let question = server.asked().pop().unwrap().body["messages"][0]["content"].to_string();
        assert!(question.contains("required"), "{question}");
    }
    let never = Server::saying(refused("the model is not known"));
    let failure = answer(&openai(&never)).unwrap_err();
    assert!(failure.kind() == "not-started" && failure.to_string().contains("model is not known"));
    assert_eq!(never.asked().len(), 3);
}

#[test]
fn fields_that_a_server_refuses_are_left_out() {
    let server = Server::start(|asked, _| {
        let has = |name: &str| asked.body.get(name).is_some();
        if has("max_tokens") {
            refused("'max_tokens' is not supported; use 'max_completion_tokens'")
        } else if has("temperature") {
            refused("'temperature' must be 1")
        } else {
            json_reply(200, &completion("{\"a\":1}"))
        }
    });
    answer(&openai(&server)).unwrap();
    let asked = server.asked().pop().unwrap();
    assert!(asked.body["max_completion_tokens"].is_u64() && asked.body.get("seed").is_none());
    assert_eq!((format(&asked), server.asked().len()), ("json_schema", 3));
}

#[test]
fn a_server_that_takes_no_notice_of_the_schema_is_told_in_words() {
    let server = Server::start(|asked, _| {
        let text = if format(asked) == "json_schema" { "Well, a is 1." } else { "{\"a\":1}" };
        json_reply(200, &completion(text))
    });
    let runner = openai(&server);
    assert!(answer(&runner).unwrap().is_repaired);
    assert!(!answer(&runner).unwrap().is_repaired);
    let formats: Vec<_> = server.asked().iter().map(|asked| format(asked).to_owned()).collect();
    assert_eq!(formats, ["json_schema", "json_object", "json_object"]);
}

#[test]
fn what_is_no_answer_is_none() {
    let with = |pointer: &str, value: Value| {
        let mut reply = completion("{\"a\":1}");
        *reply.pointer_mut(pointer).unwrap() = value;
        reply
    };
    for (reply, kind, word) in [
        (with("/choices/0/finish_reason", json!("length")), "broken", "cut off at the limit"),
        (with("/choices/0/finish_reason", json!("content_filter")), "broken", "filter"),
        (with("/choices/0/message", json!({ "refusal": "No." })), "broken", "refused to answer"),
        (with("/choices/0/message", json!({ "content": null })), "broken", "answered nothing"),
        (with("/choices", json!([])), "broken", "answered nothing"),
        (json!({ "error": { "message": "later" } }), "broken", "later"),
        (completion("{\"a\":1,\"b\":\"\\u0007\"}"), "unsafe", "control"),
        (completion("{\"b\":1}"), "not-of-the-form", "a is no number"),
    ] {
        let server = Server::saying(json_reply(200, &reply));
        let failure = answer(&openai(&server)).unwrap_err();
        assert_eq!(failure.kind(), kind, "{reply}: {failure}");
        assert!(failure.to_string().contains(word), "{reply}: {failure}");
    }
}

#[test]
fn what_it_cost_is_taken_from_the_answer() {
    let mut reply = completion("{\"a\":1}");
    reply["usage"]["cost"] = json!(0.0123);
    let server = Server::saying(json_reply(200, &reply));
    let keyed = OpenAi::new("remote", endpoint(&server.address(), Some(key())), "small");
    assert_eq!(exchange(&keyed).unwrap().usage.cost, Cost::Real(Usd(12_300)));
    // Also of a server of this machine, which may pass the question on.
    assert_eq!(exchange(&openai(&server)).unwrap().usage.cost, Cost::Real(Usd(12_300)));
}

// A server of this machine that says nothing of money: free without a key, as an Ollama is, and all that was reserved
// with one, since whoever has an account there may pay.
#[test]
fn a_server_of_this_machine_is_free_unless_it_knows_accounts() {
    let server = Server::saying(json_reply(200, &completion("{\"a\":1}")));
    let keyed = OpenAi::new("keyed", endpoint(&server.address(), Some(key())), "small");
    let bare = openai(&server);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let ledger = Ledger::open(&path, Limits::default(), BTreeMap::new(), clock()).unwrap();
    let mut request = request();
    request.budget.usd = Usd(7_000);
    let ask_of = |runner: &dyn Runner, request: &Request| {
        let runner = Metered::new(runner, &ledger, Nature::Call);
        ask(&runner, request, &nonce(), &AtomicBool::new(false))
    };
    assert_eq!(ask_of(&bare, &request).unwrap().usage.cost, Cost::Free);
    assert_eq!(ledger.spent(None).usd(), Usd(0));
    assert_eq!(ask_of(&keyed, &request).unwrap().usage.cost, Cost::Unknown);
    assert_eq!(ledger.spent(Some("keyed")).usd(), Usd(7_000));
    // Where nothing may be paid, the one is asked and the other is not.
    request.budget.usd = Usd(0);
    ask_of(&bare, &request).unwrap();
    let heard = server.asked().len();
    let failure = ask_of(&keyed, &request).unwrap_err();
    assert!(
        failure.kind() == "not-started" && failure.to_string().contains("cost nothing"),
        "{failure}"
    );
    assert_eq!(server.asked().len(), heard);
    assert_eq!(ledger.spent(Some("keyed")).usd(), Usd(7_000));
}

#[test]
fn its_models_are_told_and_a_key_that_is_not_taken_too() {
    let server = Server::start(|asked, _| match asked.field("authorization") {
        Some(_) => json_reply(200, &json!({ "object": "list", "data": [{ "id": "small" }, {}] })),
        None => json_reply(401, &json!({ "error": { "message": "who is it?" } })),
    });
    let (time, go) = (Duration::from_secs(20), AtomicBool::new(false));
    let address = format!("{}/v1", server.address());
    let keyed = OpenAi::new("remote", endpoint(&address, Some(key())), "small");
    assert_eq!(keyed.models(time, &go).unwrap(), [Model { name: "small".into(), digest: None }]);
    assert_eq!(server.asked()[0].path, "/v1/models");
    assert_eq!(openai(&server).models(time, &go), Err(Failure::NotLoggedIn("remote".into())));
}
