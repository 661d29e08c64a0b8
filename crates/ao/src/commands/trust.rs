//! `ao trust`: how far texts are trusted, what waits for a person, and a person's word.

use std::fmt::Write as _;

use ao_contract::{Author, Change, ChangeOp, Exit, Manner, Record, Sign};
use ao_corpus::trust::{self, Judged, MARK, Vouches, judge};
use ao_corpus::{CLOSED, Corpus, Entry, Kind};
use ao_guard::{Decision, Git, Keeper};
use ao_night::Commits;
use ao_tree::{Edit, shown};
use ao_vault::{Ansi, redactor};
use serde_json::{Value, json};

use super::flywheel::unreadable;
use super::proposal::{self, Fixed, Proposal};
use super::show::several;
use super::tree::apply::CommitArguments;
use crate::cli::Global;
use crate::config;
use crate::failure::Failure;
use crate::person;
use crate::printer::{DOUBT, FAINT, GOOD, Printer, STRONG, paint};
use crate::repo::{AGENTS, Repo};

/// How many are listed for people; JSON has them all.
const LISTED_MAX: usize = 50;
const WHY_BYTES_MAX: usize = 4 * 1024;
/// A promotion that is further back is not looked for.
const COMMITS_MAX: usize = 1_000;

/// Show how far texts are trusted, what waits for a person, and vouch for one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Trust is user, code, unverified, tool, web or model. It is `user` by a word that is given at a terminal, `code` by a
word that a script gives or by a commit that has the very text, else `unverified` at most; what a file says of itself
can only lower it. A pending learning that is trusted less than `trust.promote_at` (default unverified), that has signs
of poison, or that comes from a transcript or from another repository, is not promoted by any night: it waits for a
person. What is promoted as `unverified` says so wherever it is shown, until somebody vouches for it. A word is for
exactly this text; a text that changes afterwards is no longer vouched for. `ao tree undo` takes a word back, too. A
text that a night promoted meanwhile stays promoted when the word is taken back, and is `unverified` from then on.

--vouch and --withdraw are for a person: they are refused in a cell and under a coding agent.

Exit codes: 0 shown or done, 2 there is no such entry, or it is not one that can be vouched for, 5 no person called.

Examples:
  ao trust                                               what waits, and why
  ao trust knowledge/pending/2026-04-01-retries.md       one entry
  ao trust 2026-04-01-retries --vouch --why 'I wrote it: it quotes the attack'
  ao trust 2026-04-01-retries --withdraw
  ao --json trust | jq '.waiting[] | .path, .signs'"
)]
pub(crate) struct Arguments {
    /// A path, or a file's name with or without its ending
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// Vouch for what waits, or was promoted with a mark, exactly as it stands
    #[arg(long, requires = "path", requires = "why", conflicts_with = "withdraw")]
    vouch: bool,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT", requires = "vouch")]
    why: Option<String>,
    /// Take back your word
    #[arg(long, requires = "path")]
    withdraw: bool,
    #[command(flatten)]
    commit: CommitArguments,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    match &arguments.path {
        None => list(&repo, printer),
        Some(path) if arguments.vouch || arguments.withdraw => {
            change(&repo, path, arguments, (global, printer))
        }
        Some(path) => one(&repo, path, printer),
    }
}

/// What trust needs to know in this repository.
pub(crate) fn told(repo: &Repo) -> Result<trust::Told, Failure> {
    let vouches = Vouches::read(&repo.agents()).map_err(|error| unreadable(&error))?;
    let committed = commits(repo).texts();
    Ok(trust::Told { promote_at: config::promote_at(&repo.root)?, vouches, committed })
}

/// The commits of this repository, as git tells them.
pub(crate) fn commits(repo: &Repo) -> Commits {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = ao_guard::find_program("git", &path, &repo.root).ok();
    let git = program.map(|git| Git::new(Keeper::this_binary(), git, repo.root.clone()));
    Commits::new(git, repo.root.clone())
}

fn read(repo: &Repo) -> Result<Corpus, Failure> {
    Corpus::read(&repo.agents(), &CLOSED).map_err(|error| unreadable(&error))
}

