//! The folder of notes, read without following or changing anything.

use std::collections::BTreeSet;
use std::path::Path;

use ao_corpus::{Document, File, Files, Form, Left};

use super::Settings;
use super::error::{Error, Result, io};

/// A vault with more notes is not one person's; the rest is not looked at, which is said.
const NOTES_MAX: usize = 50_000;
const BOM: char = '\u{feff}';

#[derive(Debug)]
pub(super) struct Note {
    /// From the vault folder, with `/` between names.
    pub(super) path: String,
    pub(super) document: Document,
}

#[derive(Debug, Default)]
pub(super) struct Vault {
    pub(super) notes: Vec<Note>,
    /// Every file, notes among them, and hidden ones.
    pub(super) files: BTreeSet<String>,
    /// Notes that cannot be read, and what is no file.
    pub(super) left: Vec<Left>,
}

impl Note {
    pub(super) fn text(&self) -> &str {
        // A document of Markdown was read from text.
        std::str::from_utf8(self.document.bytes()).unwrap_or_default()
    }

    /// The line on which the body begins, from 1.
    pub(super) fn body_line(&self) -> u64 {
        let head = &self.text()[..self.text().len() - self.document.body().len()];
        1 + head.matches('\n').count() as u64
    }

    /// Whether there is a header, whatever it says.
    pub(super) fn has_header(&self) -> bool {
        let first = self.text().trim_start_matches(BOM).lines().next();
        first.is_some_and(|line| line.trim_end() == "---")
    }

    /// The file's name without its ending.
    pub(super) fn stem(&self) -> &str {
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        name.strip_suffix(".md").unwrap_or(name)
    }

    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// The configured folder, if it is there.
pub(super) fn place(settings: &Settings) -> Result<&Path> {
    let named = settings.vault_dir.as_deref().ok_or(Error::NoVault)?;
    if named.is_dir() { Ok(named) } else { Err(Error::MissingVault(named.to_owned())) }
}

/// Folders of editors and of git are nobody's notes. A path may lead there, but no name.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

impl Vault {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let shown = ao_tree::shown(&folder.to_string_lossy());
        let listed = Files::list_all(folder).map_err(io(format!("read {shown}")))?;
        let mut vault = Self::default();
        vault.left.extend(listed.left.iter().filter(|left| !is_hidden(&left.path)).cloned());
        let read = |file: &File| -> Option<std::result::Result<Note, Left>> {
            if is_hidden(&file.path) || Form::of(&file.path) != Some(Form::Markdown) {
                return None;
            }
            let document =
                listed.read(file).and_then(|bytes| Document::parse(Form::Markdown, bytes));
            Some(match document {
                Ok(document) => Ok(Note { path: file.path.clone(), document }),
                Err(why) => Err(Left { path: ao_tree::shown(&file.path), why }),
            })
        };
        for note in listed.map(read).into_iter().flatten() {
            match note {
                Ok(note) if vault.notes.len() < NOTES_MAX => vault.notes.push(note),
                Ok(note) => vault.left.push(Left {
                    path: ao_tree::shown(&note.path),
                    why: format!("is not looked at: there are more than {NOTES_MAX} notes"),
                }),
                Err(left) => vault.left.push(left),
            }
        }
        vault.files = listed.found.iter().map(|file| file.path.clone()).collect();
        Ok(vault)
    }
}
