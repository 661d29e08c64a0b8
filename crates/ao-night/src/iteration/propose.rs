//! INGEST and REDUCE: from the corpus as it is to edits, each with its reason.

use std::collections::BTreeSet;
use std::sync::Arc;

use ao_contract::{ChangeStatus, CommittedTexts, RunStage};
use ao_corpus::defrag::{Asked, Parts, Plan, plan};
use ao_corpus::fitness;
use ao_corpus::harvest::{Source, SourceForm};
use ao_corpus::trust::{self, Vouches};
use ao_corpus::{
    CLOSED, Closing, Corpus, Kind, Ledger, Logs, SEARCHED, Settings as Closed, Tree, close_loop,
    next_change,
};
use ao_tree::{Action, Disk, Door, Edit};

use super::ingest::{Ingested, ingest};
use super::measure::{Baseline, Measured, measure_both};
use super::{Began, Failed, Stage, Work, fault};
use crate::held::Fixed;
use crate::settings::Mode;
use crate::settled::{Print, Trust, look};

/// Each turn leaves out at least one file; more turns than this mean that the tree does not hold
/// still.
pub(crate) const TURNS_MAX: usize = 8;

/// What a night looks for.
pub(crate) const PARTS: Parts = Parts { dedup: true, prune: true, sweep: true, patterns: true };

/// What an iteration would do.
#[derive(Debug)]
pub(crate) struct Proposal {
    pub(crate) ingested: Ingested,
    pub(crate) closing: Closing,
    pub(crate) plan: Plan,
    /// What the door would not have changed, which was left out.
    pub(crate) fixed: Fixed,
    /// `None` where there is nothing to do, and so nothing to measure.
    pub(crate) measured: Option<(Measured, Measured)>,
    /// The corpus as the file system described it before it was read; `None` if that is no proof.
    pub(crate) corpus: Option<Print>,
}

impl Proposal {
    pub(crate) fn edits(&self) -> &[Edit] {
        &self.plan.edits
    }

    /// Whether the plan was made for other texts than the corpus has, because something was brought
    /// in: what is compared for copies is the body, and judgements leave it alone.
    fn has_new_texts(&self, corpus: &Corpus) -> bool {
        let is_same = |edit: &Edit| match &edit.action {
            Action::Delete => Kind::of(&edit.path).is_none_or(|kind| kind == Kind::Pending),
            Action::Write(_) => Kind::of(&edit.path).is_none() || corpus.get(&edit.path).is_some(),
        };
        !self.ingested.edits().iter().chain(&self.closing.edits).all(is_same)
    }

    /// What the door did not make did not happen.
    pub(crate) fn hold_back(&mut self, fixed: &Fixed) {
        if !fixed.is_empty() {
            self.ingested.hold_back(fixed);
            self.closing.hold_back(&fixed.keys().cloned().collect());
            self.plan.hold_back(fixed);
            if !ao_mutant::active("LOOP-27/tells-what-was-not-made") {
                self.plan.edits.retain(|edit| !fixed.contains_key(&edit.path));
            }
        }
    }
}

/// Thinks one iteration out; nothing is written.
pub(crate) fn propose(work: &Work) -> Result<Proposal, Failed> {
    let progress = &work.progress;
    progress.stage(RunStage::Ingest, "reading the corpus");
    let fail = Failed::at(Stage::Ingest);
    let print = print(work);
    let all = Corpus::read(&work.agents, &SEARCHED).map_err(|error| fail(error.to_string()))?;
    let hash = work.outside.corpus(|| hash_of(&all));
    let all = Arc::new(all);
    let corpus = all.within(&CLOSED);
    let mut fixed = Fixed::new();
    for _ in 0..TURNS_MAX {
        progress.stage(RunStage::Ingest, "looking for what is new");
        let ingested = ingest(work, &corpus, &fixed)?;
        work.began.get_or_init(|| began(work, &all, &ingested, hash.clone()));
        progress.stage(RunStage::Reduce, "judging pending learnings and feedback");
        let closing = close(work, &corpus, &ingested, &fixed)?;
        let prior: Vec<Edit> = ingested.edits().iter().chain(&closing.edits).cloned().collect();
        let plan = reduce(work, &all, &prior, &fixed)?;
        let prior = prior.iter().map(|edit| edit.path.as_str()).collect();
        if !plan.edits.is_empty() {
            progress.doing("looking at the edits as the door will");
        }
        let refused = refused(&work.door, &plan, &prior)?;
        if refused.is_empty() {
            let corpus_print = print;
            let mut proposal =
                Proposal { ingested, closing, plan, fixed, measured: None, corpus: corpus_print };
            if !proposal.plan.edits.is_empty() {
                if !ao_mutant::active("LOOP-01/measure-is-no-stage") {
                    progress.stage(RunStage::Measure, "measuring the corpus before and after");
                }
                let is_measured = !ao_mutant::active("LOOP-03/committed-unmeasured");
                let found = measured(work, (&all, &corpus), &proposal)?;
                proposal.measured = is_measured.then_some(found);
            }
            return Ok(proposal);
        }
        fixed.extend(refused);
    }
    Err(Failed::at(Stage::Reduce)("the tree does not hold still: others write to it".into()))
}

