#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use std::fs;
use std::path::Path;

use ao_contract::{Fitness, Level, MorningPacket, Open, SupportKind};
use ao_corpus::SEARCHED;
use ao_corpus::index::{Keep, Place as Searched};
use serde_json::json;

use super::{Facts, look, probe};
use crate::place::Place;

const TITLE: &str = "The mail relay loses its quorum lease";
const CODE: &str = "fn renew_lease(relay: &Relay) { // mail waits for the quorum\n}\n";
/// Each says the same in words of its own.
const OUTAGE: &str = "When our relay for mail was restarted, a quorum was what each node would lose: the lease \
    had run out hours before anybody looked at a dashboard.";
const LEASES: &str = "A lease that one thread alone renews will lose against a slow disk. We saw a quorum of four \
    brokers go, and the mail in front of that relay was sent twice.";
const CLOCKS: &str = "Clocks that jump make any lease short; what a quorum would lose after one jump is mail, since \
    no relay waits.";
const ALIKE: [&str; 3] = [OUTAGE, LEASES, CLOCKS];

/// The name of an entry, its header and its text.
type Written<'a> = (&'a str, &'a str, &'a str);

struct Ground {
    dir: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { dir: tempfile::tempdir().unwrap() };
        ground.write("src/relay.rs", CODE);
        for nth in 0..6 {
            let text =
                format!("# Case {nth}\n\nNothing here is about what was asked, in run {nth}.\n");
            ground.write(&format!(".agents/learnings/other-{nth}.md"), &text);
        }
        ground
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn entry(&self, name: &str, header: &str, body: &str) {
        self.write(
            &format!(".agents/{name}.md"),
            &format!("---\n{header}\n---\n# Note {name}\n\n{body}\n"),
        );
    }

    fn probed(&self, packet: &mut MorningPacket) -> ao_contract::PacketProbe {
        self.probed_with(packet, &Facts::default())
    }

    fn probed_with(&self, packet: &mut MorningPacket, facts: &Facts) -> ao_contract::PacketProbe {
        let root = self.dir.path();
        let agents = root.join(".agents");
        let searched = Searched {
            agents: agents.clone(),
            folders: SEARCHED.iter().map(|folder| (*folder).to_owned()).collect(),
            now_ns: 0,
            keep: Keep::No,
        };
        let looked = look(&searched, std::slice::from_ref(packet)).unwrap();
        let place = Place { root, agents: Path::new(&agents), outside: None };
        probe(&looked, (0, packet), place, facts)
    }
}

fn packet(confidence: Level, more: &serde_json::Value) -> MorningPacket {
    let mut value = json!({
        "id": "dream-1", "rank": 1, "title": TITLE, "type": "bug", "severity": "high", "why_now": "",
        "confidence": Open::from(confidence), "morning_command": "", "source": "next-work",
        "target_files": ["src/relay.rs"]
    });
    for (key, field) in more.as_object().unwrap() {
        value[key] = field.clone();
    }
    serde_json::from_value(value).unwrap()
}

fn level(packet: &MorningPacket) -> Level {
    *packet.confidence.known().unwrap()
}

// proves: REP-10
#[test]
fn independent_witnesses_raise_a_packet_by_one_step() {
    let ground = Ground::new();
    for (nth, text) in ALIKE.iter().enumerate().take(2) {
        ground.entry(&format!("research/r{nth}"), &format!("source_session: s-{nth}"), text);
    }
    let mut medium = packet(Level::Medium, &json!({}));
    let told = ground.probed(&mut medium);
    assert_eq!(level(&medium), Level::High, "{told:?}");
    let why = medium.corroboration.unwrap();
    assert_eq!(why.confidence_before, Level::Medium.into());
    let mut kinds: Vec<_> = why.supports.iter().map(|one| *one.kind.known().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [SupportKind::Entry, SupportKind::Entry, SupportKind::File]);
    // From the bottom one step is one step, and the second finds only what is left.
    let mut low = packet(Level::Low, &json!({}));
    ground.probed(&mut low);
    assert_eq!(level(&low), Level::Medium);
    let told = ground.probed(&mut low);
    assert_eq!((level(&low), told.supports.len()), (Level::Medium, 1), "{told:?}");
    // What is high stays so.
    let mut high = packet(Level::High, &json!({}));
    ground.probed(&mut high);
    assert_eq!((level(&high), high.corroboration), (Level::High, None));
}

