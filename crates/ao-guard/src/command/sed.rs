//! `sed`: which files it writes, and whether its script does nothing else.
//!
//! The script language can write files and start programs (`w`, `W`, `e`, and flags of `s`), so only a
//! script is taken of which every command is plain: addresses, then `p`, `d`, `q`, `=`, `n` or an `s`
//! with plain flags.

use super::words::Call;
use crate::shell::Word;

#[derive(Debug)]
pub(super) struct Read<'a> {
    /// Those that are edited in place.
    pub(super) written: Vec<&'a Word>,
}

pub(super) fn read<'a>(call: &Call<'a>) -> Result<Read<'a>, &'static str> {
    const UNPLAIN: &str = "its script could write or start something";
    let (mut scripts, mut operands, mut is_in_place) = (Vec::new(), Vec::new(), false);
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-e" | "--expression" => scripts.extend(words.next()),
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "--posix" | "--quiet" | "--silent"
            | "--debug" => {}
            "-i" | "--in-place" | "-i.bak" | "-Ei" | "-ri" | "-ni" | "-nE" | "-En" | "-nr"
            | "-rn" => {
                is_in_place |= word.text.contains('i') && !word.text.contains("bak");
                if word.text.contains("bak") {
                    return Err("it leaves a second file beside the one it edits");
                }
            }
            text if text.starts_with('-') && text.len() > 1 => {
                return Err("an option is not known");
            }
            _ => operands.push(word),
        }
    }
    if scripts.is_empty() {
        if operands.is_empty() {
            return Err("it has no script");
        }
        scripts.push(operands.remove(0));
    }
    for script in scripts {
        // A pattern of the shell's is still what it says if no file is called so.
        if !is_plain(&script.text) {
            return Err(UNPLAIN);
        }
    }
    let written = if is_in_place { operands } else { Vec::new() };
    Ok(Read { written })
}

fn is_plain(script: &str) -> bool {
    let letters: Vec<char> = script.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        match letters[at] {
            ' ' | '\t' | '\n' | ';' | '}' => at += 1,
            _ => match one(&letters, at) {
                Some(next) => at = next,
                None => return false,
            },
        }
    }
    true
}

/// Reads one command, and gives the place after it.
fn one(letters: &[char], from: usize) -> Option<usize> {
    let mut at = address(letters, from)?;
    if letters.get(at) == Some(&',') {
        at = address(letters, at + 1)?;
    }
    while letters.get(at).is_some_and(|letter| matches!(letter, ' ' | '!')) {
        at += 1;
    }
    match letters.get(at)? {
        'p' | 'd' | 'q' | '=' | 'n' | 'N' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' | '{' => {
            Some(at + 1)
        }
        's' | 'y' => {
            let mark = *letters.get(at + 1)?;
            let middle = delimited(letters, at + 2, mark)?;
            let mut end = delimited(letters, middle, mark)?;
            while letters.get(end).is_some_and(|flag| "gpiI0123456789".contains(*flag)) {
                end += 1;
            }
            let is_over = letters.get(end).is_none_or(|next| " \t\n;}".contains(*next));
            is_over.then_some(end)
        }
        _ => None,
    }
}

fn address(letters: &[char], from: usize) -> Option<usize> {
    match letters.get(from) {
        Some('/') => delimited(letters, from + 1, '/'),
        Some('$') => Some(from + 1),
        _ => {
            let digits =
                letters[from..].iter().take_while(|l| l.is_ascii_digit() || matches!(l, '~' | '+'));
            Some(from + digits.count())
        }
    }
}

/// The place after the next mark that is not escaped.
fn delimited(letters: &[char], from: usize, mark: char) -> Option<usize> {
    let mut at = from;
    while at < letters.len() {
        match letters[at] {
            '\\' => at += 2,
            letter if letter == mark => return Some(at + 1),
            '\n' => return None,
            // A mark between brackets ends nothing, and where brackets end is an art of its own.
            '[' => {
                let rest = letters.get(at + 2..).unwrap_or_default();
                let length = rest.iter().position(|letter| *letter == ']')?;
                if letters[at + 1..at + 2 + length].contains(&mark) {
                    return None;
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn scripts_that_write_or_start_are_not_plain() {
        for script in ["1,20p", "s/a/b/g", "/x/d", "$!d", "s|a|b|;3q", "1!G;h;$!d", "/a/,/b/p", "5"]
        {
            assert_eq!(is_plain(script), script != "5", "{script}");
        }
        let hidden = "s/a[/]b/;p/w out/x";
        for script in [
            hidden,
            "w out",
            "s/a/b/w out",
            "s/a/b/e",
            "e rm x",
            "1e",
            "r f;w g",
            "s/a/b/gw x",
            "a\\",
        ] {
            assert!(!is_plain(script), "{script}");
        }
    }
}
