//! Globs of paths, as `files_owned` and the sacred set spell them.
//!
//! `?` is one character, `*` any number of them, `[a-z]` one of a set, `{a,b}` one of several; none of
//! them crosses a `/`. `**` as a whole name is any number of folders. A glob is matched in time that
//! grows with the product of both lengths, whatever it says, and one that would unfold into too many
//! is refused when it is read.

use ao_tree::fold;

const GLOB_BYTES_MAX: usize = 1024;
/// How many plain globs the braces of one may unfold into.
const UNFOLDED_MAX: usize = 256;
const GLOBS_MAX: usize = 4096;

/// Whether `A` and `a`, or two spellings of `é`, are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Names are what their bytes are.
    Exact,
    /// Names are the same where some file system takes them for the same.
    Folded,
}

/// A glob that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{}` cannot be used: {why}", .glob.escape_debug())]
pub struct BadGlob {
    pub glob: String,
    pub why: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    AnyFolders,
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Any,
    One,
    Char(char),
    Set { ranges: Vec<(char, char)>, is_negated: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    written: String,
    parts: Vec<Part>,
}

/// Any number of globs; a path matches if one of them does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Globs {
    case: Case,
    patterns: Vec<Pattern>,
}

impl Globs {
    pub fn parse<G: AsRef<str>>(
        globs: impl IntoIterator<Item = G>,
        case: Case,
    ) -> Result<Self, BadGlob> {
        let mut patterns = Vec::new();
        for glob in globs {
            let glob = glob.as_ref();
            let bad = |why| BadGlob { glob: glob.to_owned(), why };
            for plain in unfold(&prepared(glob, case).map_err(bad)?).map_err(bad)? {
                let parts = parse(&plain).map_err(bad)?;
                patterns.push(Pattern { written: glob.to_owned(), parts });
            }
            if patterns.len() > GLOBS_MAX {
                return Err(bad("there are too many globs"));
            }
        }
        Ok(Self { case, patterns })
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The glob that matches this path, as it was written.
    pub fn matching(&self, path: &str) -> Option<&str> {
        let folded;
        let path = match self.case {
            Case::Exact => path,
            Case::Folded => {
                folded = fold(path);
                &folded
            }
        };
        let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
        let found = self.patterns.iter().find(|pattern| matches(&pattern.parts, &names));
        found.map(|pattern| pattern.written.as_str())
    }

    /// Whether a path that ends with this name could match at all. Far cheaper than to match it.
    pub(crate) fn could_end_with(&self, name: &str) -> bool {
        if !name.is_ascii() {
            return true;
        }
        let same = |token: &Token, letter: Option<char>| match token {
            Token::Char(wanted) => letter.is_some_and(|letter| match self.case {
                Case::Exact => letter == *wanted,
                Case::Folded => letter.eq_ignore_ascii_case(wanted),
            }),
            Token::Any | Token::One | Token::Set { .. } => true,
        };
        let (first, last) = (name.chars().next(), name.chars().next_back());
        self.patterns.iter().any(|pattern| match pattern.parts.last() {
            Some(Part::Name(tokens)) => {
                tokens.first().is_none_or(|token| same(token, first))
                    && tokens.last().is_none_or(|token| same(token, last))
            }
            _ => true,
        })
    }

    /// The glob that matches this path or a folder above it.
    pub fn covering(&self, path: &str) -> Option<&str> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).find_map(|above| self.matching(above))
    }
}

fn prepared(glob: &str, case: Case) -> Result<String, &'static str> {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    if glob.is_empty() {
        return Err("it is empty");
    }
    if glob.len() > GLOB_BYTES_MAX {
        return Err("it is too long");
    }
    if glob.starts_with('/') || glob.starts_with('~') {
        return Err("it must be relative to the project");
    }
    if glob.starts_with('!') {
        return Err("it cannot be turned around with `!`");
    }
    // A folder means what is in it.
    let glob = if glob.ends_with('/') { format!("{glob}**") } else { glob.to_owned() };
    Ok(if case == Case::Folded { fold(&glob) } else { glob })
}

/// The globs without braces that a glob stands for.
fn unfold(glob: &str) -> Result<Vec<String>, &'static str> {
    let mut open = vec![glob.to_owned()];
    let mut plain = Vec::new();
    while let Some(next) = open.pop() {
        match first_braces(&next)? {
            None => plain.push(next),
            Some((start, end, choices)) => {
                for choice in choices.iter().rev() {
                    open.push(format!("{}{choice}{}", &next[..start], &next[end..]));
                }
            }
        }
        if open.len() + plain.len() > UNFOLDED_MAX {
            return Err("its braces stand for too many globs");
        }
    }
    Ok(plain)
}

type Braces<'a> = (usize, usize, Vec<&'a str>);

fn first_braces(glob: &str) -> Result<Option<Braces<'_>>, &'static str> {
    let (mut depth, mut start, mut from, mut choices) = (0_usize, 0, 0, Vec::new());
    let mut letters = glob.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '{' if depth == 0 => (depth, start, from) = (1, at, at + 1),
            '{' => depth += 1,
            ',' if depth == 1 => {
                choices.push(&glob[from..at]);
                from = at + 1;
            }
            '}' if depth == 1 => {
                choices.push(&glob[from..at]);
                return Ok(Some((start, at + 1, choices)));
            }
            '}' if depth > 1 => depth -= 1,
            '}' => return Err("a `}` has no `{`"),
            _ => {}
        }
    }
    if depth > 0 { Err("a `{` has no `}`") } else { Ok(None) }
}

