//! How an engine counts: cases run, cases that went wrong, and how to run one of them again.

use std::fmt::Display;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// After so many bad cases an engine stops: the next thousand would say the same.
const BAD_MAX: usize = 20;
/// Of these, so many are shown whole.
const SHOWN_MAX: usize = 5;

/// The whole sweep is asked for, not only the sample of the default run.
pub(crate) fn is_full() -> bool {
    std::env::var_os("AO_SWEEP").is_some_and(|value| value == "1")
}

/// Says something past libtest's capture, which would hide it in a run that passes.
pub(crate) fn say(line: &str) {
    // Nothing can be done about a closed stderr, and nothing depends on it.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Says loudly that an engine did not run on this machine.
pub(crate) fn skip(engine: &str, why: &str) {
    say(&format!("SKIPPED {engine}: {why}"));
}

/// Every item, or about `sample` of them, evenly spread, first and last included.
pub(crate) fn spread<T>(items: Vec<T>, sample: usize) -> Vec<T> {
    let count = items.len();
    if count <= sample || sample < 2 {
        return items;
    }
    let mut wanted = (0..sample).map(|index| index * (count - 1) / (sample - 1)).peekable();
    let keep = |index: usize| wanted.next_if_eq(&index).is_some();
    let mut keep = keep;
    items.into_iter().enumerate().filter_map(|(index, item)| keep(index).then_some(item)).collect()
}

pub(crate) struct Tally {
    engine: &'static str,
    /// The test function, for the line that says how to run a case again.
    test: &'static str,
    minimum: usize,
    only: Option<String>,
    cases: usize,
    bad: Vec<String>,
}

impl Tally {
    /// `minimum` is what the full sweep must reach; a sample has none but one case.
    pub(crate) fn new(engine: &'static str, test: &'static str, minimum: usize) -> Self {
        let only = std::env::var("AO_SWEEP_ONLY").ok();
        Self { engine, test, minimum, only, cases: 0, bad: Vec::new() }
    }

    /// Everything is enumerated: in the full sweep, and when one case of it is looked for.
    pub(crate) fn is_full(&self) -> bool {
        is_full() || self.only.is_some()
    }

    /// All of it in the full sweep, else an even sample.
    pub(crate) fn sample<T>(&self, items: Vec<T>, sample: usize) -> Vec<T> {
        self.part(items, usize::MAX, sample)
    }

    /// About `full` in the full sweep, else an even sample.
    pub(crate) fn part<T>(&self, items: Vec<T>, full: usize, sample: usize) -> Vec<T> {
        match self.only {
            Some(_) => items,
            None => spread(items, if is_full() { full } else { sample }),
        }
    }

    /// False when another case was asked for by name, or when enough went wrong already.
    pub(crate) fn wants(&self, case: &dyn Display) -> bool {
        self.bad.len() < BAD_MAX && self.only.as_ref().is_none_or(|only| *only == case.to_string())
    }

    /// So many cases, all of them good.
    pub(crate) fn add(&mut self, cases: usize) {
        self.cases += cases;
    }

    pub(crate) fn record(&mut self, case: &dyn Display, result: Result<(), String>) {
        self.cases += 1;
        if let Err(difference) = result {
            self.bad.push(format!(
                "case: {case}\nagain: AO_SWEEP_ONLY='{case}' cargo test -p ao --test {} {}\n{difference}",
                env!("CARGO_CRATE_NAME"),
                self.test
            ));
        }
    }

    /// Runs the cases on all cores, each one wholly in one thread, because only the thread that
    /// started a traced process may step it. What a good case found out is handed back.
    pub(crate) fn run<C, T>(
        &mut self,
        cases: &[C],
        run: impl Fn(&C) -> Result<T, String> + Sync,
    ) -> Vec<(usize, T)>
    where
        C: Display + Sync,
        T: Send,
    {
        let next = AtomicUsize::new(0);
        let bad = AtomicUsize::new(self.bad.len());
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Some(index) = claim(&next, cases.len())
                && bad.load(Ordering::Relaxed) < BAD_MAX
            {
                let case = &cases[index];
                if !self.wants(case) {
                    continue;
                }
                let result = catch_unwind(AssertUnwindSafe(|| run(case)))
                    .unwrap_or_else(|panic| Err(format!("panicked: {}", panic_text(&*panic))));
                bad.fetch_add(usize::from(result.is_err()), Ordering::Relaxed);
                done.lock().unwrap().push((index, result));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        let mut found = Vec::new();
        let mut done = done.into_inner().unwrap();
        done.sort_by_key(|(index, _)| *index);
        for (index, result) in done {
            let result = result.map(|value| found.push((index, value)));
            self.record(&cases[index], result);
        }
        found
    }

    pub(crate) fn finish(self) {
        let Self { engine, minimum, only, cases, bad, .. } = self;
        say(&format!("sweep: {engine} cases={cases} bad={}", bad.len()));
        if let Some(path) = std::env::var_os("AO_SWEEP_TABLE") {
            let mut table =
                std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            // One write, so that engines that end together do not mix their lines.
            table.write_all(format!("{engine}\t{cases}\t{}\n", bad.len()).as_bytes()).unwrap();
        }
        assert!(
            bad.is_empty(),
            "{engine}: {} of {cases} cases went wrong\n\n{}",
            bad.len(),
            bad[..bad.len().min(SHOWN_MAX)].join("\n\n")
        );
        if let Some(only) = only {
            say(&format!("sweep: {engine} ran only '{only}': {cases} case(s)"));
            return;
        }
        let minimum = if is_full() { minimum } else { 1 };
        assert!(cases >= minimum, "{engine}: {cases} cases, at least {minimum} are wanted");
    }
}

fn claim(next: &AtomicUsize, count: usize) -> Option<usize> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    (index < count).then_some(index)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
