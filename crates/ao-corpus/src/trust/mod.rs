//! How far a text is trusted, and what speaks of poison in it.
//!
//! Trust is computed, never taken at its word: a person's word, a commit of the repository, or nothing stand behind a
//! text, and what a file says of itself can only lower it. What is written to steer whoever reads it (see [`signs`])
//! waits for a person, whoever it seems to come from.

mod acts;
mod codes;
mod dress;
mod escapes;
mod hidden;
mod joined;
mod letters;
mod packed;
mod phrases;
mod rules;
mod shapes;
mod signs;
mod tongues;
mod turned;
mod view;
mod vouches;

use ao_contract::{CommittedTexts, Sign, Trust};
use serde_json::Value;

use crate::corpus::{Entry, Kind};
use crate::document::Document;

use crate::harvest::HASH as HARVEST_HASH;
use crate::transcripts::HASH as TRANSCRIPT_HASH;
pub use signs::signs;
pub use vouches::{FOLDER as VOUCHED, Vouches, hash_of, path_of};

/// The key of a header that says it.
pub const TRUST: &str = "trust";
/// How far a text must be trusted to be promoted, where nobody says.
pub const PROMOTE_AT: Trust = Trust::Unverified;
/// What an entry of knowledge that does not say is worth: nothing comes there without a mark but by a commit, or by the
/// hand of somebody who may write there anything.
pub const UNSAID: Trust = Trust::Code;
/// The mark of what nothing stands behind.
pub const MARK: Trust = Trust::Unverified;

/// Fields that name where a text comes from; an address in one of them is anybody's.
const SOURCES: [&str; 9] =
    ["source", "source_url", "sources", "url", "urls", "link", "origin", "evidence", "reference"];
/// Fields that only a model's text has.
const DRAFTED: [&str; 4] = ["drafted_by", "curator_job", "generated_by", "drafted_from"];

/// What trust needs to know beside a text.
#[derive(Debug, Clone)]
pub struct Told {
    /// What is trusted less is not promoted without a person.
    pub promote_at: Trust,
    pub vouches: Vouches,
    /// Pending texts that are in a commit.
    pub committed: CommittedTexts,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            promote_at: PROMOTE_AT,
            vouches: Vouches::default(),
            committed: CommittedTexts::default(),
        }
    }
}

/// How far one text is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub trust: Trust,
    /// What it is trusted by, each in a few words.
    pub why: Vec<String>,
    pub signs: Vec<Sign>,
    pub is_vouched: bool,
    /// Where it was brought in from, if it was: then it waits for a person, however far it is trusted.
    pub brought: Option<Brought>,
}

/// Where a pending text was brought in from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brought {
    Transcript,
    Harvest,
}

impl Brought {
    /// What the header of a pending text says. Who leaves it out says less for the text, and not more.
    fn of(entry: &Entry) -> Option<Self> {
        if entry.kind != Kind::Pending || ao_mutant::active("GRD-07/a-lesson-needs-nobody") {
            return None;
        }
        let has = |key| entry.document.has(key);
        if has(TRANSCRIPT_HASH) {
            Some(Self::Transcript)
        } else {
            has(HARVEST_HASH).then_some(Self::Harvest)
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Transcript => "a transcript",
            Self::Harvest => "another repository",
        }
    }
}

impl Judged {
    /// Whether only a person's word can promote it.
    pub fn waits(&self, promote_at: Trust) -> bool {
        let is_held = !self.signs.is_empty() || self.brought.is_some();
        is_held && !self.is_vouched || self.trust < promote_at
    }
}

/// Judges an entry: how far it is trusted, and what speaks of poison in it.
pub fn judge(entry: &Entry, told: &Told) -> Judged {
    let (trust, mut why, is_vouched) = weighed(entry, &told.vouches, Some(&told.committed));
    let brought = Brought::of(entry);
    if let Some(brought) = brought.filter(|_| !is_vouched) {
        why.insert(0, format!("it comes from {}", brought.name()));
    }
    Judged { trust, why, signs: signs(entry), is_vouched, brought }
}

/// How far an entry is trusted, why, and whether that is a person's word.
fn weighed(
    entry: &Entry,
    vouches: &Vouches,
    committed: Option<&CommittedTexts>,
) -> (Trust, Vec<String>, bool) {
    // To be promoted made nothing more of the text that was filed.
    let is_pending = matches!(entry.kind, Kind::Pending | Kind::Processed);
    let (mut trust, mut why) = said(&entry.document);
    let vouch = vouches.of(entry).filter(|_| is_pending || trust == Trust::User);
    if let Some(vouch) = vouch {
        let how = match vouch.trust() {
            Trust::User => "at a terminal",
            _ => "through a script, which counts as `code`",
        };
        return (
            vouch.trust(),
            vec![format!("a person vouched for it {how}: {}", vouch.why)],
            true,
        );
    }
    if trust == Trust::User {
        trust = Trust::Code;
        why.push("it says `user`, and nobody's word for it is here: `code` at most".into());
    }
    if is_pending {
        let (most, because) = behind(entry, committed);
        trust = trust.min(most);
        why.insert(0, because);
    }
    (trust, why, false)
}

