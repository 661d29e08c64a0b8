//! The table of mutants: every step left out, every pair of steps swapped, and who notices.

use std::fmt::Write as _;

use ao_tree::Fs;

use crate::equivalent::{Trace, why_equivalent};
use crate::explore::Reach;
use crate::fates::Breadth;
use crate::fault::{Fault, FaultFs};
use crate::meeting::Meetings;
use crate::mutant::{Mutation, caught_by};
use crate::person::{Act, Deed, Done, People, PeopledFs, Visit};
use crate::scenario::{Step, one_commit};
use crate::sim::{SimFs, Tape};
use crate::subject::{Side, Subject};
use crate::sweep::fan_out;
use crate::table::{Report, is_full_sweep, write_beside_table};
use crate::tap::Call;

fn reach() -> Reach {
    let first = if is_full_sweep() {
        Breadth { exhaustive: 64, telling: 40, samples: 8 }
    } else {
        Breadth { exhaustive: 16, telling: 12, samples: 2 }
    };
    Reach { first, inside: &[], inside_every: 1, share: (0, 1) }
}

/// A recovery, seen as a protocol of its own: it begins where a commit was cut off.
struct Rolling<'a>(&'a Step, &'static str);

impl Subject for Rolling<'_> {
    fn name(&self) -> String {
        format!("recovery of {} {}", self.0.name(), self.1)
    }

    fn run<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.0.recover(fs)
    }

    fn recover<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.0.recover(fs)
    }

    fn judge(&self, fs: &SimFs) -> Result<Side, String> {
        self.0.judge(fs)
    }

    fn judge_deeply(&self, fs: &SimFs, side: Side) -> Result<(), String> {
        self.0.judge_deeply(fs, side)
    }

    fn is_commit_point<D>(&self, call: &Call<D>) -> bool {
        self.0.is_commit_point(call)
    }
}

/// As [`Rolling`], and somebody had changed a file that the commit changes too, too late for it to
/// be seen before the commit point.
struct RollingLate<'a> {
    meetings: &'a Meetings<'a>,
    step: &'a Step,
    done: &'a [Done],
}

impl Subject for RollingLate<'_> {
    fn name(&self) -> String {
        format!("recovery of {} with a late {}", self.step.name(), self.done[0].visit.act)
    }

    fn run<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.step.recover(fs)
    }

    fn recover<F: Fs>(&self, fs: F) -> Result<(), String> {
        self.step.recover(fs)
    }

    fn judge(&self, fs: &SimFs) -> Result<Side, String> {
        self.meetings.judge(fs, self.done).map(|()| Side::After)
    }

    fn is_commit_point<D>(&self, call: &Call<D>) -> bool {
        self.step.is_commit_point(call)
    }
}

#[derive(Debug)]
struct Row {
    of: String,
    mutant: String,
    verdict: Result<String, String>,
}

fn recorded(subject: &impl Subject, start: &SimFs) -> Tape {
    let fs = start.branch();
    fs.record();
    subject.run(fs.clone()).expect("an undisturbed run goes through");
    fs.take_tape()
}

/// The mutations of a run from this step on. Steps that found their work done are left out: to
/// leave out or to move what has no effect changes nothing.
fn mutations(tape: &Tape, from: usize, span: usize) -> Vec<Mutation> {
    let has_effect = |step: &usize| tape.points[*step].clock != tape.points[step + 1].clock;
    let steps: Vec<usize> = (from..tape.steps.len()).filter(has_effect).collect();
    let omitted = steps.iter().map(|step| Mutation::Omit(*step));
    let delayed = steps.iter().enumerate().flat_map(|(at, step)| {
        let later = steps[at + 1..].iter().take(span);
        later.map(|until| Mutation::Delay(*step, *until))
    });
    omitted.chain(delayed).collect()
}

/// Every sync left out, the marker left out, and of the rest one in four.
fn thin_out(mutations: &mut Vec<Mutation>, tape: &Tape) {
    let mut count = 0;
    mutations.retain(|mutation| {
        let is_vital = |step: usize| {
            tape.steps[step].starts_with("sync_")
                || tape.steps[step].contains("-> overnight/COMMIT")
        };
        count += 1;
        matches!(mutation, Mutation::Omit(step) if is_vital(*step)) || count % 4 == 0
    });
}

