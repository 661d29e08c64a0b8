//! Options as programs read them: letters in a row, of which one can take the rest of its word or the next
//! word. Only what is listed is taken; where the options end then hangs on nothing that is not known.

use super::words::Call;
use crate::scope::Refusal;
use crate::shell::Word;

/// The options of a program that do no harm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) flags: &'static str,
    /// Letters that take a value.
    pub(super) valued: &'static str,
    /// Long names with spaces between; those with `=` at their end take a value in the same word.
    pub(super) long: &'static str,
}

/// One option that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    /// A letter, or a long name.
    pub(super) name: String,
    pub(super) value: Option<String>,
}

impl Options {
    /// The options that stand before the first operand, and where that is.
    pub(super) fn read(self, call: &Call<'_>) -> Result<(Vec<Given>, usize), Refusal> {
        let unknown = || call.doubt("one of its options is not known");
        let (mut given, mut at) = (Vec::new(), 0);
        while let Some(word) = call.arguments.get(at).filter(|word| word.text.starts_with('-')) {
            let text = word.known().ok_or_else(unknown)?;
            at += 1;
            if text == "--" {
                break;
            }
            if text == "-" {
                return Ok((given, at - 1));
            }
            if let Some(long) = text.strip_prefix("--") {
                given.push(self.long(long).ok_or_else(unknown)?);
                continue;
            }
            let mut letters = text[1..].chars();
            while let Some(letter) = letters.next() {
                let mut value = None;
                if self.valued.contains(letter) {
                    let rest = letters.as_str().to_owned();
                    letters = "".chars();
                    value = Some(rest);
                    if value.as_ref().is_some_and(String::is_empty) {
                        let next = call.arguments.get(at).and_then(Word::known);
                        value = Some(next.ok_or_else(unknown)?.to_owned());
                        at += 1;
                    }
                } else if !self.flags.contains(letter) {
                    return Err(unknown());
                }
                given.push(Given { name: letter.to_string(), value });
            }
        }
        Ok((given, at))
    }

    fn long(self, text: &str) -> Option<Given> {
        let mut listed = self.long.split_whitespace();
        if let Some((name, value)) = text.split_once('=') {
            listed.find(|listed| listed.strip_suffix('=') == Some(name))?;
            return Some(Given { name: name.to_owned(), value: Some(value.to_owned()) });
        }
        listed.find(|listed| *listed == text)?;
        Some(Given { name: text.to_owned(), value: None })
    }

    /// Whether all options, wherever they stand, are among these. Values are not told from operands.
    pub(super) fn are_all(self, arguments: &[Word]) -> bool {
        arguments.iter().filter(|word| word.text.starts_with('-')).all(|word| {
            let text = word.text.as_str();
            if let Some(long) = text.strip_prefix("--") {
                let name = long.split('=').next().unwrap_or(long);
                return long.is_empty()
                    || self.long.split_whitespace().any(|l| l.trim_end_matches('=') == name);
            }
            let mut letters = text[1..].chars();
            letters
                .by_ref()
                .take_while(|l| !self.valued.contains(*l))
                .all(|letter| self.flags.contains(letter))
        })
    }
}
