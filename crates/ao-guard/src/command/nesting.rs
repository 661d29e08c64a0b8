//! Programs that start another program: it is the other one that is judged.

use super::words::{Call, has};
use super::{Judged, Walk};
use crate::scope::{Refusal, Rule};
use crate::shell::{Stdin, Surety, Word};

const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Wrappers, and which of their options take a value. What follows the options is the program.
const WRAPPERS: [(&str, &[&str]); 12] = [
    ("nohup", &[]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "-n"]),
    ("time", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &[]),
    ("unbuffer", &[]),
    ("caffeinate", &[]),
    ("taskset", &["-c"]),
];

/// Where `find` starts something, or writes.
const FIND_WRITES: [&str; 4] = ["-fprint", "-fprint0", "-fprintf", "-fls"];
const FIND_STARTS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

impl Walk<'_> {
    pub(super) fn judge_nesting(&mut self, call: &Call<'_>) -> Option<Judged> {
        let name = call.name.as_str();
        if SHELLS.contains(&name) {
            return Some(self.shell(call));
        }
        if let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            return Some(self.wrapper(call, valued));
        }
        match name {
            "env" => Some(self.env(call)),
            "sudo" | "doas" => Some(self.sudo(call)),
            "timeout" => Some(self.timeout(call)),
            "xargs" => Some(self.xargs(call)),
            "find" => Some(self.find(call)),
            "eval" => Some(self.eval(call)),
            "watch" => Some(self.watch(call)),
            "source" | "." | "trap" | "alias" | "enable" | "bind" => {
                Some(Err(call.doubt("it runs text that is not known beforehand")))
            }
            "pushd" | "popd" => {
                self.is_lost = true;
                Some(Ok(()))
            }
            _ => None,
        }
    }

    fn inner(&mut self, call: &Call<'_>, words: &[Word]) -> Judged {
        if words.first().and_then(Word::known) == Some("cd") {
            self.is_lost = true;
            return Ok(());
        }
        self.call(words, call.stdin, call.before, call.directories)
    }

    fn text(&mut self, text: &Word) -> Judged {
        let Some(known) = text.known() else {
            let why = "the text that a shell would run is not known beforehand";
            return Err(Refusal::new(Rule::Doubt, "shell", why));
        };
        // A shell of its own: what it does to its directory ends with it.
        let (chains, possible) = (self.chains.clone(), self.possible.clone());
        let was_lost = self.is_lost;
        self.chains.clear();
        self.depth += 1;
        if self.depth > super::NESTING_MAX {
            let why = "programs start each other too deeply";
            self.refusals.push(Refusal::new(Rule::Doubt, "shell", why));
        } else {
            self.script(known);
        }
        self.depth -= 1;
        (self.chains, self.possible, self.is_lost) = (chains, possible, was_lost);
        Ok(())
    }

    /// `sh -c TEXT`, or `sh` that reads a text that is known.
    fn shell(&mut self, call: &Call<'_>) -> Judged {
        let mut words = call.arguments.iter();
        while let Some(word) = words.next() {
            match word.known() {
                Some("-c" | "-lc" | "-ec" | "-lec" | "-euc" | "-xc" | "-ic" | "-cl" | "-ce") => {
                    let text = words.next().ok_or_else(|| call.doubt("there is no text to run"))?;
                    return self.text(text);
                }
                Some(
                    "-l" | "-e" | "-u" | "-x" | "-eu" | "-ex" | "-eux" | "--login" | "--norc"
                    | "--noprofile" | "-s" | "-",
                ) => {}
                Some("-n") => return self.reads(call),
                Some("-o") => drop(words.next()),
                _ => return Err(call.doubt("it runs a script that nobody has read")),
            }
        }
        match call.input() {
            Some(text) => self.text(&Word::literal(text)),
            None => Err(call.doubt("it runs whatever it reads")),
        }
    }

    fn eval(&mut self, call: &Call<'_>) -> Judged {
        let known: Option<Vec<&str>> = call.arguments.iter().map(Word::known).collect();
        let text = known.ok_or_else(|| call.doubt("it runs text that is not known beforehand"))?;
        self.is_lost |= text.iter().any(|word| word.contains("cd"));
        self.text(&Word::literal(text.join(" ")))
    }

    fn wrapper(&mut self, call: &Call<'_>, valued: &[&str]) -> Judged {
        let looks = ["-v", "-V"];
        if call.name == "command"
            && call.arguments.first().is_some_and(|word| looks.contains(&word.text.as_str()))
        {
            return self.reads(call);
        }
        let mut at = 0;
        while let Some(word) = call.arguments.get(at).filter(|word| word.text.starts_with('-')) {
            let is_odd = word.text.contains('=') || call.name == "time" && word.text != "-p";
            if word.surety != Surety::Literal || is_odd {
                return Err(call.doubt("one of its options is not known"));
            }
            at += if valued.contains(&word.text.as_str()) { 2 } else { 1 };
        }
        // `nice -5`, `taskset MASK`: what is left over is judged as a program, and is none.
        match call.arguments.get(at..) {
            Some([]) | None if call.name == "exec" => Ok(()),
            Some(words) => self.inner(call, words),
            None => Err(call.doubt("there is no program")),
        }
    }

    fn env(&mut self, call: &Call<'_>) -> Judged {
        let mut at = 0;
        while let Some(word) = call.arguments.get(at) {
            let Some(text) = word.text.split_once('=').map(|(name, _)| name).or(word.known())
            else {
                return Err(call.doubt("one of its words is not known"));
            };
            if word.text.starts_with('-') {
                match text {
                    "-i" | "-" | "--ignore-environment" | "-0" | "--null" => at += 1,
                    "-u" | "--unset" => at += 2,
                    _ => return Err(call.doubt("one of its options is not known")),
                }
            } else if let Some((name, value)) = word.text.split_once('=') {
                let value = Word { text: value.to_owned(), surety: word.surety };
                super::variables::assignment(name, &value)?;
                at += 1;
            } else {
                return self.inner(call, &call.arguments[at..]);
            }
        }
        self.reads(call)
    }

    fn sudo(&mut self, call: &Call<'_>) -> Judged {
        let at = call.arguments.iter().position(|word| !word.text.starts_with('-'));
        let options = &call.arguments[..at.unwrap_or(call.arguments.len())];
        if options.iter().any(|word| !matches!(word.text.as_str(), "-n" | "--" | "-E")) {
            return Err(call.doubt("it becomes somebody else in a way that is not known"));
        }
        match at {
            Some(at) => self.inner(call, &call.arguments[at..]),
            None => Err(call.doubt("there is no program")),
        }
    }

    fn timeout(&mut self, call: &Call<'_>) -> Judged {
        let mut at = 0;
        while let Some(word) = call.arguments.get(at).filter(|word| word.text.starts_with('-')) {
            at += if matches!(word.text.as_str(), "-k" | "-s" | "--kill-after" | "--signal") {
                2
            } else {
                1
            };
        }
        // The time itself.
        match call.arguments.get(at + 1..) {
            Some(words) if !words.is_empty() => self.inner(call, words),
            _ => Err(call.doubt("there is no program")),
        }
    }

    /// The program gets words that nobody knows.
    fn xargs(&mut self, call: &Call<'_>) -> Judged {
        let valued = ["-n", "-L", "-P", "-s", "-d", "-I", "-E", "-a"];
        let mut at = 0;
        while let Some(word) = call.arguments.get(at).filter(|word| word.text.starts_with('-')) {
            if word.surety != Surety::Literal
                || has(std::slice::from_ref(word), &["-a", "--arg-file"])
            {
                return Err(call.doubt("one of its options is not known"));
            }
            at += if valued.contains(&word.text.as_str()) { 2 } else { 1 };
        }
        let mut words = call.arguments.get(at..).unwrap_or_default().to_vec();
        if words.is_empty() {
            return self.reads(call);
        }
        words.push(Word::unknown());
        self.call(&words, &Stdin::Inherited, None, call.directories)
    }

    fn find(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let is_one_of = |word: &Word, names: &[&str]| names.contains(&word.text.as_str());
        if call.arguments.iter().any(|word| is_one_of(word, &FIND_WRITES)) {
            return Err(call.doubt("it writes a list of files"));
        }
        let mut rest = call.arguments;
        while let Some(at) = rest.iter().position(|word| is_one_of(word, &FIND_STARTS)) {
            let after = &rest[at + 1..];
            let end = after.iter().position(|word| matches!(word.text.as_str(), ";" | "+"));
            let end = end.ok_or_else(|| call.doubt("a command in it has no end"))?;
            let words: Vec<Word> = after[..end]
                .iter()
                .map(|word| if word.text.contains("{}") { Word::unknown() } else { word.clone() })
                .collect();
            self.call(&words, &Stdin::Inherited, None, call.directories)?;
            rest = &after[end + 1..];
        }
        self.reads(call)
    }

    fn watch(&mut self, call: &Call<'_>) -> Judged {
        let words = call.operands(&["-n", "--interval"]);
        let known: Option<Vec<&str>> = words.iter().map(|word| word.known()).collect();
        match known {
            Some(text) if !text.is_empty() => self.text(&Word::literal(text.join(" "))),
            _ => Err(call.doubt("what it would run is not known")),
        }
    }
}
