//! Programs that start another program: it is the other one that is judged.

use super::options::Options;
use super::searches::{find_starts, found};
use super::words::Call;
use super::{Judged, Walk};
use crate::scope::{Refusal, Rule};
use crate::shell::{Stdin, Surety, Word};

const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Wrappers, and which options they have. What follows the options is the program.
const WRAPPERS: [(&str, Options); 12] = [
    ("nohup", options("", "", "")),
    ("nice", options("", "n", "adjustment=")),
    ("ionice", options("t", "cn", "")),
    ("time", options("p", "", "")),
    ("stdbuf", options("", "ioe", "input= output= error=")),
    ("setsid", options("cfw", "", "wait fork ctty")),
    ("command", options("p", "", "")),
    ("builtin", options("", "", "")),
    ("exec", options("cl", "a", "")),
    ("unbuffer", options("p", "", "")),
    ("caffeinate", options("disum", "tw", "")),
    ("taskset", options("a", "c", "")),
];
const TIMEOUT: Options =
    options("fpv", "ks", "foreground preserve-status verbose kill-after= signal=");
const XARGS: Options = options(
    "0rtx",
    "nLPsdIE",
    "null no-run-if-empty verbose max-args= max-lines= max-procs= delimiter= replace replace=",
);
const ENV: Options = options("i0v", "u", "ignore-environment null unset=");
const WATCH: Options = options("bcdegt", "n", "interval= differences color");

/// What other shells than bash read in another way.
const OF_BASH: [&str; 8] = ["[[", "$'", "$\"", "<(", ">(", "<<<", "&>", "|&"];

const fn options(flags: &'static str, valued: &'static str, long: &'static str) -> Options {
    Options { flags, valued, long }
}

/// Where `find` starts something, or writes.
const FIND_WRITES: [&str; 4] = ["-fprint", "-fprint0", "-fprintf", "-fls"];
const FIND_STARTS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