/// What a commit compares the corpus with. Whoever commits nothing needs none.
fn print(work: &Work) -> Option<Print> {
    if work.settings.mode == Mode::DryRun {
        return None;
    }
    let looked = look(&work.agents, &work.agents.join("overnight"), work.clock).ok()?;
    (looked.trust == Trust::Sure).then_some(looked.print)
}

/// What there is to work on.
fn began(work: &Work, all: &Corpus, ingested: &Ingested, corpus: Option<String>) -> Began {
    let pending = all.entries.iter().filter(|entry| entry.kind == Kind::Pending).count() as u64;
    let next_change = next_change(all, work.today(), work.settings.promote_after);
    let entries = all.entries.len() as u64 - pending;
    let mut began = Began { entries, pending, corpus, next_change, ..Began::default() };
    let harvest = ingested.report(ChangeStatus::NothingChanged, None);
    for told in harvest.into_iter().flat_map(|harvest| harvest.sources) {
        let is_draft = |source: &&Source| {
            source.shown == told.path && matches!(source.form, SourceForm::Drafts(_))
        };
        match work.settings.harvest.iter().find(is_draft) {
            Some(_) => began.drafts += told.entries,
            None => began.harvest_entries += told.entries,
        }
    }
    let sources = ingested.taking().map_or(&[][..], |taking| taking.sources());
    began.transcripts = sources.iter().map(|source| source.own).sum();
    began
}

/// What tells one corpus from another: its entries, and what is left alone in it.
fn hash_of(corpus: &Corpus) -> String {
    let mut hash = blake3::Hasher::new();
    let mut add = |text: &[u8]| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for entry in &corpus.entries {
        add(entry.path.as_bytes());
        add(entry.document.bytes());
    }
    for left in &corpus.left {
        add(left.path.as_bytes());
    }
    hash.finalize().to_hex().to_string()
}

fn close(
    work: &Work,
    corpus: &Corpus,
    ingested: &Ingested,
    fixed: &Fixed,
) -> Result<Closing, Failed> {
    let fail = Failed::at(Stage::CloseLoop);
    fault("close-loop").map_err(&fail)?;
    let logs = Logs::read(&work.agents).map_err(|error| fail(error.to_string()))?;
    let ledger = Ledger::read(&work.agents).map_err(|error| fail(error.to_string()))?;
    let vouches = Vouches::read(&work.agents).map_err(|error| fail(error.to_string()))?;
    let settings = Closed {
        root: &work.root,
        now: &work.outside.reading("close-loop").rfc3339(),
        today: work.today(),
        as_of: None,
        min_age: work.settings.promote_after,
        except: fixed.keys().cloned().collect(),
        trust: trust::Told {
            promote_at: work.settings.promote_at,
            vouches,
            committed: committed(work, corpus),
        },
    };
    let closing = if ingested.edits().is_empty() {
        close_loop(corpus, &logs, ledger, &settings)
    } else {
        close_loop(&corpus.after(ingested.edits()), &logs, ledger, &settings)
    };
    Ok(closing)
}

/// Nobody asks git for the sake of nothing.
fn committed(work: &Work, corpus: &Corpus) -> CommittedTexts {
    let is_pending = corpus.entries.iter().any(|entry| entry.kind == Kind::Pending);
    if is_pending { work.committed().clone() } else { CommittedTexts::default() }
}

fn reduce(work: &Work, all: &Arc<Corpus>, prior: &[Edit], fixed: &Fixed) -> Result<Plan, Failed> {
    fault("reduce").map_err(Failed::at(Stage::Reduce))?;
    if ao_mutant::active("LOOP-02/reduce-makes-a-folder") {
        let _ = ao_tree::make_folders(&work.agents, "patterns");
    }
    // For tests: a build in which one rule is another one.
    let dedup = fault("merge").is_ok();
    let parts = Parts { dedup, ..PARTS };
    let asked = Asked { parts, today: work.today(), as_of: None, fixed, prior, past: None };
    plan(&work.agents, Tree::of(Arc::clone(all)), asked, &|what| work.progress.doing(what))
        .map_err(|error| Failed::at(Stage::Reduce)(error.to_string()))
}

