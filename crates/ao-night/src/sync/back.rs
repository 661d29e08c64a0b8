//! What is written back to an item that somebody else put into the queue.
//!
//! Its id, its command and its bead are written where it has none: what it says itself stays, also where the
//! packet says otherwise. Only the path of the packet is the night's own to change.

use ao_contract::{MorningPacket, WorkItem};
use serde_json::Value;

use super::{Field, Night, packet_path};
use crate::command::is_default;
use crate::packets::{own_command, said};

pub(super) fn fields(item: &WorkItem, packet: &MorningPacket, night: &Night<'_>) -> Vec<Field> {
    let is_kept = |own: Option<&String>| {
        said(own).is_some() && !ao_mutant::active("REP-20/overwrites-the-item")
    };
    let text = |text: &str| Value::from(text);
    let mut fields = Vec::new();
    if !is_kept(item.id.get()) {
        fields.push(("id", text(&packet.id)));
    }
    fields.push(("packet_path", text(&packet_path(packet, night))));
    if own_command(item).is_none() || ao_mutant::active("REP-20/overwrites-the-item") {
        fields.push(("morning_command", text(&packet.morning_command)));
        if !is_default(&packet.morning_command, &packet.id) {
            fields.push(("written_command", text(&packet.morning_command)));
        }
    }
    if let Some(bead) = packet.bead_id.as_deref().filter(|_| !is_kept(item.bead_id.get())) {
        fields.push(("bead_id", text(bead)));
    }
    fields
}
