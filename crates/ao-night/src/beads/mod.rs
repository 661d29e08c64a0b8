//! Morning packets as beads: made once, kept up to date, never made twice.
//!
//! A bead is known by the packet's id in its metadata. It is looked up before anything is written,
//! so a `bd` that was ended half-way leaves nothing that the next night would double. What a person
//! did with a bead counts more than what the night has to say: a closed one stays closed, one whose
//! text was changed keeps it, and its state, priority and labels are nobody's business here.
//!
//! An item of the work queue may name a bead of its own. That bead is the packet's: it is looked up and
//! linked, its text stays its author's, and no other one is made, also where it cannot be found.
//!
//! `bd` runs in a cell: its own folder is the one place that it writes, and it reaches nobody.
//!
//! Whatever goes wrong is told and not made worse: what was linked stays linked, and the night
//! goes on.

mod bd;
mod text;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::{MorningPacket, StepStatus};
use ao_guard::cell::Limits;

use crate::host::Host;
use bd::{Bd, Bead, Trouble};
use text::Text;

/// How far one call of `bd` may go.
pub const CALL: Limits = Limits {
    time: Duration::from_secs(20),
    output_bytes: 4 * 1024 * 1024,
    memory_bytes: 2 * 1024 * 1024 * 1024,
    processes: 256,
    file_bytes: 1024 * 1024 * 1024,
};
/// Where `bd` keeps its beads, beneath the repository.
const FOLDER: &str = ".beads";

/// What a sync did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BeadSync {
    pub created: usize,
    pub updated: usize,
    /// Beads that already said it.
    pub unchanged: usize,
    /// Beads that are there and could not be brought up to date.
    pub stale: Vec<String>,
    /// Beads whose text a person changed; it was left to them.
    pub kept: Vec<String>,
    /// Beads that a person closed; they stay closed.
    pub closed: Vec<String>,
    /// Processes that `bd` left behind, and that were ended.
    pub left_behind: u32,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Outcome {
    #[default]
    Done,
    /// Not all of it could be done, and why.
    SoftFail(String),
}

impl BeadSync {
    /// How many packets have a bead.
    pub fn linked(&self) -> usize {
        let Self { created, updated, unchanged, .. } = self;
        created + updated + unchanged + self.stale.len() + self.kept.len() + self.closed.len()
    }

    pub fn status(&self) -> StepStatus {
        match self.outcome {
            Outcome::Done => StepStatus::Done,
            Outcome::SoftFail(_) => StepStatus::SoftFail,
        }
    }

    /// All of it in one line, for the step of the report.
    pub fn note(&self) -> String {
        let mut parts = Vec::new();
        let counts = [
            (self.created, "created"),
            (self.updated, "updated"),
            (self.unchanged, "as they were"),
        ];
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            parts.push(format!("{count} {what}"));
        }
        let named = [
            (&self.stale, "not brought up to date"),
            (&self.kept, "changed by hand and left so"),
            (&self.closed, "closed and left so"),
        ];
        for (ids, what) in named.into_iter().filter(|(ids, _)| !ids.is_empty()) {
            parts.push(format!("{} {what}", ids.join(", ")));
        }
        if self.left_behind > 0 {
            parts.push(format!(
                "processes that bd left behind and that were ended: {}",
                self.left_behind
            ));
        }
        let linked = format!("{} linked", self.linked());
        let done =
            if parts.is_empty() { linked } else { format!("{linked}: {}", parts.join("; ")) };
        match &self.outcome {
            Outcome::Done => done,
            Outcome::SoftFail(why) => format!("{done}. {why}"),
        }
    }
}

/// The bead of a packet, and what was done with it.
struct Link {
    bead: String,
    fate: Fate,
}

enum Fate {
    Created,
    /// It says by now what its packet says, or which packet is linked to it.
    Updated,
    Unchanged,
    Stale(Trouble),
    Kept,
    Closed,
}