/// What the door would refuse, and what depends on it.
pub(crate) fn refused(
    door: &Door<Disk>,
    plan: &Plan,
    prior: &BTreeSet<&str>,
) -> Result<Fixed, Failed> {
    let mut refused = Fixed::new();
    if plan.edits.is_empty() {
        return Ok(refused);
    }
    // Each by itself: otherwise all of a group are refused for the sake of one.
    let alone = |edit: &Edit| Edit { group: None, ..edit.clone() };
    let seen = door
        .refusals(plan.edits.iter().map(alone).collect())
        .map_err(|error| Failed::at(Stage::Reduce)(error.to_string()))?;
    for one in seen {
        // Without its ledger nothing may be taken.
        if Ledger::has(&one.path) {
            let why = format!("{} cannot be written: {}", one.path, one.why);
            return Err(Failed::at(Stage::CloseLoop)(why));
        }
        // What is brought in waits where it comes from; a copy keeps no other from its merge.
        let is_brought = |edit: &&Edit| edit.path == one.path && prior.contains(one.path.as_str());
        for edit in plan.edits.iter().filter(is_brought) {
            let sources = edit.sources.iter().map(|source| (source.clone(), one.why.clone()));
            refused.extend(sources);
        }
        refused.insert(one.path, one.why);
    }
    Ok(refused)
}

fn measured(
    work: &Work,
    (all, corpus): (&Arc<Corpus>, &Corpus),
    proposal: &Proposal,
) -> Result<(Measured, Measured), Failed> {
    fault("measure").map_err(Failed::at(Stage::Measure))?;
    let Plan { edits, copies, .. } = &proposal.plan;
    let before = if proposal.has_new_texts(corpus) {
        fitness::copies(&Tree::of(Arc::clone(all)))
    } else {
        copies.before.clone()
    };
    let lessons = proposal.ingested.pending();
    Ok(compared(work, corpus, (edits, lessons), [before, copies.after.clone()]))
}

/// Measures the corpus as it is on disk now, and as it would be with exactly these edits. Of the lessons those count
/// that the edits bring, as pending learnings or promoted at once.
pub(crate) fn measure_again(
    work: &Work,
    edits: &[Edit],
    lessons: &[Edit],
) -> Result<(Measured, Measured), Failed> {
    let fail = Failed::at(Stage::Measure);
    fault("measure-again").map_err(&fail)?;
    let all = Corpus::read(&work.agents, &SEARCHED).map_err(|error| fail(error.to_string()))?;
    let all = Arc::new(all);
    let before = Tree::of(Arc::clone(&all));
    let mut after = before.clone();
    for edit in edits {
        after.apply(edit);
    }
    let copies = [fitness::copies(&before), fitness::copies(&after)];
    let is_brought = |lesson: &&Edit| {
        let is_of = |edit: &Edit| {
            let is_promoted = !ao_mutant::active("RUN-44/a-lesson-counts-after-alone");
            edit.path == lesson.path || is_promoted && edit.sources.contains(&lesson.path)
        };
        edits.iter().any(is_of)
    };
    let lessons: Vec<Edit> = lessons.iter().filter(is_brought).cloned().collect();
    Ok(compared(work, &all.within(&CLOSED), (edits, &lessons), copies))
}

/// `copies` are the clusters of copies before and after the edits.
fn compared(
    work: &Work,
    corpus: &Corpus,
    (edits, lessons): (&[Edit], &[Edit]),
    copies: [Vec<Vec<String>>; 2],
) -> (Measured, Measured) {
    let is_write = |edit: &&Edit| matches!(edit.action, Action::Write(_));
    let after = if ao_mutant::active("LOOP-03/deletions-are-not-measured") {
        corpus.after(&edits.iter().filter(is_write).cloned().collect::<Vec<_>>())
    } else {
        corpus.after(edits)
    };
    let is_late = ao_mutant::active("RUN-22/questions-follow-the-corpus");
    let asked = if is_late { &after } else { corpus };
    let baseline = work.baseline.get_or_init(|| Baseline::of(work, asked));
    // What is pending is counted from the start: to bring a lesson in is neither a gain nor a loss.
    let pending = (!lessons.is_empty()).then(|| corpus.after(lessons));
    let [copies_before, copies_after] = copies;
    let before = (pending.as_ref().unwrap_or(corpus), copies_before);
    measure_both(&work.agents, [before, (&after, copies_after)], baseline)
}
