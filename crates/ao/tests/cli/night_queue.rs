//! Packets that come from the work queue: written back to their own item, and to its own bead.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cell::{Cells, User};
use crate::night::{Night, step};

/// A `bd` with a memory: `.beads/beads.json`. Each call is a line of `.beads/calls`.
const BD: &str = r#"#!/usr/bin/env python3
import json, pathlib, sys

folder = pathlib.Path(".beads")
verb, words = sys.argv[1], sys.argv[2:]
with open(folder / "calls", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\n")
file = folder / "beads.json"
beads = json.loads(file.read_text()) if file.exists() else []


def put(bead):
    for word in words:
        name, _, value = word.partition("=")
        if name == "--metadata":
            bead["metadata"] = json.loads(value)
        elif name == "--set-metadata":
            key, _, value = value.partition("=")
            bead.setdefault("metadata", {})[key] = value
        elif name in ("--title", "--description"):
            bead[name[2:]] = value


if verb == "list":
    key, _, value = words[words.index("--metadata-field") + 1].partition("=")
    told = [bead for bead in beads if bead.get("metadata", {}).get(key) == value]
elif verb == "show":
    told = [bead for bead in beads if bead["id"] == words[0]]
    if not told:
        sys.exit("Error: no issue found matching " + words[0])
elif verb == "create":
    told = {"id": f"new-{len(beads)}", "status": "open"}
    put(told)
    beads.append(told)
else:
    told = next(bead for bead in beads if bead["id"] == words[-1])
    put(told)
file.write_text(json.dumps(beads))
print(json.dumps(told))
"#;

const MALFORMED: &str = "not json at all \u{1f319}";
const HALF: &str = "{\"half\": ";
const DONE: &str = r#"{"source_epic":"old","items":[{"title":"Close the idle sockets"}],"consumed":true, "consumed_at" : "2026-01-01"}"#;
/// Two items that nobody has, with fields, numbers and spaces of their own.
const OPEN: &str = r#"{"source_epic":"e-1",  "zeta" : 1.50,"items":[{"title":"Close the idle sockets","severity":"high","evidence":"seen twice","n":18446744073709551615,"odd" : [ 1.0e3 , {} ]} ,{"id":"nw-2", "title": "Cap the retry loop", "severity": "high", "evidence": "seen", "confidence": 0.95, "why_now": "Their own reason.", "morning_command": "make retry-cap", "bead_id": "na-7"}],"consumed":false,"who":null}"#;

pub(crate) struct Queue {
    pub(crate) cells: Cells,
    bin: TempDir,
}

impl Queue {
    /// With `bd`, and these beads in it.
    pub(crate) fn with(lines: &str, beads: &Value) -> Self {
        let bin = tempfile::tempdir().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.path().display());
        let queue = Self { cells: Cells::new(User::This).variable("PATH", &path), bin };
        queue.bd(BD);
        fs::create_dir(queue.beads("")).unwrap();
        fs::write(queue.beads("beads.json"), beads.to_string()).unwrap();
        queue.cells.repo.write("rpi/next-work.jsonl", lines);
        queue.cells.settle();
        queue
    }

    /// Another `bd` from now on.
    pub(crate) fn bd(&self, script: &str) {
        let bd = self.bin.path().join("bd");
        fs::write(&bd, script).unwrap();
        fs::set_permissions(&bd, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn beads(&self, name: &str) -> PathBuf {
        self.cells.path(".beads").join(name)
    }

    fn bead(&self, id: &str) -> Value {
        let all: Vec<Value> =
            serde_json::from_slice(&fs::read(self.beads("beads.json")).unwrap()).unwrap();
        all.into_iter().find(|bead| bead["id"] == id).unwrap_or_default()
    }

    /// What `bd` was asked since the last look.
    pub(crate) fn calls(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.beads("calls")).unwrap_or_default();
        fs::write(self.beads("calls"), "").unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn lines(&self) -> String {
        self.cells.repo.read("rpi/next-work.jsonl")
    }

    /// A night; its summary.
    pub(crate) fn night(&self) -> Value {
        let start = ["--json", "overnight", "start", "--no-keep-awake", "--max-iterations", "1"];
        self.cells.ao(&start).expect(0).json()["summary"].clone()
    }

    /// The commits that a night made for its packets.
    fn commits(&self) -> usize {
        let history =
            fs::read_to_string(self.cells.repo.state("history.jsonl")).unwrap_or_default();
        history.lines().filter(|line| line.contains("morning packets of")).count()
    }

    /// Where a packet lies, from the root of the repository.
    fn path_of(&self, packet: &Value) -> String {
        let root = self.cells.repo.root().canonicalize().unwrap();
        let path = PathBuf::from(packet["artifact_path"].as_str().unwrap());
        path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()
    }
}

fn packet(summary: &Value, title: &str) -> Value {
    let packets = summary["morning_packets"].as_array().unwrap();
    let found = packets.iter().find(|packet| packet["title"] == title);
    found.unwrap_or_else(|| panic!("{title} is not in {packets:#?}")).clone()
}

fn theirs() -> Value {
    json!([{ "id": "na-7", "status": "open", "title": "Their words", "description": "Theirs, too." }])
}

// proves: REP-20
#[test]
fn a_packet_is_written_back_to_its_own_item_and_no_other_byte_changes() {
    let before = format!("{MALFORMED}\n{OPEN}\r\n{HALF}\n\n{DONE}\n");
    let queue = Queue::with(&before, &theirs());
    let summary = queue.night();
    let sockets = packet(&summary, "Close the idle sockets");
    let retry = packet(&summary, "Cap the retry loop");
    let text = |packet: &Value, key: &str| packet[key].as_str().unwrap().to_owned();
    let added = format!(
        r#","id":"{}","packet_path":"{}","morning_command":"{}","bead_id":"{}""#,
        text(&sockets, "id"),
        queue.path_of(&sockets),
        text(&sockets, "morning_command"),
        text(&sockets, "bead_id"),
    );
    // This item has all but the path.
    let path = format!(r#", "packet_path": "{}""#, queue.path_of(&retry));
    let open = OPEN.replacen("[ 1.0e3 , {} ]", &format!("[ 1.0e3 , {{}} ]{added}"), 1).replacen(
        r#""bead_id": "na-7""#,
        &format!(r#""bead_id": "na-7"{path}"#),
        1,
    );
    let after = queue.lines();
    let expected = format!("{MALFORMED}\n{open}\r\n{HALF}\n\n{DONE}\n");
    assert!(after.starts_with(&expected), "{after}\nis not\n{expected}");
    let rest = &after[expected.len()..];
    assert!(!rest.contains("sockets") && !rest.contains("retry"), "doubled: {rest}");
    assert!(queue.cells.path(&queue.path_of(&retry)).is_file());
    // The packet says what the item says of itself.
    assert_eq!(retry["why_now"], "Their own reason.");
    assert_eq!(retry["confidence"], "high");
    assert_eq!(retry["morning_command"], "make retry-cap");
    // What a file of the repository says is no recommendation of the night.
    let recommended = summary["recommended"].to_string();
    assert!(!recommended.contains("make retry-cap"), "{recommended}");
    // In the morning both are still to be done, under the names that their packets know.
    for packet in [&sockets, &retry] {
        let shown =
            queue.cells.ao(&["--json", "overnight", "packet", &text(packet, "id")]).expect(0);
        assert_eq!(shown.json()["verdict"], "true", "{shown}");
    }
    // A second night has nothing to write.
    let (commits, _) = (queue.commits(), queue.calls());
    assert_eq!(commits, 1);
    queue.night();
    assert_eq!(queue.lines(), after);
    assert_eq!(queue.commits(), commits);
    let verbs: Vec<String> = queue.calls().into_iter().map(|mut call| call.remove(0)).collect();
    assert!(verbs.iter().all(|verb| verb == "list"), "{verbs:?}");
}

fn configure(queue: &Queue, yaml: &str) {
    fs::create_dir_all(queue.cells.path(".agentops")).unwrap();
    fs::write(queue.cells.path(".agentops/config.yaml"), yaml).unwrap();
}

/// The first item of the queue.
fn first_item(queue: &Queue) -> Value {
    let line = queue.lines();
    let line: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    line["items"][0].clone()
}

// proves: REP-20
#[test]
fn a_command_that_a_night_wrote_is_not_the_items_own() {
    let line = r#"{"source_epic":"e","items":[{"title":"Drain the pool","severity":"high","confidence":"certain"}]}"#;
    let queue = Queue::with(&format!("{line}\n"), &json!([]));
    let command = |summary: &Value| packet(summary, "Drain the pool")["morning_command"].clone();
    let first = command(&queue.night());
    assert!(first.as_str().unwrap().starts_with("ao overnight packet "), "{first}");
    for template in ["agent go {id}", "other {id} --now"] {
        configure(&queue, &format!("dream:\n  morning_command: \"{template}\"\n"));
        let summary = queue.night();
        let id = packet(&summary, "Drain the pool")["id"].as_str().unwrap().to_owned();
        let filled = template.replace("{id}", &id);
        assert_eq!(command(&summary), filled);
        assert_eq!(first_item(&queue)["morning_command"], filled);
        assert_eq!(summary["recommended"][0], filled, "one night, one command");
    }
    // A person changes it: from then on it is theirs.
    let text =
        queue.lines().replacen("\"morning_command\":\"other ", "\"morning_command\":\"mine ", 1);
    queue.cells.repo.write("rpi/next-work.jsonl", &text);
    configure(&queue, "dream:\n  morning_command: \"agent go {id}\"\n");
    let mine = command(&queue.night());
    assert!(mine.as_str().unwrap().starts_with("mine "), "{mine}");
    assert_eq!(first_item(&queue)["morning_command"], mine);
    // A word for the confidence that nobody knows is kept, and is no reason to leave the item out.
    assert_eq!(first_item(&queue)["confidence"], "certain");
}

// proves: REP-20
#[test]
fn an_item_that_is_no_packet_any_more_names_none() {
    let items = |letters: &str, severity: &str| {
        let item = |letter: char| json!({ "title": format!("Work {letter}"), "severity": severity, "evidence": "seen in src/a.rs" });
        json!({ "source_epic": "e", "items": letters.chars().map(item).collect::<Vec<_>>() })
    };
    let queue = Queue::with(&format!("{}\n", items("abcde", "medium")), &json!([]));
    queue.night();
    assert!(first_item(&queue)["packet_path"].is_string(), "{}", queue.lines());
    let more = format!("{}{}\n", queue.lines(), items("vwxyz", "high"));
    queue.cells.repo.write("rpi/next-work.jsonl", &more);
    queue.night();
    let lines = queue.lines();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let all: Vec<Value> =
        lines.flat_map(|line| line["items"].as_array().unwrap().clone()).collect();
    assert!(all.iter().any(|item| item["packet_path"].is_null()), "{all:#?}");
    for path in all.iter().filter_map(|item| item["packet_path"].as_str()) {
        assert!(queue.cells.path(path).is_file(), "{path} is not there");
    }
}

// proves: REP-20
#[test]
fn the_bead_of_an_item_is_looked_up_and_linked_and_its_text_stays() {
    let queue = Queue::with(&format!("{OPEN}\n"), &theirs());
    let summary = queue.night();
    assert_eq!(step(&summary, "bead-sync"), "done");
    let retry = packet(&summary, "Cap the retry loop");
    assert_eq!(retry["bead_id"], "na-7");
    let bead = queue.bead("na-7");
    assert_eq!(
        (&bead["title"], &bead["description"]),
        (&json!("Their words"), &json!("Theirs, too."))
    );
    assert_eq!(bead["metadata"]["dream_packet_id"], retry["id"]);
    let calls = queue.calls();
    let about = |word: &'static str| calls.iter().filter(move |call| call[0] == word);
    assert_eq!(about("show").count(), 1, "{calls:#?}");
    assert!(about("show").all(|call| call[1] == "na-7"), "{calls:#?}");
    let packets = summary["morning_packets"].as_array().unwrap().len();
    assert_eq!(about("create").count(), packets - 1, "{calls:#?}");
    assert!(about("create").all(|call| !call.iter().any(|word| word.contains("retry"))));
    assert_eq!(summary["yield"]["bead_sync_count"], packets);
}

// proves: REP-20
#[test]
fn a_bead_that_is_gone_or_closed_is_not_replaced() {
    // Nobody knows this one.
    let queue = Queue::with(&format!("{OPEN}\n"), &json!([]));
    let summary = queue.night();
    assert_eq!(step(&summary, "bead-sync"), "soft-fail");
    let steps = summary["steps"].as_array().unwrap();
    let sync = steps.iter().find(|step| step["name"] == "bead-sync").unwrap();
    let note = sync["note"].as_str().unwrap();
    assert!(note.contains("na-7") && note.contains("no issue found"), "{note}");
    assert_eq!(packet(&summary, "Cap the retry loop").get("bead_id"), None);
    assert!(queue.lines().contains(r#""bead_id": "na-7""#), "{}", queue.lines());
    let made = queue.calls().into_iter().filter(|call| call[0] == "create");
    assert!(made.into_iter().all(|call| !call.iter().any(|word| word.contains("retry"))));
    // Somebody closed it.
    let mut closed = theirs();
    closed[0]["status"] = "closed".into();
    let queue = Queue::with(&format!("{OPEN}\n"), &closed);
    let summary = queue.night();
    assert_eq!(packet(&summary, "Cap the retry loop")["bead_id"], "na-7");
    assert_eq!(queue.bead("na-7"), closed[0]);
    assert!(queue.calls().iter().all(|call| call[0] != "update"));
    // What is no id is not asked for.
    let odd = OPEN.replace("na-7", "--all x");
    let queue = Queue::with(&format!("{odd}\n"), &theirs());
    let summary = queue.night();
    assert_eq!(step(&summary, "bead-sync"), "soft-fail");
    assert!(queue.calls().iter().all(|call| call[0] != "show"));
    assert!(queue.lines().contains(r#""bead_id": "--all x""#), "{}", queue.lines());
}

// proves: REP-20
#[test]
fn a_line_that_somebody_appends_meanwhile_stays_and_so_does_what_is_written_back() {
    let night = Night::with(2);
    let item = json!({ "title": "Close the idle sockets", "severity": "high" });
    let line = json!({ "source_epic": "e", "items": [item], "consumed": false }).to_string();
    night.repo.write("rpi/next-work.jsonl", &format!("{line}\n"));
    let held = night.held_at("work-queue", &["--max-iterations", "1"]);
    let theirs = "{\"items\" : [ {\"title\":\"Theirs\"} ], \"n\" : 1.0}";
    night.repo.write("rpi/next-work.jsonl", &format!("{line}\n{theirs}\n"));
    held.go_on().expect(0);
    let after = night.repo.read("rpi/next-work.jsonl");
    let lines: Vec<&str> = after.lines().collect();
    assert_eq!(lines[1], theirs, "{after}");
    let first: Value = serde_json::from_str(lines[0]).unwrap();
    let summary = night.summary();
    let packet = packet(&summary, "Close the idle sockets");
    assert_eq!(first["items"][0]["id"], packet["id"], "{after}");
    assert!(!night.repo.state("conflicts").exists());
    assert!(!summary["degraded"].to_string().contains("work queue"), "{summary:#}");
}

// proves: REP-20
#[test]
fn what_somebody_has_or_is_for_another_repository_is_not_written_to() {
    let night = Night::with(2);
    let items = |more: &str| {
        format!(r#"{{"source_epic":"e","items":[{{"title":"Mine","severity":"high"{more}}}]}}"#)
    };
    let claimed = items(r#","claim_status":"in_progress","claimed_by":"ann""#);
    let elsewhere = items(r#","target_repo":"another/one""#);
    let before = format!("{claimed}\n{elsewhere}\n{}\n", items(""));
    night.repo.write("rpi/next-work.jsonl", &before);
    night.run(&["--max-iterations", "1"]).expect(0);
    let after = night.repo.read("rpi/next-work.jsonl");
    let lines: Vec<&str> = after.lines().collect();
    assert_eq!((lines[0], lines[1]), (claimed.as_str(), elsewhere.as_str()));
    assert!(lines[2].contains(r#""packet_path":"#), "{after}");
}

// proves: REP-15
#[test]
fn an_item_that_cannot_be_read_is_counted_in_the_report() {
    let night = Night::with(2);
    let odd = r#"{"title":"Drain the pool","severity":"high","target_files":"src/pool.rs"}"#;
    let fine = r#"{"title":"Cap the retries","severity":"high"}"#;
    let line = |items: &str| format!(r#"{{"source_epic":"e","timestamp":"t","items":[{items}]}}"#);
    let note = |queue: &str| {
        night.repo.write("rpi/next-work.jsonl", queue);
        night.run(&["--max-iterations", "1"]).expect(0);
        let summary = night.summary();
        let steps = summary["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["name"] == "morning-packets").unwrap();
        packet(&summary, "Cap the retries");
        (step["note"].as_str().unwrap().to_owned(), night.markdown())
    };
    let (told, _) = note(&format!("{}\n", line(fine)));
    assert!(!told.contains("unreadable"), "{told}");
    let (told, report) = note(&format!("{}\n{HALF}\n", line(&format!("{odd},{fine}"))));
    let expected = "unreadable lines and items of the work queue: 2 ";
    assert!(told.contains(expected) && report.contains(expected), "{told}");
    // The command that it names says which.
    let path = night.repo.agents().join("rpi/next-work.jsonl");
    let check = ["schema", "next-work", "--check", path.to_str().unwrap()];
    let checked = night.repo.run(&check).expect(5);
    assert!(format!("{checked}").contains("line 1: items[0].target_files"), "{checked}");
}

/// The operator's file as `evolve` writes it: ids in backquotes, stars, what blocks an item.
const ROADMAP: &str = "# Roadmap\n\n\
    1. `nw-2` — Cap the retries of the relay.\n   blocker: `rig-8z29` (land as minimum unblocker first)\n\
    2. `rig-imjw` - Converge the inventory. blocker: `nw-2`\n\
    * [severity: high] Drain the mail spool\n  It is full.\n\
    * [x] Done long ago\n\
    - Fix `src/lock.rs`\n";

// proves: LOOP-19
#[test]
fn the_queue_of_evolve_is_read_as_it_is() {
    let night = Night::with(2);
    night.repo.write("rpi/next-work.jsonl", &format!("{OPEN}\n"));
    let file = night.aside.path().join("roadmap.md");
    fs::write(&file, ROADMAP).unwrap();
    let ran = night.run(&["--max-iterations", "1", "--queue", file.to_str().unwrap()]).expect(0);
    assert!(!ran.stderr.contains("is no item"), "{ran}");
    let summary = night.summary();
    let packets = summary["morning_packets"].as_array().unwrap();
    let titles: Vec<&str> =
        packets.iter().map(|packet| packet["title"].as_str().unwrap()).collect();
    assert_eq!(
        titles[..4],
        [
            "Cap the retries of the relay.",
            "Converge the inventory.",
            "Drain the mail spool",
            "Fix `src/lock.rs`"
        ]
    );
    // The id is that of an item of the work queue: it is that work, under whatever title.
    assert_eq!(packets[0]["queue_item"], "nw-2", "{packets:#?}");
    assert!(!titles.contains(&"Cap the retry loop"), "doubled: {titles:?}");
    let queue = night.repo.read("rpi/next-work.jsonl");
    assert_eq!(queue.matches("retry loop").count(), 1, "{queue}");
    assert!(!queue.contains("Cap the retries"), "{queue}");
    for (packet, blocker) in [(&packets[0], "rig-8z29"), (&packets[1], "nw-2")] {
        let why = packet["why_now"].as_str().unwrap();
        assert!(why.contains(&format!("blocked by {blocker}")), "{why}");
    }
    assert!(packets[0]["evidence"].to_string().contains("land as minimum unblocker first"));
    assert!(!packets[2]["why_now"].as_str().unwrap().contains("blocked"));
    assert_eq!(packets[2]["severity"], "high");
    // An id keeps its packet when the words around it change.
    let reworded = ROADMAP.replace("Converge the inventory", "Bring the inventories together");
    fs::write(&file, reworded).unwrap();
    night.run(&["--max-iterations", "1", "--queue", file.to_str().unwrap()]).expect(0);
    assert_eq!(night.summary()["morning_packets"][1]["id"], packets[1]["id"]);
}
