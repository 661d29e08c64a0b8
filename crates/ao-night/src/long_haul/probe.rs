//! One look for what speaks for a packet.

use std::collections::BTreeSet;

use ao_contract::{Corroboration, Extra, Level, MorningPacket, Open, PacketProbe};
use ao_corpus::Tree;
use ao_corpus::index::{Place as Searched, Question};
use ao_corpus::search::{Asking, Hit, search};

use super::facts::Facts;
use super::own::subject;
use super::raise::{needed, raised};
use super::supports::{TITLE_STEMS_MIN, find};
use crate::artifacts::word;
use crate::place::Place;

/// So many entries are looked at for a packet.
const HITS_MAX: usize = 20;

/// The corpus, asked about every packet.
#[derive(Debug)]
pub(crate) struct Looked {
    tree: Tree,
    /// In the order of the packets.
    hits: Vec<Vec<Hit>>,
}

/// Asks the corpus about packets.
pub(crate) fn look(searched: &Searched, packets: &[MorningPacket]) -> Result<Looked, String> {
    let asking = Asking { limit: HITS_MAX, as_of: None };
    let asked = searched.ask(|index| {
        let ask = |packet: &MorningPacket| {
            let question = Question::new(subject(packet));
            let stems: BTreeSet<&str> = question.stems().collect();
            if stems.len() < TITLE_STEMS_MIN {
                return Ok(Vec::new());
            }
            search(index, &question, asking)
        };
        packets.iter().map(ask).collect::<Result<_, _>>()
    });
    let (hits, _) = asked.map_err(|error| error.to_string())?;
    let tree = Tree::list(&searched.agents).map_err(|error| error.to_string())?;
    Ok(Looked { tree, hits })
}

/// Looks for what speaks for the packet at this place, and raises it by one step if that is enough. What
/// an earlier step was taken on is not used again.
pub(crate) fn probe(
    looked: &Looked,
    (at, packet): (usize, &mut MorningPacket),
    place: Place<'_>,
    facts: &Facts,
) -> PacketProbe {
    let hits = looked.hits.get(at).map_or(&[][..], Vec::as_slice);
    let mut found = find(packet, hits, (&looked.tree, place), facts);
    let used: BTreeSet<String> = packet
        .corroboration
        .iter()
        .flat_map(|before| before.supports.iter().map(|support| support.at.clone()))
        .collect();
    found.supports.retain(|support| !used.contains(&support.at));
    let before = packet.confidence.clone();
    let level = before.known().copied();
    let needed = level.and_then(needed).unwrap_or_default();
    let step = level.and_then(|level| raised(level, &found.supports));
    let told = match &step {
        Some((next, _)) => format!("raised from {} to {}", word(&before), word(&Open::from(*next))),
        None => short_of(level, found.supports.len(), needed),
    };
    if let Some((next, supports)) = step {
        if !ao_mutant::active("REP-10/raises-nothing") {
            packet.confidence = next.into();
        }
        let corroboration = packet.corroboration.get_or_insert_with(|| Corroboration {
            confidence_before: before.clone(),
            supports: Vec::new(),
            extra: Extra::new(),
        });
        corroboration.supports.extend(supports);
    }
    PacketProbe {
        packet: packet.id.clone(),
        title: packet.title.clone(),
        confidence_before: before,
        confidence_after: packet.confidence.clone(),
        needed: needed as u64,
        supports: found.supports,
        not_counted: found.not_counted,
        told,
        extra: Extra::new(),
    }
}

fn short_of(level: Option<Level>, found: usize, needed: usize) -> String {
    match level {
        None => "its confidence is not a word that is known here".into(),
        Some(Level::Medium) if found >= needed => {
            format!("{found} supports, and all of them are texts of the corpus")
        }
        Some(_) => format!("{found} supports of the {needed} that the next step asks for"),
    }
}
