//! One run: the loop, then the steps, then the report. However it ends, the report says so.

mod admit;
mod amend;
mod background;
mod commit;
mod council;
mod earlier;
mod end;
mod handover;
mod left;
mod long_haul;
mod plan;
mod put;
mod questions;
mod receipt;
mod records;
mod remember;
mod rounds;
mod so_far;
mod step_file;
mod steps;
mod unchanged;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use ao_contract::{
    CloseLoop, Defrag, Exit, Extra, Iteration, MorningPacket, NightAwake, ReceiptInputs, RunStage,
    Settled, Step, StepName, Summary, WarnOnlyBudget,
};
use ao_tree::{Disk, Door, own_file};

use crate::awake::{Awake, Wish};
use crate::clock::Clock;
use crate::council::Council;
use crate::host::Host;
use crate::iteration::{Measured, Work};
use crate::output::{BadOutput, CONTRACT, Output};
use crate::outside::Outside;
use crate::progress::{Progress, STATUS, Teller, Watch};
use crate::receipts::{Receipts, began_with};
use crate::replay::Memory;
use crate::settings::{Gate, Mode, Settings};
use crate::settled::{Key, Looked};
pub use left::complete_cut_off;
pub(crate) use plan::step_names;

pub use amend::{Amending, amend};
use background::{Halt, Limits, in_background, message};
use earlier::Places;
use remember::Keeping;

/// The steps after the loop have this part of the time for themselves.
const RESERVE_SHARE: u32 = 5;
const RESERVE_MAX: Duration = Duration::from_mins(1);
/// A council has its time, as far as it is not more than this part of the night.
const COUNCIL_SHARE: u32 = 2;

/// Where the documents that a report names lie, beneath `.agents/`.
const DOCS: &str = "overnight/docs";

/// Which run to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    Last,
    Run(String),
}

/// Everything that a run needs. Whoever gives the order holds the lock of a run, or for a dry run the
/// readers' lock, and has recovered what was cut off.
pub struct Order<'a> {
    pub settings: Settings,
    pub door: Door<Disk>,
    /// The repository, with no symlink on the way.
    pub root: PathBuf,
    /// Its name, as the work queue spells it.
    pub repo: String,
    pub clock: Clock,
    pub host: Host,
    /// The number of the signal that arrived, or 0.
    pub signal: Arc<AtomicUsize>,
    pub watch: &'a mut dyn Watch,
    /// Who is asked what to do first, if somebody is.
    pub council: Option<Council>,
    pub resume: Option<Resume>,
    /// What was recovered before this run, a line each.
    pub recovered: Vec<String>,
    /// What the door leaves alone, a line each: no night changes it.
    pub left_alone: Vec<String>,
    /// Which program this is: another one may find something else. `None` if that is not known.
    pub program: Option<String>,
    /// Whether it is kept, so that it can be run again, or is a night that is run again.
    pub memory: Memory,
    /// Where its receipt goes.
    pub receipts: Receipts,
    /// What the process ends with where something failed softly, as the receipt says it.
    pub soft_exit: Exit,
}

impl std::fmt::Debug for Order<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Order").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub summary: Summary,
    pub exit: Exit,
    /// Of a dry run: what would change, as a diff.
    pub diff: Option<String>,
    /// Of a replay: what it met that was not so in the night, a line each.
    pub differences: Vec<String>,
    /// Why its receipt is missing or has no seal, if so.
    pub unreceipted: Option<String>,
}

/// Why a run was not begun. Nothing was written but what the message names.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Output(#[from] BadOutput),
    #[error("{0}")]
    NothingToResume(String),
    #[error("the rescues cannot be read: {0}")]
    Budget(String),
    #[error("the record of an iteration cannot be read: {0}")]
    Record(String),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl StartError {
    fn io(what: &str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { what: what.to_owned(), source }
    }
}

/// Why nothing more is done.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stopped {
    Signal(usize),
    Failed(String),
}

/// Why the loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LoopEnd {
    Nothing,
    Count,
    Time,
    Plateau,
    Regression,
    /// A stage failed, and would fail again.
    Failing,
}

