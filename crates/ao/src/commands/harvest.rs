//! `ao harvest`: what other repositories learned.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ao_contract::{Exit, Harvest};
use ao_corpus::harvest::{self, Harvesting, MIN_CONFIDENCE, Own, Settings, Source, SourceForm};
use ao_corpus::{CLOSED, Corpus, Ledger};
use ao_tree::{Edit, shown};

use super::flywheel::{unledgered, unreadable, unwritable};
use super::overnight::curator;
use super::proposal::{self, Fixed, Proposal};
use super::tree::apply::CommitArguments;
use crate::cli::Global;
use crate::clock::Moment;
use crate::config;
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, GOOD, Printer, paint};
use crate::repo::{AGENTS, Repo};

/// How many lines of one kind are listed for people; JSON has them all.
const LISTED_MAX: usize = 20;

/// Bring in what other repositories learned
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Learnings, patterns and findings of other repositories become provisional learnings here, each with
where it comes from. Never taken: this repository's own (under any path, link or worktree), test
fixtures, what is hidden, experimental, an anti-pattern or dealt with, what looks like a secret, and
what was taken before, and what has signs of poison. It waits for a person in knowledge/pending/
(`ao trust`), but for what is learned in the repositories that your own configuration names in
`trust.sources` and is trusted as far as `trust.promote_at`. `ao tree undo` takes it all back.

Examples:
  ao --dry-run harvest --from ../other
  ao harvest --from ~/src                 every repository beneath it
  ao harvest --global --json              the user's own, ~/.agents
  ao harvest                              what `dream.harvest_from` names, and the curator's drafts"
)]
pub(crate) struct Arguments {
    /// A repository, or a folder of repositories (default: `dream.harvest_from`)
    #[arg(long, value_name = "DIR", num_args = 1..)]
    from: Vec<PathBuf>,
    /// The user's own corpus, ~/.agents; it is only read
    #[arg(long = "global")]
    hub: bool,
    /// The confidence under which nothing is taken, from 0 to 1
    #[arg(long, value_name = "F", default_value_t = MIN_CONFIDENCE, value_parser = share)]
    min_confidence: f64,
    #[command(flatten)]
    commit: CommitArguments,
}

fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "it must be a number")?;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("it must be from 0 to 1".into()) }
}

impl Proposal for Harvesting {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }

    fn hold_back(&mut self, held: &Fixed) {
        self.hold_back(&held.keys().cloned().collect());
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let sources = sources(&repo, arguments, printer)?;
    let why = "harvest from other repositories";
    let done = proposal::admit(&repo, why, &arguments.commit, (global, printer), |now, fixed| {
        plan(&repo, &sources, arguments, now, fixed)
    })?;
    let report = done.proposal.report(done.status, done.id);
    let mut fields = serde_json::to_value(&report).map_err(|error| unwritable(&error))?;
    fields["commit"] = done.commit;
    printer.answer("harvest", fields, &(text(&report) + &done.ending));
    Ok(done.exit)
}

fn plan(
    repo: &Repo,
    sources: &[Source],
    arguments: &Arguments,
    now: Moment,
    fixed: &Fixed,
) -> Result<Harvesting, Failure> {
    let agents = repo.agents();
    let corpus = Corpus::read(&agents, &CLOSED).map_err(|error| unreadable(&error))?;
    let ledger = Ledger::read(&agents).map_err(|error| unledgered(&error))?;
    let settings = Settings {
        now: &now.rfc3339(),
        min_confidence: arguments.min_confidence,
        except: fixed.keys().cloned().collect(),
        limit: usize::MAX,
        promote_at: config::promote_at(&repo.root)?,
    };
    Ok(harvest::harvest(&corpus, sources, ledger, &settings))
}

/// What was named on the command line must be there; what the configuration names may be missing.
fn sources(repo: &Repo, arguments: &Arguments, printer: &Printer) -> Result<Vec<Source>, Failure> {
    owned(repo, named(repo, arguments, printer)?)
}

