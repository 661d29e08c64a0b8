//! Real agents in a cell: each is driven by a mock of its API that tells it to write where it may and
//! where it may not. What came of it is looked at from outside, and from what the agent told the mock.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make their own files and start the binary themselves"
)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod asked;
mod authorized;
mod bounded;
mod ground;
mod hooked;
mod http;
mod install;
mod messages;
mod mock;
mod responses;
mod run;
mod script;
mod trust;
mod user;

use agent::Agent;
use ground::Ground;
use install::agents;
use mock::Mock;
use run::{Cell, in_cell, without_cell};
use script::{Reach, Step};
use user::User;

/// Every step was tried, and failed just where it leads beyond what the cell has.
fn tried(who: &str, mock: &Mock, steps: &[Step], works: impl Fn(Reach) -> bool) {
    let results = mock.results();
    assert_eq!(results.len(), steps.len(), "{who}: {results:#?}");
    for (step, result) in steps.iter().zip(&results) {
        assert_eq!(result.worked, works(step.reach), "{who}: {}: {}", step.name, result.text);
    }
}

/// Without a cell everything that the mock asks for happens: the steps can do harm.
fn shows_what_the_steps_do(agent: Agent) {
    let Some(installed) = agents() else { return };
    let ground = Ground::new(User::This);
    let steps = script::steps(&ground);
    let mock = Mock::start(agent.dialect(), script::steps(&ground));
    without_cell(agent, installed, &ground, &mock);
    let (there, missing): (Vec<_>, Vec<_>) =
        steps.iter().partition(|step| step.trace.is_there(&ground));
    ground.end_what_is_left();
    let names: Vec<_> = missing.iter().map(|step| step.name).collect();
    assert!(names.is_empty(), "{agent:?} did not do {names:?}: {:#?}", mock.results());
    assert_eq!(there.len(), steps.len());
    tried("without a cell", &mock, &steps, |_| true);
}

/// In a pass cell the scope is written, and nothing else.
fn writes_its_scope_alone(agent: Agent) {
    let Some(installed) = agents() else { return };
    for user in User::all(installed) {
        let who = format!("{agent:?} as {user:?}");
        let ground = Ground::new(user);
        let steps = script::steps(&ground);
        let mock = Mock::start(agent.dialect(), script::steps(&ground));
        let before = ground.everything();
        let answer = in_cell(agent, installed, &ground, &mock, Cell::Pass);
        tried(&who, &mock, &steps, |reach| reach == Reach::Scope);

        let mut after = ground.everything();
        let written = after.remove("repo/scope/in.txt").expect("the write in the scope");
        assert_eq!((written.content.as_str(), written.links), ("in\n", 1), "{who}");
        // No symlink is made either, in the scope or beside it.
        assert_eq!(after, before, "{who}");

        let writes = run::writes(&answer, &ground);
        assert_eq!(writes, ["created repo/scope/in.txt"], "{who}");
        let left = steps.iter().filter(|step| step.reach != Reach::Scope);
        let left: Vec<_> = left.filter(|step| step.trace.is_there(&ground)).collect();
        assert!(left.is_empty(), "{who}: {left:#?}");
        assert_eq!(ground.processes(), Vec::<String>::new(), "{who}");
    }
}

/// In a worker cell it has all of the repository, as a copy.
fn changes_nothing_but_its_copy(agent: Agent) {
    let Some(installed) = agents() else { return };
    for user in User::all(installed) {
        let who = format!("{agent:?} as {user:?}");
        let ground = Ground::new(user);
        let steps = script::steps(&ground);
        let mock = Mock::start(agent.dialect(), script::steps(&ground));
        let before = ground.everything();
        let answer = in_cell(agent, installed, &ground, &mock, Cell::Worker);
        tried(&who, &mock, &steps, |reach| reach != Reach::Beyond);

        assert_eq!(ground.everything(), before, "{who}");
        let writes = run::writes(&answer, &ground);
        for wanted in [
            "created repo/scope/in.txt",
            "created repo/scope/link",
            "created repo/away",
            "changed repo/kept.txt",
            "created repo/.git/hooks/post-commit",
            "changed repo/.git/logs/HEAD",
        ] {
            assert!(writes.iter().any(|write| write == wanted), "{who}: {wanted}: {writes:#?}");
        }
        assert!(steps.iter().all(|step| !step.trace.is_there(&ground)), "{who}");
        assert_eq!(ground.processes(), Vec::<String>::new(), "{who}");
    }
}

#[test]
fn claude_code_does_all_of_it_without_a_cell() {
    shows_what_the_steps_do(Agent::Claude);
}

#[test]
fn claude_code_on_node_does_all_of_it_without_a_cell() {
    shows_what_the_steps_do(Agent::ClaudeOnNode);
}

#[test]
fn codex_does_all_of_it_without_a_cell() {
    shows_what_the_steps_do(Agent::Codex);
}

// proves: GRD-01, GRD-06, EXE-04, RUN-35
#[test]
fn claude_code_writes_its_scope_alone() {
    writes_its_scope_alone(Agent::Claude);
}

// proves: GRD-01, GRD-06, EXE-04, RUN-35
#[test]
fn claude_code_on_node_writes_its_scope_alone() {
    writes_its_scope_alone(Agent::ClaudeOnNode);
}

// proves: GRD-01, GRD-06, EXE-04, RUN-35
#[test]
fn codex_writes_its_scope_alone() {
    writes_its_scope_alone(Agent::Codex);
}

// pitfall 34
#[test]
fn claude_code_changes_nothing_but_its_copy() {
    changes_nothing_but_its_copy(Agent::Claude);
}

// pitfall 34
#[test]
fn claude_code_on_node_changes_nothing_but_its_copy() {
    changes_nothing_but_its_copy(Agent::ClaudeOnNode);
}

// pitfall 34
#[test]
fn codex_changes_nothing_but_its_copy() {
    changes_nothing_but_its_copy(Agent::Codex);
}
