//! How far runners go, whatever they are called and however often they are named.

use std::fs;

use serde_json::{Value, json};

use crate::council::{Table, chat, lines, serve};
use crate::curator_events::event;
use crate::runners::{Desk, report, says};
use crate::vault::VALUE;

const MOST: u64 = 100_000;

/// The most that was taken or reserved at any moment.
fn most(ledger: &[Value]) -> u64 {
    let (mut open, mut spent, mut most) = (std::collections::BTreeMap::new(), 0, 0);
    for line in ledger {
        let tokens = line["tokens"].as_u64().unwrap();
        if line["event"] == "reserved" {
            open.insert(line["id"].as_u64().unwrap(), tokens);
        } else {
            open.remove(&line["id"].as_u64().unwrap());
            spent += tokens;
        }
        most = most.max(spent + open.values().sum::<u64>());
    }
    most
}

#[test]
fn who_is_named_twice_has_the_limits_of_one() {
    let table = Table::new();
    let worker = table.desk.home.path("worker");
    fs::create_dir(&worker).unwrap();
    let review = json!({
        "message": { "content": json!({ "runner": "local", "events": [] }).to_string() },
        "done": true, "done_reason": "stop", "prompt_eval_count": 30, "eval_count": 1,
    });
    let port = serve(vec![
        (200, String::new(), chat(60_000)),
        (200, String::new(), review.clone()),
        (200, String::new(), review),
    ]);
    let endpoint = format!("http://127.0.0.1:{port}");
    let local = json!({ "kind": "ollama", "model": "m", "endpoint": endpoint, "max_tokens": MOST });
    let curator = json!({ "local_curator": { "worker_dir": worker } });
    let config = json!({ "runners": { "local": local }, "dream": curator });
    fs::write(table.desk.home.path(".agentops/config.yaml"), config.to_string()).unwrap();
    // A repository chooses who is asked.
    table.write(".agentops/config.yaml", "dream: { runners: [local, local] }");
    let words = [&["overnight", "curator"], &event("s", "5")[..]].concat();
    table.desk.home.ao(&words).expect(0);
    table.night(&[], &[]).expect(0);
    assert_eq!(table.step("council-local").0, "done");
    assert!(table.step("council-local-2").1.contains("named twice"));
    let ledger = table.ledger();
    assert!(most(&ledger) <= MOST, "{ledger:#?}");
    assert_eq!(ledger.iter().filter(|line| line["why"] == "reported").count(), 2);
    // An event costs a call where somebody is asked, and nowhere else.
    let events = lines(worker.join("events/ledger.jsonl").to_str().unwrap());
    let asked = events.iter().filter(|line| line["step"] == "asked").count();
    assert_eq!(asked, 1, "{events:#?}");
}

#[test]
fn an_answer_that_cost_too_much_is_not_used_when_one_asks_by_hand() {
    let desk = Desk::new();
    let said = json!({
        "type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "structured_output": report("claude"), "total_cost_usd": 0.5,
        "usage": { "input_tokens": 5, "output_tokens": 5 },
    });
    desk.program("claude", &format!("cat > /dev/null\n{}", says(&said.to_string())));
    desk.ask("claude", &["--usd", "0.6"]).expect(0);
    desk.fails("claude", &["--usd", "0.4"], "over-budget", 1);
    // Counts that do not fit into a number are no small ones.
    let mut said = said;
    said["usage"] = json!({ "input_tokens": u64::MAX, "output_tokens": 5 });
    desk.program("claude", &format!("cat > /dev/null\n{}", says(&said.to_string())));
    desk.fails("claude", &[], "over-budget", 1);
}

#[test]
fn a_key_that_goes_over_http_is_told_of() {
    let table = Table::new();
    let endpoint = format!("http://127.0.0.1:{}", serve(vec![(200, String::new(), chat(1))]));
    let key = "vault://OTHER_KEY";
    table.desk.home.write("OTHER_KEY", b"sk-a-key-without-spaces").expect(0);
    table.desk.configure(
        &json!({ "local": { "kind": "ollama", "model": "m", "endpoint": endpoint, "auth": key } }),
    );
    table.night(&["local"], &[]).expect(0);
    let summary = table.summary();
    let steps = summary["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == "council-local").unwrap();
    assert_eq!((&step["status"], &step["login"]), (&json!("done"), &json!("api-key")), "{step:#}");
}

#[test]
fn a_name_with_a_value_of_the_vault_is_nowhere() {
    let table = Table::new();
    let name = format!("x{VALUE}");
    table.night(&[&name], &[]).expect(0);
    let small = VALUE.to_lowercase().replace('_', "-");
    let summary = table.summary().to_string();
    assert!(!summary.to_lowercase().contains(&small), "{summary}");
    assert_eq!(table.step("council-x-redacted").0, "soft-fail");
}
