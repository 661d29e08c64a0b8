//! The checks of a packet, made again.
//!
//! A check says whether the work is worth doing still, and it is `ao` that looks, never the text of
//! the packet. What cannot be looked at is said to be unchecked: that is neither true nor done.

use std::cell::OnceCell;
use std::collections::HashMap;

use ao_contract::Check;
use ao_corpus::index::facts_of;
use ao_corpus::lineage::{Found, Lineage};
use ao_corpus::{DOCUMENT_BYTES_MAX, Entry, Kind, Tree, in_parallel};
use ao_tree::{FILE_BYTES_MAX, shown};

use crate::place::{AGENTS, Place, Standing, is_outside};
use crate::shell::{Commands, Shell};
use crate::verdict::Verdict;
use crate::work_queue::{self, NEXT_WORK, State};

/// A text that is looked for in larger files is not looked for.
const TEXT_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const HASH_DIGITS: usize = 64;

/// Makes checks in one place, as it is when the first of them is made: what takes a walk over the
/// corpus or the queue is kept for the next.
#[derive(Debug)]
pub struct Checker<'a> {
    place: Place<'a>,
    commands: Commands<'a>,
    lineage: OnceCell<Result<Lineage, String>>,
    items: OnceCell<Result<Option<HashMap<String, State>>, String>>,
}

/// Makes one check.
pub fn check(check: &Check, place: &Place<'_>, shell: Shell<'_>) -> Verdict {
    Checker::new(*place, shell).check(check)
}

/// What several checks say together: one that is done is enough.
pub fn overall(verdicts: &[Verdict]) -> Verdict {
    let is_done = |verdict: &&Verdict| matches!(verdict, Verdict::Done(_));
    let is_unchecked = |verdict: &&Verdict| matches!(verdict, Verdict::NotChecked(_));
    let worst = verdicts.iter().find(is_done).or_else(|| verdicts.iter().find(is_unchecked));
    match (worst, verdicts) {
        (Some(verdict), _) => verdict.clone(),
        (None, []) => Verdict::NotChecked("it carries no check".into()),
        (None, _) => Verdict::True,
    }
}

/// What was seen; the error says why nobody could look.
type Looked = Result<Verdict, String>;

impl<'a> Checker<'a> {
    pub fn new(place: Place<'a>, shell: Shell<'a>) -> Self {
        let commands = Commands::new(shell, place.outside);
        Self { place, commands, lineage: OnceCell::new(), items: OnceCell::new() }
    }

    pub fn check(&self, check: &Check) -> Verdict {
        // What a file says that is not of the corpus is kept as the verdict, not as the file.
        let kept = match check {
            Check::TextInFile { path, .. }
            | Check::TextNotInFile { path, .. }
            | Check::FileHash { path, .. } => self.place.outside.filter(|_| is_outside(path)),
            _ => None,
        };
        match (kept, serde_json::to_string(check)) {
            (Some(outside), Ok(name)) => outside.check(&name, || self.look(check)),
            _ => self.look(check),
        }
    }

    fn look(&self, check: &Check) -> Verdict {
        let looked = match check {
            Check::PathExists { path } => self.path(path, Wanted::There),
            Check::PathAbsent { path } => self.path(path, Wanted::Gone),
            Check::TextInFile { path, text } => self.text(path, text, Wanted::There),
            Check::TextNotInFile { path, text } => self.text(path, text, Wanted::Gone),
            Check::FileHash { path, hash } => self.hash(path, hash),
            Check::Entry { entry } => self.entry(entry),
            Check::FindingOpen { finding } => self.finding(finding),
            Check::QueueItemOpen { item } => self.item(item),
            Check::Shell { command } => Ok(self.commands.check(command)),
            Check::Other(_) => Err("this check is not known here".into()),
        };
        looked.unwrap_or_else(Verdict::NotChecked)
    }

    /// All checks of a packet in their order.
    pub fn check_all(&self, checks: &[Check]) -> Vec<Verdict> {
        checks.iter().map(|check| self.check(check)).collect()
    }

    /// Runs the commands of these checks: what they say is known then, and takes no more time.
    pub fn run_commands(&self, checks: &[Check]) {
        for check in checks {
            if let Check::Shell { command } = check {
                self.commands.check(command);
            }
        }
    }

    /// How many commands were not answered, and why the first of them was not.
    pub(crate) fn unanswered(&self) -> Option<(usize, String)> {
        self.commands.unanswered()
    }

    fn path(&self, path: &str, wanted: Wanted) -> Looked {
        let is_there = self.place.stands(path)? != Standing::Nothing;
        Ok(match (wanted, is_there) {
            (Wanted::There, true) | (Wanted::Gone, false) => Verdict::True,
            (Wanted::There, false) => gone(path),
            (Wanted::Gone, true) => done(format!("{} is there now", shown(path))),
        })
    }

    fn text(&self, path: &str, text: &str, wanted: Wanted) -> Looked {
        if text.is_empty() {
            return Err("the check names no text".into());
        }
        let Some(bytes) = self.place.read(path, TEXT_FILE_BYTES_MAX)? else {
            return Ok(gone(path));
        };
        let has = String::from_utf8_lossy(&bytes).contains(text);
        Ok(match (wanted, has) {
            (Wanted::There, true) | (Wanted::Gone, false) => Verdict::True,
            (Wanted::There, false) => done(format!("{} no longer says so", shown(path))),
            (Wanted::Gone, true) => done(format!("{} says so now", shown(path))),
        })
    }

