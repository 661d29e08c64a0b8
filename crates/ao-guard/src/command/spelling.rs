//! What a word could come out as: braces and variables in it put in, with the parts that stay open marked.

use crate::shell::{Word, WordPart};

/// A word that could come out in more ways than these could be anything.
const SPELLINGS_MAX: usize = 256;
const VARIABLES_DEEP_MAX: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plain(char),
    /// It can mean something to the shell: a tilde, a part of a pattern, a brace.
    Special(char),
    /// Anything at all.
    Hole,
}

impl Sign {
    fn letter(self) -> Option<char> {
        match self {
            Self::Plain(letter) | Self::Special(letter) => Some(letter),
            Self::Hole => None,
        }
    }

    pub(super) fn is(self, wanted: char) -> bool {
        self.letter() == Some(wanted)
    }
}

/// One way in which a word could come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spelling(pub(super) Vec<Sign>);

impl Spelling {
    pub(super) fn plain(text: &str) -> Self {
        Self(text.chars().map(Sign::Plain).collect())
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.contains(&Sign::Hole)
    }

    pub(super) fn has_pattern(&self) -> bool {
        self.0.iter().any(|sign| matches!(sign, Sign::Special('*' | '?' | '[')))
    }

    /// The letters, without what is open.
    pub(super) fn text(&self) -> String {
        self.0.iter().filter_map(|sign| sign.letter()).collect()
    }

    pub(super) fn from(&self, at: usize) -> Self {
        Self(self.0.get(at..).unwrap_or_default().to_vec())
    }

    /// The place after the first of this letter.
    pub(super) fn past(&self, letter: char) -> Option<usize> {
        self.0.iter().position(|sign| sign.is(letter)).map(|at| at + 1)
    }

    /// The names between slashes, as globs that match only what they say.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = vec![String::new()];
        for sign in &self.0 {
            let Some(name) = names.last_mut() else { continue };
            match sign {
                Sign::Plain('/') | Sign::Special('/') => names.push(String::new()),
                Sign::Special(letter @ ('*' | '?' | '[' | ']')) => name.push(*letter),
                Sign::Plain(letter) | Sign::Special(letter) => {
                    if "*?[]{}\\,!".contains(*letter) {
                        name.push('\\');
                    }
                    name.push(*letter);
                }
                Sign::Hole => name.push('*'),
            }
        }
        names
    }
}

/// Every way in which a word could come out. `values` says what a variable is given.
pub(super) fn spellings(word: &Word, values: &dyn Fn(&str) -> Vec<Word>) -> Vec<Spelling> {
    let mut found = Vec::new();
    for spelling in with_variables(word, values, 0) {
        found.extend(unbraced(spelling));
        if found.len() > SPELLINGS_MAX {
            return vec![Spelling(vec![Sign::Hole])];
        }
    }
    found
}

fn with_variables(word: &Word, values: &dyn Fn(&str) -> Vec<Word>, depth: usize) -> Vec<Spelling> {
    let mut all = vec![Spelling(Vec::new())];
    for part in &word.parts {
        let more: Vec<Vec<Sign>> = match part {
            WordPart::Quoted(text) => vec![text.chars().map(Sign::Plain).collect()],
            WordPart::Bare(text) => vec![text.chars().map(special).collect()],
            WordPart::Hole => vec![vec![Sign::Hole]],
            WordPart::Variable(name) => value_of(name, values, depth),
        };
        if all.len() * more.len() > SPELLINGS_MAX {
            return vec![Spelling(vec![Sign::Hole])];
        }
        all = all
            .iter()
            .flat_map(|before| {
                more.iter().map(|after| Spelling([before.0.as_slice(), after].concat()))
            })
            .collect();
    }
    all
}

