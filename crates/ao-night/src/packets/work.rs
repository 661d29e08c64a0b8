//! What the work queue asks for: items that nobody has, and that are for this repository.
//!
//! The items that a night put there itself are no leads: what they are about is seen anew or it is
//! no longer so. Only what the operator once asked for stays, since no one else will ask again.
//!
//! What an item says of itself (why now, how sure, which command) its packet says too, unless a night wrote
//! that there.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use ao_contract::{Check, Confidence, Level, Open, Severity, Texts, WorkItem, WorkType};
use ao_corpus::{is_night_item, is_own_work, looks_secret};

use super::Sources;
use super::asked::id_of_title;
use super::draft::Draft;
use super::identity::{id_of, is_packet_id};
use super::lead::{self, Lead, Strength, What};
use crate::command::{Template, is_default};
use crate::place::AGENTS;
use crate::plain::{folded, one_line};
use crate::work_queue::{self, NEXT_WORK, Queued, Spot, State};

const ANY_REPO: &str = "*";
const EPIC_CHARS_MAX: usize = 80;

/// The work queue, as far as leads need it.
#[derive(Debug, Default)]
pub(super) struct Queue {
    found: Vec<Found>,
    /// The packets of items that nobody has.
    open: HashSet<String>,
    /// Items that somebody has or that are done, by the id of their packet.
    pub(super) taken: HashMap<String, State>,
    /// Where an available item of this title stands, and the id of its packet.
    titles: HashMap<String, (String, Spot)>,
    /// The same by the item's own id.
    ids: HashMap<String, (String, Spot)>,
    /// The beads that available items are linked to, by the id of their packet.
    pub(super) beads: BTreeMap<String, String>,
    /// Files of the corpus that items were made from.
    made_from: HashSet<String>,
    pub(super) unread: u64,
}

#[derive(Debug)]
struct Found {
    id: String,
    spot: Spot,
    severity: Severity,
    is_strong: bool,
    has_evidence: bool,
}

pub(super) fn read(bytes: &[u8], repo: &str) -> Queue {
    let mut queue = Queue::default();
    queue.unread = work_queue::each(bytes, |queued| queue.take(&queued, repo));
    queue
}

impl Queue {
    fn take(&mut self, queued: &Queued, repo: &str) {
        let id = packet_id(queued);
        if queued.state != State::Available {
            // One that is open beside one that is done is open.
            if !self.open.contains(&id) {
                self.taken.insert(id, queued.state.clone());
            }
            return;
        }
        self.taken.remove(&id);
        self.open.insert(id.clone());
        if !is_for(queued.item.target_repo.get(), repo) {
            return;
        }
        if let Some(bead) = said(queued.item.bead_id.get()) {
            self.beads.entry(id.clone()).or_insert_with(|| bead.to_owned());
        }
        if is_own(&queued.item) {
            return;
        }
        let place = (id.clone(), queued.spot.clone());
        if let Some(own) = said(queued.item.id.get()) {
            self.ids.entry(own.to_owned()).or_insert_with(|| place.clone());
        }
        self.titles.entry(folded(&queued.item.title)).or_insert(place);
        self.made_from.extend(queued.item.source_path.get().map(|path| inner(path).to_owned()));
        let severity = queued.item.severity.get().map_or(Severity::Medium, Open::rank);
        let has_evidence = evidence(&queued.item).next().is_some();
        let names_files = queued.item.file.get().is_some_and(|file| !file.trim().is_empty())
            || queued.item.target_files.get().is_some_and(|files| !files.is_empty());
        self.found.push(Found {
            id,
            spot: queued.spot.clone(),
            severity,
            is_strong: severity > Severity::Low
                || has_evidence
                || names_files
                || ao_mutant::active("REP-15/weak-items-are-strong"),
            has_evidence,
        });
    }

    pub(super) fn by_title(&self, title: &str) -> Option<(&str, &Spot)> {
        self.titles.get(title).map(|(id, spot)| (id.as_str(), spot))
    }

    pub(super) fn by_id(&self, id: &str) -> Option<(&str, &Spot)> {
        self.ids.get(id).map(|(id, spot)| (id.as_str(), spot))
    }

    /// Whether an item was made from this file of the corpus.
    pub(super) fn is_made_from(&self, path: &str) -> bool {
        self.made_from.contains(path)
    }

    pub(super) fn leads<'a>(self) -> Vec<Lead<'a>> {
        let lead = |found: Found| Lead {
            id: found.id,
            strength: if found.is_strong { Strength::QueuedStrong } else { Strength::QueuedWeak },
            severity: found.severity,
            weight: u64::from(found.has_evidence),
            order: format!("{:010}.{:06}", found.spot.number, found.spot.place),
            what: What::Queued(found.spot),
        };
        self.found.into_iter().map(lead).collect()
    }
}

/// Where the item of each packet stands, for those that somebody wrote: the very one that a night would make
/// the packet from.
pub(crate) fn places(bytes: &[u8], repo: &str) -> BTreeMap<String, Spot> {
    let mut leads = read(bytes, repo).leads();
    lead::rank(&mut leads);
    let place = |lead: Lead<'_>| match lead.what {
        What::Queued(spot) => Some((lead.id, spot)),
        _ => None,
    };
    leads.into_iter().filter_map(place).collect()
}

/// What an item says of itself; nothing where a night wrote it.
#[derive(Debug, Default)]
pub(super) struct OwnWords {
    why_now: Option<String>,
    confidence: Option<Level>,
    pub(super) command: Option<String>,
}

