//! `ao rule`: what contradicts itself, and what a person decides about it.

mod tell;

use ao_contract::{Author, ChangeOp, Contradiction, Exit, HistoryLine, Keep, Manner, Ruling};
use ao_corpus::contradictions::{Cards, Ruled, Rulings, by_entry, rule, withdraw};
use ao_corpus::trust::Vouches;
use ao_corpus::{Corpus, SEARCHED};
use ao_guard::Decision;
use ao_tree::{Disk, Door, Kept, Request, shown};
use serde_json::{Value, json};

use super::tree::apply::CommitArguments;
use super::tree::outcome;
use crate::cli::Global;
use crate::clock;
use crate::config::Limits;
use crate::failure::Failure;
use crate::person;
use crate::printer::Printer;
use crate::repo::{Repo, Writer};

/// A longer reason is a document of its own.
const WHY_BYTES_MAX: usize = 4_000;
/// So many ids are named where one was meant.
const NAMED_MAX: usize = 5;

/// Rule about entries that contradict each other
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A card is two entries that claim different things of one subject, with both sentences. A ruling is a file in
.agents/knowledge/rulings/; later nights show no card that was ruled about, until one of the two claims something else.
--keep A (or B) also marks the other entry with `superseded_by`, so that search no longer finds it, with all that it
says beside; its text stays, until a night archives it. Other cards of that entry go with it, and are named.
A pinned entry is not touched. --withdraw takes a ruling back, also one whose entry was renamed, merged or archived since;
it is one commit, so `ao tree undo ID --only` does too (without --only, all that came after it is taken back).

Exit codes: 0 done, 1 nothing was ruled since a file changed meanwhile or cannot be read, 2 no such card or no reason.

Examples:
  ao rule                                              the open cards
  ao rule c-1a2b                                       one of them, in full
  ao rule c-1a2b --keep B --why 'measured in May'
  ao rule c-1a2b --keep both --why 'one is about staging'
  ao rule c-1a2b --withdraw
  ao --json rule --all                                 the rulings, too"
)]
pub(crate) struct Arguments {
    /// A card, or the beginning of its id
    #[arg(value_name = "CARD")]
    card: Option<String>,
    /// Which side holds
    #[arg(long, value_name = "A|B|both", requires = "card", value_parser = keep)]
    keep: Option<Keep>,
    /// Why it holds
    #[arg(long, value_name = "TEXT", requires = "keep")]
    why: Option<String>,
    /// Take the ruling about the card back
    #[arg(long, requires = "card", conflicts_with_all = ["keep", "all"])]
    withdraw: bool,
    /// Also list what was ruled about
    #[arg(long, conflicts_with = "card")]
    all: bool,
    #[command(flatten)]
    commit: CommitArguments,
}

fn keep(text: &str) -> Result<Keep, String> {
    match text.to_ascii_lowercase().as_str() {
        "a" => Ok(Keep::A),
        "b" => Ok(Keep::B),
        "both" => Ok(Keep::Both),
        _ => Err("it must be A, B or both".into()),
    }
}

/// What is known of the corpus.
struct Scene {
    corpus: Corpus,
    rulings: Rulings,
    cards: Cards,
}

impl Scene {
    fn read(repo: &Repo) -> Result<Self, Failure> {
        let agents = repo.agents();
        if !agents.is_dir() {
            let message = format!("no .agents/ in {}", repo.root.display());
            return Err(Failure::new(Exit::Preflight, message)
                .hint("run `mkdir .agents` in the repository, or name another with -C DIR"));
        }
        let fail = |error: std::io::Error| {
            Failure::new(Exit::Failed, format!("the corpus cannot be read: {error}"))
                .hint("nothing was changed; put right what is named, then run the command again")
        };
        let corpus = Corpus::read(&agents, &SEARCHED).map_err(fail)?;
        let rulings = Rulings::read(&agents).map_err(fail)?;
        let vouches = Vouches::read(&agents).map_err(fail)?;
        let cards = Cards::of(&corpus, &rulings, &vouches, clock::now().day());
        Ok(Self { corpus, rulings, cards })
    }

