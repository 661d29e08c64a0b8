//! All transcripts of this repository: what they teach, and what there is to say about them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use ao_contract::{Extra, LeftAlone, Lesson, TranscriptSource};

use super::LESSONS_A_FILE_MAX;
use super::list::{Form, List, Listed, Root, list};
use super::memo::{Kept, Memo, Whose};
use super::one::{Around, Looked, is_still_elsewhere, look};
use super::whose::Own;
use crate::files::in_parallel;

/// So many files that were left alone are told; the others are counted.
const LEFT_MAX: usize = 20;

/// What reading needs to be told.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub roots: &'a [Root],
    pub root: &'a Path,
    pub own: &'a Own,
    /// Whether a text seems to hold a secret. Such a text comes out of nothing here.
    pub is_secret: &'a (dyn Fn(&str) -> bool + Sync),
}

impl std::fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked").field("roots", &self.roots).finish_non_exhaustive()
    }
}

/// What the transcripts say.
#[derive(Debug)]
pub struct Found {
    pub sources: Vec<TranscriptSource>,
    /// Each once, the newest first.
    pub lessons: Vec<Lesson>,
    pub memo: Memo,
    /// Whether the memo is another one than before.
    pub is_new: bool,
}

/// Reads what is new since `memo` was made.
pub fn read(asked: Asked<'_>, memo: &Memo) -> Found {
    let mut next = Memo::new(asked.root);
    let (mut sources, mut lessons) = (Vec::new(), Vec::new());
    for root in asked.roots {
        let listed = list(root, asked.own);
        if listed.is_there {
            sources.push(source(root, listed, asked, memo, &mut next, &mut lessons));
        }
    }
    let is_new = next != *memo;
    Found { sources, lessons: sorted(lessons), memo: next, is_new }
}

fn source(
    root: &Root,
    list: List,
    asked: Asked<'_>,
    memo: &Memo,
    next: &mut Memo,
    lessons: &mut Vec<Lesson>,
) -> TranscriptSource {
    let List { mut files, left, .. } = list;
    let mut source = TranscriptSource {
        maker: root.maker,
        folder: root.shown.clone(),
        files: files.len() as u64,
        own: 0,
        read: 0,
        bytes: 0,
        elsewhere: 0,
        lessons: 0,
        secret: 0,
        bad_lines: 0,
        left: Vec::new(),
        extra: Extra::new(),
    };
    let mut left: Vec<LeftAlone> = left.into_iter().map(|(path, why)| alone(path, why)).collect();
    // Sessions first: whose they are tells whose the notes beside them are.
    let (mut sessions, notes): (Vec<Listed>, Vec<Listed>) =
        files.drain(..).partition(|file| file.form != Form::Memory);
    let mut looked = look_at(&sessions, asked, memo);
    let mut notes = notes;
    let beside = by_project(&sessions, &looked);
    for note in &mut notes {
        if let Some(is_own) = note.is_own {
            let project =
                Path::new(&note.folder).parent().map(|above| above.to_string_lossy().into_owned());
            let said = project.and_then(|project| beside.get(&project).copied());
            note.is_own = Some(match said {
                Some(Beside { own: true, elsewhere: true }) => {
                    let why = "is not taken: the sessions beside it are of several repositories, and it \
                               does not say of which it is";
                    left.push(alone(note.shown.clone(), why.to_owned()));
                    false
                }
                Some(Beside { own, .. }) => own,
                None => is_own,
            });
        }
    }
    looked.extend(look_at(&notes, asked, memo));
    sessions.append(&mut notes);
    for (file, (kept, read)) in sessions.into_iter().zip(looked) {
        match (&kept.left, kept.whose) {
            (Some(why), _) => left.push(alone(file.shown.clone(), why.clone())),
            (None, Whose::Own) => source.own += 1,
            (None, Whose::Elsewhere | Whose::Unsaid) => source.elsewhere += 1,
        }
        if let Some(bytes) = read.filter(|_| kept.whose == Whose::Own) {
            source.read += 1;
            source.bytes += bytes;
        }
        if kept.lessons.more > 0 {
            let why = format!(
                "gave its first {LESSONS_A_FILE_MAX} lessons; {} more were not kept",
                kept.lessons.more
            );
            left.push(alone(file.shown.clone(), why));
        }
        source.secret += kept.lessons.secret;
        source.bad_lines += kept.bad_lines;
        for lesson in &kept.lessons.all {
            // The vault may know more by now than when it was read.
            let texts = [Some(&lesson.title), Some(&lesson.claim), lesson.context.as_ref()];
            if texts.into_iter().flatten().any(|text| (asked.is_secret)(text)) {
                source.secret += 1;
            } else {
                source.lessons += 1;
                lessons.push(lesson.clone());
            }
        }
        next.files.insert(file.shown, kept);
    }
    source.left = told(left);
    source
}

