//! One transaction from edits to an outcome.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ao_contract::{Author, Change, Conflict, Fitness, Manner, Method};

use crate::compare::comparisons_max;
use crate::diff::FileDiff;
use crate::displaced::{Found, Letting};
use crate::door::{CONFLICTS, Door, Doubt, NO_DOUBT};
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::lock::exclusive;
use crate::path::{TreePath, shown};
use crate::plan::{Action, Clash, EDITS_MAX, Edit, Plan, Refused, Touched};
use crate::script::{Origin, Script, Work};
use crate::stage::{Room, ballast_bytes};
use crate::survey::{Left, Survey};
use crate::undo::UndoPlan;

/// Inodes, directory entries and journal blocks that the file system needs beside the bytes.
const ENTRY_BYTES: u64 = 512;
const SPARE_BYTES: u64 = 128 * 1024;

/// What is asked of the door.
#[derive(Debug, Clone)]
pub struct Request {
    /// Names the commit; see [`check_id`].
    pub id: String,
    /// RFC 3339, UTC.
    pub at: String,
    pub why: String,
    pub edits: Vec<Edit>,
    /// The commits that these edits take back.
    pub undo_of: Vec<String>,
    /// Who decided what is in it, where that was a person.
    pub by: Option<Author>,
    /// How that person gave their word.
    pub given: Option<Manner>,
    /// Folders to remove if they are empty afterwards.
    pub drop_folders: Vec<String>,
    /// The most that the transaction may store.
    pub max_store_bytes: u64,
    /// Whoever sets this before the commit is decided gets the tree back as it was.
    pub stop: Stop,
}

/// Asks a commit to give up while nothing is decided yet.
#[derive(Debug, Clone, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

impl Stop {
    pub fn when(flag: Arc<AtomicBool>) -> Self {
        Self(Some(flag))
    }

    pub(crate) fn check(&self) -> Result<()> {
        let is_set = self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_set { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// The edits that a commit would make, once everything that others changed meanwhile is settled.
#[derive(Debug, Clone, Copy)]
pub struct FinalEdits<'a> {
    plan: &'a Plan,
}

impl FinalEdits<'_> {
    /// Whether they are the edits that were asked for: none refused, none in conflict, none merged
    /// with somebody's lines.
    pub fn are_as_asked(&self) -> bool {
        self.plan.refused.is_empty() && self.plan.clashes.is_empty() && !self.plan.is_merged
    }

    pub fn edits(&self) -> Vec<Edit> {
        let edit = |(path, touched): (&TreePath, &Touched)| Edit {
            path: path.to_string(),
            action: match &touched.after {
                Some(after) => Action::Write(after.bytes.clone()),
                None => Action::Delete,
            },
            mode: touched.after.as_ref().map(|after| after.mode),
            reason: touched.reason.clone(),
            sources: touched.sources.clone(),
            group: touched.group.clone(),
            seen: None,
        };
        self.plan.touched.iter().map(edit).collect()
    }
}

/// Asked before a commit is decided, and again whenever the edits changed after it was asked. It gives
/// the fitness of the tree with exactly these edits, or an error that ends the transaction.
pub type Judge<'a> = dyn FnMut(FinalEdits<'_>) -> Result<Option<Fitness>> + 'a;

/// What became of a request.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub id: String,
    /// `None` when nothing had to change.
    pub method: Option<Method>,
    pub changes: Vec<Change>,
    pub refused: Vec<Refused>,
    pub conflicts: Vec<Conflict>,
    /// What others changed meanwhile, and is in the tree.
    pub carried: Vec<String>,
    pub left: Vec<Left>,
    /// What the judge measured of these very changes; `None` where somebody changed a file after that.
    pub fitness: Option<Fitness>,
    /// Why not all that the commit needed is cleared away, if so; the next start does it.
    pub untidy: Option<String>,
}

impl Outcome {
    /// The files that were asked for and left as they stand, and why.
    pub fn held_back(&self) -> BTreeMap<String, String> {
        let refused = self.refused.iter().map(|one| (one.path.clone(), one.why.clone()));
        let clashes = self.conflicts.iter().map(|one| (one.path.clone(), one.why.clone()));
        refused.chain(clashes).collect()
    }
}

/// What a request would do.
#[derive(Debug, Clone)]
pub struct Preview {
    pub changes: Vec<Change>,
    pub diffs: Vec<FileDiff>,
    pub refused: Vec<Refused>,
    pub left: Vec<Left>,
}

impl<F: Fs> Door<F> {
    /// Makes the edits as one commit, or none of them.
    pub fn apply(&self, request: Request) -> Result<Outcome> {
        self.apply_with(request, Vec::new(), &mut |_| Ok(None))
    }

    /// As [`Door::apply`], if the judge admits the edits that are left after everybody else's changes.
    pub fn apply_judged(&self, request: Request, judge: &mut Judge<'_>) -> Result<Outcome> {
        self.apply_with(request, Vec::new(), judge)
    }

