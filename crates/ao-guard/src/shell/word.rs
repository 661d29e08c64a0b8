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
        // A pattern beside something quoted stands for several words again.
        let is_mixed = matches!(
            (self.surety, surety),
            (Surety::Pattern, Surety::Whole) | (Surety::Whole, Surety::Pattern)
        );
        self.surety = if is_mixed { Surety::Unknown } else { self.surety.max(surety) };
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
            '{' if draft.surety == Surety::Unknown || self.is_brace_expansion() => {
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
                '`' | '$' => self.quoted_expansion(letter, draft),
                '\0' => self.doubt("it has a NUL"),
                letter => draft.text.push(letter),
            }
        }
        self.doubt("a quote is not closed");
    }

    /// Between quotes it stays one word, unless it stands for all arguments.
    fn quoted_expansion(&mut self, letter: char, draft: &mut Draft) {
        let (was, start) = (draft.surety, self.at);
        draft.surety = Surety::Literal;
        if letter == '`' {
            self.backticks(draft);
        } else {
            self.dollar(draft);
        }
        let is_all = self.letters[start..self.at].contains(&'@');
        let found = match draft.surety {
            Surety::Unknown if !is_all => Surety::Whole,
            found => found,
        };
        draft.surety = was;
        draft.is_at_least(found);
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
                // Which of them go hangs on what stands around.
                '\\' => {
                    self.doubt("a backslash between backticks");
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
                let start = self.at;
                self.at += 1;
                if letter.is_ascii_alphabetic() || letter == '_' {
                    while self.peek(0).is_some_and(|l| l.is_ascii_alphanumeric() || l == '_') {
                        self.at += 1;
                    }
                }
                let name: String = self.letters[start..self.at].iter().collect();
                let is_number = matches!(letter, '?' | '#' | '$') || self.is_tested_number(&name);
                draft.is_at_least(if is_number { Surety::Whole } else { Surety::Unknown });
            }
            _ => draft.text.push('$'),
        }
    }

    fn parameter(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(letter) = self.peek(0) {
            match letter {
                '{' if self.at > start && self.letters[self.at - 1] == '$' => depth += 1,
                // Where a parameter with a plain brace ends, shells do not agree.
                '{' | '\n' => break,
                '}' if depth == 0 => {
                    let inside: String = self.letters[start..self.at].iter().collect();
                    self.at += 1;
                    if let Some(why) = odd_parameter(&inside) {
                        self.doubt(why);
                    }
                    self.expansions(&inside);
                    return;
                }
                '}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.doubt("a parameter is not closed, or has a brace");
    }
}

/// What of a parameter does more than read a variable.
fn odd_parameter(inside: &str) -> Option<&'static str> {
    if inside.ends_with("@P") || inside.contains(['\'', '"', '\\']) {
        return Some("a parameter with quotes, or one that is run as a prompt");
    }
    let counted = inside.strip_prefix('#').filter(|rest| !rest.is_empty()).unwrap_or(inside);
    let is_special = counted.starts_with(['@', '*', '#', '?', '-', '$']);
    let is_plain = |l: char| l.is_ascii_alphanumeric() || l == '_';
    let name_end =
        if is_special { 1 } else { counted.find(|l: char| !is_plain(l)).unwrap_or(counted.len()) };
    if name_end == 0 {
        // `${!x}`, `${ cmd; }`, `${(e)x}`
        return Some("a parameter that is no variable");
    }
    let operator = &counted[name_end..];
    if operator.trim_start_matches(':').starts_with('=') {
        return Some("a parameter that is set while it is read");
    }
    let is_number = |text: &str| {
        text.chars().all(|l| l.is_ascii_digit() || matches!(l, ' ' | ':' | '-' | '@' | '*'))
    };
    let subscript = operator.strip_prefix('[').map(|rest| rest.split(']').next().unwrap_or(rest));
    let part = operator.strip_prefix(':').filter(|rest| !rest.starts_with(['-', '+', '?']));
    if subscript.or(part).is_some_and(|text| !is_number(text)) {
        return Some("a place in a variable that is not plain");
    }
    None
}
