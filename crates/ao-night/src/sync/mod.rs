//! Packets in the work queue: written there once, kept up to date after, never twice.
//!
//! The file belongs to many hands. A line that changes does so at the values that are meant, and at
//! no other byte; a line that cannot be read stays as it is; an item that somebody has or has done is
//! not touched. What comes out is read again before it counts.
//!
//! An item that a night wrote has all of its packet's fields, and they are kept up to date. To somebody else's
//! item only what the packet is known by is written back ([`back`]).

mod back;
mod splice;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use ao_contract::{
    Check, ClaimStatus, Confidence, Extra, Level, Maybe, MorningPacket, NextWork, Open, Severity,
    Text, Texts, WorkItem,
};
use ao_corpus::{OWN_SOURCE, is_night_item};
use ao_tree::{Action, Edit, FILE_BYTES_MAX, Seen};
use serde_json::Value;

use crate::artifacts::word;
use crate::packets::places;
use crate::work_queue::{self, NEXT_WORK, Spot, State};

/// What the queue calls the batches of nights; the run follows.
const EPIC: &str = "ao-overnight-";

/// Whose packets they are.
#[derive(Debug, Clone, Copy)]
pub struct Night<'a> {
    /// Where the repository is, so that paths in the queue are relative to it.
    pub root: &'a Path,
    /// The name of the repository: never that of a folder in which something is staged.
    pub repo: &'a str,
    pub run_id: &'a str,
    /// RFC 3339, UTC.
    pub timestamp: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyncError {
    #[error("the work queue is larger than {FILE_BYTES_MAX} bytes")]
    TooLarge,
}

/// What the work queue is to become; `None` if it has everything already.
pub fn sync(
    next_work: Option<&[u8]>,
    packets: &[MorningPacket],
    night: &Night<'_>,
) -> Result<Option<Edit>, SyncError> {
    let before = next_work.unwrap_or_default();
    if before.len() as u64 > FILE_BYTES_MAX {
        return Err(SyncError::TooLarge);
    }
    let own: BTreeMap<&str, &MorningPacket> =
        packets.iter().map(|packet| (packet.id.as_str(), packet)).collect();
    let mut places = places(before, night.repo);
    places.retain(|id, _| own.contains_key(id.as_str()));
    let mut there = BTreeSet::new();
    let mut after = Vec::with_capacity(before.len());
    let mut copied = 0;
    for line in work_queue::lines(before) {
        if let Some(new) = updated(before, &line, (&own, &places), &mut there, night) {
            after.extend_from_slice(&before[copied..line.start]);
            after.extend_from_slice(new.as_bytes());
            copied = line.end;
        }
    }
    after.extend_from_slice(&before[copied..]);
    // What came from an item stands there already, under whatever name.
    let is_new = |packet: &&MorningPacket| {
        let is_there = there.contains(packet.id.as_str());
        packet.queue_item.is_none() && (!is_there || ao_mutant::active("REP-16/a-line-each-night"))
    };
    let new: Vec<&MorningPacket> = packets.iter().filter(is_new).collect();
    if !new.is_empty() {
        add(&mut after, &new, night);
    }
    if after.len() as u64 > FILE_BYTES_MAX {
        return Err(SyncError::TooLarge);
    }
    let is_same =
        next_work.is_some_and(|before| before == after) || next_work.is_none() && after.is_empty();
    Ok((!is_same).then(|| edit(next_work, after, &own, night)))
}

fn edit(
    before: Option<&[u8]>,
    after: Vec<u8>,
    own: &BTreeMap<&str, &MorningPacket>,
    night: &Night<'_>,
) -> Edit {
    Edit {
        path: NEXT_WORK.to_owned(),
        action: Action::Write(after),
        mode: None,
        reason: format!("the morning packets of run {}", night.run_id),
        sources: own.values().map(|packet| packet_path(packet, night)).collect(),
        group: None,
        seen: Some(before.map_or(Seen::Nothing, Seen::bytes)),
    }
}

