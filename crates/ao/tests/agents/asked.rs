//! Real agents that are asked one question: `ao runners ask`, with a mock as their API.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::Agent;
use crate::ground::Ground;
use crate::install::{Installed, agents};
use crate::mock::{Mock, Reply};
use crate::run::command;
use crate::script::Act;
use crate::user::User;

const KEY: &str = "sk-mine-9fQ2xVbR7mKpW4zLhT8cN3dE";
const TOKEN: &str = "sk-ant-oat01-9fQ2xVbR7mKpW4zLhT8cN3dE";
const OTHER: &str = "hunter2-and-nine-more";
const QUESTION: &str = "What should be done first, and why?";
/// In files of the repository that an agent would load by itself.
const PLANTED: &str = "planted-word-of-the-repository";
const MODELS: [&str; 2] = ["claude-sonnet-4-5", "gpt-5.5"];

/// A ground with a vault, an agent that is configured, and a mock that replies.
struct Desk {
    agent: Agent,
    ground: Ground,
    vault: TempDir,
    mock: Mock,
}

/// With which secret the agent is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum With {
    Key,
    Token,
}

fn report(runner: &str) -> Value {
    json!({
        "runner": runner, "headline": "Repair the index.", "recommended_kind": "repair",
        "recommended_first_action": "Run it.", "risks": ["none"], "opportunities": [],
        "confidence": "medium", "wildcard_idea": "",
    })
}

fn good() -> Reply {
    Reply::Answer(report("it").to_string())
}

fn saying(field: &str, value: Value) -> Reply {
    let mut answer = report("it");
    answer[field] = value;
    Reply::Answer(answer.to_string())
}

fn status(code: u16, kind: &str) -> Reply {
    let body = json!({ "type": "error", "error": { "type": kind, "message": kind } });
    Reply::Status { code, headers: Vec::new(), body }
}