/// What stands behind a text that nobody vouched for and that is or was pending.
fn behind(entry: &Entry, committed: Option<&CommittedTexts>) -> (Trust, String) {
    let is_committed = committed
        .is_some_and(|texts| texts.files.get(&entry.path) == Some(&hash_of(&entry.document)));
    if is_committed || ao_mutant::active("GRD-07/unknown-is-code") {
        return (
            Trust::Code,
            "it is in the newest commit of this repository, byte for byte".into(),
        );
    }
    match committed.and_then(|texts| texts.unread.as_ref()) {
        Some(why) => (MARK, format!("git cannot say whether it is in a commit: {why}")),
        None => (MARK, "nobody vouched for it, and it is in no commit".into()),
    }
}

/// For whoever shows an entry beside another: how far it is trusted, where its header says so or names a source that
/// bears on it, and the source that lowers it.
pub(crate) fn with_source(entry: &Entry, vouches: &Vouches) -> (Option<Trust>, Option<String>) {
    let (trust, _, is_vouched) = weighed(entry, vouches, None);
    let document = &entry.document;
    let is_said = is_vouched || document.field(TRUST).is_some() || trust != UNSAID;
    let address = || SOURCES.iter().find_map(|key| first_address(document.get(key)?.as_ref()));
    let drafted = || DRAFTED.iter().find_map(|key| document.text(key).map(|text| text.to_string()));
    let source = match trust {
        Trust::Web => address(),
        Trust::Model => drafted().or_else(address),
        Trust::Tool | Trust::Unverified | Trust::Code | Trust::User => None,
    };
    (is_said.then_some(trust), source)
}

/// What the header of an entry comes to by itself, and why.
fn said(document: &Document) -> (Trust, Vec<String>) {
    let mut trust = UNSAID;
    let mut why = Vec::new();
    match word(document) {
        Some(word) => {
            trust = Trust::of_word(&word);
            let is_known = trust.name() == word.trim().to_lowercase();
            let known = if is_known { "" } else { ", which counts as `model`" };
            why.push(format!("its header says `{}`{known}", ao_tree::shown(&word)));
        }
        None => why.push("its header says nothing of it".into()),
    }
    let mut lower = |to: Trust, because: String| {
        if to < trust {
            trust = to;
            why.push(because);
        }
    };
    for key in SOURCES {
        if document.get(key).is_some_and(|value| has_address(&value)) {
            lower(Trust::Web, format!("its `{key}` is an address: anybody can have written it"));
        }
    }
    for key in DRAFTED {
        if document.has(key) {
            lower(Trust::Model, format!("it has `{key}`: a model wrote it"));
        }
    }
    (trust, why)
}

/// What a header says, also where it is no word: then it is worth nothing.
fn word(document: &Document) -> Option<String> {
    let value = document.field(TRUST)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn has_address(value: &Value) -> bool {
    first_address(value).is_some()
}

/// The first text of a field that has an address in it.
fn first_address(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let lower = text.to_lowercase();
            let is_address =
                ["http:", "https:", "ftp:", "www."].iter().any(|start| lower.contains(start));
            is_address.then(|| text.clone())
        }
        Value::Array(items) => items.iter().find_map(first_address),
        Value::Object(map) => map.values().find_map(first_address),
        _ => None,
    }
}

/// What the header of a document says at most, for whoever hands it on; `None` where it says nothing and names
/// no source that would.
pub(crate) fn of_header(document: &Document) -> Option<Trust> {
    let trust = said(document).0;
    (document.field(TRUST).is_some() || trust != UNSAID).then_some(trust)
}

/// What is to be told to whoever reads an entry: how far it is trusted, where that is less than `code`.
pub fn warned(entry: &Entry) -> Option<Trust> {
    of_header(&entry.document).filter(|trust| *trust < UNSAID)
}

/// Signs in a few words.
pub fn told(signs: &[Sign]) -> String {
    let one = |sign: &Sign| format!("{} at {} (`{}`)", sign.kind, sign.place, sign.seen);
    signs.iter().map(one).collect::<Vec<_>>().join(", ")
}
