//! What the night was worth, counted from its packets.

use std::collections::BTreeMap;

use ao_contract::{MorningPacket, Open, PacketSource, Yield};

use crate::artifacts::word;
use crate::packets::is_queue_backed;

/// Counts packets. `before` are those that stood before the synthesis: for the first pass
/// [`crate::queued`]. What the council did is left at nothing.
pub fn yields(before: &[MorningPacket], after: &[MorningPacket]) -> Yield {
    let count = |is: &dyn Fn(&&MorningPacket) -> bool| after.iter().filter(is).count() as u64;
    let top = |packets: &[MorningPacket]| {
        let first = packets.iter().min_by_key(|packet| packet.rank);
        first.map(|packet| word(&packet.confidence)).unwrap_or_default()
    };
    let mut confidence_mix: BTreeMap<String, u64> = BTreeMap::new();
    for packet in after {
        *confidence_mix.entry(word(&packet.confidence)).or_default() += 1;
    }
    let first = after.iter().min_by_key(|packet| packet.rank);
    Yield {
        packet_count_before: before.len() as u64,
        packet_count_after: after.len() as u64,
        queue_backed_count: count(&|packet| is_queue_backed(packet)),
        queue_backed_won: first.is_some_and(is_queue_backed),
        synthetic_count: count(&|packet| is_synthetic(packet)),
        bead_sync_count: count(&|packet| packet.bead_id.is_some()),
        top_packet_confidence_before: top(if ao_mutant::active("REP-09/before-is-after") {
            after
        } else {
            before
        }),
        top_packet_confidence_after: top(after),
        confidence_mix,
        ..Yield::default()
    }
}

/// Whether the night itself made it: nobody had put it into a queue.
fn is_synthetic(packet: &MorningPacket) -> bool {
    let source = packet.source.as_ref().and_then(Open::known);
    if ao_mutant::active("REP-09/leaves-findings-out") {
        return source == Some(&PacketSource::Synthesized);
    }
    !is_queue_backed(packet) && source != Some(&PacketSource::OperatorQueue)
}
