//! The council of a night: who was named, and how each of them is asked.

use std::sync::Arc;
use std::time::Duration;

use ao_contract::{ConsensusPolicy, NightCouncil};
use ao_night::council::{Council, Desk, Lane, Nonces, Patience, Seat};
use ao_night::curator::Worker;
use ao_runner::http::Address;
use ao_runner::ledger::Limits;
use ao_runner::pause;
use ao_runner::{
    Absent, Budget, Chosen, Failure as Refused, Kind, Nature, Origin, Runner, Settings, Usd,
};

use super::super::runners::workshop::Workshop;
use super::curator;
use crate::chance;
use crate::cli::Global;
use crate::clock;
use crate::config::Night;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

/// As long as nothing is configured.
const TIME: Duration = Duration::from_mins(3);
/// Of one question, its repair included.
const TOKENS: u64 = 200_000;
const TURNS: u32 = 4;
const USD: Usd = Usd(1_000_000);
const OUTPUT_BYTES: u64 = 1024 * 1024;
/// With which the path of a program begins.
const COMMAND: &str = "command:";

/// Whoever was named on the command line, or else in the environment or a file; nobody if nobody was.
pub(super) fn council(
    named: &[String],
    wants_lane: bool,
    night: &Night,
    repo: &Repo,
    (global, printer): (&Global, &Printer),
) -> Result<Option<Council>, Failure> {
    let mut wanted = wanted(named, night);
    if wanted.is_empty() && ao_mutant::active("CUR-09/engine-is-a-runner") {
        wanted.push((Kind::Ollama.name().to_owned(), Origin::User));
    }
    if wanted.is_empty() {
        if wants_lane {
            return Err(Failure::usage("--creative-lane: there is nobody to ask")
                .hint("name somebody with --runner; `ao runners` lists who can be asked"));
        }
        return Ok(None);
    }
    let workshop = Workshop::open(global, printer)?;
    let time = night.council_runner_timeout.unwrap_or(TIME);
    let seats = workshop.choose(&wanted).into_iter().map(|one| seat(&workshop, one, time));
    let is_creative = wants_lane || night.creative_lane;
    Ok(Some(Council {
        seats: seats.collect(),
        policy: night.consensus_policy.unwrap_or(ConsensusPolicy::Majority),
        lane: if is_creative { Lane::Creative } else { Lane::Main },
        nonces: fresh(),
        patience: Patience::Waits,
        desk: worker(repo)?.map(Desk::Curator),
    }))
}

/// One runner in the place of all who were asked in a night that is run again.
pub(super) fn swapped(
    name: &str,
    (told, desk): (&NightCouncil, Desk),
    repo: &Repo,
    (global, printer): (&Global, &Printer),
) -> Result<Council, Failure> {
    let workshop = Workshop::open(global, printer)?;
    let time = Night::read(&repo.root)?.council_runner_timeout.unwrap_or(TIME);
    let chosen = workshop.choose(&[(name.to_owned(), Origin::User)]);
    let seats: Vec<Seat> = chosen.into_iter().map(|one| seat(&workshop, one, time)).collect();
    Ok(Council {
        seats,
        policy: told.policy,
        lane: if told.creative_lane { Lane::Creative } else { Lane::Main },
        nonces: fresh(),
        patience: Patience::Passes,
        desk: Some(desk),
    })
}

/// Whether one who was named looks as if it could be asked; nobody is asked.
pub(super) struct Look {
    pub(super) name: String,
    pub(super) slug: String,
    pub(super) trouble: Option<String>,
}

/// As the seats of a council are made: a program that is there, a secret that the vault has, a limit that
/// is not reached.
pub(super) fn looks(
    named: &[String],
    night: &Night,
    repo: &Repo,
    (global, printer): (&Global, &Printer),
) -> Result<Vec<Look>, Failure> {
    let wanted = wanted(named, night);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let workshop = Workshop::open(global, printer)?;
    let deferred = pause::read_deferred(&repo.state().join(pause::FILE)).unwrap_or_default();
    let look = |one: Chosen| {
        let made = one.settings.and_then(|settings| workshop.runner(&settings).map(drop));
        let until = pause::deferred_until(&deferred, &one.name, clock::timestamp());
        let later =
            until.map(|until| format!("its limit was reached: it is left alone until {until}"));
        let trouble = made.err().map(|why| why.to_string()).or(later);
        Look { name: one.name, slug: one.slug, trouble }
    };
    Ok(workshop.choose(&wanted).into_iter().map(look).collect())
}

fn wanted(named: &[String], night: &Night) -> Vec<(String, Origin)> {
    if named.is_empty() {
        return night.runners.clone();
    }
    let count = if ao_mutant::active("RUN-02/only-the-first-runner") { 1 } else { usize::MAX };
    names(named).into_iter().take(count).map(|name| (name, Origin::User)).collect()
}

/// The names of `--runner`. Several may stand in one word, with commas; a path may have commas in it.
pub(super) fn names(typed: &[String]) -> Vec<String> {
    let each = typed.iter().flat_map(|word| {
        let separator = if word.starts_with(COMMAND) { '\0' } else { ',' };
        word.split(separator).map(str::trim)
    });
    each.map(str::to_owned).collect()
}

fn fresh() -> Nonces {
    Nonces::new(|_| chance::nonce().map_err(|failure| Refused::NotStarted(failure.message)))
}

/// One that cannot be asked has its place, too: the report says why.
fn seat(workshop: &Workshop, chosen: Chosen, time: Duration) -> Seat {
    let Chosen { name, slug, settings } = chosen;
    let made = settings.and_then(|settings| Ok((workshop.runner(&settings)?, settings)));
    let (runner, settings): (Arc<dyn Runner + Send + Sync>, _) = match made {
        Ok((runner, settings)) => (Arc::from(runner), Some(settings)),
        Err(why) => (Arc::new(Absent { name, why }), None),
    };
    let of = settings.as_ref();
    let tokens = of.and_then(|settings| settings.max_tokens);
    let usd = of.and_then(|settings| settings.max_usd);
    let most = if of.is_some_and(is_free) { Usd(0) } else { USD };
    Seat {
        slug,
        login: runner.login(),
        nature: nature(of.map(|settings| settings.kind)),
        model: of.and_then(|settings| settings.model.clone()),
        budget: Budget {
            time: of.and_then(|settings| settings.timeout).unwrap_or(time),
            tokens: tokens.map_or(TOKENS, |most| most.min(TOKENS)),
            turns: TURNS,
            usd: usd.map_or(most, |limit| limit.min(most)),
            output_bytes: OUTPUT_BYTES,
        },
        limits: Limits { calls: None, tokens, usd },
        runner,
    }
}

/// What reaches nobody, and what runs on this machine, has no money to spend.
fn is_free(settings: &Settings) -> bool {
    match settings.kind {
        // With a key there is an account, and elsewhere nobody knows.
        Kind::Ollama => {
            let is_here = settings.endpoint.as_ref().is_none_or(Address::is_this_machine);
            is_here && settings.auth.is_none()
        }
        Kind::Command => settings.net.is_empty(),
        _ => false,
    }
}

fn nature(kind: Option<Kind>) -> Nature {
    match kind {
        // Of one that cannot be asked nothing is spent.
        None | Some(Kind::Ollama | Kind::OpenAi) => Nature::Call,
        Some(_) => Nature::Agent,
    }
}

/// The curator's directory, if there is one.
fn worker(repo: &Repo) -> Result<Option<Worker>, Failure> {
    let settings = curator::settings::resolve(repo)?.settings;
    Ok(Worker::open(&settings).ok())
}
