//! The ledger: what is reserved, what is charged, and that a kill at any moment makes nothing cheaper.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use ao_contract::{Money, Settlement};
use ao_runner::ledger::{Charged, FILE, Ledger, LedgerError, Limits, Outcome};
use ao_runner::{Budget, Cost, Said, Usage, Usd};

use crate::asked::{SECRET, again, clock, is_sweep, vault};

fn open(path: &Path, total: Limits, runners: &[(&str, Limits)]) -> Result<Ledger, LedgerError> {
    vault();
    let runners: BTreeMap<_, _> =
        runners.iter().map(|(name, limits)| ((*name).to_owned(), *limits)).collect();
    Ledger::open(path, total, runners, clock())
}

fn budget(tokens: u64, usd: u64) -> Budget {
    let time = Duration::from_secs(1);
    Budget { time, tokens, turns: 1, usd: Usd(usd), output_bytes: 1 }
}

fn said(tokens: u64, cost: Cost) -> Outcome {
    Outcome::Said(Usage { tokens: Said::ByRunner(tokens), turns: 1, cost })
}

#[test]
fn what_is_charged_is_what_was_said_or_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join(FILE), Limits::default(), &[]).unwrap();
    let silent = Usage { tokens: Said::Nothing, turns: 1, cost: Cost::Free };
    let usd = |micros| Usd(micros);
    for (outcome, why, tokens, charged, money) in [
        (said(60, Cost::Real(usd(5))), Settlement::Reported, 60, 5, Money::Real),
        (said(60, Cost::Imputed(usd(5))), Settlement::Reported, 60, 5, Money::Imputed),
        (said(100, Cost::Free), Settlement::Reported, 100, 0, Money::Free),
        (said(60, Cost::Unknown), Settlement::Unreported, 60, 10, Money::Unknown),
        (Outcome::Said(silent), Settlement::Unreported, 100, 0, Money::Free),
        (Outcome::Unreported, Settlement::Unreported, 100, 10, Money::Unknown),
        (said(101, Cost::Free), Settlement::OverBudget, 101, 0, Money::Free),
        (said(1, Cost::Real(usd(11))), Settlement::OverBudget, 1, 11, Money::Real),
        (said(1, Cost::Imputed(usd(999))), Settlement::OverBudget, 1, 999, Money::Imputed),
        (said(u64::MAX, Cost::Unknown), Settlement::OverBudget, u64::MAX, 10, Money::Unknown),
        (Outcome::NotAsked, Settlement::NotAsked, 0, 0, Money::Free),
    ] {
        let reservation = ledger.reserve("r", "test", &budget(100, 10)).unwrap();
        let expected = Charged { why, tokens, usd: usd(charged), money };
        assert_eq!(ledger.settle(&reservation, outcome).unwrap(), expected, "{outcome:?}");
    }
    let spent = ledger.spent(None);
    assert_eq!((spent.calls, spent.tokens), (10, u64::MAX), "sums do not wrap");
    // Where nothing may be paid, an answer whose price nobody knows is past it; a failure is only not reported.
    for (outcome, why) in [
        (said(1, Cost::Free), Settlement::Reported),
        (said(1, Cost::Unknown), Settlement::OverBudget),
        (Outcome::Unreported, Settlement::Unreported),
    ] {
        let reservation = ledger.reserve("free", "test", &budget(100, 0)).unwrap();
        assert_eq!(ledger.settle(&reservation, outcome).unwrap().why, why, "{outcome:?}");
    }
    assert_eq!((spent.real, spent.imputed), (usd(5 + 10 + 10 + 11 + 10), usd(5 + 999)));
    let file = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
    for line in file.lines() {
        ao_contract::check("ledger", &serde_json::from_str(line).unwrap()).unwrap();
    }
    assert_eq!(file.lines().count(), 28);
}

#[test]
fn nobody_is_given_more_than_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let total = Limits { calls: Some(4), tokens: Some(1000), usd: Some(Usd(100)) };
    let own = Limits { tokens: Some(300), usd: Some(Usd(50)), calls: None };
    let ledger = open(&path, total, &[("a", own)]).unwrap();
    let refused = |ledger: &Ledger, runner: &str, tokens, usd| match ledger.reserve(
        runner,
        "test",
        &budget(tokens, usd),
    ) {
        Err(LedgerError::NoBudget(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(&ledger, "a", 301, 0).contains("a would take 301 tokens, and may take 300"));
    assert!(refused(&ledger, "a", 1, 51).contains("a would cost $0.000051"));
    assert!(refused(&ledger, "b", 1001, 0).contains("the run would take 1001 tokens"));
    assert!(refused(&ledger, "b", u64::MAX, 0).contains("tokens"));
    let first = ledger.reserve("a", "test", &budget(200, 20)).unwrap();
    // What is reserved is not there for others, also before it is spent.
    assert!(refused(&ledger, "a", 101, 0).contains("301"));
    assert!(refused(&ledger, "b", 801, 0).contains("1001"));
    let left = Limits { calls: Some(3), tokens: Some(100), usd: Some(Usd(30)) };
    assert_eq!(ledger.left("a"), left);
    assert_eq!(ledger.left("b").tokens, Some(800));
    // What was not spent comes back; imputed money counts as well.
    ledger.settle(&first, said(50, Cost::Imputed(Usd(20)))).unwrap();
    assert_eq!(ledger.left("a").tokens, Some(250));
    assert!(refused(&ledger, "a", 1, 31).contains("$0.000051"));
    // All of it holds after the ledger was opened again.
    let ledger = open(&path, total, &[("a", own)]).unwrap();
    assert_eq!(ledger.left("a").tokens, Some(250));
    for _ in 0..3 {
        let next = ledger.reserve("b", "test", &budget(1, 0)).unwrap();
        ledger.settle(&next, said(1, Cost::Free)).unwrap();
    }
    assert!(refused(&ledger, "b", 1, 0).contains("the run would make 5 calls, and may make 4"));
    // Somebody who was refused was not written down.
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 8);
}

