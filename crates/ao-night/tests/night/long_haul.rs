//! A long haul and its council.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use ao_contract::{ConsensusPolicy, RunNow, StepStatus, Summary};
use ao_night::council::{Council, Lane, Nonces, Patience, Seat};
use ao_night::replay::Memory;
use ao_night::settings::{self, Extent, Gate, LongHaul, Mode};
use ao_night::{Clock, Order, Settings, System, Template, Watch, Wish};
use ao_runner::ledger::Limits;
use ao_runner::wrap::Nonce;
use ao_runner::{Budget, Cost, Exchange, Failure, Nature, Request, Runner, Said, Usage, Usd, Way};
use ao_tree::{Door, Held, Layout};
use serde_json::json;

use crate::bed::Bed;

const TITLE: &str = "The mail relay loses its quorum lease";

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn uptime() -> Duration {
    BEGAN.elapsed()
}

/// Answers always the same, and counts how often it was asked.
#[derive(Debug)]
struct Scripted {
    action: &'static str,
    asked: AtomicUsize,
}

impl Runner for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn exchange(&self, _: &Request, _: &str, _: &AtomicBool) -> Result<Exchange, Failure> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let report = json!({
            "runner": "scripted", "headline": "h", "recommended_kind": "repair",
            "recommended_first_action": self.action, "risks": [], "opportunities": [], "confidence": "high",
            "wildcard_idea": ""
        });
        let usage = Usage { tokens: Said::ByRunner(1), turns: 1, cost: Cost::Free };
        Ok(Exchange { text: report.to_string(), usage, took: Duration::ZERO, exit: Some(0) })
    }
}

struct Nobody;

impl Watch for Nobody {
    fn see(&mut self, _: &RunNow) {}
}

