//! What `/hooks` does in Codex when somebody trusts a hook there: it asks its server for the hooks of the project with
//! their hashes, and writes the hash of the one that was looked at into the user's settings.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::ground::Ground;
use crate::install::Installed;
use crate::run;

struct Server {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let request = json!({ "id": self.asked, "method": method, "params": params });
        writeln!(self.input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "{method}: no answer");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.asked {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

/// The project is trusted, as Codex asks when it is first started there.
pub(crate) fn project(ground: &Ground) {
    let folder = ground.path("home/.codex");
    fs::create_dir_all(&folder).unwrap();
    let repo = ground.path("repo").canonicalize().unwrap();
    let repo = repo.display();
    let text = format!("[projects.\"{repo}\"]\ntrust_level = \"trusted\"\n");
    fs::write(folder.join("config.toml"), text).unwrap();
}

/// The one hook of the project is trusted as it is now.
pub(crate) fn hook(installed: &Installed, ground: &Ground) {
    let mut codex = run::command("node", ground);
    codex.arg(Agent::Codex.program(installed)).arg("app-server");
    codex.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = codex.spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut server = Server { input, output: BufReader::new(output), asked: 0 };
    server.ask("initialize", &json!({ "clientInfo": { "name": "test", "version": "1" } }));
    let repo = ground.path("repo").canonicalize().unwrap();
    let listed = server.ask("hooks/list", &json!({ "cwds": [repo] }));
    let hook = &listed["data"][0]["hooks"][0];
    assert_ne!(hook["trustStatus"], "trusted", "{listed:#}");
    let key = hook["key"].as_str().unwrap_or_else(|| panic!("no hook: {listed:#}"));
    let state = json!({ key: { "trusted_hash": hook["currentHash"] } });
    let edit = json!({ "keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert" });
    server.ask("config/batchWrite", &json!({ "edits": [edit] }));
    let listed = server.ask("hooks/list", &json!({ "cwds": [repo] }));
    assert_eq!(listed["data"][0]["hooks"][0]["trustStatus"], "trusted", "{listed:#}");
    drop(server);
    // With its input it ends; if not, nobody waits for it.
    child.kill().unwrap();
    child.wait().unwrap();
}