struct Run<'a> {
    work: Arc<Work>,
    output: Output,
    state: PathBuf,
    repo: String,
    host: Host,
    limits: Limits,
    teller: Teller,
    watch: &'a mut dyn Watch,
    council: Option<Council>,
    summary: Summary,
    began: Duration,
    /// Whether another process began it.
    is_resumed: bool,
    iterations: Vec<Iteration>,
    budget: WarnOnlyBudget,
    rescues: Vec<String>,
    degraded: Vec<String>,
    stored_bytes: u64,
    closing: Option<CloseLoop>,
    /// The plan of the last iteration: what it did, and what is left to a person.
    defrag: Option<Defrag>,
    /// What is known of the corpus as it is now.
    last: Option<Measured>,
    /// Which of the past questions had an answer before the run changed anything.
    answered_before: Option<Vec<bool>>,
    survey: Option<crate::dreamscape::Survey>,
    /// What an earlier run found out, where nothing changed since.
    kept: Option<Settled>,
    /// The corpus as the file system told of it before it was read.
    looked: Option<(Looked, Key)>,
    /// How many files the door would not have changed.
    held_back: usize,
    program: Option<String>,
    /// Whether something was cut off before this run.
    is_recovered: bool,
    packets: Vec<MorningPacket>,
    diff: Option<String>,
    /// What a run that only shows would have changed.
    shown: Vec<ao_tree::Edit>,
    /// What is kept of it.
    keeping: Keeping,
    receipts: Receipts,
    soft_exit: Exit,
    /// What it began with, before it read anything.
    inputs: ReceiptInputs,
    /// The commit that was decided and could not be finished.
    unfinished: Option<String>,
}

/// Runs one night. An error means that it was not begun.
pub fn start(order: Order<'_>) -> Result<Ended, StartError> {
    let Order { mut settings, door, root, repo, clock, host, signal, watch, resume, .. } = order;
    let Order { recovered, left_alone, program, council, memory, receipts, soft_exit, .. } = order;
    let receipts = if settings.mode == Mode::Real { receipts } else { Receipts::Off };
    let agents = memory.agents().map_or_else(|| root.join(".agents"), ToOwned::to_owned);
    let outside = Arc::new(memory.outside(clock));
    let state = agents.join("overnight");
    let output = output_of(&settings, &root, &memory)?;
    let (budget, returned) = rescues_left(&state, settings.mode, &door)?;
    // Before anything is touched: taking it may last seconds, and the first summary says what is held.
    let awake = stay_awake(&settings, &outside, &host);
    let places = Places {
        output: &output,
        door: &door,
        state: &state,
        budget: &budget,
        root: &root,
        receipts: &receipts,
        program: program.as_deref(),
    };
    let earlier = earlier::see_to(&places, resume.as_ref(), settings.mode, clock)?;
    let is_dry = settings.mode == Mode::DryRun;
    write_docs(if is_dry { (&output.dir, CONTRACT) } else { (&agents, DOCS) })?;
    let began = outside.reading("began").uptime;
    // What ended a night by its time is not the time that its replay takes.
    let deadline = if outside.is_playing() { Duration::MAX } else { began + settings.run_timeout };
    let met = Arc::default();
    let limits = Limits { deadline, uptime: clock.uptime, signal, met };
    let run_id = run_id((earlier.resumed.as_ref(), &memory), &door, &output, clock)?;
    keep_goal(&mut settings, earlier.resumed.as_ref());
    let told = (clock, Arc::clone(&outside));
    let progress = Progress::new(&run_id, &output.dir, settings.run_timeout, told);
    let teller = Teller::new(progress.clone(), (!is_dry).then(|| state.join(STATUS)), clock);
    let is_recovered = !recovered.is_empty();
    let recovered: Vec<String> =
        recovered.into_iter().chain(earlier.notes).chain(returned).collect();
    let now = outside.reading("planned").rfc3339();
    let mut summary = plan::planned(
        &settings,
        &root,
        &output,
        (&run_id, now),
        &budget,
        (&recovered, &left_alone),
    );
    if !ao_mutant::active("RUN-45/awake-is-told-at-the-end") {
        awake.put(&mut summary.runtime);
    }
    let mut keeping = Keeping::new(&memory, &budget, (&recovered, left_alone));
    if earlier.resumed.is_some() {
        keeping.refuse("it was cut off, and another process went on with it");
    }
    if let Some(council) = &council {
        plan::add_council(&mut summary, council);
    }
    if let Some(before) = &earlier.resumed {
        plan::go_on(&mut summary, before);
    }
    let inputs = began_with(&settings, council.as_ref());
    let work = Work::new((door, root, agents), settings, (clock, outside, progress));
    if !ao_mutant::active("RUN-44/day-of-the-first-need") {
        // Fixed now: the first need of it may come after midnight.
        work.today();
    }
    let mut run = Run {
        work: Arc::new(work),
        output,
        state,
        repo,
        host,
        limits,
        teller,
        watch,
        council,
        summary,
        began,
        is_resumed: earlier.resumed.is_some(),
        rescues: rounds::rescues(&earlier.iterations),
        degraded: rounds::degraded(&earlier.iterations),
        iterations: earlier.iterations,
        budget,
        stored_bytes: earlier.stored_bytes,
        closing: None,
        defrag: None,
        shown: Vec::new(),
        last: None,
        answered_before: None,
        survey: None,
        kept: None,
        looked: None,
        held_back: 0,
        program,
        is_recovered,
        packets: Vec::new(),
        diff: None,
        keeping,
        receipts,
        soft_exit,
        inputs,
        unfinished: None,
    };
    run.begin()?;
    Ok(run.whole(awake))
}

