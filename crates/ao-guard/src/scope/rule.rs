//! The rules by which something is refused, and a refusal.

use std::fmt;

/// Why something may not be done. Its name is what answers, logs and reports carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The path is not one that means the same file everywhere.
    Path,
    /// It leads out of the project, by its words, by a link or by a mount.
    Outside,
    /// What stands there is a link, a pipe, a device, or a file with a second name.
    Kind,
    /// Some file system would take its name for another one that is there.
    Collision,
    /// No glob of what is owned matches.
    Scope,
    /// Sacred, whatever anybody granted.
    Sacred,
    /// Sacred in this project.
    SacredProject,
    /// The project's sacred scopes cannot be read, so nothing outside of what is owned is written.
    SacredUnreadable,
    /// Authentication code, without its grant.
    Authentication,
    /// Billing, without its grant.
    Billing,
    /// The dependency block of a manifest, without its grant.
    Dependencies,
    /// A migration that is committed.
    Migration,
    /// What would be written is tracked by git, or would be.
    Leak,
    /// A command that changes what git keeps.
    Git,
    /// One of the destructive classes, and it is not listed.
    Destructive,
    /// A link would be made.
    Link,
    /// A secret would be read.
    Secret,
    /// Only a person decides it.
    Decision,
    /// Nobody can say what it would do.
    Doubt,
    /// A tool that is not known.
    Tool,
    /// A call that cannot be read.
    Payload,
}

impl Rule {
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Outside => "outside",
            Self::Kind => "kind",
            Self::Collision => "collision",
            Self::Scope => "scope",
            Self::Sacred => "sacred",
            Self::SacredProject => "sacred-project",
            Self::SacredUnreadable => "sacred-unreadable",
            Self::Authentication => "authentication",
            Self::Billing => "billing",
            Self::Dependencies => "dependencies",
            Self::Migration => "migration",
            Self::Leak => "leak",
            Self::Git => "git",
            Self::Destructive => "destructive",
            Self::Link => "link",
            Self::Secret => "secret",
            Self::Decision => "decision",
            Self::Doubt => "doubt",
            Self::Tool => "tool",
            Self::Payload => "payload",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that is not done: by which rule, to what, and why in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub rule: Rule,
    /// A path or the name of a command; text of others, to be shown with care.
    pub subject: String,
    pub why: String,
}

impl Refusal {
    pub fn new(rule: Rule, subject: impl Into<String>, why: impl Into<String>) -> Self {
        Self { rule, subject: subject.into(), why: why.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.rule, self.why, self.subject)
    }
}
