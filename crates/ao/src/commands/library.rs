//! The corpus of a repository, opened for a question.

use ao_contract::Exit;
use ao_corpus::index::{Broken, Index, Keep, Opened, Place, Question};
use ao_corpus::{Entry, SEARCHED};
use ao_tree::{Disk, Door, shown};
use serde_json::Value;

use super::as_of::AsOf;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::readers::Readers;
use crate::repo::{AGENTS, Repo};

/// A longer question is a document.
const QUERY_BYTES_MAX: usize = 64 * 1024;

/// The entries of a repository, under the readers' lock.
pub(crate) struct Library {
    pub(crate) repo: Repo,
    place: Place,
    door: Door<Disk>,
    /// The earlier state that is asked for, if it is not today's.
    as_of: Option<AsOf>,
    _readers: Readers,
}

impl Library {
    pub(crate) fn open(global: &Global) -> Result<Self, Failure> {
        Self::open_as_of(global, None)
    }

    /// As it was, if that is asked for.
    pub(crate) fn open_as_of(global: &Global, as_of: Option<&str>) -> Result<Self, Failure> {
        let repo = Repo::find(global)?;
        let (door, readers) = repo.read()?;
        let place = Place {
            agents: repo.agents(),
            folders: SEARCHED.iter().map(ToString::to_string).collect(),
            now_ns: clock::now().nanoseconds(),
            keep: if global.dry_run { Keep::No } else { Keep::Yes },
        };
        let find = |asked: &str| AsOf::find(&door, asked, &place.shelf());
        let as_of = as_of.map(find).transpose()?;
        Ok(Self { repo, place, door, as_of, _readers: readers })
    }

    pub(crate) fn door(&self) -> &Door<Disk> {
        &self.door
    }

    pub(crate) fn as_of(&self) -> Option<&AsOf> {
        self.as_of.as_ref()
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Asks the index, and says on standard error what there is to say about it.
    pub(crate) fn ask<T>(
        &self,
        printer: &Printer,
        ask: impl Fn(&Index) -> Result<T, Broken>,
    ) -> Result<T, Failure> {
        Ok(self.ask_told(printer, ask)?.0)
    }

    /// As [`Library::ask`], with what there is to say about the earlier state, if one is asked for.
    pub(crate) fn ask_told<T>(
        &self,
        printer: &Printer,
        ask: impl Fn(&Index) -> Result<T, Broken>,
    ) -> Result<(T, Option<Value>), Failure> {
        let asked = match &self.as_of {
            Some(as_of) => self.place.ask_past(as_of.past(), ask),
            None => self.place.ask(ask),
        };
        let (answer, opened) = asked.map_err(|error| {
            Failure::new(Exit::Failed, format!("{AGENTS}/ cannot be read: {error}"))
                .hint("look at what is named, then ask again")
        })?;
        tell(&opened, printer);
        let told = self.as_of.as_ref().map(|as_of| as_of.tell(&self.door, &opened, printer));
        Ok((answer, told.transpose()?))
    }

    /// Reads an entry as it is now, or was.
    pub(crate) fn entry(&self, path: &str) -> Result<Entry, Failure> {
        let kept = match &self.as_of {
            Some(as_of) => as_of.bytes(&self.door, path)?,
            None => None,
        };
        read_entry(path, || match kept {
            Some(bytes) => Ok(bytes),
            None => ao_corpus::read_one(&self.place.agents, path),
        })
    }
}

fn tell(opened: &Opened, printer: &Printer) {
    if let Some(why) = &opened.unwritten {
        printer
            .note(&format!("The index could not be kept ({why}); every search reads all files."));
    }
    if opened.index.unreadable() > 0 {
        printer.note(&format!(
            "{} files cannot be read as entries and are not searched.",
            opened.index.unreadable()
        ));
    }
    if opened.index.shown() == 0 {
        printer.note(&format!("There are no entries in {AGENTS}/."));
    }
}

fn read_entry(
    path: &str,
    bytes: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Entry, Failure> {
    let fail = |why: String| {
        Failure::new(Exit::Failed, format!("{}: {why}", shown(path)))
            .hint("it changed just now; ask again")
    };
    match Entry::parse(path, bytes) {
        Some(Ok(entry)) => Ok(entry),
        Some(Err(left)) => Err(fail(left.why)),
        None => Err(fail("is no entry".into())),
    }
}

/// A question that can be asked.
pub(crate) fn question(query: &str, printer: &Printer) -> Result<Question, Failure> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(Failure::usage(format!("the query has more than {QUERY_BYTES_MAX} bytes"))
            .hint("ask with a few words"));
    }
    let question = Question::new(query);
    if question.is_empty() {
        let why = "the query has no word that can be searched for";
        return Err(Failure::usage(why)
            .hint("signs, single letters and words such as `the` or `how` are left out; name the thing itself"));
    }
    if question.left_out > 0 {
        printer.note(&format!(
            "The query is long: its first {} words are asked, {} are left out.",
            ao_corpus::index::QUESTION_WORDS_MAX,
            question.left_out
        ));
    }
    Ok(question)
}
