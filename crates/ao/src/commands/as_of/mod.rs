//! `--as-of`: which earlier state of the corpus is meant, and what is known of it.

mod asked;

use ao_contract::{Exit, HistoryLine};
use ao_corpus::index::{Opened, Shelf};
use ao_corpus::{Kind, Past};
use ao_night::counted;
use ao_tree::{Disk, Door, Uncertain, shown};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::printer::{DOUBT, Printer, paint};
use crate::repo::STATE;
pub(crate) use asked::{begin_so, day};
use asked::{count_after, moment, nanoseconds};

/// So many doubts are told one by one.
const TOLD_MAX: usize = 3;
/// So many are listed in JSON; all are counted.
const LISTED_MAX: usize = 100;
/// Names the state before the first commit; no id begins with a dot.
const BEFORE_ALL: &str = ".before-all";
const NAMED: &str = "`ao overnight log` lists the iterations, `ao tree log` all commits; a day is 2026-06-30, a \
                     moment 2026-06-30T04:00:00Z";

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
    pub(crate) fn find(door: &Door<Disk>, asked: &str, shelf: &Shelf) -> Result<Self, Failure> {
        let history = door.history()?;
        if let Some(count) = count_after(&history, asked) {
            return Self::after(door, (&history, count), asked, shelf);
        }
        let Some((until, day)) = moment(asked) else {
            let failure = Failure::usage(format!(
                "there is no commit `{}`, and it is neither a day nor a moment",
                shown(asked)
            ));
            return Err(failure.hint(begin_so(&history, asked).unwrap_or_else(|| NAMED.into())));
        };
        let is_in = |line: &HistoryLine| {
            line.at.parse::<Timestamp>().is_ok_and(|committed| committed <= until)
        };
        let count = history.iter().rposition(is_in).map_or(0, |last| last + 1);
        let mut state = Self::after(door, (&history, count), asked, shelf)?;
        state.past.until_ns = nanoseconds(until);
        Ok(Self { until, day: Some(day), ..state })
    }

    /// The state after the first `count` commits.
    pub(crate) fn after(
        door: &Door<Disk>,
        (history, count): (&[HistoryLine], usize),
        asked: &str,
        shelf: &Shelf,
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
        let name = newest.map_or(BEFORE_ALL, |line| line.id.as_str());
        // Always asked: bytes can be let go after a state was looked at.
        door.check_kept(history, count)?;
        let key = ao_tree::Past::key(history, count);
        let past = Past {
            name: name.to_owned(),
            until_ns: nanoseconds(until),
            folder: format!("{STATE}/{}", ao_tree::Kept::FOLDER),
            known: shelf.known(name, &key, || door.past(history, count))?,
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
            None if self.since == 0 => "as it is now".to_owned(),
            None => "before the first commit".to_owned(),
        };
        let back = match self.since {
            0 if self.commit.is_none() => "nothing was ever committed".to_owned(),
            0 => "nothing was committed since".to_owned(),
            1 => "one later commit is left out".to_owned(),
            since => format!("{since} later commits are left out"),
        };
        printer.note(&format!("The corpus {after}; {back}."));
        for one in uncertain.iter().take(TOLD_MAX) {
            printer.note(&format!("{} {}: {}", paint(DOUBT, "note:"), shown(&one.path), one.why));
        }
        if uncertain.len() > TOLD_MAX {
            let (one, many) = (
                "more file that others changed is not known as it was",
                "more files that others changed are not known as they were",
            );
            let more = counted(uncertain.len() - TOLD_MAX, one, many);
            printer.note(&format!("{} {more}.", paint(DOUBT, "note:")));
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

/// A state that cannot be read.
pub(crate) fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the earlier state cannot be read: {error}"))
        .hint("`ao tree verify` lists everything that is damaged")
}
