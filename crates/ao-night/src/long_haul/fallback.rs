//! A brief for a night that has none: the first packets are the question.

use std::collections::BTreeSet;

use ao_contract::{KnowledgeBrief, MorningPacket};

use super::own::{paths, subject};

/// So many packets are asked about; more of them would ask about everything.
const PACKETS_ASKED: usize = 3;

/// What to ask, and the packets that it is made of.
pub(crate) fn asked_about(packets: &[MorningPacket]) -> (String, Vec<String>) {
    let mut ranked: Vec<&MorningPacket> = packets.iter().collect();
    ranked.sort_by_key(|packet| packet.rank);
    ranked.truncate(PACKETS_ASKED);
    let titles: Vec<&str> = ranked.iter().map(|packet| subject(packet)).collect();
    (titles.join("; "), ranked.iter().map(|packet| packet.id.clone()).collect())
}

/// The entries of a brief that no packet names: what the night had is no news.
pub(crate) fn new_sources(brief: &KnowledgeBrief, packets: &[MorningPacket]) -> Vec<String> {
    let known: BTreeSet<String> = packets.iter().flat_map(paths).collect();
    let paths = brief.sources.iter().map(|source| source.path.clone());
    paths.filter(|path| !known.contains(path)).collect()
}
