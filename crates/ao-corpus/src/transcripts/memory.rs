//! What makers' programs wrote down for themselves: Claude Code's `memory/*.md`, Codex's `memories/`.
//!
//! It is a model's word, however often it was read since. Each point of a list, and each paragraph, is a
//! lesson if it claims something.

use ao_contract::{LessonKind, Trust};

use super::own_words::own_words;
use super::rules::Said;
use super::sentence::cut;
use super::watch::{Lessons, Place, Scene, add};
use super::whose::Own;
use crate::document::{Document, Form};

const CLAIM_CHARS_MAX: usize = 600;
const TITLE_CHARS_MAX: usize = 90;
/// A longer line is no note.
const LINE_CHARS_MAX: usize = 2000;

/// Which parts of a file count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// It lies where only this repository's do.
    All,
    /// It tells of all repositories: only what stands beneath the name of a folder of this one.
    Named,
}

/// The lessons of a memory file.
pub(super) fn lessons(
    text: &str,
    scope: Scope,
    own: &Own,
    scene: Scene<'_>,
    lessons: &mut Lessons,
) {
    let mut is_ours = scope == Scope::All;
    let mut is_code = false;
    let mut is_header = false;
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim();
        if number == 0 && bare == "---" {
            is_header = true;
            continue;
        }
        if is_header && bare == "---" {
            is_header = false;
            continue;
        }
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_code = !is_code;
        }
        // Beneath a heading of the first rank another repository begins.
        if scope == Scope::Named && bare.starts_with("# ") {
            is_ours = false;
        }
        if scope == Scope::Named
            && let Some(folder) = folder_of(bare)
        {
            is_ours = own.holds(folder);
            continue;
        }
        let is_note = !is_header && !is_code && !bare.starts_with('#') && !bare.is_empty();
        if !is_note || !is_ours || bare.chars().count() > LINE_CHARS_MAX {
            continue;
        }
        let note =
            ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare);
        if !is_claim(note) {
            continue;
        }
        let claim = cut(note.trim(), CLAIM_CHARS_MAX);
        let title = note.replace("**", "");
        let title = cut(title.trim().trim_end_matches('.'), TITLE_CHARS_MAX);
        let place = Place { line: number as u64 + 1, at: None, scene };
        if (scene.is_secret)(note) {
            lessons.secret += 1;
            continue;
        }
        let said = Said { claim, title, question: None };
        add(LessonKind::Memory, Trust::Model, &said, None, None, place, lessons);
    }
}

/// The folder that a line names: `cwd: /a/b`, `applies_to: cwd=/a/b; …`.
fn folder_of(line: &str) -> Option<&str> {
    let at = line.find("cwd")?;
    let rest = line[at + 3..].trim_start().strip_prefix([':', '='])?.trim_start();
    let rest = rest.trim_start_matches(['`', '"']);
    let end = rest.find([';', '`', '"', ',']).unwrap_or(rest.len());
    Some(rest[..end].trim()).filter(|folder| folder.starts_with('/'))
}

/// Whether a note says something of something in particular.
fn is_claim(note: &str) -> bool {
    let is_own = own_words(note).is_some();
    let document = || Document::parse(Form::Markdown, format!("{note}\n").into_bytes());
    is_own && document().is_ok_and(|document| crate::signals::judge(&document).has_claim)
}
