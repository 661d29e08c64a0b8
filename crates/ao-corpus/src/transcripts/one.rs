//! One transcript: whose it is, and what is new in it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use ao_contract::Maker;
use ao_tree::own_file;
use serde_json::Value;

use super::list::{Form, Listed, Stamp};
use super::memo::{Kept, Whose};
use super::memory::{self, Scope};
use super::watch::{Lessons, Scene, Watch};
use super::whose::Own;
use super::{
    FILE_BYTES_MAX, MEMORY_BYTES_MAX, OBJECT_BYTES_MAX, claude, codex, gemini, json, lines,
};

/// Whose a session is has to be said within its first bytes.
const HEAD_BYTES: u64 = 256 * 1024;
/// So much of both ends tells whether a file only grew.
const END_BYTES: u64 = 4096;

/// What was found out, and how many bytes were read for it.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) kept: Kept,
    pub(super) bytes: u64,
}

/// What the scene is for all files.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) own: &'a Own,
    pub(super) is_secret: &'a (dyn Fn(&str) -> bool + Sync),
}

impl<'a> Around<'a> {
    fn scene(self, listed: &'a Listed, day: Option<&'a str>) -> Scene<'a> {
        let (maker, file) = (listed.maker, &listed.shown);
        Scene { maker, file, day, is_secret: self.is_secret }
    }
}

/// Looks at a file that is not as it was, if it was known.
pub(super) fn look(listed: &Listed, known: Option<&Kept>, around: Around<'_>) -> Looked {
    let is_grown = |kept: &&Kept| {
        kept.stamp.inode == listed.stamp.inode
            && listed.stamp.size >= kept.read
            && kept.left.is_none()
    };
    let known = known.filter(is_grown);
    if listed.is_own == Some(false) {
        return Looked { kept: fresh(listed, Whose::Elsewhere), bytes: 0 };
    }
    let looked = match listed.form {
        Form::Lines => session(listed, known, around),
        Form::Object => object(listed, around),
        Form::Memory => noted(listed, around),
    };
    looked.unwrap_or_else(|why| {
        let left = Some(why);
        Looked { kept: Kept { left, ..fresh(listed, Whose::Unsaid) }, bytes: 0 }
    })
}

fn fresh(listed: &Listed, whose: Whose) -> Kept {
    Kept {
        stamp: listed.stamp,
        whose,
        read: 0,
        ends: 0,
        head: String::new(),
        tail: String::new(),
        bad_lines: 0,
        watch: Watch::default(),
        lessons: Lessons::default(),
        left: None,
    }
}

/// Opens the very file that was listed. It was a plain file then; if it is another one by now, it is left alone.
fn open(listed: &Listed, bytes_max: u64) -> Result<File, String> {
    if listed.stamp.size > bytes_max {
        return Err(format!("is larger than {bytes_max} bytes"));
    }
    let path: &Path = &listed.path;
    let failed = |error: io::Error| format!("cannot be read: {error}");
    let file = own_file::open(path).map_err(failed)?;
    let opened = Stamp::of(&file.metadata().map_err(failed)?);
    if opened.inode != listed.stamp.inode {
        return Err("was replaced while it was looked at".to_owned());
    }
    Ok(file)
}

fn whole(listed: &Listed, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = open(listed, bytes_max)?.take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("is larger than {bytes_max} bytes"));
    }
    Ok(bytes)
}