/// What a run is for does not change with the process that goes on with it.
fn keep_goal(settings: &mut Settings, before: Option<&Summary>) {
    if let Some(before) = before.filter(|_| settings.goal.is_empty()) {
        settings.goal.clone_from(&before.goal);
    }
}

/// A replay writes elsewhere, and tells of the folder that the night had.
fn output_of(settings: &Settings, root: &Path, memory: &Memory) -> Result<Output, BadOutput> {
    let mut output = Output::make(&settings.output_dir, root)?;
    if let Memory::Replay(past) = memory {
        output.told = PathBuf::from(&past.night.output_dir);
    }
    Ok(output)
}

/// The rescues that are left. One that a run spent and did not live to use is given back, and that is told.
fn rescues_left(
    state: &Path,
    mode: Mode,
    door: &Door<Disk>,
) -> Result<(WarnOnlyBudget, Option<String>), StartError> {
    let mut budget = crate::budget::read(state).map_err(StartError::Budget)?;
    let (Mode::Real, Ok(history)) = (mode, door.history()) else { return Ok((budget, None)) };
    let fail = StartError::io("give a rescue back");
    let returned = crate::budget::give_back_unused(state, &mut budget, &history).map_err(fail)?;
    let told = returned.map(|id| {
        format!("the rescue that iteration {id} had spent was given back: it was not committed")
    });
    Ok((budget, told))
}

/// Keeps the machine awake, if that is wanted and can be had.
fn stay_awake(settings: &Settings, outside: &Outside, host: &Host) -> Awake {
    let wish = if outside.is_playing() { Wish::Off } else { settings.keep_awake };
    Awake::take(wish, host, "the overnight run of this repository's knowledge")
}

fn write_docs((base, folder): (&Path, &str)) -> Result<(), StartError> {
    let fail = StartError::io("write the documents that the report names");
    let is_astray = ao_mutant::active("RUN-31/writes-beside-its-folder");
    let folder = if is_astray { "docs" } else { folder };
    ao_tree::make_folders(base, folder).map_err(&fail)?;
    for (name, text) in crate::docs::DOCS {
        let path = base.join(folder).join(name);
        let there = own_file::read(&path, text.len() as u64);
        let is_there = there.is_ok_and(|bytes| bytes == text.as_bytes());
        if !is_there {
            let text = ao_vault::redactor().bytes(text.as_bytes(), ao_vault::Ansi::Strip);
            ao_vault::out::replace_file(&path, &text).map_err(&fail)?;
        }
    }
    Ok(())
}

/// A run keeps its id, whoever goes on with it or runs it again.
fn run_id(
    (resumed, memory): (Option<&Summary>, &Memory),
    door: &Door<Disk>,
    output: &Output,
    clock: Clock,
) -> Result<String, StartError> {
    match (resumed, memory) {
        (Some(summary), _) => Ok(summary.run_id.clone()),
        (None, Memory::Replay(past)) => Ok(past.night.run_id.clone()),
        (None, _) => {
            unique_run_id(door, output, &clock.id()).map_err(StartError::io("choose an id"))
        }
    }
}

/// An id that neither a commit nor a folder of an earlier run has.
fn unique_run_id(door: &Door<Disk>, output: &Output, wanted: &str) -> io::Result<String> {
    let taken: Vec<String> = match door.history() {
        Ok(lines) => lines.into_iter().map(|line| line.id).collect(),
        // A history that cannot be read is named by the commit that needs it.
        Err(_) => Vec::new(),
    };
    let is_free = |id: &String| {
        let is_known = |commit: &String| commit.starts_with(&format!("{id}-"));
        output.path(id).symlink_metadata().is_err() && !taken.iter().any(is_known)
    };
    let ids =
        std::iter::once(wanted.to_owned()).chain((2..1000).map(|nth| format!("{wanted}-{nth}")));
    ids.into_iter().find(is_free).ok_or_else(|| io::Error::other("too many runs in one second"))
}

