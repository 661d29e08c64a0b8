//! What a night is told: its flags, and the operator's queue.

use std::fs;

use serde_json::Value;

use crate::night::Night;

// proves: RUN-01, RUN-03
#[test]
fn run_is_start_flag_for_flag() {
    let night = Night::with(3);
    let help = |verb: &str| night.repo.run(&["overnight", verb, "--help"]).expect(0).stdout;
    let flags = help("start");
    assert_eq!(help("run").replace("overnight run", "overnight start"), flags);
    for flag in [
        "--goal",
        "--output-dir",
        "--run-timeout",
        "--keep-awake",
        "--no-keep-awake",
        "--runner",
        "--creative-lane",
        "--queue",
        "--max-iterations",
        "--plateau-epsilon",
        "--plateau-window",
        "--warn-only",
        "--checkpoint-max-mb",
        "--long-haul",
        "--resume",
    ] {
        assert!(
            flags.contains(&format!("{flag} "))
                || flags.contains(&format!("{flag}\n"))
                || flags.contains(&format!("{flag}[")),
            "{flag}"
        );
    }
    let queue = night.aside.path().join("queue.md");
    fs::write(&queue, "- Look at the lint gate\n").unwrap();
    let start = [
        "--json",
        "overnight",
        "run",
        "--goal",
        "calm",
        "--run-timeout",
        "45s",
        "--no-keep-awake",
        "--queue",
        queue.to_str().unwrap(),
        "--max-iterations",
        "2",
        "--plateau-epsilon",
        "0.5",
        "--plateau-window",
        "3",
        "--warn-only=false",
        "--checkpoint-max-mb",
        "9",
        "--long-haul",
    ];
    let told: Value = night.repo.run(&start).expect(0).json();
    assert_eq!(told["summary"]["goal"], "calm");
    assert_eq!(told["summary"]["runtime"]["effective_timeout"], "45s");
    assert_eq!(told["summary"]["warn_only"], false);
    assert_eq!(told["summary"]["long_haul"]["enabled"], true);
    let refused = night.run(&["--creative-lane"]).expect(2);
    assert!(refused.stderr.contains("nobody to ask"), "{refused}");
    night.run(&["--runner", "claude", "--creative-lane"]).expect(0);
    for bad in [
        &["--plateau-epsilon", "0"][..],
        &["--plateau-epsilon", "NaN"],
        &["--plateau-epsilon", "-1"],
        &["--plateau-window", "1"],
        &["--run-timeout", "0s"],
        &["--run-timeout", "-1h"],
        &["--run-timeout", "49h"],
        &["--run-timeout", "eight"],
        &["--max-iterations", "-1"],
        &["--warn-only=maybe"],
    ] {
        night.run(bad).expect(2);
    }
}

// proves: RUN-02
#[test]
fn each_flag_of_a_run_counts() {
    let night = Night::with(3);
    let elsewhere = night.aside.path().join("elsewhere");
    let told = |words: &[&str]| {
        let start = ["--json", "--dry-run", "overnight", "start", "--output-dir"];
        let start = [&start[..], &[elsewhere.to_str().unwrap()], words].concat();
        night.repo.run(&start).expect(0).json()["summary"].clone()
    };
    for (text, budget) in
        [("8h", "8h0m0s"), ("90m", "1h30m0s"), ("1h30m", "1h30m0s"), ("45s", "45s")]
    {
        let summary = told(&["--run-timeout", text]);
        assert_eq!(summary["runtime"]["effective_timeout"], budget, "{text}");
    }
    let summary =
        told(&["--goal", "calm", "--runner", "one", "--runner", "two", "--creative-lane"]);
    assert_eq!(summary["goal"], "calm");
    assert_eq!(summary["output_dir"], elsewhere.to_str().unwrap());
    assert!(elsewhere.join("summary.md").is_file() && !night.repo.exists("overnight/latest"));
    let steps = summary["steps"].to_string();
    assert!(steps.contains("council-one") && steps.contains("council-two"), "{steps}");
    let packet = crate::night::json_of(&elsewhere.join("council/packet.json"));
    assert_eq!(packet["creative_lane"], true);
    told(&["--runner", "one"]);
    let packet = crate::night::json_of(&elsewhere.join("council/packet.json"));
    assert_eq!(packet["creative_lane"], false);
    // Of the two the last one counts, and each is stronger than the configuration.
    for (said, flags, is_kept) in [
        ("false", &["--keep-awake"][..], true),
        ("true", &["--no-keep-awake"], false),
        ("true", &["--keep-awake", "--no-keep-awake"], false),
        ("false", &["--no-keep-awake", "--keep-awake"], true),
    ] {
        night.configure(&format!("dream:\n  keep_awake: {said}\n"));
        night.repo.run(&[&["overnight", "start"], flags].concat()).expect(0);
        assert_eq!(night.summary()["runtime"]["keep_awake"], is_kept, "{said} {flags:?}");
    }
}

// proves: LOOP-19
// pitfall 20: a queue that is parsed and ignored.
#[test]
fn what_the_operator_pins_comes_first_and_in_its_order() {
    let night = Night::with_copies();
    for number in 0..3 {
        let text = format!(
            "---\nid: f{number}\nseverity: critical\nstatus: open\ndate: 2026-03-01\n---\n# Finding {number}\n\n{}",
            crate::night::text(900 + number)
        );
        night.repo.write(&format!("findings/f-2026-03-01-00{number}.md"), &text);
    }
    let queue = night.aside.path().join("tonight.md");
    fs::write(&queue, "# Tonight\n\n- Second thoughts on the relay [severity: low]\n  It drops mail.\n2. Then the crawler\n").unwrap();
    night.run(&["--queue", queue.to_str().unwrap()]).expect(0);
    let summary = night.summary();
    let titles = |summary: &Value| -> Vec<String> {
        let all = summary["morning_packets"].as_array().unwrap();
        all.iter().map(|packet| packet["title"].as_str().unwrap().to_owned()).collect()
    };
    let seen = titles(&summary);
    assert_eq!(&seen[..2], ["Second thoughts on the relay", "Then the crawler"], "{seen:?}");
    assert!(seen.len() > 2, "the night's own work comes after: {seen:?}");
    // Once in the queue, and once only, night after night.
    let queued = night.repo.read("rpi/next-work.jsonl");
    assert_eq!(queued.matches("Second thoughts on the relay").count(), 1, "{queued}");
    night.run(&["--queue", queue.to_str().unwrap()]).expect(0);
    assert_eq!(night.repo.read("rpi/next-work.jsonl"), queued);
    let missing = night.run(&["--queue", "/nowhere/queue.md"]).expect(2);
    assert!(missing.stderr.contains("/nowhere/queue.md"), "{missing}");
}
