//! What can be asked.

use std::fmt;

/// What a runner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Claude,
    Codex,
    Gemini,
    OpenCode,
    Ollama,
    /// Any endpoint that speaks the protocol of `OpenAI`'s chat completions.
    OpenAi,
    /// The user's own program.
    Command,
}

impl Kind {
    pub const ALL: [Self; 7] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::OpenCode,
        Self::Ollama,
        Self::OpenAi,
        Self::Command,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
            Self::Command => "command",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        let is_known =
            |kind: &Self| *kind != Self::OpenAi || !ao_mutant::active("RUN-39/openai-is-unknown");
        Self::ALL.into_iter().find(|kind| kind.name() == name && is_known(kind))
    }

    /// Whether it is a program, and so is run in a cell. The others are called over HTTP.
    pub fn is_program(self) -> bool {
        !matches!(self, Self::Ollama | Self::OpenAi)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