impl OwnWords {
    pub(super) fn of(item: &WorkItem) -> Self {
        let source = item.source.get().map_or("", String::as_str);
        if is_night_item(source) || ao_mutant::active("REP-20/drops-own-words") {
            return Self::default();
        }
        // A report shows it as a command: it is one, on one line, or it is not shown.
        let is_command = |text: &&str| {
            let is_plain = ao_tree::shown(text) == *text && looks_secret(text).is_none();
            is_plain && Template::parse(text).is_ok()
        };
        Self {
            why_now: said(item.why_now.get()).map(str::to_owned),
            confidence: item.confidence.get().and_then(level),
            command: own_command(item).filter(is_command).map(str::to_owned),
        }
    }
}

/// The command that the author of an item gave it; not the one that a night wrote there.
pub(crate) fn own_command(item: &WorkItem) -> Option<&str> {
    let command = said(item.morning_command.get())?;
    let is_written = item.written_command.get().is_some_and(|written| written.trim() == command);
    let id = said(item.id.get()).unwrap_or_default();
    let is_ours = is_written || is_default(command, id);
    (!is_ours || ao_mutant::active("REP-20/own-words-of-a-night")).then_some(command)
}

/// The word that is nearest to a confidence.
fn level(confidence: &Confidence) -> Option<Level> {
    let value = confidence.value()?;
    let far = |level: &Level| (level.value() - value).abs();
    let levels = [Level::Low, Level::Medium, Level::High];
    levels.into_iter().min_by(|one, other| far(one).total_cmp(&far(other)))
}

/// A text that says something.
pub(crate) fn said(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// A path as it stands beneath `.agents/`, whatever stands before that.
fn inner(path: &str) -> &str {
    path.trim().rsplit_once(".agents/").map_or(path.trim(), |(_, inner)| inner)
}

/// An item that a night gave an id keeps it.
pub(crate) fn packet_id(queued: &Queued) -> String {
    match queued.item.id.get().map(|id| id.trim()) {
        Some(id) if is_packet_id(id) => id.to_owned(),
        Some(id) if !id.is_empty() => id_of_item(id),
        _ => id_of_title(&queued.item.title),
    }
}

/// The packet of an item that somebody gave this id.
pub(super) fn id_of_item(id: &str) -> String {
    id_of("next-work", &[id])
}

/// `owner/name` is the same repository as `name`. An item that names none is for whoever has it.
fn is_for(target: Option<&String>, repo: &str) -> bool {
    let Some(target) = target.map(|target| target.trim()).filter(|target| !target.is_empty())
    else {
        return true;
    };
    let name = target.trim_end_matches('/').rsplit_once('/').map_or(target, |(_, name)| name);
    target == ANY_REPO || name.trim_end_matches(".git").eq_ignore_ascii_case(repo)
}

fn is_own(item: &WorkItem) -> bool {
    is_own_work(item.source.get().map_or("", String::as_str))
}

fn evidence(item: &WorkItem) -> impl Iterator<Item = String> {
    let texts = item.evidence.get().into_iter().flat_map(Texts::iter);
    texts.map(Cow::into_owned).filter(|text| !text.trim().is_empty())
}

/// What says that an item is still to be done.
pub(super) fn checks(queued: &Queued) -> Vec<Check> {
    let mut checks = vec![Check::QueueItemOpen { item: queued.name() }];
    checks.extend(queued.item.still_true.get().into_iter().flatten().cloned());
    checks
}

pub(super) fn add_files(draft: &mut Draft<'_>, queued: &Queued) {
    let item = &queued.item;
    let named = item.file.get().into_iter().chain(item.target_files.get().into_iter().flatten());
    for file in named.chain(item.source_path.get()) {
        draft.files.file(file);
    }
    draft.files.text(&item.title);
    draft.files.text(item.description.get().map_or("", String::as_str));
    for text in evidence(item) {
        draft.files.text(&text);
    }
    for test in item.likely_tests.get().into_iter().flatten() {
        draft.tests.file(test);
    }
}

pub(super) fn draft<'a>(sources: &Sources<'a>, spot: &Spot) -> Option<Draft<'a>> {
    let queued = work_queue::at(sources.next_work?, spot)?;
    let item = &queued.item;
    let mut draft = Draft::new(sources, &item.title, WorkType::Task);
    if let Some(kind) = item.kind.get() {
        draft.kind = kind.clone();
    }
    draft.severity = item.severity.get().cloned().unwrap_or(Severity::Medium.into());
    let own = OwnWords::of(item);
    let epic = one_line(&queued.epic, EPIC_CHARS_MAX);
    draft.why(&match (own.why_now, epic.as_str()) {
        (Some(why), _) => why,
        (None, "") => "It is in the work queue and nobody has it.".to_owned(),
        (None, epic) => format!("It is in the work queue from {epic}, and nobody has it."),
    });
    draft.command = own.command;
    for text in evidence(item) {
        draft.evidence(&text);
    }
    let evidence = draft.evidence.len();
    draft.evidence(item.description.get().map_or("", String::as_str));
    let number = spot.number - usize::from(ao_mutant::active("REP-15/points-at-another-line"));
    draft.evidence(&format!("{AGENTS}/{NEXT_WORK} line {number}, item {}", spot.place + 1));
    add_files(&mut draft, &queued);
    draft.confidence = own.confidence.unwrap_or(match (evidence, draft.files.files.len()) {
        (0, 0) => Level::Low,
        (0, _) | (_, 0) => Level::Medium,
        _ => Level::High,
    });
    draft.queue_item = Some(queued.name());
    draft.checks = checks(&queued);
    Some(draft)
}
