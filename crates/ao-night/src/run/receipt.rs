//! The receipt of a run: begun before anything is done, written after the report, and written by the next start
//! where a run did not come to it.

use std::io;
use std::path::Path;

use ao_contract::{
    Exit, Extra, HistoryLine, Receipt, ReceiptEnd, ReceiptInputs, ReceiptOpen, ReceiptWriter,
    RunStatus,
};

use super::Run;
use super::amend::{Amending, amend};
use super::earlier::{Earlier, Places};
use crate::clock::Clock;
use crate::iteration::fault;
use crate::output::Output;
use crate::receipts::{self, FileList, Receipts};

impl Run<'_> {
    /// Says outside of the repository that this run has no receipt yet.
    pub(super) fn begin_receipt(&self) {
        let Receipts::Sealed(custody) = &self.receipts else { return };
        let begun = custody.begin(ReceiptOpen {
            run_id: self.summary.run_id.clone(),
            output_dir: self.output.dir.to_string_lossy().into_owned(),
            began: self.summary.started_at.clone(),
            inputs: self.inputs.clone(),
            cause: None,
            extra: Extra::new(),
        });
        if let Err(error) = begun {
            self.log(&format!("that the run began could not be written down: {error}"));
        }
    }

    /// It was not begun after all.
    pub(super) fn forget_receipt(&self) {
        if let Receipts::Sealed(custody) = &self.receipts
            && let Err(error) = custody.forget(&self.summary.run_id)
        {
            self.log(&format!("that the run was not begun could not be written down: {error}"));
        }
    }

    /// Lists the files that the run wrote, once all of them are there.
    pub(super) fn list_files(&self) {
        let Some(custody) = self.receipts.custody() else { return };
        let now = self.work.clock.rfc3339();
        let list = || -> io::Result<()> {
            let mut list = FileList::open((&self.work.root, &self.state), custody, &now)?;
            let run_id = &self.summary.run_id;
            list.add_run(run_id, &self.output.dir, &self.output.artifacts(run_id))?;
            list.keep(custody)
        };
        if let Err(error) = list() {
            self.log(&format!("the list of the files of nights was not written: {error}"));
        }
    }

    /// Writes the receipt, once the report is there. Gives why it is missing or has no seal, if so.
    pub(super) fn write_receipt(&self, exit: Exit, is_told: bool) -> Option<String> {
        if !self.receipts.is_on() {
            return None;
        }
        let written = self.receipted(exit, is_told);
        let trouble = match (written, &self.receipts) {
            (Err(error), _) => Some(format!("the receipt of the run was not written: {error}")),
            (Ok(()), Receipts::Unsealed(why)) => {
                Some(format!("the receipt of the run has no seal: {why}"))
            }
            (Ok(()), _) => None,
        };
        if let Some(trouble) = &trouble {
            self.log(trouble);
        }
        if let (Some(trouble), Receipts::Sealed(custody)) = (&trouble, &self.receipts) {
            let failure = self.summary.failure_reason.as_deref();
            let cause = failure.map_or_else(|| trouble.clone(), |why| format!("{why}; {trouble}"));
            // What lies elsewhere may have room where the repository has none.
            if let Err(error) = custody.ended(&self.summary.run_id, &cause) {
                self.log(&format!("nor could that be written down elsewhere: {error}"));
            }
        }
        trouble
    }

    fn receipted(&self, exit: Exit, is_told: bool) -> io::Result<()> {
        fault("receipt").map_err(io::Error::other)?;
        let bytes = is_told.then(|| self.output.summary_bytes("")).transpose()?;
        let mut inputs = self.inputs.clone();
        if let Some(began) = self.work.began.get() {
            inputs.entries = Some(began.entries);
            inputs.pending = Some(began.pending);
            inputs.harvest_entries = Some(began.harvest_entries);
            inputs.drafts = Some(began.drafts);
            inputs.transcripts = Some(began.transcripts);
            inputs.corpus.clone_from(&began.corpus);
        }
        // A history that cannot be read is told of by the commit that needed it, and by a verification.
        let history = self.work.door.decided_history().unwrap_or_default();
        let told = receipts::of_summary(&self.summary, bytes.as_deref(), inputs, &history);
        let exit = if exit == Exit::Degraded { self.soft_exit } else { exit };
        let receipt = Receipt {
            exit: Some(exit.code()),
            program: self.program.clone(),
            output_dir: within(&self.work.root, &self.output.dir.to_string_lossy()),
            unfinished: self.unfinished.clone(),
            ..told
        };
        receipts::append(&self.state, self.receipts.custody(), receipt)
    }
}

