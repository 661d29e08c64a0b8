//! Two hundred nights over one corpus, which others edit, append to and read all the while. Some
//! nights are killed at a random moment, some are asked to end, and most run to their end.
//!
//! After each: is every word that somebody wrote still there, is every file whole, and is every
//! report true?
//!
//! What happens in a night follows from its seed; when exactly, the machine decides. One night
//! alone (`AO_SWEEP_ONLY='night 17 seed …'`) runs on a corpus of its own, after a first quiet one.

mod account;
mod actors;
mod case;
mod cut;
mod dice;
mod history;
mod plan;
mod run;
mod seen;
mod truth;
mod words;

use std::sync::Mutex;
use std::time::Duration;

use crate::tally::{Tally, say};
use crate::tree::Tree;
use crate::world::{Arena, World};

use account::Account;
use case::Case;
use dice::Dice;
use plan::Plan;
use seen::Seen;

const NIGHTS_FULL: u64 = 200;
const NIGHTS_SAMPLE: u64 = 12;

/// One corpus, over all its nights.
struct Corpus {
    world: World,
    account: Mutex<Account>,
    /// What a night takes.
    usual: Duration,
}

impl Corpus {
    /// A corpus and its first night, which nothing disturbs.
    fn new(arena: &Arena) -> Self {
        let world = World::at(arena.fresh("world"), &Tree::default());
        let plan = Plan::first();
        let mut account = Account::default();
        actors::settle(&world, &mut account, &mut Dice::new(plan.seed));
        let mut corpus =
            Self { world, account: Mutex::new(account), usual: Duration::from_secs(1) };
        let seen = Case::new(&corpus, &plan).run().unwrap();
        corpus.usual = seen.took;
        corpus
    }
}

// proves: LOOP-07, LOOP-13, LOOP-14, LOOP-21, REP-19
#[test]
fn nights_stay_true() {
    let arena = Arena::new();
    let mut tally = Tally::new("nights", "nights_stay_true", 200);
    let count = if tally.is_full() { NIGHTS_FULL } else { NIGHTS_SAMPLE };
    let plans: Vec<Plan> = (1..=count).map(Plan::of).filter(|plan| tally.wants(plan)).collect();
    if plans.is_empty() {
        return tally.finish();
    }
    let mut corpus = Corpus::new(&arena);
    say(&format!("sweep: nights: one takes {:?}", corpus.usual));
    let mut seen = Seen::default();
    for plan in &plans {
        if !tally.wants(plan) {
            break;
        }
        let result = Case::new(&corpus, plan).run();
        let result = result.map(|one| seen.add(&one)).map_err(|why| format!("{plan:?}\n{why}"));
        let why = result.as_ref().err().cloned();
        tally.record(plan, result);
        if let Some(why) = why {
            say(&format!("sweep: nights: {plan} went wrong: {why}"));
            // What went wrong would go on to be wrong.
            corpus = Corpus::new(&arena);
        }
    }
    say(&format!("sweep: nights: {seen}"));
    tally.finish();
}