impl Walk<'_> {
    pub(super) fn judge_nesting(&mut self, call: &Call<'_>) -> Option<Judged> {
        let name = call.name.as_str();
        if SHELLS.contains(&name) {
            return Some(self.shell(call));
        }
        if let Some((_, options)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            return Some(self.wrapper(call, *options));
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
                Some(call.arguments.iter().try_for_each(|word| self.remember_place(word)))
            }
            _ => None,
        }
    }

    fn inner(&mut self, call: &Call<'_>, words: &[Word]) -> Judged {
        if words.first().and_then(Word::known) == Some("cd") {
            self.is_lost = true;
            return words[1..].iter().try_for_each(|word| self.remember_place(word));
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
        let (was_lost, given) = (self.is_lost, self.given.len());
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
        self.given.truncate(given);
        Ok(())
    }

    /// A text for a shell that need not be bash.
    fn plain_text(&mut self, text: &Word) -> Judged {
        if OF_BASH.iter().any(|word| text.text.contains(word)) {
            let why = "another shell than bash would read this text in another way";
            return Err(Refusal::new(Rule::Doubt, "shell", why));
        }
        self.text(text)
    }

    fn text_for(&mut self, call: &Call<'_>, text: &Word) -> Judged {
        if call.name == "bash" { self.text(text) } else { self.plain_text(text) }
    }

    /// `sh -c TEXT`, or `sh` that reads a text that is known.
    fn shell(&mut self, call: &Call<'_>) -> Judged {
        let mut words = call.arguments.iter();
        while let Some(word) = words.next() {
            match word.known() {
                Some("-c" | "-lc" | "-ec" | "-lec" | "-euc" | "-xc" | "-ic" | "-cl" | "-ce") => {
                    let text = words.next().ok_or_else(|| call.doubt("there is no text to run"))?;
                    return self.text_for(call, text);
                }
                Some(
                    "-l" | "-e" | "-u" | "-x" | "-eu" | "-ex" | "-eux" | "--login" | "--norc"
                    | "--noprofile" | "-s" | "-",
                ) => {}
                // A `+n` after it would have it run all the same.
                Some("-n") => {
                    let rest: Vec<&Word> = words.collect();
                    return match rest.as_slice() {
                        [file] if file.known().is_some_and(|f| !f.starts_with(['-', '+'])) => {
                            self.reads(call)
                        }
                        _ => Err(call.doubt("it runs a script that nobody has read")),
                    };
                }
                Some("-o") if words.next().and_then(Word::known).is_some() => {}
                _ => return Err(call.doubt("it runs a script that nobody has read")),
            }
        }
        match call.input() {
            Some(text) => self.text_for(call, &Word::literal(text)),
            None => Err(call.doubt("it runs whatever it reads")),
        }
    }

    fn eval(&mut self, call: &Call<'_>) -> Judged {
        let known: Option<Vec<&str>> = call.arguments.iter().map(Word::known).collect();
        let text = known.ok_or_else(|| call.doubt("it runs text that is not known beforehand"))?;
        let judged = self.text(&Word::literal(text.join(" ")));
        // It runs in this very shell, and may have left for elsewhere.
        self.is_lost = true;
        judged
    }

    fn wrapper(&mut self, call: &Call<'_>, options: Options) -> Judged {
        let looks = ["-v", "-V"];
        if call.name == "command"
            && call.arguments.first().is_some_and(|word| looks.contains(&word.text.as_str()))
        {
            return self.reads(call);
        }
        let (_, at) = options.read(call)?;
        // `nice -5`, `taskset MASK`: what is left over is judged as a program, and is none.
        match call.arguments.get(at..) {
            Some([]) | None if call.name == "exec" => Ok(()),
            Some(words) => self.inner(call, words),
            None => Err(call.doubt("there is no program")),
        }
    }

    fn env(&mut self, call: &Call<'_>) -> Judged {
        let (_, mut at) = ENV.read(call)?;
        let given = self.given.len();
        let judged = loop {
            let Some(word) = call.arguments.get(at) else { break self.reads(call) };
            if word.text == "-" {
                at += 1;
            } else if let Some((name, value)) = word.text.split_once('=') {
                if word.surety == Surety::Unknown {
                    break Err(call.doubt("one of its words could be several"));
                }
                let value = word.after(word.text.len() - value.len());
                super::variables::assignment(name, &value)?;
                self.given.push(name.to_owned());
                at += 1;
            } else {
                break self.inner(call, &call.arguments[at..]);
            }
        };
        self.given.truncate(given);
        judged
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
        let (_, at) = TIMEOUT.read(call)?;
        match call.arguments.get(at..) {
            Some([time, words @ ..]) if time.known().is_some() && !words.is_empty() => {
                self.inner(call, words)
            }
            _ => Err(call.doubt("there is no program")),
        }
    }

    /// The program gets words that nobody knows, and they can stand anywhere in it.
    fn xargs(&mut self, call: &Call<'_>) -> Judged {
        let (given, at) = XARGS.read(call)?;
        let replaced = given.iter().find(|option| matches!(option.name.as_str(), "I" | "replace"));
        let replaced = replaced.map(|option| option.value.as_deref().unwrap_or("{}"));
        let mut words = call.arguments.get(at..).unwrap_or_default().to_vec();
        if words.is_empty() {
            return self.reads(call);
        }
        for word in &mut words {
            if replaced.is_some_and(|text| word.text.contains(text)) {
                *word = Word::unknown();
            }
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
        let (starts, wanted) = (find_starts(call.arguments), found(call.arguments));
        let is_started = call.arguments.iter().any(|word| is_one_of(word, &FIND_STARTS));
        self.remember_listing(starts.iter().collect(), wanted);
        self.is_computed |= is_started;
        let mut rest = call.arguments;
        while let Some(at) = rest.iter().position(|word| is_one_of(word, &FIND_STARTS)) {
            let after = &rest[at + 1..];
            // A `+` ends the command only after `{}`; elsewhere it is one of its words.
            let end = (0..after.len()).find(|end| match after[*end].text.as_str() {
                ";" => true,
                "+" => *end > 0 && after[*end - 1].text == "{}",
                _ => false,
            });
            let end = end.ok_or_else(|| call.doubt("a command in it has no end"))?;
            let words: Vec<Word> = after[..end]
                .iter()
                .map(|word| if word.text.contains("{}") { Word::unknown() } else { word.clone() })
                .collect();
            // `-execdir` runs it wherever something was found.
            let was_lost = self.is_lost;
            self.is_lost |= rest[at].text.ends_with("dir");
            let judged = self.call(&words, &Stdin::Inherited, None, call.directories);
            self.is_lost = was_lost;
            judged?;
            rest = &after[end + 1..];
        }
        self.reads(call)
    }

    fn watch(&mut self, call: &Call<'_>) -> Judged {
        let (_, at) = WATCH.read(call)?;
        let words = call.arguments.get(at..).unwrap_or_default();
        let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
        match known {
            Some(text) if !text.is_empty() => self.plain_text(&Word::literal(text.join(" "))),
            _ => Err(call.doubt("what it would run is not known")),
        }
    }
}
