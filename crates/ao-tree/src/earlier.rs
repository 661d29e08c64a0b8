//! Commits of the first format, which exchanged whole folders: what such a program left is brought into the form
//! that is finished today.
//!
//! Its staging has the whole new part of the tree, or the old one where the exchange was made. The edited
//! files in it tell which, by their contents. They become slots; the other files of a part that came out are
//! links to those in the tree, but for what somebody wrote there in the last moment, which is carried here.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;

use ao_contract::{Marker, SlotKind};
use serde_json::Value;

use crate::commit::{last, parent};
use crate::door::{ARCHIVE, CONFLICTS, Door, HISTORY, STAGING, UNDO};
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind, Stat};
use crate::late::{aside, two_versions, unless};
use crate::lines::{FRESH, came_out_name};
use crate::path::shown;
use crate::script::{Item, MARKER_PREFIX, Origin, SCRIPT, Script, Work, to_json};
use crate::slot::{Ahead, At, Sight, added_lines, lines_behind};
use crate::stage::{MARKER, Room, SLOTS};
use crate::survey::join;

const FORMAT: &str = "ao-tree/1";
const CARRY: &str = "carry";

/// A commit of the first format, as it was decided.
#[derive(Debug)]
pub(crate) struct Earlier {
    script: Script,
    /// The parts that were exchanged as a whole.
    parts: Vec<String>,
    /// What these held, by path.
    base: BTreeMap<String, Known>,
}

/// A file as the commit found it.
#[derive(Debug, Clone, Copy)]
struct Known {
    size: u64,
    modified_ns: i128,
}

impl Known {
    fn is_still(self, stat: &Stat) -> bool {
        stat.kind == Kind::File && (stat.size, stat.modified_ns) == (self.size, self.modified_ns)
    }
}

/// A line an entry: `f INODE SIZE MODIFIED NAME`, `d NAME` into a folder, `u` out of it.
fn read_base<'a>(
    lines: &mut impl Iterator<Item = &'a [u8]>,
    path: &str,
    base: &mut BTreeMap<String, Known>,
) -> Option<()> {
    loop {
        let line = lines.next()?;
        if line == b"u" {
            return Some(());
        }
        if let Some(name) = line.strip_prefix(b"d ") {
            read_base(lines, &join(path, &read_name(name)?), base)?;
            continue;
        }
        let mut fields = line.strip_prefix(b"f ")?.splitn(4, |byte| *byte == b' ').skip(1);
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse::<i128>().ok();
        let (size, modified_ns) = (u64::try_from(number()?).ok()?, number()?);
        base.insert(join(path, &read_name(fields.next()?)?), Known { size, modified_ns });
    }
}

/// Of the bytes of a name `%` and the line break were written as `%` and two digits.
fn read_name(text: &[u8]) -> Option<OsString> {
    let mut parts = text.split(|byte| *byte == b'%');
    let mut name = parts.next()?.to_vec();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2)?;
        name.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
        name.extend_from_slice(rest);
    }
    Some(OsString::from_vec(name))
}

/// A marker of the first format; `None` for one of another.
pub(crate) fn earlier_marker(bytes: &[u8]) -> Option<Value> {
    let marker: Value = serde_json::from_slice(bytes).ok()?;
    (marker.get("format")? == FORMAT).then_some(marker)
}