/// Every byte takes a minute on a slow disk; some of them are enough between two sweeps.
const STEP: usize = 29;

/// `count` steps of reserving 100 and settling for 10.
fn after(count: usize) -> u64 {
    let (settled, open) = (count as u64 / 2, count as u64 % 2);
    10 * settled + 100 * open
}

#[test]
fn a_ledger_that_ends_anywhere_says_no_less_than_was_spent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let ledger = open(&path, Limits::default(), &[]).unwrap();
    for _ in 0..4 {
        let one = ledger.reserve("r", "test", &budget(100, 0)).unwrap();
        ledger.settle(&one, said(10, Cost::Free)).unwrap();
    }
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
    for end in 0..=whole.len() {
        let is_near = ends.iter().any(|line| line.abs_diff(end) <= 2);
        if !is_near && end % STEP != 0 && !is_sweep() {
            continue;
        }
        let count = ends.iter().filter(|line| **line <= end).count();
        std::fs::write(&path, &whole[..end]).unwrap();
        let ledger = open(&path, Limits::default(), &[]).unwrap();
        assert_eq!(ledger.spent(None).tokens, after(count), "cut at {end}");
        // It goes on from there, and is sound for whoever opens it next.
        let one = ledger.reserve("r", "test", &budget(100, 0)).unwrap();
        ledger.settle(&one, said(10, Cost::Free)).unwrap();
        let next = open(&path, Limits::default(), &[]).unwrap();
        assert_eq!(next.spent(None).tokens, after(count) + 10, "cut at {end}");
    }
}

#[test]
fn a_ledger_that_cannot_be_believed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let ledger = open(&path, Limits::default(), &[]).unwrap();
    for _ in 0..2 {
        let one = ledger.reserve("r", "test", &budget(100, 0)).unwrap();
        ledger.settle(&one, said(10, Cost::Free)).unwrap();
    }
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    for (bad, number, word) in [
        (vec![lines[0], "{}", lines[1]], 2, "missing field"),
        (vec![lines[0], "", lines[1]], 2, "EOF"),
        (vec![lines[1]], 1, "not reserved"),
        (vec![lines[0], lines[1], lines[1]], 3, "not reserved"),
        (vec![lines[0], lines[0]], 2, "twice"),
        (vec![lines[0], &lines[1].replace("\"r\"", "\"s\"")], 2, "not reserved"),
        (vec![lines[0], &lines[1].replace("\"why\"", "\"how\"")], 2, "does not say why"),
    ] {
        std::fs::write(&path, bad.join("\n") + "\n").unwrap();
        match open(&path, Limits::default(), &[]) {
            Err(LedgerError::Damaged { line, why, .. }) => {
                assert!(line == number && why.contains(word), "{bad:?}: line {line}: {why}");
            }
            other => panic!("{bad:?}: {other:?}"),
        }
    }
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("elsewhere", &path).unwrap();
    assert!(matches!(open(&path, Limits::default(), &[]), Err(LedgerError::Io { .. })));
}

#[test]
fn a_name_that_is_secret_is_not_written_and_still_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let name = format!("r-{SECRET}");
    let own = Limits { tokens: Some(100), ..Limits::default() };
    for _ in 0..2 {
        let ledger = open(&path, Limits::default(), &[(&name, own)]).unwrap();
        if let Ok(one) = ledger.reserve(&name, "test", &budget(100, 0)) {
            ledger.settle(&one, said(100, Cost::Free)).unwrap();
        }
        assert_eq!(ledger.left(&name).tokens, Some(0));
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(SECRET) && text.lines().count() == 2, "{text}");
}

const CHILD: &str = "AO_TEST_LEDGER";

/// The child of the test below; by itself it does nothing. It says each step when it is done.
#[test]
fn a_child_that_spends() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let ledger = open(Path::new(&path), Limits::default(), &[]).unwrap();
    for _ in 0..100_000 {
        let one = ledger.reserve("r", "test", &budget(100, 0)).unwrap();
        println!("\nreserved");
        ledger.settle(&one, said(10, Cost::Free)).unwrap();
        println!("\nsettled");
    }
}

#[test]
fn a_kill_at_any_moment_makes_nothing_cheaper() {
    let folder = tempfile::tempdir().unwrap();
    let (mut steps, mut between) = (0, 0);
    for round in 0..30 {
        let path = folder.path().join(format!("{round}.jsonl"));
        let variables = [(CHILD, path.to_str().unwrap())];
        let mut child = again("ledger::a_child_that_spends", &variables);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = 0;
        let is_step = |line: &str| line == "reserved" || line == "settled";
        while told <= round {
            told += usize::from(is_step(&lines.next().unwrap().unwrap()));
        }
        // SIGKILL, while it goes on.
        child.kill().unwrap();
        child.wait().unwrap();
        told += lines.map_while(Result::ok).filter(|line| is_step(line)).count();
        let spent = open(&path, Limits::default(), &[]).unwrap().spent(Some("r"));
        // One step more may be on the disk than could be told.
        assert!(
            [after(told), after(told + 1)].contains(&spent.tokens),
            "{told} steps were told, and {spent:?} was found"
        );
        let again = open(&path, Limits::default(), &[]).unwrap();
        assert_eq!(again.spent(None), spent, "what is lost is charged once");
        steps += told;
        between += usize::from(
            spent.tokens % 100 != spent.calls * 10 % 100 || spent.tokens > spent.calls * 10,
        );
    }
    println!("{steps} steps, 30 kills, {between} of them with a reservation open");
}
