//! What a command would do, told from its words.
//!
//! A command is a reader, a build or a test, a writer whose targets are judged one by one, a program that
//! starts another one, or one of the destructive classes. Everything else is in doubt, and so is a known
//! one with words that are not known beforehand where those words could make it write.

mod build;
mod builtins;
mod deciding;
mod destructive;
mod git;
mod nesting;
mod network;
mod options;
mod packages;
mod readers;
mod reads;
mod searches;
mod sed;
mod spelling;
mod sql;
mod variables;
mod words;
mod writers;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use destructive::Class;

use crate::scope::{Change, Policy, ProjectPath, Refusal, Rule};
use crate::secret_paths::{ReadDepth, Wanted};
use crate::shell::{self, Command, Join, Stdin, Surety, Word};
use variables::assignment;
use words::Call;

const NESTING_MAX: usize = 12;
/// A shell that could be in more places than these could be anywhere.
const DIRECTORIES_MAX: usize = 32;

/// What a command that may run does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Reads { program: String },
    Builds { program: String },
    Writes { path: String },
}

impl Policy {
    /// Whether this shell text may run in this directory.
    pub fn judge_shell(&self, text: &str, directory: &Path) -> Result<Vec<Effect>, Refusal> {
        let mut walk = Walk::new(self, directory);
        walk.script(text);
        walk.verdict()
    }

    /// Whether this program may run with these arguments, with no shell between.
    pub fn judge_argv(&self, argv: &[String], directory: &Path) -> Result<Vec<Effect>, Refusal> {
        let mut walk = Walk::new(self, directory);
        let words: Vec<Word> = argv.iter().map(Word::literal).collect();
        let directories = walk.possible.clone();
        let judged = walk.call(&words, &Stdin::Inherited, None, &directories);
        walk.note(judged);
        walk.verdict()
    }

    /// Whether what a word names may be read by somebody who stands in one of these folders.
    pub(crate) fn judge_read(&self, word: &Word, folders: &[&Path]) -> Result<(), Refusal> {
        let mut walk = Walk::new(self, self.project.root());
        walk.places = folders.iter().map(|folder| (*folder).to_owned()).collect();
        walk.judge_read(word, ReadDepth::Alone)
    }

    /// Whether everything in a folder may be read, or what of it is wanted.
    pub(crate) fn judge_read_whole(&self, folder: &Path, wanted: &Wanted) -> Result<(), Refusal> {
        Walk::new(self, folder).judge_whole(folder, wanted, &folder.to_string_lossy())
    }

    /// Whether this file, or the names in this folder, may be read.
    pub fn judge_read_path(&self, text: &str, directory: &Path) -> Result<(), Refusal> {
        let parts = vec![crate::shell::WordPart::Bare(text.to_owned())];
        let word = Word { text: text.to_owned(), surety: Surety::Pattern, parts };
        self.judge_read(&word, &[directory])
    }
}

/// A walk over commands, with the directories in which each could run.
pub(crate) struct Walk<'a> {
    policy: &'a Policy,
    /// Every directory that the shell could be in by now.
    possible: Vec<PathBuf>,
    /// It could be anywhere.
    is_lost: bool,
    /// Where the commands of a list are for sure, because they run only after a `cd` that succeeded.
    chains: HashMap<usize, Vec<PathBuf>>,
    effects: Vec<Effect>,
    refusals: Vec<Refusal>,
    depth: usize,
    /// Variables that programs get, by name.
    given: Vec<String>,
    /// Where git is asked, for what stands there could be a repository of the agent's making.
    asked_git: Vec<PathBuf>,
    /// Every folder in which something could be read.
    places: Vec<PathBuf>,
    /// What variables are given, anywhere in the text.
    values: Vec<(String, Word)>,
    /// What the text says that could become a name.
    mentions: Vec<Word>,
    /// Folders whose names are listed for something else.
    listings: Vec<(PathBuf, Wanted)>,
    /// Something is read by a name that is made up.
    is_computed: bool,
}

type Judged = Result<(), Refusal>;

impl<'a> Walk<'a> {
    fn new(policy: &'a Policy, directory: &Path) -> Self {
        Self {
            policy,
            possible: vec![directory.to_owned()],
            is_lost: false,
            chains: HashMap::new(),
            effects: Vec::new(),
            refusals: Vec::new(),
            depth: 0,
            given: Vec::new(),
            asked_git: Vec::new(),
            places: vec![directory.to_owned()],
            values: Vec::new(),
            mentions: Vec::new(),
            listings: Vec::new(),
            is_computed: false,
        }
    }

