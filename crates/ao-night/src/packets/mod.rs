//! Morning packets: what a person or an agent should do first, ranked, with the evidence for it.
//!
//! Leads are gathered from every source, cheap and without their texts, then ranked, and only the few
//! that are shown are drawn up. A packet carries checks, and one of which a check fails already is
//! dropped: nobody is woken up for work that is done.
//!
//! The order is that of [`PacketSource`]: what the operator asked for comes first, in the order of the
//! file; then the work queue, where an item is strong; then open findings; then weak items; then what
//! the night saw itself. Within one source it is severity that counts. See `docs/packets.md`.

mod asked;
mod draft;
mod findings;
mod identity;
mod lead;
mod night;
mod synthesized;
mod work;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use ao_contract::{
    Defrag, DroppedPacket, Extra, Fitness, MetricsHealth, MorningPacket, PacketSource,
};
use ao_corpus::Tree;

use crate::check::Checker;
use crate::command::Template;
use crate::place::Place;
use crate::queue::QueueItem;
use crate::shell::Shell;
use crate::verdict::Verdict;
use crate::work_queue::State;
use draft::Draft;
use lead::{Lead, What};

pub(crate) use asked::id_of_title;
pub(crate) use work::{own_command, packet_id, places, said};

/// More than a few are a backlog, and a backlog is not read in the morning.
pub const PACKETS_MAX: usize = 5;
/// What is already done is told of, but not at length.
const DROPPED_MAX: usize = 20;

/// The operator's queue, and where it lies.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub items: &'a [QueueItem],
    /// The file, relative to the repository; `None` if it lies elsewhere.
    pub file: Option<&'a str>,
}

/// Everything that packets are made from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    pub place: Place<'a>,
    /// The name of the repository, as `target_repo` in the work queue spells it.
    pub repo: &'a str,
    /// The folder of the run's artifacts.
    pub output_dir: &'a Path,
    pub command: &'a Template,
    pub asked: Option<Asked<'a>>,
    /// The bytes of `rpi/next-work.jsonl`.
    pub next_work: Option<&'a [u8]>,
    /// The corpus as it was committed.
    pub tree: &'a Tree,
    pub defrag: Option<&'a Defrag>,
    pub health: Option<&'a MetricsHealth>,
    /// The metrics before the first iteration and after the last.
    pub fitness_before: Option<&'a Fitness>,
    pub fitness_after: Option<&'a Fitness>,
    /// For the checks that are commands.
    pub shell: Shell<'a>,
}

/// The packets of a night, and what became of the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gathered {
    /// By rank.
    pub packets: Vec<MorningPacket>,
    /// How many more were ranked and left out, by source.
    pub left_out: BTreeMap<String, u64>,
    /// What is done already, or somebody has.
    pub dropped: Vec<DroppedPacket>,
    /// The beads that items of the work queue are linked to, by the id of their packet.
    pub beads: BTreeMap<String, String>,
    /// Lines and items of the work queue that cannot be read.
    pub unread: u64,
    /// How many checks that are commands were not answered, and why the first of them was not.
    pub unanswered: Option<(usize, String)>,
}

/// What is known of the work queue while leads are gathered.
#[derive(Debug, Default)]
struct Known {
    /// Items that somebody has or that are done, by the id of their packet.
    taken: HashMap<String, State>,
}

pub fn gather(sources: &Sources<'_>) -> Gathered {
    let mut gathered = Gathered::default();
    let mut queue =
        sources.next_work.map(|bytes| work::read(bytes, sources.repo)).unwrap_or_default();
    gathered.unread = queue.unread;
    gathered.beads = std::mem::take(&mut queue.beads);
    let known = Known { taken: std::mem::take(&mut queue.taken) };

    let mut seen = findings::leads(sources, &queue);
    seen.extend(night::leads(sources));
    seen.retain(|lead| !is_settled(lead, &known, &mut gathered));
    let mut leads = asked::leads(sources, &queue);
    leads.extend(queue.leads());
    leads.extend(seen);
    lead::rank(&mut leads);

    let checker = Checker::new(sources.place, sources.shell);
    let mut leads = lead::Ranked::new(leads);
    while gathered.packets.len() < PACKETS_MAX
        && let Some(lead) = leads.next(&gathered.packets)
    {
        let Some(draft) = draw(sources, &known, &lead) else { continue };
        match draft.checked(&checker) {
            Ok(draft) => {
                let packet = draft.finish(sources, &lead, gathered.packets.len());
                gathered.packets.push(packet);
            }
            Err((title, why)) => gathered.drop(&lead.id, title, why),
        }
    }
    if gathered.packets.is_empty() && !ao_mutant::active("REP-15/no-fallback") {
        let lead = synthesized::lead(sources);
        // Its checks only tell that it was done since.
        if let Some(Ok(draft)) = draw(sources, &known, &lead).map(|draft| draft.checked(&checker)) {
            gathered.packets.push(draft.finish(sources, &lead, 0));
        }
    }
    gathered.unanswered = checker.unanswered();
    for lead in leads.rest() {
        *gathered.left_out.entry(lead.source_name()).or_default() += 1;
    }
    gathered
}

impl Gathered {
    fn drop(&mut self, id: &str, title: String, why: String) {
        if self.dropped.len() < DROPPED_MAX {
            self.dropped.push(DroppedPacket { id: id.to_owned(), title, why, extra: Extra::new() });
        }
    }
}

/// Somebody has this very work, or says that it is done.
fn is_settled(lead: &Lead<'_>, known: &Known, gathered: &mut Gathered) -> bool {
    match known.taken.get(&lead.id) {
        // A figure can fall again after it was seen to.
        Some(State::Consumed(_)) => lead.is_about_one_thing(),
        Some(State::Claimed(by)) => {
            let by = if by.is_empty() { "somebody" } else { by };
            let why = format!("{} works on it", crate::plain::one_line(by, 80));
            gathered.drop(&lead.id, lead.name(), why);
            true
        }
        Some(State::Available) | None => false,
    }
}

/// `None` for what went meanwhile.
fn draw<'a>(sources: &Sources<'a>, known: &Known, lead: &Lead<'a>) -> Option<Draft<'a>> {
    match &lead.what {
        What::Asked { item, queued } => {
            Some(asked::draft(sources, item, queued.as_ref(), known.taken.get(&lead.id)))
        }
        What::Queued(spot) => work::draft(sources, spot),
        What::Finding { path } => findings::draft(sources, path),
        What::Seen(seen) => Some(night::draft(sources, seen)),
        What::Weakest => Some(synthesized::draft(sources)),
    }
}

/// Those of the packets that stood in a queue before the night looked around.
pub fn queued(packets: &[MorningPacket]) -> Vec<MorningPacket> {
    packets.iter().filter(|packet| is_queue_backed(packet)).cloned().collect()
}

pub(crate) fn is_queue_backed(packet: &MorningPacket) -> bool {
    let source = packet.source.as_ref().and_then(|source| source.known());
    packet.queue_item.is_some() || source == Some(&PacketSource::NextWork)
}

/// Whether a check of a draft fails already; what cannot be checked does not.
fn failed(verdicts: &[Verdict]) -> Option<String> {
    verdicts.iter().find_map(|verdict| match verdict {
        Verdict::Done(why) => Some(why.clone()),
        Verdict::True | Verdict::NotChecked(_) => None,
    })
}
