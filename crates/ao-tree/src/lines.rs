//! Lines that somebody appended to a file while our version of it was on its way.
//!
//! They are put behind what stands there by one more exchange, and whatever that brings out may have got more
//! lines meanwhile. The names in the slots tell how far each file that came out is carried, so that a crash
//! carries no line twice, and what is not carried in these rounds waits for the next start.

use std::ffi::OsStr;
use std::io;

use ao_contract::Version;

use crate::commit::{last, parent};
use crate::compare::with_lines;
use crate::displaced::Letting;
use crate::door::{Door, is_absent};
use crate::fs::{Fs, Kind};
use crate::late::unless;
use crate::plan::{Content, FILE_BYTES_MAX, NEW_FILE_MODE};
use crate::script::Item;
use crate::slot::{At, Sight, lines_behind};
use crate::stage::unless_gone;

/// How often an appender may catch us before its lines have to wait.
const ROUNDS_MAX: usize = 16;
/// A file that is being made.
pub(crate) const FRESH: &str = "fresh";
/// Of a hash in a name: a name has 255 bytes.
const HASH_DIGITS: usize = 32;

/// An edit to which lines of others were added. They belong to both sides of it: taking the edit
/// back must leave them.
pub(crate) struct Merged {
    pub(crate) before: Content,
    pub(crate) after: Version,
}

/// A beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Start {
    length: u64,
    hash: String,
}

impl Start {
    fn of(bytes: &[u8]) -> Self {
        let hash = blake3::hash(bytes).to_hex()[..HASH_DIGITS].to_owned();
        Self { length: bytes.len() as u64, hash }
    }

    fn version(version: &Version) -> Self {
        Self { length: version.size, hash: version.hash.clone() }
    }

    fn behind<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        lines_behind(bytes, self.length, &self.hash)
    }

    fn is_all_of(&self, bytes: &[u8]) -> bool {
        self.behind(bytes).is_some_and(<[u8]>::is_empty)
    }

    fn parse(length: &str, hash: &str) -> Option<Self> {
        Some(Self { length: length.parse().ok()?, hash: hash.to_owned() })
    }
}

/// A file that came out of the tree, or is to go there with lines added to it.
#[derive(Debug)]
struct Out {
    name: String,
    number: usize,
    /// What of it is known: that, and what is carried of it, need not be kept.
    known: Start,
    round: Option<Round>,
}

#[derive(Debug, Clone)]
struct Round {
    /// What goes into the tree. While the file is that, it did not.
    new: Start,
    /// The file that the lines are from, and how far it is carried by this.
    source: usize,
    carried: u64,
}

impl Out {
    fn parse(name: String, prefix: &str) -> Option<Self> {
        let fields: Vec<&str> = name.strip_prefix(prefix)?.split('.').collect();
        let (number, known, round) = match fields.as_slice() {
            [number, length, hash] => (number, Start::parse(length, hash)?, None),
            [number, length, hash, new_length, new, source, carried] => {
                let new = Start::parse(new_length, new)?;
                let (source, carried) = (source.parse().ok()?, carried.parse().ok()?);
                (number, Start::parse(length, hash)?, Some(Round { new, source, carried }))
            }
            _ => return None,
        };
        let number = number.parse().ok()?;
        Some(Self { name, number, known, round })
    }
}

fn prefix(item: &Item) -> String {
    format!("{}+", item.index)
}

fn name_of(item: &Item, number: usize, known: &Start, round: Option<&Round>) -> String {
    let plain = format!("{}{number}.{}.{}", prefix(item), known.length, known.hash);
    match round {
        Some(Round { new, source, carried }) => {
            format!("{plain}.{}.{}.{source}.{carried}", new.length, new.hash)
        }
        None => plain,
    }
}

/// The name of a file that came out when the rounds of an earlier version, counted from 0, carried this much of the one
/// before it.
pub(crate) fn came_out_name(
    item: &Item,
    round: usize,
    length: &str,
    hash: &str,
    carried: usize,
) -> String {
    let hash = &hash[..hash.len().min(HASH_DIGITS)];
    // Nothing is what went in: that it did is known.
    format!("{}{}.{length}.{hash}.0.0.{round}.{carried}", prefix(item), round + 1)
}

/// A file that came out, with its bytes and how far it is carried.
pub(crate) struct Carried {
    pub(crate) name: String,
    pub(crate) number: usize,
    bytes: Vec<u8>,
    known: Start,
    carried: u64,
    round: Option<Round>,
}

impl Carried {
    /// Nothing in it is anybody's but what is in the tree or was known.
    fn is_done(&self) -> bool {
        self.is_known() && self.carried == self.bytes.len() as u64
    }

    pub(crate) fn carried(&self) -> u64 {
        self.carried - self.known.length
    }

    /// The file of which it tells how far that is carried.
    pub(crate) fn source(&self) -> Option<usize> {
        self.round.as_ref().map(|round| round.source)
    }

    /// These bytes are what is known of it, and what is carried.
    pub(crate) fn is_all_of(&self, bytes: &[u8]) -> bool {
        self.carried == bytes.len() as u64 && bytes == self.bytes
    }