/// Why such a marker is not whole, if so.
fn is_cut(marker: &Value) -> bool {
    let mut bare = marker.clone();
    let stated = bare.get_mut("checksum").map(|sum| std::mem::replace(sum, "".into()));
    let actual = to_json(&bare).map(|bytes| blake3::hash(&bytes).to_hex().to_string());
    !actual.is_ok_and(|actual| stated.is_some_and(|stated| stated == actual))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn slots_in(marker: &Value) -> &[Value] {
    marker.get("slots").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Its script as one of today: the slots are named anew.
fn script_of(bytes: &[u8]) -> Option<(Script, bool)> {
    let mut script: Value = serde_json::from_slice(bytes).ok()?;
    let is_whole = text(&script, "method") == "exchange";
    for planned in script.get_mut("changes")?.as_array_mut()? {
        let mut change = planned.get_mut("change")?.take();
        if let Some(group) = planned.get("group").and_then(Value::as_str) {
            change.as_object_mut()?.insert("group".into(), group.into());
        }
        *planned = change;
    }
    script.as_object_mut()?.insert("slots".into(), Value::Array(Vec::new()));
    let mut script: Script = serde_json::from_value(script).ok()?;
    script.fill_slots(Vec::new());
    Some((script, is_whole))
}

impl<F: Fs> Door<F> {
    /// Reads what a marker of the first format decided; the error is the doubt.
    pub(crate) fn load_earlier(
        &self,
        marker: &Value,
        name: &str,
        state: &F::Dir,
    ) -> Result<std::result::Result<Earlier, String>> {
        if is_cut(marker) {
            return Ok(Err("its checksum does not match: it was cut or edited".into()));
        }
        let id = text(marker, "iteration_id");
        let kind = |slot: &Value| match text(slot, "kind") {
            "dir" => SlotKind::Dir,
            _ => SlotKind::File,
        };
        let slots = slots_in(marker);
        let paths = slots.iter().map(|slot| (text(slot, "live"), kind(slot)));
        if let Some(doubt) = self.misplaced(name, id, paths) {
            return Ok(Err(doubt));
        }
        let room = format!("{STAGING}/{id}");
        let opened = self.open_from(state, &room).map_err(Error::io("open the staging"))?;
        let Some(room) = opened else { return Ok(Err("its staging is missing".into())) };
        let (Some(script), Some(base)) =
            (self.read_state(&room, SCRIPT)?, self.read_state(&room, "base")?)
        else {
            return Ok(Err("its staging is incomplete".into()));
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(script.len() as u64).to_le_bytes()).update(&script).update(&base);
        if hasher.finalize().to_hex().as_str() != text(marker, "plan_hash") {
            return Ok(Err(
                "its staging does not match: it was changed or belongs to another commit".into(),
            ));
        }
        let Some((script, is_whole)) = script_of(&script) else {
            return Ok(Err("its staged script cannot be read".into()));
        };
        let mut earlier = Earlier { script, parts: Vec::new(), base: BTreeMap::new() };
        let mut lines = base.split(|byte| *byte == b'\n');
        for slot in slots {
            let live = text(slot, "live");
            if read_base(&mut lines, live, &mut earlier.base).is_none() {
                return Ok(Err("its staged base cannot be read".into()));
            }
            if is_whole && kind(slot) == SlotKind::Dir {
                earlier.parts.push(live.to_owned());
            }
        }
        Ok(Ok(earlier))
    }

    /// What of it is not in the tree yet.
    pub(crate) fn earlier_to_do(&self, earlier: &Earlier, state: &F::Dir) -> Result<Vec<Ahead>> {
        let look = || -> io::Result<Vec<Ahead>> {
            let path = format!("{STAGING}/{}/{}", earlier.script.id, self.layout.root_name);
            let Some(tree) = self.open_from(state, &path)? else { return Ok(Vec::new()) };
            let as_staged = |item: Item| Item { name: item.path().to_owned(), ..item };
            self.still_to_do(earlier.script.items().into_iter().map(as_staged), &tree, &path)
        };
        look().map_err(Error::io("read what a commit decided"))
    }

    /// Brings it into the form of today, and gives the marker that stands for it now.
    pub(crate) fn convert(&self, earlier: Earlier, state: &F::Dir) -> Result<Marker> {
        let Earlier { mut script, parts, base } = earlier;
        let doing = || Error::io("bring a commit of an earlier version into today's form");
        let room = self.make_dirs(state, &format!("{STAGING}/{}", script.id)).map_err(doing())?;
        let make = |script: &mut Script| -> io::Result<F::Dir> {
            let slots = self.make_dirs(&room, SLOTS)?;
            let tree = self.make_dirs(&room, &self.layout.root_name)?;
            for item in script.items() {
                self.convert_item(&item, &room, &tree, &slots)?;
            }
            for part in &parts {
                if self.is_exchanged(script, part, &tree)? {
                    let dir = self.open_from(&tree, part)?;
                    let walk = Out { door: self, room: &room, base: &base };
                    walk.part(dir.as_ref(), part, script)?;
                }
            }
            Ok(slots)
        };
        let slots = make(&mut script).map_err(doing())?;
        let script = self.restage(script, state, &room, &slots)?;
        let bytes = to_json(&script)?;
        let marker = script.marker(&bytes)?;
        let decide = || {
            for (dir, name, bytes) in [(&slots, SCRIPT, &bytes), (&room, MARKER, &marker)] {
                self.remove_tree(dir, OsStr::new(name))?;
                self.fs.create(dir, OsStr::new(name), bytes, 0o644)?;
            }
            self.fs.sync_tree(&self.fs.top())?;
            let name = script.marker_name();
            self.fs.rename((&room, OsStr::new(MARKER)), (state, OsStr::new(&name)))?;
            self.fs.sync_dir(&room)?;
            self.fs.sync_dir(state)
        };
        decide().map_err(doing())?;
        crate::script::read_marker(&marker)
            .map_err(|doubt| Error::Doubt { file: format!("{MARKER_PREFIX}{}", script.id), doubt })
    }

    /// Writes anew what will be remembered: it may have been cut off while it told of what came late.
    fn restage(
        &self,
        script: Script,
        state: &F::Dir,
        room: &F::Dir,
        slots: &F::Dir,
    ) -> Result<Script> {
        let doing = || Error::io("stage the record");
        if self.fs.stat(room, OsStr::new(HISTORY)).map_err(doing())?.is_none() {
            return Ok(script);
        }
        for place in ["", UNDO, ARCHIVE, CONFLICTS] {
            if let Some(dir) = self.open_from(room, place).map_err(doing())? {
                self.remove_tree(&dir, OsStr::new(FRESH)).map_err(doing())?;
            }
        }
        let (state, here, slots) = (state.clone(), room.clone(), slots.clone());
        let at = Room { staging: here.clone(), state, here, slots };
        let work = Work { origin: Origin::Left, script };
        self.stage_record(&work, &at)?;
        Ok(work.script)
    }

    /// Gives an edited file its slot, and lines that were carried to it the names that tell so.
    fn convert_item(
        &self,
        item: &Item,
        room: &F::Dir,
        tree: &F::Dir,
        slots: &F::Dir,
    ) -> io::Result<()> {
        let to = (slots, OsStr::new(&item.name));
        let Some(dir) = self.open_from(tree, parent(item.path()))? else { return Ok(()) };
        let staged = (&dir, OsStr::new(last(item.path())));
        let Some(stat) = self.fs.stat(staged.0, staged.1)? else { return Ok(()) };
        let live = match self.open(parent(item.path()))? {
            Some(live) => self.fs.stat(&live, staged.1)?,
            None => None,
        };
        if live.is_some_and(|live| live.inode == stat.inode) {
            // What had come out got its place back, under its own inode. Ours was put aside.
            let path = format!("{CONFLICTS}/{}", item.path());
            for place in [format!("{CARRY}/link"), path] {
                let Some(dir) = self.open_from(room, parent(&place))? else { continue };
                let ours = (&dir, OsStr::new(last(&place)));
                if item.new().is_some() && self.sight(ours)?.is(item.new()) {
                    return unless(io::ErrorKind::AlreadyExists, self.fs.link(ours, to)).map(drop);
                }
            }
            return Ok(());
        }
        if stat.kind == Kind::Dir {
            return unless(io::ErrorKind::AlreadyExists, self.fs.rename_new(staged, to)).map(drop);
        }
        unless(io::ErrorKind::AlreadyExists, self.fs.link(staged, to))?;
        self.convert_rounds(item, room, slots)
    }

    /// Each round exchanged a file with lines behind it in, and has what came out for that.
    fn convert_rounds(&self, item: &Item, room: &F::Dir, slots: &F::Dir) -> io::Result<()> {
        let Some(carry) = self.open_from(room, CARRY)? else { return Ok(()) };
        let slot = self.sight((slots, OsStr::new(&item.name)))?;
        let Some(added) = added_lines(item, &slot) else { return Ok(()) };
        let mut source = slot.content().map_or(0, |content| content.bytes.len());
        for number in 0.. {
            let prefix = format!("{}-{number}.", item.index);
            let names = self.fs.names(&carry)?.into_iter();
            let mut names = names.filter_map(|entry| entry.name.into_string().ok());
            let Some(name) = names.find(|name| name.starts_with(&prefix)) else { break };
            let fields: Vec<&str> = name[prefix.len()..].split('.').collect();
            let ([_, length, hash], Sight::File(out)) =
                (fields.as_slice(), self.sight((&carry, OsStr::new(&name)))?)
            else {
                break;
            };
            let Some(more) = length.parse().ok().and_then(|n| lines_behind(&out.bytes, n, hash))
            else {
                break;
            };
            // One that was not exchanged has the lines that it was to bring.
            if !more.is_empty() && added.starts_with(more) {
                break;
            }
            let to = came_out_name(item, number, length, hash, source);
            let link = self.fs.link((&carry, OsStr::new(&name)), (slots, OsStr::new(&to)));
            unless(io::ErrorKind::AlreadyExists, link)?;
            source = out.bytes.len();
        }
        Ok(())
    }

    /// Whether the staged side of a part is what came out of the tree.
    fn is_exchanged(&self, script: &Script, part: &str, tree: &F::Dir) -> io::Result<bool> {
        for item in script.items() {
            if !item.path().strip_prefix(part).is_some_and(|rest| rest.starts_with('/')) {
                continue;
            }
            let staged = match self.open_from(tree, parent(item.path()))? {
                Some(dir) => self.sight((&dir, OsStr::new(last(item.path()))))?,
                None => Sight::Nothing,
            };
            if !staged.is(item.new()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A part that came out of the tree.
struct Out<'a, F: Fs> {
    door: &'a Door<F>,
    room: &'a F::Dir,
    base: &'a BTreeMap<String, Known>,
}

impl<F: Fs> Out<'_, F> {
    /// Carries what others did in a part before it came out; `None` if they had removed it.
    fn part(&self, out: Option<&F::Dir>, part: &str, script: &mut Script) -> io::Result<()> {
        let edited: BTreeSet<String> =
            script.changes.iter().map(|change| change.path.clone()).collect();
        let mut there = BTreeSet::new();
        if let Some(dir) = out {
            self.folder(dir, part, &edited, &mut there, script)?;
        }
        let beneath = format!("{part}/");
        let mut emptied = BTreeSet::new();
        for (path, known) in self.base.iter().filter(|(path, _)| path.starts_with(&beneath)) {
            if !there.contains(path) && !edited.contains(path) {
                self.removed(path, *known, script)?;
                emptied.insert(parent(path).to_owned());
            }
        }
        for folder in emptied.iter().rev().filter(|folder| !there.contains(*folder)) {
            if let Some(above) = self.door.open(parent(folder))? {
                self.door.remove_if_empty(&above, last(folder))?;
            }
        }
        Ok(())
    }

    fn folder(
        &self,
        dir: &F::Dir,
        path: &str,
        edited: &BTreeSet<String>,
        there: &mut BTreeSet<String>,
        script: &mut Script,
    ) -> io::Result<()> {
        let fs = &self.door.fs;
        there.insert(path.to_owned());
        for entry in fs.names(dir)? {
            let path = join(path, &entry.name);
            if entry.kind == Kind::Dir {
                self.folder(&fs.open_dir(dir, &entry.name)?, &path, edited, there, script)?;
            } else if !edited.contains(&path) {
                self.file(dir, &entry.name, self.base.get(&path).copied(), &path, script)?;
                there.insert(path);
            }
        }
        Ok(())
    }

    /// A file that somebody removed, and that came back with the new part.
    fn removed(&self, path: &str, known: Known, script: &mut Script) -> io::Result<()> {
        let fs = &self.door.fs;
        let Some(live) = self.door.open(parent(path))? else { return Ok(()) };
        let name = OsStr::new(last(path));
        if fs.stat(&live, name)?.is_some_and(|stat| known.is_still(&stat)) {
            let taken = self.door.make_dirs(self.room, CARRY)?;
            let number = script.carried.len();
            let to = format!("removed-{number}");
            self.door.remove_tree(&taken, OsStr::new(&to))?;
            fs.rename_new((&live, name), (&taken, OsStr::new(&to)))?;
            script.carried.push(shown(path));
        }
        Ok(())
    }

    /// A file that no edit named.
    fn file(
        &self,
        dir: &F::Dir,
        name: &OsStr,
        known: Option<Known>,
        path: &str,
        script: &mut Script,
    ) -> io::Result<()> {
        let fs = &self.door.fs;
        let Some(out) = fs.stat(dir, name)? else { return Ok(()) };
        let live = self.door.make_dirs(&fs.top(), parent(path))?;
        let now = fs.stat(&live, name)?;
        let is_known = known.is_some_and(|known| known.is_still(&out));
        match now {
            // The same file, or what was known of it.
            Some(now) if now.inode == out.inode => return Ok(()),
            _ if is_known => return Ok(()),
            // A copy of the tree has files of its own.
            Some(_) if self.is_same((dir, name), (&live, name))? => return Ok(()),
            None => fs.link((dir, name), (&live, name))?,
            // As the commit found it: what came out is newer.
            Some(now) if known.is_some_and(|known| known.is_still(&now)) => {
                fs.exchange((dir, name), (&live, name))?;
            }
            Some(_) => return self.two_versions((dir, name), path, script),
        }
        script.carried.push(shown(path));
        Ok(())
    }

    fn is_same(&self, one: At<'_, F::Dir>, other: At<'_, F::Dir>) -> io::Result<bool> {
        let (one, other) = (self.door.sight(one)?, self.door.sight(other)?);
        Ok(one.content().is_some_and(|content| other.is(Some(&content.hash))))
    }

    fn two_versions(
        &self,
        out: (&F::Dir, &OsStr),
        path: &str,
        script: &mut Script,
    ) -> io::Result<()> {
        let place = format!("{CONFLICTS}/{}", parent(path));
        let kept = self.door.make_dirs(self.room, &place)?;
        let to = aside(last(path));
        let link = self.door.fs.link(out, (&kept, OsStr::new(&to)));
        unless(io::ErrorKind::AlreadyExists, link)?;
        script.conflicts.push(two_versions(&script.id, path));
        Ok(())
    }
}