/// The line with the items of these packets up to date, if that changes it. `there` gets the packets
/// that the line has.
fn updated<'a>(
    bytes: &[u8],
    line: &Range<usize>,
    (own, places): (&BTreeMap<&'a str, &MorningPacket>, &BTreeMap<String, Spot>),
    there: &mut BTreeSet<&'a str>,
    night: &Night<'_>,
) -> Option<String> {
    let raw = &bytes[line.clone()];
    let named: Vec<&'a str> = own.keys().copied().filter(|id| holds(raw, id)).collect();
    let here = |spot: &&Spot| spot.line == *line;
    let from_here: BTreeMap<usize, &MorningPacket> = places
        .iter()
        .filter_map(|(id, spot)| Some((Some(spot).filter(here)?.place, *own.get(id.as_str())?)))
        .collect();
    let folder = own.values().next().map(|packet| packets_folder(packet, night));
    let folder = folder.filter(|folder| holds(raw, folder));
    if named.is_empty() && from_here.is_empty() && folder.is_none() {
        return None;
    }
    let mut changes = Vec::new();
    let unread = work_queue::each(raw, |queued| {
        let place = queued.spot.place;
        let id = queued.item.id.get().map(|id| id.trim().to_owned()).unwrap_or_default();
        let known = own.get_key_value(id.as_str());
        there.extend(known.map(|(id, _)| *id));
        let source = queued.item.source.get().map_or("", String::as_str);
        if queued.state != State::Available {
            return;
        }
        match (is_night_item(source), known, from_here.get(&place)) {
            (true, Some((_, packet)), _) if !ao_mutant::active("REP-16/item-is-not-updated") => {
                changes.push((place, night_fields(packet, night)));
            }
            (false, _, Some(packet)) if !ao_mutant::active("REP-20/not-written-back") => {
                changes.push((place, back::fields(&queued.item, packet, night)));
            }
            // The packet that an earlier night made of it was moved away with that night's report.
            (_, None, None) if names_packet_in(&queued.item, folder.as_deref()) => {
                changes.push((place, vec![("packet_path", Value::Null)]));
            }
            _ => {}
        }
    });
    if unread > 0 {
        // An item that cannot be read may be the one that is meant.
        there.extend(named);
    }
    let text = std::str::from_utf8(raw).ok()?;
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut body = text[start..].to_owned();
    for (place, fields) in changes {
        if let Some(new) = with_item(&body, place, fields) {
            body = new;
        }
    }
    (body != text[start..]).then(|| format!("{}{body}", &text[..start]))
}

/// The line with these fields set in one item. `None` if nothing changes, or if it cannot be done beyond doubt.
fn with_item(line: &str, place: usize, fields: Vec<Field>) -> Option<String> {
    let list = splice::member(line, "items")?;
    let element = splice::elements(&line[list.clone()])?.get(place)?.clone();
    let range = list.start + element.start..list.start + element.end;
    let mut item = line[range.clone()].to_owned();
    if splice::has_doubles(&item) {
        return None;
    }
    let mut wanted: Value = serde_json::from_str(line).ok()?;
    for (key, value) in fields {
        let has = splice::member(&item, key).map(|at| serde_json::from_str::<Value>(&item[at]));
        if has.is_some_and(|has| has.is_ok_and(|has| has == value)) {
            continue;
        }
        item = splice::set(&item, key, &value)?;
        wanted["items"][place][key] = value;
    }
    let mut new = line.to_owned();
    new.replace_range(range, &item);
    let is_meant = serde_json::from_str::<Value>(&new).is_ok_and(|new| new == wanted);
    (new != line && is_meant).then_some(new)
}