fn list(repo: &Repo, printer: &Printer) -> Result<Exit, Failure> {
    let (_door, _readers) = repo.read()?;
    let told = told(repo)?;
    let corpus = read(repo)?;
    let pending = corpus.entries.iter().filter(|entry| entry.kind == Kind::Pending);
    let judged: Vec<(&Entry, Judged)> =
        pending.map(|entry| (entry.as_ref(), judge(entry, &told))).collect();
    let waiting: Vec<&(&Entry, Judged)> =
        judged.iter().filter(|(_, judged)| judged.waits(told.promote_at)).collect();
    let mut text = String::new();
    for (entry, judged) in waiting.iter().take(LISTED_MAX) {
        write_one(&mut text, entry, judged);
    }
    let more = waiting.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        let _ = writeln!(text, "… and {more} more; --json lists them");
    }
    let _ = match waiting.len() {
        0 => writeln!(text, "Nothing waits for a person."),
        1 => writeln!(
            text,
            "1 waits for a person; read it, then `ao trust PATH --vouch --why TEXT`."
        ),
        count => writeln!(
            text,
            "{count} wait for a person; read them, then `ao trust PATH --vouch --why TEXT` for each."
        ),
    };
    let fields = json!({
        "promote_at": told.promote_at,
        "waiting": waiting.iter().map(|(entry, judged)| fields(entry, judged)).collect::<Vec<_>>(),
        "vouched": told.vouches.all().collect::<Vec<_>>(),
    });
    printer.answer("trust", fields, &text);
    Ok(Exit::Done)
}

fn one(repo: &Repo, path: &str, printer: &Printer) -> Result<Exit, Failure> {
    let (_door, _readers) = repo.read()?;
    let told = told(repo)?;
    let corpus = read(repo)?;
    let entry = find(&corpus, path)?;
    let judged = judge(entry, &told);
    let waits = entry.kind == Kind::Pending && judged.waits(told.promote_at);
    let mut text = String::new();
    write_one(&mut text, entry, &judged);
    if waits {
        let why = match judged.brought {
            _ if !judged.signs.is_empty() => "it has signs of poison".to_owned(),
            Some(brought) => format!("it comes from {}", brought.name()),
            None => format!("{} is needed", told.promote_at),
        };
        let _ = writeln!(text, "It waits for a person: {why}.");
    }
    let mut fields = fields(entry, &judged);
    fields["waits"] = waits.into();
    fields["promote_at"] = json!(told.promote_at);
    printer.answer("trust", fields, &text);
    Ok(Exit::Done)
}

/// A word that is given or taken back.
struct Word {
    edits: Vec<Edit>,
    given: Manner,
    /// The learning that the text is by now, which loses its word.
    learning: Option<String>,
}

impl Proposal for Word {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }

    fn by(&self) -> Option<Author> {
        Some(Author::Person)
    }

    fn given(&self) -> Option<Manner> {
        Some(self.given)
    }

    fn hold_back(&mut self, held: &Fixed) {
        self.edits.retain(|edit| !held.contains_key(&edit.path));
    }
}

fn change(
    repo: &Repo,
    path: &str,
    arguments: &Arguments,
    (global, printer): (&Global, &Printer),
) -> Result<Exit, Failure> {
    let why = match &arguments.why {
        Some(why) => Some(reason(why)?),
        None => None,
    };
    let decision = if why.is_some() { Decision::Vouch } else { Decision::WithdrawVouch };
    // Nobody's word is given by a dry run, and nothing of it is kept.
    let given =
        if global.dry_run { Manner::Script } else { person::decides(decision, &repo.root)? };
    let what = if why.is_some() { "vouch for a text" } else { "withdraw a vouch" };
    let done = proposal::admit(repo, what, &arguments.commit, (global, printer), |now, fixed| {
        let vouches = Vouches::read(&repo.agents()).map_err(|error| unreadable(&error))?;
        let corpus = read(repo)?;
        let entry = find(&corpus, path)?;
        let edits = match &why {
            Some(why) => word(&vouches, entry, why, (&now.rfc3339(), given))?,
            None => taken_back(&vouches, entry)?,
        };
        let edits = edits.into_iter().filter(|edit| !fixed.contains_key(&edit.path)).collect();
        let is_promoted = why.is_none() && entry.kind != Kind::Pending;
        let learning = is_promoted.then(|| entry.path.clone());
        Ok(Word { edits, given, learning })
    })?;
    let mut fields =
        json!({ "path": path, "status": done.status, "id": done.id, "commit": done.commit });
    let mut left = String::new();
    if let Some(learning) = &done.proposal.learning {
        let commit = promoted_in(repo, learning)?;
        fields["promoted"] = json!({ "path": learning, "trust": MARK, "in": commit });
        left = still_promoted(learning, commit.as_deref());
    }
    let text = match (global.dry_run, why.is_some()) {
        (true, _) => String::new(),
        (false, true) => {
            format!("{} {}: a night may promote it.\n", paint(GOOD, "vouched"), shown(path))
        }
        (false, false) => format!("{} {}\n", paint(DOUBT, "withdrawn"), shown(path)),
    };
    printer.answer("trust", fields, &(text + &left + &done.ending));
    Ok(done.exit)
}