/// BLAKE3 of a part of a file, of which there may be less by now.
fn hash_of(file: &mut File, from: u64, to: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(to - from).read_to_end(&mut bytes)?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

fn ends_of(file: &mut File, read: u64) -> io::Result<(String, String)> {
    let head = hash_of(file, 0, read.min(END_BYTES))?;
    Ok((head, hash_of(file, read.saturating_sub(END_BYTES), read)?))
}

/// Whether what was read of a file still stands in it.
fn begins_as(file: &mut File, kept: &Kept) -> bool {
    ends_of(file, kept.read).is_ok_and(|(head, tail)| head == kept.head && tail == kept.tail)
}

/// Whether a session that was another repository's is still that one, though it may have gone on.
pub(super) fn is_still_elsewhere(listed: &Listed, kept: &Kept) -> bool {
    let is_same = || {
        listed.stamp.inode == kept.stamp.inode
            && listed.stamp.size >= kept.read
            && open(listed, FILE_BYTES_MAX).is_ok_and(|mut file| begins_as(&mut file, kept))
    };
    kept.whose == Whose::Elsewhere
        && listed.form == Form::Lines
        && (listed.stamp == kept.stamp || is_same())
}

fn session(listed: &Listed, known: Option<&Kept>, around: Around<'_>) -> Result<Looked, String> {
    let mut file = open(listed, FILE_BYTES_MAX)?;
    let failed = |error: io::Error| format!("cannot be read: {error}");
    // Whose a session is does not change, unless it is another one by now.
    let is_settled = |kept: &&Kept| match kept.whose {
        Whose::Own => true,
        Whose::Elsewhere => listed.is_own.is_none(),
        Whose::Unsaid => false,
    };
    let known = known.filter(is_settled).filter(|kept| begins_as(&mut file, kept)).cloned();
    let mut kept = if let Some(kept) = known {
        Kept { stamp: listed.stamp, ..kept }
    } else if listed.is_own == Some(true) {
        fresh(listed, Whose::Own)
    } else {
        fresh(listed, whose(&mut file, listed.maker, around.own).map_err(failed)?)
    };
    if kept.whose != Whose::Own {
        kept.read = listed.stamp.size.min(END_BYTES);
        (kept.head, kept.tail) = ends_of(&mut file, kept.read).map_err(failed)?;
        return Ok(Looked { kept, bytes: 0 });
    }
    let day = listed.stamp.day();
    let scene = around.scene(listed, day.as_deref());
    file.seek(SeekFrom::Start(kept.read)).map_err(failed)?;
    // What is written meanwhile is for the next time.
    let mut rest = (&mut file).take(listed.stamp.size.saturating_sub(kept.read));
    let is_whole = |line: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    let before = kept.ends;
    let Kept { watch, lessons, bad_lines, .. } = &mut kept;
    let walked = lines::walk(&mut rest, is_whole, |ends, line| {
        follow(before + ends + 1, line, (scene, around.own), watch, lessons, bad_lines);
    });
    let walked = walked.map_err(failed)?;
    kept.read += walked.bytes;
    kept.ends += walked.ends;
    kept.bad_lines += walked.too_long;
    (kept.head, kept.tail) = ends_of(&mut file, kept.read).map_err(failed)?;
    kept.watch = kept.watch.without(around.is_secret);
    Ok(Looked { kept, bytes: walked.bytes })
}

/// Whose a session is, by the first folder that it names.
fn whose(file: &mut File, maker: Maker, own: &Own) -> io::Result<Whose> {
    file.seek(SeekFrom::Start(0))?;
    let mut folder = None;
    let mut head = file.take(HEAD_BYTES);
    lines::walk(
        &mut head,
        |_| true,
        |_, line| {
            if folder.is_none() {
                folder = match maker {
                    Maker::Claude => json::folder(line),
                    Maker::Codex => match codex::meta(line) {
                        Some(meta) => meta.folder,
                        None => codex::told_folder(line),
                    },
                    Maker::Gemini => None,
                };
            }
        },
    )?;
    Ok(match folder {
        Some(folder) if own.holds(&folder) => Whose::Own,
        Some(_) => Whose::Elsewhere,
        None => Whose::Unsaid,
    })
}

/// One line of a session; those that were written in another folder are passed over.
fn follow(
    number: u64,
    line: &[u8],
    (scene, own): (Scene<'_>, &Own),
    watch: &mut Watch,
    lessons: &mut Lessons,
    bad_lines: &mut u64,
) {
    let mut session = watch.session.clone();
    let folder = match scene.maker {
        Maker::Claude => json::folder(line),
        Maker::Codex => match codex::meta(line) {
            Some(meta) => {
                watch.has_meta = true;
                watch.is_aside |= meta.is_aside;
                session = meta.session.or(session);
                meta.folder
            }
            // What the program says of itself goes before what it tells the model.
            None if watch.has_meta => None,
            None => codex::told_folder(line),
        },
        Maker::Gemini => None,
    };
    if let Some(folder) = folder {
        watch.is_away = !own.holds(&folder);
    }
    if watch.is_away {
        watch.name(session, scene.is_secret);
        return;
    }
    let turns = match scene.maker {
        Maker::Claude => {
            let mut calls = std::mem::take(&mut watch.calls);
            let waits = |id: &str| watch.waits_for(id);
            let turns = claude::turns(number, line, waits, &mut calls, &mut session);
            watch.calls = calls;
            turns
        }
        Maker::Codex => codex::turns(number, line, |id| watch.waits_for(id)),
        Maker::Gemini => message(number, line, &mut session, &mut watch.is_aside),
    };
    watch.name(session, scene.is_secret);
    match turns {
        Ok(turns) => {
            for turn in turns {
                watch.see(turn, scene, lessons);
            }
        }
        Err(()) => *bad_lines += 1,
    }
}

fn message(
    number: u64,
    line: &[u8],
    session: &mut Option<String>,
    is_aside: &mut bool,
) -> Result<Vec<super::turn::Turn>, ()> {
    if line.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let value: Value = serde_json::from_slice(line).map_err(drop)?;
    if let Some(id) = value.get("sessionId").and_then(Value::as_str) {
        *session = Some(id.to_owned());
    }
    *is_aside |= value["kind"] == gemini::ASIDE;
    Ok(gemini::message_turns(number, &value))
}

fn object(listed: &Listed, around: Around<'_>) -> Result<Looked, String> {
    let bytes = whole(listed, OBJECT_BYTES_MAX)?;
    let gemini::Told { session, is_aside, turns } = gemini::session(&bytes)?;
    let day = listed.stamp.day();
    let scene = around.scene(listed, day.as_deref());
    let mut kept = fresh(listed, Whose::Own);
    let mut watch = Watch::default();
    watch.is_aside |= is_aside;
    watch.name(session, scene.is_secret);
    for turn in turns {
        watch.see(turn, scene, &mut kept.lessons);
    }
    kept.read = bytes.len() as u64;
    Ok(Looked { kept, bytes: bytes.len() as u64 })
}

fn noted(listed: &Listed, around: Around<'_>) -> Result<Looked, String> {
    let bytes = whole(listed, MEMORY_BYTES_MAX)?;
    let text = String::from_utf8_lossy(&bytes);
    let day = listed.stamp.day();
    let scene = around.scene(listed, day.as_deref());
    let scope = if listed.is_own == Some(true) { Scope::All } else { Scope::Named };
    let mut kept = fresh(listed, Whose::Own);
    memory::lessons(&text, scope, around.own, scene, &mut kept.lessons);
    // One that names no folder of this repository tells of others.
    if scope == Scope::Named && kept.lessons == Lessons::default() {
        kept.whose = Whose::Elsewhere;
    }
    kept.read = bytes.len() as u64;
    Ok(Looked { kept, bytes: bytes.len() as u64 })
}
