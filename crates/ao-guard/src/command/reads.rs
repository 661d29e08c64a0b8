//! What a command reads, held against the list of what an agent does not read.
//!
//! Every word of a program that reads could name a file: as it is, as the value of an option, behind an `@`. Words are
//! judged by every name they could come out as, in every folder the shell could be in. A name that is made up
//! while the text runs cannot be judged; where one is read, nothing that the text itself says may be such
//! a name.

use std::path::{Path, PathBuf};

use super::searches::{grep, is_searcher, is_sought_by_option, operands, ripgrep};
use super::spelling::{Sign, Spelling, spellings};
use super::words::{Call, is_listed};
use super::{Judged, Walk, doubt};
use crate::scope::{Case, Globs, Refusal, Rule};
use crate::secret_paths::{ReadDepth, Walked, Wanted, lexical};
use crate::shell::{Command, Stdin, Word};

/// Programs whose words are said or compared, and not read from.
const NOT_READING: &str = "\
    : [ basename break cd continue declare dirname echo exit export expr false let local numfmt \
    printenv printf pwd read readonly return seq set shift sleep test true type typeset ulimit \
    umask unset wait which whoami";
/// Options whose value is a pattern, and no file.
const PATTERNS: [&str; 11] = [
    "-e",
    "--regexp",
    "--expression",
    "--include",
    "--exclude",
    "--exclude-dir",
    "-g",
    "--glob",
    "-name",
    "-iname",
    "-path",
];
/// Places for reading; a shell that could be in more could be anywhere.
const PLACES_MAX: usize = 24;
const MENTIONS_MAX: usize = 4096;
const MATCHED_MAX: usize = 2000;