/// A bed with one item in the work queue that is not beyond doubt, and with texts that bear on it.
fn bed(texts: &[(&str, &str)]) -> Bed {
    let bed = Bed::new();
    let write = |path: &str, text: &str| {
        let path = bed.at("repo").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let item = json!({ "title": TITLE, "severity": "high", "file": "src/relay.rs" });
    let line = json!({ "source_epic": "e", "timestamp": "2026-03-01T00:00:00Z", "items": [item], "consumed": false });
    write(".agents/rpi/next-work.jsonl", &format!("{line}\n"));
    write("src/relay.rs", "fn renew_lease(relay: &Relay) { // mail waits for the quorum\n}\n");
    for nth in 0..5 {
        let text = format!(
            "# Case {nth}\n\nA text of {nth} other words that bears on the harvest alone.\n"
        );
        write(&format!(".agents/research/other-{nth}.md"), &text);
    }
    for (name, text) in texts {
        let text = format!("---\nsource_session: s-{name}\n---\n# Note {name}\n\n{text}\n");
        write(&format!(".agents/research/{name}.md"), &text);
    }
    bed
}

fn night(bed: &Bed, long_haul: LongHaul, council: Council) -> Summary {
    let root = bed.at("repo");
    let agents = root.join(".agents");
    let held = vec![
        Held::dir("learnings"),
        Held::dir("findings"),
        Held::dir("patterns"),
        Held::dir("knowledge"),
        Held::file("rpi/next-work.jsonl"),
    ];
    let door = Door::open_root(&agents, Layout::new(".agents", "overnight", held)).unwrap();
    let settings = Settings {
        goal: "harvest".into(),
        output_dir: agents.join("overnight/latest"),
        run_timeout: Duration::from_mins(1),
        requested_timeout: "1m".into(),
        keep_awake: Wish::Off,
        queue: None,
        max_iterations: 1,
        plateau_epsilon: settings::PLATEAU_EPSILON,
        plateau_window: settings::PLATEAU_WINDOW,
        gate: Gate::Strict,
        checkpoint_max_bytes: 1 << 29,
        morning_command: Template::default(),
        harvest: Vec::new(),
        promote_after: settings::PROMOTE_AFTER,
        transcripts: None,
        promote_at: ao_contract::Trust::Code,
        commits: ao_night::Commits::new(None, root.clone()),
        mode: Mode::Real,
        extent: Extent::Everything,
        long_haul,
        config_warnings: Vec::new(),
    };
    let ended = ao_night::start(Order {
        settings,
        door,
        root: root.clone(),
        repo: "repo".into(),
        clock: Clock { now: jiff::Timestamp::now, uptime },
        host: bed.host(System::Other),
        signal: Arc::new(AtomicUsize::new(0)),
        watch: &mut Nobody,
        council: Some(council),
        resume: None,
        recovered: Vec::new(),
        left_alone: Vec::new(),
        program: None,
        memory: Memory::Nothing,
        receipts: ao_night::receipts::Receipts::Off,
        soft_exit: ao_contract::Exit::Done,
    });
    let summary = ended.unwrap().summary;
    assert_eq!(summary.failure_reason, None);
    let told = fs::read(agents.join("overnight/latest/summary.json")).unwrap();
    let told: Summary = serde_json::from_slice(&told).unwrap();
    assert_eq!(told.long_haul, summary.long_haul);
    told
}

fn council(runner: &Arc<Scripted>) -> Council {
    let budget = Budget {
        time: Duration::from_secs(10),
        tokens: 1000,
        turns: 1,
        usd: Usd(0),
        output_bytes: 1 << 20,
    };
    let seat = Seat {
        slug: "scripted".into(),
        runner: Arc::clone(runner) as _,
        model: None,
        login: Way::None,
        nature: Nature::Call,
        budget,
        limits: Limits::default(),
    };
    Council {
        seats: vec![seat],
        policy: ConsensusPolicy::Majority,
        lane: Lane::Main,
        nonces: Nonces::new(|_| Ok(Nonce::new([7; 16]))),
        patience: Patience::Waits,
        desk: None,
    }
}

fn runner(action: &'static str) -> Arc<Scripted> {
    Arc::new(Scripted { action, asked: AtomicUsize::new(0) })
}

const ON: LongHaul = LongHaul::On { limit: settings::LONG_HAUL_LIMIT };
const SPEAKING: [(&str, &str); 2] = [
    (
        "a",
        "When our relay for mail was restarted, a quorum was what each node would lose: the lease had run out hours \
         before anybody looked at a dashboard.",
    ),
    (
        "b",
        "A lease that one thread alone renews will lose against a slow disk. We saw a quorum of four brokers go, and \
         the mail in front of that relay was sent twice.",
    ),
];

fn council_steps(summary: &Summary) -> Vec<(String, StepStatus, String)> {
    let steps = summary.steps.iter().filter(|step| step.name.to_string().starts_with("council-"));
    let told = |step: &ao_contract::Step| {
        (step.name.to_string(), step.status, step.note.clone().unwrap_or_default())
    };
    steps.map(told).collect()
}

/// The council that is not needed is not asked, and says so without a word of success.
// proves: REP-10
// pitfall 20
#[test]
fn a_council_that_is_not_needed_is_skipped_and_says_why() {
    let bed = bed(&SPEAKING);
    let runner = runner("Look at the relay");
    let summary = night(&bed, ON, council(&runner));
    assert_eq!(runner.asked.load(Ordering::Relaxed), 0);
    let haul = summary.long_haul.as_ref().unwrap();
    assert!(haul.enabled && haul.active, "{haul:?}");
    assert_eq!(haul.exit_reason, "top packet confidence is high", "{haul:?}");
    let steps = council_steps(&summary);
    assert_eq!(steps.len(), 3, "{steps:?}");
    for (name, status, note) in steps {
        assert_eq!(status, StepStatus::Skipped, "{name}");
        assert_eq!(note, "not asked: the top packet's confidence is high after corroboration");
    }
    let yields = summary.yields.unwrap();
    assert_eq!(
        (yields.council_completed_count, yields.council_failed_count, yields.council_timeout_count),
        (0, 0, 0)
    );
    assert_eq!((yields.council_recommended_kind, yields.council_action_delta), Default::default());
    assert_eq!(yields.top_packet_confidence_before, "medium");
    assert_eq!(yields.top_packet_confidence_after, "high");
    assert!(
        summary.council.is_none()
            && summary.degraded.is_none_or(|all| !all.join(" ").contains("council"))
    );
    assert!(!Path::new(&summary.output_dir).join("council").exists());
    assert!(summary.steps.iter().all(|step| step.status != StepStatus::Pending));
}

/// Without it the same night asks; what speaks for the packet is not looked for.
#[test]
fn a_night_that_is_no_long_haul_asks_its_council() {
    let bed = bed(&SPEAKING);
    let runner = runner("Look at the relay");
    let summary = night(&bed, LongHaul::Off, council(&runner));
    assert_eq!(runner.asked.load(Ordering::Relaxed), 1);
    assert_eq!(summary.long_haul, Some(ao_contract::LongHaul::default()));
    let yields = summary.yields.unwrap();
    assert_eq!(
        (yields.council_completed_count, yields.council_action_delta.as_str()),
        (1, "unchanged")
    );
    assert_eq!(yields.top_packet_confidence_after, "medium");
}

/// A council that is asked while the long haul goes on is one of its probes.
// proves: REP-09, REP-10
#[test]
fn a_council_is_a_probe_and_another_first_move_is_its_delta() {
    for (action, streak, exit) in [
        ("Look at the relay", 0, "nothing left to probe"),
        (TITLE, 2, "zero_delta_probe_streak >= 2"),
    ] {
        let bed = bed(&[]);
        let runner = runner(action);
        let summary = night(&bed, ON, council(&runner));
        assert_eq!(runner.asked.load(Ordering::Relaxed), 1);
        let haul = summary.long_haul.unwrap();
        assert_eq!(haul.trigger_reason, "packet confidence below high");
        assert_eq!(
            (haul.probe_count, haul.zero_delta_probe_streak, haul.exit_reason.as_str()),
            (2, streak, exit),
            "{:?}",
            haul.probes
        );
        let yields = summary.yields.unwrap();
        assert_eq!(yields.council_completed_count, 1);
        assert_eq!(yields.council_recommended_kind, "repair");
        // A council recommends. The first move stays the night's.
        assert_eq!(yields.council_action_delta, "unchanged");
    }
}

/// Its own time is over before it begins: the council is asked as on any night, and is no probe.
#[test]
fn a_long_haul_has_a_time_of_its_own() {
    let bed = bed(&SPEAKING);
    let runner = runner("Look at the relay");
    let summary = night(&bed, LongHaul::On { limit: Duration::ZERO }, council(&runner));
    let haul = summary.long_haul.unwrap();
    assert_eq!(
        (haul.active, haul.probe_count, haul.exit_reason.as_str()),
        (false, 0, "the time ended")
    );
    assert_eq!(runner.asked.load(Ordering::Relaxed), 1);
    assert_eq!(summary.yields.unwrap().top_packet_confidence_after, "medium");
    assert!(summary.steps.iter().all(|step| step.status != StepStatus::Pending));
}
