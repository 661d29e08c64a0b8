//! The command that starts a packet's work, and that runs in a shell as it stands.
//!
//! A title can be anything, so a placeholder is replaced by a word in single quotes. Where the
//! template quotes the placeholder itself, its quote is closed before the word and opened again after
//! it: the shell joins the pieces. Where no quoting would hold (in backquotes, in `${…}`) the template
//! is refused.

use ao_contract::MorningPacket;

const DEFAULT: &str = "ao overnight packet {id}";
const TEMPLATE_BYTES_MAX: usize = 4096;
const PLACEHOLDERS: [(&str, Placeholder); 3] =
    [("{id}", Placeholder::Id), ("{title}", Placeholder::Title), ("{files}", Placeholder::Files)];

/// Programs that make a command of what they are given: a word that is safe in the first reading is
/// not in the second.
const SECOND_READERS: [&str; 12] =
    ["sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "ssh", "su", "tmux", "screen", "watch"];

/// Whether this is the command that every packet of this id has, where nobody chose a template.
pub(crate) fn is_default(command: &str, id: &str) -> bool {
    command.replace('\'', "") == DEFAULT.replace("{id}", id)
}

/// A template that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Word(Placeholder, Quote),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placeholder {
    Id,
    Title,
    Files,
}

/// The quote that a placeholder stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than {TEMPLATE_BYTES_MAX} bytes")]
    Long,
    #[error("it holds a line break or another control character")]
    Control,
    #[error("a quote, a bracket or a backslash is not closed")]
    Open,
    #[error("{0} stands in backquotes or in ${{…}}, where no quoting holds")]
    Unquotable(&'static str),
    #[error("$' is read differently from shell to shell")]
    Ansi,
    #[error("write {0}, without the dollar sign")]
    Dollar(&'static str),
    #[error(
        "{0} reads its words as commands once more, where no quoting of a title or a file holds; \
         give it {{id}} only"
    )]
    SecondReading(&'static str),
}

impl Default for Template {
    fn default() -> Self {
        let text = |text: &str| Part::Text(text.to_owned());
        let before = DEFAULT.trim_end_matches("{id}");
        let parts = vec![text(before), Part::Word(Placeholder::Id, Quote::None)];
        Self { text: DEFAULT.to_owned(), parts }
    }
}

/// What a shell is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Single,
    Double,
    Backquotes,
    /// `$(…)` or `(…)`: a command of its own.
    Command,
    /// `${…}`
    Variable,
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.trim().is_empty() {
            return Err(TemplateError::Empty);
        }
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(TemplateError::Long);
        }
        if text.chars().any(char::is_control) {
            return Err(TemplateError::Control);
        }
        let mut reader = Reader { within: Vec::new(), parts: Vec::new(), text: String::new() };
        let mut rest = text;
        while !rest.is_empty() {
            rest = reader.step(rest)?;
        }
        if !reader.within.is_empty() {
            return Err(TemplateError::Open);
        }
        reader.close_text();
        let is_free = |part: &Part| matches!(part, Part::Word(word, _) if *word != Placeholder::Id);
        if reader.parts.iter().any(is_free)
            && let Some(program) = second_reader(text)
        {
            return Err(TemplateError::SecondReading(program));
        }
        Ok(Self { text: text.to_owned(), parts: reader.parts })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The command for a packet.
    pub fn fill(&self, packet: &MorningPacket) -> String {
        let mut command = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => command.push_str(text),
                Part::Word(word, quote) => {
                    let quoted = words(*word, packet);
                    let mark = match quote {
                        Quote::None => "",
                        Quote::Single => "'",
                        Quote::Double => "\"",
                    };
                    command.push_str(mark);
                    command.push_str(&quoted);
                    command.push_str(mark);
                }
            }
        }
        command
    }
}

fn second_reader(text: &str) -> Option<&'static str> {
    let is_end = |c: char| c.is_whitespace() || ";|&()\"'`$=".contains(c);
    let name = |word: &str| word.rsplit_once('/').map_or(word, |(_, name)| name).to_owned();
    let names: Vec<String> = text.split(is_end).map(|word| name(word).replace('\\', "")).collect();
    SECOND_READERS.into_iter().find(|program| names.iter().any(|name| name == program))
}