    /// The id that a name stands for: a whole one, or the beginning of just one.
    fn id(&self, name: &str) -> Result<String, Failure> {
        let cards = self.cards.open.iter().chain(&self.cards.ruled).map(|card| &card.id);
        let mut ids: Vec<&String> = cards.chain(self.rulings.by_card.keys()).collect();
        ids.sort_unstable();
        ids.dedup();
        let full = if name.starts_with("c-") { name.to_owned() } else { format!("c-{name}") };
        if ids.contains(&&full) {
            return Ok(full);
        }
        ids.retain(|id| full.len() > 2 && id.starts_with(&full));
        match ids[..] {
            [id] => Ok(id.clone()),
            [] => Err(Failure::usage(format!("there is no card `{}`", shown(name))).hint(
                "`ao rule` lists the open cards, `ao rule --all` also those that were ruled about",
            )),
            _ => {
                let some: Vec<&str> = ids.iter().take(NAMED_MAX).map(|id| id.as_str()).collect();
                Err(Failure::usage(format!("`{}` begins {} cards", shown(name), ids.len()))
                    .hint(format!("give more of the id: {}", some.join(", "))))
            }
        }
    }

    fn card(&self, id: &str) -> Option<&Contradiction> {
        self.cards.open.iter().chain(&self.cards.ruled).find(|card| card.id == id)
    }

