//! `ao overnight packet`

use std::path::{Path, PathBuf};

use ao_contract::{Exit, MorningPacket};
use ao_night::{Checker, Place, Shelved, Verdict, asked, brief, find_packet, overall};
use ao_tree::shown;
use serde_json::json;

use super::provenance::Provenance;
use crate::cli::Global;
use crate::config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

const IDS_SHOWN_MAX: usize = 20;

/// Print a morning packet as a brief for whoever does the work
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao overnight packet dream-0d9fa4d5f2e0d7a1
  ao overnight packet 0d9f                     the beginning of an id is enough
  ao overnight packet 0d9f | claude -p         hand it to an agent
  ao --json overnight packet 0d9f --output-dir /tmp/night

The checks that the packet carries are made again: work that is done meanwhile says so first.
Those that are commands run in a cell, which writes nothing and reaches nobody.")]
pub(crate) struct Arguments {
    /// The id of the packet, or its beginning
    #[arg(value_name = "ID")]
    id: String,
    /// The folder of the run's artifacts, instead of the configured one
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let id = arguments.id.trim();
    if id.is_empty() {
        return Err(
            Failure::usage("the id is empty").hint("`ao overnight report` names the packets")
        );
    }
    let repo = Repo::find(global)?;
    let output_dir = match &arguments.output_dir {
        Some(dir) => dir.clone(),
        None => config::report_dir(&repo.root)?,
    };
    let found = find_packet(&output_dir, id).map_err(|error| cannot_look(&output_dir, &error))?;
    let (packet, run) = match found {
        Shelved::Packet { packet, run } => (packet, run),
        Shelved::Several(ids) => {
            let why = format!("`{}` is the beginning of {} ids", shown(id), ids.len());
            return Err(Failure::usage(why).hint(format!("give more of one: {}", list(&ids))));
        }
        Shelved::Nothing(ids) => return Err(nothing(id, &ids, &output_dir)),
    };
    if let Some(run) = run {
        printer.note(&format!(
            "The packet is of run {}; the newest run has none like it.",
            shown(&run)
        ));
    }
    let agents = repo.agents();
    let provenance = Provenance::of(&output_dir, Some(&repo));
    let checker = {
        let place = Place { root: &repo.root, agents: &agents, outside: None };
        Checker::new(place, provenance.shell())
    };
    // A commit does not wait for what a packet wants to be run.
    checker.run_commands(&packet.still_true);
    // What is checked is one generation of the corpus.
    let (_door, _readers) = repo.read()?;
    let verdicts = checker.check_all(&packet.still_true);
    answer(&packet, &verdicts, printer);
    Ok(Exit::Done)
}

fn answer(packet: &MorningPacket, verdicts: &[Verdict], printer: &Printer) {
    let checks = packet.still_true.iter().zip(verdicts).map(|(check, verdict)| {
        json!({ "check": check, "asks": asked(check), "verdict": verdict.word(), "why": verdict.why() })
    });
    let overall = overall(verdicts);
    let fields = json!({
        "packet": packet,
        "verdict": overall.word(),
        "why": overall.why(),
        "still_true": checks.collect::<Vec<_>>(),
    });
    printer.answer("overnight packet", fields, &brief(packet, verdicts));
}

fn nothing(id: &str, ids: &[String], output_dir: &Path) -> Failure {
    let dir = shown(&output_dir.to_string_lossy());
    let failure = Failure::usage(format!("there is no packet `{}` in {dir}", shown(id)));
    if ids.is_empty() {
        return failure
            .hint("no packets are there; a run leaves them, or name its folder with --output-dir");
    }
    failure.hint(format!("there are {}", list(ids)))
}

fn cannot_look(output_dir: &Path, error: &std::io::Error) -> Failure {
    let dir = shown(&output_dir.to_string_lossy());
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::usage(format!("there is no folder {dir}, so no run has left packets there"))
        }
        _ => Failure::new(Exit::Failed, format!("{dir} cannot be read: {error}")),
    }
    .hint("name the folder of a run with --output-dir DIR")
}

fn list(ids: &[String]) -> String {
    let some: Vec<String> = ids.iter().take(IDS_SHOWN_MAX).map(|id| shown(id)).collect();
    some.join(", ")
}