impl Desk {
    fn new(
        agent: Agent,
        user: User,
        installed: &Installed,
        with: With,
        replies: Vec<Reply>,
    ) -> Self {
        let ground = Ground::new(user);
        let mock = Mock::replying(agent.dialect(), replies);
        let vault = tempfile::tempdir().unwrap();
        user.owns(vault.path());
        let desk = Self { agent, ground, vault, mock };
        desk.plant();
        let (secret, path, kind, model) = match (agent, with) {
            (Agent::Codex, _) => ("OPENAI_API_KEY", "/v1", "codex", MODELS[1]),
            (_, With::Key) => ("ANTHROPIC_API_KEY", "", "claude", MODELS[0]),
            (_, With::Token) => ("CLAUDE_CODE_OAUTH_TOKEN", "", "claude", MODELS[0]),
        };
        let endpoint = format!("http://{}{path}", desk.mock.address());
        let runner = json!({
            "kind": kind, "model": model, "endpoint": endpoint, "auth": format!("vault://{secret}"),
            "command": ["node", agent.program(installed)],
        });
        let home = desk.ground.path("home/.agentops");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("config.yaml"), json!({ "runners": { "it": runner } }).to_string())
            .unwrap();
        user.owns(&desk.ground.path("home"));
        desk.ao(&["vault", "init"], "");
        desk.ao(&["vault", "write", secret], if with == With::Key { KEY } else { TOKEN });
        desk.ao(&["vault", "write", "OTHER"], OTHER);
        desk
    }

    /// What an agent would load from a project, and what would be seen of it.
    fn plant(&self) {
        let hook = format!("touch {}", self.ground.path("outside/hooked").display());
        let hooks = json!({ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": hook }] }] } });
        let server =
            json!({ "mcpServers": { "planted": { "command": "sh", "args": ["-c", hook] } } });
        for (path, text) in [
            ("repo/.claude/settings.json", hooks.to_string()),
            ("repo/.mcp.json", server.to_string()),
            ("repo/CLAUDE.md", PLANTED.to_owned()),
            ("repo/AGENTS.md", PLANTED.to_owned()),
            ("repo/.codex/config.toml", format!("developer_instructions = \"{PLANTED}\"\n")),
        ] {
            let path = self.ground.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut ao = command(env!("CARGO_BIN_EXE_ao"), &self.ground);
        // Times that an agent tells are read all the same.
        ao.env("TZ", "Asia/Tokyo");
        ao.env("AO_VAULT_IDENTITY", self.vault.path().join("identity.txt"));
        ao.env("AO_VAULT_FILE", self.vault.path().join("vault.age")).args(arguments);
        ao.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        ao
    }

    /// What it printed on both streams, and its code.
    fn ao(&self, arguments: &[&str], input: &str) -> (String, String, i32) {
        let mut child = self.command(arguments).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let (mut stdout, mut stderr) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (stdout, stderr, child.wait().unwrap().code().unwrap_or(-1))
    }

    /// The answer, and its code. Whatever happens, nothing of the ground is changed and no secret is told.
    fn ask(&self) -> (Value, i32) {
        let before = self.ground.everything();
        let arguments =
            ["--json", "runners", "ask", "it", "--schema", "runner-report", "--time", "60s"];
        let (stdout, stderr, code) = self.ao(&arguments, QUESTION);
        let agent = self.agent;
        assert_eq!(self.ground.everything(), before, "{agent:?}");
        assert_eq!(self.ground.processes(), Vec::<String>::new(), "{agent:?}");
        for secret in [KEY, TOKEN, OTHER] {
            assert!(!stdout.contains(secret) && !stderr.contains(secret), "{stdout}{stderr}");
            for body in self.mock.bodies() {
                assert!(!body.to_string().contains(secret), "{agent:?}: {body:#}");
            }
        }
        let answer = serde_json::from_str(&stdout);
        (answer.unwrap_or_else(|_| panic!("{agent:?}: no JSON: {stdout}{stderr}")), code)
    }

    #[track_caller]
    fn fails(&self, kind: &str, code: i32) -> Value {
        let (answer, exit) = self.ask();
        assert_eq!(answer["failure"]["kind"], kind, "{:?}: {answer:#}", self.agent);
        assert_eq!(exit, code, "{answer:#}");
        answer["failure"].clone()
    }
}

fn everyone(test: impl Fn(Agent, User, &Installed)) {
    let Some(installed) = agents() else { return };
    for agent in [Agent::Claude, Agent::Codex] {
        test(agent, User::This, installed);
    }
}

// proves: RUN-35, RUN-36, RUN-39
#[test]
fn a_real_agent_answers_in_the_form() {
    let Some(installed) = agents() else { return };
    for agent in [Agent::Claude, Agent::ClaudeOnNode, Agent::Codex] {
        for user in User::all(installed) {
            let who = format!("{agent:?} as {user:?}");
            let desk = Desk::new(agent, user, installed, With::Key, vec![good()]);
            let (answer, code) = desk.ask();
            assert_eq!(code, 0, "{who}: {answer:#}");
            assert_eq!(answer["answer"], report("it"), "{who}");
            assert_eq!((&answer["login"], &answer["repaired"]), (&json!("api-key"), &json!(false)));
            assert!(
                answer["usage"]["tokens"]["by-runner"].as_u64() >= Some(2),
                "{who}: {answer:#}"
            );
            let has_price = answer["usage"]["cost"]["real"].is_u64();
            assert_eq!(has_price, agent != Agent::Codex, "{who}: {answer:#}");
            // They call home, too.
            let refusals = answer["refusals"].as_array().unwrap();
            assert!(refusals.iter().all(|one| one["rule"] == "network-grant"), "{who}: {answer:#}");
            assert!(agent != Agent::Codex || !refusals.is_empty(), "{who}: {answer:#}");
            // The key was added outside, the schema and the question went along, and nothing of the repository did.
            let keys = desk.mock.keys();
            let is_ours = |key: &String| key.strip_prefix("Bearer ").unwrap_or(key) == KEY;
            assert!(!keys.is_empty() && keys.iter().flatten().all(is_ours), "{who}: {keys:?}");
            let body = desk.mock.bodies()[0].to_string();
            assert!(
                body.contains(QUESTION) && body.contains("recommended_first_action"),
                "{who}: {body}"
            );
            for body in desk.mock.bodies() {
                let body = body.to_string();
                assert!(
                    !body.contains(PLANTED) && !body.contains(desk.ground.name()),
                    "{who}: {body}"
                );
            }
            assert!(!desk.ground.path("outside/hooked").exists(), "{who}");
        }
    }
}

// proves: RUN-36
#[test]
fn what_is_not_of_the_form_is_repaired_once() {
    everyone(|agent, user, installed| {
        let wrong = Reply::Answer(json!({ "headline": 7 }).to_string());
        let desk = Desk::new(agent, user, installed, With::Key, vec![wrong.clone(), good()]);
        let (answer, code) = desk.ask();
        assert_eq!((code, &answer["answer"]), (0, &report("it")), "{agent:?}: {answer:#}");
        // Claude Code checks by itself, and asks again within one exchange.
        assert_eq!(answer["repaired"], agent == Agent::Codex, "{answer:#}");
        assert_eq!(desk.mock.bodies().len(), 2, "{agent:?}");
        let never = Desk::new(agent, user, installed, With::Key, vec![wrong]);
        never.fails("not-of-the-form", 5);
        assert_eq!(never.mock.bodies().len(), 2, "{agent:?}");
        if agent == Agent::Codex {
            let prose = Reply::Answer("I would repair the index.".to_owned());
            Desk::new(agent, user, installed, With::Key, vec![prose]).fails("not-json", 5);
        }
    });
}

// proves: RUN-36
#[test]
fn each_failure_of_a_real_agent_is_told_by_its_kind() {
    everyone(|agent, user, installed| {
        for (reply, kind, code) in [
            (status(401, "authentication_error"), "not-logged-in", 6),
            (status(429, "rate_limit_error"), "rate-limited", 75),
            (status(500, "api_error"), "broken", 1),
            (Reply::Cut, "broken", 1),
            (saying("more", json!("a field")), "not-of-the-form", 5),
            (saying("runner", json!("somebody else")), "not-of-the-form", 5),
            (saying("headline", json!("\u{1b}[2Jgone")), "unsafe", 5),
            (saying("headline", json!(format!("it is {OTHER}"))), "unsafe", 5),
        ] {
            let desk = Desk::new(agent, user, installed, With::Key, vec![reply]);
            desk.fails(kind, code);
        }
    });
}

/// In two hours, to the minute, as agents tell it.
fn in_two_hours() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    (now + Duration::from_hours(2)).as_secs() / 60 * 60
}

fn second_of(failure: &Value) -> u64 {
    let text = failure["until"].as_str().unwrap_or_else(|| panic!("no time: {failure:#}"));
    let output = Command::new("date").args(["-u", "+%s", "-d", text]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

// proves: RUN-36
#[test]
fn a_limit_is_told_with_the_time_it_ends() {
    everyone(|agent, user, installed| {
        let ends = in_two_hours();
        let (with, headers, body) = if agent == Agent::Codex {
            let error = json!({
                "type": "usage_limit_reached", "message": "no more", "plan_type": "plus",
                "resets_at": ends,
            });
            (With::Key, Vec::new(), json!({ "error": error }))
        } else {
            let headers = vec![
                ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
                ("anthropic-ratelimit-unified-reset", ends.to_string()),
                ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
            ];
            let error = json!({ "type": "rate_limit_error", "message": "no more" });
            (With::Token, headers, json!({ "type": "error", "error": error }))
        };
        let reply = Reply::Status { code: 429, headers, body };
        let desk = Desk::new(agent, user, installed, with, vec![reply]);
        let failure = desk.fails("rate-limited", 75);
        assert_eq!(second_of(&failure), ends, "{agent:?}: {failure:#}");
    });
}

#[test]
fn a_subscription_is_granted_to_the_one_child_by_name() {
    let Some(installed) = agents() else { return };
    for user in User::all(installed) {
        let desk = Desk::new(Agent::Claude, user, installed, With::Token, vec![good()]);
        let (answer, code) = desk.ask();
        assert_eq!((code, &answer["login"]), (0, &json!("subscription")), "{answer:#}");
        assert!(answer["usage"]["cost"]["imputed"].is_u64(), "{answer:#}");
        let keys = desk.mock.keys();
        let is_ours = |key: &String| *key == format!("Bearer {TOKEN}");
        assert!(!keys.is_empty() && keys.iter().flatten().all(is_ours), "{keys:?}");
    }
}

// proves: RUN-35
#[test]
fn a_hostile_model_gets_nothing_done_and_learns_nothing() {
    let Some(installed) = agents() else { return };
    for agent in [Agent::Claude, Agent::ClaudeOnNode, Agent::Codex] {
        for user in User::all(installed) {
            // Where the files are is known only once the ground is there; these need not be found.
            let replies = vec![
                Reply::Call(Act::Run(
                    "env; cat ~/.agentops/config.yaml ../repo/kept.txt".to_owned(),
                )),
                Reply::Call(Act::Write { path: "/tmp/out.txt".to_owned(), line: "bad" }),
                Reply::Call(Act::Look("/proc/self/environ".to_owned())),
                good(),
            ];
            let desk = Desk::new(agent, user, installed, With::Token, replies);
            let (answer, _) = desk.ask();
            let said: Vec<_> = desk.mock.results().into_iter().collect();
            // Whatever came of the calls, no command ran: none of them can say what is in the environment.
            for result in &said {
                assert!(!result.text.contains("AO_CELL="), "{agent:?}: {}", result.text);
                assert!(!result.text.contains("kept"), "{agent:?}: {}", result.text);
            }
            assert!(said.len() >= 3, "{agent:?}: {said:#?}\n{answer:#}");
        }
    }
}

// proves: RUN-36, RUN-39
#[test]
fn a_real_agent_sits_in_the_council_of_a_night_that_can_be_replayed() {
    everyone(|agent, user, installed| {
        let wrong = Reply::Answer(json!({ "headline": 7 }).to_string());
        let desk = Desk::new(agent, user, installed, With::Key, vec![wrong, good()]);
        let note = desk.ground.path("repo/.agents/learnings/a.md");
        fs::create_dir_all(note.parent().unwrap()).unwrap();
        fs::write(&note, "# Retry\n\nThe loop retries three times.\n").unwrap();
        let night = ["--json", "overnight", "start", "--no-keep-awake", "--runner", "it"];
        let (stdout, stderr, code) = desk.ao(&night, "");
        assert_eq!(code, 0, "{agent:?}: {stdout}{stderr}");
        let told: Value = serde_json::from_str(&stdout).unwrap();
        let summary = &told["summary"];
        assert_eq!(summary["council"]["reports"], json!([report("it")]), "{agent:?}: {summary:#}");
        let steps = summary["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["name"] == "council-it").unwrap();
        assert_eq!((&step["status"], &step["login"]), (&json!("done"), &json!("api-key")));
        assert!(step["spent"]["tokens"].as_u64() >= Some(2), "{agent:?}: {step:#}");
        let asked = desk.mock.bodies().len();
        assert_eq!(asked, 2, "{agent:?}");
        for (path, bytes) in desk.ground.everything() {
            let text = format!("{path:?} {bytes:?}");
            assert!(!text.contains(KEY) && !text.contains(OTHER), "{agent:?}: {path:?}");
        }
        let run = summary["run_id"].as_str().unwrap();
        let (stdout, stderr, code) = desk.ao(&["--json", "overnight", "replay", run], "");
        assert_eq!(code, 0, "{agent:?}: {stdout}{stderr}");
        assert_eq!(desk.mock.bodies().len(), asked, "{agent:?}: a replay asks nobody");
        assert_eq!(desk.ground.processes(), Vec::<String>::new(), "{agent:?}");
    });
}
