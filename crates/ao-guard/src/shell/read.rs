//! Lists, pipes, loops and conditions.

use super::count::Counts;
use super::redirect::HereDocument;
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
        reader.check_counts();
    }
    Script {
        commands: reader.commands,
        values: reader.values,
        defaults: reader.defaults,
        doubts: reader.doubts,
    }
}

/// A command that is being read.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) serial: usize,
    pub(super) command: Command,
    /// It is a `[[ … ]]`, which no word follows.
    is_condition: bool,
}

pub(super) struct Reader {
    pub(super) letters: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    serials: usize,
    lists: usize,
    pub(super) commands: Vec<Command>,
    pub(super) numbers: Vec<usize>,
    values: Vec<(String, Word)>,
    pub(super) defaults: Vec<Word>,
    doubts: Vec<String>,
    pub(super) counts: Counts,
    pub(super) open: Vec<Open>,
    pub(super) pending: Vec<HereDocument>,
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
            values: Vec::new(),
            defaults: Vec::new(),
            doubts: Vec::new(),
            counts: Counts::default(),
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

    /// One step deeper; false, with a doubt, if that is too deep.
    pub(super) fn descend(&mut self) -> bool {
        self.depth += 1;
        if self.is_hopeless() {
            self.doubt(TOO_DEEP);
            self.at = self.letters.len();
        }
        !self.is_hopeless()
    }

    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
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
                let is_simple = !self.command().words.is_empty();
                self.next(list, Join::Pipe);
                let feeder = self.commands.len().checked_sub(1).filter(|_| is_simple);
                self.command().stdin = Stdin::Pipe;
                self.command().fed_by = feeder;
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
        let start = self.at;
        let found = self.word();
        let Found { is_bare, ref word, .. } = found;
        if self.open.last().is_some_and(|open| open.is_condition) {
            self.doubt("something follows a condition");
        }
        if is_bare && matches!(self.peek(0), Some('<' | '>')) && is_named_stream(&word.text) {
            self.doubt("a stream is put into a variable");
        }
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
        if !is_first && is_bare && matches!(text, "{" | "}") {
            // To some shells it opens or closes a group also here.
            self.doubt("a brace where a command goes on");
        }
        if self.command().words.is_empty()
            && let Some(assignment) = assignment(&found)
        {
            self.count_assignment(&assignment.0, start);
            self.values.push(assignment.clone());
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
        self.command().assignments.push((name.clone(), Word::unknown()));
        self.skip_blanks();
        // `for NAME do …` runs what follows for each argument.
        let is_in = self.peek(0).is_some_and(|l| l != '\n' && l != ';');
        if is_in && self.word().word.known() != Some("in") {
            self.doubt("a `for` of another kind");
        }
        let mut is_number = is_in;
        loop {
            self.skip_blanks();
            match self.peek(0) {
                None | Some('\n' | ';') => break,
                Some('(' | ')' | '<' | '>' | '|' | '&') => {
                    self.doubt("a `for` of another kind");
                    break;
                }
                Some(_) => {
                    let word = self.word().word;
                    is_number &= word.known().is_some_and(super::count::is_number);
                    self.values.push((name.clone(), word));
                }
            }
        }
        self.counts.assigned(&name, is_number);
        self.next(list, Join::Fresh);
    }

    /// A command that stands alone, whatever is around it.
    pub(super) fn alone(&mut self, words: Vec<Word>) {
        self.lists += 1;
        self.numbers.push(0);
        self.commands.push(Command { words, is_repeated: self.loops > 0, ..blank(self.lists) });
    }

    pub(super) fn close_condition(&mut self) {
        self.command().words.push(Word::literal("["));
        if let Some(open) = self.open.last_mut() {
            open.is_condition = true;
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
        let before = self.commands.len();
        self.numbers.extend(inner.numbers);
        self.commands.extend(
            inner
                .commands
                .into_iter()
                .map(|command| Command { fed_by: command.fed_by.map(|at| at + before), ..command }),
        );
        self.values.extend(inner.values);
        self.defaults.extend(inner.defaults);
        self.counts.take(inner.counts);
        for doubt in inner.doubts {
            self.doubt(&doubt);
        }
    }

    fn begin(&mut self, list: usize, join: Join) {
        self.serials += 1;
        let command = Command { join, is_repeated: self.loops > 0, ..blank(list) };
        self.open.push(Open { serial: self.serials, command, is_condition: false });
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

    pub(super) fn command(&mut self) -> &mut Command {
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
        fed_by: None,
    }
}

/// `{NAME}` before a redirection.
fn is_named_stream(text: &str) -> bool {
    text.len() > 2 && text.starts_with('{') && text.ends_with('}')
}

fn assignment(found: &Found) -> Option<(String, Word)> {
    let (name, value) = found.word.text.split_at_checked(found.equals?)?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut letters = name.chars();
    let is_name = letters.next().is_some_and(|l| l.is_ascii_alphabetic() || l == '_')
        && letters.all(|l| l.is_ascii_alphanumeric() || l == '_');
    let at = found.equals? + value.get(..1)?.len();
    is_name.then(|| (name.to_owned(), found.word.after(at)))
}
