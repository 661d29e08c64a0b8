//! `--as-of`: which earlier state of the corpus is meant, and what is known of it.

use ao_contract::{Exit, HistoryLine};
use ao_corpus::index::Opened;
use ao_corpus::{Kind, Past};
use ao_tree::{Disk, Door, Uncertain, shown};
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::printer::{DOUBT, Printer, paint};
use crate::repo::STATE;

/// So many doubts are told one by one.
const TOLD_MAX: usize = 3;
/// So many are listed in JSON; all are counted.
const LISTED_MAX: usize = 100;
/// Names the state before the first commit; no id begins with a dot.
const BEFORE_ALL: &str = ".before-all";
/// A day is written with so many characters; what is longer is a moment.
const DAY_CHARS: usize = 10;

/// A state of the corpus, by what has been committed.
#[derive(Debug)]
pub(crate) struct AsOf {
    asked: String,
    /// How many commits are in it.
    count: usize,
    /// The newest commit that is in it, if one is.
    commit: Option<String>,
    /// The end of it.
    until: Timestamp,
    /// Entries from later days are not shown, where a day or a moment was asked for.
    day: Option<Date>,
    /// How many commits are taken back.
    since: usize,
    past: Past,
}

impl AsOf {
    /// A day, a moment, a commit or a run, as it was typed.
    pub(crate) fn find(door: &Door<Disk>, asked: &str) -> Result<Self, Failure> {
        let history = door.history()?;
        if let Some(count) = count_after(&history, asked) {
            return Self::after(door, &history, count, asked);
        }
        let Some((until, day)) = moment(asked) else {
            let shown = shown(asked);
            return Err(Failure::usage(format!(
                "there is no commit `{shown}`, and it is neither a day nor a moment"
            ))
            .hint("`ao overnight log` lists the iterations, `ao tree log` all commits; a day is 2026-06-30, \
                   a moment 2026-06-30T04:00:00Z"));
        };
        let is_in = |line: &HistoryLine| {
            line.at.parse::<Timestamp>().is_ok_and(|committed| committed <= until)
        };
        let count = history.iter().rposition(is_in).map_or(0, |last| last + 1);
        let mut state = Self::after(door, &history, count, asked)?;
        state.past.until_ns = nanoseconds(until);
        Ok(Self { until, day: Some(day), ..state })
    }