    /// As [`Door::apply_judged`], with conflicts that are known beforehand.
    pub(crate) fn apply_with(
        &self,
        mut request: Request,
        clashes: Vec<Clash>,
        judge: &mut Judge<'_>,
    ) -> Result<Outcome> {
        check_request(&request)?;
        self.check_new_id(&request.id)?;
        let survey = self.survey()?;
        let doubt = if request.undo_of.is_empty() { self.doubt } else { NO_DOUBT };
        let mut plan = self.plan(std::mem::take(&mut request.edits), &survey, doubt)?;
        plan.clashes.extend(clashes);
        if plan.touched.is_empty() && plan.clashes.is_empty() {
            return Ok(unchanged(&request, plan, survey.left, Vec::new()));
        }
        let is_checked_late = ao_mutant::active("LOOP-18/refused-after-staging");
        if !is_checked_late {
            check_budget(&plan, request.max_store_bytes)?;
        }
        self.check_space(&plan)?;
        let mut at = self.make_room(&request.id)?;
        if is_checked_late {
            check_budget(&plan, request.max_store_bytes)?;
        }
        match self.commit(&request, &mut plan, &survey, &mut at, judge) {
            Ok(Some(script)) => Ok(self.tidied(&request, script, plan, survey, &at)),
            Ok(None) => {
                let conflicts = self.keep_clashes(&request, &plan, &at)?;
                self.clear_staging(&request.id, &at.staging, &at.state)?;
                Ok(unchanged(&request, plan, survey.left, conflicts))
            }
            Err(error) => Err(self.abandon(error, &request.id, &at)),
        }
    }

    /// What became of a commit that is done, once all that nobody can miss is cleared away.
    fn tidied(
        &self,
        request: &Request,
        script: Script,
        plan: Plan,
        survey: Survey,
        at: &Room<F::Dir>,
    ) -> Outcome {
        let let_go = self.let_go(&request.id, Letting::Quiet);
        let cleared = self.clear_staging(&request.id, &at.staging, &at.state);
        let (late, failed) = match let_go {
            Ok(late) => (late, None),
            Err(error) => (Found::default(), Some(error)),
        };
        let (mut conflicts, mut carried) = (script.conflicts, script.carried);
        let is_new = |one: &Conflict| !conflicts.iter().any(|told| told.kept == one.kept);
        let new: Vec<Conflict> = late.conflicts.into_iter().filter(is_new).collect();
        conflicts.extend(new);
        carried.extend(late.carried);
        carried.sort_unstable();
        carried.dedup();
        Outcome {
            id: request.id.clone(),
            method: Some(Method::FileByFile),
            changes: script.changes,
            refused: plan.refused,
            conflicts,
            carried,
            left: survey.left,
            fitness: script.fitness,
            untidy: failed.or(cleared.err()).map(|error| error.to_string()),
        }
    }

    /// What [`Door::apply`] would do now; nothing is written.
    pub fn preview(&self, edits: Vec<Edit>) -> Result<Preview> {
        self.preview_with(edits, self.doubt)
    }

    /// What [`Door::undo`] would do now; nothing is written.
    pub fn preview_undo(&self, plan: &UndoPlan) -> Result<Preview> {
        self.preview_with(plan.edits.clone(), NO_DOUBT)
    }

    fn preview_with(&self, edits: Vec<Edit>, doubt: Doubt) -> Result<Preview> {
        let survey = self.survey()?;
        let mut plan = self.plan(edits, &survey, doubt)?;
        let refused = refused(&mut plan);
        Ok(Preview {
            changes: plan.touched.iter().map(|(path, touched)| touched.change(path)).collect(),
            diffs: plan.touched.iter().map(|(path, touched)| FileDiff::of(path, touched)).collect(),
            refused,
            left: survey.left,
        })
    }

    /// What [`Door::apply`] would refuse now, or leave as it stands; nothing is written.
    pub fn refusals(&self, edits: Vec<Edit>) -> Result<Vec<Refused>> {
        Ok(refused(&mut self.plan(edits, &self.survey()?, self.doubt)?))
    }

    /// `None` when others left nothing to do.
    fn commit(
        &self,
        request: &Request,
        plan: &mut Plan,
        survey: &Survey,
        at: &mut Room<F::Dir>,
        judge: &mut Judge<'_>,
    ) -> Result<Option<Script>> {
        let mut round = 0;
        // What the judge said of the plan as it is.
        let mut judged = None;
        loop {
            let fitness = match judged.take() {
                Some(fitness) => fitness,
                None => {
                    round += 1;
                    self.settle(plan, survey)?;
                    if plan.touched.is_empty() {
                        return Ok(None);
                    }
                    judge(FinalEdits { plan })?
                }
            };
            request.stop.check()?;
            let is_measured = fitness.is_some();
            let mut work = self.stage(request, plan, fitness, at)?;
            let lock = self.commit_lock.as_deref();
            let lock = lock.filter(|_| !ao_mutant::active("LOOP-04/readers-are-not-kept-out"));
            let readers = lock.map(|lock| exclusive(lock, &request.stop)).transpose()?;
            request.stop.check()?;
            // Judging and staging take time. What was judged is what is decided, or it is judged again; where
            // somebody changed other files, what was measured is not what is in the tree.
            let changed = self.changed_since(plan)?;
            let is_disturbed =
                changed.is_none() && is_measured && self.survey()?.print != survey.print;
            if changed.is_some() || is_disturbed {
                drop(readers);
                if let Some(path) = changed.as_ref().filter(|_| round == comparisons_max()) {
                    return Err(Error::Contended { comparisons: round, path: path.to_string() });
                }
                judged = is_disturbed.then_some(None);
                self.clear_staging(&request.id, &at.staging, &at.state)?;
                *at = self.make_room(&request.id)?;
                continue;
            }
            self.decide(&work, at)?;
            let finished = self.finish(&mut work, at);
            drop(readers);
            return match finished {
                Ok(()) => Ok(Some(work.script)),
                Err(error) => Err(unfinished(&request.id, error)),
            };
        }
    }

