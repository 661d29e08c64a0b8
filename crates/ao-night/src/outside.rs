//! What a night learns from outside of its corpus: the clock, other files of the repository, programs.
//!
//! Everything of it that an artifact or a decision depends on is asked for here, by what it is for. So a
//! night can write down what it was told, and a replay is told the same. What only a watcher sees (ticks,
//! words of progress, the lines of the log) is not asked for here, and is never the same twice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ao_contract::{
    CommandVerdict, CommittedTexts, Extra, LookFound, NightAwake, NightBeads, NightCommand,
    NightEvent, NightLook, NightQuestions, NightReading, NightRecord, NightTranscripts,
};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::clock::Clock;
use crate::curator::Open;
use crate::place::Standing;
use crate::verdict::Verdict;

/// One look at both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) at: Timestamp,
    pub(crate) uptime: Duration,
}

impl Reading {
    /// RFC 3339, UTC, to the second.
    pub(crate) fn rfc3339(&self) -> String {
        self.at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// In UTC.
    pub(crate) fn day(&self) -> Date {
        self.at.to_zoned(TimeZone::UTC).date()
    }
}

/// The way to everything that is not in the corpus.
#[derive(Debug)]
pub struct Outside {
    clock: Clock,
    tape: Tape,
}

#[derive(Debug)]
enum Tape {
    /// Nothing is kept.
    Off,
    Recording(Box<Mutex<Heard>>),
    Playing(Box<Mutex<Told>>),
}

/// What was heard so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) readings: Vec<NightReading>,
    pub(crate) corpora: Vec<String>,
    pub(crate) looks: BTreeMap<String, NightLook>,
    pub(crate) commands: Vec<NightCommand>,
    pub(crate) keep_awake: Option<NightAwake>,
    pub(crate) beads: Option<NightBeads>,
    pub(crate) deferred: BTreeMap<String, String>,
    pub(crate) events: Vec<NightEvent>,
    pub(crate) transcripts: Option<NightTranscripts>,
    pub(crate) questions: Option<NightQuestions>,
    pub(crate) committed: Option<CommittedTexts>,
    pub(crate) clock_set: Vec<String>,
}

/// What is told again.
#[derive(Debug)]
struct Told {
    readings: BTreeMap<String, VecDeque<Reading>>,
    /// What is told to a question that was not asked then.
    last: Option<Reading>,
    corpora: VecDeque<String>,
    looks: BTreeMap<String, NightLook>,
    commands: BTreeMap<String, Verdict>,
    keep_awake: Option<NightAwake>,
    beads: Option<NightBeads>,
    deferred: BTreeMap<String, String>,
    transcripts: Option<NightTranscripts>,
    questions: Option<NightQuestions>,
    committed: Option<CommittedTexts>,
    clock_set: Vec<String>,
    /// Where it was not the same, a line each.
    differences: BTreeSet<String>,
}

impl Outside {
    pub(crate) fn unkept(clock: Clock) -> Self {
        Self { clock, tape: Tape::Off }
    }

    pub(crate) fn recording(clock: Clock) -> Self {
        Self { clock, tape: Tape::Recording(Box::default()) }
    }

    /// As it was in a night.
    pub(crate) fn playing(clock: Clock, night: &NightRecord) -> Self {
        let mut readings: BTreeMap<String, VecDeque<Reading>> = BTreeMap::new();
        let mut last = None;
        for reading in &night.readings {
            let Ok(at) = reading.at.parse::<Timestamp>() else { continue };
            let known = Reading { at, uptime: Duration::from_nanos(reading.uptime_ns) };
            readings.entry(reading.what.clone()).or_default().push_back(known);
            last = Some(known);
        }
        let told = Told {
            readings,
            last,
            corpora: night.corpora.iter().cloned().collect(),
            looks: night.looks.iter().map(|look| (look.path.clone(), look.clone())).collect(),
            commands: night.commands.iter().map(said).collect(),
            keep_awake: night.keep_awake.clone(),
            beads: night.beads.clone(),
            deferred: night.deferred.clone(),
            transcripts: night.transcripts.clone(),
            questions: night.questions.clone(),
            committed: night.committed.clone(),
            clock_set: night.clock_set.clone(),
            differences: BTreeSet::new(),
        };
        Self { clock, tape: Tape::Playing(Box::new(Mutex::new(told))) }
    }

    pub(crate) fn is_playing(&self) -> bool {
        matches!(self.tape, Tape::Playing(_))
    }

    /// What was heard; nothing is recorded after it.
    pub(crate) fn heard(&self) -> Option<Heard> {
        match &self.tape {
            Tape::Recording(heard) => Some(std::mem::take(&mut *locked(heard))),
            Tape::Off | Tape::Playing(_) => None,
        }
    }

    /// Where a replay met something else than the night did, a line each.
    pub(crate) fn differences(&self) -> Vec<String> {
        match &self.tape {
            Tape::Playing(told) => locked(told).differences.iter().cloned().collect(),
            Tape::Off | Tape::Recording(_) => Vec::new(),
        }
    }

