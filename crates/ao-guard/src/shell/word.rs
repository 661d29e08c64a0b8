//! Words: quotes, escapes and what is substituted.

use super::read::Reader;
use super::{Surety, Word};

pub(super) fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

/// Letters that end a word where they are not quoted.
fn ends_word(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// A word while it is read.
#[derive(Debug)]
struct Draft {
    text: String,
    surety: Surety,
    is_bare: bool,
    /// Where a `=` stands that was not quoted, after nothing but what is known.
    equals: Option<usize>,
}

/// A word that was read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) word: Word,
    /// Nothing of it was quoted.
    pub(super) is_bare: bool,
    /// Where its first `=` is, if it can be that of an assignment.
    pub(super) equals: Option<usize>,
}

impl Draft {
    fn new() -> Self {
        Self { text: String::new(), surety: Surety::Literal, is_bare: true, equals: None }
    }

    fn is_at_least(&mut self, surety: Surety) {
        self.surety = self.surety.max(surety);
    }
}

impl Reader {
    pub(super) fn word(&mut self) -> Found {
        let mut draft = Draft::new();
        while let Some(letter) = self.peek(0) {
            let is_process = matches!(letter, '<' | '>') && self.peek(1) == Some('(');
            if is_process {
                self.at += 2;
                self.list(Some(')'));
                draft.is_at_least(Surety::Unknown);
                continue;
            }
            if letter == '(' && !draft.text.is_empty() {
                self.doubt("a function, an array or a pattern with parentheses");
                break;
            }
            if ends_word(letter) {
                break;
            }
            self.at += 1;
            self.letter(letter, &mut draft);
        }
        // `[` alone is the name of a command.
        let surety = if draft.text == "[" { Surety::Literal } else { draft.surety };
        let word = Word { text: draft.text, surety };
        Found { word, is_bare: draft.is_bare, equals: draft.equals }
    }

    fn letter(&mut self, letter: char, draft: &mut Draft) {
        match letter {
            '\\' => match self.peek(0) {
                Some('\n') => self.at += 1,
                Some(next) => {
                    self.at += 1;
                    draft.is_bare = false;
                    draft.text.push(next);
                }
                None => self.doubt("it ends with a backslash"),
            },
            '\'' => {
                draft.is_bare = false;
                self.until_quote(draft);
            }
            '"' => {
                draft.is_bare = false;
                self.double_quoted(draft);
            }
            '`' => self.backticks(draft),
            '$' => match self.peek(0) {
                Some('\'') => {
                    self.at += 1;
                    draft.is_bare = false;
                    self.escaped_quote(draft);
                }
                Some('"') => {
                    self.at += 1;
                    draft.is_bare = false;
                    self.double_quoted(draft);
                }
                _ => self.dollar(draft),
            },
            '*' | '?' | '[' => {
                draft.is_at_least(Surety::Pattern);
                draft.text.push(letter);
            }
            '{' if self.is_brace_expansion() => {
                draft.is_at_least(Surety::Unknown);
                draft.text.push(letter);
            }
            '\0' => self.doubt("it has a NUL"),
            '=' if draft.is_bare && draft.surety == Surety::Literal && draft.equals.is_none() => {
                draft.equals = Some(draft.text.len());
                draft.text.push(letter);
            }
            letter => draft.text.push(letter),
        }
    }

    /// Whether the braces that just opened stand for several words.
    fn is_brace_expansion(&self) -> bool {
        const LOOKED_AT_MAX: usize = 256;
        let rest = self.letters[self.at..].iter().take(LOOKED_AT_MAX);
        let inside: String = rest.take_while(|l| !matches!(l, '}' | ' ' | '\n')).collect();
        if inside.chars().count() == LOOKED_AT_MAX {
            return true;
        }
        inside.contains(',') || inside.contains("..") || inside.contains(['{', '"', '\'', '$', '`'])
    }

