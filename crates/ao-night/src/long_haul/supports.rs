//! What speaks for a packet, and what only seems to.
//!
//! Entries are found by the words of the packet's title. One counts if it has most of them, has a text
//! of its own, and comes from somewhere else than the packet and every other that counts.

use std::collections::BTreeSet;

use ao_contract::{Extra, MorningPacket, NotCounted, Support, SupportKind, Trust};
use ao_corpus::duplicates::Features;
use ao_corpus::search::Hit;
use ao_corpus::trust::warned;
use ao_corpus::{Entry, Kind, Tree, words};

use super::copies::{features, is_quotation, is_short};
use super::facts::Facts;
use super::origin::Origin;
use super::own::{Own, is_seen, subject};
use crate::place::{AGENTS, Place};
use crate::plain::{LINE_CHARS_MAX, one_line, title};
use crate::verdict::Verdict;

/// A title of fewer stems finds anything.
pub(super) const TITLE_STEMS_MIN: usize = 3;
/// An entry has at least so many of them, and this share of what they are worth.
const SHARED_STEMS_MIN: usize = 3;
const COVERAGE_MIN: f64 = 0.5;
/// A larger file is not looked into.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// What does not count is told of, but not at length.
const NOT_COUNTED_MAX: usize = 10;

/// What was found for a packet.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) supports: Vec<Support>,
    pub(super) not_counted: Vec<NotCounted>,
}

pub(super) fn support(kind: SupportKind, at: &str, says: &str) -> Support {
    let says = one_line(says, LINE_CHARS_MAX);
    Support { kind: kind.into(), at: ao_tree::shown(at), says, extra: Extra::new() }
}

/// Looks at everything that could speak for a packet, best hits first.
pub(super) fn find(
    packet: &MorningPacket,
    hits: &[Hit],
    (tree, place): (&Tree, Place<'_>),
    facts: &Facts,
) -> Found {
    let own = Own::of(packet, tree);
    let stems: BTreeSet<String> = words::stems(subject(packet)).into_iter().collect();
    let mut witnesses = Witnesses::default();
    let mut found = Found::default();
    for hit in hits.iter().filter(|hit| hit.confidence >= COVERAGE_MIN) {
        let Some(entry) = tree.entry(&hit.path) else { continue };
        if shared(&stems, &text_of(&entry)) < SHARED_STEMS_MIN {
            continue;
        }
        let at = format!("{AGENTS}/{}", entry.path);
        match witnesses.hear(&entry, &own, packet) {
            Ok(kind) => found.supports.push(support(kind, &at, &title(&entry.title()))),
            Err(why) if found.not_counted.len() < NOT_COUNTED_MAX => {
                let at = ao_tree::shown(&at);
                found.not_counted.push(NotCounted { at, why, extra: Extra::new() });
            }
            Err(_) => {}
        }
    }
    found.supports.extend(facts.supports(packet, &own));
    found.supports.extend(file(packet, &stems, place));
    found
}

/// Those that count so far.
#[derive(Debug, Default)]
struct Witnesses {
    heard: Vec<(String, Origin, Features)>,
    /// Of those that do not say where they come from, one counts: all could be of one hand.
    unsaid: Option<String>,
}

impl Witnesses {
    /// As what an entry counts; the error says why it does not.
    fn hear(
        &mut self,
        entry: &Entry,
        own: &Own,
        packet: &MorningPacket,
    ) -> Result<SupportKind, String> {
        let kind = match entry.kind {
            Kind::Finding if entry.is_open_finding() => SupportKind::Finding,
            Kind::Finding => return Err("it is a finding that is dealt with".into()),
            _ if is_seen(packet) => {
                return Err("the night saw this itself; an entry bears no witness to it".into());
            }
            _ => SupportKind::Entry,
        };
        let (origin, text) = (Origin::of(entry), features(entry));
        if own.is_origin_of(&origin) {
            return Err("it comes from where the packet comes from".into());
        }
        if let Some(trust) = warned(entry) {
            return Err(match trust {
                Trust::Model => "a model inferred it".into(),
                trust => format!("it is trusted as `{trust}` alone"),
            });
        }
        if is_short(&text) {
            return Err("it is too short to say anything of its own".into());
        }
        if own.is_repeated_by(&text) {
            return Err("it repeats the packet's own words".into());
        }
        for (path, other, words) in &self.heard {
            if origin.meets(other) {
                return Err(format!("it comes from where {path} comes from"));
            }
            if is_quotation(&text, words) {
                return Err(format!("it repeats {path}"));
            }
        }
        if !origin.is_said() {
            if let Some(path) = &self.unsaid {
                return Err(format!("neither it nor {path} says where it comes from"));
            }
            self.unsaid = Some(ao_tree::shown(&entry.path));
        }
        self.heard.push((ao_tree::shown(&entry.path), origin, text));
        Ok(kind)
    }
}

fn text_of(entry: &Entry) -> String {
    let tags = entry.document.texts("tags").join(" ");
    format!("{} {tags} {}", entry.title(), entry.document.body())
}

/// How many of the stems a text has.
fn shared(stems: &BTreeSet<String>, text: &str) -> usize {
    let has: BTreeSet<String> = words::stems(text).into_iter().collect();
    stems.intersection(&has).count()
}

/// The first file outside of the corpus that the packet names and that is about it. More of them are
/// one: they were all named by the same hand.
fn file(packet: &MorningPacket, stems: &BTreeSet<String>, place: Place<'_>) -> Option<Support> {
    let corpus = format!("{AGENTS}/");
    packet.target_files.iter().filter(|path| !path.starts_with(&corpus)).find_map(|path| {
        let count = || match place.read(path, FILE_BYTES_MAX) {
            Ok(Some(bytes)) => {
                // Names in code are words, too.
                let text = String::from_utf8_lossy(&bytes).replace('_', " ");
                Verdict::Done(shared(stems, &text).to_string())
            }
            Ok(None) | Err(_) => Verdict::NotChecked("it cannot be read".into()),
        };
        // The file is not kept, and another one the day after: what was counted is.
        let counted = match place.outside {
            Some(outside) => outside.check(&format!("words of {stems:?} in {path}"), count),
            None => count(),
        };
        let Verdict::Done(shared) = counted else { return None };
        let shared: usize = shared.parse().ok()?;
        let says = format!("it has {shared} words of the title");
        (shared >= SHARED_STEMS_MIN).then(|| support(SupportKind::File, path, &says))
    })
}