    fn hash(&self, path: &str, hash: &str) -> Looked {
        let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hash {
            return Err(format!("`{}` is no BLAKE3 hash", shown(hash)));
        }
        let Some(bytes) = self.place.read(path, FILE_BYTES_MAX)? else {
            return Ok(gone(path));
        };
        if blake3::hash(&bytes).to_hex().as_str().eq_ignore_ascii_case(hash) {
            return Ok(Verdict::True);
        }
        Ok(done(format!("{} has changed since", shown(path))))
    }

    fn entry(&self, name: &str) -> Looked {
        // By its own path it is found without a walk over the corpus.
        if self.read_entry(name).is_some_and(|entry| !entry.document.is_hidden()) {
            return Ok(Verdict::True);
        }
        Ok(match self.find(name)? {
            Found::Entry { path, over } if over.is_empty() => match self.read_entry(&path) {
                Some(entry) if entry.document.is_hidden() => {
                    done(format!("{} was taken out of retrieval", shown(&path)))
                }
                _ => Verdict::True,
            },
            Found::Entry { path, .. } => {
                done(format!("{} was replaced by {}", shown(name), shown(&path)))
            }
            Found::Orphan { path, missing, .. } => done(format!(
                "{} was replaced by {}, which is not there",
                shown(&path),
                shown(&missing)
            )),
            Found::Several(_) => Verdict::True,
            Found::Nothing => done(format!("there is no entry {}", shown(name))),
        })
    }

    fn finding(&self, name: &str) -> Looked {
        let folder = format!("findings/{}.md", name.trim_end_matches(".md"));
        let own = self.read_entry(name).or_else(|| self.read_entry(&folder));
        let entry = match own.filter(|entry| entry.kind == Kind::Finding) {
            Some(entry) => Some(entry),
            None => self.finding_by_name(name)?,
        };
        Ok(match entry {
            Some(entry) if entry.document.is_hidden() => {
                done(format!("{} was replaced", shown(&entry.path)))
            }
            Some(entry) if entry.is_open_finding() => Verdict::True,
            Some(entry) => done(format!("{} is resolved", shown(&entry.path))),
            None => done(format!("there is no finding {}", shown(name))),
        })
    }

    fn finding_by_name(&self, name: &str) -> Result<Option<Entry>, String> {
        let paths = match self.find(name)? {
            Found::Entry { path, .. } | Found::Orphan { path, .. } => vec![path],
            Found::Several(paths) => paths,
            Found::Nothing => return Ok(None),
        };
        let entries = paths.iter().filter_map(|path| self.read_entry(path));
        let mut findings = entries.filter(|entry| entry.kind == Kind::Finding).collect::<Vec<_>>();
        // Of several that share the name, one that is open is enough.
        findings.sort_by_key(|entry| !entry.is_open_finding());
        Ok(findings.into_iter().next())
    }

    fn item(&self, name: &str) -> Looked {
        let items = self.items.get_or_init(|| items(self.place)).as_ref().map_err(Clone::clone)?;
        let Some(items) = items else { return Ok(done("there is no work queue")) };
        Ok(match items.get(name) {
            Some(State::Available | State::Claimed(_)) => Verdict::True,
            Some(State::Consumed(told)) if told.is_empty() => {
                done("the item of the work queue is consumed")
            }
            Some(State::Consumed(told)) => {
                done(format!("the item of the work queue is consumed ({})", shown(told)))
            }
            None => done("the item is no longer in the work queue"),
        })
    }

    /// An entry by its path beneath `.agents/`, or from the repository.
    fn read_entry(&self, path: &str) -> Option<Entry> {
        let inner = path.strip_prefix(AGENTS).and_then(|rest| rest.strip_prefix('/'));
        let inner = inner.unwrap_or(path);
        let full = format!("{AGENTS}/{inner}");
        let read = || {
            let bytes = self.place.read(&full, DOCUMENT_BYTES_MAX)?;
            bytes.ok_or_else(|| "is not there".to_owned())
        };
        Entry::parse(inner, read)?.ok()
    }

    fn find(&self, name: &str) -> Result<Found, String> {
        let lineage = self.lineage.get_or_init(|| lineage(self.place));
        lineage.as_ref().map(|lineage| lineage.find(name)).map_err(Clone::clone)
    }
}

#[derive(Clone, Copy)]
enum Wanted {
    There,
    Gone,
}

/// Who has which item, by all its names. Of several that share a name one that is open is enough.
fn items(place: Place<'_>) -> Result<Option<HashMap<String, State>>, String> {
    let path = format!("{AGENTS}/{NEXT_WORK}");
    let Some(bytes) = place.read(&path, FILE_BYTES_MAX)? else { return Ok(None) };
    let mut items: HashMap<String, State> = HashMap::new();
    work_queue::each(&bytes, |queued| {
        for name in queued.names() {
            let is_open = |state: &State| !matches!(state, State::Consumed(_));
            if !items.get(&name).is_some_and(is_open) {
                items.insert(name, queued.state.clone());
            }
        }
    });
    Ok(Some(items))
}

fn lineage(place: Place<'_>) -> Result<Lineage, String> {
    let tree = Tree::list(place.agents)
        .map_err(|error| format!("the corpus cannot be listed: {error}"))?;
    let facts = in_parallel(&tree.paths(), |path| {
        tree.entry(path).map(|entry| (path.clone(), facts_of(&entry)))
    });
    Ok(Lineage::of_facts(facts.into_iter().flatten().collect()))
}

fn done(why: impl Into<String>) -> Verdict {
    Verdict::Done(why.into())
}

fn gone(path: &str) -> Verdict {
    done(format!("{} is no longer there", shown(path)))
}
