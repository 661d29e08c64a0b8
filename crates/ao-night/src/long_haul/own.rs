//! What a packet is made of: what repeats it does not speak for it.

use std::collections::BTreeSet;

use ao_contract::{Check, MorningPacket, PacketSource};
use ao_corpus::Tree;
use ao_corpus::duplicates::Features;

use super::copies::{features, is_quotation};
use super::origin::Origin;
use crate::place::AGENTS;

/// What a packet says and what it says that from.
#[derive(Debug)]
pub(super) struct Own {
    /// Paths beneath `.agents/`.
    pub(super) paths: BTreeSet<String>,
    origin: Origin,
    /// Its own words, line by line and as a whole, and those of the entries that it is made from.
    texts: Vec<Features>,
}

impl Own {
    pub(super) fn of(packet: &MorningPacket, tree: &Tree) -> Self {
        let paths = paths(packet);
        let lines = packet.evidence.iter().map(String::as_str);
        let said: Vec<&str> = std::iter::once(subject(packet)).chain(lines).collect();
        // Whoever repeats one line of many repeats little of the whole.
        let mut texts: Vec<Features> = said.iter().map(|line| Features::of([*line])).collect();
        texts.push(Features::of(said));
        let mut own = Self { texts, origin: Origin::default(), paths: BTreeSet::new() };
        for path in &paths {
            own.origin.add(Origin::named(path));
            if let Some(entry) = tree.entry(path) {
                own.origin.add(Origin::of(&entry));
                own.texts.push(features(&entry));
            }
        }
        own.paths = paths;
        own
    }

    /// Whether something comes from where the packet comes from.
    pub(super) fn is_origin_of(&self, origin: &Origin) -> bool {
        self.origin.meets(origin)
    }

    /// Whether a text repeats the packet, or what the packet is made from.
    pub(super) fn is_repeated_by(&self, text: &Features) -> bool {
        self.texts.iter().any(|own| is_quotation(own, text))
    }
}

/// The title without the word that the night put before it.
pub(super) fn subject(packet: &MorningPacket) -> &str {
    packet.title.strip_prefix("Resolve: ").unwrap_or(&packet.title)
}

/// Whether the night itself saw what the packet is about: no entry bears witness to that.
pub(super) fn is_seen(packet: &MorningPacket) -> bool {
    let source = packet.source.as_ref().and_then(|source| source.known());
    matches!(source, Some(PacketSource::Night | PacketSource::Synthesized))
}

/// The entries that a packet names, by path beneath `.agents/` or by name.
pub(crate) fn paths(packet: &MorningPacket) -> BTreeSet<String> {
    let inner = |path: &str| {
        let path = path.trim().strip_prefix(AGENTS)?.strip_prefix('/')?;
        (!path.is_empty()).then(|| path.to_owned())
    };
    let mut paths: BTreeSet<String> =
        packet.target_files.iter().filter_map(|file| inner(file)).collect();
    for line in &packet.evidence {
        let is_around = |c: char| c.is_whitespace() || matches!(c, ':' | ',' | ';' | '`' | '"');
        paths.extend(line.split(is_around).filter_map(inner));
    }
    for check in &packet.still_true {
        match check {
            Check::PathExists { path }
            | Check::PathAbsent { path }
            | Check::TextInFile { path, .. }
            | Check::TextNotInFile { path, .. }
            | Check::FileHash { path, .. } => paths.extend(inner(path)),
            Check::Entry { entry: name } | Check::FindingOpen { finding: name } => {
                paths.insert(inner(name).unwrap_or_else(|| name.clone()));
            }
            Check::QueueItemOpen { .. } | Check::Shell { .. } | Check::Other(_) => {}
        }
    }
    paths
}
