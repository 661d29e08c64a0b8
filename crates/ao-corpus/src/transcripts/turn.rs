//! One thing that happened in a session, whoever's program wrote it down.

/// What happened, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    /// From 1.
    pub(super) line: u64,
    /// As the transcript has it.
    pub(super) at: Option<String>,
    pub(super) event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// A person wrote it, or something that was put in a person's place.
    Person(String),
    /// A person refused what the agent was about to do, and said why.
    Refusal(String),
    Agent(String),
    /// The agent began to run something in a shell.
    Command {
        id: String,
        text: String,
    },
    /// The agent changed a file.
    Edit(String),
    /// What became of a command.
    Outcome {
        id: String,
        result: Outcome,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Worked,
    /// With what it said.
    Failed(String),
    /// The transcript does not say.
    Unknown,
}
