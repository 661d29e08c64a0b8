//! What a killed run left, and whether its report names all of it.

use serde_json::Value;

use crate::world::World;

/// The steps of every night that leave a file of their own.
const FILES: [(&str, &str); 5] = [
    ("close-loop", "close-loop.json"),
    ("defrag-preview", "defrag/latest.json"),
    ("metrics-health", "metrics-health.json"),
    ("retrieval-live", "retrieval-bench.json"),
    ("morning-packets", "morning-packets/index.json"),
];

/// Each step that has a file is done, and each that has an entry in the log is as it says there.
pub(super) fn check_steps(world: &World, shown: &Value) -> Result<(), String> {
    let latest = world.state("latest");
    let status = |name: &str| {
        let step = shown["steps"].as_array().unwrap().iter().find(|step| step["name"] == name);
        step.and_then(|step| step["status"].as_str()).unwrap_or("absent").to_owned()
    };
    let log = std::fs::read_to_string(latest.join("overnight.log")).unwrap_or_default();
    // `TIME step NAME: STATUS NOTE`
    let entries: Vec<(&str, &str)> = log
        .lines()
        .filter_map(|line| line.split_once(" step ")?.1.split_once(": "))
        .map(|(name, told)| (name, told.split(' ').next().unwrap()))
        .collect();
    for (name, _) in &entries {
        let last = entries.iter().rfind(|(other, _)| other == name).unwrap().1;
        if status(name) != last {
            return Err(format!("{name} is {last} in the log, and shown as {}", status(name)));
        }
    }
    let run = shown["run_id"].as_str().unwrap();
    let records = (1..).map(|index| {
        let file = latest.join(run).join(format!("iterations/iter-{index}.json"));
        (format!("iteration-{index}"), file)
    });
    let records = records.take_while(|(_, file)| file.exists());
    if let Some((name, _)) = records.into_iter().find(|(name, _)| status(name) == "absent") {
        return Err(format!("{name} has a record, and is not shown"));
    }
    let is_lost =
        |(name, file): &&(&str, &str)| latest.join(file).exists() && status(name) != "done";
    match FILES.iter().find(is_lost) {
        Some((name, _)) => Err(format!("{name} has a file, and is shown as {}", status(name))),
        None => Ok(()),
    }
}
