//! Words: quotes, escapes and what is substituted.

use super::read::Reader;
use super::{Surety, Word, WordPart};

pub(super) fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

pub(super) fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Letters that end a word where they are not quoted.
fn ends_word(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// A word while it is read.
#[derive(Debug)]
pub(super) struct Draft {
    text: String,
    parts: Vec<WordPart>,
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
    pub(super) fn new() -> Self {
        let (text, parts) = (String::new(), Vec::new());
        Self { text, parts, surety: Surety::Literal, is_bare: true, equals: None }
    }

    pub(super) fn bare(&mut self, letter: char) {
        self.text.push(letter);
        match self.parts.last_mut() {
            Some(WordPart::Bare(text)) => text.push(letter),
            _ => self.parts.push(WordPart::Bare(letter.into())),
        }
    }

    fn quoted(&mut self, letter: char) {
        self.text.push(letter);
        match self.parts.last_mut() {
            Some(WordPart::Quoted(text)) => text.push(letter),
            _ => self.parts.push(WordPart::Quoted(letter.into())),
        }
    }

    /// What is not known beforehand.
    pub(super) fn hole(&mut self, surety: Surety) {
        self.parts.push(WordPart::Hole);
        self.is_at_least(surety);
    }

    /// The value of a variable, or what nobody knows if it has another name than a plain one.
    pub(super) fn variable(&mut self, name: String, surety: Surety) {
        self.parts.push(if super::count::is_name(&name) {
            WordPart::Variable(name)
        } else {
            WordPart::Hole
        });
        self.is_at_least(surety);
    }

    pub(super) fn word(self) -> Word {
        Word { text: self.text, surety: self.surety, parts: self.parts }
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
                draft.hole(Surety::Unknown);
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
        if draft.text == "[" {
            draft.surety = Surety::Literal;
        }
        Found { is_bare: draft.is_bare, equals: draft.equals, word: draft.word() }
    }

    fn letter(&mut self, letter: char, draft: &mut Draft) {
        match letter {
            '\\' => match self.peek(0) {
                Some('\n') => self.at += 1,
                Some(next) => {
                    self.at += 1;
                    draft.is_bare = false;
                    draft.quoted(next);
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
                // To other shells the `$` is part of the word.
                Some('"') => {
                    self.at += 1;
                    draft.is_bare = false;
                    draft.is_at_least(Surety::Whole);
                    self.double_quoted(draft);
                }
                _ => self.dollar(draft),
            },
            '*' | '?' | '[' => {
                draft.is_at_least(Surety::Pattern);
                draft.bare(letter);
            }
            '{' if draft.surety == Surety::Unknown || self.is_brace_expansion() => {
                draft.is_at_least(Surety::Unknown);
                draft.bare(letter);
            }
            '\0' => self.doubt("it has a NUL"),
            '=' if draft.is_bare && draft.surety == Surety::Literal && draft.equals.is_none() => {
                draft.equals = Some(draft.text.len());
                draft.bare(letter);
            }
            letter => draft.bare(letter),
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
            draft.quoted(letter);
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
                letter => draft.quoted(letter),
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
                draft.quoted(next);
            }
            _ => draft.quoted('\\'),
        }
    }

    /// The whole text as if it stood between double quotes that it cannot close.
    pub(super) fn all_expansions(&mut self) -> Surety {
        let mut draft = Draft::new();
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '\\' => self.at = self.letters.len().min(self.at + 1),
                '`' => self.backticks(&mut draft),
                '$' => self.dollar(&mut draft),
                _ => {}
            }
        }
        draft.surety
    }

    /// `$'…'`, with the escapes that C has.
    /// To other shells this is a `$` and what stands between plain quotes. So only blanks are taken for what they
    /// say, and where the quote ends must be the same for all.
    fn escaped_quote(&mut self, draft: &mut Draft) {
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '\'' => return,
                '\\' => {
                    let Some(next) = self.peek(0) else { break };
                    self.at += 1;
                    match next {
                        'n' => draft.quoted('\n'),
                        't' => draft.quoted('\t'),
                        '\'' => self.doubt("a quote that ends elsewhere for another shell"),
                        // Numbers of characters: what they spell is left open.
                        _ => draft.hole(Surety::Unknown),
                    }
                }
                letter => {
                    draft.quoted(letter);
                    draft.is_at_least(Surety::Whole);
                }
            }
        }
        self.doubt("a quote is not closed");
    }

    pub(super) fn backticks(&mut self, draft: &mut Draft) {
        draft.hole(Surety::Unknown);
        let mut inside = String::new();
        while let Some(letter) = self.peek(0) {
            self.at += 1;
            match letter {
                '`' => return self.nested(&inside),
                // Which of them go hangs on what stands around.
                '\\' => {
                    self.doubt("a backslash between backticks");
                    self.at = self.letters.len().min(self.at + 1);
                }
                letter => inside.push(letter),
            }
        }
        self.doubt("a backtick is not closed");
    }

    /// What follows a `$`.
    pub(super) fn dollar(&mut self, draft: &mut Draft) {
        match self.peek(0) {
            Some('(') if self.peek(1) == Some('(') => {
                draft.hole(Surety::Unknown);
                self.at += 2;
                self.arithmetic();
            }
            Some('(') => {
                draft.hole(Surety::Unknown);
                self.at += 1;
                self.list(Some(')'));
            }
            Some('{') => {
                self.at += 1;
                self.parameter(draft);
            }
            Some('[') => {
                draft.hole(Surety::Unknown);
                self.doubt("arithmetic in square brackets");
            }
            Some(letter) if letter.is_ascii_alphanumeric() || "_@*#?-$!".contains(letter) => {
                let start = self.at;
                self.at += 1;
                if letter.is_ascii_alphabetic() || letter == '_' {
                    while self.peek(0).is_some_and(is_of_name) {
                        self.at += 1;
                    }
                }
                let name: String = self.letters[start..self.at].iter().collect();
                let is_number = matches!(letter, '?' | '#' | '$') || self.is_tested_number(&name);
                draft.variable(name, if is_number { Surety::Whole } else { Surety::Unknown });
                if self.peek(0) == Some('[') {
                    // To some shells a subscript, which is counted.
                    self.doubt("a bracket after a variable");
                }
            }
            // To some shells these expand the variable that follows.
            Some('=' | '~' | '^' | '+') if self.peek(1).is_some_and(is_of_name) => {
                draft.quoted('$');
                draft.hole(Surety::Unknown);
            }
            _ => draft.quoted('$'),
        }
    }
}