impl Walk<'_> {
    /// What a text says that could become the name of a file, and what its variables are given.
    pub(super) fn remember(&mut self, command: &Command) {
        let given = command.words.iter().skip(1).filter_map(|word| {
            let at = word.text.find('=')?;
            Some((word.text[..at].to_owned(), word.after(at + 1)))
        });
        self.values.extend(given);
        if command.words.first().is_some_and(|word| word.text == "read") {
            let unknown = |word: &Word| (word.text.clone(), Word::unknown());
            self.values.extend(command.words[1..].iter().map(unknown));
        }
        let values = command.assignments.iter().map(|(_, value)| value);
        self.mentions.extend(command.words.iter().skip(1).chain(values).cloned());
        if let Stdin::Text(text) = &command.stdin {
            self.mentions.push(text.clone());
        }
        self.mentions.truncate(MENTIONS_MAX);
    }

    /// Every way in which a word could come out.
    pub(super) fn ways(&self, word: &Word) -> Vec<Spelling> {
        let values = |name: &str| -> Vec<Word> {
            let mut found: Vec<Word> = match name {
                "PWD" => {
                    self.places.iter().map(|place| Word::literal(place.to_string_lossy())).collect()
                }
                _ => {
                    self.policy.secret_paths.variable(name).map(Word::literal).into_iter().collect()
                }
            };
            let given = self.values.iter().filter(|(known, _)| known == name);
            found.extend(given.map(|(_, value)| value.clone()));
            found
        };
        spellings(word, &values)
    }

    /// Refuses a program that would read a secret.
    pub(super) fn judge_reads(&mut self, call: &Call<'_>) -> Judged {
        let name = call.name.as_str();
        if is_listed(NOT_READING, name) {
            return Ok(());
        }
        let mut is_first = is_searcher(name) && !is_sought_by_option(call);
        let mut before = "";
        for word in call.arguments {
            let is_pattern = PATTERNS.contains(&before);
            before = word.text.as_str();
            if is_pattern {
                continue;
            }
            if is_first && !word.text.starts_with('-') {
                is_first = false;
                continue;
            }
            self.judge_read(word, ReadDepth::Alone)?;
        }
        self.judge_whole_folders(call)
    }

    /// Refuses a word that could name what an agent does not read.
    pub(super) fn judge_read(&mut self, word: &Word, depth: ReadDepth) -> Judged {
        if !self.refusals.is_empty() {
            // It is refused already.
            return Ok(());
        }
        let is_elsewhere = word.text.contains("://") && !word.text.contains("file:");
        if is_elsewhere {
            return Ok(());
        }
        for spelling in self.ways(word) {
            self.judge_spelling(&spelling, depth)?;
            // The value of an option, of `if=`, of `@file`, of `commit:path` and of an address.
            let mut at = 0;
            while let Some(next) =
                ['=', '@', ':'].iter().filter_map(|l| spelling.from(at).past(*l)).min()
            {
                at += next;
                self.judge_spelling(&spelling.from(at), depth)?;
            }
            if spelling.0.first() == Some(&Sign::Plain('-')) && spelling.0.len() > 2 {
                self.judge_spelling(&spelling.from(2), depth)?;
            }
        }
        Ok(())
    }

    fn judge_spelling(&mut self, spelling: &Spelling, depth: ReadDepth) -> Judged {
        if spelling.0.is_empty() || spelling.0.first() == Some(&Sign::Plain('-')) {
            return Ok(());
        }
        for whole in self.with_home(spelling) {
            if whole.is_open() {
                self.is_computed = true;
            }
            let names = whole.names();
            let is_absolute = names.first().is_some_and(String::is_empty);
            let places = if is_absolute { vec![PathBuf::from("/")] } else { self.places.clone() };
            let text = whole.text();
            if text.contains('\0') {
                continue;
            }
            for place in places {
                if whole.is_open() || whole.has_pattern() {
                    let start = self.judge_start(&place, &names, &text)?;
                    if !whole.is_open() {
                        self.judge_matches(start, &names, &text)?;
                    }
                } else {
                    self.judge_path(&place.join(text.trim_start_matches("//")), depth, &text)?;
                }
            }
        }
        Ok(())
    }

    fn judge_path(&self, path: &Path, depth: ReadDepth, shown: &str) -> Judged {
        match self.policy.secret_paths.why_hidden(path, depth) {
            Some(why) => Err(secret(shown, &why)),
            None => Ok(()),
        }
    }

    /// A tilde put in.
    fn with_home(&self, spelling: &Spelling) -> Vec<Spelling> {
        if spelling.0.first() != Some(&Sign::Special('~')) {
            return vec![spelling.clone()];
        }
        let end = spelling.0.iter().position(|sign| sign.is('/')).unwrap_or(spelling.0.len());
        let (user, rest) = (Spelling(spelling.0[1..end].to_vec()).text(), &spelling.0[end..]);
        let own = self.policy.secret_paths.homes();
        let mut homes: Vec<PathBuf> = match user.as_str() {
            "" => own.to_vec(),
            "+" | "-" => self.places.clone(),
            user => own.iter().filter(|home| home.ends_with(user)).cloned().collect(),
        };
        if user.is_empty() || user == "root" {
            homes.push("/root".into());
        }
        if !user.is_empty() {
            homes.extend([Path::new("/home").join(&user), Path::new("/Users").join(&user)]);
        }
        let put_in = |home: PathBuf| {
            let home = Spelling::plain(&home.to_string_lossy());
            Spelling([home.0.as_slice(), rest].concat())
        };
        homes.into_iter().map(put_in).collect()
    }

    /// Before its first open name, a word must lead to nothing hidden.
    fn judge_start(&self, place: &Path, names: &[String], shown: &str) -> Result<PathBuf, Refusal> {
        let first = names.iter().position(|name| is_pattern(name)).unwrap_or(names.len());
        let mut start = place.to_owned();
        start.extend(names[..first].iter().map(|name| plain(name)));
        self.judge_path(&start, ReadDepth::Alone, shown)?;
        // A name that begins with a dot in a home is hidden, whatever the rest of it.
        if let Some(name) = names.get(first).filter(|name| name.starts_with('.'))
            && !start.starts_with(self.policy.project.root())
        {
            let like = start.join(plain(name).replace(['*', '?', '[', ']'], "-"));
            self.judge_path(&like, ReadDepth::Alone, shown)?;
        }
        Ok(start)
    }

    /// A pattern reads what it matches.
    fn judge_matches(&self, start: PathBuf, names: &[String], shown: &str) -> Judged {
        let first = names.iter().position(|name| is_pattern(name)).unwrap_or(names.len());
        let mut found = vec![start];
        for name in &names[first..] {
            if name == "**" {
                for folder in &found {
                    self.judge_whole(folder, &Wanted::default(), shown)?;
                }
            }
            let glob = Globs::parse([name.as_str()], Case::Folded);
            let mut next = Vec::new();
            for folder in &found {
                let (Ok(glob), true) = (&glob, is_pattern(name)) else {
                    next.push(folder.join(plain(name)));
                    continue;
                };
                let Ok(entries) = std::fs::read_dir(folder) else { continue };
                let entries = entries.flatten().map(|entry| entry.file_name());
                let fitting = entries.filter(|entry| {
                    let entry = entry.to_string_lossy();
                    (!entry.starts_with('.') || name.starts_with(['.', '[', '\\']))
                        && glob.matching(&entry).is_some()
                });
                next.extend(fitting.map(|entry| folder.join(entry)));
            }
            if next.len() > MATCHED_MAX {
                return Err(doubt(shown, "the pattern stands for too many files to be judged"));
            }
            found = next;
        }
        found.iter().try_for_each(|path| self.judge_path(path, ReadDepth::Alone, shown))
    }

    /// Everything beneath a folder, or what of it is wanted.
    pub(super) fn judge_whole(&self, folder: &Path, wanted: &Wanted, shown: &str) -> Judged {
        let folder = &lexical(folder);
        // The project is looked through, for it may be a home; all else is judged by what it could hold.
        let is_own = folder.starts_with(self.policy.project.root());
        let depth = if is_own { ReadDepth::Alone } else { ReadDepth::Beneath };
        self.judge_path(folder, depth, shown)?;
        match self.policy.secrets_in(folder, wanted) {
            Walked::Clean => Ok(()),
            Walked::Secrets { paths, why } => {
                let path = paths.first().map_or(folder.as_path(), PathBuf::as_path);
                let path = path.strip_prefix(self.policy.project.root()).unwrap_or(path);
                let why = format!(
                    "{} is among what it reads, and {why}; name a narrower folder, or leave it out",
                    path.display()
                );
                Err(secret(shown, &why))
            }
            Walked::TooLarge => {
                Err(doubt(shown, "it holds too many files to be judged; name a narrower folder"))
            }
        }
    }

    /// Of programs that read whole folders, the folders.
    fn judge_whole_folders(&mut self, call: &Call<'_>) -> Judged {
        let (wanted, is_whole) = match call.name.as_str() {
            "grep" | "egrep" | "fgrep" => grep(call),
            "rg" | "ag" => ripgrep(call),
            "diff" => (Wanted::default(), call.has(&["-r", "--recursive"])),
            "git" => return self.judge_git_reads(call),
            "ls" | "fd" | "fdfind" => {
                let wanted = Wanted {
                    has_hidden_left_out: !call.has(&["-a", "-A", "-H", "-u", "--hidden", "--all"]),
                    is_shallow: call.name == "ls" && !call.has(&["-R", "--recursive"]),
                    ..Wanted::default()
                };
                self.remember_listing(operands(call), wanted);
                return Ok(());
            }
            _ => return Ok(()),
        };
        if !is_whole {
            return Ok(());
        }
        let is_fed = call.name == "rg" && !matches!(call.stdin, Stdin::Inherited);
        for (folder, shown) in self.folders(operands(call), is_fed) {
            self.judge_whole(&folder, &wanted, &shown)?;
        }
        Ok(())
    }

    /// Git reads what it does not track only where it is told to.
    fn judge_git_reads(&mut self, call: &Call<'_>) -> Judged {
        let wanted = Wanted {
            has_ignored_left_out: !call.has(&["--no-index", "--ignored", "--no-exclude-standard"]),
            ..Wanted::default()
        };
        let is_whole = call.has(&["--no-index", "--untracked"]);
        if is_whole {
            let mut folders = self.folders(operands(call), false);
            folders.extend(self.folders(Vec::new(), false));
            for (folder, shown) in folders {
                self.judge_whole(&folder, &wanted, &shown)?;
            }
        }
        let is_listing = |word: &Word| {
            word.text == "status" || word.text == "ls-files" && call.has(&["-o", "--others"])
        };
        if call.arguments.iter().any(is_listing) {
            self.remember_listing(Vec::new(), wanted);
        }
        Ok(())
    }

    /// Folders whose names are listed, and may be read by something else.
    pub(super) fn remember_listing(&mut self, folders: Vec<&Word>, wanted: Wanted) {
        let folders = self.folders(folders, false);
        // Whoever reads by a name follows a link.
        let wanted = Wanted { follows_links: true, ..wanted };
        self.listings.extend(folders.into_iter().map(|(folder, _)| (folder, wanted.clone())));
    }

    /// The folders that words name, or those in which the shell could be.
    fn folders(&self, words: Vec<&Word>, is_fed: bool) -> Vec<(PathBuf, String)> {
        if words.is_empty() && !is_fed {
            return self.places.iter().map(|place| (place.clone(), ".".to_owned())).collect();
        }
        let mut folders = Vec::new();
        for word in words {
            for spelling in self.ways(word).iter().flat_map(|way| self.with_home(way)) {
                let text = spelling.text();
                folders.extend(self.places.iter().map(|place| (place.join(&text), text.clone())));
            }
        }
        folders
    }

    /// Where a name that is made up is read, nothing that the text says may be that of a secret.
    pub(super) fn judge_mentions(&mut self) -> Judged {
        if !self.is_computed || !self.refusals.is_empty() {
            return Ok(());
        }
        for (folder, wanted) in std::mem::take(&mut self.listings) {
            self.judge_whole(&folder, &wanted, &folder.to_string_lossy())?;
        }
        for word in std::mem::take(&mut self.mentions) {
            for spelling in self.ways(&word) {
                let apart =
                    |sign: &Sign| " \t\n=:;|&<>()'\"`".chars().any(|letter| sign.is(letter));
                for token in spelling.0.split(apart).filter(|token| !token.is_empty()) {
                    self.judge_spelling(&Spelling(token.to_vec()), ReadDepth::Alone)?;
                }
            }
        }
        Ok(())
    }

    /// Everywhere that the shell could be after this `cd`, for what is read there.
    pub(super) fn remember_place(&mut self, word: &Word) -> Judged {
        if !self.refusals.is_empty() {
            return Ok(());
        }
        self.judge_read(word, ReadDepth::Alone)?;
        let ways = self.ways(word);
        let mut next = Vec::new();
        let ways: Vec<Spelling> = ways.iter().flat_map(|way| self.with_home(way)).collect();
        for spelling in ways {
            if spelling.is_open() || spelling.has_pattern() {
                self.is_computed = true;
                continue;
            }
            next.extend(self.places.iter().map(|place| lexical(&place.join(spelling.text()))));
        }
        self.places.extend(next);
        self.places.sort();
        self.places.dedup();
        if self.places.len() > PLACES_MAX {
            self.places.truncate(PLACES_MAX);
            return Err(doubt("cd", "the shell could be in too many folders"));
        }
        Ok(())
    }
}

/// Whether a name, as a glob, stands for others.
fn is_pattern(name: &str) -> bool {
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '*' | '?' | '[' => return true,
            _ => {}
        }
    }
    false
}

/// A name as it is, of one that was written as a glob.
fn plain(name: &str) -> String {
    name.replace('\\', "")
}

fn secret(shown: &str, why: &str) -> Refusal {
    Refusal::new(Rule::Secret, shown, format!("an agent does not read secrets: {why}"))
}