impl Run<'_> {
    /// Says on disk that the run began. What an earlier process of it left makes room: first the log, while the
    /// old summary still has the steps that it tells of, and the artifacts once no summary names them.
    fn begin(&mut self) -> Result<(), StartError> {
        let aside = self.is_resumed.then(|| self.output.before_resume(&self.summary.run_id));
        if let Some(aside) = &aside {
            self.output.set_log_aside(aside).map_err(StartError::io("move the old log"))?;
            let run_id = &self.summary.run_id;
            self.log(&format!("run {run_id} goes on; its log until now is in {aside}/"));
        }
        self.begin_receipt();
        if !ao_mutant::active("REP-19/nothing-is-planned") {
            let first = self.write_summary().inspect_err(|_| self.forget_receipt());
            first.map_err(StartError::io("write the first summary"))?;
        }
        aside.map_or(Ok(()), |aside| {
            self.output.set_aside(&aside).map_err(StartError::io("move the old artifacts"))
        })
    }

    /// The run itself, with an end for whatever happens in it.
    fn whole(mut self, mut awake: Awake) -> Ended {
        self.log(&format!("run {} began", self.summary.run_id));
        let ended = catch_unwind(AssertUnwindSafe(|| self.night()));
        let ended = match ended {
            Ok(ended) => ended,
            Err(panic) if ao_mutant::active("RUN-24/panic-leaves-no-report") => {
                std::panic::resume_unwind(panic)
            }
            Err(panic) => Err(Stopped::Failed(format!("panicked: {}", message(panic.as_ref())))),
        };
        awake.check();
        let told = self.work.outside.awake(|| NightAwake {
            mode: awake.mode(),
            note: awake.note().map(str::to_owned),
            degraded: awake.is_degraded(),
            extra: Extra::new(),
        });
        self.summary.runtime.keep_awake_mode = told.mode.into();
        self.summary.runtime.keep_awake_note = told.note;
        if told.degraded {
            self.degraded.push("keep-awake".into());
        }
        self.finish(&ended)
    }

    fn night(&mut self) -> Result<LoopEnd, Stopped> {
        let end = self.rounds()?;
        self.steps()?;
        self.settle(&end);
        Ok(end)
    }

    fn is_dry(&self) -> bool {
        self.work.settings.mode == Mode::DryRun
    }

    fn gate(&self) -> Gate {
        self.work.settings.gate
    }

    /// When the loop has to end, so that the steps have time.
    fn loop_limits(&self) -> Limits {
        let limit = self.work.settings.run_timeout;
        let council = self.council.as_ref().map(Council::time).unwrap_or_default();
        let steps = if ao_mutant::active("LOOP-30/no-reserve") {
            Duration::ZERO
        } else {
            (limit / RESERVE_SHARE).min(RESERVE_MAX)
        };
        let reserve = steps + council.min(limit / COUNCIL_SHARE);
        Limits { deadline: self.limits.deadline.saturating_sub(reserve), ..self.limits.clone() }
    }

    /// Does work that may take long and has no effects.
    fn think<T: Send + 'static>(
        &mut self,
        limits: &Limits,
        work: impl FnOnce(&Work) -> T + Send + 'static,
    ) -> Result<T, Halt> {
        let shared = Arc::clone(&self.work);
        let (clock, deadline) = (self.work.clock, self.limits.deadline);
        let (teller, watch) = (&mut self.teller, &mut *self.watch);
        teller.tell(clock, deadline, watch);
        let mut tick = || teller.tell(clock, deadline, watch);
        in_background(move || work(&shared), limits, None, &mut tick)
    }

    /// A line in the log of the run. A log that cannot be written is no reason to stop.
    fn log(&self, line: &str) {
        let line = format!("{} {}", self.work.clock.rfc3339(), ao_tree::shown(line));
        let _ = self.output.log(&line);
    }

    fn stage(&mut self, stage: RunStage, doing: &str) {
        self.work.progress.stage(stage, doing);
        self.log(&format!("{}: {doing}", stage.name()));
        let (clock, deadline) = (self.work.clock, self.limits.deadline);
        self.teller.tell(clock, deadline, self.watch);
    }

    /// The step of this name, as the plan has it.
    fn step(&mut self, name: &StepName) -> Option<&mut Step> {
        self.summary.steps.iter_mut().find(|step| step.name == *name)
    }
}
