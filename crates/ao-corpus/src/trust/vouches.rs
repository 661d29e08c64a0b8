//! What people vouched for: `knowledge/vouched/HASH.json`, one file a text. A word is given and taken back by edits,
//! as everything is that changes the knowledge.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ao_contract::{Extra, Manner, SchemaVersion, Trust, Vouch};
use ao_tree::Edit;

use super::{MARK, TRUST};
use crate::corpus::{Entry, Kind};
use crate::document::Document;
use crate::files::{File, Files};
use crate::past::Past;
use crate::propose::Group;

pub const FOLDER: &str = "knowledge/vouched";
/// A larger file is nobody's word.
const VOUCH_BYTES_MAX: u64 = 64 * 1024;

/// People's words, by the hash of what they are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vouches(BTreeMap<String, Kept>);

/// A word, and the file that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    vouch: Vouch,
    bytes: Vec<u8>,
}

/// What a vouch for a file is for: exactly its bytes.
pub fn hash_of(document: &Document) -> String {
    blake3::hash(document.bytes()).to_hex().to_string()
}

/// Where a vouch for this hash stands.
pub fn path_of(hash: &str) -> String {
    format!("{FOLDER}/{hash}.json")
}

/// Whether a word is for this learning, or for the pending one that it was promoted from.
fn is_for_learning(vouch: &Vouch, entry: &Entry) -> bool {
    let is_it = |from: std::borrow::Cow<'_, str>| vouch.path == *from;
    let is_promoted = || entry.document.text("promoted_from").is_some_and(is_it);
    entry.kind != Kind::Pending && (vouch.path == entry.path || is_promoted())
}

impl Vouches {
    /// Those of a tree. What is not one is no vouch: nothing is believed by mistake.
    pub fn read(agents: &Path) -> io::Result<Self> {
        Ok(Self::of_files(&Files::list(agents, &["knowledge"])?))
    }

    /// As [`Vouches::read`], of the tree as it was.
    pub fn read_past(agents: &Path, past: &Past) -> io::Result<Self> {
        Ok(Self::of_files(&Files::list_past(agents, &["knowledge"], past)?))
    }

    fn of_files(files: &Files) -> Self {
        let read = |file: &File| {
            let name = file.path.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(".json")?;
            let bytes = files.read_up_to(file, VOUCH_BYTES_MAX).ok()?;
            let vouch: Vouch = serde_json::from_slice(&bytes).ok()?;
            (vouch.hash == name).then(|| (name.to_owned(), Kept { vouch, bytes }))
        };
        Self(files.found.iter().filter_map(read).collect())
    }

    /// The word for an entry as it stands; of one that was promoted, the word for what it was.
    pub fn of(&self, entry: &Entry) -> Option<&Vouch> {
        if self.0.is_empty() {
            return None;
        }
        if entry.kind == Kind::Pending {
            return self.0.get(&hash_of(&entry.document)).map(|kept| &kept.vouch);
        }
        self.all().find(|vouch| is_for_learning(vouch, entry))
    }

    /// In the order of their hashes.
    pub fn all(&self) -> impl Iterator<Item = &Vouch> {
        self.0.values().map(|kept| &kept.vouch)
    }

    /// The edits that give a person's word for an entry as it stands. A learning that has a mark loses it.
    pub fn give(
        &self,
        entry: &Entry,
        why: &str,
        (at, given): (&str, Manner),
    ) -> Result<Vec<Edit>, String> {
        let hash = hash_of(&entry.document);
        let path = path_of(&hash);
        let vouch = Vouch {
            schema_version: SchemaVersion,
            hash: hash.clone(),
            path: entry.path.clone(),
            why: why.to_owned(),
            at: at.to_owned(),
            given: Some(given.into()),
            extra: Extra::new(),
        };
        let mut bytes = serde_json::to_vec_pretty(&vouch).map_err(|error| error.to_string())?;
        bytes.push(b'\n');
        let reason = format!("a person vouched for {}", entry.path);
        let (group, sources) = (Group(&path), [entry.path.as_str()]);
        let mut edits = vec![match self.0.get(&hash) {
            Some(kept) => group.change(&path, (&kept.bytes, &bytes), &reason, &sources),
            None => group.add(&path, &bytes, &reason, &sources),
        }];
        if entry.kind != Kind::Pending {
            edits.push(marked(entry, vouch.trust(), group, &reason)?);
        }
        Ok(edits)
    }

    /// The edits that take back every word for an entry, also for what it said before, and before it was promoted. A
    /// learning has the mark from then on: nothing stands behind it any more.
    pub fn take_back(&self, entry: &Entry) -> Result<Vec<Edit>, String> {
        let hash = hash_of(&entry.document);
        let is_for = |Kept { vouch, .. }: &&Kept| {
            vouch.hash == hash || vouch.path == entry.path || is_for_learning(vouch, entry)
        };
        let reason = format!("a person no longer vouches for {}", entry.path);
        let own = path_of(&hash);
        let group = Group(&own);
        let edit = |kept: &Kept| {
            let path = path_of(&kept.vouch.hash);
            group.delete(&path, &kept.bytes, &reason, &[&entry.path])
        };
        let mut edits: Vec<Edit> = self.0.values().filter(is_for).map(edit).collect();
        if entry.kind != Kind::Pending && !edits.is_empty() {
            let most = super::of_header(&entry.document).unwrap_or(MARK).min(MARK);
            edits.push(marked(entry, most, group, &reason)?);
        }
        Ok(edits)
    }
}

/// A learning whose header says this trust.
fn marked(entry: &Entry, trust: Trust, group: Group<'_>, reason: &str) -> Result<Edit, String> {
    let document = &entry.document;
    let mut draft = document.draft();
    draft.set(TRUST, trust.name());
    let after = draft.finish().map_err(|error| error.to_string())?;
    Ok(group.change(&entry.path, (document.bytes(), after.bytes()), reason, &[]))
}