    /// Looks at the clock. `what` says what for; of several for the same the order counts.
    pub(crate) fn reading(&self, what: &str) -> Reading {
        let now = || Reading { at: (self.clock.now)(), uptime: (self.clock.uptime)() };
        match &self.tape {
            Tape::Off => now(),
            Tape::Recording(heard) => {
                let now = now();
                locked(heard).readings.push(NightReading {
                    what: what.to_owned(),
                    at: now.at.to_string(),
                    uptime_ns: u64::try_from(now.uptime.as_nanos()).unwrap_or(u64::MAX),
                    extra: Extra::new(),
                });
                now
            }
            Tape::Playing(told) => {
                let mut told = locked(told);
                let last = told.last;
                let known = told.readings.get_mut(what).and_then(|all| match all.len() {
                    // Asked more often than then: the time stands still.
                    0 | 1 => all.front().copied(),
                    _ => all.pop_front(),
                });
                known.or(last).unwrap_or_else(now)
            }
        }
    }

    /// The corpus as an attempt of an iteration read it; its hash, where it was needed.
    pub(crate) fn corpus(&self, hash: impl FnOnce() -> String) -> Option<String> {
        match &self.tape {
            Tape::Off => None,
            Tape::Recording(heard) => {
                let hash = hash();
                locked(heard).corpora.push(hash.clone());
                Some(hash)
            }
            Tape::Playing(told) => {
                let hash = hash();
                let mut told = locked(told);
                if told.corpora.pop_front().is_some_and(|then| then != hash) {
                    let why = "an iteration read another corpus than then: somebody changed it \
                               while the night went on, or the edits before differ";
                    told.differences.insert(why.into());
                }
                Some(hash)
            }
        }
    }

    /// What is at a path of the repository.
    pub(crate) fn stands(
        &self,
        path: &str,
        look: impl FnOnce() -> Result<Standing, String>,
    ) -> Result<Standing, String> {
        match &self.tape {
            Tape::Off => look(),
            Tape::Recording(heard) => {
                let stands = look();
                let mut heard = locked(heard);
                heard.looks.entry(path.to_owned()).or_insert_with(|| seen(path, &stands));
                stands
            }
            Tape::Playing(told) => {
                let known = locked(told).looks.get(path).map(standing);
                known.unwrap_or_else(look)
            }
        }
    }

    /// What a file of the repository holds. It is not kept: a replay says if it is another one by now.
    pub(crate) fn read(
        &self,
        path: &str,
        read: impl FnOnce() -> Result<Option<Vec<u8>>, String>,
    ) -> Result<Option<Vec<u8>>, String> {
        let bytes = read();
        let hash = || match &bytes {
            Ok(Some(bytes)) => Some(blake3::hash(bytes).to_hex().to_string()),
            Ok(None) | Err(_) => None,
        };
        match &self.tape {
            Tape::Off => {}
            Tape::Recording(heard) => {
                let stands = match &bytes {
                    Ok(Some(bytes)) => Ok(Standing::File { bytes: bytes.len() as u64 }),
                    Ok(None) => Ok(Standing::Nothing),
                    Err(why) => Err(why.clone()),
                };
                let mut heard = locked(heard);
                let look = heard.looks.entry(path.to_owned());
                look.or_insert_with(|| seen(path, &stands)).hash = hash();
            }
            Tape::Playing(told) => {
                let mut told = locked(told);
                let is_other = told.looks.get(path).is_some_and(|then| then.hash != hash());
                if is_other {
                    let path = ao_tree::shown(path);
                    told.differences.insert(format!("{path} is another file than it was then"));
                }
            }
        }
        bytes
    }

    /// What the command of a check says.
    pub(crate) fn command(&self, command: &str, run: impl FnOnce() -> Verdict) -> Verdict {
        let run = || match self.tape {
            // No program is started, whatever the record lacks.
            Tape::Playing(_) => Verdict::NotChecked("it was not run then".into()),
            Tape::Off | Tape::Recording(_) => run(),
        };
        self.check(command, run)
    }

    /// What a check says that looks outside of the corpus; `command` is its command, or the check itself.
    pub(crate) fn check(&self, command: &str, run: impl FnOnce() -> Verdict) -> Verdict {
        match &self.tape {
            Tape::Off => run(),
            Tape::Recording(heard) => {
                let verdict = run();
                locked(heard).commands.push(NightCommand {
                    command: command.to_owned(),
                    verdict: match &verdict {
                        Verdict::True => CommandVerdict::True,
                        Verdict::Done(_) => CommandVerdict::Done,
                        Verdict::NotChecked(_) => CommandVerdict::NotChecked,
                    },
                    why: verdict.why().map(str::to_owned),
                    extra: Extra::new(),
                });
                verdict
            }
            Tape::Playing(told) => {
                let known = locked(told).commands.get(command).cloned();
                known.unwrap_or_else(run)
            }
        }
    }

    /// What keeps the machine awake.
    pub(crate) fn awake(&self, look: impl FnOnce() -> NightAwake) -> NightAwake {
        match &self.tape {
            Tape::Off => look(),
            Tape::Recording(heard) => {
                let awake = look();
                locked(heard).keep_awake = Some(awake.clone());
                awake
            }
            Tape::Playing(told) => locked(told).keep_awake.clone().unwrap_or_else(look),
        }
    }

