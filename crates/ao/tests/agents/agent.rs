//! The agents and their command lines: unattended, with their own questions and sandboxes switched off,
//! and with the mock as their API.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::install::Installed;
use crate::mock::Dialect;
use crate::user::User;

const PROMPT: &str = "Do what you are told.";
/// A name that this version of Codex knows; it decides which tools it offers.
const CODEX_MODEL: &str = "gpt-5.5";
const CLAUDE_MODEL: &str = "claude-sonnet-4-5";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    /// A program of its own, with a small one for Node before it.
    Claude,
    /// The last version that is a program for Node.
    ClaudeOnNode,
    Codex,
}

impl Agent {
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Claude | Self::ClaudeOnNode => Dialect::Messages,
            Self::Codex => Dialect::Responses,
        }
    }

    /// Run by Node.
    pub(crate) fn program(self, installed: &Installed) -> PathBuf {
        installed.module(match self {
            Self::Claude => "@anthropic-ai/claude-code/cli-wrapper.cjs",
            Self::ClaudeOnNode => "claude-code-on-node/cli.js",
            Self::Codex => "@openai/codex/bin/codex.js",
        })
    }

    pub(crate) fn arguments(self, api: SocketAddr) -> Vec<String> {
        let provider = format!(
            "model_providers.mock={{name=\"mock\",base_url=\"http://{api}/v1\",wire_api=\"responses\",env_key=\"OPENAI_API_KEY\"}}"
        );
        let arguments: &[&str] = match self {
            Self::Claude | Self::ClaudeOnNode => &[
                "-p",
                "--dangerously-skip-permissions",
                "--output-format",
                "json",
                "--no-session-persistence",
                "--model",
                CLAUDE_MODEL,
                PROMPT,
            ],
            Self::Codex => &[
                "exec",
                "--json",
                "--dangerously-bypass-approvals-and-sandbox",
                "--skip-git-repo-check",
                "--ephemeral",
                "--color",
                "never",
                "-c",
                "model_provider=\"mock\"",
                "-c",
                &provider,
                "-m",
                CODEX_MODEL,
                PROMPT,
            ],
        };
        arguments.iter().map(|&argument| argument.to_owned()).collect()
    }

    /// What it must find in its environment, by name.
    pub(crate) fn variables(self, api: SocketAddr, user: User) -> Vec<(&'static str, String)> {
        let placeholder = "placeholder".to_owned();
        match self {
            Self::Claude | Self::ClaudeOnNode => {
                let mut variables = vec![
                    ("ANTHROPIC_BASE_URL", format!("http://{api}")),
                    ("ANTHROPIC_API_KEY", placeholder),
                    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ];
                // It does not ask root before each step only where it is told that it is held.
                if user.is_root() {
                    variables.push(("IS_SANDBOX", "1".to_owned()));
                }
                variables
            }
            Self::Codex => vec![("OPENAI_API_KEY", placeholder)],
        }
    }

    /// Whether what it said in the end is that it came to its end.
    pub(crate) fn is_done(self, said: &str) -> bool {
        let lines: Vec<serde_json::Value> =
            said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let Some(last) = lines.last() else { return false };
        match self {
            Self::Claude | Self::ClaudeOnNode => {
                last["subtype"] == "success" && last["is_error"] == false
            }
            Self::Codex => last["type"] == "turn.completed",
        }
    }
}
