//! Lists, pipes, redirections and here-documents.

use super::word::{Found, is_blank};
use super::{Command, Join, Script, Stdin, Surety, Word};

const TEXT_BYTES_MAX: usize = 256 * 1024;
const DEPTH_MAX: usize = 24;
const COMMANDS_MAX: usize = 1024;
const TOO_DEEP: &str = "it is nested too deeply, or has too many commands";

/// Words that are part of the language, and after which a command can stand.
const OPENING: [&str; 9] = ["if", "then", "else", "elif", "do", "while", "until", "{", "!"];
const CLOSING: [&str; 3] = ["fi", "done", "}"];
const BEYOND: [&str; 5] = ["case", "esac", "function", "select", "coproc"];

/// Reads shell text.
pub fn read(text: &str) -> Script {
    let mut reader = Reader::new(text, 0);
    if text.len() > TEXT_BYTES_MAX {
        reader.doubt("it is too long");
    } else {
        reader.list(None);
    }
    Script { commands: reader.commands, doubts: reader.doubts }
}

#[derive(Debug)]
struct HereDocument {
    /// The command that reads it.
    serial: usize,
    end: String,
    is_quoted: bool,
    has_tabs_cut: bool,
}

/// A command that is being read.
#[derive(Debug)]
struct Open {
    serial: usize,
    command: Command,
}

pub(super) struct Reader {
    pub(super) letters: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    serials: usize,
    lists: usize,
    commands: Vec<Command>,
    numbers: Vec<usize>,
    doubts: Vec<String>,
    open: Vec<Open>,
    pending: Vec<HereDocument>,
    /// How many loops are open.
    loops: usize,
}

impl Reader {
    pub(super) fn new(text: &str, depth: usize) -> Self {
        Self {
            letters: text.chars().collect(),
            at: 0,
            depth,
            serials: 0,
            lists: 0,
            commands: Vec::new(),
            numbers: Vec::new(),
            doubts: Vec::new(),
            open: Vec::new(),
            pending: Vec::new(),
            loops: 0,
        }
    }