    /// What comes of the beads.
    pub(crate) fn beads(&self, sync: impl FnOnce() -> NightBeads) -> NightBeads {
        match &self.tape {
            Tape::Off => sync(),
            Tape::Recording(heard) => {
                let beads = sync();
                locked(heard).beads = Some(beads.clone());
                beads
            }
            // No program is started, whatever the record lacks.
            Tape::Playing(told) => locked(told).beads.clone().unwrap_or_else(|| NightBeads {
                status: ao_contract::StepStatus::Skipped,
                note: "not asked then".into(),
                linked: 0,
                beads: BTreeMap::new(),
                extra: Extra::new(),
            }),
        }
    }

    /// Why a runner is not asked, if it is not.
    pub(crate) fn deferred(
        &self,
        runner: &str,
        look: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        match &self.tape {
            Tape::Off => look(),
            Tape::Recording(heard) => look().inspect_err(|why| {
                locked(heard).deferred.insert(runner.to_owned(), why.clone());
            }),
            Tape::Playing(told) => {
                locked(told).deferred.get(runner).map_or(Ok(()), |why| Err(why.clone()))
            }
        }
    }

    /// The events that a council looks at; a replay has them from its desk.
    pub(crate) fn events(&self, events: &[Open]) {
        if let Tape::Recording(heard) = &self.tape {
            let told = |open: &Open| NightEvent {
                event: open.event.clone(),
                calls_left: open.calls_left,
                extra: Extra::new(),
            };
            locked(heard).events = events.iter().map(told).collect();
        }
    }

    /// What the transcripts offer; asked for once a run.
    pub(crate) fn transcripts(&self, read: impl FnOnce() -> NightTranscripts) -> NightTranscripts {
        match &self.tape {
            Tape::Off => read(),
            Tape::Recording(heard) => {
                let offered = read();
                locked(heard).transcripts = Some(offered.clone());
                offered
            }
            // They may say anything by now, or be gone.
            Tape::Playing(told) => locked(told).transcripts.clone().unwrap_or_default(),
        }
    }

    /// What was asked before; asked for once a run.
    pub(crate) fn questions(&self, read: impl FnOnce() -> Vec<String>) -> Vec<String> {
        match &self.tape {
            Tape::Off => read(),
            Tape::Recording(heard) => {
                let asked = read();
                let told = NightQuestions { asked: asked.clone(), extra: Extra::new() };
                locked(heard).questions = Some(told);
                asked
            }
            // Other questions were asked since.
            Tape::Playing(told) => locked(told).questions.clone().unwrap_or_default().asked,
        }
    }

    /// What of the pending texts is in a commit; asked for once a run.
    pub(crate) fn committed(&self, ask: impl FnOnce() -> CommittedTexts) -> CommittedTexts {
        match &self.tape {
            Tape::Off => ask(),
            Tape::Recording(heard) => {
                let texts = ask();
                locked(heard).committed = Some(texts.clone());
                texts
            }
            // Other texts are in a commit by now.
            Tape::Playing(told) => locked(told).committed.clone().unwrap_or_default(),
        }
    }

    /// Each time that the clock was set.
    pub(crate) fn clock_set(&self, look: impl FnOnce() -> Vec<String>) -> Vec<String> {
        match &self.tape {
            Tape::Off => look(),
            Tape::Recording(heard) => {
                let set = look();
                locked(heard).clock_set.clone_from(&set);
                set
            }
            Tape::Playing(told) => locked(told).clock_set.clone(),
        }
    }
}

/// Whoever panicked with it left it whole: each change is one value.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn said(command: &NightCommand) -> (String, Verdict) {
    let why = || command.why.clone().unwrap_or_default();
    let verdict = match command.verdict {
        CommandVerdict::True => Verdict::True,
        CommandVerdict::Done => Verdict::Done(why()),
        CommandVerdict::NotChecked => Verdict::NotChecked(why()),
    };
    (command.command.clone(), verdict)
}

fn seen(path: &str, stands: &Result<Standing, String>) -> NightLook {
    let (found, bytes, why) = match stands {
        Ok(Standing::Nothing) => (LookFound::Nothing, None, None),
        Ok(Standing::Folder) => (LookFound::Folder, None, None),
        Ok(Standing::File { bytes }) => (LookFound::File, Some(*bytes), None),
        Err(why) => (LookFound::Refused, None, Some(why.clone())),
    };
    NightLook { path: path.to_owned(), found, bytes, why, hash: None, extra: Extra::new() }
}

fn standing(look: &NightLook) -> Result<Standing, String> {
    match look.found {
        LookFound::Nothing => Ok(Standing::Nothing),
        LookFound::Folder => Ok(Standing::Folder),
        LookFound::File => Ok(Standing::File { bytes: look.bytes.unwrap_or_default() }),
        LookFound::Refused => Err(look.why.clone().unwrap_or_default()),
    }
}
