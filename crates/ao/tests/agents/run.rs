//! An agent at work on a ground: in a cell, or without one.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::agent::Agent;
use crate::bounded;
use crate::ground::Ground;
use crate::install::Installed;
use crate::mock::Mock;

/// The bound of the cell; an agent needs a few seconds.
const TIME: &str = "90s";
/// Longer than the bound of the cell.
const PATIENCE: Duration = Duration::from_mins(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Pass,
    Worker,
}

/// The answer of `ao guard run`, for an agent that came to its end.
pub(crate) fn in_cell(
    agent: Agent,
    installed: &Installed,
    ground: &Ground,
    mock: &Mock,
    cell: Cell,
) -> Value {
    let mut ao = command(env!("CARGO_BIN_EXE_ao"), ground);
    ao.args(["--json", "guard", "run", "--time", TIME, "--floor", "A"]);
    ao.args(match cell {
        Cell::Pass => ["--rw", "scope"],
        Cell::Worker => ["--cow", "."],
    });
    ao.args(["--net", &mock.address().to_string()]);
    for (name, value) in agent.variables(mock.address(), ground.user) {
        ao.env(name, value).args(["--env", name]);
    }
    ao.args(["--", "node"]).arg(agent.program(installed));
    ao.args(agent.arguments(mock.address()));
    answer_of(agent, &mut ao, mock)
}

/// What `ao guard run` says of an agent that came to its end.
pub(crate) fn answer_of(agent: Agent, ao: &mut Command, mock: &Mock) -> Value {
    let (pid, output) = bounded::output(ao, PATIENCE);
    let said = String::from_utf8(output.stdout).unwrap();
    let answer: Value = serde_json::from_str(&said)
        .unwrap_or_else(|_| panic!("no JSON: {said}\n{}", String::from_utf8_lossy(&output.stderr)));
    let text = answer["stdout"]["text"].as_str().unwrap_or_default();
    assert!(agent.is_done(text), "{agent:?}: {answer:#}\n{:#?}", mock.results());
    assert_eq!(output.status.code(), Some(0), "{answer:#}");
    assert_eq!((&answer["tier"], &answer["usage"]["survivors"]), (&"A".into(), &0.into()));
    // Agents call home too, where nothing was granted.
    let refusals = answer["refusals"].as_array().unwrap();
    assert!(refusals.iter().all(|one| one["rule"] == "network-grant"), "{answer:#}");
    assert!(!has_folder_of(pid), "the folder of the cell is still there");
    answer
}

/// The same command line with nothing around it. What it says to others than the mock is answered by the mock.
pub(crate) fn without_cell(agent: Agent, installed: &Installed, ground: &Ground, mock: &Mock) {
    let mut node = command("node", ground);
    for (name, value) in agent.variables(mock.address(), ground.user) {
        node.env(name, value);
    }
    let proxy = format!("http://{}", mock.address());
    node.envs([("HTTPS_PROXY", proxy.as_str()), ("https_proxy", proxy.as_str())]);
    node.envs([("NO_PROXY", "127.0.0.1"), ("no_proxy", "127.0.0.1")]);
    node.arg(agent.program(installed)).args(agent.arguments(mock.address()));
    let (_, output) = bounded::output(&mut node, PATIENCE);
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(agent.is_done(&said), "{agent:?}: {said}\n{errors}\n{:#?}", mock.results());
}

pub(crate) fn command(program: &str, ground: &Ground) -> Command {
    let mut command = Command::new(program);
    ground.user.runs(&mut command);
    command.env_clear().env("HOME", ground.path("home")).env("USER", "somebody");
    command.env("PATH", std::env::var_os("PATH").unwrap()).current_dir(ground.path("repo"));
    command
}

/// The paths of an answer, beneath the ground, with what happened to each.
pub(crate) fn writes(answer: &Value, ground: &Ground) -> Vec<String> {
    let root = ground.path("").canonicalize().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = answer["writes"].as_array().unwrap().iter();
    let mut found: Vec<_> = all
        .map(|write| {
            let path = text(&write["path"]);
            let path = Path::new(&path).strip_prefix(&root).unwrap().to_str().unwrap();
            format!("{} {path}", text(&write["change"]))
        })
        .collect();
    found.sort();
    found
}

fn has_folder_of(pid: u32) -> bool {
    let entries = std::fs::read_dir(std::env::temp_dir()).unwrap();
    let start = format!("ao-cell-{pid}-");
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(&start))
}