    pub(super) fn doubt(&mut self, why: &str) {
        if !self.doubts.iter().any(|known| known == why) {
            self.doubts.push(why.to_owned());
        }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    pub(super) fn is_next(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, letter)| self.peek(ahead) == Some(letter))
    }

    fn is_hopeless(&self) -> bool {
        self.depth > DEPTH_MAX || self.commands.len() > COMMANDS_MAX
    }

    /// Reads to the closing letter, or to the end of the text.
    pub(super) fn list(&mut self, closer: Option<char>) {
        self.depth += 1;
        self.lists += 1;
        if closer.is_some() && !self.pending.is_empty() {
            self.doubt("a here-document that begins before a substitution");
        }
        let list = self.lists;
        self.begin(list, Join::Fresh);
        loop {
            if self.is_hopeless() {
                self.doubt(TOO_DEEP);
                self.at = self.letters.len();
            }
            self.skip_blanks();
            let Some(letter) = self.peek(0) else {
                if closer.is_some() {
                    self.doubt("a parenthesis is not closed");
                }
                break;
            };
            if closer == Some(letter) {
                self.at += 1;
                break;
            }
            self.step(letter, list);
        }
        self.end();
        self.open.pop();
        self.depth -= 1;
        if self.depth == 0 && !self.pending.is_empty() {
            self.doubt("a here-document has no end");
        }
    }

    fn skip_blanks(&mut self) {
        while self.is_next("\\\n") || self.peek(0).is_some_and(is_blank) {
            self.at += if self.peek(0) == Some('\\') { 2 } else { 1 };
        }
    }

    fn step(&mut self, letter: char, list: usize) {
        match letter {
            '#' => {
                while self.peek(0).is_some_and(|letter| letter != '\n') {
                    self.at += 1;
                }
            }
            '\n' => {
                self.at += 1;
                self.next(list, Join::Fresh);
                self.here_documents();
            }
            ';' if self.is_next(";;") => {
                self.at += 2;
                self.doubt("a `case`");
            }
            '&' if self.is_next("&>") => self.redirection(),
            '&' if self.is_next("&&") => {
                self.at += 2;
                self.next(list, Join::And);
            }
            '|' if self.is_next("||") => {
                self.at += 2;
                self.next(list, Join::Or);
            }
            '|' => {
                self.at += if self.is_next("|&") { 2 } else { 1 };
                self.next(list, Join::Pipe);
                self.command().stdin = Stdin::Pipe;
            }
            ';' | '&' => {
                self.at += 1;
                self.next(list, Join::Fresh);
            }
            '(' => self.parenthesis(list),
            ')' => {
                self.at += 1;
                self.doubt("a `)` has no `(`");
            }
            '<' | '>' if self.peek(1) != Some('(') => self.redirection(),
            letter if letter.is_ascii_digit() && self.is_numbered_redirection() => {
                self.redirection();
            }
            _ => self.plain_word(list),
        }
    }

    fn parenthesis(&mut self, list: usize) {
        self.at += 1;
        if !self.command().words.is_empty() || !self.command().assignments.is_empty() {
            self.doubt("a function or an array");
        }
        if self.peek(0) == Some('(') {
            self.doubt("arithmetic as a command");
        }
        // An empty command keeps the place in this list.
        let join = self.command().join;
        self.commands.push(Command { join, ..blank(list) });
        self.numbers.push(0);
        self.list(Some(')'));
    }

    fn plain_word(&mut self, list: usize) {
        let found = self.word();
        let Found { is_bare, ref word, .. } = found;
        let is_first = self.command().words.is_empty() && self.command().assignments.is_empty();
        let text = word.text.as_str();
        if is_first && is_bare && text == "[[" {
            return self.condition();
        }
        if is_first && is_bare && word.surety == Surety::Literal {
            if OPENING.contains(&text) || CLOSING.contains(&text) || text == "time" {
                match text {
                    "while" | "until" => self.loops += 1,
                    "done" => self.loops = self.loops.saturating_sub(1),
                    _ => {}
                }
                // What comes after it does not hang on what came before it.
                self.next(list, Join::Fresh);
                self.command().is_negated = text == "!";
                return;
            }
            if BEYOND.contains(&text) {
                self.doubt(&format!("`{text}`"));
                self.at = self.letters.len();
                return;
            }
            if text == "for" {
                return self.for_loop(list);
            }
        }
        if self.command().words.is_empty()
            && let Some(assignment) = assignment(&found)
        {
            self.command().assignments.push(assignment);
            return;
        }
        self.command().words.push(found.word);
    }

    /// `for NAME in WORDS`: the words are read for what they start, and are otherwise unknown.
    fn for_loop(&mut self, list: usize) {
        self.loops += 1;
        self.skip_blanks();
        let name = self.word().word.text;
        self.command().assignments.push((name, Word::unknown()));
        loop {
            self.skip_blanks();
            match self.peek(0) {
                None | Some('\n' | ';') => break,
                Some('(' | ')' | '<' | '>' | '|' | '&') => {
                    self.doubt("a `for` of another kind");
                    break;
                }
                Some(_) => drop(self.word()),
            }
        }
        self.next(list, Join::Fresh);
    }

    /// `[[ … ]]`: nothing in it writes; what it substitutes is read.
    fn condition(&mut self) {
        loop {
            match self.peek(0) {
                None => return self.doubt("a `[[` is not closed"),
                Some(letter) if is_blank(letter) || "()<>|&\n;".contains(letter) => self.at += 1,
                Some(_) => {
                    let before = self.at;
                    let found = self.word();
                    if found.is_bare && found.word.text == "]]" {
                        break;
                    }
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        self.command().words.push(Word::literal("["));
    }

    fn is_numbered_redirection(&self) -> bool {
        let digits =
            (0..).take_while(|ahead| self.peek(*ahead).is_some_and(|l| l.is_ascii_digit()));
        let count = digits.count();
        matches!(self.peek(count), Some('<' | '>')) && self.peek(count + 1) != Some('(')
    }

    fn redirection(&mut self) {
        let number: String = std::iter::from_fn(|| {
            let digit = self.peek(0).filter(char::is_ascii_digit)?;
            self.at += 1;
            Some(digit)
        })
        .collect();
        let operator = ["&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">"]
            .into_iter()
            .find(|operator| self.is_next(operator))
            .unwrap_or(">");
        self.at += operator.len();
        while self.peek(0).is_some_and(is_blank) {
            self.at += 1;
        }
        let start = self.at;
        let Found { is_bare, word, .. } = self.word();
        if self.at == start {
            return self.doubt("a redirection leads nowhere");
        }
        let is_stdin = number.is_empty() || number == "0";
        match operator {
            "<<" | "<<-" => {
                if word.surety != Surety::Literal {
                    self.doubt("a here-document whose end is not plain");
                }
                let serial = self.open.last().map_or(0, |open| open.serial);
                let (end, has_tabs_cut) = (word.text, operator == "<<-");
                self.pending.push(HereDocument { serial, end, is_quoted: !is_bare, has_tabs_cut });
            }
            "<<<" => self.command().stdin = Stdin::Text(word),
            "<" => {
                self.command().reads.push(word.clone());
                if is_stdin {
                    self.command().stdin = Stdin::File(word);
                }
            }
            // `2>&1` and `2>&-` name a stream.
            "<&" | ">&" if is_stream(&word) => {}
            "<&" => self.doubt("a stream of a name that is not known"),
            _ => self.command().writes.push(word),
        }
    }

    fn here_documents(&mut self) {
        for document in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            let mut is_closed = false;
            while self.at < self.letters.len() && !is_closed {
                let rest = &self.letters[self.at..];
                let length = rest.iter().position(|letter| *letter == '\n').unwrap_or(rest.len());
                let line: String = rest[..length].iter().collect();
                self.at = (self.at + length + 1).min(self.letters.len());
                let line =
                    if document.has_tabs_cut { line.trim_start_matches('\t') } else { &line };
                is_closed = line == document.end;
                // Where lines are joined, the end may stand on two of them.
                if !document.is_quoted && line.ends_with('\\') {
                    self.doubt("a here-document with a line that goes on");
                }
                if !is_closed {
                    body.push_str(line);
                    body.push('\n');
                }
            }
            if !is_closed {
                self.doubt("a here-document has no end");
            }
            let surety = if document.is_quoted { Surety::Literal } else { self.expansions(&body) };
            self.give_text(document.serial, Word { text: body, surety });
        }
    }

    fn give_text(&mut self, serial: usize, text: Word) {
        if let Some(open) = self.open.iter_mut().find(|open| open.serial == serial) {
            open.command.stdin = Stdin::Text(text);
        } else if let Some(at) = self.numbers.iter().position(|number| *number == serial) {
            self.commands[at].stdin = Stdin::Text(text);
        }
    }

    /// Reads what a text would start if it stood between double quotes.
    pub(super) fn expansions(&mut self, text: &str) -> Surety {
        if self.is_hopeless() {
            self.doubt(TOO_DEEP);
            return Surety::Unknown;
        }
        let mut inner = self.inner(text);
        let surety = inner.all_expansions();
        (self.serials, self.lists) = (inner.serials, inner.lists);
        self.take(inner);
        surety
    }

    /// Reads a text of its own, such as that between backticks.
    pub(super) fn nested(&mut self, text: &str) {
        let mut inner = self.inner(text);
        inner.list(None);
        (self.serials, self.lists) = (inner.serials, inner.lists);
        self.take(inner);
    }

    fn inner(&self, text: &str) -> Self {
        let mut inner = Self::new(text, self.depth + 1);
        (inner.serials, inner.lists, inner.loops) = (self.serials, self.lists, self.loops);
        inner
    }

    fn take(&mut self, inner: Reader) {
        self.numbers.extend(inner.numbers);
        self.commands.extend(inner.commands);
        for doubt in inner.doubts {
            self.doubt(&doubt);
        }
    }

    fn begin(&mut self, list: usize, join: Join) {
        self.serials += 1;
        let command = Command { join, is_repeated: self.loops > 0, ..blank(list) };
        self.open.push(Open { serial: self.serials, command });
    }

    /// Ends the command that is being read, and begins another one.
    fn next(&mut self, list: usize, join: Join) {
        let was_empty = self.end();
        self.open.pop();
        // An operator that follows nothing, such as one after a subshell, keeps its meaning; one
        // after `fi` or `}` does not, for nobody knows which command was the last.
        let join = if was_empty && join == Join::And && !self.follows_subshell() {
            Join::Fresh
        } else {
            join
        };
        self.begin(list, join);
    }

    fn follows_subshell(&self) -> bool {
        let before = self.letters[..self.at].iter().rev().skip(2);
        before.copied().find(|letter| !is_blank(*letter)) == Some(')')
    }

    /// Puts the command away; true if there was none.
    fn end(&mut self) -> bool {
        let Some(open) = self.open.last() else { return true };
        let command = &open.command;
        let is_empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.writes.is_empty()
            && command.reads.is_empty();
        if !is_empty {
            self.numbers.push(open.serial);
            self.commands.push(command.clone());
        }
        is_empty
    }

    fn command(&mut self) -> &mut Command {
        if self.open.is_empty() {
            self.begin(0, Join::Fresh);
        }
        let last = self.open.len() - 1;
        &mut self.open[last].command
    }
}

fn blank(list: usize) -> Command {
    Command {
        list,
        join: Join::Fresh,
        is_negated: false,
        is_repeated: false,
        assignments: Vec::new(),
        words: Vec::new(),
        writes: Vec::new(),
        reads: Vec::new(),
        stdin: Stdin::Inherited,
    }
}

fn is_stream(word: &Word) -> bool {
    word.known().is_some_and(|text| {
        let number = text.trim_end_matches('-');
        !text.is_empty() && number.chars().all(|letter| letter.is_ascii_digit())
    })
}

fn assignment(found: &Found) -> Option<(String, Word)> {
    let (name, value) = found.word.text.split_at_checked(found.equals?)?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut letters = name.chars();
    let is_name = letters.next().is_some_and(|l| l.is_ascii_alphabetic() || l == '_')
        && letters.all(|l| l.is_ascii_alphanumeric() || l == '_');
    let value = Word { text: value.get(1..)?.to_owned(), surety: found.word.surety };
    is_name.then(|| (name.to_owned(), value))
}
