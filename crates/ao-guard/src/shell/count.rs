//! Arithmetic: a shell that counts runs what stands in a subscript, also in that of a variable's value. So
//! only numbers are counted, and variables that get nothing but numbers in this text.

use super::read::Reader;

/// Variables that the shell itself keeps as numbers.
const KEPT: [&str; 7] = ["EUID", "LINENO", "PPID", "RANDOM", "SECONDS", "SHLVL", "UID"];

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|l: char| l.is_ascii_alphabetic() || l == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What is counted, and what the variables are given.
#[derive(Debug, Default)]
pub(super) struct Counts {
    counted: Vec<String>,
    numbers: Vec<String>,
    others: Vec<String>,
}

impl Counts {
    pub(super) fn counted(&mut self, name: &str) {
        self.counted.push(name.to_owned());
    }

    pub(super) fn assigned(&mut self, name: &str, is_number: bool) {
        let list = if is_number { &mut self.numbers } else { &mut self.others };
        list.push(name.to_owned());
    }

    pub(super) fn take(&mut self, other: Self) {
        self.counted.extend(other.counted);
        self.numbers.extend(other.numbers);
        self.others.extend(other.others);
    }
}

impl Reader {
    /// The inside of `$(( … ))`: numbers, names and what stands between them.
    pub(super) fn arithmetic(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(letter) = self.peek(0) {
            match letter {
                '(' => depth += 1,
                ')' if depth == 0 && self.peek(1) == Some(')') => {
                    let inside: String = self.letters[start..self.at].iter().collect();
                    self.at += 2;
                    return self.count(&inside);
                }
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.doubt("arithmetic that cannot be told from a subshell");
    }

    fn count(&mut self, inside: &str) {
        const BETWEEN: &str = " \t\n+-*/%<>=!&|^~?:,()$#";
        let is_plain = |l: char| l.is_ascii_alphanumeric() || l == '_' || BETWEEN.contains(l);
        if !inside.chars().all(is_plain) || inside.contains("$(") {
            // What it would start is still looked for.
            self.expansions(inside);
            self.doubt("arithmetic with more than numbers and variables");
        }
        let is_apart = |l: char| !l.is_ascii_alphanumeric() && l != '_';
        for name in inside.split(is_apart).filter(|word| is_name(word)) {
            self.counts.counted(name);
        }
        if inside.as_bytes().windows(2).any(|pair| pair[0] == b'$' && pair[1].is_ascii_digit()) {
            self.doubt("an argument is counted");
        }
    }

    /// Whether this is a variable in a test that got a number. It is then held to that.
    pub(super) fn is_tested_number(&mut self, name: &str) -> bool {
        let first = self.open.last().and_then(|open| open.command.words.first());
        let is_test = first.is_some_and(|word| matches!(word.text.as_str(), "[" | "test"));
        let is_number = is_test && self.counts.numbers.iter().any(|known| known == name);
        if is_number {
            self.counts.counted(name);
        }
        is_number
    }

    /// What a variable gets, by how it is written.
    pub(super) fn count_assignment(&mut self, name: &str, start: usize) {
        let raw: String = self.letters[start..self.at].iter().collect();
        let value = raw.split_once('=').map(|(_, value)| value).unwrap_or_default();
        let is_arithmetic = value.starts_with("$((") && value.find("))") == Some(value.len() - 2);
        self.counts.assigned(name, is_number(value) || is_arithmetic);
    }

    pub(super) fn check_counts(&mut self) {
        let is_given = |name: &str| {
            self.commands.iter().any(|command| {
                command.words.iter().skip(1).any(|word| {
                    word.text.split('=').next() == Some(name) && command.words[0].text != "echo"
                })
            })
        };
        let is_sure = |name: &String| {
            KEPT.contains(&name.as_str())
                || self.counts.numbers.contains(name)
                    && !self.counts.others.contains(name)
                    && !is_given(name)
        };
        if !self.counts.counted.iter().all(is_sure) {
            self.doubt("something is counted that could be more than a number");
        }
    }
}