    /// The state after the first `count` commits.
    pub(crate) fn after(
        door: &Door<Disk>,
        history: &[HistoryLine],
        count: usize,
        asked: &str,
    ) -> Result<Self, Failure> {
        let newest = count.checked_sub(1).and_then(|last| history.get(last));
        if let Some(line) = newest {
            // It becomes the name of a file.
            ao_contract::check_id(&line.id).map_err(|error| ao_tree::Error::Damaged {
                file: format!("{STATE}/history.jsonl"),
                why: error.to_string(),
            })?;
        }
        let time = |line: &HistoryLine| line.at.parse::<Timestamp>().ok();
        // Before the first commit: up to when that was made.
        let until = newest.or(history.first()).and_then(time).unwrap_or(Timestamp::MAX);
        let past = Past {
            name: newest.map_or_else(|| BEFORE_ALL.to_owned(), |line| line.id.clone()),
            until_ns: nanoseconds(until),
            folder: format!("{STATE}/{}", ao_tree::Kept::FOLDER),
            known: door.past(history, count)?,
        };
        Ok(Self {
            asked: asked.to_owned(),
            count: count.min(history.len()),
            commit: newest.map(|line| line.id.clone()),
            until,
            day: None,
            since: history.len().saturating_sub(count),
            past,
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether others changed a file that commits touched, as far as these tell.
    pub(crate) fn doubt_of(
        &self,
        door: &Door<Disk>,
        path: &str,
    ) -> Result<Option<String>, Failure> {
        if let Some(one) = self.past.known.uncertain.iter().find(|one| one.path == path) {
            return Ok(Some(one.why.clone()));
        }
        Ok(match self.past.known.left(path) {
            Some((id, hash)) if door.hash_now(path)?.as_deref() != hash => {
                Some(format!("somebody changed it since commit {id}; it is read as it is now"))
            }
            _ => None,
        })
    }

    pub(crate) fn day(&self) -> Option<Date> {
        self.day
    }

    pub(crate) fn until(&self) -> Timestamp {
        self.until
    }

    /// How its files differ from those of today.
    pub(crate) fn past(&self) -> &Past {
        &self.past
    }

    /// The bytes of a file that is not what it was; `None` if it is, or was not there.
    pub(crate) fn bytes(&self, door: &Door<Disk>, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        match self.past.known.files.get(path) {
            Some(Some(kept)) => Ok(Some(door.kept(kept)?)),
            _ => Ok(None),
        }
    }

    /// What cannot be known of this state, file by file.
    fn uncertain(&self, door: &Door<Disk>, opened: &Opened) -> Result<Vec<Uncertain>, Failure> {
        let is_entry = |one: &&Uncertain| Kind::of(&one.path).is_some();
        let mut all: Vec<Uncertain> =
            self.past.known.uncertain.iter().filter(is_entry).cloned().collect();
        for path in &opened.later {
            let why = match self.past.known.left(path) {
                Some((_, Some(hash))) if door.hash_now(path)?.as_deref() == Some(hash) => continue,
                Some((id, _)) => {
                    format!("somebody changed it since commit {id}; it is read as it is now")
                }
                None => "it was made or changed after that; it is read as it is now".to_owned(),
            };
            all.push(Uncertain { path: path.clone(), why });
        }
        for (path, id) in self.past.known.written().filter(|(path, _)| Kind::of(path).is_some()) {
            if matches!(opened.index.find(path), Ok(None)) {
                let why = format!(
                    "somebody removed it after commit {id}, perhaps after this; it is not kept"
                );
                all.push(Uncertain { path: path.to_owned(), why });
            }
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }

    /// Says which state was read and what cannot be known of it; gives the same for JSON.
    pub(crate) fn tell(
        &self,
        door: &Door<Disk>,
        opened: &Opened,
        printer: &Printer,
    ) -> Result<Value, Failure> {
        if let Some(path) = opened.missing.first() {
            let kept = self.past.known.files.get(path).and_then(Option::as_ref);
            let place = kept.map_or_else(|| path.clone(), |kept| door.kept_at(kept));
            return Err(ao_tree::Error::Damaged { file: place, why: "it is missing".into() }.into());
        }
        let uncertain = self.uncertain(door, opened)?;
        let after = match &self.commit {
            Some(id) => format!("after commit {}", shown(id)),
            None => "before the first commit".to_owned(),
        };
        let back = match self.since {
            0 => "nothing was committed since".to_owned(),
            1 => "one later commit is left out".to_owned(),
            since => format!("{since} later commits are left out"),
        };
        printer.note(&format!("The corpus {after}; {back}."));
        for one in uncertain.iter().take(TOLD_MAX) {
            printer.note(&format!("{} {}: {}", paint(DOUBT, "note:"), shown(&one.path), one.why));
        }
        if uncertain.len() > TOLD_MAX {
            printer.note(&format!(
                "{} {} more files that others changed are not known as they were.",
                paint(DOUBT, "note:"),
                uncertain.len() - TOLD_MAX
            ));
        }
        let listed: Vec<Value> = uncertain
            .iter()
            .take(LISTED_MAX)
            .map(|one| json!({ "path": one.path, "why": one.why }))
            .collect();
        Ok(json!({
            "asked": self.asked,
            "commit": self.commit,
            "until": self.until.to_string(),
            "later_commits": self.since,
            "uncertain": listed,
            "uncertain_in_all": uncertain.len(),
        }))
    }
}

/// How many commits there are up to the one of this id, or the last one of this run.
pub(crate) fn count_after(history: &[HistoryLine], asked: &str) -> Option<usize> {
    let of_id = history.iter().position(|line| line.id == asked);
    let of_run = || history.iter().rposition(|line| run_of(&line.id) == Some(asked));
    of_id.or_else(of_run).map(|at| at + 1)
}

/// The run that a commit is of, if it is a night's: `RUN-iter-N` or `RUN-packets`, perhaps with a
/// number after it.
pub(crate) fn run_of(id: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((run, rest)) = id.rsplit_once("-iter-") {
        return rest.split('-').all(is_number).then_some(run);
    }
    let (run, rest) = id.rsplit_once("-packets")?;
    (rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number)).then_some(run)
}

/// Whether a commit is an iteration of a night.
pub(crate) fn is_iteration(id: &str) -> bool {
    run_of(id).is_some() && id.contains("-iter-")
}

/// A day such as `2026-06-30`.
pub(crate) fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "expected a day such as 2026-06-30".to_owned())
}

/// The end of what was typed, and its day.
fn moment(asked: &str) -> Option<(Timestamp, Date)> {
    if let Ok(until) = asked.parse::<Timestamp>() {
        return Some((until, until.to_zoned(TimeZone::UTC).date()));
    }
    if asked.len() != DAY_CHARS {
        return None;
    }
    let day: Date = asked.parse().ok()?;
    let end = day.to_datetime(Time::MAX).to_zoned(TimeZone::UTC).ok()?;
    Some((end.timestamp(), day))
}

fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

/// A state that cannot be read.
pub(crate) fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the earlier state cannot be read: {error}"))
        .hint("`ao tree verify` lists everything that is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commits_of_a_night_are_told_by_their_ids() {
        assert_eq!(run_of("20260415T020000Z-iter-1"), Some("20260415T020000Z"));
        assert_eq!(run_of("night-iter-12-2"), Some("night"));
        assert_eq!(run_of("night-packets"), Some("night"));
        assert_eq!(run_of("night-packets-2"), Some("night"));
        for other in ["night", "night-iter-", "night-iter-x", "night-packets-x", "a-iter-1-"] {
            assert_eq!(run_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_day_is_the_end_of_it_and_a_moment_itself() {
        let (end, day) = moment("2026-06-30").unwrap();
        assert_eq!(end.strftime("%FT%T").to_string(), "2026-06-30T23:59:59");
        assert_eq!(day.to_string(), "2026-06-30");
        let (end, day) = moment("2026-06-30T23:30:00-02:00").unwrap();
        assert_eq!(
            (end.to_string().as_str(), day.to_string().as_str()),
            ("2026-07-01T01:30:00Z", "2026-07-01")
        );
        assert!(moment("yesterday").is_none() && moment("2026-13-01").is_none());
    }
}