    /// The other open cards of the entry that a ruling hides: they go with it.
    fn also(&self, planned: &Ruled) -> Vec<&str> {
        let Some(path) = &planned.superseded else { return Vec::new() };
        let cards = by_entry(&self.cards.open).remove(path.as_str()).unwrap_or_default();
        let others = cards.into_iter().map(|card| card.id.as_str());
        others.filter(|id| *id != planned.ruling.card).collect()
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let Some(name) = &arguments.card else {
        let scene = read(&repo)?;
        let fields = listed(&scene, arguments.all);
        let text = tell::list(&scene.cards, arguments.all.then_some(&scene.rulings));
        printer.answer("rule", fields, &text);
        return Ok(Exit::Done);
    };
    if arguments.keep.is_none() && !arguments.withdraw {
        let scene = read(&repo)?;
        let id = scene.id(name)?;
        let (card, ruling) = (scene.card(&id), scene.rulings.by_card.get(&id));
        let fields = json!({ "card": card, "ruling": ruling });
        printer.answer("rule", fields, &tell::one(card, ruling));
        return Ok(Exit::Done);
    }
    change(&repo, name, arguments, (global, printer))
}

/// As one generation of the corpus.
fn read(repo: &Repo) -> Result<Scene, Failure> {
    let (_door, _readers) = repo.read()?;
    Scene::read(repo)
}

fn listed(scene: &Scene, is_all: bool) -> Value {
    let left: Vec<Value> = scene
        .rulings
        .left
        .iter()
        .map(|left| json!({ "path": left.path, "why": left.why }))
        .collect();
    let mut fields = json!({
        "open": scene.cards.open.len(),
        "is_capped": scene.cards.is_capped,
        "ruled": scene.cards.ruled.len(),
        "cards": scene.cards.open,
        "left": left,
    });
    if is_all {
        let rulings: Vec<&Ruling> = scene.rulings.by_card.values().collect();
        fields["rulings"] = json!(rulings);
    }
    fields
}

/// Rules, or takes a ruling back.
fn change(
    repo: &Repo,
    name: &str,
    arguments: &Arguments,
    (global, printer): (&Global, &Printer),
) -> Result<Exit, Failure> {
    if arguments.keep.is_some() {
        reason(arguments)?;
    }
    if global.dry_run {
        let (door, _readers) = repo.read()?;
        let scene = Scene::read(repo)?;
        // Nobody's word is given by it, and nothing of it is kept.
        let said = (clock::now().rfc3339(), Manner::Script);
        let planned = planned(&scene, &door, name, arguments, &said)?;
        let preview = door.preview(planned.edits)?;
        return Ok(outcome::preview("rule", &preview, &[], printer));
    }
    let decision = if arguments.withdraw { Decision::WithdrawRuling } else { Decision::Rule };
    let given = person::decides(decision, &repo.root)?;
    let limits = Limits::read(&repo.root)?;
    let writer = Writer::open(repo)?;
    let scene = Scene::read(repo)?;
    let said = (writer.now.rfc3339(), given);
    let planned = planned(&scene, &writer.door, name, arguments, &said)?;
    let also = scene.also(&planned);
    pause();
    let id = &planned.ruling.card;
    let why = if arguments.withdraw {
        format!("withdraw the ruling {id}")
    } else {
        format!("rule about {id}")
    };
    let request = arguments.commit.request(&writer, limits, why)?;
    let done = writer.door.apply(Request {
        edits: planned.edits.clone(),
        by: Some(Author::Person),
        given: Some(given),
        ..request
    })?;
    let expired = outcome::expire(&writer, limits, printer);
    let held = done.held_back();
    let is_first = |(_, why): &(&String, &String)| !why.starts_with("it belongs");
    if let Some((path, why)) = held.iter().find(is_first).or_else(|| held.iter().next()) {
        let path = shown(path);
        let message = format!("nothing was ruled: {path} cannot be taken as it was read: {why}");
        return Err(Failure::new(Exit::Failed, message)
            .hint(format!("read it again with `ao rule {id}`, then rule once more")));
    }
    let (commit, _) = outcome::told(&writer, &done, &expired, printer);
    let fields = json!({
        "ruling": planned.ruling,
        "withdrawn": arguments.withdraw,
        "superseded": planned.superseded,
        "restored": planned.restored,
        "also": also,
        "left": planned.left,
        "commit": commit,
    });
    let text = tell::changed(&planned, &also, arguments.withdraw) + &outcome::ending(&done);
    printer.answer("rule", fields, &text);
    Ok(outcome::exit(&done, global))
}

fn planned(
    scene: &Scene,
    door: &Door<Disk>,
    name: &str,
    arguments: &Arguments,
    (now, given): &(String, Manner),
) -> Result<Ruled, Failure> {
    let id = scene.id(name)?;
    let Some(keep) = arguments.keep else {
        let ruling = scene.rulings.by_card.get(&id).ok_or_else(|| {
            Failure::usage(format!("nobody ruled about {id}"))
                .hint("`ao rule --all` lists the rulings")
        })?;
        let archived = |path: &str| archived(door, path);
        return withdraw(&scene.corpus, &scene.rulings, ruling, archived).map_err(|why| {
            Failure::new(Exit::Failed, format!("the ruling about {id} stays: {why}"))
                .hint("put that right, then withdraw it once more")
        });
    };
    let card = scene.card(&id).ok_or_else(|| {
        Failure::usage(format!(
            "{id} was ruled about, and its two sides no longer stand against each other"
        ))
        .hint(format!("`ao rule {id} --withdraw` takes the ruling back"))
    })?;
    let why = reason(arguments)?;
    rule(&scene.corpus, &scene.rulings, card, (keep, why), (now, *given)).map_err(|why| {
        Failure::new(Exit::Failed, format!("nothing was ruled: {why}"))
            .hint(format!("read it again with `ao rule {id}`, then rule once more"))
    })
}

/// What an entry was when it was deleted last, as far as that is still kept.
fn archived(door: &Door<Disk>, path: &str) -> Option<Vec<u8>> {
    let history = door.history().ok()?;
    let deleted = |line: &HistoryLine| {
        let record = (line.deleted > 0).then(|| door.record(&line.id))?.ok()?;
        let change = record.changes.into_iter().find(|change| change.path == path)?;
        let before = change.before.filter(|_| change.op == ChangeOp::Delete)?;
        Some(Kept { commit: line.id.clone(), hash: before.hash })
    };
    door.kept(&history.iter().rev().find_map(deleted)?).ok()
}

fn reason(arguments: &Arguments) -> Result<&str, Failure> {
    let why = arguments.why.as_deref().unwrap_or_default().trim();
    if why.is_empty() {
        return Err(Failure::usage("a ruling needs a reason")
            .hint("say why with --why TEXT: whoever meets it later has nothing else to go by"));
    }
    if why.len() > WHY_BYTES_MAX {
        let message = format!("the reason is longer than {WHY_BYTES_MAX} bytes");
        return Err(Failure::usage(message).hint("name the document that has the whole of it"));
    }
    Ok(why)
}

/// For tests: waits between reading and committing, until the file that `AO_RULE_GO` names is there.
#[cfg(debug_assertions)]
fn pause() {
    use std::time::Duration;
    const LOOK: Duration = Duration::from_millis(2);
    const LOOKS_MAX: u32 = 30_000;
    let Some(file) = std::env::var_os("AO_RULE_GO").map(std::path::PathBuf::from) else { return };
    // Whoever watches learns that the place was reached.
    let nothing = ao_vault::redactor().bytes(b"", ao_vault::Ansi::Keep);
    let _ = ao_vault::out::replace_cache(&file.with_extension("read"), &nothing);
    for _ in 0..LOOKS_MAX {
        if file.exists() {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(not(debug_assertions))]
fn pause() {}
