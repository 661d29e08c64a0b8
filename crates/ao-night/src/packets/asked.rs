//! What the operator asked for.

use ao_contract::{Check, Level, Open, Severity, WorkType};

use super::Sources;
use super::draft::Draft;
use super::identity::id_of;
use super::lead::{Lead, Strength, What};
use super::work::{self, Queue};
use crate::plain::{folded, one_line};
use crate::queue::QueueItem;
use crate::work_queue::{self, Spot, State};

pub(super) fn leads<'a>(sources: &Sources<'a>, queue: &Queue) -> Vec<Lead<'a>> {
    let items = sources.asked.map_or(&[][..], |asked| asked.items);
    let lead = |(index, item): (usize, &'a QueueItem)| {
        // The same title in the work queue is the same work.
        let queued = queue.by_title(&folded(&item.title));
        let id = queued.map_or_else(|| id_of_title(&item.title), |(id, _)| id.to_owned());
        Lead {
            id,
            strength: Strength::Asked,
            severity: item.severity.as_ref().map_or(Severity::Medium, Open::rank),
            weight: 0,
            order: format!("{index:08}"),
            what: What::Asked { item, queued: queued.map(|(_, spot)| spot.clone()) },
        }
    };
    items.iter().enumerate().map(lead).collect()
}

/// Work that has no other name than its title.
pub(super) fn id_of_title(title: &str) -> String {
    id_of("title", &[&folded(title)])
}

pub(super) fn draft<'a>(
    sources: &Sources<'a>,
    item: &QueueItem,
    queued: Option<&Spot>,
    taken: Option<&State>,
) -> Draft<'a> {
    let mut draft = Draft::new(sources, &item.title, WorkType::Task);
    draft.severity = item.severity.clone().unwrap_or(Severity::Medium.into());
    draft.confidence = Level::High;
    draft.why("The operator put it in the queue of this run.");
    let file = sources.asked.and_then(|asked| asked.file);
    draft.evidence(&format!("{} line {}", file.unwrap_or("the operator's queue"), item.line));
    for line in item.description.lines() {
        draft.evidence(line);
    }
    match taken {
        Some(State::Consumed(told)) => {
            let told = one_line(told, 80);
            draft.evidence(&format!("the work queue has it as consumed {told}"));
        }
        Some(State::Claimed(by)) => {
            draft.evidence(&format!("in the work queue it is claimed by {}", one_line(by, 80)));
        }
        Some(State::Available) | None => {}
    }
    for file in &item.files {
        draft.files.file(file);
    }
    draft.files.text(&item.title);
    draft.files.text(&item.description);
    if let Some(queued) = queued.and_then(|spot| work_queue::at(sources.next_work?, spot)) {
        draft.queue_item = Some(queued.name());
        work::add_files(&mut draft, &queued);
        draft.checks_if_true.extend(work::checks(&queued));
    }
    if let Some(path) = file.filter(|_| !item.mark.is_empty()) {
        let (path, text) = (path.to_owned(), item.mark.clone());
        draft.checks_if_true.push(Check::TextInFile { path, text });
    }
    draft
}