    /// After an error: if the commit is decided it stays so, else nothing of it stays.
    fn abandon(&self, error: Error, id: &str, at: &Room<F::Dir>) -> Error {
        let marker = format!("{}{id}", crate::script::MARKER_PREFIX);
        if matches!(error, Error::Unfinished { .. }) {
            return error;
        }
        let found = self.fs.stat(&at.state, OsStr::new(&marker));
        if !matches!(found, Ok(None)) && !ao_mutant::active("LOOP-22/decided-is-given-up") {
            return unfinished(id, error);
        }
        // Should this fail too, the next start removes what is left.
        let _ = self.settle_generation(&at.state);
        let _ = self.clear_staging(id, &at.staging, &at.state);
        error
    }

    /// Keeps our side of the conflicts of a transaction that had nothing else left.
    fn keep_clashes(
        &self,
        request: &Request,
        plan: &Plan,
        at: &Room<F::Dir>,
    ) -> Result<Vec<Conflict>> {
        if plan.clashes.is_empty() {
            return Ok(Vec::new());
        }
        let mut work = Work { origin: Origin::Staged, script: Script::begin(request, plan) };
        self.stage_clashes(plan, &mut work, at)?;
        self.stage_conflict_list(&work, at)?;
        let keep = || {
            self.fs.sync_tree(&at.here)?;
            let kept = self.make_dirs(&at.state, CONFLICTS)?;
            self.fs.rename((&at.here, OsStr::new(CONFLICTS)), (&kept, OsStr::new(&request.id)))?;
            self.fs.sync_dir(&kept)?;
            self.fs.sync_dir(&at.here)?;
            self.fs.sync_dir(&at.state)
        };
        keep().map_err(Error::io("keep the conflicting edits"))?;
        Ok(work.script.conflicts)
    }

    /// All space is used before the commit point; twice of it must be free.
    fn check_space(&self, plan: &Plan) -> Result<()> {
        let space = self.fs.space().map_err(Error::io("ask for free space"))?;
        let root = || shown(&self.layout.root_name);
        if space.is_read_only {
            return Err(Error::Unfit {
                path: root(),
                why: "its file system is read-only".into(),
                remedy: "mount it writable".into(),
            });
        }
        let entries = ENTRY_BYTES * plan.touched.len() as u64;
        let needed = 2 * (plan.stored_bytes() + entries) + ballast_bytes(plan) + SPARE_BYTES;
        if space.free_bytes >= needed {
            return Ok(());
        }
        Err(Error::Unfit {
            path: root(),
            why: format!("{} bytes are free and {needed} are needed", space.free_bytes),
            remedy: "free some space, or make smaller edits".into(),
        })
    }
}

fn unfinished(id: &str, error: Error) -> Error {
    Error::Unfinished { id: id.to_owned(), source: Box::new(error) }
}

fn check_request(request: &Request) -> Result<()> {
    if request.edits.len() <= EDITS_MAX {
        return Ok(());
    }
    let limit = EDITS_MAX as u64;
    Err(Error::OverBudget { what: format!("{} edits", request.edits.len()), limit_bytes: limit })
}

fn check_budget(plan: &Plan, limit_bytes: u64) -> Result<()> {
    let stored = plan.stored_bytes();
    if stored <= limit_bytes {
        return Ok(());
    }
    Err(Error::OverBudget { what: format!("{stored} bytes"), limit_bytes })
}

/// Everything of a plan that would not be made.
fn refused(plan: &mut Plan) -> Vec<Refused> {
    let mut refused = std::mem::take(&mut plan.refused);
    refused.extend(plan.clashes.drain(..).map(|clash| Refused {
        path: clash.conflict.path,
        why: format!("{}; what stands there would stay", clash.conflict.why),
    }));
    refused
}

fn unchanged(request: &Request, plan: Plan, left: Vec<Left>, conflicts: Vec<Conflict>) -> Outcome {
    Outcome {
        id: request.id.clone(),
        method: None,
        changes: Vec::new(),
        refused: plan.refused,
        conflicts,
        carried: Vec::new(),
        left,
        fitness: None,
        untidy: None,
    }
}