fn spell(mutation: Mutation, tape: &Tape) -> String {
    match mutation {
        Mutation::Omit(step) => format!("without {step} {}", tape.steps[step]),
        Mutation::Delay(step, until) => {
            format!("{step} {} -- only after -- {until} {}", tape.steps[step], tape.steps[until])
        }
        Mutation::Blind => "recovery that does not look for the marker".to_owned(),
    }
}

fn rows(
    subject: &impl Subject,
    start: &SimFs,
    from: usize,
    span: usize,
    (first, stride): (usize, usize),
) -> Vec<Row> {
    let tape = recorded(subject, start);
    let mut tried = mutations(&tape, from, span);
    if !is_full_sweep() {
        thin_out(&mut tried, &tape);
    }
    tried.push(Mutation::Blind);
    let row = |mutation: &Mutation| {
        let verdict = match caught_by(subject, start, *mutation, reach()) {
            Some(engine) => Ok(engine.to_string()),
            None => why_equivalent(*mutation, &Trace::new(&tape))
                .map(|why| format!("equivalent: {why}"))
                .ok_or_else(|| "NOT CAUGHT".to_owned()),
        };
        Row { of: subject.name(), mutant: spell(*mutation, &tape), verdict }
    };
    tried.iter().skip(first).step_by(stride).map(row).collect()
}

fn all_rows(share: (usize, usize)) -> Vec<Row> {
    let span = if is_full_sweep() { usize::MAX } else { 1 };
    let (step, start) = one_commit();
    let tape = recorded(&step, &start);
    let find = |what: &str| {
        let found = tape.steps.iter().position(|step| step.contains(what));
        found.unwrap_or_else(|| panic!("the protocol has no step `{what}`"))
    };
    let mut table = rows(&step, &start, find("sync_tree"), span, share);
    let cut_off = [
        ("killed at the marker", find("-> overnight/COMMIT-MARKER") + 1),
        ("killed after the exchange", find("sync_dir rpi/")),
        ("killed when the marker was gone", find("remove_file overnight/COMMIT-MARKER") + 1),
    ];
    // The normal run takes the first of each; the sweep takes them all.
    let count = if is_full_sweep() { usize::MAX } else { 1 };
    for (when, at) in cut_off.into_iter().take(count) {
        let start = SimFs::on(tape.points[at].clone());
        table.extend(rows(&Rolling(&step, when), &start, 0, 1, share));
    }
    for path in ["learnings/a.md", "learnings/b.md"].into_iter().take(count) {
        table.extend(late_rows(&step, &start, path, span, share));
    }
    table
}

/// Somebody replaces a file of the commit just before its marker; it is killed before it looks at
/// the displaced tree.
fn late_rows(
    step: &Step,
    start: &SimFs,
    path: &'static str,
    span: usize,
    share: (usize, usize),
) -> Vec<Row> {
    let calls = FaultFs::new(start.branch(), Fault::none());
    step.run(calls.clone()).expect("an undisturbed run goes through");
    let marker = calls.policy().calls().iter().position(|call| step.is_commit_point(call));
    let act = Act { deed: Deed::Put, path };
    let visit = Visit { at: marker.expect("there is a commit point"), act, number: 1 };
    let fs = start.branch();
    let tap = PeopledFs::new(fs.clone(), People::new(&[visit], &fs));
    fs.record();
    step.run(tap.clone()).expect("somebody else does not stop a commit");
    let (tape, done) = (fs.take_tape(), tap.policy().done());
    let killed = tape.steps.iter().position(|step| step == "sync_dir rpi/").map(|at| at + 1);
    let begun = SimFs::on(tape.points[killed.expect("parts are synced")].clone());
    let meetings = Meetings::new(step, start);
    let subject = RollingLate { meetings: &meetings, step, done: &done };
    rows(&subject, &begun, 0, span, share)
}

// proves: LOOP-21
#[test]
fn every_mutant_is_caught_or_explained() {
    let table: Vec<Row> = fan_out(all_rows).into_iter().flatten().collect();
    let mut report = Report::default();
    let mut text = String::from("| of | mutant | caught by |\n|---|---|---|\n");
    for row in table {
        let verdict = row.verdict.as_ref().unwrap_or_else(|missed| missed);
        let _ = writeln!(text, "| {} | {} | {verdict} |", row.of, row.mutant);
        let missed = || format!("{}: {} is neither caught nor explained", row.of, row.mutant);
        report.case(row.verdict.as_ref().map(drop).map_err(|_| missed()));
    }
    println!("{text}");
    write_beside_table("mutants.md", &text);
    report.conclude("MutantFs", 100);
}