/// The key of a field of an item, and its value.
type Field = (&'static str, Value);

/// The fields that a night keeps up to date.
fn night_fields(packet: &MorningPacket, night: &Night<'_>) -> Vec<Field> {
    let list = |texts: &[String]| Value::from(texts.to_vec());
    let mut fields = vec![
        ("confidence", Value::from(word(&packet.confidence))),
        ("why_now", Value::from(packet.why_now.as_str())),
        ("target_files", list(&packet.target_files)),
        ("likely_tests", list(&packet.likely_tests)),
        ("morning_command", Value::from(packet.morning_command.as_str())),
        ("packet_path", Value::from(packet_path(packet, night))),
    ];
    // A link is never taken away: the bead may only be out of reach tonight.
    fields.extend(packet.bead_id.as_ref().map(|bead| ("bead_id", Value::from(bead.as_str()))));
    if let Ok(checks) = serde_json::to_value(checks(packet)) {
        fields.push(("still_true", checks));
    }
    // An item that has an unknown word where a level belongs would be lost on the next reader.
    fields.retain(|(key, value)| *key != "confidence" || value.as_str().is_some_and(is_level));
    fields
}

/// What an item is checked by. That it is open itself says nothing there, and only the second night
/// could know it: the first one would leave another line.
fn checks(packet: &MorningPacket) -> Vec<Check> {
    let is_itself =
        |check: &&Check| matches!(check, Check::QueueItemOpen { item } if *item == packet.id);
    packet.still_true.iter().filter(|check| !is_itself(check)).cloned().collect()
}

fn is_level(word: &str) -> bool {
    serde_json::from_value::<Level>(word.into()).is_ok()
}

/// Appends the packets: to the line of this run if it is there and open, or else as a line.
fn add(file: &mut Vec<u8>, new: &[&MorningPacket], night: &Night<'_>) {
    let items: Vec<WorkItem> = new.iter().map(|packet| item_of(packet, night)).collect();
    if let Some((line, text)) = with_more(file, &items, night) {
        file.splice(line, text.into_bytes());
        return;
    }
    let line = NextWork {
        source_epic: epic(night),
        timestamp: night.timestamp.to_owned(),
        items,
        consumed: false,
        claim_status: Maybe::Value(ClaimStatus::Available),
        claimed_by: Maybe::Null,
        claimed_at: Maybe::Null,
        consumed_by: Maybe::Null,
        consumed_at: Maybe::Null,
        failed_at: Maybe::Absent,
        completion_evidence: Maybe::Absent,
        completion_evidence_at: Maybe::Absent,
        extra: Extra::new(),
    };
    let Ok(line) = serde_json::to_vec(&line) else { return };
    let end: &[u8] = if file.windows(2).any(|pair| pair == b"\r\n") { b"\r\n" } else { b"\n" };
    if !file.is_empty() && !file.ends_with(b"\n") {
        file.extend_from_slice(end);
    }
    file.extend_from_slice(&line);
    file.extend_from_slice(end);
}

fn epic(night: &Night<'_>) -> String {
    format!("{EPIC}{}", night.run_id)
}

/// A run that is gone on with has its line already.
fn with_more(file: &[u8], items: &[WorkItem], night: &Night<'_>) -> Option<(Range<usize>, String)> {
    let epic = epic(night);
    let line = work_queue::lines(file).find(|line| is_line_of(&file[line.clone()], &epic))?;
    let text = std::str::from_utf8(&file[line.clone()]).ok()?;
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut body = text[start..].to_owned();
    for item in items {
        let list = splice::member(&body, "items")?;
        let longer = splice::push(&body[list.clone()], &serde_json::to_string(item).ok()?)?;
        body.replace_range(list, &longer);
    }
    serde_json::from_str::<NextWork>(&body).ok()?;
    Some((line.start + start..line.end, body))
}

fn is_line_of(line: &[u8], epic: &str) -> bool {
    let Some(text) = std::str::from_utf8(line).ok().filter(|text| text.contains(epic)) else {
        return false;
    };
    let read = serde_json::from_str::<NextWork>(text.trim_start_matches('\u{feff}'));
    read.is_ok_and(|line| {
        let claim = line.claim_status.get().unwrap_or(&ClaimStatus::Available);
        line.source_epic == epic && !line.consumed && *claim == ClaimStatus::Available
    })
}

fn item_of(packet: &MorningPacket, night: &Night<'_>) -> WorkItem {
    let source = packet.source.as_ref().map(word).unwrap_or_default();
    let level = packet.confidence.known().copied();
    WorkItem {
        title: packet.title.clone(),
        id: Maybe::Value(packet.id.clone()),
        kind: Maybe::Value(packet.kind.clone()),
        severity: Maybe::Value(queue_severity(&packet.severity)),
        source: Maybe::Value(format!("{OWN_SOURCE}{source}")),
        description: Maybe::Value(packet.why_now.clone()),
        evidence: Maybe::Value(Texts::One(Text::from(packet.evidence.join("; ").as_str()))),
        target_repo: Maybe::Value(night.repo.to_owned()),
        file: packet.target_files.first().cloned().into(),
        confidence: level.map(Confidence::Word).into(),
        why_now: Maybe::Value(packet.why_now.clone()),
        target_files: Maybe::Value(packet.target_files.clone()),
        likely_tests: Maybe::Value(packet.likely_tests.clone()),
        morning_command: Maybe::Value(packet.morning_command.clone()),
        packet_path: Maybe::Value(packet_path(packet, night)),
        bead_id: packet.bead_id.clone().into(),
        still_true: Maybe::Value(checks(packet)),
        ..WorkItem::default()
    }
}

/// The queue knows three words. Readers of it rank one that they do not know last, and the worst of
/// all must not come there.
fn queue_severity(severity: &Open<Severity>) -> Open<Severity> {
    match severity {
        Open::Known(Severity::Critical) => Severity::High.into(),
        other => other.clone(),
    }
}

/// The same on every machine that has the repository.
fn packet_path(packet: &MorningPacket, night: &Night<'_>) -> String {
    let path = Path::new(&packet.artifact_path);
    let real = night.root.canonicalize().ok();
    let roots = [Some(night.root), real.as_deref()];
    let inner = roots.iter().flatten().find_map(|root| path.strip_prefix(root).ok());
    inner.unwrap_or(path).to_string_lossy().into_owned()
}

/// Where the packets of this night lie, as the queue names it.
fn packets_folder(packet: &MorningPacket, night: &Night<'_>) -> String {
    let path = packet_path(packet, night);
    path.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"))
}

fn names_packet_in(item: &WorkItem, folder: Option<&str>) -> bool {
    let path = item.packet_path.get();
    folder.is_some_and(|folder| {
        !folder.is_empty()
            && path.is_some_and(|path| path.starts_with(folder))
            && !ao_mutant::active("REP-20/names-a-packet-that-is-gone")
    })
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
