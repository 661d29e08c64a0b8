//! `/api/tags` and `/api/chat`.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_runner::http::{Model, Ollama};
use ao_runner::{Cost, Said, Usage};
use serde_json::{Value, json};

use crate::asked::{answer, endpoint, exchange, form, key};
use crate::server::{Server, chat, json_reply};

fn ollama(server: &Server) -> Ollama {
    Ollama::new("local", endpoint(&server.address(), None), "small")
}

#[test]
fn it_is_asked_with_the_schema_and_a_context_and_answers() {
    let server = Server::saying(json_reply(200, &chat("{\"a\":1}")));
    let answer = answer(&ollama(&server)).unwrap();
    assert_eq!((&answer.value["a"], answer.is_repaired), (&json!(1), false));
    let usage = Usage { tokens: Said::ByRunner(111), turns: 1, cost: Cost::Free };
    assert_eq!(answer.usage, usage);
    let [asked] = server.asked().try_into().unwrap();
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/api/chat"));
    assert_eq!(asked.body["format"], form().schema);
    assert_eq!(asked.body["stream"], false);
    assert_eq!(asked.body["model"], "small");
    let options = &asked.body["options"];
    assert_eq!((&options["temperature"], &options["num_ctx"]), (&json!(0), &json!(4000)));
    assert!(options["seed"].is_u64() && options["num_predict"].as_u64().unwrap() < 4000);
    let question = asked.body["messages"][0]["content"].as_str().unwrap();
    assert!(question.starts_with("Say a.") && question.contains("Say b."), "{question}");
    assert_eq!(asked.field("authorization"), None);
    assert_eq!(asked.field("host").unwrap(), format!("127.0.0.1:{}", server.port));
}

#[test]
fn a_wrong_answer_is_repaired_once() {
    let server = Server::start(|_, count| {
        json_reply(200, &chat(["no JSON", "{\"a\":2}", "{\"a\":3}"][count]))
    });
    let answer = answer(&ollama(&server)).unwrap();
    assert!(answer.is_repaired && answer.value["a"] == 2);
    assert_eq!(answer.usage.tokens, Said::ByRunner(222));
    let again = server.asked()[1].body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(again.contains("was refused") && again.contains("no JSON"), "{again}");
}

#[test]
fn what_is_no_answer_is_none() {
    let with = |name: &str, value: Value| {
        let mut chat = chat("{\"a\":1}");
        chat[name] = value;
        chat
    };
    for (reply, kind, word) in [
        (with("done_reason", json!("length")), "broken", "cut off at the limit"),
        (with("done", json!(false)), "broken", "not complete"),
        (with("prompt_eval_count", json!(4000)), "broken", "question was cut off"),
        (with("message", json!({ "content": " " })), "broken", "answered nothing"),
        (with("message", json!({ "tool_calls": [] })), "broken", "answered nothing"),
        (with("error", json!("model runner has stopped")), "broken", "runner has stopped"),
        (chat("{\"a\":1,\"b\":\"\\u001b[2J\"}"), "unsafe", "escape"),
        (chat(&format!("{{\"a\":1,\"b\":\"{}\"}}", crate::asked::SECRET)), "unsafe", "vault"),
        (chat("Here: {\"a\":1}"), "not-json", ""),
        (chat("{\"b\":1}"), "not-of-the-form", "a is no number"),
    ] {
        let server = Server::saying(json_reply(200, &reply));
        let failure = answer(&ollama(&server)).unwrap_err();
        assert_eq!(failure.kind(), kind, "{reply}: {failure}");
        assert!(failure.to_string().contains(word), "{reply}: {failure}");
    }
}

#[test]
fn who_does_not_say_is_not_guessed_and_who_is_elsewhere_is_not_free() {
    let usage = |change: fn(&mut Value)| {
        let mut reply = chat("{\"a\":1}");
        change(&mut reply);
        let server = Server::saying(json_reply(200, &reply));
        exchange(&ollama(&server)).unwrap().usage
    };
    let silent = usage(|reply| drop(reply.as_object_mut().unwrap().remove("eval_count")));
    assert_eq!((silent.tokens, silent.cost), (Said::Nothing, Cost::Free));
    let cloud = usage(|reply| reply["remote_host"] = json!("https://ollama.com"));
    assert_eq!((cloud.tokens, cloud.cost), (Said::ByRunner(111), Cost::Unknown));
    // A key says that there is an account.
    let server = Server::saying(json_reply(200, &chat("{\"a\":1}")));
    let keyed = Ollama::new("local", endpoint(&server.address(), Some(key())), "small");
    assert_eq!(exchange(&keyed).unwrap().usage.cost, Cost::Unknown);
    let bearer = format!("Bearer {}", crate::asked::SECRET);
    assert_eq!(server.asked()[0].field("authorization"), Some(&*bearer));
}

#[test]
fn its_models_are_told_with_their_digests() {
    let list = json!({ "models": [
        { "name": "small:latest", "digest": "sha256:ab" }, { "model": "odd\u{1b}[0m" }, 7,
    ] });
    let server = Server::saying(json_reply(200, &list));
    let go = AtomicBool::new(false);
    let time = Duration::from_secs(20);
    let models = ollama(&server).models(time, &go).unwrap();
    let of = |name: &str, digest: Option<&str>| Model {
        name: name.into(),
        digest: digest.map(Into::into),
    };
    assert_eq!(models, [of("small:latest", Some("sha256:ab")), of("odd\\u{1b}[0m", None)]);
    assert_eq!(
        (server.asked()[0].method.as_str(), server.asked()[0].path.as_str()),
        ("GET", "/api/tags")
    );
    let other = Server::saying(json_reply(200, &json!({ "hello": 1 })));
    assert_eq!(ollama(&other).models(time, &go).unwrap_err().kind(), "broken");
}