/// What taking back a word does not take back.
fn still_promoted(learning: &str, commit: Option<&str>) -> String {
    let commit = commit.map(|commit| format!(" (commit {} promoted it)", shown(commit)));
    format!(
        "{} stays promoted{} and counts as `{MARK}` without your word; delete it, if it is no knowledge.\n",
        shown(learning),
        commit.unwrap_or_default()
    )
}

/// The newest commit that put a learning where it is, as far back as is looked.
fn promoted_in(repo: &Repo, learning: &str) -> Result<Option<String>, Failure> {
    let (door, _readers) = repo.read()?;
    let is_it = |change: &Change| change.path == learning && change.op == ChangeOp::Add;
    for line in door.history()?.into_iter().rev().take(COMMITS_MAX) {
        // What has expired can no longer be undone, either.
        let Ok(record) = door.record_of::<Record>(&line) else { continue };
        if record.changes.iter().any(is_it) {
            return Ok(Some(line.id));
        }
    }
    Ok(None)
}

fn reason(why: &str) -> Result<String, Failure> {
    let why = redactor().text(why.trim(), Ansi::Strip).into_inner();
    if why.is_empty() || why.len() > WHY_BYTES_MAX {
        return Err(Failure::usage(format!("--why has from 1 to {WHY_BYTES_MAX} bytes"))
            .hint("say why the text can be trusted, for whoever asks later"));
    }
    Ok(why)
}

fn word(
    vouches: &Vouches,
    entry: &Entry,
    why: &str,
    (at, given): (&str, Manner),
) -> Result<Vec<Edit>, Failure> {
    if entry.kind != Kind::Pending && trust::warned(entry).is_none() {
        let message = format!("{} neither waits nor has a mark", shown(&entry.path));
        return Err(Failure::usage(message).hint(
            "a word is for what waits in knowledge/pending/, which `ao trust` lists, and for what was promoted \
             with less than `code`",
        ));
    }
    vouches.give(entry, why, (at, given)).map_err(|why| unchangeable(entry, &why))
}

fn unchangeable(entry: &Entry, why: &str) -> Failure {
    Failure::new(Exit::Failed, format!("{} cannot be changed: {why}", shown(&entry.path)))
        .hint("nothing was changed; put its header right, then run the command again")
}

fn taken_back(vouches: &Vouches, entry: &Entry) -> Result<Vec<Edit>, Failure> {
    let edits = vouches.take_back(entry).map_err(|why| unchangeable(entry, &why))?;
    if edits.is_empty() {
        let message = format!("nobody vouched for {}", shown(&entry.path));
        return Err(Failure::usage(message).hint("`ao --json trust` lists what is vouched for"));
    }
    Ok(edits)
}

fn find<'a>(corpus: &'a Corpus, asked: &str) -> Result<&'a Entry, Failure> {
    let bare = asked.trim().trim_start_matches("./");
    let bare = bare.split_once(&format!("{AGENTS}/")).map_or(bare, |(_, rest)| rest);
    let is_it = |entry: &Entry| [entry.path.as_str(), entry.name(), entry.stem()].contains(&bare);
    let found: Vec<&Entry> =
        corpus.entries.iter().map(AsRef::as_ref).filter(|entry| is_it(entry)).collect();
    match found.as_slice() {
        [entry] => Ok(entry),
        [] => Err(Failure::usage(format!("there is no entry `{}`", shown(asked)))
            .hint("`ao trust` lists what waits; a path is relative to .agents/")),
        all => {
            let paths: Vec<String> = all.iter().map(|entry| entry.path.clone()).collect();
            Err(several(asked, &paths))
        }
    }
}

fn fields(entry: &Entry, judged: &Judged) -> Value {
    json!({
        "path": entry.path,
        "trust": judged.trust,
        "why": judged.why,
        "signs": judged.signs,
        "vouched": judged.is_vouched,
    })
}

fn write_one(text: &mut String, entry: &Entry, judged: &Judged) {
    let trust = paint(STRONG, judged.trust.name());
    let _ = writeln!(text, "{trust}  {}", shown(&entry.path));
    for why in &judged.why {
        let _ = writeln!(text, "    {}", paint(FAINT, &shown(why)));
    }
    for Sign { kind, place, seen, .. } in &judged.signs {
        let _ = writeln!(text, "    {} {place}: {}", paint(DOUBT, kind), shown(seen));
    }
}
