//! `${…}`: the variable, and what stands in it when the variable does not.
//!
//! An operand is read like any word, so what it would start is found. What one shell takes for a quote, a
//! brace, a process or a pattern that runs something, and another does not, is a doubt.

use super::Surety;
use super::read::Reader;
use super::word::{Draft, is_of_name};

/// Operators that are followed by a word, the longer ones first.
const BEFORE_WORD: [&str; 18] = [
    ":-", ":+", ":?", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "+", "?", "#", "%", "/", "^",
    ",",
];
/// What is done to a value by a letter after `@`, without running any of it.
const LETTERS: [&str; 4] = ["@Q}", "@U}", "@L}", "@u}"];
const SPECIAL: &str = "@*#?-$!";

impl Reader {
    /// What follows `${`, up to its brace.
    pub(super) fn parameter(&mut self, draft: &mut Draft) {
        let is_length = self.peek(0) == Some('#') && self.peek(1) != Some('}');
        if is_length {
            self.at += 1;
        }
        let name = self.parameter_name();
        if name.is_empty() {
            // `${!x}`, `${ cmd; }`, `${(e)x}`
            draft.hole(Surety::Unknown);
            return self.doubt("a parameter that is no variable");
        }
        let has_place = self.peek(0) == Some('[');
        if has_place && !self.is_plain_subscript() {
            self.doubt("a place in a variable that is not plain");
        }
        if self.peek(0) == Some('}') {
            self.at += 1;
            if is_length || has_place {
                draft.hole(Surety::Unknown);
            } else {
                draft.variable(name, Surety::Unknown);
            }
            return;
        }
        draft.hole(Surety::Unknown);
        if is_length {
            return self.doubt("the length of something that is not plain");
        }
        if LETTERS.iter().any(|letter| self.is_next(letter)) {
            self.at += "@Q}".len();
        } else if let Some(operator) = BEFORE_WORD.iter().find(|operator| self.is_next(operator)) {
            self.at += operator.len();
            if self.descend() {
                self.operand();
            }
            self.ascend();
        } else if self.peek(0) == Some(':') && self.peek(1) != Some('=') {
            self.at += 1;
            self.part();
        } else {
            self.doubt("a parameter that is set while it is read, or does more than be read");
        }
    }

    fn parameter_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(letter) = self.peek(0).filter(|letter| is_of_name(*letter)) {
            name.push(letter);
            self.at += 1;
        }
        if name.is_empty()
            && let Some(letter) = self.peek(0).filter(|letter| SPECIAL.contains(*letter))
            && (letter != '!' || matches!(self.peek(1), Some('}' | ':' | '-' | '+')))
        {
            name.push(letter);
            self.at += 1;
        }
        name
    }

    /// `[3]`, `[@]`, `[*]`.
    fn is_plain_subscript(&mut self) -> bool {
        self.at += 1;
        let start = self.at;
        while self.peek(0).is_some_and(|l| l.is_ascii_digit() || matches!(l, '@' | '*')) {
            self.at += 1;
        }
        let is_plain = self.at > start && self.peek(0) == Some(']');
        self.at += usize::from(is_plain);
        is_plain
    }

    /// Numbers that say which part of the value.
    fn part(&mut self) {
        let is_plain = |l: char| l.is_ascii_digit() || matches!(l, ' ' | ':' | '-');
        while self.peek(0).is_some_and(is_plain) {
            self.at += 1;
        }
        match self.peek(0) {
            Some('}') => self.at += 1,
            _ => self.doubt("a place in a variable that is not plain"),
        }
    }

    fn operand(&mut self) {
        let mut operand = Draft::new();
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '<' | '>' | '(' | ')' if ao_mutant::active("SCO-01/operand-is-plain-text") => {}
                '}' => return self.defaults.push(operand.word()),
                '$' => self.dollar(&mut operand),
                '`' => self.backticks(&mut operand),
                // Quotes and braces end elsewhere for another shell; `<(`, `=(` and `(e:…:)` run something.
                '\'' | '"' | '\\' | '{' | '(' | ')' | '<' | '>' | '&' | '|' | ';' | '\n' | '\0' => {
                    return self.doubt("a parameter with more than a plain word in it");
                }
                letter => operand.bare(letter),
            }
        }
        self.doubt("a parameter is not closed");
    }
}
