//! What a host may do to a call, whatever it speaks: both runners are told to ask the same bad hosts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ao_runner::http::{BadEndpoint, Endpoint, Ollama, OpenAi};
use ao_runner::{Failure, Runner};
use ao_vault::Secret;
use serde_json::json;

use crate::asked::{SECRET, again, clock, endpoint, exchange, key, request};
use crate::server::{Act, FOR_EVER, Server, chat, json_reply};

fn both(server: &Server) -> [Box<dyn Runner>; 2] {
    let endpoint = || endpoint(&server.address(), None);
    [
        Box::new(Ollama::new("one", endpoint(), "small")),
        Box::new(OpenAi::new("two", endpoint(), "small")),
    ]
}

fn raw(text: &str) -> Act {
    Act::Raw(text.as_bytes().to_vec())
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn every_way_to_fail_is_told_by_its_kind() {
    let error = json!({ "error": { "message": "no such model" } });
    let plain = |status, fields: &[(&'static str, &str)], body: &str| {
        let fields = fields.iter().map(|(name, value)| (*name, (*value).to_owned()));
        Act::Reply(status, fields.collect(), body.to_owned())
    };
    for (act, kind, word) in [
        (json_reply(401, &error), "not-logged-in", "is not logged in"),
        (json_reply(403, &error), "not-started", "403: no such model"),
        (json_reply(404, &error), "not-started", "404: no such model"),
        (json_reply(500, &error), "broken", "500: no such model"),
        (plain(502, &[], "<html>\u{1b}[31mbad"), "broken", "502: <html>\\u{1b}[31mbad"),
        (plain(429, &[("Retry-After", "90")], ""), "rate-limited", "until 2026-04-16T02:01:30Z"),
        (
            plain(429, &[("x-ratelimit-reset-tokens", "6m0s")], ""),
            "rate-limited",
            "until 2026-04-16T02:06:00Z",
        ),
        (plain(429, &[], ""), "rate-limited", "is reached"),
        (plain(503, &[("Retry-After", "60")], ""), "rate-limited", "until 2026-04-16T02:01:00Z"),
        (plain(503, &[], ""), "broken", "503"),
        (plain(200, &[("Content-Type", "text/html")], "<html>"), "broken", "text/html"),
        (
            plain(200, &[("Content-Type", "text/event-stream")], "data: {}"),
            "broken",
            "event-stream",
        ),
        (plain(200, &[], "{}"), "broken", "not with JSON"),
        (plain(200, &[("Content-Type", "application/json")], "{\"a\""), "broken", "not JSON"),
        (json_reply(200, &json!({ "error": "out of memory" })), "broken", "out of memory"),
        (json_reply(200, &json!({})), "broken", ""),
        (json_reply(200, &json!([])), "broken", ""),
        (raw(""), "broken", "ended before the answer"),
        (raw("HTTP/1.1 200 OK\r\nContent-Le"), "broken", "ended before the answer"),
        (raw("SSH-2.0-OpenSSH\r\n\r\n"), "broken", "no HTTP"),
        (
            raw(&format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: 90\r\n\r\n{{\"mess")),
            "broken",
            "broke off within",
        ),
        (
            raw(&format!(
                "HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n5\r\n{{\"mes\r\n"
            )),
            "broken",
            "broke off within",
        ),
        (
            raw(&format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n-5\r\n")),
            "broken",
            "no length",
        ),
        (
            raw(&format!(
                "HTTP/1.1 200 OK\r\n{JSON}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"
            )),
            "broken",
            "two lengths",
        ),
        (
            raw(&format!("HTTP/1.1 200 OK\r\n{JSON}Content-Encoding: gzip\r\n\r\n{{}}")),
            "broken",
            "encoded",
        ),
        // 1 GB by its own word, and without one.
        (
            raw(&format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: 1073741824\r\n\r\n")),
            "too-long",
            "65536",
        ),
        (
            Act::Endless(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
            ),
            "too-long",
            "65536",
        ),
        (
            Act::Endless("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
            "too-long",
            "65536",
        ),
        // The number says enough; the rest of it is not waited for.
        (Act::Endless("HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n"), "broken", "500"),
        (Act::Endless("HTTP/1.1 200 OK\r\nX: "), "broken", "too long"),
    ] {
        let server = Server::saying(act.clone());
        for runner in both(&server) {
            let failure = exchange(&*runner).expect_err(&format!("{act:?}"));
            assert_eq!(failure.kind(), kind, "{act:?}: {failure}");
            assert!(failure.to_string().contains(word), "{act:?}: {failure}");
        }
        // What the kernel holds on the way is some megabytes.
        assert!(server.bytes() < 64 << 20, "{act:?}: {}", server.bytes());
    }
}

#[test]
fn a_redirection_is_never_followed() {
    let elsewhere = Server::saying(json_reply(200, &chat("{\"a\":1}")));
    for status in [301, 302, 303, 307, 308] {
        for place in [
            format!("{}/api/chat", elsewhere.address()),
            format!("http://localhost:{}/", elsewhere.port),
            "/v1/chat".to_owned(),
        ] {
            let server = Server::saying(Act::Reply(
                status,
                vec![("Location", place.clone())],
                String::new(),
            ));
            for runner in both(&server) {
                assert_eq!(exchange(&*runner), Err(Failure::Redirected(place.clone())));
            }
            assert_eq!(server.asked().len(), 2);
        }
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn whoever_hangs_is_ended_by_the_limit_or_by_hand() {
    let server = Server::saying(Act::Hang);
    for runner in both(&server) {
        let mut request = request();
        request.budget.time = Duration::from_millis(300);
        let since = Instant::now();
        let failure = runner.exchange(&request, "Say a.", &AtomicBool::new(false)).unwrap_err();
        assert_eq!(failure, Failure::TimedOut(request.budget.time));
        assert!(since.elapsed() < FOR_EVER);
        let stop = Arc::new(AtomicBool::new(false));
        let hand = Arc::clone(&stop);
        let later = thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            hand.store(true, Ordering::Relaxed);
        });
        request.budget.time = Duration::from_mins(10);
        assert_eq!(runner.exchange(&request, "Say a.", &stop), Err(Failure::Stopped));
        later.join().unwrap();
    }
    // One that says a letter now and then is no better.
    let slow = Server::saying(Act::Endless(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    ));
    let mut request = request();
    request.budget.time = Duration::from_millis(300);
    request.budget.output_bytes = u64::MAX;
    let failure = both(&slow)[0].exchange(&request, "Say a.", &AtomicBool::new(false)).unwrap_err();
    assert_eq!(failure.kind(), "timed-out");
}

#[test]
fn nobody_there_is_not_started() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = Ollama::new("one", endpoint(&format!("http://127.0.0.1:{port}"), None), "small");
    assert_eq!(exchange(&nobody).unwrap_err().kind(), "not-started");
    let nameless = Ollama::new("one", endpoint("http://nobody.invalid", None), "small");
    assert_eq!(exchange(&nameless).unwrap_err().kind(), "not-started");
    // A question that is longer than its budget is not asked.
    let server = Server::saying(json_reply(200, &chat("{\"a\":1}")));
    for runner in both(&server) {
        let mut request = request();
        request.budget.tokens = 100;
        let failure = runner.exchange(&request, &"word ".repeat(200), &AtomicBool::new(false));
        assert_eq!(failure.unwrap_err().kind(), "not-started");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn without_tls_a_key_stays_on_this_machine_and_a_question_in_the_house() {
    for (address, key, word) in [
        ("http://192.0.2.1:80", None, "into the internet with https only"),
        ("http://10.255.255.1:80", Some(key()), "to another machine with https only"),
    ] {
        let runner = Ollama::new("one", endpoint(address, key), "small");
        let since = Instant::now();
        let failure = exchange(&runner).unwrap_err();
        assert!(failure.kind() == "not-started" && failure.to_string().contains(word), "{failure}");
        assert!(since.elapsed() < FOR_EVER, "nobody was called");
    }
    let made = |address: &str, value: &[u8]| {
        let secret = Secret::new(value.to_vec().into()).unwrap();
        Endpoint::new(address.parse().unwrap(), Some(secret), Vec::new, clock())
    };
    for bad in [&b"two\r\nX-Evil: lines"[..], b"with a space", "caf\u{e9}caf\u{e9}".as_bytes()] {
        assert!(matches!(made("http://127.0.0.1", bad), Err(BadEndpoint::Key)));
    }
    assert!(made("http://127.0.0.1", b"abcdefgh\n").is_ok());
    let far = made("https://api.example", b"abcdefgh");
    assert!(matches!(far, Err(BadEndpoint::NoAuthorities(_))));
}

#[test]
fn a_host_that_repeats_the_key_is_not_repeated() {
    let complaint = json!({ "error": { "message": format!("wrong key {SECRET}") } });
    let server = Server::saying(json_reply(400, &complaint));
    let runner = OpenAi::new("two", endpoint(&server.address(), Some(key())), "small");
    let failure = exchange(&runner).unwrap_err();
    assert!(failure.to_string().contains("wrong key ***REDACTED***"), "{failure}");
    assert!(!format!("{runner:?}{failure:?}").contains(SECRET));
}

const CHILD: &str = "AO_TEST_ENDPOINT";

/// The child of the test below; by itself it does nothing.
#[test]
fn a_child_that_asks() {
    if let Ok(address) = std::env::var(CHILD) {
        exchange(&Ollama::new("one", endpoint(&address, None), "small")).unwrap();
    }
}

#[test]
fn the_environment_names_no_proxy() {
    let proxy = Server::saying(Act::Raw(Vec::new()));
    let server = Server::saying(json_reply(200, &chat("{\"a\":1}")));
    let there = proxy.address();
    let mut variables: Vec<(&str, &str)> =
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"]
            .map(|name| (name, there.as_str()))
            .into();
    let address = server.address();
    variables.push((CHILD, &address));
    let output = again("bounds::a_child_that_asks", &variables).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!((server.asked().len(), proxy.connections()), (1, 0));
}