/// Patterns in a value count, and its words may stand alone.
fn value_of(name: &str, values: &dyn Fn(&str) -> Vec<Word>, depth: usize) -> Vec<Vec<Sign>> {
    let given = values(name);
    if given.is_empty() || depth > VARIABLES_DEEP_MAX {
        return vec![vec![Sign::Hole]];
    }
    let mut found = Vec::new();
    for word in given {
        for spelling in with_variables(&word, values, depth + 1) {
            let signs: Vec<Sign> =
                spelling.0.iter().map(|sign| sign.letter().map_or(*sign, special)).collect();
            let fields = signs.split(|sign| sign.is(' ') || sign.is('\n') || sign.is('\t'));
            let fields: Vec<Vec<Sign>> = fields.map(<[Sign]>::to_vec).collect();
            if fields.len() > 1 {
                found.extend(fields);
            }
            found.push(signs);
        }
    }
    found
}

fn special(letter: char) -> Sign {
    match letter {
        '~' | '*' | '?' | '[' | ']' | '{' | '}' | ',' => Sign::Special(letter),
        letter => Sign::Plain(letter),
    }
}

/// `{a,b}` and `{1..3}` put in.
fn unbraced(spelling: Spelling) -> Vec<Spelling> {
    let (mut open, mut done) = (vec![spelling], Vec::new());
    while let Some(next) = open.pop() {
        match first_braces(&next.0) {
            None => done.push(next),
            Some((start, end, choices)) => {
                for choice in choices {
                    open.push(Spelling([&next.0[..start], &choice, &next.0[end..]].concat()));
                }
            }
        }
        if open.len() + done.len() > SPELLINGS_MAX {
            return vec![Spelling(vec![Sign::Hole])];
        }
    }
    done
}

type Braces = (usize, usize, Vec<Vec<Sign>>);

/// The first braces that stand for several words, and what stands in them.
fn first_braces(signs: &[Sign]) -> Option<Braces> {
    let starts = (0..signs.len()).filter(|at| signs[*at] == Sign::Special('{'));
    starts.take(SPELLINGS_MAX).find_map(|start| {
        let (mut depth, mut from, mut choices) = (1_usize, start + 1, Vec::new());
        for at in start + 1..signs.len() {
            match signs[at] {
                Sign::Special('{') => depth += 1,
                Sign::Special(',') if depth == 1 => {
                    choices.push(signs[from..at].to_vec());
                    from = at + 1;
                }
                Sign::Special('}') => {
                    depth -= 1;
                    if depth == 0 {
                        let inside = &signs[from..at];
                        if choices.is_empty() {
                            return range(inside).map(|choices| (start, at + 1, choices));
                        }
                        choices.push(inside.to_vec());
                        return Some((start, at + 1, choices));
                    }
                }
                _ => {}
            }
        }
        None
    })
}

/// `a..e`, `1..9`: the letters and numbers between; a hole where they are too many.
fn range(inside: &[Sign]) -> Option<Vec<Vec<Sign>>> {
    let text: String = inside.iter().map(|sign| sign.letter().unwrap_or('\0')).collect();
    let ends: Vec<&str> = text.split("..").collect();
    let (Some(first), Some(last), true) = (ends.first(), ends.get(1), matches!(ends.len(), 2 | 3))
    else {
        return None;
    };
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let (low, high) = (first.min(last), first.max(last));
        let is_small = high.checked_sub(low).is_some_and(|many| many < 64) && !text.contains('0');
        let numbers = (low..=high).map(|n| n.to_string().chars().map(Sign::Plain).collect());
        return Some(if is_small { numbers.collect() } else { vec![vec![Sign::Hole]] });
    }
    let mut letters = [first, last].map(|end| end.chars());
    let (Some(one), Some(other)) = (letters[0].next(), letters[1].next()) else { return None };
    let is_plain = letters.iter_mut().all(|rest| rest.next().is_none());
    let (low, high) = (one.min(other), one.max(other));
    is_plain.then(|| match ends.len() {
        2 if high.is_ascii() => (low..=high).map(|letter| vec![Sign::Plain(letter)]).collect(),
        _ => vec![vec![Sign::Hole]],
    })
}