fn words(word: Placeholder, packet: &MorningPacket) -> String {
    match word {
        Placeholder::Id => quoted(&packet.id),
        // No program takes a word that begins with a space for an option.
        Placeholder::Title if packet.title.starts_with('-') => {
            quoted(&format!(" {}", packet.title))
        }
        Placeholder::Title => quoted(&packet.title),
        Placeholder::Files => {
            let plain = |file: &String| match file.strip_prefix('-') {
                Some(_) => quoted(&format!("./{file}")),
                None => quoted(file),
            };
            packet.target_files.iter().map(plain).collect::<Vec<_>>().join(" ")
        }
    }
}

/// One word to a shell, whatever it holds.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let text: String = text.chars().filter(|c| *c != '\0').collect();
    let is_open = ao_mutant::active("REP-11/quote-in-a-title");
    format!("'{}'", if is_open { text } else { text.replace('\'', "'\\''") })
}

struct Reader {
    within: Vec<Within>,
    parts: Vec<Part>,
    text: String,
}

impl Reader {
    /// Takes one sign or one placeholder, and gives what follows.
    fn step<'a>(&mut self, rest: &'a str) -> Result<&'a str, TemplateError> {
        let top = self.within.last().copied();
        if let Some((name, word)) = PLACEHOLDERS.iter().find(|(name, _)| rest.starts_with(name)) {
            self.place(name, *word)?;
            return Ok(&rest[name.len()..]);
        }
        let mut chars = rest.chars();
        let Some(c) = chars.next() else { return Ok("") };
        let mut taken = c.len_utf8();
        let closes = matches!(
            (top, c),
            (Some(Within::Single), '\'')
                | (Some(Within::Double), '"')
                | (Some(Within::Backquotes), '`')
                | (Some(Within::Command), ')')
                | (Some(Within::Variable), '}')
        );
        match (top, c) {
            _ if closes => {
                self.within.pop();
            }
            (Some(Within::Single), _) => {}
            (_, '\\') => taken += chars.next().ok_or(TemplateError::Open)?.len_utf8(),
            (_, '$') => taken = self.dollar(rest)?,
            (_, '`') => self.within.push(Within::Backquotes),
            (Some(Within::Double), _) => {}
            (_, '\'') => self.within.push(Within::Single),
            (_, '"') => self.within.push(Within::Double),
            (_, '(') => self.within.push(Within::Command),
            _ => {}
        }
        self.text.push_str(&rest[..taken]);
        Ok(&rest[taken..])
    }

    /// Gives how many bytes the expansion begins with.
    fn dollar(&mut self, rest: &str) -> Result<usize, TemplateError> {
        let after = &rest[1..];
        if let Some((name, _)) = PLACEHOLDERS.iter().find(|(name, _)| after.starts_with(name)) {
            return Err(TemplateError::Dollar(name));
        }
        if after.starts_with('{') {
            self.within.push(Within::Variable);
            return Ok("${".len());
        }
        if after.starts_with('(') {
            self.within.push(Within::Command);
            return Ok("$(".len());
        }
        if after.starts_with('\'') && self.within.last() != Some(&Within::Double) {
            return Err(TemplateError::Ansi);
        }
        Ok("$".len())
    }

    fn place(&mut self, name: &'static str, word: Placeholder) -> Result<(), TemplateError> {
        let is_lost = |within: &Within| matches!(within, Within::Backquotes | Within::Variable);
        if self.within.iter().any(is_lost) {
            return Err(TemplateError::Unquotable(name));
        }
        let quote = match self.within.last() {
            Some(Within::Single) => Quote::Single,
            Some(Within::Double) => Quote::Double,
            _ => Quote::None,
        };
        self.close_text();
        self.parts.push(Part::Word(word, quote));
        Ok(())
    }

    fn close_text(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }
}
