//! Redirections and here-documents.

use super::read::Reader;
use super::word::{Found, is_blank};
use super::{Stdin, Surety, Word, WordPart};

#[derive(Debug)]
pub(super) struct HereDocument {
    /// The command that reads it.
    serial: usize,
    end: String,
    is_quoted: bool,
    has_tabs_cut: bool,
    /// Nothing that came after it is read instead.
    is_read: bool,
}

impl Reader {
    pub(super) fn is_numbered_redirection(&self) -> bool {
        let digits =
            (0..).take_while(|ahead| self.peek(*ahead).is_some_and(|l| l.is_ascii_digit()));
        let count = digits.count();
        matches!(self.peek(count), Some('<' | '>')) && self.peek(count + 1) != Some('(')
    }

    pub(super) fn redirection(&mut self) {
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
        if word.text.starts_with('!') {
            // To some shells it only says that the file may be there.
            self.doubt("a redirection with `!`");
        }
        if self.at == start {
            return self.doubt("a redirection leads nowhere");
        }
        let is_stdin = number.is_empty() || number == "0";
        if is_stdin && operator.starts_with('<') {
            let serial = self.open.last().map_or(0, |open| open.serial);
            for earlier in self.pending.iter_mut().filter(|earlier| earlier.serial == serial) {
                earlier.is_read = false;
            }
        }
        match operator {
            "<<" | "<<-" => {
                if word.surety != Surety::Literal {
                    self.doubt("a here-document whose end is not plain");
                }
                if self.letters[start..self.at].contains(&'$') {
                    self.doubt("a here-document whose end is not plain");
                }
                if !is_stdin {
                    self.doubt("a here-document for another stream");
                }
                let serial = self.open.last().map_or(0, |open| open.serial);
                let (end, has_tabs_cut) = (word.text, operator == "<<-");
                let is_quoted = !is_bare;
                let is_read = true;
                self.pending.push(HereDocument { serial, end, is_quoted, has_tabs_cut, is_read });
            }
            "<<<" if is_stdin => self.command().stdin = Stdin::Text(word),
            "<<<" => {}
            "<" => {
                self.command().reads.push(word.clone());
                if is_stdin {
                    self.command().stdin = Stdin::File(word);
                }
            }
            // `2>&1` and `2>&-` name a stream.
            "<&" if is_stdin && is_stream(&word) => {
                self.command().stdin = Stdin::File(Word::unknown());
            }
            "<&" | ">&" if is_stream(&word) => {}
            "<&" => self.doubt("a stream of a name that is not known"),
            _ => self.command().writes.push(word),
        }
    }

    pub(super) fn here_documents(&mut self) {
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
            let mut surety =
                if document.is_quoted { Surety::Literal } else { self.expansions(&body) };
            if !document.is_quoted && body.contains('\\') {
                // Some backslashes go, others stay.
                surety = Surety::Unknown;
            }
            if document.is_read {
                let parts = match surety {
                    Surety::Literal => vec![WordPart::Quoted(body.clone())],
                    _ => vec![WordPart::Quoted(body.clone()), WordPart::Hole],
                };
                self.give_text(document.serial, Word { text: body, surety, parts });
            }
        }
    }

    fn give_text(&mut self, serial: usize, text: Word) {
        if let Some(open) = self.open.iter_mut().find(|open| open.serial == serial) {
            open.command.stdin = Stdin::Text(text);
        } else if let Some(at) = self.numbers.iter().position(|number| *number == serial) {
            self.commands[at].stdin = Stdin::Text(text);
        }
    }
}

fn is_stream(word: &Word) -> bool {
    word.known().is_some_and(|text| {
        let number = text.trim_end_matches('-');
        !text.is_empty() && number.chars().all(|letter| letter.is_ascii_digit())
    })
}
