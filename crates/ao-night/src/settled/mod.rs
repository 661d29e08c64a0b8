//! A night with nothing new: what the last one found out still holds, if nothing can have changed.
//!
//! Everything that a night judges by lies beneath `.agents/`, but for its own day: by that terms end and
//! waits are over. So an answer holds up to the first day on which something expires or may be promoted,
//! which is kept with it, as long as the files are the same. They are the same if the file system says the
//! same of each. It is believed only where it cannot be mistaken: each time in it is older than the look by
//! more than a clock's tick, and the look was taken before the corpus was read and once more after
//! everything was measured.
//!
//! What is kept is a cache. One that is missing, cut, changed, from another program, another place or
//! a time to come is no reason to stop: the night is then a whole one.

mod print;

use std::path::Path;
use std::time::Duration;

use ao_contract::{Settled, format_duration};
use ao_tree::own_file;
use ao_vault::{Ansi, out, redactor};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value;

use crate::clock::Clock;
use crate::settings::Settings;

pub(crate) use print::Print;

const FILE: &str = "settled.json";
/// Asked for the time that the file system has.
const PROBE: &str = ".settling";
/// A larger one is not read: to look at the corpus again is cheaper.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// What, beside the files, an answer holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    program: String,
    repo_root: String,
    promote_after: String,
    promote_at: ao_contract::Trust,
    /// What of the pending texts is in a commit is no matter of the files.
    pending_tree: Option<String>,
    /// Of the transcripts that are read; `None` if none are.
    transcripts: Option<String>,
}

impl Key {
    /// `None` where answers are not kept: the program is not known, or other repositories are asked,
    /// of which nothing is known before they are read.
    pub(crate) fn of(program: Option<&str>, root: &Path, settings: &Settings) -> Option<Self> {
        settings.harvest.is_empty().then_some(())?;
        Some(Self {
            program: program?.to_owned(),
            repo_root: root.to_str()?.to_owned(),
            promote_after: format_duration(settings.promote_after),
            promote_at: settings.promote_at,
            pending_tree: settings.commits.pending_tree().ok().flatten(),
            transcripts: settings.transcripts.as_ref().map(|all| all.fingerprint(root)),
        })
    }

    fn is_of(&self, settled: &Settled) -> bool {
        self.program == settled.program
            && self.repo_root == settled.repo_root
            && self.promote_after == settled.promote_after
            && Some(self.promote_at) == settled.trust_promote_at
            && self.pending_tree == settled.pending_tree
            && self.transcripts == settled.transcripts
    }
}

/// What is known of a corpus before it is read.
#[derive(Debug, Clone)]
pub(crate) struct Looked {
    pub(crate) print: Print,
    pub(crate) at: String,
    /// Whether a change after the look is a change of the fingerprint, whenever it comes.
    pub(crate) trust: Trust,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    Sure,
    /// Files that changed just now, or in a time to come.
    Unsure,
}

/// Looks at the corpus. A file that changed within the last tick of the clock is waited for.
pub(crate) fn look(agents: &Path, state: &Path, clock: Clock) -> std::io::Result<Looked> {
    let first = look_once(agents, state, clock)?;
    if first.trust == Trust::Sure {
        return Ok(first);
    }
    std::thread::sleep(Duration::from_nanos(u64::try_from(print::TICK_NS).unwrap_or_default()));
    look_once(agents, state, clock)
}

fn look_once(agents: &Path, state: &Path, clock: Clock) -> std::io::Result<Looked> {
    // Neither clock alone: ours may be wrong, and the file system's may be that of another machine.
    let now_ns = (clock.now)().as_nanosecond().min(time_of_files(state)?);
    let at = clock.rfc3339();
    let print = Print::take(agents)?;
    let trust = if print.settles_ns < now_ns { Trust::Sure } else { Trust::Unsure };
    Ok(Looked { print, at, trust })
}

/// The time that the file system gives to what is written now.
fn time_of_files(state: &Path) -> std::io::Result<i128> {
    let probe = state.join(PROBE);
    out::replace_cache(&probe, &redactor().bytes(b"", Ansi::Keep))?;
    let written = std::fs::symlink_metadata(&probe)?.modified()?;
    ao_tree::remove_cache(&probe)?;
    let since = written.duration_since(std::time::UNIX_EPOCH);
    Ok(since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)))
}

