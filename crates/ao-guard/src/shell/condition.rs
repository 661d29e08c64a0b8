//! `[[ … ]]`: nothing in it writes, but what it substitutes is run, and so is what it counts.

use super::Word;
use super::count::{is_name, is_number};
use super::read::Reader;
use super::word::{Found, is_blank};

/// Both sides of these are counted, and counting runs what stands in a subscript.
const COUNTING: [&str; 6] = ["-eq", "-ne", "-lt", "-gt", "-le", "-ge"];

/// A word of a condition, as it was written and as it was read.
struct Part {
    raw: String,
    found: Found,
}

impl Part {
    fn is_operator(&self, names: &[&str]) -> bool {
        self.found.is_bare && self.found.word.known().is_some_and(|text| names.contains(&text))
    }
}

impl Reader {
    pub(super) fn condition(&mut self) {
        let mut parts: Vec<Part> = Vec::new();
        // To a shell that has no conditions it is a command `[[`, and what follows an operator is another one.
        let mut segment: Vec<Word> = Vec::new();
        let mut is_first = true;
        loop {
            let is_process = matches!(self.peek(0), Some('<' | '>')) && self.peek(1) == Some('(');
            match self.peek(0) {
                None => return self.doubt("a `[[` is not closed"),
                Some(letter) if is_blank(letter) => self.at += 1,
                Some('<' | '>') if !is_process => {
                    self.at += 1;
                    self.compared_or_written();
                }
                Some(letter) if !is_process && "()|&\n;".contains(letter) => {
                    self.at += 1;
                    if !std::mem::take(&mut is_first) {
                        self.other_command(std::mem::take(&mut segment));
                    }
                    segment.clear();
                }
                Some(_) => {
                    let before = self.at;
                    let found = self.word();
                    let raw: String = self.letters[before..self.at].iter().collect();
                    if found.is_bare && found.word.text == "]]" {
                        break;
                    }
                    if raw.starts_with('#') {
                        self.doubt("a comment in a condition");
                    }
                    if self.at == before {
                        self.at += 1;
                    }
                    segment.push(found.word.clone());
                    parts.push(Part { raw, found });
                }
            }
        }
        if !is_first {
            segment.push(Word::literal("]]"));
            self.other_command(segment);
        }
        for (at, part) in parts.iter().enumerate() {
            if part.is_operator(&COUNTING) {
                let sides = [at.checked_sub(1), Some(at + 1)];
                for side in sides.into_iter().flatten().filter_map(|at| parts.get(at)) {
                    self.count_operand(&side.raw);
                }
            }
            let named = parts.get(at + 1).and_then(|next| next.found.word.known());
            if part.is_operator(&["-v", "-R"]) && !named.is_some_and(is_name) {
                self.doubt("a variable that is named by a text");
            }
        }
        self.close_condition();
    }

    /// `a < b`: compared, or a file that is read or written.
    fn compared_or_written(&mut self) {
        let is_written = self.letters[self.at - 1] == '>';
        while self.peek(0).is_some_and(|letter| is_blank(letter) || "<>|&".contains(letter)) {
            self.at += 1;
        }
        let word = self.word().word;
        let command = self.command();
        if is_written { command.writes.push(word) } else { command.reads.push(word) }
    }

    /// What stands after an operator, as a shell without conditions runs it. No program is called like an
    /// operator.
    fn other_command(&mut self, mut words: Vec<Word>) {
        words.retain(|word| word.known() != Some("!"));
        let is_operator = words
            .first()
            .is_none_or(|first| first.known().is_some_and(|text| text.starts_with('-')));
        if !is_operator {
            self.alone(words);
        }
    }

    /// A number, or a variable that holds one.
    fn count_operand(&mut self, raw: &str) {
        let plain = raw.trim_matches('"');
        let name = plain.strip_prefix('$').unwrap_or(plain);
        let is_known = is_number(plain.trim_start_matches('-')) || matches!(name, "#" | "?");
        if is_name(name) {
            self.counts.counted(name);
        } else if !is_known {
            self.doubt("something is counted that is no plain number");
        }
    }
}