fn parse(glob: &str) -> Result<Vec<Part>, &'static str> {
    let mut parts = Vec::new();
    for name in glob.split('/') {
        match name {
            "" => return Err("it has an empty name (two slashes)"),
            "." | ".." => return Err("it has a `.` or `..`"),
            "**" => {
                if parts.last() != Some(&Part::AnyFolders) {
                    parts.push(Part::AnyFolders);
                }
            }
            name => parts.push(Part::Name(tokens(name)?)),
        }
    }
    // `a/**` is what is in `a`, not `a` itself.
    if parts.last() == Some(&Part::AnyFolders) {
        parts.push(Part::Name(vec![Token::Any]));
    }
    Ok(parts)
}

fn tokens(name: &str) -> Result<Vec<Token>, &'static str> {
    let mut tokens = Vec::new();
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Char(letters.next().ok_or("it ends with a `\\`")?),
            '[' => set(&mut letters)?,
            letter if letter.is_control() => return Err("it has a control character"),
            letter => Token::Char(letter),
        });
    }
    tokens.dedup_by(|one, other| *one == Token::Any && *other == Token::Any);
    Ok(tokens)
}

fn set(letters: &mut std::str::Chars<'_>) -> Result<Token, &'static str> {
    const UNCLOSED: &str = "a `[` has no `]`";
    let mut members = Vec::new();
    let mut is_negated = false;
    loop {
        match letters.next().ok_or(UNCLOSED)? {
            '!' | '^' if members.is_empty() && !is_negated => is_negated = true,
            ']' if !members.is_empty() => break,
            '\\' => members.push(letters.next().ok_or(UNCLOSED)?),
            letter => members.push(letter),
        }
    }
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < members.len() {
        if at + 2 < members.len() && members[at + 1] == '-' {
            ranges.push((members[at], members[at + 2]));
            at += 3;
        } else {
            ranges.push((members[at], members[at]));
            at += 1;
        }
    }
    Ok(Token::Set { ranges, is_negated })
}

/// Goes back to the last `**` only: what an earlier one could still take, the last one can too.
fn matches(parts: &[Part], names: &[Vec<char>]) -> bool {
    star_match(
        parts,
        names,
        |part| *part == Part::AnyFolders,
        |part, name| match part {
            Part::AnyFolders => false,
            Part::Name(tokens) => star_match(
                tokens,
                name,
                |token| *token == Token::Any,
                |token, letter| token_matches(token, *letter),
            ),
        },
    )
}

fn token_matches(token: &Token, letter: char) -> bool {
    match token {
        Token::Any => false,
        Token::One => true,
        Token::Char(wanted) => *wanted == letter,
        Token::Set { ranges, is_negated } => {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter)) != *is_negated
        }
    }
}

fn star_match<P, T>(
    pattern: &[P],
    text: &[T],
    is_star: impl Fn(&P) -> bool,
    is_match: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut here) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while here < text.len() {
        if pattern.get(at).is_some_and(&is_star) {
            last_star = Some((at, here));
            at += 1;
        } else if pattern.get(at).is_some_and(|part| is_match(part, &text[here])) {
            at += 1;
            here += 1;
        } else if let Some((star, taken)) = last_star {
            last_star = Some((star, taken + 1));
            at = star + 1;
            here = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(glob: &str, path: &str) -> bool {
        Globs::parse([glob], Case::Exact).unwrap().matching(path).is_some()
    }

    #[test]
    fn globs_match_what_they_say() {
        let yes = [
            ("src/*.rs", "src/a.rs"),
            ("src/**", "src/a/b/c.rs"),
            ("src/", "src/a/b"),
            ("**/*.md", "a.md"),
            ("**/*.md", "x/y/a.md"),
            ("a/**/b/**/c", "a/b/b/x/c"),
            ("**/a/**/b", "a/a/b"),
            ("*a*b*", "xxaxxbxx"),
            ("[!a-c]x", "dx"),
            ("[]]x", "]x"),
            ("{a,b{c,d}}/x", "bd/x"),
            ("a\\*b", "a*b"),
            ("?.md", "é.md"),
        ];
        for (glob, path) in yes {
            assert!(is_match(glob, path), "{glob} {path}");
        }
        let no = [
            ("src/*.rs", "src/a/b.rs"),
            ("src/**", "src"),
            ("src/**", "srcs/a"),
            ("*.rs", "a/b.rs"),
            ("[a-c]x", "dx"),
            ("a\\*b", "axb"),
            ("A.md", "a.md"),
        ];
        for (glob, path) in no {
            assert!(!is_match(glob, path), "{glob} {path}");
        }
        let folded = Globs::parse(["**/.ENV"], Case::Folded).unwrap();
        assert_eq!(folded.matching("x/.Env"), Some("**/.ENV"));
        assert_eq!(folded.covering("x/.env/y/z"), Some("**/.ENV"));
        assert_eq!(folded.covering("x/.envy/z"), None);
    }

    // threat 27
    #[test]
    fn bombs_and_nonsense_are_refused() {
        let bomb = "{a,b}".repeat(40);
        for glob in ["", "/etc/**", "../x", "a//b", "a{b", "a}b", "[a", "~/x", "!a", "a\\", &bomb] {
            assert!(Globs::parse([glob], Case::Exact).is_err(), "{glob}");
        }
        // Exponential for a matcher that tries everything.
        let slow = format!("{}b", "*a".repeat(60));
        assert!(!is_match(&slow, &"a".repeat(4000)));
        let slow = format!("{}x", "**/a/".repeat(60));
        assert!(!is_match(&slow, &"a/".repeat(2000)));
    }
}