    /// It begins with what was known.
    pub(crate) fn is_known(&self) -> bool {
        self.known.behind(&self.bytes).is_some()
    }
}

impl<F: Fs> Door<F> {
    /// All that came out at this item's path, in the order in which it did.
    fn out(&self, item: &Item, slots: &F::Dir) -> io::Result<Vec<Out>> {
        let listed = self.fs.names(slots)?;
        let names = listed.into_iter().filter_map(|entry| entry.name.into_string().ok());
        let mut out: Vec<Out> = names.filter_map(|name| Out::parse(name, &prefix(item))).collect();
        out.sort_unstable_by_key(|out| out.number);
        Ok(out)
    }

    /// The same with the first, their bytes, and how far each is carried; a round that did not go in yet is apart.
    fn carried(&self, item: &Item, slots: &F::Dir) -> io::Result<(Vec<Carried>, Option<Out>)> {
        let (mut files, mut open) = (Vec::new(), None);
        let first = item.change.before.as_ref().map(|before| Out {
            name: item.name.clone(),
            number: 0,
            known: Start::version(before),
            round: None,
        });
        for out in first.into_iter().chain(self.out(item, slots)?) {
            let bytes = match self.fs.read(slots, OsStr::new(&out.name), FILE_BYTES_MAX) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                bytes => bytes?,
            };
            if out.round.as_ref().is_some_and(|round| round.new.is_all_of(&bytes)) {
                open = Some(out);
                continue;
            }
            let Out { name, number, known, round } = out;
            let carried = known.length;
            files.push(Carried { name, number, bytes, known, carried, round });
        }
        let ends =
            |file: &Carried| Some((file.round.as_ref()?.source, file.round.as_ref()?.carried));
        for (source, end) in files.iter().filter_map(ends).collect::<Vec<_>>() {
            if let Some(file) = files.iter_mut().find(|file| file.number == source) {
                file.carried = file.carried.max(end);
            }
        }
        Ok((files, open))
    }

    /// All that came out at this item's path: what of it is not carried waits, or is another version.
    pub(crate) fn came_out(&self, item: &Item, slots: &F::Dir) -> io::Result<Vec<Carried>> {
        Ok(self.carried(item, slots)?.0)
    }

    /// Puts lines that were appended to what came out behind what stands in the tree. Gives both sides of the edit
    /// with them, if there were any. What has no line break at its end is a line once the file may be let go;
    /// while a commit is under way somebody may be in the middle of it.
    pub(crate) fn carry_lines(
        &self,
        item: &Item,
        slots: &F::Dir,
        letting: Option<Letting>,
    ) -> io::Result<Option<Merged>> {
        for _ in 0..ROUNDS_MAX {
            let (files, open) = self.carried(item, slots)?;
            if let Some(open) = open {
                self.close_round(item, slots, &open)?;
                continue;
            }
            let Some((file, more)) = self.pending(&files, slots, letting)? else { break };
            if !self.open_round(item, slots, file, more)? {
                break;
            }
        }
        self.merged(item, slots)
    }

    /// The first file with lines that are not carried, and how many bytes of it are.
    fn pending<'f>(
        &self,
        files: &'f [Carried],
        slots: &F::Dir,
        letting: Option<Letting>,
    ) -> io::Result<Option<(&'f Carried, usize)>> {
        for file in files.iter().filter(|file| file.is_known() && !file.is_done()) {
            let rest = &file.bytes[usize::try_from(file.carried).unwrap_or(0)..];
            let is_whole = match letting {
                None => false,
                Some(letting) => self.may_go((slots, OsStr::new(&file.name)), letting)?.is_some(),
            };
            let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let more = if is_whole { rest.len() } else { whole };
            if more > 0 {
                return Ok(Some((file, more)));
            }
        }
        Ok(None)
    }

    /// Makes the file that is to go in with these lines. Gives `false` where no file can go.
    fn open_round(
        &self,
        item: &Item,
        slots: &F::Dir,
        file: &Carried,
        more: usize,
    ) -> io::Result<bool> {
        let folder = match self.make_dirs(&self.fs.top(), parent(item.path())) {
            Err(error) if is_absent(&error) => return Ok(false),
            made => made?,
        };
        let live = (&folder, OsStr::new(last(item.path())));
        let fresh = (slots, OsStr::new(FRESH));
        self.remove_tree(fresh.0, fresh.1)?;
        let now = match self.sight(live)? {
            Sight::File(now) => now,
            Sight::Other => return Ok(false),
            Sight::Nothing => {
                let mode = item.change.before.as_ref().map_or(NEW_FILE_MODE, |before| before.mode);
                self.fs.create(fresh.0, fresh.1, b"", mode)?;
                unless(io::ErrorKind::AlreadyExists, self.fs.rename_new(fresh, live))?;
                self.fs.sync_dir(live.0)?;
                return Ok(true);
            }
        };
        let from = usize::try_from(file.carried).unwrap_or(0);
        let (start, lines) = (&file.bytes[..from], &file.bytes[from..from + more]);
        let bytes = joined(&now.bytes, start, lines);
        self.fs.create(fresh.0, fresh.1, &bytes, now.mode)?;
        if self.fs.stat(live.0, live.1)?.is_some_and(|stat| stat.kind == Kind::File) {
            unless_gone(self.fs.copy_attributes(live, fresh))?;
        }
        self.fs.sync_file(fresh.0, fresh.1)?;
        let number = self.out(item, slots)?.last().map_or(1, |out| out.number + 1);
        let round = Round {
            new: Start::of(&bytes),
            source: file.number,
            carried: file.carried + more as u64,
        };
        let name = name_of(item, number, &Start::of(&now.bytes), Some(&round));
        self.fs.rename(fresh, (slots, OsStr::new(&name)))?;
        self.fs.sync_dir(slots)?;
        Ok(true)
    }

    /// Exchanges a round in, if what it was made of still stands there; else it counts as one that came out.
    fn close_round(&self, item: &Item, slots: &F::Dir, open: &Out) -> io::Result<()> {
        let Some(round) = &open.round else { return Ok(()) };
        let file = (slots, OsStr::new(&open.name));
        let folder = self.open(parent(item.path()))?;
        let mut is_in = false;
        if let Some(folder) = &folder {
            let live = (folder, OsStr::new(last(item.path())));
            let is_as_known = match self.sight(live)? {
                Sight::File(now) => open.known.is_all_of(&now.bytes),
                Sight::Nothing | Sight::Other => false,
            };
            is_in = is_as_known
                && unless(io::ErrorKind::NotFound, self.fs.exchange(file, live))?
                && self.is_settled(file, live, open, round)?;
            self.fs.sync_dir(folder)?;
        }
        if !is_in {
            let plain = name_of(item, open.number, &round.new, None);
            self.fs.rename(file, (slots, OsStr::new(&plain)))?;
        }
        self.fs.sync_dir(slots)
    }

    /// Whether a round went in for what it was made of. Who put another file there in that very moment gets its
    /// place back.
    fn is_settled(
        &self,
        file: At<'_, F::Dir>,
        live: At<'_, F::Dir>,
        open: &Out,
        round: &Round,
    ) -> io::Result<bool> {
        let is_known = match self.sight(file)? {
            Sight::File(out) => open.known.behind(&out.bytes).is_some(),
            Sight::Nothing | Sight::Other => false,
        };
        if is_known {
            return Ok(true);
        }
        let is_ours = match self.sight(live)? {
            Sight::File(now) => round.new.behind(&now.bytes).is_some(),
            Sight::Nothing | Sight::Other => false,
        };
        Ok(!(is_ours && unless(io::ErrorKind::NotFound, self.fs.exchange(file, live))?))
    }

    /// Both sides of an edit with all lines that were carried to it.
    fn merged(&self, item: &Item, slots: &F::Dir) -> io::Result<Option<Merged>> {
        let (files, _) = self.carried(item, slots)?;
        let (Some(before), Some(after)) = (&item.change.before, &item.change.after) else {
            return Ok(None);
        };
        let Some(first) = files.iter().find(|file| file.number == 0) else { return Ok(None) };
        let Some(start) = usize::try_from(before.size).ok().and_then(|end| first.bytes.get(..end))
        else {
            return Ok(None);
        };
        let mut old = start.to_vec();
        let mut new: Option<Vec<u8>> = None;
        let mut went_in = Start::version(after);
        let mut carried: Vec<(usize, u64)> =
            files.iter().map(|file| (file.number, file.known.length)).collect();
        // Rounds are in the order in which they went in.
        for out in &files {
            let Some(round) = &out.round else { continue };
            let source = files.iter().find(|file| file.number == round.source);
            let from = carried.iter_mut().find(|(number, _)| *number == round.source);
            let (Some(source), Some(from)) = (source, from) else { continue };
            let Some(base) = out.start() else { continue };
            let [start, end] = [from.1, round.carried].map(|at| usize::try_from(at).unwrap_or(0));
            let Some(lines) = source.bytes.get(start..end) else { continue };
            // What others put behind ours in the tree itself belongs to both sides, too.
            old = with_lines(&old, went_in.behind(base).unwrap_or_default());
            old = joined(&old, &source.bytes[..start], lines);
            new = Some(joined(base, &source.bytes[..start], lines));
            from.1 = round.carried;
            went_in = round.new.clone();
        }
        Ok(new.map(|new| Merged {
            before: Content::new(old, before.mode),
            after: Content::new(new, after.mode).version(),
        }))
    }
}

impl Carried {
    /// What it was made of.
    fn start(&self) -> Option<&[u8]> {
        let behind = self.known.behind(&self.bytes)?;
        Some(&self.bytes[..self.bytes.len() - behind.len()])
    }
}

/// Lines behind what stands there. They were appended behind `start`: where that ended in the middle of a line with
/// which `now` ends, too, they go on with it.
fn joined(now: &[u8], start: &[u8], lines: &[u8]) -> Vec<u8> {
    let half = start.iter().rposition(|byte| *byte == b'\n').map_or(start, |at| &start[at + 1..]);
    if !half.is_empty() && now.ends_with(half) {
        return [now, lines].concat();
    }
    with_lines(now, lines)
}
