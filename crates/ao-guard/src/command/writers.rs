//! Programs that write the files they name.

use super::words::Call;
use super::{Judged, Walk};
use crate::scope::{Change, Refusal, Rule, Standing};
use crate::secret_paths::ReadDepth;
use crate::shell::Word;

impl Walk<'_> {
    pub(super) fn judge_writer(&mut self, call: &Call<'_>) -> Option<Judged> {
        let judged = match call.name.as_str() {
            "tee" => self.write_all(call, &[], 0),
            "touch" => self.write_all(call, &["-d", "-t", "-r", "--date", "--reference"], 0),
            "mkdir" => self.write_all(call, &["-m", "--mode"], 0),
            "rmdir" if call.has(&["-p", "--parents"]) => {
                Err(call.doubt("it removes folders that it does not name"))
            }
            "rm" | "rmdir" | "unlink" => self.remove_all(call),
            "truncate" => self.write_all(call, &["-s", "--size", "-r", "--reference"], 0),
            "chmod" | "chown" | "chgrp" => self.change_mode(call),
            "cp" => self.copy(call),
            "mv" => self.move_away(call),
            "ln" | "link" | "symlink" => Err(Refusal::new(
                Rule::Link,
                &call.name,
                "a link could lead out of the scope; no agent makes one",
            )),
            "dd" => self.dd(call),
            "apply_patch" | "applypatch" => self.patch(call),
            _ => return None,
        };
        Some(judged)
    }

    /// Every operand from `from` on is written.
    fn write_all(&mut self, call: &Call<'_>, valued: &[&str], from: usize) -> Judged {
        call.all_known()?;
        for word in call.operands(valued).into_iter().skip(from) {
            self.write_word(word, Change::Unknown, call.directories)?;
        }
        Ok(())
    }

    fn remove_all(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        for word in call.operands(&[]) {
            self.write_word(word, Change::Removed, call.directories)?;
        }
        Ok(())
    }

    fn change_mode(&mut self, call: &Call<'_>) -> Judged {
        if call.has(&["-R", "--recursive", "--reference"]) {
            return Err(call.doubt("it changes files that are not known beforehand"));
        }
        // `chmod -x FILE`: the mode looks like an option.
        let is_mode = |word: &&Word| {
            call.name == "chmod" && word.text.starts_with('-') && word.text.len() > 1
        };
        let has_mode_option = call.arguments.iter().any(|word| is_mode(&word));
        self.write_all(call, &[], usize::from(!has_mode_option))
    }

    /// Where each of the sources would come to stand.
    fn destinations<'c>(&mut self, call: &Call<'c>) -> Result<(Vec<&'c Word>, Vec<Word>), Refusal> {
        call.all_known()?;
        let mut operands = call.operands(&["-S", "--suffix"]);
        let (Some(last), false) = (operands.pop(), operands.is_empty()) else {
            return Err(call.doubt("it has no destination"));
        };
        let unclear = || call.doubt("where it would write is not known beforehand");
        let known = last.known().ok_or_else(unclear)?;
        let folder = known.trim_end_matches('/');
        let is_folder = call.directories.iter().any(|directory| {
            let path = self.policy.project.path_of(folder, directory);
            path.is_ok_and(|path| self.policy.project.look(&path) == Ok(Standing::Folder))
        });
        if !is_folder && operands.len() == 1 && !known.ends_with('/') {
            return Ok((operands, vec![Word::literal(known)]));
        }
        let mut targets = Vec::new();
        for source in &operands {
            let name = source.known().ok_or_else(unclear)?.trim_end_matches('/');
            let name = name.rsplit('/').next().unwrap_or(name);
            targets.push(Word::literal(format!("{folder}/{name}")));
        }
        Ok((operands, targets))
    }

    fn copy(&mut self, call: &Call<'_>) -> Judged {
        let links =
            ["-l", "--link", "-s", "--symbolic-link", "-P", "-d", "--no-dereference", "--preserve"];
        if call.has(&links) {
            let why = "a link could lead out of the scope; no agent makes one";
            return Err(Refusal::new(Rule::Link, &call.name, why));
        }
        let many = [
            "-r",
            "-R",
            "--recursive",
            "-a",
            "--archive",
            "--parents",
            "-t",
            "--target-directory",
            "-b",
            "--backup",
            "-S",
            "--suffix",
        ];
        if call.has(&many) {
            return Err(call.doubt("it writes files that are not known beforehand"));
        }
        let (sources, targets) = self.destinations(call)?;
        for source in sources {
            self.judge_read(source, ReadDepth::Alone)?;
        }
        for target in &targets {
            self.write_word(target, Change::Unknown, call.directories)?;
        }
        Ok(())
    }

    fn move_away(&mut self, call: &Call<'_>) -> Judged {
        if call.has(&["-t", "--target-directory", "-b", "--backup", "-S", "--suffix"]) {
            return Err(call.doubt("where it would write is not known beforehand"));
        }
        let (sources, targets) = self.destinations(call)?;
        for source in sources {
            for path in self.paths(source, call.directories)? {
                if self.policy.judge(&path, Change::Removed)? == Standing::Folder {
                    return Err(call.doubt("it moves a folder with all that is in it"));
                }
            }
        }
        for target in &targets {
            self.write_word(target, Change::Unknown, call.directories)?;
        }
        Ok(())
    }

    fn dd(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        for word in call.arguments {
            if let Some(("of", file)) = word.text.split_once('=') {
                self.write_word(&Word::literal(file), Change::Unknown, call.directories)?;
            }
        }
        self.reads(call)
    }

    fn patch(&mut self, call: &Call<'_>) -> Judged {
        let text = match call.arguments {
            [only] => only.known().map(str::to_owned),
            [] => call.input(),
            _ => None,
        };
        let text = text.ok_or_else(|| call.doubt("the patch is not known beforehand"))?;
        let [directory] = call.directories else {
            return Err(call.doubt("nobody can say in which folder it would be applied"));
        };
        let written = crate::hook::judge_patch(self.policy, &text, directory)?;
        self.effects.extend(written);
        Ok(())
    }
}