/// Those that the user named as their own, by where they are; nothing that a path leads to by a link is taken for it.
fn owned(repo: &Repo, mut sources: Vec<Source>) -> Result<Vec<Source>, Failure> {
    let own = config::own_sources(&repo.root)?;
    let own: Vec<PathBuf> = own.iter().filter_map(|path| path.canonicalize().ok()).collect();
    for source in sources.iter_mut().filter(|source| source.form == SourceForm::Corpus) {
        let repository = source.agents.parent().and_then(|above| above.canonicalize().ok());
        source.is_own = repository.is_some_and(|repository| own.contains(&repository));
    }
    Ok(sources)
}

fn named(repo: &Repo, arguments: &Arguments, printer: &Printer) -> Result<Vec<Source>, Failure> {
    let own = Own::of(&repo.root);
    let mut found = Vec::new();
    for folder in &arguments.from {
        let sources = harvest::find(folder, &own).map_err(|why| {
            Failure::usage(why).hint("--from names a repository, or a folder of repositories")
        })?;
        if sources.is_empty() {
            let folder = shown(&folder.to_string_lossy());
            printer.note(&format!("{} no corpus in {folder}", paint(DOUBT, "note:")));
        }
        found.extend(sources);
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    if arguments.hub {
        let home = home.clone().ok_or_else(|| {
            Failure::new(Exit::Preflight, "HOME is not set").hint("name the folder with --from DIR")
        })?;
        found.push(harvest::hub(&home.join(AGENTS), &own));
    }
    if !arguments.from.is_empty() || arguments.hub {
        return Ok(found);
    }
    let configured = configured(repo, printer)?;
    if configured.is_empty() && config::harvest_from(&repo.root)?.is_empty() {
        printer.note(&format!(
            "{} nowhere to harvest from; name it with --from DIR, --global or dream.harvest_from",
            paint(DOUBT, "note:")
        ));
    }
    Ok(configured)
}

/// What `dream.harvest_from` names, of which some may be missing, and the drafts of the local curator.
pub(crate) fn configured(repo: &Repo, printer: &Printer) -> Result<Vec<Source>, Failure> {
    let own = Own::of(&repo.root);
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let mut found = Vec::new();
    for name in config::harvest_from(&repo.root)? {
        let place = place(&name, &repo.root, home.as_deref());
        match harvest::find(&place, &own) {
            Ok(sources) => found.extend(sources),
            Err(why) => {
                printer.note(&format!("{} {why}", paint(DOUBT, "note:")));
                // Whoever named it meant it to be read: that it was not is told wherever sources are.
                found.push(harvest::missing(&place, why));
            }
        }
    }
    found.extend(curator::settings::drafts(repo, printer)?);
    owned(repo, found)
}

/// A place as the configuration writes it: from the repository, or from home.
fn place(name: &str, root: &Path, home: Option<&Path>) -> PathBuf {
    match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if name == "~" => home.unwrap_or(root).to_owned(),
        _ => root.join(name),
    }
}

fn text(report: &Harvest) -> String {
    let mut text = String::new();
    for source in &report.sources {
        let name = shown(&source.repo);
        let _ = match &source.refused {
            Some(why) => writeln!(text, "{name}: {}", paint(DOUBT, &shown(why))),
            None => writeln!(text, "{name}: {} of {} taken", source.harvested, source.entries),
        };
    }
    for taken in report.harvested.iter().take(LISTED_MAX) {
        let from = format!("{}:{}", taken.repo, taken.original_path);
        let word = paint(GOOD, "take");
        let _ = writeln!(text, "{word}  {}  {}", shown(&taken.path), paint(FAINT, &shown(&from)));
    }
    more(&mut text, report.harvested.len());
    for skipped in report.skipped.iter().take(LISTED_MAX) {
        let word = paint(FAINT, "leave");
        let _ = writeln!(text, "{word} {}: {}", shown(&skipped.path), shown(&skipped.why));
    }
    more(&mut text, report.skipped.len());
    text
}

fn more(text: &mut String, total: usize) {
    if total > LISTED_MAX {
        let _ = writeln!(text, "… and {} more", total - LISTED_MAX);
    }
}
