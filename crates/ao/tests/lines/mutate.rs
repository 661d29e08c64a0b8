//! Lines that no grammar of ours makes: real ones, cut, spliced and damaged, with a write to elsewhere in them.

use crate::scripts::Scripts;

/// Numbers that are the same on each run of one seed.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides.max(1) as u64).unwrap()
    }

    fn pick<'a, T: AsRef<str>>(&mut self, from: &'a [T]) -> &'a str {
        from[self.roll(from.len())].as_ref()
    }
}

/// What writes outside of the scope, where it is run.
const WRITES: [&str; 16] = [
    "touch /keep/m",
    "touch m",
    "> m",
    ">m",
    "echo x > ../m",
    "echo x >> /keep/a",
    "rm -rf /keep/d",
    "rm a.md",
    "cp dreams/a.md m",
    "mv dreams/a.md m",
    "mkdir /tmp/m",
    "tee m",
    "sed -i s/one/two/ a.md",
    "chmod 600 a.md",
    "cd .. && touch m",
    "dd of=m if=dreams/a.md",
];
/// How a write is hidden in something else.
const HIDDEN: [&str; 30] = [
    "@",
    "; @",
    "&& @",
    "|| @",
    "| @",
    "\n@\n",
    "& @",
    "$(@)",
    "`@`",
    "\"$(@)\"",
    "'$(@)'",
    "\"`@`\"",
    "<(@)",
    ">(@)",
    "${x:-$(@)}",
    "${x:-<(@)}",
    "${x:+`@`}",
    "${x#$(@)}",
    "${x/a/$(@)}",
    "${x[$(@)]}",
    "$((1 + $(@)))",
    "$[$(@)]",
    "$'\\''; @ #'",
    "# @",
    "\\\n@",
    "<<E\n$(@)\nE\n",
    "<<'E'\n$(@)\nE\n",
    "{ @; }",
    "( @ )",
    "=(@)",
];
/// What takes the place of a program, so that a line has a chance of being allowed.
const PLAIN: [&str; 28] = [
    "echo",
    "echo",
    "cat",
    ":",
    "true",
    "false",
    "ls",
    "printf %s",
    "test",
    "[",
    "grep",
    "head",
    "wc",
    "sort",
    "cut -c1",
    "basename",
    "dirname",
    "expr",
    "date",
    "tr a b <",
    "export",
    "eval",
    "cd dreams &&",
    "cd other ||",
    "touch dreams/new",
    "tee dreams/new",
    "rm -f dreams/b.md",
    "cp dreams/a.md dreams/new;",
];
/// Files in the scope, for what real lines write to.
const OWNED: [&str; 4] = ["dreams/a.md", "dreams/new", "dreams/sub/b", "/dev/null"];
/// Letters that mean something.
const LETTERS: &[u8] = b"'\"\\`$(){}[]<>|&;#!*?~=+-,: \t\n0a_@%^/.";
/// Words of the language after which a program stands.
const OPENING: [&str; 9] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{"];
const LINE_BYTES_MAX: usize = 1200;

/// One line, mutated: a real one, or one that was allowed before, which is then nearer to the border.
pub(crate) fn line(scripts: &Scripts, allowed: &[String], dice: &mut Dice) -> String {
    if !allowed.is_empty() && dice.roll(2) == 0 {
        let mut text = dice.pick(allowed).to_owned();
        for _ in 0..=dice.roll(2) {
            text = match dice.roll(3) {
                0 => damaged(text, dice),
                1 => one(&text, scripts, dice),
                _ => with_write(text, dice),
            };
        }
        return bounded(text);
    }
    let mut text = dice.pick(&scripts.pieces).to_owned();
    if dice.roll(3) == 0 {
        let other = dice.pick(&scripts.pieces).to_owned();
        let (cut, from) = (place(&text, dice), place(&other, dice));
        text = format!("{}{}", &text[..cut], &other[from..]);
    }
    if dice.roll(8) != 0 {
        text = with_plain_programs(&text, dice);
    }
    for _ in 0..dice.roll(3) {
        text = one(&text, scripts, dice);
    }
    text = with_write(text, dice);
    if dice.roll(3) == 0 {
        text = damaged(text, dice);
    }
    bounded(text)
}

fn with_write(mut text: String, dice: &mut Dice) -> String {
    let hidden = dice.pick(&HIDDEN).replace('@', dice.pick(&WRITES));
    let at = place(&text, dice);
    text.insert_str(at, &hidden);
    text
}

fn bounded(mut text: String) -> String {
    let mut end = text.len().min(LINE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.replace('\0', "")
}

fn one(text: &str, scripts: &Scripts, dice: &mut Dice) -> String {
    let (start, end) = word(text, dice);
    let put = |new: &str| format!("{}{new}{}", &text[..start], &text[end..]);
    match dice.roll(6) {
        // An expansion from elsewhere, as it is or with a write in its place.
        0 => put(dice.pick(&scripts.expansions)),
        1 => {
            let expansion = dice.pick(&scripts.expansions).to_owned();
            let at = place(&expansion, dice);
            let hidden = dice.pick(&HIDDEN).replace('@', dice.pick(&WRITES));
            put(&format!("{}{hidden}{}", &expansion[..at], &expansion[at..]))
        }
        2 => {
            let other = dice.pick(&scripts.pieces).to_owned();
            let (from, to) = word(&other, dice);
            put(&other[from..to])
        }
        3 => put(dice.pick(&OWNED)),
        4 => put(""),
        _ => damaged(text.to_owned(), dice),
    }
}

/// A letter put in, taken out or doubled.
fn damaged(mut text: String, dice: &mut Dice) -> String {
    for _ in 0..=dice.roll(3) {
        let at = place(&text, dice);
        let letter = char::from(LETTERS[dice.roll(LETTERS.len())]);
        match dice.roll(3) {
            0 if at < text.len() => drop(text.remove(at)),
            1 => {
                let next = text[at..].chars().next().unwrap_or(letter);
                text.insert(at, next);
            }
            _ => text.insert(at, letter),
        }
    }
    text
}

/// Programs replaced by such as only look, and targets by files in the scope.
fn with_plain_programs(text: &str, dice: &mut Dice) -> String {
    let mut made = String::new();
    let (mut is_start, mut is_target) = (true, false);
    for token in tokens(text) {
        let is_word = token.starts_with(|l: char| l.is_alphanumeric() || "/._$\"-".contains(l));
        if is_target && is_word {
            made.push_str(dice.pick(&OWNED));
            is_target = false;
        } else if is_start && is_word && !token.contains('=') {
            made.push_str(if OPENING.contains(&token) { token } else { dice.pick(&PLAIN) });
            is_start = OPENING.contains(&token);
        } else {
            made.push_str(token);
            match token.trim_matches([' ', '\t']) {
                ">" | ">>" => is_target = true,
                ";" | "&&" | "||" | "|" | "&" | "\n" | "(" | "$(" | "`" | "{" => is_start = true,
                _ => {}
            }
        }
    }
    made
}

/// Words, and what stands between them.
fn tokens(text: &str) -> Vec<&str> {
    let is_between = |letter: char| " \t\n;&|<>()`{}".contains(letter);
    let mut found = Vec::new();
    let mut start = 0;
    let mut was = None;
    for (at, letter) in text.char_indices() {
        let is = (is_between(letter), letter == '\n');
        if was.is_some_and(|was| was != is) {
            found.push(&text[start..at]);
            start = at;
        }
        was = Some(is);
    }
    found.push(&text[start..]);
    found
}

fn word(text: &str, dice: &mut Dice) -> (usize, usize) {
    let found = tokens(text);
    let at = dice.roll(found.len());
    let start: usize = found[..at].iter().map(|token| token.len()).sum();
    (start, start + found[at].len())
}

fn place(text: &str, dice: &mut Dice) -> usize {
    let mut at = dice.roll(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
