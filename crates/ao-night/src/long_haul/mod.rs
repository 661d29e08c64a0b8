//! The long haul: a night that is not sure of its first packet looks further before it hands over.
//!
//! Each probe looks for something that the night does not have yet, and says whether it found it.
//! Nothing here asks a model, and nothing here lowers a confidence: a packet is raised by what is
//! independent of it ([`supports`]), by published rules ([`raise`]), one step a probe.

mod copies;
mod facts;
mod fallback;
mod origin;
mod own;
mod probe;
mod raise;
mod supports;
mod tally;

pub(crate) use facts::Facts;
pub(crate) use fallback::{asked_about, new_sources};
pub(crate) use probe::{Looked, look, probe};
pub(crate) use tally::{Tally, Tried};

use ao_contract::{Level, MorningPacket};

/// No night makes more looks for what speaks for its packets.
pub(crate) const LOOKS_MAX: usize = 8;

pub(crate) const BELOW_HIGH: &str = "packet confidence below high";
pub(crate) const NO_PACKET: &str = "there is no packet";
pub(crate) const HIGH_ALREADY: &str = "the top packet's confidence is high already";
pub(crate) const TOP_IS_HIGH: &str = "top packet confidence is high";
pub(crate) const STREAK: &str = "zero_delta_probe_streak >= 2";
pub(crate) const NOTHING_LEFT: &str = "nothing left to probe";
pub(crate) const TIME_ENDED: &str = "the time ended";
pub(crate) const STOPPED: &str = "the run was stopped";
/// What the steps of a council say that was not needed.
pub(crate) const NOT_ASKED: &str =
    "not asked: the top packet's confidence is high after corroboration";

/// Where the first packet is among the packets.
pub(crate) fn top(packets: &[MorningPacket]) -> Option<usize> {
    let ranked = packets.iter().enumerate().min_by_key(|(_, packet)| packet.rank);
    ranked.map(|(at, _)| at)
}

pub(crate) fn is_high(packet: &MorningPacket) -> bool {
    packet.confidence.known() == Some(&Level::High)
}

#[cfg(test)]
mod tests;
