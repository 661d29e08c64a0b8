//! A runner and the ledger together.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::{LedgerEvent, LedgerLine, Settlement};
use ao_runner::http::Ollama;
use ao_runner::ledger::{FILE, Ledger, Limits};
use ao_runner::{
    Clock, Cost, Exchange, Failure, Metered, Nature, Request, Runner, Said, Usage, Usd,
};

use crate::asked::{answer, clock, endpoint, exchange, vault};
use crate::server::{Server, chat, json_reply};

/// Gives back what it is told to.
#[derive(Debug)]
struct Told(RefCell<Vec<Result<Usage, Failure>>>);

impl Runner for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn exchange(&self, _: &Request, _: &str, _: &AtomicBool) -> Result<Exchange, Failure> {
        let usage = self.0.borrow_mut().pop().unwrap()?;
        Ok(Exchange { text: "{\"a\":1}".into(), usage, took: Duration::from_millis(1), exit: None })
    }
}

struct Ground {
    folder: tempfile::TempDir,
    ledger: Ledger,
}

impl Ground {
    fn new(total: Limits) -> Self {
        vault();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let ledger = Ledger::open(&path, total, BTreeMap::new(), clock()).unwrap();
        Self { folder, ledger }
    }

    fn lines(&self) -> Vec<LedgerLine> {
        let text = std::fs::read_to_string(self.folder.path().join(FILE)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn last(&self) -> LedgerLine {
        self.lines().pop().unwrap()
    }
}

#[test]
fn each_exchange_is_charged_by_what_it_may_have_spent() {
    let usage = |tokens, cost| Ok(Usage { tokens, turns: 1, cost });
    let limited = || Err(Failure::RateLimited { runner: "told".into(), until: None });
    let out = || Err(Failure::NotLoggedIn("told".into()));
    let all = Usd(50_000);
    for (result, nature, kind, why, tokens, usd) in [
        (
            usage(Said::ByRunner(9), Cost::Real(Usd(7))),
            Nature::Call,
            None,
            Settlement::Reported,
            9,
            Usd(7),
        ),
        (
            usage(Said::Nothing, Cost::Unknown),
            Nature::Agent,
            None,
            Settlement::Unreported,
            4000,
            all,
        ),
        (
            usage(Said::ByRunner(4001), Cost::Free),
            Nature::Call,
            Some("over-budget"),
            Settlement::OverBudget,
            4001,
            Usd(0),
        ),
        (
            usage(Said::ByRunner(1), Cost::Imputed(Usd(60_000))),
            Nature::Agent,
            Some("over-budget"),
            Settlement::OverBudget,
            1,
            Usd(60_000),
        ),
        (
            Err(Failure::Missing("x".into())),
            Nature::Agent,
            Some("missing"),
            Settlement::NotAsked,
            0,
            Usd(0),
        ),
        (
            Err(Failure::Redirected("x".into())),
            Nature::Call,
            Some("redirected"),
            Settlement::NotAsked,
            0,
            Usd(0),
        ),
        (
            Err(Failure::Broken("x".into())),
            Nature::Call,
            Some("broken"),
            Settlement::Unreported,
            4000,
            all,
        ),
        (Err(Failure::Stopped), Nature::Call, Some("stopped"), Settlement::Unreported, 4000, all),
        (out(), Nature::Call, Some("not-logged-in"), Settlement::NotAsked, 0, Usd(0)),
        (out(), Nature::Agent, Some("not-logged-in"), Settlement::Unreported, 4000, all),
        (limited(), Nature::Call, Some("rate-limited"), Settlement::NotAsked, 0, Usd(0)),
        (limited(), Nature::Agent, Some("rate-limited"), Settlement::Unreported, 4000, all),
    ] {
        let ground = Ground::new(Limits::default());
        let told = Told(RefCell::new(vec![result.clone()]));
        let got = exchange(&Metered::new(&told, &ground.ledger, nature));
        assert_eq!(got.err().map(|failure| failure.kind()), kind, "{result:?}");
        let last = ground.last();
        assert_eq!(
            (last.why, last.tokens, last.usd_micros),
            (Some(why), tokens, usd.0),
            "{result:?}"
        );
        let spent = ground.ledger.spent(Some("told"));
        assert_eq!((spent.tokens, spent.usd()), (tokens, usd), "{result:?}");
    }
}

#[test]
fn without_budget_nobody_is_asked_and_a_repair_is_paid_for() {
    let server = Server::start(|_, count| json_reply(200, &chat(["{}", "{\"a\":1}"][count % 2])));
    let runner = Ollama::new("local", endpoint(&server.address(), None), "small");
    let limits = Limits { tokens: Some(4100), calls: Some(3), ..Limits::default() };
    let ground = Ground::new(limits);
    let metered = Metered::new(&runner, &ground.ledger, Nature::Call);
    assert!(answer(&metered).unwrap().is_repaired);
    let spent = ground.ledger.spent(Some("local"));
    assert_eq!((spent.calls, spent.tokens, spent.usd()), (2, 222, Usd(0)));
    // The next is given what is left, and its repair nothing: there is no call for it.
    assert_eq!(answer(&metered).unwrap_err().kind(), "not-of-the-form");
    let reserved = ground.lines().into_iter().rfind(|line| line.event == LedgerEvent::Reserved);
    assert_eq!(reserved.unwrap().tokens, 4100 - 222);
    let failure = answer(&metered).unwrap_err();
    assert!(
        failure.kind() == "not-started" && failure.to_string().contains("no budget is left"),
        "{failure}"
    );
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn what_cannot_be_written_down_is_not_spent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone").join(FILE);
    let ledger =
        Ledger::open(&path, Limits::default(), BTreeMap::new(), Clock::new(jiff::Timestamp::now));
    let ledger = ledger.unwrap();
    let told = Told(RefCell::default());
    let failure = exchange(&Metered::new(&told, &ledger, Nature::Call)).unwrap_err();
    assert_eq!(failure.kind(), "not-started");
}
