//! Samples with one thing wrong. Schema and reader must both see it, and the reader must say where.

use serde_json::{Value, json};

use crate::samples;

/// Stands in the table for a field that is taken away.
const REMOVED: Value = Value::Null;

struct Broken(&'static str, &'static str, Value, &'static str);

fn table() -> Vec<Broken> {
    vec![
        Broken("summary.v2.json", "/schema_version", json!(3), "schema_version 3"),
        Broken("summary.v2.json", "/schema_version", json!(1), "fields of version 2"),
        Broken("summary.v1.json", "/schema_version", json!("1"), "schema_version: invalid type"),
        Broken("summary.v1.json", "/long_haul", json!({ "enabled": false }), "fields of version 2"),
        Broken("summary.v1.json", "/plateau_reason", json!("flat"), "fields of version 2"),
        Broken("summary.v1.json", "/status", json!("running"), "status: unknown variant"),
        Broken("summary.v1.json", "/dry_run", json!("no"), "dry_run: "),
        Broken("summary.v1.json", "/runtime", REMOVED, "missing field `runtime`"),
        Broken("summary.v1.json", "/runtime/lock_path", REMOVED, "runtime: missing field"),
        Broken("summary.v1.json", "/steps", json!({}), "steps: "),
        Broken(
            "summary.v1.json",
            "/steps/1/status",
            json!("ok"),
            "steps[1].status: unknown variant",
        ),
        Broken("summary.v1.json", "/steps/0/name", REMOVED, "steps[0]: missing field `name`"),
        Broken("summary.v1.json", "/artifacts", json!({ "log": 1 }), "artifacts.log: "),
        Broken(
            "summary.v2.json",
            "/yield/packet_count_after",
            json!(-1),
            "yield.packet_count_after",
        ),
        Broken("summary.v2.json", "/yield/queue_backed_won", json!(1), "yield.queue_backed_won"),
        Broken("summary.v2.json", "/morning_packets/0/rank", json!(0), "morning_packets[0].rank"),
        Broken(
            "summary.v2.json",
            "/iterations/1/status",
            json!("rolled-sideways"),
            "iterations[1].status",
        ),
        Broken("iteration.json", "/status", json!("Done"), "status: unknown variant"),
        Broken("iteration.json", "/index", json!(0), "index: "),
        Broken("iteration.json", "/fitness_delta", json!("0.1"), "fitness_delta: "),
        Broken("morning-packet.json", "/id", REMOVED, "missing field `id`"),
        Broken("morning-packet.json", "/evidence", json!("one"), "evidence: "),
        Broken("morning-packet.json", "/corroboration", json!([]), "corroboration: "),
        Broken("packet-corroboration.json", "/probes/0/needed", json!(-1), "probes[0].needed: "),
        Broken("packet-corroboration.json", "/run_id", REMOVED, "missing field `run_id`"),
        Broken("briefing-fallback.json", "/brief", REMOVED, "missing field `brief`"),
        Broken("summary.v2.json", "/long_haul/probe_count", json!("2"), "long_haul.probe_count"),
        Broken("night.json", "/looks/0/found", json!("door"), "looks[0].found: unknown variant"),
        Broken("night.json", "/corpus/hash", REMOVED, "corpus: missing field `hash`"),
        Broken("night.json", "/readings/0/uptime_ns", json!(-1), "readings[0].uptime_ns: "),
        Broken("council-synthesis.json", "/consensus_kind", json!("none"), "consensus_kind: "),
        Broken("learning.full.json", "/utility", json!(1.01), "1.01 is not from 0 to 1"),
        Broken("learning.full.json", "/utility", json!(-0.1), "is not from 0 to 1"),
        Broken("learning.full.json", "/confidence", json!(["high"]), "or a number"),
        Broken("learning.full.json", "/maturity", json!("wise"), "maturity: unknown variant"),
        Broken("learning.full.json", "/tags", json!([["a"]]), "tags: expected text, found a list"),
        Broken("learning.full.json", "/title", json!({}), "title: expected text, found a map"),
        Broken("learning.full.json", "/reward_count", json!(-1), "reward_count: "),
        Broken("finding.json", "/ttl_days", json!("soon"), "ttl_days: "),
        Broken("next-work.json", "/claim_status", json!("taken"), "claim_status: unknown variant"),
        Broken("next-work.json", "/items/1/title", REMOVED, "items[1]: missing field `title`"),
        Broken("next-work.json", "/items/0/proof_ref", json!("x"), "items[0].proof_ref: "),
        Broken("citation.json", "/artifact_path", REMOVED, "missing field `artifact_path`"),
        Broken("cycle-history.json", "/cycle", json!("12"), "cycle: "),
        Broken("warn-only-budget.json", "/remaining", json!(-1), "remaining: "),
        Broken("marker.json", "/format", json!("ao-tree/2"), "format: unknown variant"),
        Broken("marker.json", "/state", json!("READY"), "state: unknown variant"),
        Broken("marker.json", "/hint", json!(1), "unknown field `hint`"),
        Broken("marker.json", "/slots/0/kind", json!("link"), "slots[0].kind: unknown variant"),
        Broken("marker.json", "/slots/0/mode", json!(1), "slots[0].mode: unknown field `mode`"),
        Broken("edits.json", "/schema_version", json!(2), "schema_version 2 is not known"),
        Broken("edits.json", "/reason", json!("x"), "unknown field `reason`"),
        Broken(
            "edits.json",
            "/edits/0/op",
            json!("append"),
            "edits[0].op: unknown variant `append`",
        ),
        Broken("edits.json", "/edits/0/pth", json!("x"), "edits[0]: unknown field `pth`"),
        Broken("edits.json", "/edits/1/content", json!("x"), "edits[1]: unknown field `content`"),
        Broken("edits.json", "/edits/1/reason", REMOVED, "edits[1]: missing field `reason`"),
        Broken("record.json", "/changes/0/op", json!("move"), "changes[0].op: unknown variant"),
        Broken("record.json", "/changes/0/before/size", json!(-1), "changes[0].before.size: "),
        Broken("history.json", "/method", json!("copy"), "method: unknown variant"),
        Broken("archive-provenance.json", "/entries/0/hash", REMOVED, "entries[0]: missing field"),
        Broken("conflicts.json", "/conflicts", REMOVED, "missing field `conflicts`"),
        Broken("close-loop.json", "/status", json!("done"), "status: unknown variant"),
        Broken("close-loop.json", "/promote_at", json!(1.5), "is not from 0 to 1"),
        Broken("close-loop.json", "/pending/0/verdict", json!("lost"), "pending[0].verdict: "),
        Broken("close-loop.json", "/schema_version", json!(2), "schema_version 2 is not known"),
        Broken("harvest.json", "/harvested/0/confidence", json!("high"), "harvested[0]"),
        Broken("taken.json", "/from", json!("thin air"), "from: unknown variant"),
        Broken("taken.json", "/key", REMOVED, "missing field `key`"),
        Broken("metrics-health.json", "/sigma", json!(1.5), "sigma: "),
        Broken("metrics-health.json", "/fitness/metrics", json!({ "x": 2 }), "fitness.metrics"),
    ]
}

/// What came in, and what people said of it.
fn settings() -> Vec<Broken> {
    vec![
        Broken("config.json", "/dream/run_timeout", json!("8 hours"), "is not a duration"),
        Broken("config.json", "/dream/run_timeout", json!(8), "dream.run_timeout: "),
        Broken("config.json", "/dream/scheduler_mode", json!("at"), "dream.scheduler_mode: "),
        Broken(
            "config.json",
            "/dream/council_runner_timeout",
            json!("3 minutes"),
            "is not a duration",
        ),
        Broken(
            "config.json",
            "/flywheel/auto_promote_threshold",
            json!("a day"),
            "is not a duration",
        ),
        Broken("config.json", "/paths/harvest_roots", json!("~/all"), "paths.harvest_roots: "),
        Broken("config.json", "/guard/floor", json!("E"), "guard.floor: unknown variant"),
        Broken("config.json", "/runners/local/command", json!("./a"), "runners.local.command: "),
    ]
}

fn signals() -> Vec<Broken> {
    vec![
        Broken("vouch.json", "/hash", REMOVED, "missing field `hash`"),
        Broken("vouch.json", "/schema_version", json!(2), "schema_version 2 is not known"),
        Broken("config.json", "/trust/promote_at", json!("everybody"), "trust.promote_at: "),
        Broken("config.json", "/trust/promote_at", json!(1.5), "trust.promote_at: "),
        Broken("ruling.json", "/keep", json!("neither"), "keep: unknown variant"),
        Broken("ruling.json", "/why", REMOVED, "missing field `why`"),
        Broken("contradictions.json", "/cards/0/a/path", REMOVED, "cards[0].a: missing field"),
        Broken("signals.json", "/taken/0/lesson/trust", json!("gospel"), "taken[0]"),
    ]
}

fn councils() -> Vec<Broken> {
    vec![
        Broken("council-packet.json", "/consensus_policy", json!("dictator"), "consensus_policy: "),
        Broken("runner-report.json", "/notes", json!("more"), "unknown field `notes`"),
        Broken("runner-report.json", "/wildcard_idea", REMOVED, "missing field `wildcard_idea`"),
        Broken("runner-report.json", "/recommended_kind", json!("rewrite"), "recommended_kind: "),
        Broken("runner-report.json", "/confidence", json!(0.9), "confidence: "),
        Broken("event-review.json", "/events/0/verdict", json!("delete"), "verdict: "),
        Broken("event-review.json", "/events/0/also", json!(1), "unknown field `also`"),
    ]
}

fn curators() -> Vec<Broken> {
    vec![
        Broken("curator-job.json", "/kind", json!("edit-corpus"), "kind: unknown variant"),
        Broken("curator-event.json", "/budget", json!(0), "budget: "),
        Broken("curator-ledger.json", "/step", json!("forgotten"), "step: unknown variant"),
        Broken("curator-worker.json", "/pid", json!("4711"), "pid: "),
        Broken("curator-lint.json", "/faults/0/rule", json!("ugly"), "faults[0].rule: "),
        Broken("curator-compaction.json", "/entries/0/hash", REMOVED, "missing field `hash`"),
        Broken("curator-learnings.json", "/learnings/0/mood", json!("x"), "unknown field"),
        Broken("curator-seeds.json", "/seeds/0/question", REMOVED, "missing field `question`"),
        Broken("curator-event.json", "/escalation_target", REMOVED, "missing field"),
    ]
}

fn exchanges() -> Vec<Broken> {
    vec![
        Broken("receipt.json", "/status", json!("finished"), "status: unknown variant"),
        Broken("receipt.json", "/ended_by", json!("bored"), "ended_by: unknown variant"),
        Broken("receipt.json", "/work/kept", json!(-1), "work.kept: "),
        Broken("receipt.json", "/schema_version", json!(2), "schema_version 2 is not known"),
        Broken("ledger.json", "/event", json!("spent"), "event: unknown variant"),
        Broken("ledger.json", "/tokens", json!(-1), "tokens: "),
        Broken("ledger.json", "/money", json!("fake"), "money: unknown variant"),
        Broken("ledger.json", "/schema_version", json!(2), "schema_version 2 is not known"),
        Broken("cassette.answer.json", "/question", REMOVED, "missing field `question`"),
        Broken("cassette.answer.json", "/nonce", REMOVED, "missing field `nonce`"),
        Broken(
            "cassette.answer.json",
            "/usage/money",
            json!("gold"),
            "usage.money: unknown variant",
        ),
        Broken(
            "cassette.failure.json",
            "/failure/kind",
            json!("odd"),
            "failure.kind: unknown variant",
        ),
        Broken("deferred-runners.json", "/runners/0/until", REMOVED, "runners[0]: missing field"),
    ]
}

fn landscapes() -> Vec<Broken> {
    vec![
        Broken("dreamscape.json", "/weather/sky", json!("steady"), "weather.sky: unknown variant"),
        Broken("dreamscape.json", "/topics/0/share", json!(1.5), "topics[0].share: "),
        Broken("dreamscape.json", "/topics/0/entries", json!(-1), "topics[0].entries: "),
        Broken("dreamscape.json", "/legend/0/at", REMOVED, "legend[0]: missing field `at`"),
        Broken("dreamscape.json", "/schema_version", json!(2), "schema_version 2 is not known"),
    ]
}

#[test]
fn schema_and_reader_both_refuse() {
    for Broken(file, pointer, new, message) in table()
        .into_iter()
        .chain(landscapes())
        .chain(exchanges())
        .chain(curators())
        .chain(councils())
        .chain(signals())
        .chain(settings())
    {
        let sample = samples::named(file);
        let broken = with(&sample.value, pointer, new);
        let at = format!("{file} {pointer}");
        assert!(!samples::validator(&sample.format).is_valid(&broken), "schema accepts {at}");
        let error = ao_contract::check(&sample.format, &broken).expect_err(&at).to_string();
        assert!(error.contains(message), "{at}: {error}");
    }
}

/// A derived reader would take these for the fields in their order.
#[test]
fn a_list_of_the_fields_is_not_the_object() {
    for file in ["runner-report.json", "edits.json", "marker.json", "config.json"] {
        let sample = samples::named(file);
        let fields: Value = sample.value.as_object().unwrap().values().cloned().collect();
        let error = ao_contract::check(&sample.format, &fields).expect_err(file);
        assert!(error.message.contains("expected a map"), "{file}: {error}");
    }
}

fn with(sample: &Value, pointer: &str, new: Value) -> Value {
    let mut value = sample.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match (value.pointer_mut(parent).unwrap(), new) {
        (Value::Object(object), REMOVED) => drop(object.shift_remove(key).unwrap()),
        (Value::Object(object), new) => drop(object.insert(key.to_owned(), new)),
        (other, _) => panic!("{pointer} has the parent {other}"),
    }
    value
}
