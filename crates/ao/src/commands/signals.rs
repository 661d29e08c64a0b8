//! `ao signals`: what the transcripts of coding agents teach.

use std::fmt::Write as _;
use std::path::PathBuf;

use ao_contract::{Exit, LeftAlone, Maker, Signals};
use ao_corpus::transcripts::{self, Memo, Own, Root, Settings, Taking};
use ao_corpus::{CLOSED, Corpus, Ledger};
use ao_night::is_secret;
use ao_tree::{Edit, shown};

use super::flywheel::{unledgered, unreadable, unwritable};
use super::proposal::{self, Fixed, Proposal};
use super::tree::apply::CommitArguments;
use crate::cli::Global;
use crate::config;
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, GOOD, Printer, paint};
use crate::repo::Repo;

/// How many lines of one kind are listed for people; JSON has them all.
const LISTED_MAX: usize = 40;

/// Learn from the transcripts of coding agents
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Sessions of Claude Code, Codex and Gemini CLI that were made in this repository or beneath it are read by rules
alone, and no model is asked: corrections, decisions, repeated failures with what put them right, commands that
worked in the end, and the notes that these programs keep for themselves. Each lesson becomes a pending learning
once, with the file and the line that it comes from and with whose word it is (`trust: user`, `tool` or `model`).
What seems to hold a secret is dropped. `ao tree undo` takes it all back.

A night does the same, unless `dream.transcripts` is false.

Examples:
  ao --dry-run signals                    what they would give now, and where it stands
  ao signals                              take it, as pending learnings
  ao --dry-run signals --json | jq '.taken[].lesson | .kind, .claim'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    commit: CommitArguments,
}

impl Proposal for Taking {
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
    if !config::transcripts(&repo.root)? {
        return Err(Failure::new(
            Exit::Preflight,
            "dream.transcripts is false: no transcript is read",
        )
        .hint("take `transcripts: false` out of .agentops/config.yaml, here or at home"));
    }
    let (root, roots) = (repo.canonical(), roots());
    let own = Own::of(&root);
    let memo = Memo::read(&repo.agents(), &root);
    let asked = transcripts::Asked { roots: &roots, root: &root, own: &own, is_secret: &is_secret };
    let found = transcripts::read(asked, &memo);
    if !global.dry_run && found.is_new {
        // Who cannot write it reads everything again the next time.
        if let Err(error) = ao_night::keep_memo(&repo.agents(), &found.memo) {
            printer.note(&format!(
                "{} what was read could not be kept: {error}",
                paint(DOUBT, "note:")
            ));
        }
    }
    let (sources, lessons) = (found.sources, found.lessons);
    let told = ao_contract::NightTranscripts { sources, lessons, ..Default::default() };
    let why = "lessons of transcripts";
    let done = proposal::admit(&repo, why, &arguments.commit, (global, printer), |now, fixed| {
        let agents = repo.agents();
        let corpus = Corpus::read(&agents, &CLOSED).map_err(|error| unreadable(&error))?;
        let ledger = Ledger::read(&agents).map_err(|error| unledgered(&error))?;
        let except = fixed.keys().cloned().collect();
        let settings = Settings { now: &now.rfc3339(), except, limit: usize::MAX };
        Ok(transcripts::take(&corpus, &told, ledger, &settings))
    })?;
    let report = done.proposal.report(done.status, done.id);
    let mut fields = serde_json::to_value(&report).map_err(|error| unwritable(&error))?;
    fields["commit"] = done.commit;
    printer.answer("signals", fields, &(text(&report) + &done.ending));
    Ok(done.exit)
}

/// Where the programs keep their transcripts.
pub(crate) fn roots() -> Vec<Root> {
    let said =
        |name: &str| std::env::var_os(name).filter(|said| !said.is_empty()).map(PathBuf::from);
    let home = said("HOME");
    let places = [
        (Maker::Claude, ".claude", Some("CLAUDE_CONFIG_DIR")),
        (Maker::Codex, ".codex", Some("CODEX_HOME")),
        (Maker::Gemini, ".gemini", None),
    ];
    let mut roots = Vec::new();
    for (maker, folder, variable) in places {
        match variable.and_then(|name| Some((name, said(name)?))) {
            Some((name, folder)) => roots.push(Root { maker, folder, shown: format!("${name}") }),
            None => roots.extend(home.as_ref().map(|home| Root {
                maker,
                folder: home.join(folder),
                shown: format!("~/{folder}"),
            })),
        }
    }
    roots
}

fn text(report: &Signals) -> String {
    let mut text = String::new();
    if report.sources.is_empty() {
        text.push_str("No transcripts of Claude Code, Codex or Gemini CLI were found.\n");
    }
    for source in &report.sources {
        let _ = writeln!(
            text,
            "{}: {} of {} transcripts are of this repository, {} read now, {} lessons",
            source.maker.name(),
            source.own,
            source.files,
            source.read,
            source.lessons,
        );
        if source.secret > 0 {
            let _ = writeln!(text, "  {} dropped: they seem to hold a secret", source.secret);
        }
        if source.bad_lines > 0 {
            let _ = writeln!(text, "  {} lines could not be read", source.bad_lines);
        }
        leave(&mut text, &source.left);
    }
    for taken in report.taken.iter().take(LISTED_MAX) {
        let lesson = &taken.lesson;
        let (kind, trust) = (lesson.kind.name(), lesson.trust.name());
        let from = paint(FAINT, &shown(&lesson.place()));
        let _ = writeln!(
            text,
            "{}  {kind} ({trust})  {}  {from}",
            paint(GOOD, "take"),
            shown(&lesson.title)
        );
    }
    if report.taken.len() > LISTED_MAX {
        let _ = writeln!(text, "… and {} more", report.taken.len() - LISTED_MAX);
    }
    leave(&mut text, &report.skipped);
    text
}

fn leave(text: &mut String, left: &[LeftAlone]) {
    for one in left.iter().take(LISTED_MAX) {
        let _ =
            writeln!(text, "{} {}: {}", paint(FAINT, "leave"), shown(&one.path), shown(&one.why));
    }
}
