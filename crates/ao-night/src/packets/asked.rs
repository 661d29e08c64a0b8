//! What the operator asked for.

use ao_contract::{Check, Level, Open, Severity, WorkType};

use super::Sources;
use super::draft::Draft;
use super::identity::id_of;
use super::lead::{Lead, Strength, What};
use super::work::{self, OwnWords, Queue, id_of_item};
use crate::plain::{folded, one_line};
use crate::queue::QueueItem;
use crate::work_queue::{self, Spot, State};

pub(super) fn leads<'a>(sources: &Sources<'a>, queue: &Queue) -> Vec<Lead<'a>> {
    let items = sources.asked.map_or(&[][..], |asked| asked.items);
    let lead = |(index, item): (usize, &'a QueueItem)| {
        // The same id in the work queue is the same work, and so is the same title.
        let ids = item.id.iter().chain(&item.mentioned);
        let queued = ids.into_iter().find_map(|id| queue.by_id(id));
        let queued = queued.or_else(|| queue.by_title(&folded(&item.title)));
        let id = match (queued, &item.id) {
            (Some((id, _)), _) => id.to_owned(),
            (None, Some(id)) => id_of_item(id),
            (None, None) => id_of_title(&item.title),
        };
        Lead {
            id,
            strength: if ao_mutant::active("LOOP-19/ranked-with-the-queue") {
                Strength::QueuedStrong
            } else {
                Strength::Asked
            },
            severity: item.severity.as_ref().map_or(Severity::Medium, Open::rank),
            weight: 0,
            order: format!("{index:08}"),
            what: What::Asked { item, queued: queued.map(|(_, spot)| spot.clone()) },
        }
    };
    items.iter().enumerate().map(lead).collect()
}

/// Work that has no other name than its title.
pub(crate) fn id_of_title(title: &str) -> String {
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
    draft.why(&match item.blockers.as_slice() {
        [] => "The operator put it in the queue of this run.".to_owned(),
        ids => {
            let ids = ids.join(", ");
            format!("The operator put it in the queue of this run. It is blocked by {ids}.")
        }
    });
    let file = sources.asked.and_then(|asked| asked.file);
    let id = item.id.as_ref().map(|id| format!(", {id}")).unwrap_or_default();
    draft.evidence(&format!("{} line {}{id}", file.unwrap_or("the operator's queue"), item.line));
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
        draft.command = OwnWords::of(&queued.item).command;
        work::add_files(&mut draft, &queued);
        draft.checks_if_true.extend(work::checks(&queued));
    }
    if let Some(path) = file.filter(|_| !item.mark.is_empty()) {
        let (path, text) = (path.to_owned(), item.mark.clone());
        draft.checks_if_true.push(Check::TextInFile { path, text });
    }
    draft
}