/// Ways to seem to be two.
// proves: REP-10
#[test]
fn one_witness_with_two_faces_is_one() {
    let quoting =
        |around: &str| format!("{around} The mail relay loses its quorum lease. {around}");
    let (first, second) = (
        quoting("Much else was written down in that week by whoever had the time for writing."),
        quoting("Somebody noted this on another day and put a whole lot of further words there."),
    );
    let cases: [(&str, [Written<'_>; 2]); 10] = [
        (
            "one session",
            [("a", "source_session: s-1", OUTAGE), ("b", "source_session: s-1", LEASES)],
        ),
        ("two fields", [("a", "source_session: S-1", OUTAGE), ("b", "source: s-1", LEASES)]),
        (
            "one run",
            [("a", "run_id: r1\nsource: x", OUTAGE), ("b", "run_id: r1\nsource: y", LEASES)],
        ),
        (
            "one repository",
            [
                ("a", "harvested_from: o\noriginal_path: a", OUTAGE),
                ("b", "harvested_from: o\noriginal_path: b", LEASES),
            ],
        ),
        (
            "one was merged into the other",
            [("a", "source: x", OUTAGE), ("b", "source: y\nmerged_from: [a]", LEASES)],
        ),
        (
            "nobody says where from",
            [("a", "date: 2026-03-01", OUTAGE), ("b", "date: 2026-03-02", LEASES)],
        ),
        ("one repeats the other", [("a", "source: x", OUTAGE), ("b", "source: y", OUTAGE)]),
        ("both quote the packet", [("a", "source: x", &first), ("b", "source: y", &second)]),
        (
            "a model",
            [("a", "source: x", OUTAGE), ("b", "source: y\ntrust: model-inference", LEASES)],
        ),
        ("the packet's own", [("a", "source: x", OUTAGE), ("b", "source: mine", LEASES)]),
    ];
    for (what, entries) in cases {
        let ground = Ground::new();
        ground.entry("findings/f-own", "source: mine\nid: f-own", "Nothing of it is in here.");
        for (name, header, text) in entries {
            ground.entry(&format!("research/{name}"), header, text);
        }
        let evidence = [
            ".agents/rpi/next-work.jsonl line 1, item 1",
            "a line that no entry of them repeats anywhere",
        ];
        let own = json!({ "evidence": evidence, "still_true": [{ "kind": "finding-open", "finding": "findings/f-own.md" }] });
        let mut medium = packet(Level::Medium, &own);
        let told = ground.probed(&mut medium);
        assert_eq!(level(&medium), Level::Medium, "{what}: {told:?}");
        assert!(told.supports.len() <= 2 && !told.not_counted.is_empty(), "{what}: {told:?}");
        assert_eq!(medium.corroboration, None, "{what}");
    }
}

/// However many agree: somebody who writes in the corpus could have written all of them.
#[test]
fn texts_of_the_corpus_alone_make_nothing_sure() {
    let ground = Ground::new();
    for (nth, text) in ALIKE.iter().enumerate() {
        ground.entry(&format!("research/r{nth}"), &format!("source: s-{nth}"), text);
    }
    let mut medium = packet(Level::Medium, &json!({ "target_files": [] }));
    let told = ground.probed(&mut medium);
    assert_eq!((level(&medium), told.supports.len()), (Level::Medium, 3), "{told:?}");
    assert!(told.told.contains("texts of the corpus"), "{told:?}");
    // A file that is there and is about something else is no witness.
    ground.write("src/other.rs", "fn main() {}\n");
    let mut medium =
        packet(Level::Medium, &json!({ "target_files": ["src/other.rs", "src/none.rs"] }));
    ground.probed(&mut medium);
    assert_eq!(level(&medium), Level::Medium);
}

/// An entry does not know what the night saw; an open finding may.
#[test]
fn what_the_night_saw_is_not_attested_by_entries() {
    let ground = Ground::new();
    ground.entry("research/r", "source: s-1", OUTAGE);
    ground.entry("findings/f-2026-03-01-1", "source: s-2", LEASES);
    ground.entry("findings/f-2026-03-01-2", "source: s-3\nstatus: resolved", CLOCKS);
    let mut low = packet(Level::Low, &json!({ "source": "night", "target_files": [] }));
    let told = ground.probed(&mut low);
    let kinds: Vec<_> = told.supports.iter().map(|one| *one.kind.known().unwrap()).collect();
    assert_eq!((level(&low), kinds), (Level::Low, vec![SupportKind::Finding]), "{told:?}");
    assert_eq!(told.not_counted.len(), 2, "{told:?}");
}

fn fitness(retrieval: f64) -> Fitness {
    serde_json::from_value(json!({ "retrieval": retrieval })).unwrap()
}

/// What the night measured and saw speaks for what others asked for, and never for itself.
#[test]
fn results_of_the_night_speak_for_a_packet() {
    let ground = Ground::new();
    ground.entry("learnings/own", "source: mine", "Nothing of it is in here.");
    let defrag = json!({
        "schema_version": 1, "status": "nothing-to-do", "merges": [], "prunes": [], "kept": [],
        "review": [{ "one": "learnings/own.md", "other": "learnings/other-1.md", "stems": 0.8, "pairs": 0.7,
            "why": "they claim different things" }],
        "oscillations": [], "cycles_unread": 0
    });
    let facts = |before: f64, after: f64| Facts {
        defrag: Some(serde_json::from_value(defrag.clone()).unwrap()),
        health: None,
        before: Some(fitness(before)),
        after: Some(fitness(after)),
    };
    let asked = |source: &str| {
        let title = "Raise the retrieval of relay notes";
        let more = json!({ "title": title, "source": source, "target_files": [".agents/learnings/own.md"] });
        packet(Level::Low, &more)
    };
    let told = |source: &str, before: f64, after: f64| {
        let mut packet = asked(source);
        let told = ground.probed_with(&mut packet, &facts(before, after));
        let said = told.supports.iter().map(|one| (*one.kind.known().unwrap(), one.at.clone()));
        (level(&packet), said.collect::<Vec<_>>())
    };
    let seen = (SupportKind::Night, ".agents/learnings/own.md".to_owned());
    let figure = (SupportKind::Metric, "retrieval".to_owned());
    // It fell, or it is low; a figure that is well says nothing.
    let both = vec![seen.clone(), figure];
    assert_eq!(told("next-work", 0.9, 0.8), (Level::Medium, both.clone()));
    assert_eq!(told("finding", 0.4, 0.4), (Level::Medium, both));
    assert_eq!(told("next-work", 0.9, 0.9), (Level::Low, vec![seen]));
    assert_eq!(told("night", 0.9, 0.4), (Level::Low, Vec::new()));
    assert_eq!(told("synthesized", 0.4, 0.4), (Level::Low, Vec::new()));
}