impl Earlier {
    /// Writes the receipts that earlier runs did not come to. That one cannot be written is no reason not to
    /// begin: it is said, and the next start tries again.
    pub(super) fn receipt(&mut self, places: &Places<'_>, resumed: Option<&str>, clock: Clock) {
        if !places.receipts.is_on() {
            return;
        }
        let custody = places.receipts.custody();
        // The head of a repository that was moved is taken over first.
        let written = missing(places, &self.reported, resumed).and_then(|notes| {
            self.notes.extend(notes);
            amend(&Amending {
                root: places.root,
                state: places.state,
                door: places.door,
                custody,
                program: places.program,
                now: clock.rfc3339(),
            })
        });
        match written {
            Ok(notes) => self.notes.extend(notes),
            Err(error) => self
                .notes
                .push(format!("the receipt of an earlier run could not be written: {error}")),
        }
        self.look_at_files(places, clock);
    }

    /// What is to be told of the list of the files that earlier nights wrote.
    fn look_at_files(&mut self, places: &Places<'_>, clock: Clock) {
        if let Some(custody) = places.receipts.custody() {
            let list = FileList::open((places.root, places.state), custody, &clock.rfc3339());
            self.notes.extend(list.ok().and_then(|list| list.note));
        }
    }
}

/// From the repository, if it lies in it: a repository may be moved.
fn within(root: &Path, dir: &str) -> String {
    let inner = Path::new(dir).strip_prefix(root).ok().and_then(Path::to_str);
    inner.unwrap_or(dir).to_owned()
}

/// Gives what was put right and written, a line each.
fn missing(
    places: &Places<'_>,
    reported: &[(Output, String)],
    resumed: Option<&str>,
) -> io::Result<Vec<String>> {
    let custody = places.receipts.custody();
    let mut notes = receipts::mend(places.state, custody)?;
    let open = match custody {
        Some(custody) => custody.head()?.map(|head| head.open).unwrap_or_default(),
        None => Vec::new(),
    };
    let history = places.door.history().unwrap_or_default();
    let write = |receipt: Receipt| {
        let receipt = Receipt {
            program: places.program.map(str::to_owned),
            output_dir: within(places.root, &receipt.output_dir),
            ..receipt
        };
        receipts::append(places.state, custody, receipt)
    };
    let written_now = |run_id: &str| format!("run {run_id} had no receipt; it was written now");
    let inputs_of = |run: &str| {
        let known = open.iter().find(|open| open.run_id == run);
        known.map(|open| open.inputs.clone()).unwrap_or_default()
    };
    for (at, line, unsealed) in receipts::unsealed(places.state, custody)? {
        let run_id = unsealed.run_id.clone();
        write(receipts::of_unsealed(&unsealed, line, &history))?;
        notes.push(format!(
            "receipt {at}, of run {run_id}, has no seal: there was no key when it was written, or somebody wrote it \
             by hand; nobody vouches for it"
        ));
    }
    // The oldest first.
    for open in &open {
        let run = open.run_id.as_str();
        let is_seen_to = reported.iter().any(|(_, reported)| reported == run);
        if !is_seen_to && resumed != Some(run) {
            write(over(open, inputs_of(run), &history)?)?;
            notes.push(written_now(run));
        }
    }
    for (output, run) in reported.iter().filter(|(_, run)| resumed != Some(run)) {
        let Some(summary) = output.summary() else { continue };
        let bytes = output.summary_bytes("")?;
        let receipt = receipts::of_cut_off(&summary, Some(&bytes), inputs_of(run), &history);
        let cause =
            open.iter().find(|open| open.run_id == *run).and_then(|open| open.cause.clone());
        write(receipts::with_cause(receipt, cause))?;
        notes.push(written_now(run));
    }
    Ok(notes)
}

/// Of a run that began and has no receipt: from its report, if it left one.
fn over(open: &ReceiptOpen, inputs: ReceiptInputs, history: &[HistoryLine]) -> io::Result<Receipt> {
    let output = Output::of_ended(open.output_dir.clone().into());
    let is_over = |summary: &ao_contract::Summary| {
        summary.run_id == open.run_id && summary.status != RunStatus::Planned
    };
    let here = output.summary().filter(is_over);
    let bytes = match &here {
        Some(_) => Some(output.summary_bytes("")?),
        // Told with the paths of another place by now: its bytes are no longer those that were written.
        None => None,
    };
    let Some(summary) = here.or_else(|| output.summary_in(&open.run_id).filter(is_over)) else {
        return Ok(receipts::of_lost(open, history));
    };
    let receipt = receipts::of_summary(&summary, bytes.as_deref(), inputs, history);
    let is_cut_off = receipt.ended_by == Some(ReceiptEnd::CutOff);
    Ok(Receipt {
        took_ms: receipt.took_ms.filter(|_| !is_cut_off),
        output_dir: open.output_dir.clone(),
        written_by: ReceiptWriter::NextStart,
        ..receipt
    })
}
