//! The coding agents that are known by name, each with the variables that it sets for the commands it runs, and the
//! programs that it runs as.
//!
//! Only variables that the agent itself sets are listed: what a person exports for it (keys, models), and what an editor
//! sets in its own terminals (`CURSOR_TRACE_ID`, `TERM_PROGRAM`), is found in a person's shell too.

/// The kernel keeps so many bytes of a program's name.
#[cfg(test)]
pub(super) const COMM_BYTES_MAX: usize = 15;

/// One agent, or a convention that several follow.
#[derive(Debug, Clone, Copy)]
pub struct KnownAgent {
    pub name: &'static str,
    pub variables: &'static [&'static str],
    /// As `/proc/PID/comm` has them, or as a script that an interpreter runs.
    pub programs: &'static [&'static str],
}

const fn agent(
    name: &'static str,
    variables: &'static [&'static str],
    programs: &'static [&'static str],
) -> KnownAgent {
    KnownAgent { name, variables, programs }
}

pub const AGENTS: [KnownAgent; 23] = [
    agent(
        "Claude Code",
        &[
            "CLAUDECODE",
            "CLAUDE_CODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_CHILD_SESSION",
        ],
        &["claude", "claude-code"],
    ),
    agent(
        "Codex",
        &[
            "CODEX_SANDBOX",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "CODEX_THREAD_ID",
            "CODEX_CI",
            "CODEX_SHELL",
        ],
        &["codex"],
    ),
    agent("Gemini CLI", &["GEMINI_CLI"], &["gemini", "gemini-cli"]),
    agent("OpenCode", &["OPENCODE", "OPENCODE_CLIENT"], &["opencode"]),
    agent("Cursor", &["CURSOR_AGENT", "CURSOR_CONVERSATION_ID"], &["cursor-agent"]),
    agent("Copilot", &["COPILOT_CLI", "COPILOT_AGENT"], &["copilot"]),
    agent("Amp", &["AMP_CURRENT_THREAD_ID"], &["amp"]),
    agent("Goose", &["GOOSE_TERMINAL"], &["goose"]),
    agent("Cline", &["CLINE_ACTIVE"], &["cline"]),
    agent("Crush", &["CRUSH"], &["crush"]),
    agent("Augment", &["AUGMENT_AGENT"], &["auggie"]),
    agent("Antigravity", &["ANTIGRAVITY_AGENT"], &[]),
    agent("Qwen Code", &["QWEN_CODE"], &["qwen", "qwen-code"]),
    agent("Pi", &["PI_CODING_AGENT"], &["pi"]),
    agent("Junie", &["JUNIE_DATA", "JUNIE_SHIM_PATH"], &["junie"]),
    agent("Trae", &["TRAE_AI_SHELL_ID"], &["trae-cli"]),
    agent("Roo Code", &["ROO_ACTIVE"], &[]),
    agent("Aider", &[], &["aider"]),
    agent("Droid", &[], &["droid"]),
    agent("Kiro CLI", &[], &["kiro-cli", "kiro-cli-chat"]),
    agent("Devin", &[], &["devin"]),
    agent("OpenHands", &[], &["openhands"]),
    agent("an agent", &["AI_AGENT", "AGENT"], &[]),
];