/// Gives each packet its bead. `named` are the beads that the items of packets name, by the id of the packet;
/// `call` bounds each call of `bd`, see [`CALL`].
pub fn sync(
    host: &Host,
    packets: &mut [MorningPacket],
    named: &BTreeMap<String, String>,
    call: Limits,
    stop: &AtomicBool,
) -> BeadSync {
    let mut done = BeadSync::default();
    if packets.is_empty() {
        return done;
    }
    let path = match host.find(&host.beads) {
        Ok(path) => path,
        Err(_) if ao_mutant::active("RUN-21/missing-bd-is-fine") => return done,
        Err(missing) => {
            done.outcome = Outcome::SoftFail(format!("no beads: {missing}"));
            return done;
        }
    };
    let folder = match host.cells.own_folder(&host.repository.join(FOLDER)) {
        Ok(folder) => folder,
        Err(why) => {
            let why = ao_tree::shown(&why);
            done.outcome = Outcome::SoftFail(format!("no beads: bd has no folder here: {why}"));
            return done;
        }
    };
    let bd = Bd { host, path, folder, call, stop, left_behind: Cell::new(0) };
    let mut troubles: Vec<Trouble> = Vec::new();
    let mut left_out = 0;
    for packet in packets {
        // One that hangs once hangs again, and the morning does not wait.
        if troubles.iter().any(|trouble| trouble.is_final) {
            left_out += 1;
            continue;
        }
        match link(&bd, packet, named.get(&packet.id).map(String::as_str)) {
            Ok(Link { bead, fate }) => {
                packet.bead_id = Some(bead.clone());
                match fate {
                    Fate::Created => done.created += 1,
                    Fate::Updated => done.updated += 1,
                    Fate::Unchanged => done.unchanged += 1,
                    Fate::Kept => done.kept.push(bead),
                    Fate::Closed => done.closed.push(bead),
                    Fate::Stale(trouble) => {
                        done.stale.push(bead);
                        troubles.push(trouble);
                    }
                }
            }
            Err(trouble) => {
                left_out += 1;
                troubles.push(trouble);
            }
        }
    }
    done.left_behind = bd.left_behind.get();
    done.outcome = outcome(&troubles, left_out);
    done
}

fn outcome(troubles: &[Trouble], left_out: usize) -> Outcome {
    let mut whys: Vec<&str> = Vec::new();
    for trouble in troubles {
        if !whys.contains(&trouble.what.as_str()) {
            whys.push(&trouble.what);
        }
    }
    match (whys.is_empty(), left_out) {
        (true, _) => Outcome::Done,
        (false, 0) => Outcome::SoftFail(whys.join("; ")),
        (false, count) => Outcome::SoftFail(format!("{count} not linked: {}", whys.join("; "))),
    }
}

fn link(bd: &Bd<'_>, packet: &MorningPacket, named: Option<&str>) -> Result<Link, Trouble> {
    let text = Text::of(packet);
    let named = named.filter(|_| !ao_mutant::active("REP-20/doubles-the-bead"));
    let known = bd.look_up(&packet.id)?.filter(|_| !ao_mutant::active("REP-16/a-bead-each-night"));
    let is_it = |bead: &Bead| named.is_none_or(|named| bead.id == named);
    let bead = match (known.filter(is_it), named) {
        (Some(bead), _) => bead,
        (None, Some(named)) => bd.show(named).map_err(|trouble| {
            let (id, named) = (&packet.id, ao_tree::shown(named));
            let what = format!("the item of {id} names the bead {named}: {}", trouble.what);
            Trouble { what, ..trouble }
        })?,
        (None, None) => {
            let bead = create(bd, packet, &text)?;
            return Ok(Link { bead, fate: Fate::Created });
        }
    };
    let fate = if bead.is_closed {
        Fate::Closed
    } else if named.is_some() && bead.packet.as_deref() != Some(&packet.id) {
        bd.adopt(&bead.id, &packet.id).map_or_else(Fate::Stale, |()| Fate::Updated)
    } else if bead.is_of_others() {
        Fate::Unchanged
    } else if is_edited(&bead) {
        Fate::Kept
    } else if bead.mark.as_deref() == Some(&text.mark())
        || ao_mutant::active("REP-16/bead-is-not-updated")
    {
        Fate::Unchanged
    } else {
        bd.update(&bead.id, &text).map_or_else(Fate::Stale, |()| Fate::Updated)
    };
    Ok(Link { bead: bead.id, fate })
}

fn create(bd: &Bd<'_>, packet: &MorningPacket, text: &Text) -> Result<String, Trouble> {
    match bd.create(packet, text) {
        Err(trouble) if !trouble.is_final => match bd.look_up(&packet.id) {
            // It is there although its maker failed, or said so in no words that can be read.
            Ok(Some(bead)) => Ok(bead.id),
            Ok(None) | Err(_) => Err(trouble),
        },
        other => other,
    }
}

/// Whether a person has changed what the night last wrote. If that cannot be known they have not.
fn is_edited(bead: &Bead) -> bool {
    let (Some(title), Some(body), Some(mark)) = (&bead.title, &bead.description, &bead.mark) else {
        return false;
    };
    text::mark_of(title, body) != *mark
}
