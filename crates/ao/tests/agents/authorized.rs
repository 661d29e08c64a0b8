//! An agent that uses a key which it does not have.

use std::io::Write;
use std::process::Stdio;

use crate::agent::Agent;
use crate::ground::Ground;
use crate::install::agents;
use crate::mock::Mock;
use crate::run::{answer_of, command};
use crate::script::{Act, Reach, Step, Trace};
use crate::user::User;

const VALUE: &str = "sk-mine-9fQ2xVbR7mKpW4zLhT8cN3dE";
/// Where a program in the cell finds the first host that was granted.
const INSIDE: &str = "127.0.0.1:20001";

/// It is told to say all that it knows.
fn script() -> Vec<Step> {
    vec![Step {
        name: "everything in its environment",
        act: Act::Run("env > scope/environment.txt; env".to_owned()),
        reach: Reach::Scope,
        trace: Trace::There("repo/scope/environment.txt"),
    }]
}

fn uses_a_key_that_it_never_has(agent: Agent) {
    let Some(installed) = agents() else { return };
    for user in User::all(installed) {
        let ground = Ground::new(user);
        let mock = Mock::start(agent.dialect(), script());
        // The ground lies in a repository, where no identity may be.
        let vault = tempfile::tempdir().unwrap();
        user.owns(vault.path());
        let ao = |arguments: &[&str]| {
            let mut ao = command(env!("CARGO_BIN_EXE_ao"), &ground);
            ao.env("AO_VAULT_IDENTITY", vault.path().join("identity.txt"));
            ao.env("AO_VAULT_FILE", vault.path().join("vault.age")).args(arguments);
            ao
        };
        assert!(ao(&["vault", "init"]).status().unwrap().success());
        let mut write = ao(&["vault", "write", "KEY"]).stdin(Stdio::piped()).spawn().unwrap();
        write.stdin.take().unwrap().write_all(VALUE.as_bytes()).unwrap();
        assert!(write.wait().unwrap().success());

        let grant = format!("{}=vault://KEY", mock.address());
        let mut run = ao(&["--json", "guard", "run", "--time", "90s", "--rw", "scope"]);
        run.args(["--auth", &grant]);
        for (name, value) in agent.variables(INSIDE.parse().unwrap(), user) {
            let value = if name.ends_with("_KEY") { "vault://KEY".to_owned() } else { value };
            run.env(name, value).args(["--env", name]);
        }
        run.args(["--", "node"]).arg(agent.program(installed));
        run.args(agent.arguments(INSIDE.parse().unwrap()));
        let answer = answer_of(agent, &mut run, &mock);

        let who = format!("{agent:?} as {user:?}");
        let keys = mock.keys();
        assert!(keys.len() >= 2, "{who}: {keys:?}");
        for of_request in keys {
            let is_ours = |key: &String| key.strip_prefix("Bearer ").unwrap_or(key) == VALUE;
            assert!(
                !of_request.is_empty() && of_request.iter().all(is_ours),
                "{who}: {of_request:?}"
            );
        }
        let told = std::fs::read_to_string(ground.path("repo/scope/environment.txt")).unwrap();
        assert!(told.contains("AO_AUTH=") && told.contains("vault://KEY"), "{who}: {told}");
        for entry in ground.everything().values() {
            assert!(!entry.content.contains(VALUE), "{who}: {}", entry.content);
        }
        assert!(!answer.to_string().contains(VALUE), "{who}: {answer:#}");
        let said: Vec<_> = mock.results().into_iter().map(|result| result.text).collect();
        assert!(said.len() == 1 && !said[0].contains(VALUE), "{who}: {said:?}");
    }
}

// proves: SCO-08
#[test]
fn claude_code_uses_a_key_that_it_never_has() {
    uses_a_key_that_it_never_has(Agent::Claude);
}

// proves: SCO-08
#[test]
fn codex_uses_a_key_that_it_never_has() {
    uses_a_key_that_it_never_has(Agent::Codex);
}