/// What was kept, if it holds for this corpus now.
pub(crate) fn holding(state: &Path, key: &Key, print: &Print, clock: Clock) -> Option<Settled> {
    let settled = read(state)?;
    let looked_at: Timestamp = settled.looked_at.parse().ok()?;
    // A clock that was set back since: the times of files can come again.
    let is_later = (clock.now)() >= looked_at;
    let is_same = settled.fingerprint == print.hash && settled.entries == print.entries;
    let is_whole = settled.contradictions.is_some();
    let is_in_time = is_in_time(&settled, clock.day())?;
    (is_later && is_same && is_whole && is_in_time && key.is_of(&settled)).then_some(settled)
}

/// Whether the day changes nothing yet. `None` where that is not known: an earlier `ao` kept no day.
fn is_in_time(settled: &Settled, today: Date) -> Option<bool> {
    let judged_on: Date = settled.day.as_ref()?.parse().ok()?;
    let changes_on: Option<Date> =
        settled.changes_on.as_ref().map(|day| day.parse()).transpose().ok()?;
    let is_before = |day: Date| {
        today < day
            || (today == day && ao_mutant::active("RUN-44/settled-a-day-too-long"))
            || ao_mutant::active("RUN-44/settled-for-ever")
    };
    Some(judged_on <= today && changes_on.is_none_or(is_before))
}

fn read(state: &Path) -> Option<Settled> {
    let bytes = own_file::read(&state.join(FILE), BYTES_MAX).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    let settled: Settled = ao_contract::read(&value).ok()?;
    (digest(&settled)? == settled.digest).then_some(settled)
}

/// Keeps what was found out. Who cannot write it does without.
pub(crate) fn keep(state: &Path, mut settled: Settled) -> std::io::Result<()> {
    settled.digest = digest(&settled).unwrap_or_default();
    let mut bytes = serde_json::to_vec(&settled)?;
    bytes.push(b'\n');
    // If a value was taken out of it, its digest is wrong, and the next night is a whole one.
    out::replace_cache(&state.join(FILE), &redactor().bytes(&bytes, Ansi::Keep))
}

fn digest(settled: &Settled) -> Option<String> {
    let settled = Settled { digest: String::new(), ..settled.clone() };
    Some(blake3::hash(&serde_json::to_vec(&settled).ok()?).to_hex().to_string())
}

impl Key {
    pub(crate) fn into_settled(self, run_id: &str, looked: Looked, found: Found) -> Settled {
        let (retrieval_live, retrieval_absent) = match found.bench {
            Ok(bench) => (Some(bench), None),
            Err(why) => (None, Some(why)),
        };
        Settled {
            schema_version: ao_contract::SchemaVersion,
            digest: String::new(),
            program: self.program,
            repo_root: self.repo_root,
            promote_after: self.promote_after,
            trust_promote_at: Some(self.promote_at),
            pending_tree: self.pending_tree.clone(),
            transcripts: self.transcripts,
            run_id: run_id.to_owned(),
            looked_at: looked.at,
            day: Some(found.day.to_string()),
            changes_on: found.changes_on.map(|day| day.to_string()),
            fingerprint: looked.print.hash,
            entries: looked.print.entries,
            ingest: found.ingest,
            reduce: found.reduce,
            close_loop: found.close_loop,
            defrag: found.defrag,
            metrics_health: found.metrics_health,
            retrieval_live,
            retrieval_absent,
            questions: found.questions,
            contradictions: found.contradictions,
            dreamscape: found.dreamscape,
            extra: ao_contract::Extra::new(),
        }
    }
}

/// What a run found out about a corpus that it left as it was.
#[derive(Debug)]
pub(crate) struct Found {
    /// The day that it judged by.
    pub(crate) day: Date,
    /// The first day on which the same corpus is judged otherwise, if there is one.
    pub(crate) changes_on: Option<Date>,
    pub(crate) ingest: ao_contract::Extra,
    pub(crate) reduce: ao_contract::Extra,
    pub(crate) close_loop: ao_contract::CloseLoop,
    pub(crate) defrag: ao_contract::Defrag,
    pub(crate) metrics_health: ao_contract::MetricsHealth,
    pub(crate) bench: Result<ao_contract::RetrievalBench, String>,
    pub(crate) questions: Option<Vec<ao_contract::SettledQuestion>>,
    pub(crate) contradictions: Option<ao_contract::Contradictions>,
    pub(crate) dreamscape: ao_contract::DreamScape,
}