    /// The worst that was found, or all that would be done.
    fn verdict(mut self) -> Result<Vec<Effect>, Refusal> {
        let judged = self.judge_asked_git();
        self.note(judged);
        let judged = self.judge_mentions();
        self.note(judged);
        let worst = self.refusals.iter().find(|refusal| refusal.rule == Rule::Destructive);
        match worst.or(self.refusals.first()) {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(self.effects),
        }
    }

    fn note(&mut self, judged: Judged) {
        self.refusals.extend(judged.err());
    }

    fn script(&mut self, text: &str) {
        let script = shell::read(text);
        self.values.extend(script.values.iter().cloned());
        self.mentions.extend(script.defaults.iter().cloned());
        self.mentions.extend(script.values.iter().map(|(_, value)| value.clone()));
        for command in &script.commands {
            self.remember(command);
        }
        // In a loop a change of directory also holds for what stands before it.
        let moves = ["cd", "pushd", "popd", "eval"];
        self.is_lost |= script.commands.iter().any(|command| {
            let mut words = command.words.iter();
            command.is_repeated && words.any(|word| moves.contains(&word.text.as_str()))
        });
        for command in &script.commands {
            let before = command.fed_by.and_then(|at| script.commands.get(at));
            self.command(command, before);
        }
        if let Some(doubt) = script.doubts.first() {
            let why = format!("the shell text cannot be read for sure: {doubt}");
            self.refusals.push(Refusal::new(Rule::Doubt, "shell", why));
        }
    }

    fn command(&mut self, command: &Command, before: Option<&Command>) {
        if command.join != Join::And {
            self.chains.remove(&command.list);
        }
        let directories =
            self.chains.get(&command.list).cloned().unwrap_or_else(|| self.possible.clone());
        let given = self.given.len();
        for (name, value) in &command.assignments {
            self.note(assignment(name, value));
            if !command.words.is_empty() {
                self.given.push(name.clone());
            }
        }
        for word in &command.reads {
            let judged = self.judge_read(word, ReadDepth::Alone);
            self.note(judged);
        }
        for word in &command.writes {
            let judged = self.write_word(word, Change::Unknown, &directories);
            self.note(judged);
        }
        if command.words.is_empty() {
            return;
        }
        if command.words[0].known() == Some("cd") {
            self.change_directory(command, &directories);
            return;
        }
        let judged = self.call(&command.words, &command.stdin, before, &directories);
        self.note(judged);
        // What `export` adds stays.
        let assigned = command.assignments.len();
        self.given.drain(given..(given + assigned).min(self.given.len()));
    }

    fn change_directory(&mut self, command: &Command, directories: &[PathBuf]) {
        let operands: Vec<&Word> =
            command.words[1..].iter().filter(|word| !matches!(word.text.as_str(), "--")).collect();
        match operands.as_slice() {
            [word] => {
                let judged = self.remember_place(word);
                self.note(judged);
            }
            _ => self.places.extend(self.policy.secret_paths.homes().to_vec()),
        }
        let known = match operands.as_slice() {
            [word] => word.known().filter(|text| !text.starts_with(['-', '~'])),
            _ => None,
        };
        let Some(target) = known else {
            self.is_lost = true;
            return;
        };
        let there: Vec<PathBuf> = directories
            .iter()
            .map(|directory| directory.join(target.trim_end_matches('/')))
            .collect();
        self.possible.extend(there.clone());
        self.possible.sort();
        self.possible.dedup();
        if self.possible.len() > DIRECTORIES_MAX {
            self.possible.truncate(DIRECTORIES_MAX);
            self.is_lost = true;
        }
        // After `||` it may have been passed over, and what follows runs all the same.
        let is_certain = matches!(command.join, Join::Fresh | Join::And) && !command.is_negated;
        if is_certain {
            self.chains.insert(command.list, there);
        }
    }

    /// Judges a program with its arguments.
    fn call(
        &mut self,
        words: &[Word],
        stdin: &Stdin,
        before: Option<&Command>,
        directories: &[PathBuf],
    ) -> Judged {
        self.depth += 1;
        let judged = if self.depth > NESTING_MAX {
            Err(doubt("shell", "programs start each other too deeply"))
        } else {
            deciding::judge(words)
                .and_then(|()| Call::new(words, stdin, before, directories))
                .and_then(|call| self.dispatch(&call))
        };
        self.depth -= 1;
        judged
    }