/// Each file as it is known now, and how many bytes were read of it, if any were.
fn look_at(files: &[Listed], asked: Asked<'_>, memo: &Memo) -> Vec<(Kept, Option<u64>)> {
    let around = Around { own: asked.own, is_secret: asked.is_secret };
    in_parallel(files, |file| {
        let known = memo.files.get(&file.shown);
        if let Some(kept) = known.filter(|kept| is_as_it_was(file, kept)) {
            return (kept.clone(), None);
        }
        let Looked { kept, bytes } = look(file, known, around);
        (kept, Some(bytes))
    })
}

fn is_as_it_was(file: &Listed, kept: &Kept) -> bool {
    let is_placed = match file.is_own {
        Some(is_own) => is_own == (kept.whose == Whose::Own),
        None => true,
    };
    kept.stamp == file.stamp && is_placed
}

/// Whose the sessions of a folder are, where they say so. Two paths can have one name there.
#[derive(Debug, Clone, Copy, Default)]
struct Beside {
    own: bool,
    elsewhere: bool,
}

fn by_project(sessions: &[Listed], looked: &[(Kept, Option<u64>)]) -> HashMap<String, Beside> {
    let mut beside: HashMap<String, Beside> = HashMap::new();
    for (file, (kept, _)) in
        sessions.iter().zip(looked).filter(|(_, (kept, _))| kept.left.is_none())
    {
        let said = beside.entry(file.folder.clone()).or_default();
        said.own |= kept.whose == Whose::Own;
        said.elsewhere |= kept.whose == Whose::Elsewhere;
    }
    beside.retain(|_, said| said.own || said.elsewhere);
    beside
}

fn alone(path: String, why: String) -> LeftAlone {
    LeftAlone { path, why, extra: Extra::new() }
}

fn told(mut left: Vec<LeftAlone>) -> Vec<LeftAlone> {
    left.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(more) = left.len().checked_sub(LEFT_MAX).filter(|more| *more > 0) {
        left.truncate(LEFT_MAX);
        left.push(alone(format!("{more} more"), "are left alone, too".to_owned()));
    }
    left
}

/// Each once, where it was said first; the newest first.
fn sorted(mut lessons: Vec<Lesson>) -> Vec<Lesson> {
    lessons.sort_by(|a, b| {
        (&a.date, a.maker, &a.file, a.line).cmp(&(&b.date, b.maker, &b.file, b.line))
    });
    let mut seen = BTreeSet::new();
    lessons.retain(|lesson| seen.insert(lesson.key.clone()));
    lessons.sort_by(|a, b| {
        b.date
            .cmp(&a.date)
            .then_with(|| (a.maker, &a.file, a.line).cmp(&(b.maker, &b.file, b.line)))
    });
    lessons
}

/// A fingerprint of all that would be read: what the file system says of each file. Files that are known to
/// be of other repositories do not count; of those that have changed, the beginning is looked at.
pub fn fingerprint(roots: &[Root], own: &Own, memo: &Memo) -> String {
    let mut all = BTreeMap::new();
    for root in roots {
        for file in list(root, own).files {
            let is_elsewhere = file.is_own == Some(false)
                || memo.files.get(&file.shown).is_some_and(|kept| is_still_elsewhere(&file, kept));
            if !is_elsewhere {
                all.insert(file.shown, file.stamp);
            }
        }
    }
    let mut hash = blake3::Hasher::new();
    for (path, stamp) in all {
        hash.update(&(path.len() as u64).to_le_bytes());
        hash.update(path.as_bytes());
        hash.update(&stamp.size.to_le_bytes());
        hash.update(&stamp.inode.to_le_bytes());
        hash.update(&stamp.modified_ns.to_le_bytes());
        hash.update(&stamp.changed_ns.to_le_bytes());
    }
    hash.finalize().to_hex().to_string()
}
