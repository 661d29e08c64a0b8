//! The council of a night, with its answers from the cassette.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::{NightCouncil, NightLogin, NightSeat};
use ao_guard::cell::Refused;
use ao_runner::cassette::{Cassette, Played};
use ao_runner::ledger::Limits;
use ao_runner::{Budget, Exchange, Failure, Nature, Request, Runner, Usd, Way};

use crate::council::{Council, Desk, Lane, Nonces, Patience, Seat};

/// A runner of a cassette that several hands hold.
#[derive(Debug)]
struct Again {
    name: String,
    login: Way,
    /// `None` where nobody was asked anything.
    cassette: Option<Arc<Cassette>>,
}

impl Again {
    fn played(&self) -> Option<Played<'_>> {
        Some(Played { name: &self.name, cassette: self.cassette.as_deref()? })
    }
}

impl Runner for Again {
    fn name(&self) -> &str {
        &self.name
    }

    fn login(&self) -> Way {
        self.login
    }

    fn refused(&self) -> Vec<Refused> {
        self.played().map(|played| played.refused()).unwrap_or_default()
    }

    fn exchange(
        &self,
        request: &Request,
        question: &str,
        stop: &AtomicBool,
    ) -> Result<Exchange, Failure> {
        let played = self.played().ok_or_else(|| not_asked(&self.name))?;
        played.exchange(request, question, stop)
    }
}

fn not_asked(runner: &str) -> Failure {
    Failure::NotRecorded(format!("{runner} was not asked"))
}

/// The council of a night. `cassette` is absent where nobody was asked anything.
pub(super) fn council(told: &NightCouncil, cassette: Option<Cassette>, desk: Desk) -> Council {
    let cassette = cassette.map(Arc::new);
    let seats = told.seats.iter().map(|seat| again(seat, cassette.clone())).collect();
    let nonces = Nonces::new(move |runner| match &cassette {
        Some(cassette) => cassette.nonce(runner),
        None => Err(not_asked(runner)),
    });
    Council {
        seats,
        policy: told.policy,
        lane: if told.creative_lane { Lane::Creative } else { Lane::Main },
        nonces,
        patience: Patience::Passes,
        desk: Some(desk),
    }
}

fn again(seat: &NightSeat, cassette: Option<Arc<Cassette>>) -> Seat {
    let login = match seat.login {
        NightLogin::None => Way::None,
        NightLogin::ApiKey => Way::ApiKey,
        NightLogin::Subscription => Way::Subscription,
    };
    Seat {
        slug: seat.slug.clone(),
        runner: Arc::new(Again { name: seat.runner.clone(), login, cassette }),
        model: seat.model.clone(),
        login,
        nature: if seat.agent { Nature::Agent } else { Nature::Call },
        budget: Budget {
            time: Duration::from_millis(seat.budget.time_ms),
            tokens: seat.budget.tokens,
            turns: seat.budget.turns,
            usd: Usd(seat.budget.usd_micros),
            output_bytes: seat.budget.output_bytes,
        },
        limits: Limits {
            calls: seat.max_calls,
            tokens: seat.max_tokens,
            usd: seat.max_usd_micros.map(Usd),
        },
    }
}