    fn until_quote(&mut self, draft: &mut Draft) {
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            if letter == '\'' {
                return;
            }
            draft.text.push(letter);
        }
        self.doubt("a quote is not closed");
    }

    fn double_quoted(&mut self, draft: &mut Draft) {
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '"' => return,
                '\\' => self.escape_in_quotes(draft),
                '`' => self.backticks(draft),
                '$' => self.dollar(draft),
                '\0' => self.doubt("it has a NUL"),
                letter => draft.text.push(letter),
            }
        }
        self.doubt("a quote is not closed");
    }

    fn escape_in_quotes(&mut self, draft: &mut Draft) {
        match self.peek(0) {
            Some('\n') => self.at += 1,
            Some(next @ ('$' | '`' | '"' | '\\')) => {
                self.at += 1;
                draft.text.push(next);
            }
            _ => draft.text.push('\\'),
        }
    }

    /// The whole text as if it stood between double quotes that it cannot close.
    pub(super) fn all_expansions(&mut self) -> Surety {
        let mut draft = Draft::new();
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '\\' => self.at += 1,
                '`' => self.backticks(&mut draft),
                '$' => self.dollar(&mut draft),
                _ => {}
            }
        }
        draft.surety
    }

    /// `$'…'`, with the escapes that C has.
    fn escaped_quote(&mut self, draft: &mut Draft) {
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '\'' => return,
                '\\' => {
                    let Some(next) = self.peek(0) else { break };
                    self.at += 1;
                    match next {
                        'n' => draft.text.push('\n'),
                        't' => draft.text.push('\t'),
                        '\\' | '\'' | '"' | '?' => draft.text.push(next),
                        // Numbers of characters: what they spell is left open.
                        _ => draft.is_at_least(Surety::Unknown),
                    }
                }
                letter => draft.text.push(letter),
            }
        }
        self.doubt("a quote is not closed");
    }

    fn backticks(&mut self, draft: &mut Draft) {
        draft.is_at_least(Surety::Unknown);
        let mut inside = String::new();
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '`' => return self.nested(&inside),
                '\\' if matches!(self.peek(0), Some('`' | '\\' | '$')) => {
                    inside.extend(self.peek(0));
                    self.at += 1;
                }
                letter => inside.push(letter),
            }
        }
        self.doubt("a backtick is not closed");
    }

    /// What follows a `$`.
    fn dollar(&mut self, draft: &mut Draft) {
        match self.peek(0) {
            Some('(') if self.peek(1) == Some('(') => {
                draft.is_at_least(Surety::Unknown);
                self.at += 2;
                self.arithmetic();
            }
            Some('(') => {
                draft.is_at_least(Surety::Unknown);
                self.at += 1;
                self.list(Some(')'));
            }
            Some('{') => {
                draft.is_at_least(Surety::Unknown);
                self.at += 1;
                self.parameter();
            }
            Some('[') => {
                draft.is_at_least(Surety::Unknown);
                self.doubt("arithmetic in square brackets");
            }
            Some(letter) if letter.is_ascii_alphanumeric() || "_@*#?-$!".contains(letter) => {
                draft.is_at_least(Surety::Unknown);
                self.at += 1;
                if letter.is_ascii_alphabetic() || letter == '_' {
                    while self.peek(0).is_some_and(|l| l.is_ascii_alphanumeric() || l == '_') {
                        self.at += 1;
                    }
                }
            }
            _ => draft.text.push('$'),
        }
    }

    fn arithmetic(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(letter) = self.peek(0) {
            match letter {
                '(' => depth += 1,
                ')' if depth == 0 && self.peek(1) == Some(')') => {
                    let inside: String = self.letters[start..self.at].iter().collect();
                    self.at += 2;
                    self.expansions(&inside);
                    return;
                }
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.doubt("arithmetic that cannot be told from a subshell");
    }

    fn parameter(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(letter) = self.peek(0) {
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    let inside: String = self.letters[start..self.at].iter().collect();
                    self.at += 1;
                    if inside.ends_with("@P") || inside.contains(['\'', '"', '\\']) {
                        self.doubt("a parameter with quotes, or one that is run as a prompt");
                    }
                    let name_end = inside.find(|l: char| !l.is_ascii_alphanumeric() && l != '_');
                    let operator =
                        inside.get(name_end.unwrap_or(inside.len())..).unwrap_or_default();
                    if operator.starts_with('=') || operator.starts_with(":=") {
                        self.doubt("a parameter that is set while it is read");
                    }
                    self.expansions(&inside);
                    return;
                }
                '}' => depth -= 1,
                '\n' => break,
                _ => {}
            }
            self.at += 1;
        }
        self.doubt("a parameter is not closed");
    }
}
