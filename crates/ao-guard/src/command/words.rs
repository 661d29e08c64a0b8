//! A program with its arguments, and questions about them.

use std::path::PathBuf;

use super::doubt;
use crate::scope::Refusal;
use crate::shell::{Command, Stdin, Surety, Word};

/// Where the programs of a system are. One of the same name elsewhere is another program.
const SYSTEM: [&str; 6] =
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];
/// Programs that a project installed. Of these only the ones that build or check are taken.
const INSTALLED: [&str; 2] = ["./node_modules/.bin/", "node_modules/.bin/"];
/// Programs that a project brings along to build itself.
const WRAPPERS: [&str; 4] = ["./gradlew", "./mvnw", "gradlew", "mvnw"];

#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: String,
    pub(super) arguments: &'a [Word],
    pub(super) stdin: &'a Stdin,
    /// The command before it, whose output it may read.
    pub(super) before: Option<&'a Command>,
    pub(super) directories: &'a [PathBuf],
}

impl<'a> Call<'a> {
    pub(super) fn new(
        words: &'a [Word],
        stdin: &'a Stdin,
        before: Option<&'a Command>,
        directories: &'a [PathBuf],
    ) -> Result<Self, Refusal> {
        let Some((first, arguments)) = words.split_first() else {
            return Err(doubt("shell", "there is no program"));
        };
        let Some(program) = first.known().filter(|program| !program.is_empty()) else {
            return Err(doubt(&first.text, "which program it is, is not known beforehand"));
        };
        let system = SYSTEM.iter().find_map(|folder| program.strip_prefix(folder));
        let name = match system {
            _ if WRAPPERS.contains(&program) => program.trim_start_matches("./"),
            Some(name) => name,
            None => INSTALLED
                .iter()
                .find_map(|folder| program.strip_prefix(folder))
                .filter(|name| super::build::is_checker(name))
                .unwrap_or(program),
        };
        if name.contains('/') {
            return Err(doubt(program, "nobody can say what this program would write"));
        }
        Ok(Self { name: name.to_owned(), arguments, stdin, before, directories })
    }

    pub(super) fn doubt(&self, why: &str) -> Refusal {
        doubt(&self.name, why)
    }

    /// The first argument that is no option, and those after it.
    pub(super) fn subcommand(&self) -> Option<(&'a str, &'a [Word])> {
        let at = self.arguments.iter().position(|word| !word.text.starts_with('-'))?;
        Some((self.arguments[at].known()?, &self.arguments[at + 1..]))
    }

    /// Whether there is an option of this name: `--name`, its beginning, `--name=…`, or `-n` also among
    /// others.
    pub(super) fn has(&self, options: &[&str]) -> bool {
        has(self.arguments, options)
    }

    /// An error if a word is not known, for it could be any option.
    pub(super) fn all_known(&self) -> Result<(), Refusal> {
        if self.arguments.iter().any(|word| word.surety >= Surety::Whole || self.is_optional(word))
        {
            return Err(self.doubt("one of its words is not known, and could be any option"));
        }
        Ok(())
    }

    /// Whether a pattern could stand for a name that looks like an option.
    fn is_optional(&self, word: &Word) -> bool {
        word.surety == Surety::Pattern
            && word.text.starts_with(['*', '?', '[', '-'])
            && self.directories.iter().any(|directory| {
                let listed = std::fs::read_dir(directory);
                word.text.starts_with('-')
                    || listed.map_or(true, |mut listed| {
                        listed.any(|entry| {
                            entry.is_ok_and(|entry| {
                                entry.file_name().as_encoded_bytes().starts_with(b"-")
                            })
                        })
                    })
            })
    }

    /// The arguments that are no options. `valued` are the options whose value is the next word.
    pub(super) fn operands(&self, valued: &[&str]) -> Vec<&'a Word> {
        operands(self.arguments, valued)
    }

    /// What it reads from standard input, if that is known: a here-document, or what `echo` says.
    pub(super) fn input(&self) -> Option<String> {
        match self.stdin {
            Stdin::Text(word) => word.known().map(str::to_owned),
            Stdin::Pipe => {
                let before = self.before?;
                let (name, said) = before.words.split_first()?;
                let said: Vec<&str> = said.iter().map(Word::known).collect::<Option<_>>()?;
                let is_echo = match name.known()? {
                    "echo" => !said.first().is_some_and(|first| first.starts_with('-')),
                    "printf" => said.len() == 1 && !said[0].contains('%'),
                    _ => false,
                };
                // Some of them make something else of a backslash.
                let is_plain = said.iter().all(|word| !word.contains('\\'));
                (is_echo && is_plain).then(|| said.join(" "))
            }
            Stdin::Inherited | Stdin::File(_) => None,
        }
    }
}

pub(super) fn operands<'a>(arguments: &'a [Word], valued: &[&str]) -> Vec<&'a Word> {
    let mut operands = Vec::new();
    let (mut is_value, mut is_over) = (false, false);
    for word in arguments {
        if is_value {
            is_value = false;
        } else if is_over || !word.text.starts_with('-') || word.text == "-" {
            operands.push(word);
        } else if word.text == "--" {
            is_over = true;
        } else {
            is_value = valued.contains(&word.text.as_str());
        }
    }
    operands
}

/// Whether a name stands in a list of names with spaces between.
pub(super) fn is_listed(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|listed| listed == name)
}

pub(super) fn has(words: &[Word], options: &[&str]) -> bool {
    // A `--` ends the options only where it is no value of one.
    words.iter().any(|word| {
        options.iter().any(|option| {
            let text = word.text.as_str();
            if option.starts_with("--") {
                // Many programs take the beginning of a long name for the whole.
                let name = text.split('=').next().unwrap_or(text);
                name.len() > 2 && option.starts_with(name)
            } else {
                let letter = &option[1..];
                text == *option
                    || letter.len() == 1
                        && text.starts_with('-')
                        && !text.starts_with("--")
                        && text.contains(letter)
            }
        })
    })
}
