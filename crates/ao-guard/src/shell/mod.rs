//! Shell text, read into the commands that it would start.
//!
//! This is a reader, not a shell: it knows quotes, escapes, substitutions, here-documents, pipes, lists
//! and redirections as bash does, finds every command wherever it is nested, and says what it cannot
//! know. It expands nothing. Whatever it does not understand is a doubt, and a doubt is never a
//! permission.

mod read;
mod word;

pub use read::read;

/// How much of a word is known before it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surety {
    /// It is what it says.
    Literal,
    /// It stands for the names that it matches.
    Pattern,
    /// A variable, the output of a command, or several words: anything.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Without quotes; what is not known is left out.
    pub text: String,
    pub surety: Surety,
}

impl Word {
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), surety: Surety::Literal }
    }

    pub fn unknown() -> Self {
        Self { text: String::new(), surety: Surety::Unknown }
    }

    /// The text, if it is what it says.
    pub fn known(&self) -> Option<&str> {
        (self.surety == Surety::Literal).then_some(self.text.as_str())
    }
}

/// What a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Whatever the shell itself reads.
    Inherited,
    /// What the command before it says.
    Pipe,
    Text(Word),
    File(Word),
}

/// How a command follows the one before it in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Whatever that one did.
    Fresh,
    /// Only if that one succeeded.
    And,
    /// Beside it, reading what it says.
    Pipe,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Lists are numbered: the commands of one follow each other.
    pub list: usize,
    pub join: Join,
    pub is_negated: bool,
    pub assignments: Vec<(String, Word)>,
    /// The program and its arguments; empty if there are only assignments and redirections.
    pub words: Vec<Word>,
    /// Files that are written, or opened for it, whatever the command is.
    pub writes: Vec<Word>,
    /// Files that are read.
    pub reads: Vec<Word>,
    pub stdin: Stdin,
}

/// All that a text would start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    pub commands: Vec<Command>,
    /// What could not be understood.
    pub doubts: Vec<String>,
}
