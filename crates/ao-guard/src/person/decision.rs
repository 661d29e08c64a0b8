//! The commands by which a person decides something: the one list for the binary, which asks who calls, and for the
//! hook, which denies them to agents.

/// What is decided, and the command that does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    Vouch,
    WithdrawVouch,
    Rule,
    WithdrawRuling,
    /// Rescues let a worse corpus be committed.
    ResetRescues,
    /// The rules that an agent is held to, with what it is granted.
    InstallHook,
    UninstallHook,
    /// An undo gives and takes back words for texts, and rulings, as it does everything else.
    UndoCommit,
    UndoNight,
    /// Edits of the caller's own, which could be a word or a ruling.
    ApplyEdits,
}

impl Decision {
    pub const ALL: [Self; 10] = [
        Self::Vouch,
        Self::WithdrawVouch,
        Self::Rule,
        Self::WithdrawRuling,
        Self::ResetRescues,
        Self::InstallHook,
        Self::UninstallHook,
        Self::UndoCommit,
        Self::UndoNight,
        Self::ApplyEdits,
    ];

    /// The words of the command.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Vouch | Self::WithdrawVouch => &["trust"],
            Self::Rule | Self::WithdrawRuling => &["rule"],
            Self::ResetRescues => &["overnight", "warn-only", "reset"],
            Self::InstallHook => &["guard", "install"],
            Self::UninstallHook => &["guard", "uninstall"],
            Self::UndoCommit => &["tree", "undo"],
            Self::UndoNight => &["overnight", "undo"],
            Self::ApplyEdits => &["tree", "apply"],
        }
    }

    /// The option without which the command only shows something.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Self::Vouch => Some("--vouch"),
            Self::Rule => Some("--keep"),
            Self::WithdrawVouch | Self::WithdrawRuling => Some("--withdraw"),
            Self::ResetRescues
            | Self::InstallHook
            | Self::UninstallHook
            | Self::UndoCommit
            | Self::UndoNight
            | Self::ApplyEdits => None,
        }
    }

    /// As it is typed.
    pub fn command(self) -> String {
        let words = self.words().iter().copied().chain(self.option());
        std::iter::once("ao").chain(words).collect::<Vec<_>>().join(" ")
    }
}