    fn dispatch(&mut self, call: &Call<'_>) -> Judged {
        self.judge_destructive(call)?;
        let before = self.effects.len();
        let judged = None
            .or_else(|| self.judge_nesting(call))
            .or_else(|| self.judge_reader(call))
            .or_else(|| self.judge_git(call))
            .or_else(|| self.judge_writer(call))
            .or_else(|| self.judge_database(call))
            .or_else(|| self.judge_network(call))
            .or_else(|| self.judge_build(call));
        judged.unwrap_or_else(|| Err(call.doubt("nobody can say what it would write")))?;
        // A variable can lead a program that takes it elsewhere. Builds run the project's own code anyway,
        // and the plainest readers take none.
        let is_led = self.effects[before..].iter().any(|effect| match effect {
            Effect::Reads { program } => !readers::is_plain(program),
            Effect::Builds { .. } | Effect::Writes { .. } => false,
        });
        match self.given.iter().find(|name| !variables::is_harmless_to_all(name)) {
            Some(name) if is_led => {
                Err(doubt(name, "nobody can say what this variable has the program do"))
            }
            _ => Ok(()),
        }
    }

    fn reads(&mut self, call: &Call<'_>) -> Judged {
        self.judge_reads(call)?;
        self.effects.push(Effect::Reads { program: call.name.clone() });
        Ok(())
    }

    fn builds(&mut self, call: &Call<'_>) -> Judged {
        self.judge_reads(call)?;
        self.effects.push(Effect::Builds { program: call.name.clone() });
        Ok(())
    }

    /// Judges the file that a word names, in every directory that it could be meant in.
    fn write_word(&mut self, word: &Word, change: Change<'_>, directories: &[PathBuf]) -> Judged {
        if is_nowhere(word) {
            return Ok(());
        }
        for path in self.paths(word, directories)? {
            self.policy.judge(&path, change)?;
            self.effects.push(Effect::Writes { path: path.as_str().to_owned() });
        }
        Ok(())
    }

    /// The paths that a word stands for.
    fn paths(&self, word: &Word, directories: &[PathBuf]) -> Result<Vec<ProjectPath>, Refusal> {
        if word.surety >= Surety::Whole {
            return Err(doubt(&word.text, "what would be written is not known beforehand"));
        }
        if word.surety == Surety::Pattern {
            return self.matching(word, directories);
        }
        let text = if word.text.len() > 1 { word.text.trim_end_matches('/') } else { &word.text };
        if self.is_lost && !text.starts_with('/') {
            return Err(doubt(text, "nobody can say in which folder it would be written"));
        }
        let paths = directories.iter().map(|folder| self.policy.project.path_of(text, folder));
        paths.collect()
    }

    /// What the shell would put in the place of a pattern in the last name of a path.
    fn matching(&self, word: &Word, directories: &[PathBuf]) -> Result<Vec<ProjectPath>, Refusal> {
        const MATCHED_MAX: usize = 1000;
        let unclear = || doubt(&word.text, "what the pattern stands for is not known beforehand");
        let (folder, name) = word.text.rsplit_once('/').ok_or_else(unclear)?;
        let glob = crate::scope::Globs::parse([name], crate::scope::Case::Exact);
        let [directory] = directories else { return Err(unclear()) };
        if folder.contains(['*', '?', '[']) || self.is_lost || name.contains(['{', '\\']) {
            return Err(unclear());
        }
        let above = self.policy.project.path_of(folder, directory)?;
        let listed = std::fs::read_dir(self.policy.project.root().join(above.as_str()));
        let (glob, listed) = (glob.map_err(|_| unclear())?, listed.map_err(|_| unclear())?);
        let mut paths = Vec::new();
        for entry in listed.take(MATCHED_MAX + 1) {
            let found = entry.map_err(|_| unclear())?.file_name();
            let found = found.to_str().ok_or_else(unclear)?;
            if glob.matching(found).is_some() {
                paths.push(ProjectPath::parse(&format!("{}/{found}", above.as_str()))?);
            }
        }
        if paths.is_empty() || paths.len() > MATCHED_MAX { Err(unclear()) } else { Ok(paths) }
    }
}

fn doubt(subject: &str, why: &str) -> Refusal {
    Refusal::new(Rule::Doubt, subject, why)
}

/// Devices that keep nothing.
fn is_nowhere(word: &Word) -> bool {
    let devices = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    word.known().is_some_and(|text| devices.contains(&text))
}
